"""What is promised of replication, clean-up, delays, and offsets of the store."""

from __future__ import annotations

from typing import Annotated

from impl.decisions import (
    disk_cleanup,
    java_arithmetic,
    pull_answer,
    replication,
    retry_level,
    suggestion,
)
from invariants.claim import assume, decision
from invariants.decisions.store_domains import Length, Offset
from invariants.domains import INT_MAX, Count, Integers, Positive

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
def report_beyond_the_log_is_refused(
    requested: Annotated[int, Integers(-1, 2**60)], reported: Offset, end: Offset,
) -> bool:
    """A report of a slave is refused exactly if it lies beyond the master's log.

    Nothing is said of a connection's first report beyond the log (V11). requested -- the first report, -1 while this
    is it.
    """
    assume(requested >= 0 or reported <= end)
    return replication.is_report_accepted(requested, reported, end) == (reported <= end)


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
