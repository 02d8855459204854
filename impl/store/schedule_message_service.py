"""ScheduleMessageService: delayed messages wait in a queue of their level, and are put again when they are due."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from impl.common.byte_buffer import ByteBuffer
from impl.common.config_manager import load, parsed_json, persist
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_DELAY_TIME_LEVEL,
    PROPERTY_REAL_QUEUE_ID,
    PROPERTY_REAL_TOPIC,
    PROPERTY_WAIT_STORE_MSG_OK,
)
from impl.common.message_decoder import decode
from impl.decisions.consume_queue_units import is_ext_addr
from impl.decisions.java_errors import JavaError, JavaException, VirtualMachineError, not_null
from impl.decisions.java_text import parse_integer
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC, RMQ_SYS_TRANS_HALF_TOPIC
from impl.decisions.pull_answer import CQ_STORE_UNIT_SIZE
from impl.decisions.retry_level import (
    compute_deliver_timestamp,
    correct_delay_offset,
    correct_deliver_timestamp,
    delay_level_to_queue_id,
    offset_after_delivery,
    parse_delay_level,
    reset_delay_offset,
)
from impl.hash_map import ConcurrentHashMap
from impl.ports.disk import Disk
from impl.store.commit_log import CommitLog
from impl.store.consume_queue import ConsumeQueue, Unit, units_of
from impl.store.dispatch_request import DelayLevels
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.message_store_config import MessageStoreConfig
from impl.store.put_message_result import PutMessageFuture
from impl.store.put_message_status import PutMessageStatus

FIRST_DELAY_TIME_MS = 1_000
DELAY_FOR_A_WHILE_MS = 100
DELAY_FOR_A_PERIOD_MS = 10_000
FIRST_PERSIST_MS = 10_000
_TABLE_CAPACITY = 32


class StoreOfDelays(Protocol):
    """What the service asks its store."""

    disk: Disk
    config: MessageStoreConfig
    now_ms: Callable[[], int]
    commit_log: CommitLog

    def find_consume_queue(self, topic: str, queue_id: int) -> ConsumeQueue:
        """DefaultMessageStore#findConsumeQueue."""
        ...

    def async_put_message(self, message: MessageExtBrokerInner) -> PutMessageFuture:
        """DefaultMessageStore#asyncPutMessage."""
        ...


class ScheduleMessageService:
    """`store.schedule.ScheduleMessageService` with enableScheduleAsyncDeliver off, which is its default.

    The levels are those of `commit_log.delay_levels`; `load` sets them. offset_table -- level to the queue offset from
    which a start delivers. tasks -- one of each level while the service runs. A host with timers runs each of them
    first after FIRST_DELAY_TIME_MS, then after as long as it says; `persist` first after FIRST_PERSIST_MS, then every
    `flush_delay_offset_interval_ms`. A host that steps services steps `run_once`, every 100 ms.
    """

    def __init__(self, store: StoreOfDelays) -> None:
        """Know no level and no offset."""
        self.store = store
        self.offset_table: ConcurrentHashMap[int, int] = ConcurrentHashMap(_TABLE_CAPACITY)
        self.tasks: tuple[DeliverDelayedMessageTimerTask, ...] = ()
        self.started = False

    # Life -------------------------------------------------------------------------------------------------------------

    def load(self) -> bool:
        """ScheduleMessageService#load: the offsets of the file, the levels, and the offsets moved into their queues.

        False: the store does not load.
        """
        if not self._load_offsets():
            return False
        parsed, table, greatest = parse_delay_level(self.store.config.message_delay_level)
        self.store.commit_log.delay_levels = DelayLevels(table, greatest)
        return parsed and self._correct_delay_offset()

    def _load_offsets(self) -> bool:
        """ConfigManager#load."""
        return load(self.store.disk, self.store.config.delay_offset_store_path, self.decode)

    def _correct_delay_offset(self) -> bool:
        """ScheduleMessageService#correctDelayOffset: each offset lies in its queue afterwards."""
        try:
            for level in self.store.commit_log.delay_levels.table:
                queue, offset = self.queue(level), self.offset_table.get(level)
                if offset is not None:
                    self.offset_table.put(level, correct_delay_offset(
                        offset, queue.get_min_offset_in_queue(), queue.get_max_offset_in_queue()))
        except JavaError:
            return False
        return True

    def start(self) -> None:
        """ScheduleMessageService#start: load the file once more, over the offsets that were moved, and make the tasks.

        Nobody looks whether the file can be read.
        """
        if not self.started:
            self.started = True
            self._load_offsets()
            self.tasks = tuple(DeliverDelayedMessageTimerTask(self, level, self.offset_table.get(level, 0))
                               for level in self.store.commit_log.delay_levels.table)

    def shutdown(self) -> None:
        """ScheduleMessageService#shutdown: end the tasks, and write the file."""
        if self.started:
            self.started = False
            self.tasks = ()
            self.persist()

    def run_once(self) -> list[int]:
        """Run each task once, in the order of the levels; Java gives each a thread.

        A task that ends with an Error of Java's, as when the disk is full, is not run again: the levels of such.
        """
        before = self.tasks
        self.tasks = tuple(task for task in before if task.survives_run())
        return [task.level for task in before if task not in self.tasks]

    def queue(self, level: int) -> ConsumeQueue:
        """The queue of a level."""
        return self.store.find_consume_queue(RMQ_SYS_SCHEDULE_TOPIC, delay_level_to_queue_id(level))

    # The file ---------------------------------------------------------------------------------------------------------

    def persist(self) -> None:
        """ConfigManager#persist."""
        persist(self.store.disk, self.store.config.delay_offset_store_path, self.encode())

    def encode(self) -> str:
        """ScheduleMessageService#encode(true): delayOffset.json, as fastjson writes it: levels are not quoted."""
        entries = ",".join(f"{level}:{offset}" for level, offset in self.offset_table.entries())
        return f'{{\n\t"offsetTable":{{{entries}{chr(10) + chr(9) if entries else ""}}}\n}}'

    def decode(self, json_string: str) -> None:
        """ScheduleMessageService#decode: the offsets of the file take the place of those of the same levels.

        Raises IllegalArgumentError for a text that is no such file.
        """
        for level, offset in parsed_json(json_string).get("offsetTable", {}).items():
            self.offset_table.put(int(level), int(offset))


class DeliverDelayedMessageTimerTask:
    """`ScheduleMessageService.DeliverDelayedMessageTimerTask`: what is due in the queue of a level is put again.

    Java makes a new task for each look; here one goes on. offset -- the queue offset at which the next look begins.
    """

    def __init__(self, service: ScheduleMessageService, level: int, offset: int) -> None:
        """Begin at an offset."""
        self._service, self._store, self.level, self.offset = service, service.store, level, offset

    def survives_run(self) -> bool:
        """Run once; False: Java's executor drops the task, because it threw an Error."""
        try:
            self.run()
        except VirtualMachineError:
            return False
        return True

    def run(self) -> int:
        """DeliverDelayedMessageTimerTask#run: look once; after so many ms Java looks again.

        Raises what Java throws as an Error, and does not catch: VirtualMachineError.
        """
        try:
            for _ in self.look():
                pass
        except JavaException:
            return DELAY_FOR_A_PERIOD_MS
        return DELAY_FOR_A_WHILE_MS

    def look(self) -> Iterator[None]:
        """DeliverDelayedMessageTimerTask#executeOnTimeup: deliver what is due of the units up to the end of their file.

        One message a step: in Java the threads of other levels come between.
        """
        queue = self._service.queue(self.level)
        buffer = queue.get_index_buffer(self.offset)
        if buffer is None:
            self.offset = reset_delay_offset(
                self.offset, queue.get_min_offset_in_queue(), queue.get_max_offset_in_queue())
            return
        data = buffer.read()
        buffer.release()
        try:
            yield from self._deliver_due(units_of(data), len(data) // CQ_STORE_UNIT_SIZE)
        except JavaException:
            return  # Java logs it and begins with this unit again

    def _deliver_due(self, units: Iterator[Unit], count: int) -> Iterator[None]:
        """Go from unit to unit, of so many, up to the first that is not due or whose message is not taken."""
        start = self.offset
        for number, unit in enumerate(units):
            due_ms, now_ms = self._deliver_timestamp(unit), self._store.now_ms()
            self.offset = start + number
            if correct_deliver_timestamp(self.level, now_ms, due_ms, self._levels) > now_ms:
                return
            message = self._to_deliver(unit)
            if message is not None:
                if not self._deliver(message, start):
                    return
                yield
        self.offset = start + count

    @property
    def _levels(self) -> Mapping[int, int]:
        return self._store.commit_log.delay_levels.table

    def _deliver_timestamp(self, unit: Unit) -> int:
        """When the unit says that its message is due, in ms; without its extension file the record says it."""
        if not is_ext_addr(unit.tags_code):
            return unit.tags_code
        stored_ms = self._store.commit_log.pickup_store_timestamp(unit.offset, unit.size)
        return compute_deliver_timestamp(self.level, stored_ms, self._levels)

    def _to_deliver(self, unit: Unit) -> MessageExtBrokerInner | None:
        """The message of a unit, ready to be put; None for one that cannot be read, or is of the half topic."""
        message = self._look_message_by_offset(unit)
        inner = None if message is None else message_timeup(message)
        return None if inner is None or inner.topic == RMQ_SYS_TRANS_HALF_TOPIC else inner

    def _deliver(self, message: MessageExtBrokerInner, start: int) -> bool:
        """Put a message; False: it was not taken.

        After a delivery the table of offsets gets that behind the first unit of this look, whichever unit the message
        is of (V19).
        """
        result = self._store.async_put_message(message).result()
        delivered = result is not None and result.status is PutMessageStatus.PUT_OK
        if delivered:
            self._service.offset_table.put(self.level, offset_after_delivery(start))
        return delivered

    def _look_message_by_offset(self, unit: Unit) -> MessageExt | None:
        """DefaultMessageStore#lookMessageByOffset(offset, size)."""
        result = self._store.commit_log.get_message(unit.offset, unit.size)
        if result is None:
            return None
        record = result.read()
        result.release()
        return decode(ByteBuffer(record), read_body=True, decompress_body=False)


def message_timeup(message: MessageExt) -> MessageExtBrokerInner:
    """ScheduleMessageService#messageTimeup: a delayed message as it is put into the queue that it was sent to.

    Its properties are written as they were, the level included; the put looks for the level in the map, where it no
    longer is, and waits neither for the disk nor for a slave. Raises NullPointerError without topic or queue
    id, NumberFormatError for an id that is no number.
    """
    queue_id = not_null(message.get_property(PROPERTY_REAL_QUEUE_ID))
    inner = MessageExtBrokerInner(
        not_null(message.get_property(PROPERTY_REAL_TOPIC)), message.body, message.born_host, message.store_host,
        queue_id=parse_integer(queue_id, 32), flag=message.flag,
        sys_flag=message.sys_flag, born_timestamp=message.born_timestamp, reconsume_times=message.reconsume_times)
    for name, value in (message.properties or {}).items():
        inner.put_property(name, value)
    inner.write_properties()
    inner.put_property(PROPERTY_WAIT_STORE_MSG_OK, "false")
    inner.clear_property(PROPERTY_DELAY_TIME_LEVEL)
    return inner
