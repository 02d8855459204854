"""Units of a consume queue: where they go, which of them count, and which are left when the log was cut.

A unit is a physical offset, the size of a record and its tags code; 20 bytes.
"""

from __future__ import annotations

from enum import IntEnum

from impl.decisions.java_arithmetic import INT_MAX, wrap64
from impl.decisions.pull_answer import CQ_STORE_UNIT_SIZE

PRE_BLANK_SIZE = INT_MAX  # ConsumeQueue#fillPreBlank
_LEAST_EXT_ADDRESS = -INT_MAX - 2  # ConsumeQueueExt.MAX_ADDR


class UnitPlace(IntEnum):
    """What ConsumeQueue#putMessagePositionInfo does with a unit.

    BUILT_BEFORE -- it is passed over, as success. APPENDED -- at the position that its queue offset asks for.
    SHIFTED -- appended too, but at a lower position: from then on the queue's indices are not the records' offsets.
    """

    BUILT_BEFORE = 0
    APPENDED = 1
    SHIFTED = 2


def unit_end(physical_offset: int, size: int) -> int:
    """Where the record of a unit ends in the log."""
    return wrap64(physical_offset + size)


def is_built_before(physical_offset: int, size: int, max_physic_offset: int) -> bool:
    """ConsumeQueue#putMessagePositionInfo: whether the queue counts as having this record or a later one.

    max_physic_offset -- the end of the last unit's record, -1 at first.
    """
    return unit_end(physical_offset, size) <= max_physic_offset


def expect_logic_offset(queue_offset: int) -> int:
    """ConsumeQueue#putMessagePositionInfo: the byte at which a unit ought to stand."""
    return wrap64(queue_offset * CQ_STORE_UNIT_SIZE)


def place_of_unit(queue_offset: int, current_logic_offset: int) -> UnitPlace:
    """ConsumeQueue#putMessagePositionInfo, behind is_built_before.

    current_logic_offset -- the byte behind the last unit. For queue offset 0 nobody looks where that is.
    """
    expected = expect_logic_offset(queue_offset)
    if queue_offset == 0 or expected == current_logic_offset:
        return UnitPlace.APPENDED
    if expected < current_logic_offset:
        return UnitPlace.BUILT_BEFORE
    return UnitPlace.SHIFTED


def is_pre_blank_needed(queue_offset: int, wrote_position: int, *, first_create_in_queue: bool) -> bool:
    """ConsumeQueue#putMessagePositionInfo: whether a queue that begins behind 0 is filled with blank units first."""
    return first_create_in_queue and queue_offset != 0 and wrote_position == 0


def is_unit_valid(physical_offset: int, size: int) -> bool:
    """ConsumeQueue#recover: whether a unit counts; recovery stops at the first that does not."""
    return physical_offset >= 0 and size > 0


def is_unit_kept(physical_offset: int, size: int, log_end: int, *, first_of_file: bool) -> bool:
    """ConsumeQueue#truncateDirtyLogicFiles: whether a unit is left when the log ends at log_end.

    The first unit of a file is not asked for its size; when it goes, so does the file.
    """
    if first_of_file:
        return physical_offset < log_end
    return is_unit_valid(physical_offset, size) and physical_offset < log_end


def is_queue_file_expired(last_unit_offset: int, log_min_offset: int) -> bool:
    """MappedFileQueue#deleteExpiredFileByOffset: whether the last unit of a file points below the log's beginning."""
    return last_unit_offset < log_min_offset


def reput_from_offset(log_min_offset: int, max_physic_offset: int) -> int:
    """DefaultMessageStore#start: where dispatching begins; max_physic_offset -- the greatest of all queues."""
    if max_physic_offset > log_min_offset:
        return max_physic_offset
    return log_min_offset


def is_ext_addr(tags_code: int) -> bool:
    """ConsumeQueueExt#isExtAddr: whether a tags code stands for a place in the extension file."""
    return tags_code <= _LEAST_EXT_ADDRESS
