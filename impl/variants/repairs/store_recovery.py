"""Repairs of what a store finds after a crash, and of what it leaves before one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from impl.broker.tables import TOPICS_PATH, BrokerTables
from impl.common.config_manager import file_to_string, string_to_file_not_safe
from impl.decisions.retry_level import parse_delay_level
from impl.ports.disk import Disk, DiskError
from impl.store.default_message_store import DefaultMessageStore
from impl.store.dispatch_request import DelayLevels
from impl.store.mapped_file import MappedFile
from impl.store.mapped_file_queue import MappedFileQueue
from impl.store.schedule_message_service import ScheduleMessageService
from impl.store.transient_store_pool import TransientStorePool
from impl.variants.variant import Variant, around, replace

# Files ----------------------------------------------------------------------------------------------------------------


@around(MappedFile, "__init__")
def _made_for_good(original: Callable[..., None]) -> Callable[..., None]:
    def __init__(  # noqa: N807  # takes its place
        self: MappedFile, disk: Disk, path: str, file_size: int, now_ms: Callable[[], int],
        pool: TransientStorePool | None = None,
    ) -> None:
        """Name and length of a new file are durable before anything is written to it."""
        existed = disk.length(path) == file_size
        original(self, disk, path, file_size, now_ms, pool)
        if not existed:
            self.file.force()

    return __init__


@around(MappedFileQueue, "flush")
def _flushed_from_the_first(original: Callable[[MappedFileQueue, int], bool]) -> Callable[[MappedFileQueue, int], bool]:
    def flush(self: MappedFileQueue, flush_least_pages: int) -> bool:
        """What was deleted before it was flushed is passed over."""
        self.flushed_where = max(self.flushed_where, self.get_min_offset())
        return original(self, flush_least_pages)

    return flush


# The beginning and the end of a process -------------------------------------------------------------------------------


@around(DefaultMessageStore, "_recover")
def _knowing_the_levels(original: Callable[..., None]) -> Callable[..., None]:
    def _recover(self: DefaultMessageStore, *, last_exit_ok: bool) -> None:
        """Delay levels are parsed before anything is dispatched."""
        _, table, greatest = parse_delay_level(self.config.message_delay_level)
        self.commit_log.delay_levels = DelayLevels(table, greatest)
        original(self, last_exit_ok=last_exit_ok)

    return _recover


@around(DefaultMessageStore, "load")
def _locked_before(original: Callable[..., bool]) -> Callable[..., bool]:
    def load(self: DefaultMessageStore) -> bool:
        """Nobody recovers a directory that another process has."""
        return self._lock_file.try_lock() and original(self)

    return load


@around(DefaultMessageStore, "shutdown")
def _index_is_forced(original: Callable[..., None]) -> Callable[..., None]:
    def shutdown(self: DefaultMessageStore) -> None:
        """The last index file is forced before the file abort goes."""
        if not self.stopped:
            self.commit_log.shutdown()  # flushes what may wait with its dispatch for that
            self.reput_message_service.shutdown()
            for file in self.index_service.index_files:
                file.flush()
        original(self)

    return shutdown


@replace(ScheduleMessageService, "persist")
def _offsets_are_forced(self: ScheduleMessageService) -> None:
    """Each file is forced, and the name of the new one, before another step is made."""
    disk, path = self.store.disk, self.store.config.delay_offset_store_path
    with suppress(DiskError):
        previous = file_to_string(disk, path)
        for name, text in ((f"{path}.bak", previous), (f"{path}.tmp", self.encode())):
            if text is not None:
                string_to_file_not_safe(disk, name, text)
                _force(disk, name)
        disk.delete(path)
        disk.rename(f"{path}.tmp", path)
        _force(disk, path)


@around(BrokerTables, "persist_topics")
def _topics_are_forced(original: Callable[[BrokerTables], None]) -> Callable[[BrokerTables], None]:
    def persist_topics(self: BrokerTables) -> None:
        """The table of topics is forced when it is written; one that cannot be forced stays as it was written."""
        original(self)
        disk = self.node.disk
        if disk.length(TOPICS_PATH) is not None:
            with suppress(DiskError):
                _force(disk, TOPICS_PATH)

    return persist_topics


@around(ScheduleMessageService, "_load_offsets")
def _moved_whenever_they_are_read(original: Callable[[ScheduleMessageService], bool]) -> Callable[..., bool]:
    def _load_offsets(self: ScheduleMessageService) -> bool:
        """The offsets of the file are moved into their queues, also those that the start reads once more.

        It writes them at once: a broker that dies before the timer does so would read the old ones again.
        """
        if not original(self):
            return False
        read = [*self.offset_table.entries()]
        corrected = self._correct_delay_offset()  # takes its place
        if self.started and [*self.offset_table.entries()] != read:
            self.persist()
        return corrected

    return _load_offsets


def _force(disk: Disk, path: str) -> None:
    file = disk.open(path)
    file.force()
    file.close()


REPAIRS = (
    Variant("new_files_are_forced", "repair", "A new file is forced before anything is written to it.",
            "MappedFile#init does not", ("V30",), (_made_for_good,)),
    Variant("levels_before_recovery", "repair", "Delay levels are parsed before recovery.",
            "DefaultMessageStore of 5.0.0 parses them when it is made", ("V5",), (_knowing_the_levels,)),
    Variant("lock_before_load", "repair", "A store takes its lock before it loads.",
            "DefaultMessageStore#start takes it too late", ("V12",), (_locked_before,)),
    Variant("delay_offsets_are_forced", "repair", "The file of the delay offsets is forced before it takes its place.",
            "MixAll#string2File does not", ("V31",), (_offsets_are_forced,)),
    Variant("topics_are_forced", "repair", "The table of topics is forced when it was written.",
            "apache/rocketmq #9706: MixAll#string2File forces", ("V43",), (_topics_are_forced,)),
    Variant("flush_goes_on_at_the_first_file", "repair", "A flush goes on at the first file that clean-up has left.",
            "the idea: apache/rocketmq #189, for positions other than 0, too", ("V44",), (_flushed_from_the_first,)),
    Variant("index_is_forced", "repair", "An orderly stop forces the last index file.", "apache/rocketmq #4518",
            ("V27",), (_index_is_forced,)),
    Variant("levels_begin_in_their_queues", "repair", "Delay levels begin in their queues, which is saved at once.",
            "apache/rocketmq #4004, which saves nothing", ("V42",), (_moved_whenever_they_are_read,)),
)
