"""A store on a recording disk that lives through a program, and what it was told and has promised."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from impl.common.byte_buffer import ByteBuffer
from impl.common.inet_socket_address import InetSocketAddress
from impl.common.message_batch import BatchedMessage, encode_messages
from impl.common.message_const import PROPERTY_DELAY_TIME_LEVEL, PROPERTY_KEYS, PROPERTY_TAGS
from impl.common.util_all import offset2_file_name
from impl.decisions.flags import has_flag
from impl.decisions.index_slots import abs_slot_pos
from impl.decisions.java_calendar import DAY_MS
from impl.decisions.running_flags import DISK_FULL_BIT
from impl.ports.disk import PAGE_BYTES
from impl.store.default_message_store import DefaultMessageStore
from impl.store.dispatch_request import check_message_and_return_size
from impl.store.message_ext_broker_inner import MessageExtBatch, MessageExtBrokerInner
from impl.store.message_store_config import FlushDiskType, MessageStoreConfig
from impl.store.put_message_result import PutMessageFuture
from impl.store.put_message_status import PutMessageStatus
from stateful_tests.crash.known import Fate, Known, Message, known
from stateful_tests.crash.recorder import Recorder

_BORN, _STORED = (InetSocketAddress(bytes([127, 0, 0, 1]), port) for port in (4_711, 10_911))
_T0 = 1_700_000_000_000
_CHECKPOINT_MS = 61_000
_DELIVERY_MS = 1_000  # the delay of level 1
_CLEAN_AT_MS, _CLEAN_AFTER_MS = 4 * 3_600_000, 3 * DAY_MS  # deleteWhen, fileReservedTime
_WEEK_MS = 7 * DAY_MS
_LOG, _QUEUES = "store/commitlog", "store/consumequeue"
_BEFORE_PROPERTIES_BYTES = 91  # of a record without body and topic
_ROLL_SPARE_BYTES = 40  # a record is longer than its body by more than this
_TAKES_AWAY = {"start", "clean", "full"}  # operations
Store = Callable[[Recorder, MessageStoreConfig, Callable[[], int]], DefaultMessageStore]


class Workload(NamedTuple):
    """A program for a store.

    name -- of the workload; sentence -- what it is about. has_index -- whether there are index files. expected -- kind
    of crash to the properties that it breaks in RocketMQ as shipped, each with the hazards. hidden -- the same, of what
    another hazard hides there. queue_file_bytes -- of each file of a consume queue. operations -- lines:

    put TOPIC [KEYS]    one message; batch TOPIC NUMBER -- so many in one batch
    roll TOPIC          a message that does not fit into the last file of the log, and begins the next
    rolls TOPIC NUMBER  so many such messages, each flushed
    refused TOPIC       a message that is longer than it may be, and is not taken
    edge TOPIC          a message of which only the properties lie on the next page of the log
    delay TOPIC LEVEL   one message of a level of delay
    deliver             a second later, what is due is delivered
    offsets             the offsets of the levels are written to their file
    dispatch            the dispatcher catches up
    flush               group commit with SYNC_FLUSH, else the thorough flush of the log
    queues, checkpoint  the queues are flushed if they have two new pages; all of them, and the checkpoint
    full PERCENT        so much of the disk is used from now on, and clean-up runs
    touch NUMBER        a file of the log, counted from the first, seems to be modified a week later than it was
    clean               three days later, in the hour of clean-up: what was put is flushed, and clean-up runs
    stop, kill, start   an orderly stop; the end of the process; a new process, with its recovery
    forget              the folder of the consume queues is removed, as operators do who want them built anew
    power [PAGE]        the machine loses its power, and all that was not forced; or of that only this page of the log
    """

    name: str
    sentence: str
    flush: FlushDiskType
    operations: tuple[str, ...]
    has_index: bool = False
    expected: Mapping[str, Mapping[str, tuple[str, ...]]] = {}
    queue_file_bytes: int = 400
    hidden: Mapping[str, Mapping[str, tuple[str, ...]]] = {}

    @property
    def config(self) -> MessageStoreConfig:
        """Files of two pages for the log, and small ones for all else."""
        return MessageStoreConfig(
            mapped_file_size_commit_log=8_192, configured_file_size_consume_queue=self.queue_file_bytes,
            max_hash_slot_num=3, max_index_num=9, max_message_size=16_000, message_index_enable=self.has_index,
            flush_disk_type=self.flush)

    def to_json(self) -> dict[str, Any]:
        """All but what is expected, as plain values."""
        return {"name": self.name, "sentence": self.sentence, "flush": self.flush.value,
                "operations": list(self.operations), "has_index": self.has_index,
                "queue_file_bytes": self.queue_file_bytes}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Workload:
        """From what `to_json` gave; nothing is expected."""
        return cls(**{**values, "flush": FlushDiskType(values["flush"]), "operations": tuple(values["operations"])})


class LifeError(RuntimeError):
    """A store that nothing has happened to does not do what its workload asks of it."""


class Life:
    """What a store has lived through.

    began -- the step before each operation, of which the first is the start. acknowledged -- place in messages to the
    step after which PUT_OK was answered. fates -- place in messages to how a message has left the log.
    """

    def __init__(self, workload: Workload, store: Store = DefaultMessageStore) -> None:
        """Live through the workload; store -- makes each process. Raises LifeError."""
        self.workload, self.recorder, self._make = workload, Recorder(lambda: self._now), store
        self.messages: list[Message] = []
        self.acknowledged: dict[int, int] = {}
        self.fates: dict[int, Fate] = {}
        self._known: dict[int, Known] = {}
        self._waiting: list[tuple[PutMessageFuture, range]] = []
        self._now = _T0
        self.began = [0]
        self._start()
        for operation in workload.operations:
            self.began.append(self.recorder.steps)
            what, *words = operation.split()
            self._live(what, words)
            self._take_answers()
            if what in _TAKES_AWAY:
                self._note_fates(cut=what == "start")
        self._look_at_the_index()

    def _now_ms(self) -> int:
        self._now += 1
        return self._now

    @cached_property
    def keys(self) -> Sequence[tuple[str, str]]:
        """Topic and key of all messages."""
        return sorted({(message.topic, key) for message in self.messages for key in message.keys})

    @cached_property
    def times(self) -> Sequence[tuple[str, int, int]]:
        """Topic, queue id and time (ms) of all messages."""
        return sorted({(message.topic, message.queue_id, message.store_timestamp) for message in self.messages})

    # What was known ---------------------------------------------------------------------------------------------------

    @cached_property
    def _changes(self) -> list[int]:
        """The steps after which something else is known than before."""
        fates = self.fates.values()
        return sorted({*self.acknowledged.values(), *(one.begin for one in fates), *(one.end for one in fates)})

    def known(self, step: int) -> Known:
        """What was known of the messages when a crash came after this step."""
        number = bisect_right(self._changes, step)
        if number not in self._known:
            self._known[number] = known(self.messages, self.acknowledged, self.fates, step)
        return self._known[number]

    def periods(self, since: int, until: int) -> Iterator[tuple[int, int]]:
        """Parts of the steps from `since` on and before `until`, in each of which the same is known."""
        return pairwise([since, *(step for step in self._changes if since < step < until), until])

    # Operations -------------------------------------------------------------------------------------------------------

    def _live(self, what: str, words: Sequence[str]) -> None:
        """Do the operation."""
        operations: dict[str, Callable[..., object]] = {
            "put": self._put_keys, "batch": self._put_batch, "roll": self._roll, "rolls": self._rolls,
            "refused": self._refused, "edge": self._edge, "touch": self._touch, "forget": self._forget,
            "delay": self._delay, "deliver": self._deliver,
            "offsets": self.store.schedule_message_service.persist,
            "dispatch": self.store.reput_message_service.do_reput, "flush": self._flush,
            "queues": self.store.flush_consume_queue_service.do_flush, "checkpoint": self._checkpoint,
            "full": self._full, "clean": self._clean, "stop": self.store.shutdown, "kill": self._kill,
            "start": self._start, "power": self._power}
        operations[what](*words)

    def _put_keys(self, topic: str, *keys: str) -> None:
        self._put(topic, self._body(), " ".join(keys))

    def _delay(self, topic: str, level: str) -> None:
        self._put(topic, self._body(), level=level)

    def _roll(self, topic: str) -> None:
        self._put(topic, b"r" * (self._room(self.workload.config.mapped_file_size_commit_log) - _ROLL_SPARE_BYTES))

    def _rolls(self, topic: str, number: str) -> None:
        for _ in range(int(number)):
            self._roll(topic)
            self._flush()

    def _edge(self, topic: str) -> None:
        self._put(topic, b"e" * (self._room(PAGE_BYTES) - _BEFORE_PROPERTIES_BYTES - len(topic)))

    def _refused(self, topic: str) -> None:
        body = bytes(self.workload.config.max_message_size)
        if self.store.async_put_message(MessageExtBrokerInner(topic, body, _BORN, _STORED)).append_message_result:
            raise LifeError(f"{self.workload.name}: a message is taken that is too long")

    def _touch(self, number: str) -> None:
        file = int(number) * self.workload.config.mapped_file_size_commit_log
        self.recorder.touch(f"{_LOG}/{offset2_file_name(file)}", self._now + _WEEK_MS)

    def _forget(self) -> None:
        for topic in self.recorder.list(_QUEUES):
            for name in self.recorder.list(f"{_QUEUES}/{topic}"):
                for file in self.recorder.list(f"{_QUEUES}/{topic}/{name}"):
                    self.recorder.delete(f"{_QUEUES}/{topic}/{name}/{file}")

    def _body(self) -> bytes:
        return b"%d" % len(self.messages)

    def _flush(self) -> None:
        if self.workload.flush is FlushDiskType.SYNC_FLUSH:
            self.store.commit_log.group_commit_service.run_once()
        else:
            self.store.commit_log.flush_real_time_service.flush(0)

    def _checkpoint(self) -> None:
        self._now += _CHECKPOINT_MS
        self.store.flush_consume_queue_service.do_flush()

    def _deliver(self) -> None:
        """What the service puts is known from then on, and acknowledged to nobody."""
        self._now += _DELIVERY_MS
        offset = self.store.get_max_phy_offset()
        self.store.schedule_message_service.run_once()
        while offset < self.store.get_max_phy_offset():
            message = self._message(offset)
            if message.topic:
                self.messages.append(message)
            offset = offset + len(message.record) if message.topic else self.store.commit_log.roll_next_file(offset)

    def _full(self, percent: str) -> None:
        self.recorder.used_percent = int(percent)
        self._clean_up()

    def _clean(self) -> None:
        """Until then the services have flushed everything."""
        self._now += _CLEAN_AFTER_MS
        self._now += (_CLEAN_AT_MS - self._now) % DAY_MS
        for _ in self.store.commit_log.mapped_file_queue.mapped_files:
            self._flush()
        self._checkpoint()
        self._clean_up()

    def _clean_up(self) -> None:
        self.store.clean_commit_log_service.run()
        self.store.clean_consume_queue_service.run()

    def _power(self, page: str = "") -> None:
        self._kill()
        if not page:
            self.recorder.lose_power()
            return
        size = self.workload.config.mapped_file_size_commit_log
        file, position = divmod(int(page) * PAGE_BYTES, size)
        self.recorder.lose_power({(f"{_LOG}/{offset2_file_name(file * size)}", position // PAGE_BYTES): 0})

    def _kill(self) -> None:
        self.store._lock_file.close()  # noqa: SLF001  # as the operating system does
        self._waiting.clear()

    def _start(self) -> None:
        self.store = self._make(self.recorder, self.workload.config, self._now_ms)
        if not (self.store.load() and self.store.start()):
            raise LifeError(f"{self.workload.name}: the store does not start")

    def _look_at_the_index(self) -> None:
        for file in self.store.index_service.index_files:
            used = sum(file.mapped_file.mapped_byte_buffer.get_int(abs_slot_pos(slot, file.hash_slot_num)) > 0
                       for slot in range(file.hash_slot_num))
            if file.header.hash_slot_count != used:
                raise LifeError(f"{self.workload.name}: an index file says that {file.header.hash_slot_count} of its "
                                f"slots are in use, and {used} are")

    def _room(self, part_bytes: int) -> int:
        """How many bytes of the log are left until the next multiple of part_bytes."""
        return part_bytes - self.store.get_max_phy_offset() % part_bytes

    def _put(self, topic: str, body: bytes, keys: str = "", level: str = "") -> None:
        message = MessageExtBrokerInner(topic, body, _BORN, _STORED)
        for name, value in ((PROPERTY_TAGS, "tag"), (PROPERTY_KEYS, keys), (PROPERTY_DELAY_TIME_LEVEL, level)):
            if value:
                message.put_property(name, value)
        message.write_properties()
        self._note(self.store.async_put_message(message))

    def _put_batch(self, topic: str, number: str) -> None:
        first = len(self.messages)
        body = encode_messages([
            BatchedMessage(0, b"%d" % one, {PROPERTY_TAGS: "tag"}) for one in range(first, first + int(number))])
        self._note(self.store.async_put_messages(MessageExtBatch(topic, body, _BORN, _STORED)))

    def _note(self, future: PutMessageFuture) -> None:
        result = future.append_message_result
        if result is None and has_flag(self.store.running_flags, DISK_FULL_BIT):
            return  # as it should be
        if result is None:
            raise LifeError(f"{self.workload.name}: a put is refused")
        first = len(self.messages)
        self.messages += [self._message(offset) for offset in result.phy_offsets]
        self._waiting.append((future, range(first, len(self.messages))))

    def _message(self, offset: int) -> Message:
        found = self.store.commit_log.get_message(offset, 4)
        if found is None:
            raise LifeError(f"{self.workload.name}: a record cannot be read")
        record = found.mapped_file.file.read(found.position, found.get_int(0))
        found.release()
        request = check_message_and_return_size(ByteBuffer(record), check_crc=True)
        return Message(request.topic, request.queue_id, request.consume_queue_offset, offset, request.tags_code,
                       tuple((request.keys or "").split()), record, request.store_timestamp)

    def _take_answers(self) -> None:
        left = []
        for future, messages in self._waiting:
            result = future.result()
            if result is None:
                left.append((future, messages))
            elif result.status is PutMessageStatus.PUT_OK:
                self.acknowledged.update(dict.fromkeys(messages, self.recorder.steps))
        self._waiting = left

    def _note_fates(self, *, cut: bool) -> None:
        """Which messages the operation has taken out of the log."""
        least, most = self.store.get_min_phy_offset(), self.store.get_max_phy_offset()
        for place, message in enumerate(self.messages):
            if place not in self.fates and not least <= message.offset < most:
                self.fates[place] = Fate(self.began[-1], self.recorder.steps, cut)
