"""When the store deletes files and when it refuses writes: thresholds on the used part of the disks.

Usage is a whole percentage, rounded up, or -1 if unknown; Java divides it by 100 and compares doubles, with the same
outcome for every whole percentage (ratios 0.85 and 0.90 are the doubles nearest to 85/100 and 90/100).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from impl.decisions.java_arithmetic import quotient, remainder, smaller, wrap64

DISK_SPACE_WARNING_LEVEL_PERCENT = 90  # rocketmq.broker.diskSpaceWarningLevelRatio
DISK_SPACE_CLEAN_FORCIBLY_PERCENT = 85  # rocketmq.broker.diskSpaceCleanForciblyRatio
DISK_MAX_USED_SPACE_RATIO = 75  # MessageStoreConfig#diskMaxUsedSpaceRatio, percent
FILE_RESERVED_TIME_HOURS = 72  # MessageStoreConfig#fileReservedTime
UNKNOWN_PERCENT = -1
DELETE_FILES_BATCH_MAX = 10  # MappedFileQueue


def space_used_percent(total_bytes: int, free_bytes: int, usable_bytes: int) -> int:
    """UtilAll#getDiskPartitionSpaceUsedPercent in percent; UNKNOWN_PERCENT for a disk without size."""
    if total_bytes <= 0:
        return UNKNOWN_PERCENT
    used_bytes = wrap64(total_bytes - free_bytes)
    entire_bytes = wrap64(used_bytes + usable_bytes)
    hundredfold = wrap64(used_bytes * 100)
    rounding = 0 if remainder(hundredfold, entire_bytes) == 0 else 1
    return quotient(hundredfold, entire_bytes) + rounding


def disk_max_used_space_ratio(configured_percent: int) -> int:
    """MessageStoreConfig#getDiskMaxUsedSpaceRatio: at least 10, at most 95 percent."""
    if configured_percent < 10:  # noqa: PLR2004  Java's own literal
        return 10
    if configured_percent > 95:  # noqa: PLR2004  Java's own literal
        return 95
    return configured_percent


def least_percent(percents: Sequence[int]) -> int:
    """The least usage among the commit log's paths; CleanCommitLogService#isSpaceToDelete starts from ratio 100."""
    least = 10000
    for percent in percents:
        least = smaller(least, percent)
    return least


@dataclass(frozen=True, slots=True)
class SpaceDecision:
    """What one look at the disks decides.

    delete -- start a pass that deletes; clean_immediately -- regardless of age; disk_full -- the flag afterwards.
    """

    delete: bool
    clean_immediately: bool
    disk_full: bool


def disk_full_flag(percent: int, *, disk_full: bool) -> bool:
    """The flag after one disk was looked at: set above 90, cleared up to 85, kept between."""
    if percent > DISK_SPACE_WARNING_LEVEL_PERCENT:
        return True
    if percent > DISK_SPACE_CLEAN_FORCIBLY_PERCENT:
        return disk_full
    return False


def cleans_immediately(percent: int) -> bool:
    """Whether a disk's usage lets files be deleted regardless of their age."""
    return percent > DISK_SPACE_CLEAN_FORCIBLY_PERCENT


def wants_space(percent: int, max_used_percent: int) -> bool:
    """Whether a disk's usage starts a pass; an unknown usage does."""
    return percent < 0 or percent > max_used_percent


def is_space_to_delete(
    physic_percent: int, logics_percent: int, max_used_percent: int, *, disk_full: bool,
) -> SpaceDecision:
    """CleanCommitLogService#isSpaceToDelete: the commit log's disk, then, if that wants nothing, the queues' disk.

    physic_percent -- least_percent of the commit log's paths. disk_full -- the flag before.
    """
    disk_full = disk_full_flag(physic_percent, disk_full=disk_full)
    immediately = cleans_immediately(physic_percent)
    if wants_space(physic_percent, max_used_percent):
        return SpaceDecision(delete=True, clean_immediately=immediately, disk_full=disk_full)
    disk_full = disk_full_flag(logics_percent, disk_full=disk_full)
    immediately = immediately or cleans_immediately(logics_percent)
    return SpaceDecision(wants_space(logics_percent, max_used_percent), immediately, disk_full)


def is_space_full(physic_percent: int) -> bool:
    """CleanCommitLogService#isSpaceFull: the answer, and the disk-full flag after it. The queues' disk is not asked."""
    return physic_percent > DISK_SPACE_WARNING_LEVEL_PERCENT


def starts_pass(*, time_up: bool, space_full: bool, manual_delete: bool) -> bool:
    """CleanCommitLogService#deleteExpiredFiles: whether a pass over the files is made."""
    return time_up or space_full or manual_delete


def cleans_at_once(*, clean_file_forcibly_enable: bool, clean_immediately: bool) -> bool:
    """CleanCommitLogService#deleteExpiredFiles: whether the pass ignores the age of files."""
    return clean_file_forcibly_enable and clean_immediately


def may_delete_another(place: int, files: int, deleted: int) -> bool:
    """MappedFileQueue#deleteExpiredFileByTime: whether a pass looks at the file at a place, counted from 0.

    files -- of the whole queue, the last of which stays. deleted -- by this pass, all before that place.
    """
    return place < files - 1 and deleted < DELETE_FILES_BATCH_MAX


def is_file_deleted(now_ms: int, last_modified_ms: int, expired_ms: int, *, clean_at_once: bool) -> bool:
    """MappedFileQueue#deleteExpiredFileByTime for one file that is not the last: old enough, or regardless of age."""
    return now_ms >= wrap64(last_modified_ms + expired_ms) or clean_at_once
