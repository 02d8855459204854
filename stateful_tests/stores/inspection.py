"""What is in a store directory, and what a start of the broker would make of it.

The store itself is started, on an Overlay: its recovery and its dispatch happen in memory, and the directory stays as
it is. What they changed is then told from the files.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from impl.decisions.index_slots import index_file_size
from impl.decisions.java_errors import JavaError
from impl.decisions.names import is_system_topic
from impl.hosts.files.overlay import Overlay
from impl.ports.disk import DiskError
from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_store_config import MessageStoreConfig
from impl.store.store_checkpoint import StoreCheckpoint
from invariants.verdict import BadInputError
from stateful_tests.crash.promises import KEYS, MISSED, PREFIX, STARTS, SURVIVES
from stateful_tests.stores.configuration import topics_of, torn
from stateful_tests.stores.log_end import behind_the_end
from stateful_tests.stores.problem import WHOLE, Problem, Tell
from stateful_tests.stores.queues import compared
from stateful_tests.stores.sizes import Sizes

_LOCK = struct.Struct("hh4xqqi4x")  # struct flock of Linux


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

    clean -- the last stop left no abort file. starts -- load and start succeed. records -- how many of the log are for
    a queue. cut_bytes -- how many bytes behind log_end are not zero. deleted -- files that a start deletes.
    deleted_topics -- of which the log still has records. checkpoint -- physic, logics and index, in ms.
    """

    directory: str
    sizes: Sizes
    clean: bool
    checkpoint: tuple[int, int, int]
    starts: bool = False
    log_files: int = 0
    log_begin: int = 0
    log_end: int = 0
    records: int = 0
    cut_bytes: int = 0
    deleted: list[str] = field(default_factory=list)
    deleted_topics: list[str] = field(default_factory=list)
    queues: list[QueueSeen] = field(default_factory=list)
    index: list[IndexSeen] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def _nobody(text: str) -> None:
    del text


def inspect(directory: Path, sizes: Sizes, tell: Tell = _nobody) -> Inspection:
    """Look at the directory that a broker has as storePathRootDir, with its commit log in the folder commitlog.

    Raises BadInputError if there is none, or if it cannot be read.
    """
    root = directory.resolve()
    try:
        if not root.is_dir():
            raise BadInputError(f"{directory}: {'not a folder' if root.exists() else 'there is no such folder'}")
        if not (root / "commitlog").is_dir():
            raise BadInputError(f"{directory}: no folder commitlog in it; give the broker's storePathRootDir")
        _readable(root)
        return _Look(root, str(directory), sizes, tell).all()
    except (OSError, DiskError) as error:
        raise BadInputError(f"{directory}: cannot be read ({error})") from error


def _readable(root: Path) -> None:
    """Raise BadInputError for a file or folder that this user may not read: what is in it would count as missing."""
    for path in sorted(root.rglob("*")):
        if not os.access(path, os.R_OK | os.X_OK if path.is_dir() else os.R_OK):
            raise BadInputError(f"{path}: cannot be read; look at the store as the user that runs its broker")


class _Look:
    """One inspection."""

    def __init__(self, root: Path, directory: str, sizes: Sizes, tell: Tell) -> None:
        self._tell = tell
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
        self._tell("files")
        found.problems += torn(self.disk, self.name)
        self._lengths("commitlog", self.sizes.commit_log_bytes)
        for folder in sorted(self.root.glob("consumequeue/*/*")):
            self._lengths(str(folder.relative_to(self.root)), self.sizes.consume_queue_bytes)
        self._index_lengths()
        before = self._queue_ends()
        self._tell("recovery")
        store = DefaultMessageStore(self.disk, self.config, _now_ms)
        try:
            loaded = store.load()
        except JavaError as error:
            loaded = False
            self._problem("commitlog", None, f"the broker ends with {error.java_class}: {error.message}", STARTS, "V14")
        if not loaded:
            if not any(one.property == STARTS for one in found.problems):
                self._problem("commitlog", None, "the store does not load, and no file says why", STARTS, "")
            return found
        self._tell("dispatch")
        found.starts = self._start(store)
        found.deleted = sorted(self._below(path) for path, content in self.disk.files.items() if content is None)
        self._index()
        self._log(store)
        if not found.log_files and any(before.values()):
            self._problem("commitlog", None, "it has no file: a start deletes all queues; is the broker's "
                          "storePathCommitLog elsewhere?", SURVIVES, "")
        self._queues(store, before)
        if found.starts:
            self._levels(store)
            topics = topics_of(self.disk, self.name)
            self._unread(topics or {})
            self._records(store, topics)
        self._tell("what is behind the end of the log")
        self._log_end()
        return found

    def _problem(self, file: str, position: int | None, sentence: str, judged: str, hazard: str) -> None:
        self.found.problems.append(Problem(file, position, sentence, judged, hazard))

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
                          "seen, and another start would recover it before it is refused", WHOLE, "V12")

    def _lengths(self, folder: str, file_bytes: int) -> None:
        """Files that let no store load, and gaps between files."""
        expected = None
        for path in sorted((self.root / folder).glob("*")):
            file, length = f"{folder}/{path.name}", path.stat().st_size
            if path.is_dir() or length != file_bytes:
                self._problem(file, None, f"{length} bytes, not {file_bytes}: the broker does not start", STARTS, "V22")
            elif not path.name.isdigit():
                self._problem(file, None, "its name is no offset: the broker does not start", STARTS, "V22")
            else:
                if expected is not None and int(path.name) != expected:
                    self._problem(file, None, f"the file of offset {expected} is missing before it", STARTS, "V22")
                expected = int(path.name) + file_bytes

    def _index_lengths(self) -> None:
        """Look at the lengths of the index files; IndexService#load looks at none."""
        whole = index_file_size(self.sizes.hash_slots, self.sizes.index_entries)
        for path in sorted(one for one in self.root.glob("index/*") if one.name.isdigit() and one.is_file()):
            if (length := path.stat().st_size) != whole:
                becomes = "a start fills it up with zeros" if length < whole else "a start reads only so many"
                self._problem(f"index/{path.name}", min(length, whole), f"{length} bytes, not {whole}: {becomes}",
                              WHOLE, "")

    # Recovery ---------------------------------------------------------------------------------------------------------

    def _queue_ends(self) -> dict[tuple[str, int], int]:
        """Where each queue ends as its own files have it."""
        store = DefaultMessageStore(Overlay(self.root.parent), self.config, _now_ms)
        try:
            if not store.load_consume_queue():
                return {}
        except JavaError:  # a file whose name is no offset: the store does not load
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
                *((SURVIVES, "V2") if cut else (PREFIX, "V4") if behind.records else (WHOLE, "")))

    def _start(self, store: DefaultMessageStore) -> bool:
        try:
            started = store.start()
            if not started:
                store.reput_message_service.do_reput()
        except JavaError as error:
            self._problem("index", None, f"dispatch fails with {error.java_class}, and is tried for ever",
                          STARTS, "V14")
            return False
        if not started:
            at = store.reput_message_service.reput_from_offset
            self._problem("commitlog", None, f"dispatch stops at offset {at}, and the start waits for ever",
                          STARTS, "V22")
        elif store.dispatch_behind_bytes() < 0:
            at = store.reput_message_service.reput_from_offset
            self._problem("consumequeue", None, f"dispatch begins at offset {at}, beyond the end of the log",
                          MISSED, "V9")
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
                self._problem(name, None, "a start deletes it, and indexes again only what it reads of the log",
                              KEYS, "V13")

    # Queues -----------------------------------------------------------------------------------------------------------

    def _queues(self, store: DefaultMessageStore, before: dict[tuple[str, int], int]) -> None:
        """The queues that have or had files."""
        for queue in sorted(store.queues(), key=lambda one: (one.topic, one.queue_id)):
            if not queue.mapped_file_queue.mapped_files and (queue.topic, queue.queue_id) not in before:
                continue  # the levels of delay have queues before anything is in them
            self.found.queues.append(QueueSeen(
                queue.topic, queue.queue_id, queue.get_min_offset_in_queue(), queue.get_max_offset_in_queue(),
                before.get((queue.topic, queue.queue_id), 0)))

    def _levels(self, store: DefaultMessageStore) -> None:
        """Delay levels that would begin beyond the ends of their queues."""
        service = store.schedule_message_service
        for level, offset in sorted(service.offset_table.entries()):
            end = service.queue(level).get_max_offset_in_queue()
            if offset > end:
                self._problem("config/delayOffset.json", None, f"level {level} goes on at {offset}, and its queue ends "
                              f"at {end}: what comes before {offset} in the first second after a start is passed over",
                              WHOLE, "V42")

    def _unread(self, topics: Mapping[str, int]) -> None:
        """Queues that the table of topics does not have. topics -- how many queues of each are read."""
        for queue in self.found.queues:
            messages, read = queue.max_offset - queue.min_offset, topics.get(queue.topic, queue.queue_id + 1)
            if messages and queue.queue_id >= read:
                self._problem(f"consumequeue/{queue.topic}/{queue.queue_id}", None,
                              f"config/topics.json has {read} queues of the topic to read: consumers are given nothing "
                              f"of this one, which has {messages} messages", WHOLE, "V43")

    def _records(self, store: DefaultMessageStore, topics: Mapping[str, int] | None) -> None:
        """The log beside the queues. topics -- that the broker has, None: nobody knows."""
        found, left_out = self.found, "V26" if self.found.clean else "V10"
        read = compared(store, left_out, self._tell)
        found.records = read.records
        found.problems += read.problems
        for (topic, queue_id), (count, first) in sorted(read.missing.items()):
            if topics is None or topic in topics or is_system_topic(topic):
                self._problem(
                    f"consumequeue/{topic}/{queue_id}", None,
                    f"the queue is missing, and the log has {count} records of it, the first at offset {first}",
                    MISSED, left_out)
            elif topic not in found.deleted_topics:
                found.deleted_topics.append(topic)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
