"""What a broker itself writes, made once more: half and op messages, commits, delayed messages and their deliveries.

The log of an image says who did what, and when. Each deed is done again on an empty store, by the part of the broker
that did it: then the log has the same records, and both offset files say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from impl.broker.broker_config import BrokerConfig
from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.broker.topic_config_manager import TopicConfigManager
from impl.broker.transaction.default_check_listener import DefaultTransactionalMessageCheckListener
from impl.broker.transaction.end_transaction_processor import EndTransactionProcessor
from impl.broker.transaction.transactional_message_bridge import CID_SYS_RMQ_TRANS, Tables, TransactionalMessageBridge
from impl.broker.transaction.transactional_message_service import TransactionalMessageServiceImpl
from impl.common.headers import EndTransactionRequestHeader
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_DELAY_TIME_LEVEL,
    PROPERTY_PRODUCER_GROUP,
    PROPERTY_REAL_QUEUE_ID,
    PROPERTY_REAL_TOPIC,
)
from impl.decisions.flags import (
    TRANSACTION_COMMIT_TYPE,
    TRANSACTION_PREPARED_TYPE,
    TRANSACTION_ROLLBACK_TYPE,
    get_transaction_value,
)
from impl.decisions.names import (
    RMQ_SYS_SCHEDULE_TOPIC,
    RMQ_SYS_TRANS_HALF_TOPIC,
    RMQ_SYS_TRANS_OP_HALF_TOPIC,
)
from impl.decisions.transaction_check import TRANSACTION_CHECK_MAX
from impl.ports.threads import UNINTERRUPTED, run_now
from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.schedule_message_service import ScheduleMessageService

_MADE_BY_BROKERS = {RMQ_SYS_SCHEDULE_TOPIC, RMQ_SYS_TRANS_HALF_TOPIC}
_NOT_MADE_AGAIN = {PROPERTY_REAL_TOPIC, PROPERTY_REAL_QUEUE_ID}


class Deliveries:
    """The threads of the delay levels, one message at a time."""

    def __init__(self, service: ScheduleMessageService) -> None:
        """Have delivered nothing."""
        self._service = service
        self._looks: dict[int, Iterator[None]] = {}

    def deliver(self, level: int) -> bool:
        """Let the thread of a level deliver its next message; False: nothing is due."""
        for _ in range(2):
            task = next((task for task in self._service.tasks if task.level == level), None)
            if task is None:
                return False
            look = self._looks.setdefault(level, task.look())
            for _ in look:
                return True
            del self._looks[level]
        return False

    def end_look(self, level: int) -> None:
        """Let the thread of a level deliver what is due now of what it looks at."""
        list(self._looks.pop(level, ()))

    def finish(self) -> None:
        """Let all threads deliver what is due now."""
        for level in list(self._looks):
            self.end_look(level)
        self._service.run_once()


class Deeds:
    """The parts of a broker on an empty store; `records` -- the log that is made again, by offset."""

    def __init__(
        self, records: Mapping[int, MessageExt], store_of: Callable[[Callable[[], int]], DefaultMessageStore],
    ) -> None:
        """Start; store_of -- makes the store, given its clock."""
        self._records, self._last = records, list(records.values())[-1]
        self._log_end: Callable[[], int] = int
        self.store = store_of(lambda: self._at_the_end().store_timestamp)
        if not (self.store.load() and self.store.start()):
            raise ValueError("an empty store does not start")
        self._log_end = self.store.get_max_phy_offset
        self.offsets = ConsumerOffsetManager(self.store.get_min_offset_in_queue)
        topics = TopicConfigManager(BrokerConfig("", ()), lambda: 0, lambda: None)
        self._bridge = TransactionalMessageBridge(
            Tables("", self.offsets, topics, _nothing), self.store, self._last.store_host,
            lambda: self._at_the_end().born_timestamp)
        self._service = TransactionalMessageServiceImpl(self._bridge)
        self._processor = EndTransactionProcessor(self.store, self._service)
        self.deliveries = Deliveries(self.store.schedule_message_service)

    def _at_the_end(self) -> MessageExt:
        """The record that comes next."""
        return self._records.get(self._log_end(), self._last)

    def do(self, message: MessageExt) -> None:
        """Do what has put this record."""
        if message.topic == RMQ_SYS_TRANS_OP_HALF_TOPIC:
            self._end(int(message.body or b""), TRANSACTION_ROLLBACK_TYPE)
        elif message.topic == RMQ_SYS_TRANS_HALF_TOPIC:
            self._service.async_prepare_message(_as_sent(message, TRANSACTION_PREPARED_TYPE))
        elif get_transaction_value(message.sys_flag) == TRANSACTION_COMMIT_TYPE:
            half = self._records[message.prepared_transaction_offset]
            self._end(half.queue_offset, TRANSACTION_COMMIT_TYPE)
        elif not self._delivered(message):
            self.store.async_put_message(_as_sent(message, 0))
        self.store.reput_message_service.do_reput()

    def _end(self, half_offset: int, how: int) -> None:
        half = next(one for one in self._records.values()
                    if one.topic == RMQ_SYS_TRANS_HALF_TOPIC and one.queue_offset == half_offset)
        group = half.get_property(PROPERTY_PRODUCER_GROUP) or ""
        header = EndTransactionRequestHeader(group, half_offset, half.commit_log_offset, how)
        self._processor.process_request(header, lambda _: None)

    def _delivered(self, message: MessageExt) -> bool:
        level = int(message.get_property(PROPERTY_DELAY_TIME_LEVEL) or 0)
        is_copy = message.topic == message.get_property(PROPERTY_REAL_TOPIC)
        return is_copy and level > 0 and self.deliveries.deliver(level)

    def check(self, timeout_ms: int) -> dict[str, int]:
        """One round of the check of half messages: topic to how far it has come there."""
        listener = DefaultTransactionalMessageCheckListener(self._bridge, lambda *_: None, _nothing)
        run_now(self._service.check(timeout_ms, TRANSACTION_CHECK_MAX, listener, UNINTERRUPTED))
        return checked(self.offsets)


async def _nothing(*_: object) -> None:
    """Registers no topic, and makes none."""


def is_made_by_broker(records: Mapping[int, MessageExt]) -> bool:
    """Whether a whole log has something that a broker puts by itself."""
    return 0 in records and any(message.topic in _MADE_BY_BROKERS for message in records.values())


def checked(offsets: ConsumerOffsetManager) -> dict[str, int]:
    """How far the check of half messages has come: topic to offset."""
    found = ((topic, offsets.query_offset(CID_SYS_RMQ_TRANS, topic, 0))
             for topic in (RMQ_SYS_TRANS_HALF_TOPIC, RMQ_SYS_TRANS_OP_HALF_TOPIC))
    return {topic: offset for topic, offset in found if offset != -1}


def _as_sent(message: MessageExt, transaction_type: int) -> MessageExtBrokerInner:
    """A message as its producer sent it, before the broker put it somewhere else."""
    is_elsewhere = message.topic in _MADE_BY_BROKERS
    topic = message.get_property(PROPERTY_REAL_TOPIC) if is_elsewhere else message.topic
    queue_id = int(message.get_property(PROPERTY_REAL_QUEUE_ID) or 0) if is_elsewhere else message.queue_id
    sent = MessageExtBrokerInner(
        topic or "", message.body, message.born_host, message.store_host, queue_id=queue_id, flag=message.flag,
        sys_flag=message.sys_flag | transaction_type, born_timestamp=message.born_timestamp,
        reconsume_times=message.reconsume_times)
    for name, value in (message.properties or {}).items():
        if not (is_elsewhere and name in _NOT_MADE_AGAIN):
            sent.put_property(name, value)
    sent.write_properties()
    return sent
