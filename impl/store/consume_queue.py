"""ConsumeQueue: where the messages of one queue lie in the commit log, as units of twenty bytes.

A unit is the offset of the record in the log (8 bytes), its length (4) and the code of its tags (8); a delayed message
has its time of delivery there. Unit i is that of queue offset i.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from impl.decisions.consume_queue_units import (
    PRE_BLANK_SIZE,
    UnitPlace,
    expect_logic_offset,
    is_built_before,
    is_pre_blank_needed,
    is_unit_kept,
    is_unit_valid,
    place_of_unit,
    unit_end,
)
from impl.decisions.flush_rules import position_in_file
from impl.decisions.java_arithmetic import quotient, wrap32
from impl.decisions.java_errors import IllegalArgumentError, JavaError
from impl.decisions.pull_answer import CQ_STORE_UNIT_SIZE, roll_next_file
from impl.decisions.store_recovery import first_file_of_normal_recovery
from impl.ports.disk import Disk
from impl.store.mapped_file import MappedFile, SelectMappedBufferResult
from impl.store.mapped_file_queue import MappedFileQueue

_UNIT = struct.Struct(">qiq")


class Unit(NamedTuple):
    """One unit. offset -- of the record in the commit log; size -- of the record, in bytes."""

    offset: int
    size: int
    tags_code: int

    def is_valid(self) -> bool:
        """See consume_queue_units.is_unit_valid."""
        return is_unit_valid(self.offset, self.size)

    def end(self) -> int:
        """The end of the record."""
        return unit_end(self.offset, self.size)


PRE_BLANK = Unit(0, PRE_BLANK_SIZE, 0)  # ConsumeQueue#fillPreBlank


def units_of(data: bytes) -> Iterator[Unit]:
    """The units in so many bytes."""
    return map(Unit._make, _UNIT.iter_unpack(data))


class StoreOfQueue(Protocol):
    """What a consume queue asks its store."""

    def get_min_phy_offset(self) -> int:
        """DefaultMessageStore#getMinPhyOffset."""
        ...

    def pickup_store_timestamp(self, offset: int, size: int) -> int:
        """CommitLog#pickupStoreTimestamp, in ms; -1: there is no such record."""
        ...


class ConsumeQueue:
    """`store.ConsumeQueue` without an extension file.

    max_physic_offset -- the end of the last record that is known here, -1 for none. min_logic_offset -- in bytes: the
    first unit whose record the commit log still has.
    """

    def __init__(
        self, topic: str, queue_id: int, disk: Disk, store_path: str, mapped_file_size: int,
        store: StoreOfQueue, now_ms: Callable[[], int],
    ) -> None:
        """Have no files; store_path -- the folder of all queues."""
        self.topic, self.queue_id, self.mapped_file_size = topic, queue_id, mapped_file_size
        self._store = store
        self.mapped_file_queue = MappedFileQueue(disk, f"{store_path}/{topic}/{queue_id}", mapped_file_size, now_ms)
        self.max_physic_offset = -1
        self.min_logic_offset = 0

    def load(self) -> bool:
        """ConsumeQueue#load: see MappedFileQueue.load."""
        return self.mapped_file_queue.load()

    # Recovery ---------------------------------------------------------------------------------------------------------

    def recover(self) -> None:
        """ConsumeQueue#recover: end behind the last valid unit, counted from the third-last file on."""
        queue = self.mapped_file_queue
        if not queue.mapped_files:
            return
        process_offset = 0
        for mapped_file in queue.mapped_files[first_file_of_normal_recovery(len(queue.mapped_files)):]:
            position = 0
            for unit in self._all_units(mapped_file):
                if not unit.is_valid():
                    break
                position += CQ_STORE_UNIT_SIZE
                self.max_physic_offset = unit.end()
            process_offset = mapped_file.file_from_offset + position
            if position != self.mapped_file_size:
                break
        queue.flushed_where = queue.committed_where = process_offset
        queue.truncate_dirty_files(process_offset)

    def _all_units(self, mapped_file: MappedFile) -> Iterator[Unit]:
        """The units of a whole file, whatever its positions are."""
        return units_of(mapped_file.mapped_byte_buffer.read(0, self.mapped_file_size))

    def truncate_dirty_logic_files(self, phy_offset: int) -> None:
        """ConsumeQueue#truncateDirtyLogicFiles: forget the units of records from this offset of the log on.

        The first unit of a file is believed if its offset is smaller, whatever its size is. Java does not return if
        files have one unit each; here it ends.
        """
        self.max_physic_offset = phy_offset
        while (mapped_file := self.mapped_file_queue.last_mapped_file()) is not None:
            mapped_file.set_positions(0)
            for number, unit in enumerate(self._all_units(mapped_file)):
                if is_unit_kept(unit.offset, unit.size, phy_offset, first_of_file=number == 0):
                    mapped_file.set_positions((number + 1) * CQ_STORE_UNIT_SIZE)
                    self.max_physic_offset = unit.end()
                elif number:
                    return
                else:
                    self.mapped_file_queue.delete_last_mapped_file()
                    break
            else:
                return

    def correct_min_offset(self, phy_min_offset: int) -> None:
        """ConsumeQueue#correctMinOffset: begin at the first unit of the first file with such an offset or a later one.

        Without one the beginning stays where it was.
        """
        first = self.mapped_file_queue.first_mapped_file()
        result = None if first is None else first.select_mapped_buffer(0)
        if result is None:
            return
        for number, unit in enumerate(units_of(result.read())):
            if unit.offset >= phy_min_offset:
                self.min_logic_offset = result.start_offset + number * CQ_STORE_UNIT_SIZE
                break
        result.release()

    def delete_expired_file(self, offset: int) -> int:
        """ConsumeQueue#deleteExpiredFile: drop files whose records all lie before this offset of the log; how many."""
        count = self.mapped_file_queue.delete_expired_file_by_offset(offset, CQ_STORE_UNIT_SIZE)
        self.correct_min_offset(offset)
        return count

    # Append -----------------------------------------------------------------------------------------------------------

    def put_message_position_info(self, offset: int, size: int, tags_code: int, cq_offset: int) -> bool:
        """ConsumeQueue#putMessagePositionInfo: append the unit of a record that was given this queue offset.

        True also if it is taken for known. A unit that comes too early is appended all the same, at the wrong place.
        False if a file cannot be made.
        """
        if is_built_before(offset, size, self.max_physic_offset):
            return True
        expected = expect_logic_offset(cq_offset)
        mapped_file = self.mapped_file_queue.get_last_mapped_file(expected)
        if mapped_file is None:
            return False
        first = mapped_file.first_create_in_queue
        if is_pre_blank_needed(cq_offset, mapped_file.wrote_position, first_create_in_queue=first):
            self._begin_at(mapped_file, expected)
        current = mapped_file.file_from_offset + mapped_file.wrote_position
        if place_of_unit(cq_offset, current) is UnitPlace.BUILT_BEFORE:
            return True
        self.max_physic_offset = unit_end(offset, size)
        return mapped_file.append_message(_UNIT.pack(offset, size, tags_code))

    def _begin_at(self, mapped_file: MappedFile, expected: int) -> None:
        """Begin an empty queue in the middle; ConsumeQueue#fillPreBlank."""
        self.min_logic_offset = expected
        self.mapped_file_queue.flushed_where = self.mapped_file_queue.committed_where = expected
        for _ in range(0, position_in_file(expected, self.mapped_file_size), CQ_STORE_UNIT_SIZE):
            mapped_file.append_message(_UNIT.pack(*PRE_BLANK))

    def flush(self, flush_least_pages: int) -> bool:
        """ConsumeQueue#flush: True if that changed nothing."""
        return self.mapped_file_queue.flush(flush_least_pages)

    # Read -------------------------------------------------------------------------------------------------------------

    def get_index_buffer(self, start_index: int) -> SelectMappedBufferResult | None:
        """ConsumeQueue#getIndexBuffer: the units from this queue offset to the end of their file; release it."""
        offset = expect_logic_offset(start_index)
        if offset < self.min_logic_offset:
            return None
        mapped_file = self.mapped_file_queue.find_mapped_file_by_offset(offset)
        if mapped_file is None:
            return None
        return mapped_file.select_mapped_buffer(position_in_file(offset, self.mapped_file_size))

    def unit(self, index: int) -> Unit | None:
        """The unit of a queue offset; None: it is not there."""
        result = self.get_index_buffer(index)
        if result is None:
            return None
        unit = Unit._make(_UNIT.unpack(result.read(0, CQ_STORE_UNIT_SIZE)))
        result.release()
        return unit

    def get_offset_in_queue_by_time(self, timestamp: int) -> int:
        """ConsumeQueue#getOffsetInQueueByTime: the queue offset of a message stored then (ms), or near to it.

        Only the first file that was modified then or later is searched; 0 if nothing can be read.
        """
        mapped_file = self.mapped_file_queue.get_mapped_file_by_time(timestamp)
        result = None if mapped_file is None else mapped_file.select_mapped_buffer(0)
        if result is None:
            return 0
        try:
            position = self._search(result, timestamp)
        except JavaError:
            result.release()
            raise
        result.release()
        return 0 if position is None else quotient(result.start_offset + position, CQ_STORE_UNIT_SIZE)

    def _search(self, result: SelectMappedBufferResult, timestamp: int) -> int | None:
        """The position of the unit that is nearest in time, -1 if none was looked at; None: a record is missing.

        Raises IllegalArgumentError where the queue begins so far behind the file that an int overflows.
        """
        low, high = wrap32(max(self.min_logic_offset - result.start_offset, 0)), result.size - CQ_STORE_UNIT_SIZE
        left = right = left_ms = right_ms = -1
        min_physic_offset = self._store.get_min_phy_offset()
        while high >= low:
            middle = quotient(low + high, 2 * CQ_STORE_UNIT_SIZE) * CQ_STORE_UNIT_SIZE
            if middle < 0:
                raise IllegalArgumentError(f"newPosition < 0: ({middle} < 0)")
            offset, size, _ = _UNIT.unpack(result.read(middle, CQ_STORE_UNIT_SIZE))
            if offset < min_physic_offset:
                low, left = middle + CQ_STORE_UNIT_SIZE, middle
                continue
            store_ms = self._store.pickup_store_timestamp(offset, size)
            if store_ms < 0:
                return None
            if store_ms == timestamp:
                return middle
            if store_ms > timestamp:
                high, right, right_ms = middle - CQ_STORE_UNIT_SIZE, middle, store_ms
            else:
                low, left, left_ms = middle + CQ_STORE_UNIT_SIZE, middle, store_ms
        if left_ms == -1:
            return right
        if right_ms == -1:
            return left
        return right if abs(timestamp - left_ms) > abs(timestamp - right_ms) else left

    def get_last_offset(self) -> int:
        """ConsumeQueue#getLastOffset: the end of the last record, -1 for none.

        Raises BufferUnderflowError where all units to the end of the file are valid, as Java does.
        """
        mapped_file = self.mapped_file_queue.last_mapped_file()
        if mapped_file is None:
            return -1
        position, last = max(mapped_file.wrote_position - CQ_STORE_UNIT_SIZE, 0), -1
        for start in range(position, position + self.mapped_file_size, CQ_STORE_UNIT_SIZE):
            unit = Unit._make(_UNIT.unpack(mapped_file.mapped_byte_buffer.read(start, CQ_STORE_UNIT_SIZE)))
            if not unit.is_valid():
                break
            last = unit.end()
        return last

    def get_min_offset_in_queue(self) -> int:
        """ConsumeQueue#getMinOffsetInQueue."""
        return quotient(self.min_logic_offset, CQ_STORE_UNIT_SIZE)

    def get_max_offset_in_queue(self) -> int:
        """ConsumeQueue#getMaxOffsetInQueue: one past the last."""
        return quotient(self.mapped_file_queue.get_max_offset(), CQ_STORE_UNIT_SIZE)

    def get_message_total_in_queue(self) -> int:
        """ConsumeQueue#getMessageTotalInQueue."""
        return self.get_max_offset_in_queue() - self.get_min_offset_in_queue()

    def roll_next_file(self, index: int) -> int:
        """ConsumeQueue#rollNextFile: the first queue offset of the next file."""
        return roll_next_file(index, self.mapped_file_size)

    def destroy(self) -> None:
        """ConsumeQueue#destroy: delete all files."""
        self.max_physic_offset = -1
        self.min_logic_offset = 0
        self.mapped_file_queue.destroy()
