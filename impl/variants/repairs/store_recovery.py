"""Repairs of what a store finds after a crash, and of what it leaves before one."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from contextlib import suppress

from impl.common.byte_buffer import ByteBuffer
from impl.common.config_manager import file_to_string, string_to_file_not_safe
from impl.decisions.consume_queue_units import is_unit_valid
from impl.decisions.flush_rules import position_in_file
from impl.decisions.pull_answer import CQ_STORE_UNIT_SIZE
from impl.decisions.retry_level import parse_delay_level
from impl.decisions.store_recovery import first_file_of_abnormal_recovery
from impl.ports.disk import Disk, DiskError
from impl.store import commit_log_recovery, dispatch_request, message_ext_encoder
from impl.store.commit_log import CommitLog
from impl.store.commit_log_recovery import Logics, first_store_timestamp
from impl.store.consume_queue import ConsumeQueue
from impl.store.default_message_store import DefaultMessageStore
from impl.store.dispatch_request import DEFAULT_LEVELS, UNREADABLE, DelayLevels, DispatchRequest
from impl.store.mapped_file import MappedFile
from impl.store.mapped_file_queue import MappedFileQueue
from impl.store.schedule_message_service import ScheduleMessageService
from impl.store.transient_store_pool import TransientStorePool
from impl.variants.variant import Variant, around, replace

_CRC_POSITION, _CRC_END = 8, 12
_CRC, _SIZE = struct.Struct(">i"), struct.Struct(">i")


# Records --------------------------------------------------------------------------------------------------------------


def _record_crc(records: bytes | bytearray | memoryview, start: int, length: int) -> int:
    """The checksum of all fields of a record but this one."""
    head = zlib.crc32(records[start:start + _CRC_POSITION])
    return zlib.crc32(records[start + _CRC_END:start + length], head) & 0x7FFFFFFF


@around(message_ext_encoder, "place")
def _with_the_sum_of_all(original: Callable[..., None]) -> Callable[..., None]:
    def place(
        records: bytearray, start: int, sys_flag: int, *, queue_offset: int, physical_offset: int,
        store_timestamp_ms: int,
    ) -> None:
        """The field of the body's checksum gets that of the record; no client of 4.9.3 looks at it."""
        original(records, start, sys_flag, queue_offset=queue_offset, physical_offset=physical_offset,
                 store_timestamp_ms=store_timestamp_ms)
        length: int = _SIZE.unpack_from(records, start)[0]
        _CRC.pack_into(records, start + _CRC_POSITION, _record_crc(records, start, length))

    return place


@around(dispatch_request, "check_message_and_return_size")
def _all_is_checked(original: Callable[..., DispatchRequest]) -> Callable[..., DispatchRequest]:
    def check_message_and_return_size(
        buffer: ByteBuffer, *, check_crc: bool, read_body: bool = True, delay_levels: DelayLevels = DEFAULT_LEVELS,
    ) -> DispatchRequest:
        """Whoever asks for the checksum gets that of the whole record."""
        start = buffer.position
        request = original(buffer, check_crc=False, read_body=read_body, delay_levels=delay_levels)
        if not (check_crc and read_body and request.success and request.msg_size > 0):
            return request
        data = bytes(buffer.data)
        same = _CRC.unpack_from(data, start + _CRC_POSITION)[0] == _record_crc(data, start, request.msg_size)
        return request if same else UNREADABLE

    return check_message_and_return_size


# Files ----------------------------------------------------------------------------------------------------------------


@around(MappedFileQueue, "load")
def _without_what_was_never_made(original: Callable[..., bool]) -> Callable[..., bool]:
    def load(self: MappedFileQueue) -> bool:
        """A file without a byte was being made: it goes, and so do those behind it, of which nothing was forced."""
        paths = [f"{self.store_path}/{name}" for name in self.disk.list(self.store_path)]
        unmade = next((place for place, path in enumerate(paths) if self.disk.length(path) == 0), len(paths))
        for path in reversed(paths[unmade:]):
            self.disk.delete(path)
        return original(self)

    return load


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


@around(MappedFileQueue, "truncate_dirty_files")
def _cut_for_good(original: Callable[..., None]) -> Callable[..., None]:
    def truncate_dirty_files(self: MappedFileQueue, offset: int) -> None:
        """What lies behind the end is zeros, and durably so."""
        original(self, offset)
        last = self.find_mapped_file_by_offset(offset)
        if last is not None:
            position = position_in_file(offset, self.mapped_file_size)
            if any(last.file.read(position, self.mapped_file_size - position)):
                last.file.write(position, bytes(self.mapped_file_size - position))
                last.file.force()

    return truncate_dirty_files


@replace(MappedFile, "flush")
def _an_error_is_one(self: MappedFile, flush_least_pages: int) -> int:
    """What could not be forced does not count as flushed, and neither does anything behind it: pages may be lost."""
    failed = vars(self).get("force_failed", False)
    if not failed and self._is_able(flush_least_pages, self.flushed_position, self.get_read_position()) and self.hold():
        value = self.get_read_position()
        try:
            self.file.force()
            self.flushed_position = value
        except DiskError:
            vars(self)["force_failed"] = True
        self.release()
    return self.flushed_position


# Queues ---------------------------------------------------------------------------------------------------------------


@replace(ConsumeQueue, "truncate_dirty_logic_files")
def _first_units_are_looked_at(self: ConsumeQueue, phy_offset: int) -> None:
    """A file whose first unit leads nowhere is empty."""
    self.max_physic_offset = phy_offset
    while (mapped_file := self.mapped_file_queue.last_mapped_file()) is not None:
        kept = 0
        for unit in self._all_units(mapped_file):
            if not is_unit_valid(unit.offset, unit.size) or unit.offset >= phy_offset:
                break
            kept += CQ_STORE_UNIT_SIZE
            self.max_physic_offset = unit.end()
        mapped_file.set_positions(kept)
        if kept:
            return
        self.mapped_file_queue.delete_last_mapped_file()


@around(commit_log_recovery, "recover_abnormally")
def _built_anew(original: Callable[..., None]) -> Callable[..., None]:
    def recover_abnormally(
        log: CommitLog, max_phy_offset_of_consume_queue: int, logics: Logics,
        dispatch: Callable[[DispatchRequest], None], min_timestamp: int, *, check_crc: bool,
    ) -> None:
        """No unit is believed of a record that is dispatched again."""
        files = log.mapped_file_queue.mapped_files
        if files:
            first = first_file_of_abnormal_recovery([first_store_timestamp(one) for one in files], min_timestamp)
            logics.truncate_dirty_logic_files(files[first].file_from_offset)
        original(log, max_phy_offset_of_consume_queue, logics, dispatch, min_timestamp, check_crc=check_crc)

    return recover_abnormally


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


@around(DefaultMessageStore, "go_on_starting")
def _abort_is_forced(original: Callable[..., bool]) -> Callable[..., bool]:
    def go_on_starting(self: DefaultMessageStore) -> bool:
        """The name of the file abort is durable before the first message is taken."""
        started = original(self)
        if started:
            _force(self.disk, self.config.abort_file)
        return started

    return go_on_starting


@around(DefaultMessageStore, "shutdown")
def _index_is_forced(original: Callable[..., None]) -> Callable[..., None]:
    def shutdown(self: DefaultMessageStore) -> None:
        """The last index file is forced before the file abort goes."""
        if not self.stopped:
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


def _force(disk: Disk, path: str) -> None:
    file = disk.open(path)
    file.force()
    file.close()


REPAIRS = (
    Variant("record_has_a_checksum", "repair", "The checksum of a record is that of all its fields.",
            "apache/rocketmq #7468 has one of the properties", ("V7",),
            (_with_the_sum_of_all, _all_is_checked)),
    Variant("unmade_files_go", "repair", "A file without a byte, and those behind it, are removed at the start.",
            "apache/rocketmq #6903 removes the last one", ("V22",), (_without_what_was_never_made,)),
    Variant("new_files_are_forced", "repair", "A new file is forced before anything is written to it.",
            "MappedFile#init does not", ("V30",), (_made_for_good,)),
    Variant("tail_is_zeroed", "repair", "A log that is cut ends in zeros.", "apache/rocketmq #10816", ("V4",),
            (_cut_for_good,)),
    Variant("failed_force_fails", "repair", "What a force has not written does not count as flushed.",
            "apache/rocketmq #9707", ("V6",), (_an_error_is_one,)),
    Variant("units_are_built_anew", "repair", "Recovery looks at each unit, and drops those that it dispatches again.",
            "CommitLog#recoverAbnormally dispatches them all", ("V3", "V8"),
            (_first_units_are_looked_at, _built_anew)),
    Variant("levels_before_recovery", "repair", "Delay levels are parsed before recovery.",
            "DefaultMessageStore of 5.0.0 parses them when it is made", ("V5",), (_knowing_the_levels,)),
    Variant("lock_before_load", "repair", "A store takes its lock before it loads.",
            "DefaultMessageStore#start takes it too late", ("V12",), (_locked_before,)),
    Variant("abort_is_forced", "repair", "The file abort is forced.",
            "DefaultMessageStore#createTempFile does not", ("V26",), (_abort_is_forced,)),
    Variant("delay_offsets_are_forced", "repair", "The file of the delay offsets is forced before it takes its place.",
            "MixAll#string2File does not", ("V31",), (_offsets_are_forced,)),
    Variant("index_is_forced", "repair", "An orderly stop forces the last index file.", "apache/rocketmq #4518",
            ("V27",), (_index_is_forced,)),
)
