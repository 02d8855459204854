"""What is promised of the index of messages by their keys."""

from __future__ import annotations

from typing import Annotated

from impl.decisions import (
    index_slots,
)
from invariants.claim import assume, decision
from invariants.decisions.store_domains import Moment
from invariants.domains import INT_MAX, Int32, Integers, Positive

Slots = Annotated[int, Integers(1, (INT_MAX - 40) // 4, (1, 2, 3, 5_000_000))]


@decision(of=(index_slots.positive_hash, index_slots.abs_slot_pos), promises="key_is_found")
def slot_lies_in_the_file(hash_code: Int32, slots: Slots) -> bool:
    """Every hash code has a slot between the header and the entries, four bytes each."""
    behind_header = index_slots.abs_slot_pos(index_slots.positive_hash(hash_code), slots) - 40
    return 0 <= behind_header <= 4 * (slots - 1) and behind_header % 4 == 0


@decision(of=(index_slots.positive_hash, index_slots.abs_slot_pos), promises="key_is_found")
def key_has_the_slot_of_its_hash(hash_code: Int32, slots: Slots) -> bool:
    """A key's slot is the remainder of the hash code without its sign; the least int counts as 0."""
    amount = 0 if hash_code == -(2**31) else -hash_code if hash_code < 0 else hash_code
    position = index_slots.abs_slot_pos(index_slots.positive_hash(hash_code), slots)
    return position == 40 + 4 * (amount % slots)


@decision(of=(index_slots.abs_index_pos, index_slots.index_file_size), promises="key_is_found",
          few={"entries": range(1, 6), "number": range(6)})
def entry_lies_in_the_file(slots: Slots, entries: Positive, number: Positive) -> bool:
    """Entries stand behind the slots, one after the other, and the last one ends with the file."""
    assume(number < entries, 40 + 4 * slots + 20 * entries <= INT_MAX)
    position, size = index_slots.abs_index_pos(slots, number), index_slots.index_file_size(slots, entries)
    return position == 40 + 4 * slots + 20 * number and position + 20 <= size and size == 40 + 4 * slots + 20 * entries


@decision(of=index_slots.previous_entry, promises="key_is_found")
def slot_points_back(slot: Int32, number: Positive) -> bool:
    """A new entry points back to the one that its slot named, or to none if that is no earlier one or itself."""
    previous = index_slots.previous_entry(slot, number)
    return previous == (slot if 0 < slot <= number else 0)


@decision(of=index_slots.is_chain_over, promises="key_is_found")
def walk_goes_on_to_earlier_entries(previous: Int32, current: Positive, count: Positive, read: Moment,
                                    begin: Moment) -> bool:
    """The walk through a slot ends where there is no former entry, or where the time before the query begins."""
    over = index_slots.is_chain_over(previous, current, count, entry_ms=read, begin_ms=begin)
    return over == (not 0 < previous <= count or previous == current or read < begin)


@decision(of=(index_slots.time_diff_seconds, index_slots.time_read_ms), promises="key_is_found")
def entry_is_read_within_its_second(begun: Moment, stored: Moment) -> bool:
    """An entry's time is read as that of its message, less than a second early, while the file is 68 years old."""
    assume(begun > 0, begun <= stored, stored - begun <= 1000 * INT_MAX)
    read = index_slots.time_read_ms(begun, index_slots.time_diff_seconds(stored, begun))
    return stored - 1000 < read <= stored


@decision(of=index_slots.time_diff_seconds, promises="key_is_found",
          few={"stored": (0, 1, 999, 1000, 1001, 2999, 3000, 1000 * INT_MAX, 1000 * INT_MAX + 1000, 2**60)})
def entry_has_a_time_in_31_bits(begun: Moment, stored: Moment) -> bool:
    """An entry counts the whole seconds since its file began, 2³¹ − 1 at most, and 0 before it began.

    begun -- 0 while the file is empty.
    """
    passed = max(stored - begun, 0) // 1000 if begun > 0 else 0
    return index_slots.time_diff_seconds(stored, begun) == min(passed, INT_MAX)


@decision(of=index_slots.is_time_matched, promises="key_is_found",
          few={name: range(4) for name in ("time", "begin", "end")})
def both_ends_of_a_query_belong_to_it(time: Moment, begin: Moment, end: Moment) -> bool:
    """A query takes an entry exactly if its time is not before the beginning of the range, nor behind its end."""
    return index_slots.is_time_matched(time, begin, end) == (not time < begin and not time > end)


@decision(of=(index_slots.time_diff_seconds, index_slots.time_read_ms, index_slots.is_time_matched),
          promises="key_is_found")
def key_is_found_a_second_early(begun: Moment, stored: Moment, begin: Moment, end: Moment) -> bool:
    """A query finds a key if its range begins a second before the message was stored, and ends then or later."""
    assume(begun > 0, begun <= stored, stored - begun <= 1000 * INT_MAX, begin <= stored - 999, end >= stored)
    read = index_slots.time_read_ms(begun, index_slots.time_diff_seconds(stored, begun))
    return index_slots.is_time_matched(read, begin, end)


@decision(of=(index_slots.time_diff_seconds, index_slots.time_read_ms, index_slots.is_time_matched),
          promises="key_is_found", shipped="violated: V13")
def key_is_found_at_its_time(begun: Moment, stored: Moment, begin: Moment, end: Moment) -> bool:
    """A query finds a key if its range holds the time when the message was stored."""
    assume(begun > 0, begun <= stored, stored - begun <= 1000 * INT_MAX, begin <= stored, stored <= end)
    read = index_slots.time_read_ms(begun, index_slots.time_diff_seconds(stored, begun))
    return index_slots.is_time_matched(read, begin, end)


@decision(of=(index_slots.time_diff_seconds, index_slots.time_read_ms), promises="key_is_found",
          shipped="violated: V13")
def first_entry_of_a_later_file_keeps_its_time(previous_end: Moment, stored: Moment) -> bool:
    """The first entry of a file that follows another is read as no later than its message.

    Its seconds count from the end of the file before, and then the file's beginning is set to its own time.
    """
    assume(previous_end > 0, previous_end <= stored)
    return index_slots.time_read_ms(stored, index_slots.time_diff_seconds(stored, previous_end)) <= stored


@decision(of=index_slots.is_file_time_matched, promises="key_is_found",
          few={name: range(4) for name in ("begin", "end", "first", "last")})
def file_is_asked_if_the_ranges_meet(begin: Moment, end: Moment, first: Moment, last: Moment) -> bool:
    """A query looks into an index file exactly if its range and the file's have a time in common."""
    assume(begin <= end, first <= last)
    return index_slots.is_file_time_matched(begin, end, first, last) == (begin <= last and first <= end)
