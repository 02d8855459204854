"""What is promised of the checkpoint and of recovery."""

from __future__ import annotations

from typing import Annotated

from impl.decisions import (
    store_recovery,
    store_rules,
)
from invariants.claim import assume, decision
from invariants.decisions.store_domains import Moment
from invariants.domains import Integers, NotNegativeLong, Positive

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
