"""What is promised of the units of a consume queue."""

from __future__ import annotations

from typing import Annotated

from impl.decisions import (
    consume_queue_units,
)
from impl.decisions.consume_queue_units import UnitPlace
from invariants.claim import assume, decision
from invariants.decisions.store_domains import Length, Offset, Position
from invariants.domains import INT_MAX, Count, Int32, Integers, Long, Positive


@decision(of=consume_queue_units.place_of_unit, promises="unit_names_its_record",
          shipped="violated: V10, V35")
def unit_stands_at_its_queue_offset(queue_offset: Positive, units: Count) -> bool:
    """A unit that is appended stands where its record's queue offset says; V10 and V35 leave a gap before it."""
    assume(queue_offset <= 2**58, units <= 2**58)
    place = consume_queue_units.place_of_unit(queue_offset, 20 * units)
    return place == UnitPlace.BUILT_BEFORE or queue_offset == units


@decision(of=consume_queue_units.place_of_unit, promises="unit_names_its_record")
def unit_without_a_gap_stands_at_its_queue_offset(queue_offset: Count, units: Count) -> bool:
    """A unit is appended if its queue offset is 0 or the next one, passed over if it is a former one.

    One that a gap separates from the queue is shifted.
    """
    assume(queue_offset <= 2**58, units <= 2**58)
    place = consume_queue_units.place_of_unit(queue_offset, 20 * units)
    if queue_offset in (0, units):
        return place == UnitPlace.APPENDED
    return place == (UnitPlace.BUILT_BEFORE if queue_offset < units else UnitPlace.SHIFTED)


@decision(of=(consume_queue_units.is_built_before, consume_queue_units.unit_end), promises="no_record_is_missed")
def record_behind_the_last_one_is_new(last: Offset, last_size: Length, offset: Offset, size: Length) -> bool:
    """A record that lies behind that of the last unit is not taken for one that the queue has; each former one is."""
    end = consume_queue_units.unit_end(last, last_size)
    built = consume_queue_units.is_built_before(offset, size, end)
    return built == (offset + size <= last + last_size)


@decision(of=(consume_queue_units.is_built_before, consume_queue_units.unit_end), promises="no_record_is_missed",
          shipped="violated: V9")
def record_behind_a_blank_unit_is_new(offset: Offset, size: Length) -> bool:
    """A queue whose last unit is a blank takes the next record; V9: the blank counts for the log's first 2 GiB."""
    end = consume_queue_units.unit_end(0, consume_queue_units.PRE_BLANK_SIZE)
    return not consume_queue_units.is_built_before(offset, size, end)


@decision(of=(consume_queue_units.is_built_before, consume_queue_units.unit_end), promises="no_record_is_missed")
def record_beyond_two_gib_is_new_behind_a_blank_unit(offset: Offset, size: Length) -> bool:
    """A queue whose last unit is a blank takes exactly the records that end beyond 2³¹ − 1."""
    end = consume_queue_units.unit_end(0, consume_queue_units.PRE_BLANK_SIZE)
    return consume_queue_units.is_built_before(offset, size, end) == (offset + size <= 2**31 - 1)


@decision(of=(consume_queue_units.reput_from_offset, consume_queue_units.unit_end), promises="no_record_is_missed")
def dispatch_begins_in_the_log(least: Offset, end: Offset, unit: Offset, size: Length) -> bool:
    """Dispatching begins behind the last unit's record, or at the log's beginning, if that record lies in the log."""
    assume(least <= end, unit + size <= end)
    start = consume_queue_units.reput_from_offset(least, consume_queue_units.unit_end(unit, size))
    return least <= start <= end and start == max(least, unit + size)


@decision(of=(consume_queue_units.reput_from_offset, consume_queue_units.unit_end), promises="no_record_is_missed",
          shipped="violated: V9")
def dispatch_begins_in_the_log_behind_a_blank_unit(least: Offset, end: Offset) -> bool:
    """Dispatching begins within the log also if the last unit of a queue is a blank."""
    assume(least <= end)
    blank_end = consume_queue_units.unit_end(0, consume_queue_units.PRE_BLANK_SIZE)
    return consume_queue_units.reput_from_offset(least, blank_end) <= end


@decision(of=consume_queue_units.is_unit_kept, promises="unit_names_its_record", shipped="violated: V3")
def kept_unit_names_a_record(offset: Offset, size: Int32, end: Offset, first: bool) -> bool:
    """When the log was cut, a queue keeps a unit only if it names a record before the log's end."""
    return not consume_queue_units.is_unit_kept(offset, size, end, first_of_file=first) or (offset < end and size > 0)


UnitOffset = Annotated[int, Integers(-(2**60), 2**60, (-1, 0, 1, 2, INT_MAX))]


@decision(of=consume_queue_units.is_unit_kept, promises="unit_names_its_record")
def first_unit_of_a_file_is_kept_before_the_end(offset: UnitOffset, size: Int32, end: Offset) -> bool:
    """When the log was cut, a file's first unit stays exactly if its offset lies before the end. Its size is unread."""
    return consume_queue_units.is_unit_kept(offset, size, end, first_of_file=True) == (offset < end)


@decision(of=consume_queue_units.is_unit_valid, promises="unit_names_its_record")
def unit_with_a_place_and_a_size_counts(offset: UnitOffset, size: Int32) -> bool:
    """Recovery counts a unit exactly if its offset is not negative and its size is above 0."""
    return consume_queue_units.is_unit_valid(offset, size) == (offset >= 0 and size > 0)


@decision(of=(consume_queue_units.is_unit_kept, consume_queue_units.is_unit_valid), promises="unit_names_its_record")
def later_unit_of_a_file_names_a_record(offset: UnitOffset, size: Int32, end: Offset) -> bool:
    """When the log was cut, another unit than a file's first is kept exactly if it names a record before the end."""
    kept = consume_queue_units.is_unit_kept(offset, size, end, first_of_file=False)
    return kept == (0 <= offset < end and size > 0)


@decision(of=consume_queue_units.is_queue_file_expired, promises="cleanup_keeps_live_units")
def file_with_a_live_unit_stays(offset: Offset, last: Offset, least: Offset) -> bool:
    """A file of a queue goes exactly if none of its units points to what the log still has."""
    assume(offset <= last)
    expired = consume_queue_units.is_queue_file_expired(last, least)
    return expired == (last < least) and not (expired and offset >= least)


@decision(of=consume_queue_units.is_ext_addr, promises="unit_names_its_record")
def tags_code_is_no_ext_address(tags_hash: Int32) -> bool:
    """The hash of tags is never taken for a place in the extension file."""
    return not consume_queue_units.is_ext_addr(tags_hash)


@decision(of=consume_queue_units.is_ext_addr, promises="unit_names_its_record",
          few={"code": (-(2**31) - 2, -(2**31) - 1, -(2**31), -1, 0)})
def ext_address_lies_below_all_hashes(code: Long) -> bool:
    """A tags code is a place in the extension file exactly if it is below all ints."""
    return consume_queue_units.is_ext_addr(code) == (code < -(2**31))


@decision(of=consume_queue_units.is_ext_addr, promises="unit_names_its_record", shipped="violated: V8")
def torn_tags_code_is_no_ext_address(tags_hash: Int32) -> bool:
    """A tags code whose lower half was lost in a crash is not taken for a place in the extension file."""
    return not consume_queue_units.is_ext_addr(tags_hash // 2**32 * 2**32)


@decision(of=consume_queue_units.is_pre_blank_needed, promises="unit_names_its_record")
def blank_units_only_begin_a_queue(queue_offset: Count, wrote: Position, created: bool) -> bool:
    """Blank units are written only into the first, empty file of a queue that begins behind 0."""
    needed = consume_queue_units.is_pre_blank_needed(queue_offset, wrote, first_create_in_queue=created)
    return needed == (bool(created) and queue_offset > 0 and wrote == 0)
