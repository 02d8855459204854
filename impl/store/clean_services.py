"""What the store deletes: old files of the commit log, and then units and keys of what is gone.

Java runs all of it every 10 s (first after 60 s) in one thread, and the check of the space (`is_space_full`) every 10 s
(first after 1 s) in another. Nobody asks whether anyone has consumed a message.
"""

from __future__ import annotations

from impl.decisions.disk_cleanup import (
    cleans_at_once,
    is_space_full,
    is_space_to_delete,
    space_used_percent,
    starts_pass,
)
from impl.decisions.flags import has_flag
from impl.decisions.java_calendar import DAY_MS
from impl.decisions.java_text import parse_integer, split
from impl.decisions.running_flags import DISK_FULL_BIT, get_and_make_disk_full, get_and_make_disk_ok
from impl.store.store_tables import StoreTables

MAX_MANUAL_DELETE_FILE_TIMES = 20  # CleanCommitLogService
_HOUR_MS = 3_600_000


class CleanCommitLogService:
    """`DefaultMessageStore.CleanCommitLogService`.

    manual_delete_file_several_times -- passes that were ordered and not made yet. The commit log has one path here.
    """

    def __init__(self, store: StoreTables) -> None:
        """Have made no pass."""
        self._store = store
        self.manual_delete_file_several_times = 0
        self._last_redelete_ms = 0

    def run(self) -> None:
        """CleanCommitLogService#run."""
        self._delete_expired_files()
        self._redelete_hanged_file()

    def execute_delete_files_manually(self) -> None:
        """CleanCommitLogService#executeDeleteFilesManually; nothing in 4.9.3 calls it."""
        self.manual_delete_file_several_times = MAX_MANUAL_DELETE_FILE_TIMES

    def _delete_expired_files(self) -> None:
        """CleanCommitLogService#deleteExpiredFiles."""
        store, config = self._store, self._store.config
        percent = used_percent(store)
        space = is_space_to_delete(
            percent, percent, config.disk_max_used_space_ratio, disk_full=has_flag(store.running_flags, DISK_FULL_BIT))
        mark_disk_full(store, disk_full=space.disk_full)
        manual = self.manual_delete_file_several_times > 0
        time_up = is_it_time_to_do(config.delete_when, store.now_ms())
        if not starts_pass(time_up=time_up, space_full=space.delete, manual_delete=manual):
            return
        if manual:
            self.manual_delete_file_several_times -= 1
        at_once = cleans_at_once(
            clean_file_forcibly_enable=config.clean_file_forcibly_enable, clean_immediately=space.clean_immediately)
        store.commit_log.mapped_file_queue.delete_expired_file_by_time(
            config.file_reserved_time_hours * _HOUR_MS, config.destroy_mapped_file_interval_forcibly_ms, at_once)

    def _redelete_hanged_file(self) -> None:
        """CleanCommitLogService#redeleteHangedFile."""
        config, now_ms = self._store.config, self._store.now_ms()
        if now_ms - self._last_redelete_ms > config.redelete_hanged_file_interval_ms:
            self._last_redelete_ms = now_ms
            self._store.commit_log.mapped_file_queue.retry_delete_first_file(
                config.destroy_mapped_file_interval_forcibly_ms)

    def is_space_full(self) -> bool:
        """CleanCommitLogService#isSpaceFull: look at the commit log's disk and set the flag."""
        full = is_space_full(used_percent(self._store))
        mark_disk_full(self._store, disk_full=full)
        return full


class CleanConsumeQueueService:
    """`DefaultMessageStore.CleanConsumeQueueService`."""

    def __init__(self, store: StoreTables) -> None:
        """Have made no pass."""
        self._store = store
        self._last_physical_min_offset = 0

    def run(self) -> None:
        """CleanConsumeQueueService#deleteExpiredFiles: if the log has lost files since the last pass."""
        min_offset = self._store.get_min_phy_offset()
        if min_offset > self._last_physical_min_offset:
            self._last_physical_min_offset = min_offset
            for queue in self._store.queues():
                queue.delete_expired_file(min_offset)
            self._store.index_service.delete_expired_file(min_offset)


def used_percent(store: StoreTables) -> int:
    """UtilAll#getDiskPartitionSpaceUsedPercent, in percent; one disk holds everything."""
    free_bytes = store.disk.free_bytes()
    return space_used_percent(store.disk.total_bytes(), free_bytes, free_bytes)


def mark_disk_full(store: StoreTables, *, disk_full: bool) -> None:
    """RunningFlags#getAndMakeDiskFull, #getAndMakeDiskOK."""
    change = get_and_make_disk_full if disk_full else get_and_make_disk_ok
    store.running_flags = change(store.running_flags)[1]


def is_it_time_to_do(when: str, now_ms: int) -> bool:
    """UtilAll#isItTimeToDo: whether the hour, in UTC here, is one of those between semicolons.

    Raises NumberFormatError.
    """
    hour = now_ms % DAY_MS // _HOUR_MS
    return any(parse_integer(one, 32) == hour for one in split(when, ";"))
