"""Where a key lies in an index file, and at which times it is found there."""

from __future__ import annotations

from impl.decisions.java_arithmetic import INT_MAX, absolute32, quotient, remainder, wrap32, wrap64

INDEX_HEADER_SIZE = 40  # IndexHeader
HASH_SLOT_SIZE = 4  # IndexFile
INDEX_SIZE = 20  # IndexFile
INVALID_INDEX = 0  # IndexFile


def positive_hash(hash_code: int) -> int:
    """IndexFile#indexKeyHashMethod of a key's hash code: its absolute, 0 for the one int that has none."""
    positive = absolute32(hash_code)
    if positive < 0:
        return 0
    return positive


def index_file_size(hash_slot_num: int, index_num: int) -> int:
    """Bytes of an index file; the constructor of IndexFile."""
    return wrap32(INDEX_HEADER_SIZE + hash_slot_num * HASH_SLOT_SIZE + index_num * INDEX_SIZE)


def abs_slot_pos(key_hash: int, hash_slot_num: int) -> int:
    """IndexFile#putKey: where the slot of a key stands in the file."""
    return wrap32(INDEX_HEADER_SIZE + remainder(key_hash, hash_slot_num) * HASH_SLOT_SIZE)


def abs_index_pos(hash_slot_num: int, index_count: int) -> int:
    """IndexFile#putKey: where an entry stands in the file; the first one has number 1, and room 0 stays empty."""
    return wrap32(INDEX_HEADER_SIZE + hash_slot_num * HASH_SLOT_SIZE + index_count * INDEX_SIZE)


def previous_entry(slot_value: int, index_count: int) -> int:
    """IndexFile#putKey: the entry that the next one of a slot points back to, INVALID_INDEX for none.

    index_count -- the number of the new entry.
    """
    if slot_value <= INVALID_INDEX or slot_value > index_count:
        return INVALID_INDEX
    return slot_value


def is_chain_over(previous: int, current: int, index_count: int, *, entry_ms: int, begin_ms: int) -> bool:
    """IndexFile#selectPhyOffset: whether the walk through a slot's entries stops behind the current one."""
    if previous <= INVALID_INDEX or previous > index_count:
        return True
    return previous == current or entry_ms < begin_ms


def time_diff_seconds(store_timestamp_ms: int, begin_timestamp_ms: int) -> int:
    """IndexFile#putKey: the time of an entry, in whole seconds since the file began; 0 before that."""
    if begin_timestamp_ms <= 0:
        return 0
    seconds = quotient(wrap64(store_timestamp_ms - begin_timestamp_ms), 1000)
    if seconds > INT_MAX:
        return INT_MAX
    if seconds < 0:
        return 0
    return seconds


def time_read_ms(begin_timestamp_ms: int, seconds: int) -> int:
    """IndexFile#selectPhyOffset: the time that an entry is taken to have."""
    return wrap64(begin_timestamp_ms + seconds * 1000)


def is_time_matched(time_ms: int, begin_ms: int, end_ms: int) -> bool:
    """IndexFile#selectPhyOffset: whether an entry's time lies in the range of a query, both ends included."""
    return begin_ms <= time_ms <= end_ms


def is_file_time_matched(begin_ms: int, end_ms: int, file_begin_ms: int, file_end_ms: int) -> bool:
    """IndexFile#isTimeMatched: whether a query's range and that of a file have a time in common."""
    around = begin_ms < file_begin_ms and end_ms > file_end_ms
    return around or file_begin_ms <= begin_ms <= file_end_ms or file_begin_ms <= end_ms <= file_end_ms
