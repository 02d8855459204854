"""Repairs of stores: what is durable, what recovery believes, and when a full disk refuses."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import cast

from impl.common.byte_buffer import ByteBuffer
from impl.common.record_layout import read_header
from impl.decisions.disk_cleanup import DISK_SPACE_CLEAN_FORCIBLY_PERCENT, DISK_SPACE_WARNING_LEVEL_PERCENT
from impl.decisions.java_errors import JavaError
from impl.decisions.pull_answer import CQ_STORE_UNIT_SIZE
from impl.ports.disk import PAGE_BYTES, Disk, DiskError
from impl.store import dispatch_request
from impl.store.clean_services import CleanCommitLogService, mark_disk_full, used_percent
from impl.store.consume_queue import PRE_BLANK, ConsumeQueue, units_of
from impl.store.default_message_store import DefaultMessageStore
from impl.store.dispatch_request import DEFAULT_LEVELS, UNREADABLE, DelayLevels, DispatchRequest
from impl.store.mapped_file import MappedFile, SelectMappedBufferResult
from impl.store.mapped_file_queue import MappedFileQueue
from impl.store.reput_message_service import ReputMessageService
from impl.variants.variant import Variant, around, replace


@replace(MappedFile, "flush")
def _until_the_disk_has_it(self: MappedFile, flush_least_pages: int) -> int:
    """What a force has failed to write is not flushed, and is written anew, for its pages may count as clean."""
    written, flushed = self.get_read_position(), self.flushed_position
    if self._is_able(flush_least_pages, flushed, written) and self.hold():
        try:
            self.file.force()
        except DiskError:
            self.file.write(flushed, self.file.read(flushed, written - flushed))
        else:
            self.flushed_position = written
        self.release()
    return self.flushed_position


@around(MappedFileQueue, "truncate_dirty_files")
def _leave_nothing_behind_the_end(original: Callable[..., None]) -> Callable[..., None]:
    def truncate_dirty_files(self: MappedFileQueue, offset: int) -> None:
        """Behind the end there are zeros, on the disk too; also in files that go, for a crash may bring them back."""
        for file in self.mapped_files:
            if file.file_from_offset + file.file_size > offset:
                _zero(file, max(offset - file.file_from_offset, 0))
        original(self, offset)

    return truncate_dirty_files


def _zero(mapped_file: MappedFile, start: int) -> None:
    for position in range(start, mapped_file.file_size, PAGE_BYTES):
        length = min(PAGE_BYTES, mapped_file.file_size - position)
        if any(mapped_file.file.read(position, length)):
            mapped_file.file.write(position, bytes(length))
    mapped_file.file.force()


@around(dispatch_request, "check_message_and_return_size")
def _look_at_the_whole(original: Callable[..., DispatchRequest]) -> Callable[..., DispatchRequest]:
    def check_message_and_return_size(
        buffer: ByteBuffer, *, check_crc: bool, read_body: bool = True, delay_levels: DelayLevels = DEFAULT_LEVELS,
    ) -> DispatchRequest:
        """Topic and properties have no zero bytes: those are of a page that a crash has taken."""
        start = buffer.position
        request = original(buffer, check_crc=check_crc, read_body=read_body, delay_levels=delay_levels)
        if request.success and request.msg_size > 0:
            record = ByteBuffer(buffer.data[start:start + request.msg_size])
            return request if _has_texts(record) else UNREADABLE
        return request

    return check_message_and_return_size


def _has_texts(record: ByteBuffer) -> bool:
    """Whether topic and properties can be read, and are what a broker writes."""
    try:
        body_bytes = read_header(record).body_length
        record.move_to(record.position + max(body_bytes, 0))
        topic = record.get(record.get_byte())
        return bool(topic) and 0 not in topic and 0 not in record.get(record.get_short())
    except JavaError:
        return False


@around(DefaultMessageStore, "_recover")
def _build_the_queues_anew(original: Callable[..., None]) -> Callable[..., None]:
    def _recover(self: DefaultMessageStore, *, last_exit_ok: bool) -> None:
        """After a crash a queue is believed of what has expired; the rest is built from the log."""
        if not last_exit_ok:
            for queue in self.queues():
                _leave_the_expired(queue, self.get_min_phy_offset())
        original(self, last_exit_ok=last_exit_ok)

    return _recover


def _leave_the_expired(queue: ConsumeQueue, min_phy_offset: int) -> None:
    """Leave the units of records before this offset of the log, and zeros behind them; without any no file."""
    files = queue.mapped_file_queue
    units = [unit for file in files.mapped_files
             for unit in units_of(file.mapped_byte_buffer.read(0, file.file_size))]
    count = next((number for number, unit in enumerate(units)
                  if unit != PRE_BLANK and not (unit.is_valid() and unit.end() <= min_phy_offset)), len(units))
    if not count or units[count - 1] == PRE_BLANK:
        queue.destroy()
        return
    first = files.mapped_files[0].file_from_offset
    files.truncate_dirty_files(first + count * CQ_STORE_UNIT_SIZE)
    last = files.mapped_files[-1]
    position = first + count * CQ_STORE_UNIT_SIZE - last.file_from_offset
    if position < last.file_size:
        last.file.write(position, bytes(last.file_size - position))


@around(ConsumeQueue, "put_message_position_info")
def _begin_anew_where_units_are_lost(original: Callable[..., bool]) -> Callable[..., bool]:
    def put_message_position_info(self: ConsumeQueue, offset: int, size: int, tags_code: int, cq_offset: int) -> bool:
        """A unit that comes too early begins its queue anew, and lies at its own place."""
        if 0 < self.get_max_offset_in_queue() < cq_offset:
            self.destroy()
        return original(self, offset, size, tags_code, cq_offset)

    return put_message_position_info


@around(CleanCommitLogService, "run")
def _force_the_queues_before(original: Callable[..., None]) -> Callable[..., None]:
    def run(self: CleanCommitLogService) -> None:
        """What is to be deleted was flushed and dispatched, and its queue is on the disk."""
        store = cast("DefaultMessageStore", self._store)
        for _ in store.commit_log.mapped_file_queue.mapped_files:
            store.commit_log.mapped_file_queue.flush(0)
        store.reput_message_service.do_reput()
        for queue in store.queues():
            for file in queue.mapped_file_queue.mapped_files:
                file.file.force()
        original(self)

    return run


@replace(DefaultMessageStore, "_recovery_timestamp")
def _from_the_first_file(self: DefaultMessageStore) -> int:  # noqa: ARG001  # the checkpoint vouches for nothing
    """Older than each file: recovery begins at the first."""
    return 0


@around(DefaultMessageStore, "go_on_starting")
def _force_the_abort_file(original: Callable[..., bool]) -> Callable[..., bool]:
    def go_on_starting(self: DefaultMessageStore) -> bool:
        """A machine that crashes has the file abort when it starts."""
        started = original(self)
        if started:
            self.disk.open(self.config.abort_file).force()
        return started

    return go_on_starting


@around(DefaultMessageStore, "_load")
def _without_empty_files(original: Callable[..., bool]) -> Callable[..., bool]:
    def _load(self: DefaultMessageStore) -> bool:
        """A file without content, and those behind it, have never held anything that was forced.

        Clean-up has deleted what lies before a gap.
        """
        queues = self.config.store_path_consume_queue
        folders = [f"{queues}/{topic}/{name}" for topic in self.disk.list(queues)
                   for name in self.disk.list(f"{queues}/{topic}")]
        for folder in (self.config.store_path_commit_log, *folders):
            _remove_from_the_first_empty_one(self.disk, folder)
            _remove_before_a_gap(self.disk, folder)
        return original(self)

    return _load


def _remove_from_the_first_empty_one(disk: Disk, folder: str) -> None:
    empty = False
    for name in disk.list(folder):
        empty = empty or disk.length(f"{folder}/{name}") == 0
        if empty:
            disk.delete(f"{folder}/{name}")


def _remove_before_a_gap(disk: Disk, folder: str) -> None:
    names = disk.list(folder)
    gaps = [number for number, (before, name) in enumerate(pairwise(names), 1)
            if int(name) - int(before) != disk.length(f"{folder}/{before}")]
    for name in names[:max(gaps, default=0)]:
        disk.delete(f"{folder}/{name}")


@around(DefaultMessageStore, "_recover")
def _force_what_was_recovered(original: Callable[..., None]) -> Callable[..., None]:
    def _recover(self: DefaultMessageStore, *, last_exit_ok: bool) -> None:
        """What counts as flushed from now on is on the disk."""
        original(self, last_exit_ok=last_exit_ok)
        for mapped_file in self.commit_log.mapped_file_queue.mapped_files:
            mapped_file.file.force()

    return _recover


@around(ReputMessageService, "behind")
def _behind_the_flushed(original: Callable[..., int]) -> Callable[..., int]:
    def behind(self: ReputMessageService) -> int:
        """What is not flushed does not wait for its dispatch yet."""
        return min(original(self), self._log.mapped_file_queue.flushed_where - self.reput_from_offset)

    return behind


@around(ReputMessageService, "_dispatch_all")
def _dispatch_the_flushed(original: Callable[..., bool]) -> Callable[..., bool]:
    def _dispatch_all(self: ReputMessageService, result: SelectMappedBufferResult) -> bool:
        """Up to where the log is flushed."""
        result.size = min(result.size, self._log.mapped_file_queue.flushed_where - result.start_offset)
        return original(self, result)

    return _dispatch_all


@replace(CleanCommitLogService, "is_space_full")
def _full_until_there_is_space(self: CleanCommitLogService) -> bool:
    """Both checks free the disk at the same limit."""
    percent = used_percent(self._store)
    full = percent > DISK_SPACE_WARNING_LEVEL_PERCENT
    if full or percent <= DISK_SPACE_CLEAN_FORCIBLY_PERCENT:
        mark_disk_full(self._store, disk_full=full)
    return full


@replace(MappedFile, "append_message")
def _raise_what_the_disk_says(self: MappedFile, data: bytes) -> bool:
    """Bytes that the disk does not take are not written: the dispatcher comes again with the same record."""
    position = self.wrote_position
    if position + len(data) > self.file_size:
        return False
    self.file.write(position, data)
    self.wrote_position = position + len(data)
    return True


@around(ConsumeQueue, "put_message_position_info")
def _known_when_it_is_written(original: Callable[..., bool]) -> Callable[..., bool]:
    def put_message_position_info(
        self: ConsumeQueue, offset: int, size: int, tags_code: int, cq_offset: int,
    ) -> bool:
        """A unit that the disk does not take is not known, and the blank before it begins anew."""
        known, files = self.max_physic_offset, self.mapped_file_queue
        before = {one.file_from_offset: one.wrote_position for one in files.mapped_files[-1:]}
        try:
            return original(self, offset, size, tags_code, cq_offset)
        except DiskError:
            self.max_physic_offset = known
            for last in files.mapped_files[-1:]:
                last.wrote_position = before.get(last.file_from_offset, 0)
            raise

    return put_message_position_info


@around(MappedFileQueue, "delete_expired_file_by_time")
def _keep_what_is_not_written(original: Callable[..., int]) -> Callable[..., int]:
    def delete_expired_file_by_time(
        self: MappedFileQueue, expired_ms: int, interval_forcibly_ms: int, clean_immediately: bool,
    ) -> int:
        """The first file that still has its buffer counts as the last one, which is never deleted."""
        end = next((place for place, one in enumerate(self.mapped_files, 1) if one.has_write_buffer), None)
        if end is None:
            return original(self, expired_ms, interval_forcibly_ms, clean_immediately)
        kept, self.mapped_files = self.mapped_files[end:], self.mapped_files[:end]
        deleted = original(self, expired_ms, interval_forcibly_ms, clean_immediately)
        self.mapped_files = [*self.mapped_files, *kept]
        return deleted

    return delete_expired_file_by_time


REPAIRS = (
    Variant(
        "failed_force_is_no_flush", "repair", "What a force has failed to write does not count as flushed.",
        "apache/rocketmq #9707, for the log; pages written anew: Rebello et al., USENIX ATC 2020", ("V6",),
        (_until_the_disk_has_it,),
    ),
    Variant(
        "tail_is_zeroed", "repair", "A log that is cut has zeros behind its end.", "apache/rocketmq #10666", ("V4",),
        (_leave_nothing_behind_the_end,),
    ),
    Variant(
        "whole_record_is_checked", "repair", "Recovery refuses a record whose topic or properties are torn.",
        "the idea of apache/rocketmq #7468, forceVerifyPropCRC", ("V7",), (_look_at_the_whole,),
    ),
    Variant(
        "queues_are_built_anew", "repair",
        "After a crash consume queues are built from the log; clean-up forces them first.",
        "what operators do who remove the folder consumequeue", ("V3", "V8", "V9", "V10", "V35"),
        (_build_the_queues_anew, _begin_anew_where_units_are_lost, _force_the_queues_before, _from_the_first_file),
    ),
    Variant(
        "abort_is_forced", "repair", "The file abort is on the disk before the first put.", "upstream does not have it",
        ("V26",), (_force_the_abort_file,),
    ),
    Variant(
        "empty_files_are_removed", "repair", "A start removes files without content, and those before a gap.",
        "apache/rocketmq #6903, for the last file",
        ("V22",), (_without_empty_files,),
    ),
    Variant(
        "only_the_durable_is_seen", "repair", "What is not forced is not dispatched.",
        "the idea of apache/rocketmq #8239", ("V16",), (_behind_the_flushed, _dispatch_the_flushed),
    ),
    Variant(
        "recovered_log_is_forced", "repair", "Recovery forces what it has read of the log.",
        "upstream does not have it", ("V36",), (_force_what_was_recovered,),
    ),
    Variant(
        "full_disk_stays_full", "repair", "Writes stop above 90 % and go on at 85 %, whichever check looks.",
        "upstream does not have it", ("V24",), (_full_until_there_is_space,),
    ),
    Variant(
        "unwritten_unit_is_written_again", "repair", "A unit that the disk does not take is tried again.",
        "upstream does not have it", ("V33",), (_raise_what_the_disk_says, _known_when_it_is_written),
    ),
    Variant(
        "clean_up_waits_for_buffers", "repair", "Clean-up deletes no file whose buffer is not written.",
        "upstream does not have it", ("V38",), (_keep_what_is_not_written,),
    ),
)
