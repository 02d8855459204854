"""MappedFileQueue: a log as files of equal length, named by the offset of their first byte."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from impl.common.util_all import offset2_file_name
from impl.decisions.consume_queue_units import is_queue_file_expired
from impl.decisions.disk_cleanup import is_file_deleted, may_delete_another
from impl.decisions.flush_rules import first_file_offset, mapped_file_index, position_in_file
from impl.decisions.java_arithmetic import wrap32, wrap64
from impl.ports.disk import Disk, DiskError
from impl.store.mapped_file import MappedFile

DESTROY_INTERVAL_MS = 1_000  # truncateDirtyFiles, deleteLastMappedFile
DESTROY_EXPIRED_INTERVAL_MS = 60_000  # deleteExpiredFileByOffset
DESTROY_ALL_INTERVAL_MS = 3_000  # destroy


class Allocation(Protocol):
    """AllocateMappedFileService as its requesters see it."""

    def put_request_and_return_mapped_file(self, path: str, next_path: str) -> MappedFile | None:
        """Make the file of `path`, and ask for the one after it; None if it cannot be made."""
        ...


class MappedFileQueue:
    """`store.MappedFileQueue`.

    store_path -- its folder; mapped_file_size -- of each file, in bytes. allocate_mapped_file_service -- makes files in
    advance; None: they are made when they are needed. flushed_where, committed_where -- offsets in the log.
    store_timestamp -- of what the last thorough flush found written last, in ms.
    """

    def __init__(
        self, disk: Disk, store_path: str, mapped_file_size: int, now_ms: Callable[[], int],
        allocate_mapped_file_service: Allocation | None = None,
    ) -> None:
        """Have no files; `load` opens those that are there."""
        self.disk, self.store_path, self.mapped_file_size = disk, store_path, mapped_file_size
        self.now_ms = now_ms
        self._allocation = allocate_mapped_file_service
        self.mapped_files: list[MappedFile] = []
        self.flushed_where = self.committed_where = 0
        self.store_timestamp = 0

    # Files ------------------------------------------------------------------------------------------------------------

    def load(self) -> bool:
        """MappedFileQueue#load: open all files as full; False at the first of another length or that does not open.

        Raises NumberFormatError for a file of the right length whose name is no number.
        """
        for name in self.disk.list(self.store_path):
            path = f"{self.store_path}/{name}"
            if self.disk.length(path) != self.mapped_file_size:
                return False
            try:
                mapped_file = MappedFile(self.disk, path, self.mapped_file_size, self.now_ms)
            except DiskError:
                return False
            mapped_file.set_positions(self.mapped_file_size)
            self.mapped_files.append(mapped_file)
        return True

    def first_mapped_file(self) -> MappedFile | None:
        """MappedFileQueue#getFirstMappedFile."""
        return self.mapped_files[0] if self.mapped_files else None

    def last_mapped_file(self) -> MappedFile | None:
        """MappedFileQueue#getLastMappedFile without an argument."""
        return self.mapped_files[-1] if self.mapped_files else None

    def get_last_mapped_file(self, start_offset: int, need_create: bool = True) -> MappedFile | None:
        """MappedFileQueue#getLastMappedFile: the last file, or a new one if there is none or it is full.

        start_offset -- lies in the first file of an empty queue. None if the file cannot be made.
        """
        last = self.last_mapped_file()
        create_offset = -1
        if last is None:
            create_offset = first_file_offset(start_offset, self.mapped_file_size)
        elif last.is_full():
            create_offset = wrap64(last.file_from_offset + self.mapped_file_size)
        if create_offset != -1 and need_create:
            return self._try_create_mapped_file(create_offset)
        return last

    def _try_create_mapped_file(self, create_offset: int) -> MappedFile | None:
        """MappedFileQueue#tryCreateMappedFile, #doCreateMappedFile."""
        path, next_path = self._path(create_offset), self._path(wrap64(create_offset + self.mapped_file_size))
        mapped_file: MappedFile | None = None
        if self._allocation is not None:
            mapped_file = self._allocation.put_request_and_return_mapped_file(path, next_path)
        else:
            try:
                mapped_file = MappedFile(self.disk, path, self.mapped_file_size, self.now_ms)
            except DiskError:
                return None
        if mapped_file is not None:
            mapped_file.first_create_in_queue = not self.mapped_files
            self.mapped_files.append(mapped_file)
        return mapped_file

    def _path(self, offset: int) -> str:
        return f"{self.store_path}/{offset2_file_name(offset)}"

    def find_mapped_file_by_offset(self, offset: int, return_first_on_not_found: bool = False) -> MappedFile | None:
        """MappedFileQueue#findMappedFileByOffset: the file in which the offset lies, wherever it is in the list."""
        files, size = self.mapped_files, self.mapped_file_size
        if not files:
            return None
        first = files[0]
        if first.file_from_offset <= offset < files[-1].file_from_offset + size:
            index = mapped_file_index(offset, first.file_from_offset, size)
            if 0 <= index < len(files) and self._lies_in(files[index], offset):
                return files[index]
            for mapped_file in files:
                if self._lies_in(mapped_file, offset):
                    return mapped_file
        return first if return_first_on_not_found else None

    def _lies_in(self, mapped_file: MappedFile, offset: int) -> bool:
        return mapped_file.file_from_offset <= offset < mapped_file.file_from_offset + self.mapped_file_size

    def get_mapped_file_by_time(self, timestamp: int) -> MappedFile | None:
        """MappedFileQueue#getMappedFileByTime: the first that was modified then (ms) or later, else the last."""
        for mapped_file in self.mapped_files:
            if mapped_file.last_modified_timestamp() >= timestamp:
                return mapped_file
        return self.last_mapped_file()

    # Offsets ----------------------------------------------------------------------------------------------------------

    def get_min_offset(self) -> int:
        """MappedFileQueue#getMinOffset; -1 without files."""
        return self.mapped_files[0].file_from_offset if self.mapped_files else -1

    def get_max_offset(self) -> int:
        """MappedFileQueue#getMaxOffset: the end of what is readable; 0 without files."""
        if not self.mapped_files:
            return 0
        last = self.mapped_files[-1]
        return last.file_from_offset + last.get_read_position()

    def get_max_wrote_position(self) -> int:
        """MappedFileQueue#getMaxWrotePosition; 0 without files."""
        last = self.last_mapped_file()
        return 0 if last is None else last.file_from_offset + last.wrote_position

    def remain_how_many_data_to_commit(self) -> int:
        """MappedFileQueue#remainHowManyDataToCommit, in bytes."""
        return self.get_max_wrote_position() - self.committed_where

    def remain_how_many_data_to_flush(self) -> int:
        """MappedFileQueue#remainHowManyDataToFlush, in bytes."""
        return self.get_max_offset() - self.flushed_where

    def how_much_fall_behind(self) -> int:
        """MappedFileQueue#howMuchFallBehind: bytes not yet flushed; 0 before the first flush."""
        if not self.mapped_files or self.flushed_where == 0:
            return 0
        return self.get_max_wrote_position() - self.flushed_where

    # Flush ------------------------------------------------------------------------------------------------------------

    def flush(self, flush_least_pages: int) -> bool:
        """MappedFileQueue#flush: flush the one file in which flushed_where lies; True if that changed nothing."""
        mapped_file = self.find_mapped_file_by_offset(self.flushed_where, self.flushed_where == 0)
        if mapped_file is None:
            return True
        store_timestamp = mapped_file.store_timestamp
        where = mapped_file.file_from_offset + mapped_file.flush(flush_least_pages)
        unchanged = where == self.flushed_where
        self.flushed_where = where
        if flush_least_pages == 0:
            self.store_timestamp = store_timestamp
        return unchanged

    def commit(self, commit_least_pages: int) -> bool:
        """MappedFileQueue#commit: commit the one file in which committed_where lies; True if that changed nothing."""
        mapped_file = self.find_mapped_file_by_offset(self.committed_where, self.committed_where == 0)
        if mapped_file is None:
            return True
        where = mapped_file.file_from_offset + mapped_file.commit(commit_least_pages)
        unchanged = where == self.committed_where
        self.committed_where = where
        return unchanged

    # Removal ----------------------------------------------------------------------------------------------------------

    def truncate_dirty_files(self, offset: int) -> None:
        """MappedFileQueue#truncateDirtyFiles: end at this offset. The bytes beyond it stay in its file."""
        removed = []
        for mapped_file in self.mapped_files:
            if mapped_file.file_from_offset + self.mapped_file_size > offset:
                if offset >= mapped_file.file_from_offset:
                    mapped_file.set_positions(position_in_file(offset, self.mapped_file_size))
                else:
                    mapped_file.destroy(DESTROY_INTERVAL_MS)
                    removed.append(mapped_file)
        self._remove(removed)

    def _remove(self, removed: Sequence[MappedFile]) -> None:
        """MappedFileQueue#deleteExpiredFile(List)."""
        self.mapped_files = [mapped_file for mapped_file in self.mapped_files if mapped_file not in removed]

    def reset_offset(self, offset: int) -> bool:
        """MappedFileQueue#resetOffset: False for an offset more than two files back; True changes nothing either.

        Java's iterator starts at the wrong end of the list.
        """
        return self.last_mapped_file() is None or (
            wrap64(self.get_max_wrote_position() - offset) <= wrap32(self.mapped_file_size * 2)
        )

    def delete_last_mapped_file(self) -> None:
        """MappedFileQueue#deleteLastMappedFile."""
        last = self.last_mapped_file()
        if last is not None:
            last.destroy(DESTROY_INTERVAL_MS)
            self._remove([last])

    def delete_expired_file_by_time(
        self, expired_ms: int, interval_forcibly_ms: int, clean_immediately: bool,
    ) -> int:
        """MappedFileQueue#deleteExpiredFileByTime: delete old files from the first on, never the last; how many.

        expired_ms -- since the last change of a file. Java sleeps 100 ms between two files; a host that has time to
        pass lets it pass afterwards.
        """
        removed: list[MappedFile] = []
        for place, mapped_file in enumerate(self.mapped_files):
            if not may_delete_another(place, len(self.mapped_files), len(removed)):
                break
            modified_ms = mapped_file.last_modified_timestamp()
            expired = is_file_deleted(self.now_ms(), modified_ms, expired_ms, clean_at_once=clean_immediately)
            if not expired or not mapped_file.destroy(interval_forcibly_ms):
                break
            removed.append(mapped_file)
        self._remove(removed)
        return len(removed)

    def delete_expired_file_by_offset(self, offset: int, unit_size: int) -> int:
        """MappedFileQueue#deleteExpiredFileByOffset: delete files whose last unit begins with a smaller number.

        From the first on, never the last; how many.
        """
        removed: list[MappedFile] = []
        for mapped_file in self.mapped_files[:-1]:
            result = mapped_file.select_mapped_buffer(self.mapped_file_size - unit_size)
            if result is not None:
                expired = is_queue_file_expired(result.get_long(0), offset)
                result.release()
            else:
                expired = not mapped_file.available
            if not expired or not mapped_file.destroy(DESTROY_EXPIRED_INTERVAL_MS):
                break
            removed.append(mapped_file)
        self._remove(removed)
        return len(removed)

    def retry_delete_first_file(self, interval_forcibly_ms: int) -> bool:
        """MappedFileQueue#retryDeleteFirstFile: delete a first file that is shut down but was still read."""
        first = self.first_mapped_file()
        if first is None or first.available or not first.destroy(interval_forcibly_ms):
            return False
        self._remove([first])
        return True

    def shutdown(self, interval_forcibly_ms: int) -> None:
        """MappedFileQueue#shutdown."""
        for mapped_file in self.mapped_files:
            mapped_file.shutdown(interval_forcibly_ms)

    def destroy(self) -> None:
        """MappedFileQueue#destroy: delete all files and the folder."""
        for mapped_file in self.mapped_files:
            mapped_file.destroy(DESTROY_ALL_INTERVAL_MS)
        self.mapped_files = []
        self.flushed_where = 0
        self.disk.delete(self.store_path)
