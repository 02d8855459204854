"""What is promised of the store's decisions, for all inputs; invariants/decisions.py has those of the other parts.

Lengths and positions are bytes, times ms since 1970. Here too a claim that the shipped code violates names its hazards,
and beside it stands the claim with the premise under which the same code is right.
"""

from __future__ import annotations

from typing import Annotated

from impl.decisions import (
    consume_queue_units,
    disk_cleanup,
    flush_rules,
    index_slots,
    java_arithmetic,
    log_append,
    pull_answer,
    put_rules,
    replication,
    retry_level,
    store_recovery,
    store_rules,
    suggestion,
)
from impl.decisions.consume_queue_units import UnitPlace
from invariants.claim import assume, decision
from invariants.domains import INT_MAX, LONG_MAX, Count, Int32, Integers, Long, NotNegativeLong, Positive

BodyLength = Annotated[int, Integers(0, INT_MAX - 100_000, (0, 1, 2, INT_MAX - 100_000))]
ByteLength = Annotated[int, Integers(0, 127, (0, 1, 127))]
ShortLength = Annotated[int, Integers(0, 32_767, (0, 1, 32_766, 32_767))]
Length = Annotated[int, Integers(1, INT_MAX - 8, (1, 2, 91, INT_MAX - 8))]
Room = Annotated[int, Integers(8, INT_MAX, (8, 9, 10, 98, 99, 100, INT_MAX))]
Position = Annotated[int, Integers(0, INT_MAX, (0, 1, 4095, 4096, 4 * 4096 - 1, 4 * 4096, INT_MAX))]
Moment = Annotated[int, Integers(0, 2**60, (0, 1, 2, 999, 1000, 1001, 2999, 3000, 3001))]
Offset = Annotated[int, Integers(0, 2**60, (0, 1, 2, INT_MAX - 1, INT_MAX, INT_MAX + 1))]


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


# Checkpoint and recovery ----------------------------------------------------------------------------------------------

MARGIN_MS = 3000


@decision(of=(store_rules.checkpoint_min_timestamp, store_rules.checkpoint_min_timestamp_index),
          promises="checkpoint_is_not_optimistic")
def checkpoint_is_three_seconds_early(physic: NotNegativeLong, logics: NotNegativeLong,
                                      index: NotNegativeLong) -> bool:
    """The minimum of a checkpoint lies three seconds before the earlier stamp, not below 0 nor behind the index's."""
    least = store_rules.checkpoint_min_timestamp(physic, logics)
    with_index = store_rules.checkpoint_min_timestamp_index(physic, logics, index)
    return least == max(min(physic, logics) - MARGIN_MS, 0) and with_index == min(least, index)


@decision(of=store_recovery.recovery_timestamp, promises="checkpoint_is_not_optimistic")
def index_counts_only_if_it_is_safe(physic: NotNegativeLong, logics: NotNegativeLong, index: NotNegativeLong,
                                    enable: bool, safe: bool) -> bool:
    """Recovery goes by the index's stamp too exactly if messages are indexed and the index is to be safe."""
    answer = store_recovery.recovery_timestamp(
        physic, logics, index, message_index_enable=enable, message_index_safe=safe)
    least = max(min(physic, logics) - MARGIN_MS, 0)
    return answer == (min(least, index) if enable and safe else least)


@decision(of=store_recovery.first_file_of_normal_recovery, promises="no_record_is_missed")
def normal_recovery_reads_the_last_three_files(files: Positive) -> bool:
    """After a clean stop the last three files are read, or all if there are fewer."""
    first = store_recovery.first_file_of_normal_recovery(files)
    return first >= 0 and files - first == min(files, 3)


@decision(of=store_recovery.is_mapped_file_matched_recover, promises="no_record_is_missed")
def file_counts_by_its_first_record(stored: Moment, minimum: Moment, magic: bool) -> bool:
    """A file counts exactly if its first record is a message, has a time, and is not newer than the checkpoint."""
    counts = store_recovery.is_mapped_file_matched_recover(stored, minimum, message_magic=magic)
    return counts == (magic and 0 < stored <= minimum)


@decision(of=(store_recovery.first_file_of_abnormal_recovery, store_recovery.is_mapped_file_matched_recover),
          promises="no_record_is_missed", few={name: range(4) for name in ("a", "b", "c", "minimum")})
def recovery_begins_at_the_newest_file_that_counts(a: Moment, b: Moment, c: Moment, minimum: Moment) -> bool:
    """Recovery begins at a file that is not newer than the checkpoint, or at the first, and no later one is such."""
    stamps = (a, b, c)
    start = store_recovery.first_file_of_abnormal_recovery(stamps, minimum)
    counted = [0 < stamp <= minimum for stamp in stamps]
    return (start == 0 or counted[start]) and not any(counted[start + 1:])


@decision(of=(store_recovery.first_file_of_abnormal_recovery, store_recovery.is_mapped_file_matched_recover),
          promises="no_record_is_missed",
          few={name: range(4) for name in ("a", "b", "c", "minimum", "stored")})
def unread_record_is_older_than_the_checkpoint(a: Moment, b: Moment, c: Moment, minimum: Moment,
                                               place: Annotated[int, Integers(0, 2)], stored: Moment) -> bool:
    """While the clock does not go back, every record before the file where recovery begins is durable.

    a, b, c -- when the first record of each file was stored. stored -- of another record, of the file at `place`.
    """
    stamps = (a, b, c)
    assume(a > 0, a <= b, b <= c, stamps[place] <= stored, place == len(stamps) - 1 or stored <= stamps[place + 1])
    return place >= store_recovery.first_file_of_abnormal_recovery(stamps, minimum) or stored <= minimum


@decision(of=(store_recovery.first_file_of_abnormal_recovery, store_recovery.is_mapped_file_matched_recover),
          promises="no_record_is_missed", shipped="violated: V10",
          few={name: range(4) for name in ("a", "b", "c", "minimum", "stored")})
def unread_record_is_durable_whatever_the_clock_does(a: Moment, b: Moment, c: Moment, minimum: Moment,
                                                     place: Annotated[int, Integers(0, 2)], stored: Moment) -> bool:
    """Every record before the file where recovery begins is durable, also after the clock went back."""
    assume(a > 0, b > 0, c > 0)
    return place >= store_recovery.first_file_of_abnormal_recovery((a, b, c), minimum) or stored <= minimum


# Units of a consume queue ---------------------------------------------------------------------------------------------


@decision(of=consume_queue_units.place_of_unit, promises="unit_names_its_record", shipped="violated: V10")
def unit_stands_at_its_queue_offset(queue_offset: Positive, units: Count) -> bool:
    """A unit that is appended stands where its record's queue offset says; V10 leaves a gap before it."""
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


# The index ------------------------------------------------------------------------------------------------------------

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


# Replication ----------------------------------------------------------------------------------------------------------

BEHIND_BYTES = 256 * 2**20


@decision(of=replication.is_slave_ok, promises="acknowledged_message_is_on_the_slave",
          few={"end": (0, 1, BEHIND_BYTES - 1, BEHIND_BYTES, BEHIND_BYTES + 1), "pushed": (0, 1, 2)})
def put_waits_for_a_slave_that_is_near(connections: Count, end: Offset, pushed: Offset) -> bool:
    """A put waits for a slave exactly if one is connected and the record ends less than 256 MiB behind what it has."""
    answer = replication.is_slave_ok(connections, end, pushed, replication.HA_SLAVE_FALLBEHIND_MAX_BYTES)
    return answer == (connections > 0 and end < pushed + BEHIND_BYTES)


@decision(of=(replication.is_report_accepted, replication.is_transferred),
          promises="acknowledged_message_is_on_the_slave")
def record_behind_the_slave_waits_for_it(slave: Offset, start: Offset, size: Length) -> bool:
    """A record that begins at or behind the slave's end does not count as replicated before the slave reports more."""
    assume(slave <= start)
    return not replication.is_transferred(slave, start + size)


@decision(of=(replication.is_report_accepted, replication.is_transferred),
          promises="acknowledged_message_is_on_the_slave", shipped="violated: V11")
def new_record_waits_for_the_slave(slave: Offset, end: Offset, size: Length) -> bool:
    """A record that a master appends after a slave has connected does not count as replicated at once."""
    assume(replication.is_report_accepted(replication.NO_REQUEST_OFFSET, slave, end))
    return not replication.is_transferred(slave, end + size)


@decision(of=replication.is_transferred, promises="acknowledged_message_is_on_the_slave")
def record_is_replicated_when_a_slave_has_its_end(slave: Offset, end: Offset) -> bool:
    """A record counts as replicated exactly if a slave has reported its end, or more."""
    return replication.is_transferred(slave, end) == (end <= slave)


@decision(of=replication.is_report_accepted, promises="slave_log_is_a_prefix", few={"requested": range(-1, 3)})
def later_report_beyond_the_log_is_refused(
    requested: Annotated[int, Integers(-1, 2**60)], reported: Offset, end: Offset,
) -> bool:
    """A report of a slave is refused exactly if it lies beyond the master's log, and is not the connection's first.

    requested -- the first report, -1 while this is it.
    """
    first = requested == -1
    return replication.is_report_accepted(requested, reported, end) == (first or reported <= end)


@decision(of=replication.first_transfer_offset, promises="slave_log_is_a_prefix", few={"size": range(1, 5)})
def transfer_goes_on_where_the_slave_ends(requested: Offset, end: Count, size: Positive) -> bool:
    """A slave that has something is sent what follows it; an empty one the master's last file, from its beginning."""
    assume(size <= INT_MAX)
    start = replication.first_transfer_offset(requested, end, size)
    return start == requested if requested > 0 else start % size == 0 and start <= end < start + size


@decision(of=replication.is_frame_accepted, promises="slave_log_is_a_prefix")
def slave_takes_what_follows_its_log(slave: Offset, frame: Offset) -> bool:
    """A slave takes a frame exactly if it begins where the slave's log ends; an empty slave takes any."""
    return replication.is_frame_accepted(slave, frame) == (slave in (0, frame))


# Clean-up, delays, offsets --------------------------------------------------------------------------------------------

MOST_FILES = 10


@decision(of=disk_cleanup.may_delete_another, promises="old_files_go",
          few={"files": range(14), "deleted": range(14), "place": range(14)})
def pass_leaves_the_last_file(place: Count, files: Count, deleted: Count) -> bool:
    """A pass goes from file to file until it has deleted ten, and never comes to the last file."""
    assume(place < files, deleted <= place)
    return disk_cleanup.may_delete_another(place, files, deleted) == (place + 1 < files and deleted < MOST_FILES)


@decision(of=retry_level.stored_delay_level, promises="delayed_message_waits")
def parsed_levels_delay_every_message(level: Positive, most: Positive) -> bool:
    """With a table of levels every message that asks for a level has a delivery time."""
    return retry_level.stored_delay_level(level, most) > 0


@decision(of=retry_level.stored_delay_level, promises="delayed_message_waits", shipped="violated: V5")
def delayed_message_has_a_delivery_time(level: Positive, most: Count) -> bool:
    """Every message that asks for a level has a delivery time, also while the table is not parsed (most = 0)."""
    return retry_level.stored_delay_level(level, most) > 0


@decision(of=(suggestion.accessible_memory_bytes, java_arithmetic.cut_product),
          promises="suggestion_follows_the_table", few={"memory": (0, 1, 2, 3, 4, 5, 2**34, 2**51)})
def memory_is_forty_percent(memory: Annotated[int, Integers(0, 2**51)]) -> bool:
    """By default messages count as in memory within forty percent of it, rounded down, up to 2 PiB of memory.

    Java multiplies by the double next to 0.4 and rounds the product to a double.
    """
    return suggestion.accessible_memory_bytes(memory) == memory * 40 // 100


@decision(of=java_arithmetic.cut_product, promises="suggestion_follows_the_table",
          few={"number": (-(2**51), -2, -1, 0, 1, 2, 2**51)})
def product_is_cut_towards_zero(number: Annotated[int, Integers(-(2**51), 2**51)]) -> bool:
    """A product that a double holds exactly is cut towards zero, whatever the signs of its factors."""
    size = 3 * (-number if number < 0 else number) // 4
    cut = -size if number < 0 else size
    return (java_arithmetic.cut_product(number, 0.75) == cut and java_arithmetic.cut_product(number, -0.75) == -cut
            and java_arithmetic.cut_product(number, 0.0) == 0)


@decision(of=java_arithmetic.cut_product, promises="suggestion_follows_the_table",
          few={"number": (0, 1, 2, 2**51 + 1, *range(2**53 // 3, 2**53 // 3 + 9), *range(2**53 - 9, 2**53 + 1))})
def product_is_rounded_to_the_nearest_double(number: Annotated[int, Integers(0, 2**53)]) -> bool:
    """A product of more than 53 bits is the nearest number of 53 bits with zeros behind, of two the even one."""
    exact, answer = 3 * number, java_arithmetic.cut_product(number, 3.0)
    unit = 1 if exact < 2**53 else 2 if exact < 2**54 else 4  # what the last of 53 bits is worth
    error = 2 * (answer - exact)
    tied = error in (unit, -unit)
    return answer % unit == 0 and -unit <= error <= unit and (not tied or answer % (2 * unit) == 0)


@decision(of=pull_answer.next_offset_correction, promises="next_offset_progresses")
def slave_keeps_the_asked_offset(asked: Offset, corrected: Offset, slave: bool, check: bool) -> bool:
    """A master corrects an offset, and a slave only with offsetCheckInSlave."""
    answer = pull_answer.next_offset_correction(asked, corrected, slave=slave, offset_check_in_slave=check)
    return answer == (asked if slave and not check else corrected)
