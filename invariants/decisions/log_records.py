"""What is promised of records in the commit log, and of what is forced to the disk."""

from __future__ import annotations

from typing import Annotated

from impl.decisions import (
    flush_rules,
    java_arithmetic,
    log_append,
    put_rules,
)
from invariants.claim import assume, decision
from invariants.decisions.store_domains import Length, Moment, Position
from invariants.domains import INT_MAX, LONG_MAX, Count, Int32, Integers, Positive

BodyLength = Annotated[int, Integers(0, INT_MAX - 100_000, (0, 1, 2, INT_MAX - 100_000))]
ByteLength = Annotated[int, Integers(0, 127, (0, 1, 127))]
ShortLength = Annotated[int, Integers(0, 32_767, (0, 1, 32_766, 32_767))]
Room = Annotated[int, Integers(8, INT_MAX, (8, 9, 10, 98, 99, 100, INT_MAX))]
MOST_CHARACTERS = 127  # of a topic


# Records in the log ---------------------------------------------------------------------------------------------------


@decision(of=log_append.record_length, promises="record_is_readable")
def record_is_the_sum_of_its_fields(body: BodyLength, topic: ByteLength, properties: ShortLength, born: bool,
                                    store: bool) -> bool:
    """A record is 91 bytes longer than body, topic and properties, and 12 more for each host with an IPv6 address."""
    hosts = (12 if born else 0) + (12 if store else 0)
    length = log_append.record_length(body, topic, properties, born_host_v6=born, store_host_v6=store)
    return length == 91 + hosts + body + topic + properties


@decision(of=(log_append.batch_properties_length, log_append.written_properties_length, log_append.record_length),
          promises="record_is_readable", shipped="violated: V1")
def batched_record_is_readable(own: ShortLength, common: ShortLength, separated: bool) -> bool:
    """The record of a message in a batch is as long as the length of its properties, read back, makes it."""
    assume(not separated or (own > 0 and common > 0))
    length = log_append.batch_properties_length(own, common, needs_separator=separated)
    written = log_append.written_properties_length(length)
    return _length(written) == _length(length)


@decision(of=(log_append.batch_properties_length, log_append.written_properties_length, log_append.record_length),
          promises="record_is_readable")
def batched_record_with_short_properties_is_readable(own: ShortLength, common: ShortLength, separated: bool) -> bool:
    """While both properties of a batched message fit into 32767 bytes, its record is as long as what is read."""
    assume(own + common + separated <= 32_767)  # noqa: PLR2004  the documented limit
    length = log_append.batch_properties_length(own, common, needs_separator=separated)
    written = log_append.written_properties_length(length)
    return written == length and _length(written) == 91 + own + common + separated


def _length(properties: int) -> int:
    """A record of properties alone, with IPv4 hosts."""
    return log_append.record_length(0, 0, properties, born_host_v6=False, store_host_v6=False)


@decision(of=log_append.is_end_of_file, promises="file_ends_with_a_blank")
def file_keeps_room_for_its_blank(length: Length, room: Room) -> bool:
    """Whatever is appended, a file has eight bytes left for the blank that ends it."""
    left = room if log_append.is_end_of_file(length, room) else room - length
    return left >= 8  # noqa: PLR2004  the documented length


@decision(of=log_append.is_end_of_file, promises="file_ends_with_a_blank")
def record_goes_where_it_has_room(length: Length, room: Room) -> bool:
    """A record goes into the next file exactly if it and a blank do not fit into this one."""
    return log_append.is_end_of_file(length, room) == (length > room - 8)


@decision(of=put_rules.is_put_available, promises="full_disk_refuses_writes")
def only_a_running_master_that_may_write_takes_puts(stopped: bool, slave: bool, writeable: bool) -> bool:
    """A put is refused by a store that is stopped, by a slave, and by a store that may not write."""
    return put_rules.is_put_available(stopped=stopped, slave=slave, writeable=writeable) != (
        stopped or slave or not writeable)


@decision(of=put_rules.is_message_legal, promises="record_is_readable",
          few={"topic": (0, 1, 126, 127, 128), "properties": (0, 1, 32_766, 32_767, 32_768)})
def lengths_of_a_legal_message_fit(topic: Count, properties: Count) -> bool:
    """A message of ASCII characters is legal exactly if the lengths of topic and properties can be read back."""
    assume(topic < 2**8, properties < 2**16)
    fits = java_arithmetic.wrap8(topic) == topic and log_append.written_properties_length(properties) == properties
    return put_rules.is_message_legal(topic, properties) == fits


@decision(of=put_rules.is_batch_legal, promises="record_is_readable",
          few={"topic": (0, 126, 127, 128), "body": range(4), "most": range(4)})
def legal_batch_is_no_longer_than_a_message(topic: Count, body: Count, most: Positive) -> bool:
    """A batch is legal exactly if its topic has at most 127 characters and its body the length of a message at most."""
    return put_rules.is_batch_legal(topic, body, most) == (topic <= MOST_CHARACTERS and body <= most)


BUSY_MS, FORGOTTEN_MS = 1000, 10_000_000  # the documented numbers


@decision(of=log_append.is_os_page_cache_busy, promises="busy_store_refuses_writes",
          few={"begin": (0, 1, 5000), "held": (0, 1000, 1001, FORGOTTEN_MS - 1, FORGOTTEN_MS, FORGOTTEN_MS + 1)})
def lock_held_for_a_second_refuses(begin: Count, held: Count) -> bool:
    """A put is refused while the lock is held for more than a second, and not any more after 10,000 seconds."""
    assume(begin + held <= LONG_MAX)
    return log_append.is_os_page_cache_busy(begin + held, begin, BUSY_MS) == (BUSY_MS < held < FORGOTTEN_MS)


# What is forced, and when ---------------------------------------------------------------------------------------------


THOROUGH_MS, PAGE, LEAST_PAGES = 10_000, 4096, 4  # the documented numbers, not the code's constants


@decision(of=(flush_rules.is_able_to_flush, flush_rules.is_thorough_flush, flush_rules.flush_least_pages),
          promises="written_data_is_flushed_in_time",
          few={"now": (0, 9_999, 10_000, 10_001), "last": (0, 1)})
def nothing_waits_for_more_pages_than_ten_seconds(flushed: Position, readable: Position, full: bool, now: Moment,
                                                  last: Moment) -> bool:
    """Ten seconds after the last round that flushed all, whatever was written since is flushed."""
    assume(flushed < readable, now - last >= THOROUGH_MS)
    thorough = flush_rules.is_thorough_flush(now, last, flush_rules.FLUSH_COMMIT_LOG_THOROUGH_INTERVAL_MS)
    pages = flush_rules.flush_least_pages(flush_rules.FLUSH_COMMIT_LOG_LEAST_PAGES, thorough=thorough)
    return flush_rules.is_able_to_flush(pages, flushed, readable, full=full)


@decision(of=flush_rules.is_able_to_flush, promises="written_data_is_flushed_in_time", few={"pages": range(-1, 5)})
def file_that_is_not_full_waits_for_its_pages(pages: Int32, flushed: Position, readable: Position) -> bool:
    """A file that is not full is flushed once so many page boundaries were passed, or anything was written if 0."""
    assume(flushed <= readable)
    passed = readable // PAGE - flushed // PAGE
    due = passed >= pages if pages > 0 else readable > flushed
    return flush_rules.is_able_to_flush(pages, flushed, readable, full=False) == due


@decision(of=flush_rules.flush_least_pages, promises="written_data_is_flushed_in_time")
def thorough_round_waits_for_no_page(configured: Int32, thorough: bool) -> bool:
    """A round waits for the configured number of pages, and a thorough one for none."""
    return flush_rules.flush_least_pages(configured, thorough=thorough) == (0 if thorough else configured)


@decision(of=(flush_rules.is_able_to_flush, flush_rules.is_thorough_flush, flush_rules.flush_least_pages),
          promises="written_data_is_flushed_in_time",
          few={"now": (0, 9_999, 10_000, 10_001), "last": (0, 1)})
def few_pages_wait(flushed: Position, readable: Position, now: Moment, last: Moment) -> bool:
    """Before that, a file that is not full is flushed once four page boundaries were passed."""
    assume(flushed <= readable, now - last < THOROUGH_MS)
    thorough = flush_rules.is_thorough_flush(now, last, flush_rules.FLUSH_COMMIT_LOG_THOROUGH_INTERVAL_MS)
    pages = flush_rules.flush_least_pages(flush_rules.FLUSH_COMMIT_LOG_LEAST_PAGES, thorough=thorough)
    passed = readable // PAGE - flushed // PAGE
    return flush_rules.is_able_to_flush(pages, flushed, readable, full=False) == (passed >= LEAST_PAGES)


@decision(of=flush_rules.is_able_to_flush, promises="written_data_is_flushed_in_time")
def full_file_is_always_flushed(pages: Int32, flushed: Position, readable: Position) -> bool:
    """A file that is full is flushed in every round, however many pages the round asks for."""
    return flush_rules.is_able_to_flush(pages, flushed, readable, full=True)


@decision(of=(flush_rules.mapped_file_index, flush_rules.position_in_file), promises="offset_lies_in_its_file",
          few={"size": range(1, 5)})
def offset_lies_in_its_file(index: Count, position: Count, size: Positive) -> bool:
    """An offset is found in the file whose range it lies in, at its distance from that file's beginning."""
    assume(position < size, size <= INT_MAX, index <= INT_MAX)
    offset = index * size + position
    return (flush_rules.mapped_file_index(offset, 0, size) == index
            and flush_rules.position_in_file(offset, size) == position)


@decision(of=flush_rules.mapped_file_index, promises="offset_lies_in_its_file", few={"size": range(1, 5)})
def files_are_counted_from_the_first_one_left(offset: Count, first: Count, size: Positive) -> bool:
    """After older files have gone, the place of an offset's file is so many lower as files have gone."""
    assume(size <= INT_MAX, first <= offset, offset // size <= INT_MAX)
    gone = flush_rules.mapped_file_index(first, 0, size)
    return (flush_rules.mapped_file_index(offset, first, size)
            == flush_rules.mapped_file_index(offset, 0, size) - gone)


@decision(of=flush_rules.first_file_offset, promises="offset_lies_in_its_file", few={"size": range(1, 5)})
def first_file_begins_at_a_multiple(offset: Count, size: Positive) -> bool:
    """The first file of an empty queue begins at a multiple of the file size, and the offset lies in it."""
    assume(size <= INT_MAX)
    start = flush_rules.first_file_offset(offset, size)
    return start % size == 0 and start <= offset < start + size
