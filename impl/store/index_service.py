"""IndexService: the index files of a store, of which the last is written to."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from impl.common.message_const import KEY_SEPARATOR
from impl.decisions.flags import TRANSACTION_ROLLBACK_TYPE, get_transaction_value
from impl.decisions.java_calendar import time_millis_to_human_string
from impl.decisions.java_errors import IllegalArgumentError, MappingFaultError, NumberFormatError
from impl.decisions.java_text import split
from impl.hash_map import IllegalStateError
from impl.ports.disk import Disk, DiskError
from impl.store.dispatch_request import DispatchRequest
from impl.store.flush_commit_log_service import Checkpoint
from impl.store.index_file import IndexFile
from impl.store.message_store_config import MessageStoreConfig

DESTROY_INTERVAL_MS = 3_000  # IndexService#deleteExpiredFile


class IllegalMonitorStateError(IllegalStateError):
    """A lock was given back by who does not hold it."""

    java_class = "java.lang.IllegalMonitorStateException"


class QueryOffsetResult(NamedTuple):
    """`store.index.QueryOffsetResult`. The two others are time (ms) and offset of what the index has last."""

    phy_offsets: list[int]
    index_last_update_timestamp: int
    index_last_update_phyoffset: int


class IndexService:
    """`store.index.IndexService`. index_files -- the oldest first.

    start_thread -- runs what Java runs in a thread of its own: the flush of a file that is full.
    """

    def __init__(
        self, disk: Disk, config: MessageStoreConfig, now_ms: Callable[[], int], checkpoint: Checkpoint,
        start_thread: Callable[[Callable[[], None]], None],
    ) -> None:
        """Have no files."""
        self._disk, self._config, self._now_ms, self._checkpoint = disk, config, now_ms, checkpoint
        self._start_thread = start_thread
        self.index_files: list[IndexFile] = []

    def load(self, last_exit_ok: bool) -> bool:
        """IndexService#load: open all files; after a crash delete those with entries younger than the checkpoint.

        False: a file does not open, and those behind it are not loaded. Files whose name is no number are left alone.
        """
        for name in self._disk.list(self._config.store_path_index):
            try:
                file = self._opened(name)
            except DiskError:
                return False
            except NumberFormatError:
                continue
            file.load()
            if not last_exit_ok and file.header.end_timestamp > self._checkpoint().index_msg_timestamp:
                file.destroy(0)
            else:
                self.index_files.append(file)
        return True

    def _opened(self, name: str, end_phy_offset: int = 0, end_timestamp: int = 0) -> IndexFile:
        config = self._config
        return IndexFile(
            self._disk, f"{config.store_path_index}/{name}", config.max_hash_slot_num, config.max_index_num,
            self._now_ms, end_phy_offset, end_timestamp)

    # Build ------------------------------------------------------------------------------------------------------------

    def build_index(self, request: DispatchRequest) -> None:
        """IndexService#buildIndex: add the unique key and each of the keys, but not of a record before the last one.

        Raises IllegalMonitorStateError if a file cannot be made: the lock that Java gives back was never taken, and so
        neither its three attempts nor the flag for an index error ever happen. Raises MappingFaultError.
        """
        file = self.get_and_create_last_index_file()
        if request.commit_log_offset < file.header.end_phy_offset:
            return
        if get_transaction_value(request.sys_flag) == TRANSACTION_ROLLBACK_TYPE:
            return
        if request.uniq_key is not None:
            self._put_key(request, request.uniq_key)
        for key in split(request.keys, KEY_SEPARATOR) if request.keys else ():
            if key:
                self._put_key(request, key)

    def _put_key(self, request: DispatchRequest, key: str) -> None:
        """IndexService#putKey: into the last file; a full one is followed by a new one."""
        while not self.get_and_create_last_index_file().put_key(
                _build_key(request.topic, key), request.commit_log_offset, request.store_timestamp):
            pass

    def get_and_create_last_index_file(self) -> IndexFile:
        """IndexService#getAndCreateLastIndexFile: the last file, or a new one if it is full; raises as build_index."""
        previous = self.index_files[-1] if self.index_files else None
        if previous is not None and not previous.is_write_full():
            return previous
        header = None if previous is None else previous.header
        try:
            file = self._opened(
                time_millis_to_human_string(self._now_ms()), 0 if header is None else header.end_phy_offset,
                0 if header is None else header.end_timestamp)
        except (DiskError, MappingFaultError) as error:
            raise IllegalMonitorStateError from error
        self.index_files.append(file)
        if previous is not None:
            full = previous
            self._start_thread(lambda: self.flush(full))
        return file

    def flush(self, file: IndexFile) -> None:
        """IndexService#flush: force a file, and note in the checkpoint up to when the full ones are safe."""
        timestamp = file.header.end_timestamp if file.is_write_full() else 0
        file.flush()
        if timestamp > 0:
            self._checkpoint().index_msg_timestamp = timestamp
            self._checkpoint().flush()

    # Query ------------------------------------------------------------------------------------------------------------

    def query_offset(self, topic: str, key: str, max_num: int, begin: int, end: int) -> QueryOffsetResult:
        """IndexService#queryOffset: offsets of records with this key, or with its hash; begin, end -- in ms.

        The newest file first; not behind one that begins before `begin`.
        """
        max_num = min(max_num, self._config.max_msgs_num_batch)
        if max_num < 0:
            raise IllegalArgumentError(f"Illegal Capacity: {max_num}")  # of the list that is to have them
        found: list[int] = []
        last = self.index_files[-1].header if self.index_files else None
        for file in reversed(self.index_files):
            if file.is_time_matched(begin, end):
                file.select_phy_offset(found, _build_key(topic, key), max_num, begin, end)
            if file.header.begin_timestamp < begin or len(found) >= max_num:
                break
        if last is None:
            return QueryOffsetResult(found, 0, 0)
        return QueryOffsetResult(found, last.end_timestamp, last.end_phy_offset)

    # Removal ----------------------------------------------------------------------------------------------------------

    def delete_expired_file(self, offset: int) -> None:
        """IndexService#deleteExpiredFile: drop files whose records all lie before this offset, never the last one."""
        for file in self.index_files[:-1]:
            if file.header.end_phy_offset >= offset or not file.destroy(DESTROY_INTERVAL_MS):
                return
            self.index_files.remove(file)

    def destroy(self) -> None:
        """IndexService#destroy."""
        for file in self.index_files:
            file.destroy(DESTROY_INTERVAL_MS)
        self.index_files = []


def _build_key(topic: str, key: str) -> str:
    return f"{topic}#{key}"
