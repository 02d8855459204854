"""What is in a store directory, and what a start of the broker would make of it.

The store itself is started, on an Overlay: its recovery and its dispatch happen in memory, and the directory stays as
it is. What they changed is then told from the files.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from impl.decisions.java_errors import JavaError
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from impl.hosts.files.overlay import Overlay
from impl.ports.disk import DiskError
from impl.store.consume_queue import PRE_BLANK, ConsumeQueue, Unit
from impl.store.default_message_store import DefaultMessageStore
from impl.store.dispatch_request import DispatchRequest
from impl.store.message_store_config import MessageStoreConfig
from impl.store.record_reader import RecordReader
from impl.store.store_checkpoint import StoreCheckpoint
from invariants.verdict import BadInputError
from stateful_tests.stores.log_end import behind_the_end
from stateful_tests.stores.sizes import Sizes

_SHOWN = 3  # problems of one kind in one queue
_LOCK = struct.Struct("hh4xqqi4x")  # struct flock of Linux


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a start stumbles over, or does not notice.

    file -- below the directory; position -- a byte in it, None: all of it. hazard -- that explains it, or "".
    """

    file: str
    position: int | None
    sentence: str
    hazard: str


@dataclass(frozen=True, slots=True)
class QueueSeen:
    """A consume queue after a start. before -- one past its last unit as the files have it."""

    topic: str
    queue_id: int
    min_offset: int
    max_offset: int
    before: int


@dataclass(frozen=True, slots=True)
class IndexSeen:
    """An index file. entries -- how many; kept -- a start does not delete it. Times are in ms."""

    file: str
    entries: int
    begin_timestamp: int
    end_timestamp: int
    end_phy_offset: int
    kept: bool


@dataclass(slots=True)
class Inspection:
    """All of it. log_files, log_begin, log_end -- of the commit log after a start.

    clean -- the last stop left no abort file. starts -- load and start succeed. cut_bytes -- how many bytes behind
    log_end are not zero. deleted -- files that a start deletes. checkpoint -- physic, logics and index, in ms.
    """

    directory: str
    sizes: Sizes
    clean: bool
    checkpoint: tuple[int, int, int]
    starts: bool = False
    log_files: int = 0
    log_begin: int = 0
    log_end: int = 0
    cut_bytes: int = 0
    deleted: list[str] = field(default_factory=list)
    queues: list[QueueSeen] = field(default_factory=list)
    index: list[IndexSeen] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def inspect(directory: Path, sizes: Sizes) -> Inspection:
    """Look at the directory that a broker has as storePathRootDir, with its commit log in the folder commitlog.

    Raises BadInputError if there is none, or if it cannot be read.
    """
    root = directory.resolve()
    if not (root / "commitlog").is_dir():
        raise BadInputError(f"{directory}: no folder commitlog in it; give the broker's storePathRootDir")
    try:
        return _Look(root, str(directory), sizes).all()
    except (OSError, DiskError) as error:
        raise BadInputError(f"{directory}: cannot be read ({error})") from error


class _Look:
    """One inspection."""

    def __init__(self, root: Path, directory: str, sizes: Sizes) -> None:
        self.root, self.name, self.sizes = root, root.name, sizes
        self.config = MessageStoreConfig(
            store_path_root_dir=root.name, store_path_commit_log=f"{root.name}/commitlog",
            mapped_file_size_commit_log=sizes.commit_log_bytes,
            configured_file_size_consume_queue=sizes.consume_queue_bytes, max_hash_slot_num=sizes.hash_slots,
            max_index_num=sizes.index_entries)
        self.disk = Overlay(root.parent)
        checkpoint = StoreCheckpoint(Overlay(root.parent), self.config.store_checkpoint_path)
        self.found = Inspection(directory, sizes, not (root / "abort").exists(), (
            checkpoint.physic_msg_timestamp, checkpoint.logics_msg_timestamp, checkpoint.index_msg_timestamp))

    def all(self) -> Inspection:
        found = self.found
        self._held()
        self._lengths("commitlog", self.sizes.commit_log_bytes)
        for folder in sorted(self.root.glob("consumequeue/*/*")):
            self._lengths(str(folder.relative_to(self.root)), self.sizes.consume_queue_bytes)
        before = self._queue_ends()
        store = DefaultMessageStore(self.disk, self.config, _now_ms)
        try:
            loaded = store.load()
        except JavaError as error:
            loaded = False
            self._problem("commitlog", None, f"the broker ends with {error.java_class}: {error.message}", "V14")
        if not loaded:
            return found
        found.starts = self._start(store)
        found.deleted = sorted(self._below(path) for path, content in self.disk.files.items() if content is None)
        self._index()
        self._log(store)
        self._queues(store, before)
        self._log_end()
        return found

    def _problem(self, file: str, position: int | None, sentence: str, hazard: str) -> None:
        self.found.problems.append(Problem(file, position, sentence, hazard))

    def _below(self, path: str) -> str:
        return path.removeprefix(f"{self.name}/")

    # Files ------------------------------------------------------------------------------------------------------------

    def _held(self) -> None:
        """Ask who has the lock; it is not taken."""
        path = self.root / "lock"
        if not path.exists():
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        asked = _LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0)
        answer = _LOCK.unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))
        os.close(descriptor)
        if answer[0] != fcntl.F_UNLCK:
            self._problem("lock", None, f"process {answer[4]} holds the directory; what it writes meanwhile is not "
                          "seen, and another start would recover it before it is refused", "V12")

    def _lengths(self, folder: str, file_bytes: int) -> None:
        """Files that let no store load, and gaps between files."""
        expected = None
        for path in sorted((self.root / folder).glob("*")):
            file, length = f"{folder}/{path.name}", path.stat().st_size
            if path.is_dir() or length != file_bytes:
                self._problem(file, None, f"{length} bytes, not {file_bytes}: the broker does not start", "V22")
            elif not path.name.isdigit():
                self._problem(file, None, "its name is no offset: the broker does not start", "V22")
            else:
                if expected is not None and int(path.name) != expected:
                    self._problem(file, None, f"the file of offset {expected} is missing before it", "V22")
                expected = int(path.name) + file_bytes

    # Recovery ---------------------------------------------------------------------------------------------------------

    def _queue_ends(self) -> dict[tuple[str, int], int]:
        """Where each queue ends as its own files have it."""
        store = DefaultMessageStore(Overlay(self.root.parent), self.config, _now_ms)
        if not store.load_consume_queue():
            return {}
        store.recover_consume_queue()
        return {(queue.topic, queue.queue_id): queue.get_max_offset_in_queue() for queue in store.queues()}

    def _log(self, store: DefaultMessageStore) -> None:
        """What recovery has made of the log."""
        found = self.found
        found.log_files = len(store.commit_log.mapped_file_queue.mapped_files)
        found.log_begin, found.log_end = store.get_min_phy_offset(), store.get_max_phy_offset()

    def _log_end(self) -> None:
        """Why the log ends where it does. What is cut off now was in a queue; what was cut off before may come back."""
        found = self.found
        behind = behind_the_end(self.root / "commitlog", self.sizes.commit_log_bytes, found.log_end)
        found.cut_bytes = behind.bytes
        if behind.bytes:
            start = found.log_end // self.sizes.commit_log_bytes * self.sizes.commit_log_bytes
            cut = any(queue.before > queue.max_offset for queue in found.queues)
            self._problem(
                f"commitlog/{start:020d}", found.log_end - start,
                f"a start ends the log here: {behind.reason}; {behind.bytes} bytes behind it are not zero, "
                f"{behind.records} heads of further records among them",
                "V2" if cut else "V4" if behind.records else "")

    def _start(self, store: DefaultMessageStore) -> bool:
        try:
            started = store.start()
        except JavaError as error:
            self._problem("index", None, f"dispatch fails with {error.java_class}, and is tried for ever", "V14")
            return False
        if not started:
            at = store.reput_message_service.reput_from_offset
            self._problem("commitlog", None, f"dispatch stops at offset {at}, and the start waits for ever", "V22")
        elif store.dispatch_behind_bytes() < 0:
            at = store.reput_message_service.reput_from_offset
            self._problem("consumequeue", None, f"dispatch begins at offset {at}, beyond the end of the log", "V9")
        return started

    def _index(self) -> None:
        untouched = Overlay(self.root.parent)
        store = DefaultMessageStore(untouched, self.config, _now_ms)
        store.index_service.load(last_exit_ok=True)
        for file in store.index_service.index_files:
            header, name = file.header, self._below(file.mapped_file.path)
            kept, entries = name not in self.found.deleted, header.index_count - 1
            self.found.index.append(IndexSeen(
                name, entries, header.begin_timestamp, header.end_timestamp, header.end_phy_offset, kept))
            if not kept:
                self._problem(name, None, "a start deletes it, and indexes again only what it reads of the log", "V13")

    # Queues -----------------------------------------------------------------------------------------------------------

    def _queues(self, store: DefaultMessageStore, before: dict[tuple[str, int], int]) -> None:
        """The queues that have or had files, and the first wrong units of each kind."""
        for queue in sorted(store.queues(), key=lambda one: (one.topic, one.queue_id)):
            if not queue.mapped_file_queue.mapped_files and (queue.topic, queue.queue_id) not in before:
                continue  # the levels of delay have queues before anything is in them
            end = queue.get_max_offset_in_queue()
            known = before.get((queue.topic, queue.queue_id), 0)
            self.found.queues.append(QueueSeen(
                queue.topic, queue.queue_id, queue.get_min_offset_in_queue(), end, known))
            said: dict[str, int] = {}
            for index, sentence, hazard in self._wrong_units(store, queue):
                said[hazard] = said.get(hazard, 0) + 1
                if said[hazard] <= _SHOWN:
                    byte = index * 20
                    start = byte // self.sizes.consume_queue_bytes * self.sizes.consume_queue_bytes
                    self._problem(
                        f"consumequeue/{queue.topic}/{queue.queue_id}/{start:020d}", byte - start,
                        f"unit {index}: {sentence}", hazard)

    def _wrong_units(self, store: DefaultMessageStore, queue: ConsumeQueue) -> Iterator[tuple[int, str, str]]:
        """Units that do not fit their records: index, what is wrong, and the hazard that explains it."""
        log_begin = self.found.log_begin
        first = queue.get_min_offset_in_queue()
        for index in range(first, queue.get_max_offset_in_queue()):
            unit = queue.unit(index)
            if unit is None:
                yield index, "its file is missing", "V22"
                return
            if unit == PRE_BLANK:
                yield index, "a blank that only fills the queue up", "V9"
            elif not unit.is_valid():
                yield index, f"no record has {unit.size} bytes", "V3"
            elif unit.offset < log_begin:
                if index == first:
                    yield index, "the minimum of the queue points before the log", "V18"
            else:
                wrong = _misfit(queue, index, unit, _record(store, unit.offset))
                if wrong is not None:
                    yield (index, *wrong)


def _record(store: DefaultMessageStore, offset: int) -> DispatchRequest | None:
    """The record at an offset of the log, None: there is none."""
    result = store.commit_log.get_data(offset, return_first_on_not_found=False)
    if result is None:
        return None
    reader = RecordReader(
        result.mapped_file.mapped_byte_buffer, result.position, result.position + result.size, check_crc=False,
        read_body=False, delay_levels=store.commit_log.delay_levels)
    request = reader.next()
    result.release()
    return request if request.success and request.msg_size > 0 else None


def _misfit(queue: ConsumeQueue, index: int, unit: Unit, record: DispatchRequest | None) -> tuple[str, str] | None:
    """What is wrong with a unit, and the hazard; None: it is the unit of its record."""
    if record is None:
        return f"no record at offset {unit.offset} of the log", "V4"
    if unit.size != record.msg_size:
        return f"{unit.size} bytes, but the record at {unit.offset} has {record.msg_size}", "V4"
    if (record.topic, record.queue_id) != (queue.topic, queue.queue_id):
        return f"the record at {unit.offset} is one of {record.topic}-{record.queue_id}", "V7"
    if record.consume_queue_offset != index:
        return f"the record at {unit.offset} has queue offset {record.consume_queue_offset}", "V3"
    if unit.tags_code != record.tags_code:
        hazard = "V5" if queue.topic == RMQ_SYS_SCHEDULE_TOPIC and unit.tags_code else "V8"
        return f"code {unit.tags_code}, but that of the record is {record.tags_code}", hazard
    return None


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
