"""What a new process of the store makes of an image."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from impl.common.byte_buffer import ByteBuffer
from impl.common.message_decoder import decode
from impl.decisions.java_errors import JavaError
from impl.store.consume_queue import Unit
from impl.store.default_message_store import DefaultMessageStore
from impl.store.dispatch_request import DEFAULT_LEVELS
from impl.store.message_store_config import MessageStoreConfig
from impl.store.record_reader import RecordReader
from stateful_tests.crash.memory import Image, MemoryDisk, UnendingError
from stateful_tests.crash.programs import Life

Files = tuple[tuple[str, bytes], ...]
Store = Callable[[MemoryDisk, MessageStoreConfig, Callable[[], int]], DefaultMessageStore]

USES = 20_000  # calls to the disk and to the clock; a recovery of these files makes some hundred
NEVER_ENDS, WAITS = "recovery never ends", "start waits for ever for its dispatch"
_START_ATTEMPTS = 3  # that nothing changes between them shows the first
SEARCH_FAILS = -1
_LATER_MS = 1_800_000_000_000  # when the new process starts
_ONCE_MORE_MS = _LATER_MS + USES  # and the one after it: its index files have other names


class Recovered(NamedTuple):
    """What the new process has, or why it does not start.

    log -- offset and bytes of each record. units -- topic and queue id to queue offset and unit. next_offsets -- topic
    and queue id ("A-0") to the queue offset of the next message. found -- topic and key to offsets in the log. times --
    topic, queue id and time to the queue offset to which a search leads, or SEARCH_FAILS. A queue without units, and
    one that begins at 0, are as one that is not there.
    """

    refused: str = ""
    log: tuple[tuple[int, bytes], ...] = ()
    units: dict[tuple[str, int], dict[int, Unit]] = {}  # noqa: RUF012  # a value that nobody changes
    next_offsets: dict[str, int] = {}  # noqa: RUF012
    found: dict[tuple[str, str], frozenset[int]] = {}  # noqa: RUF012
    times: dict[tuple[str, int, int], int] = {}  # noqa: RUF012

    @property
    def is_endless(self) -> bool:
        """Whether the start does not end; else what refuses it is said at once."""
        return self.refused in {NEVER_ENDS, WAITS}


class Outcome(NamedTuple):
    """What one image leads to. again -- what a second recovery leads to, of what the first one has left."""

    first: Recovered
    again: Recovered | None


def outcome(image: Image, life: Life, store: Store = DefaultMessageStore) -> Outcome:
    """Recover an image; and if that goes well, kill the process and recover once more."""
    return Recoveries(life, store).of(image)


def started(image: Image, life: Life) -> tuple[Recovered, Image]:
    """What a new process has of an image, and the files that its start leaves."""
    disk = MemoryDisk(image, USES)
    first = _recovered(disk, life, DefaultMessageStore, _LATER_MS)
    return first, disk.image()


class Recoveries:
    """Recoveries of images of one life, each image once. count -- how many were made."""

    def __init__(self, life: Life, store: Store = DefaultMessageStore) -> None:
        """Have made none; store -- makes each process."""
        self._life, self._store = life, store
        self.count = 0
        self._outcomes: dict[Files, Outcome] = {}
        self._again: dict[Files, Recovered] = {}

    @property
    def distinct(self) -> int:
        """How many different images there were."""
        return len(self._outcomes)

    def of(self, image: Image) -> Outcome:
        """Recover an image; and if that goes well, kill the process and recover once more what it has left."""
        files = tuple(image.items())
        if files not in self._outcomes:
            disk = MemoryDisk(image, USES)
            first = self._recovered(disk, _LATER_MS)
            self._outcomes[files] = Outcome(first, None if first.refused else self._once_more(disk.image()))
        return self._outcomes[files]

    def _once_more(self, left: Image) -> Recovered:
        files = tuple(left.items())
        if files not in self._again:
            self._again[files] = self._recovered(MemoryDisk(left, USES), _ONCE_MORE_MS)
        return self._again[files]

    def _recovered(self, disk: MemoryDisk, at_ms: int) -> Recovered:
        self.count += 1
        return _recovered(disk, self._life, self._store, at_ms)


def _recovered(disk: MemoryDisk, life: Life, make: Store, at_ms: int) -> Recovered:
    now = at_ms

    def now_ms() -> int:
        nonlocal now
        disk.count_use()
        now += 1
        return now

    try:
        store = make(disk, life.workload.config, now_ms)
        if not store.load():
            return Recovered("load fails")
        started = store.start()
        for _ in range(_START_ATTEMPTS):
            started = started or store.go_on_starting()
        if not started:
            return Recovered(WAITS)
        next_offsets = {queue: offset for queue, offset in store.commit_log.topic_queue_table.items() if offset}
        return Recovered("", tuple(_log(store)), _units(store), next_offsets, _found(store, life.keys),
                         {time: _searched(store, *time) for time in life.times})
    except UnendingError:
        return Recovered(NEVER_ENDS)
    except JavaError as error:
        return Recovered(f"start fails with {error.java_class}: {error}")


def _log(store: DefaultMessageStore) -> Iterator[tuple[int, bytes]]:
    """The readable records, file by file."""
    for file in store.commit_log.mapped_file_queue.mapped_files:
        end = file.get_read_position()
        reader = RecordReader(file.mapped_byte_buffer, 0, end, check_crc=False, read_body=False,
                              delay_levels=DEFAULT_LEVELS)
        while (position := reader.position) < end and (request := reader.next()).success and request.msg_size > 0:
            yield file.file_from_offset + position, file.mapped_byte_buffer.read(position, request.msg_size)


def _units(store: DefaultMessageStore) -> dict[tuple[str, int], dict[int, Unit]]:
    found: dict[tuple[str, int], dict[int, Unit]] = {}
    for queue in store.queues():
        offsets = range(queue.get_min_offset_in_queue(), queue.get_max_offset_in_queue())
        found[queue.topic, queue.queue_id] = {
            offset: unit for offset in offsets if (unit := queue.unit(offset)) is not None}
    return {queue: units for queue, units in found.items() if units}


def _found(store: DefaultMessageStore, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], frozenset[int]]:
    found = {}
    for topic, key in keys:
        records = store.query_message(topic, key, 64, 0, 1 << 62).records
        messages = [decode(ByteBuffer(record)) for record in records]
        found[topic, key] = frozenset(message.commit_log_offset for message in messages if message is not None)
    return found


def _searched(store: DefaultMessageStore, topic: str, queue_id: int, timestamp: int) -> int:
    try:
        return store.get_offset_in_queue_by_time(topic, queue_id, timestamp)
    except JavaError:
        return SEARCH_FAILS
