"""What a new process of the store makes of an image, and which promises that breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from impl.common.byte_buffer import ByteBuffer
from impl.common.message_decoder import decode
from impl.decisions.java_errors import JavaError
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from impl.store.consume_queue import Unit
from impl.store.default_message_store import DefaultMessageStore
from impl.store.dispatch_request import DEFAULT_LEVELS
from impl.store.message_store_config import MessageStoreConfig
from impl.store.record_reader import RecordReader
from stateful_tests.crash.memory import Image, MemoryDisk, UnendingError
from stateful_tests.crash.programs import Life, Message

Files = tuple[tuple[str, bytes], ...]
Store = Callable[[MemoryDisk, MessageStoreConfig, Callable[[], int]], DefaultMessageStore]

USES = 20_000  # calls to the disk; a recovery of these files makes some hundred
_START_ATTEMPTS = 3  # that nothing changes between them shows the first
SEARCH_FAILS = -1
_LATER_MS = 1_800_000_000_000  # when the new process starts

STARTS, IDEMPOTENT, PREFIX = "store_starts_after_crash", "recovery_is_idempotent", "recovery_is_a_prefix"
SURVIVES, NAMES, MISSED = "acknowledged_survives_crash", "unit_names_its_record", "no_record_is_missed"
CONSECUTIVE, KEYS, TIMES = "queue_offsets_are_consecutive", "key_is_found", "time_leads_to_its_first_message"
EARLY = "delayed_message_is_not_early"
PROPERTIES = {
    STARTS: "After a crash the store starts.",
    SURVIVES: "A message that was acknowledged before a crash is at its queue offset after it.",
    PREFIX: "After a crash the log has the first records that were put, each as it was, and nothing else.",
    NAMES: "After a crash each unit of a queue leads to the message that was given this queue offset.",
    MISSED: "After a crash each record of the log is in its queue.",
    CONSECUTIVE: "After a crash the next queue offset is the one behind the last message of the queue.",
    KEYS: "After a crash each record of the log is found by its keys.",
    EARLY: "After a crash a delayed message is due when it was due before.",
    TIMES: "A search by time leads to the first message of the queue that was stored then.",
    IDEMPOTENT: "A store that is killed right after its recovery recovers to the same.",
}
"""Property to its sentence."""


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
    first = _recovered(disk, life, DefaultMessageStore)
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
            first = self._recovered(disk)
            self._outcomes[files] = Outcome(first, None if first.refused else self._once_more(disk.image()))
        return self._outcomes[files]

    def _once_more(self, left: Image) -> Recovered:
        files = tuple(left.items())
        if files not in self._again:
            self._again[files] = self._recovered(MemoryDisk(left, USES))
        return self._again[files]

    def _recovered(self, disk: MemoryDisk) -> Recovered:
        self.count += 1
        return _recovered(disk, self._life, self._store)


def _recovered(disk: MemoryDisk, life: Life, make: Store) -> Recovered:
    now = _LATER_MS

    def now_ms() -> int:
        nonlocal now
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
            return Recovered("start waits for ever for its dispatch")
        next_offsets = {queue: offset for queue, offset in store.commit_log.topic_queue_table.items() if offset}
        return Recovered("", tuple(_log(store)), _units(store), next_offsets, _found(store, life.keys),
                         {time: _searched(store, *time) for time in life.times})
    except UnendingError:
        return Recovered("recovery never ends")
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


# Judged ---------------------------------------------------------------------------------------------------------------


def broken(life: Life, found: Outcome, acknowledged: Sequence[Message]) -> dict[str, str]:
    """The properties that an outcome breaks, each with a sentence; acknowledged -- before the crash.

    Of a store that does not start nothing else is said: its files are as they were.
    """
    first, again = found
    if first.refused:
        return {STARTS: first.refused}
    told = {
        SURVIVES: lost(first, acknowledged), PREFIX: _no_prefix(first, life), NAMES: _wrong_units(first, life),
        MISSED: _missed(first, life), CONSECUTIVE: _shifted(first, life), KEYS: _not_found(first, life),
        EARLY: _early(first, life), TIMES: _not_at_its_time(first, life), IDEMPOTENT: _changed(first, again)}
    return {name: sentence for name, sentences in told.items() if (sentence := next(sentences, ""))}


def lost(first: Recovered, acknowledged: Sequence[Message]) -> Iterator[str]:
    """The messages of these that are not where they were, a sentence each."""
    log = dict(first.log)
    for message in acknowledged:
        unit = first.units.get((message.topic, message.queue_id), {}).get(message.queue_offset)
        if log.get(message.offset) != message.record:
            yield f"{message} was acknowledged, and the log does not have it"
        elif unit is None or (unit.offset, unit.size) != (message.offset, len(message.record)):
            yield f"{message} was acknowledged, and its queue does not lead to it"


def _no_prefix(first: Recovered, life: Life) -> Iterator[str]:
    put = sorted(life.by_offset.values(), key=lambda message: message.offset)
    for place, (offset, record) in enumerate(first.log):
        if place >= len(put) or put[place].offset != offset:
            yield f"the log has a record at {offset}, and not all that were put before it"
        elif put[place].record != record:
            yield f"{put[place]} is in the log with other bytes than were put"


def _wrong_units(first: Recovered, life: Life) -> Iterator[str]:
    by_offset, log = life.by_offset, dict(first.log)
    for queue, units in first.units.items():
        for place, unit in units.items():
            message = by_offset.get(unit.offset)
            where = f"unit {place} of {queue[0]}-{queue[1]}"
            if message is None or log.get(unit.offset) != message.record or unit.size != len(message.record):
                yield f"{where} leads to {unit.offset}, where no such message is"
            elif (message.topic, message.queue_id, message.queue_offset) != (*queue, place):
                yield f"{where} leads to {message}"
            elif unit.tags_code != message.tags_code and message.topic != RMQ_SYS_SCHEDULE_TOPIC:
                yield f"{where} has another code of its tags"


def _early(first: Recovered, life: Life) -> Iterator[str]:
    """In the queue of a level, the code of tags is when a message is due."""
    for (topic, _), units in first.units.items():
        for unit in units.values() if topic == RMQ_SYS_SCHEDULE_TOPIC else ():
            message = life.by_offset.get(unit.offset)
            if message is not None and unit.size == len(message.record) and unit.tags_code < message.tags_code:
                yield f"{message} is due {message.tags_code - unit.tags_code:,} ms early"


def _missed(first: Recovered, life: Life) -> Iterator[str]:
    by_offset = life.by_offset
    for offset, _ in first.log:
        message = by_offset.get(offset)
        if message is not None and all(
                unit.offset != offset for unit in first.units.get((message.topic, message.queue_id), {}).values()):
            yield f"{message} is in the log, and not in its queue"


def _shifted(first: Recovered, life: Life) -> Iterator[str]:
    by_offset, expected = life.by_offset, dict.fromkeys(first.next_offsets, 0)
    for offset, _ in first.log:
        message = by_offset.get(offset)
        if message is not None:
            expected[f"{message.topic}-{message.queue_id}"] = message.queue_offset + 1
    for queue, offset in expected.items():
        actual = first.next_offsets.get(queue, 0)
        if actual != offset:
            how = "is given away twice" if actual < offset else "is passed over"
            yield f"the next message of {queue} gets queue offset {actual}, so that {min(actual, offset)} {how}"


def _not_found(first: Recovered, life: Life) -> Iterator[str]:
    by_offset = life.by_offset
    for offset, _ in first.log:
        message = by_offset.get(offset)
        for key in () if message is None else message.keys:
            if offset not in first.found[message.topic, key]:  # type: ignore[union-attr]  # it has keys
                yield f"{message} is in the log, and not found by its key {key}"


def _not_at_its_time(first: Recovered, life: Life) -> Iterator[str]:
    """Searches in queues that are as they were; of others nothing is said here."""
    earliest: dict[tuple[str, int, int], Message] = {}
    for message in life.messages:
        queue = message.topic, message.queue_id
        unit = first.units.get(queue, {}).get(message.queue_offset)
        if unit is not None and (unit.offset, unit.size) == (message.offset, len(message.record)):
            earliest.setdefault((*queue, message.store_timestamp), message)
    for time, message in earliest.items():
        if first.times[time] != message.queue_offset and _is_whole(first, life, message):
            yield f"a search by the time of {message} leads to message {first.times[time]}"


def _is_whole(first: Recovered, life: Life, message: Message) -> bool:
    """Whether each unit of a message's queue leads to its message."""
    queue = message.topic, message.queue_id
    expected = {one.queue_offset: (one.offset, len(one.record)) for one in life.messages
                if (one.topic, one.queue_id) == queue}
    return all((unit.offset, unit.size) == expected.get(place) for place, unit in first.units[queue].items())


def _changed(first: Recovered, again: Recovered | None) -> Iterator[str]:
    if again is None or again == first:
        return
    names = [name for name, one, other in zip(Recovered._fields, first, again, strict=True) if one != other]
    yield f"a second recovery {'does not start' if again.refused else 'has other ' + ' and '.join(names)}"
