"""What is promised of brokers: which files they delete, and when messages are tried again."""

from __future__ import annotations

from typing import Annotated

from impl.decisions import (
    disk_cleanup,
    java_arithmetic,
    retry_level,
)
from invariants.claim import assume, decision
from invariants.domains import INT_MAX, Count, Int32, Integers, Positive

DiskUsage = Annotated[int, Integers(-1, 100, (-1, 0, 75, 76, 85, 86, 90, 91, 100))]
Percent = Annotated[int, Integers(0, 100, (0, 1, 74, 75, 76, 84, 85, 86, 89, 90, 91, 100))]
MaxUsed = Annotated[int, Integers(10, 95, (10, 75, 91, 95))]
Level = Annotated[int, Integers(1, 18)]


# When files go --------------------------------------------------------------------------------------------------------


MOST_USED, FORCIBLY, WARNING = 75, 85, 90  # percent; here and below the documented numbers, not the code's constants
RESERVED_MS = 72 * 3_600_000
Moment = Annotated[int, Integers(0, 2**60, (0, 1, RESERVED_MS - 1, RESERVED_MS, RESERVED_MS + 1))]


@decision(of=(disk_cleanup.is_space_to_delete, disk_cleanup.is_file_deleted, disk_cleanup.cleans_at_once),
          promises="young_files_survive")
def young_files_survive(log_disk: DiskUsage, queue_disk: DiskUsage, full: bool, forcibly: bool, now: Moment,
                        modified: Moment) -> bool:
    """While no disk is used by more than 85 percent, no file younger than 72 hours is deleted."""
    assume(log_disk <= FORCIBLY, queue_disk <= FORCIBLY, now - modified < RESERVED_MS)
    space = disk_cleanup.is_space_to_delete(log_disk, queue_disk, MOST_USED, disk_full=full)
    at_once = disk_cleanup.cleans_at_once(
        clean_file_forcibly_enable=forcibly, clean_immediately=space.clean_immediately,
    )
    return not disk_cleanup.is_file_deleted(now, modified, RESERVED_MS, clean_at_once=at_once)


@decision(of=(disk_cleanup.is_file_deleted, disk_cleanup.cleans_at_once), promises="old_files_go")
def old_files_go(now: Moment, modified: Moment, forcibly: bool, at_once: bool) -> bool:
    """A pass deletes a file exactly if it is 72 hours old, or if it may be forced and the disk is that full."""
    forced = disk_cleanup.cleans_at_once(clean_file_forcibly_enable=forcibly, clean_immediately=at_once)
    deleted = disk_cleanup.is_file_deleted(now, modified, RESERVED_MS, clean_at_once=forced)
    return deleted == (now - modified >= RESERVED_MS or (forcibly and at_once))


@decision(of=disk_cleanup.is_space_to_delete, promises="full_disk_refuses_writes")
def space_decision_follows_the_table(log_disk: DiskUsage, queue_disk: DiskUsage, full: bool) -> bool:
    """With the default ratio: files go above 75 or at unknown usage, at once above 85, one disk after the other."""
    answer = disk_cleanup.is_space_to_delete(log_disk, queue_disk, MOST_USED, disk_full=full)
    first = log_disk > MOST_USED or log_disk < 0
    used = log_disk if first else queue_disk
    marked = used > WARNING or (used > FORCIBLY and first and full)
    return (answer.delete == (first or queue_disk > MOST_USED or queue_disk < 0)
            and answer.clean_immediately == (used > FORCIBLY) and answer.disk_full == marked)


@decision(of=(disk_cleanup.least_percent, java_arithmetic.smaller), promises="full_disk_refuses_writes")
def emptiest_disk_counts(one: Percent, other: Percent) -> bool:
    """A log on two disks is as full as the one that is less full."""
    answer = disk_cleanup.least_percent([one, other])
    return (answer == one and one <= other) or (answer == other and other <= one)


@decision(of=disk_cleanup.disk_full_flag, promises="full_disk_refuses_writes")
def disk_flag_has_hysteresis(used: Percent, full: bool) -> bool:
    """One look at one disk: full above 90, not full up to 85, unchanged between."""
    answer = disk_cleanup.disk_full_flag(used, disk_full=full)
    return answer == (used > WARNING or (used > FORCIBLY and full))


@decision(of=disk_cleanup.is_space_full, promises="full_disk_refuses_writes")
def space_is_full_above_the_warning(log_disk: Percent) -> bool:
    """The look of isSpaceFull marks the broker as full exactly if the log disk is used by more than 90 percent."""
    return disk_cleanup.is_space_full(log_disk) == (log_disk > WARNING)


@decision(of=disk_cleanup.is_space_to_delete, promises="full_disk_refuses_writes", shipped="violated: V24")
def full_disk_is_marked(log_disk: Percent, queue_disk: Percent, full: bool) -> bool:
    """When a disk is used by more than 90 percent, the broker counts as full after the look at the disks."""
    assume(log_disk > WARNING or queue_disk > WARNING)
    return disk_cleanup.is_space_to_delete(log_disk, queue_disk, MOST_USED, disk_full=full).disk_full


@decision(of=disk_cleanup.is_space_to_delete, promises="full_disk_refuses_writes", shipped="violated: V24")
def full_log_disk_is_marked(most: MaxUsed, log_disk: Percent, queue_disk: Percent, full: bool) -> bool:
    """A log disk used by more than 90 percent marks the broker as full, whatever diskMaxUsedSpaceRatio is."""
    assume(log_disk > WARNING)
    return disk_cleanup.is_space_to_delete(log_disk, queue_disk, most, disk_full=full).disk_full


@decision(of=disk_cleanup.is_space_to_delete, promises="full_disk_refuses_writes")
def full_log_disk_is_marked_by_default(log_disk: Percent, queue_disk: Percent, full: bool) -> bool:
    """With the default ratio a log disk above 90 percent marks the broker as full."""
    assume(log_disk > WARNING)
    return disk_cleanup.is_space_to_delete(log_disk, queue_disk, MOST_USED, disk_full=full).disk_full


@decision(of=(disk_cleanup.is_space_to_delete, disk_cleanup.is_space_full), promises="full_disk_refuses_writes",
          shipped="violated: V24")
def full_disk_stays_marked(log_disk: Percent, queue_disk: Percent) -> bool:
    """A full broker stays full, through the look of isSpaceFull too, until the log disk is down to 85 percent."""
    assume(log_disk > FORCIBLY)
    disk_cleanup.is_space_to_delete(log_disk, queue_disk, MOST_USED, disk_full=True)
    return disk_cleanup.is_space_full(log_disk)


# Retries and delays ---------------------------------------------------------------------------------------------------


FIRST_RETRY_LEVEL, LAST_LEVEL, RETRIES = 3, 18, 16


@decision(of=(retry_level.send_back_delay_level, retry_level.stored_delay_level), promises="delay_level_is_in_range")
def retry_is_always_delayed(times: Count, most: Count) -> bool:
    """A failed message that is not yet dead waits at least the third level (10 s) and at most the last one (2 h)."""
    assume(times < most, times <= INT_MAX - 3)
    level = retry_level.stored_delay_level(retry_level.send_back_delay_level(times, 0, most), LAST_LEVEL)
    return FIRST_RETRY_LEVEL <= level <= LAST_LEVEL


@decision(of=(retry_level.send_back_delay_level, retry_level.stored_delay_level), promises="delay_levels_are_monotone")
def later_retry_waits_longer(earlier: Count, later: Count, most: Count) -> bool:
    """A message that failed more often never waits at a lower level."""
    assume(earlier <= later, later < most, later <= INT_MAX - 3)
    first = retry_level.stored_delay_level(retry_level.send_back_delay_level(earlier, 0, most), LAST_LEVEL)
    return first <= retry_level.stored_delay_level(retry_level.send_back_delay_level(later, 0, most), LAST_LEVEL)


DELAYS_S = (1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200)
"""The delay of each level, in seconds."""


@decision(of=retry_level.compute_deliver_timestamp, promises="delay_levels_are_monotone", few={"level": range(1, 19)})
def message_is_due_after_its_delay(level: Level, stored: Moment) -> bool:
    """A message is due when the delay of its level has passed since it was stored."""
    return retry_level.compute_deliver_timestamp(level, stored) == stored + DELAYS_S[level - 1] * 1000


@decision(of=retry_level.compute_deliver_timestamp, promises="delay_levels_are_monotone", few={"level": range(1, 19)})
def next_level_is_due_later(level: Level, stored: Moment) -> bool:
    """Of two messages stored at once, the one at the next level is due later."""
    assume(level < LAST_LEVEL)
    due = retry_level.compute_deliver_timestamp(level, stored)
    return due < retry_level.compute_deliver_timestamp(level + 1, stored)


@decision(of=retry_level.send_back_delay_level, promises="delay_level_is_in_range",
          few={"times": (0, 1, 15, 16), "most": (0, 1, 16)})
def asked_level_is_kept(times: Count, level: Int32, most: Count) -> bool:
    """A message sent back waits at the level that the consumer asked for, and in the dead letters at none."""
    assume(times <= INT_MAX - 3)
    answer = retry_level.send_back_delay_level(times, level, most)
    if times >= most or level < 0:
        return answer == 0
    return answer == (level if level > 0 else FIRST_RETRY_LEVEL + times)


@decision(of=retry_level.stored_delay_level, promises="delay_level_is_in_range",
          few={"level": (-1, 0, 1, 2, 17, 18, 19), "most": (2, 18)})
def stored_level_is_the_asked_one(level: Int32, most: Positive) -> bool:
    """A message is stored at the level that it asks for, as far as there is one, and at the last level beyond that."""
    return retry_level.stored_delay_level(level, most) == (0 if level <= 0 else min(level, most))


@decision(of=retry_level.stored_delay_level, promises="delay_level_is_in_range")
def stored_level_is_in_range(level: Int32) -> bool:
    """Whatever level a message asks for, it is stored at none (0) or at one of the eighteen."""
    return 0 <= retry_level.stored_delay_level(level, LAST_LEVEL) <= LAST_LEVEL


@decision(of=retry_level.goes_to_dead_letters, promises="attempts_are_bounded", few={"times": range(14, 19)})
def seventeenth_failure_is_the_last(times: Count, level: Int32) -> bool:
    """With the default of 16 retries, a message that failed again after 16 or more goes to the dead letters."""
    assume(times >= RETRIES)
    return retry_level.goes_to_dead_letters(times, level, retry_level.RETRY_MAX_TIMES)


@decision(of=retry_level.goes_to_dead_letters, promises="attempts_are_bounded",
          few={"times": (0, 1, 15, 16, 17), "most": (0, 1, 16)})
def earlier_failure_is_retried(times: Count, level: Int32, most: Count) -> bool:
    """A message goes to the dead letters exactly if it was retried often enough, or if its level is negative."""
    return retry_level.goes_to_dead_letters(times, level, most) == (times >= most or level < 0)


@decision(of=retry_level.corrected_timestamp, promises="delay_levels_are_monotone")
def early_delivery_is_not_changed(now: Moment, due: Moment, delay: Moment) -> bool:
    """A message that is due within its delay from now stays due then; a later one is due now."""
    return retry_level.corrected_timestamp(now, due, delay) == (now if due > now + delay else due)


@decision(of=retry_level.corrected_timestamp, promises="delay_levels_are_monotone")
def corrected_delivery_is_not_late(now: Moment, due: Moment, delay: Moment) -> bool:
    """However the clock moved, a delayed message is due no later than its delay from now."""
    return retry_level.corrected_timestamp(now, due, delay) <= now + delay
