"""Applications that send messages with producers of all kinds, and note what they are answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import shake_256
from typing import TypeVar

from impl.client.client_config import ClientConfig
from impl.client.client_errors import ClientErrorCode, response_code_of
from impl.client.default_mq_producer import DefaultMQProducer
from impl.client.message_queue_selectors import SelectMessageQueueByHash
from impl.client.mq_client_manager import MQClientManager
from impl.client.producer_config import ProducerConfig
from impl.client.send_result import LocalTransactionState, SendResult, SendStatus
from impl.client.transaction_mq_producer import TransactionMQProducer
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_CHECK_IMMUNITY_TIME_IN_SECONDS,
    PROPERTY_DELAY_TIME_LEVEL,
    PROPERTY_TAGS,
    PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX,
)
from impl.common.message_to_send import Message
from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from impl.events import SendAsked, SendTold
from impl.hosts.simulation.node import Node
from invariants.histories.operations import ACKNOWLEDGED, COMMITTED_HALF, FAILED, ROLLED_BACK, SEND, UNKNOWN
from stateful_tests.worlds.contents import content_of
from stateful_tests.worlds.notes import Notes

SEND_EVERY_MS = 500
BODY_BYTES = (100, 1_500, 6_000)
"""How long a message may be: a part of a page, and more than one."""
BATCH = 3
"""How many messages are sent together."""
KEYS = ("red", "green", "blue")
"""What ordered messages are about."""
TAGS = ("violet", "green", "blue")
"""The tags of messages. The hash of the first one is less than 0."""
DELAYS_MS = (0, 1_000, 5_000, 10_000, 30_000)
"""MessageStoreConfig#messageDelayLevel: how long the first levels are; 0: a message is not delayed."""

SYNC, ASYNC, ONEWAY, TOGETHER, ORDERED, IN_TRANSACTION = (
    "sync", "async", "oneway", "batch", "ordered", "transaction")
COMMIT, ROLLBACK, UNKNOW = (
    LocalTransactionState.COMMIT_MESSAGE, LocalTransactionState.ROLLBACK_MESSAGE, LocalTransactionState.UNKNOW)
_UNDECIDED = 3
"""What is drawn for a transaction of which nobody knows."""
NOTHING_TRIED = {ClientErrorCode.NO_NAME_SERVER_EXCEPTION, ClientErrorCode.NOT_FOUND_TOPIC_EXCEPTION}
"""The codes of which an application knows that nothing was sent to any broker."""


Decided = dict[str, LocalTransactionState | Node]
"""What has become of each transaction, or the process that runs it."""
PLAIN = ProducerConfig("P")
_Choice = TypeVar("_Choice")


@dataclass(frozen=True)
class Sending:
    """What a process sends.

    topic -- to which. kinds -- how, in turn, one after another every SEND_EVERY_MS; ordered messages have a thread for
    each of KEYS. queues -- the application chooses among so many queues of each broker, and sends SYNC; None: its
    producer does. config -- of the producer. immunity_seconds -- for so long nobody is to be
    asked about a half message; None: as its broker is configured. transaction_ms -- how long its local transaction
    takes: what is shown before it has ended has time to be delivered. tags -- of which each message has one.
    delay_levels -- the same; 0: the message is not delayed. undecided -- of some transactions nobody ever knows what
    became of them.
    """

    topic: str
    kinds: tuple[str, ...] = (SYNC,)
    queues: int | None = None
    config: ProducerConfig = PLAIN
    immunity_seconds: int | None = None
    transaction_ms: int = 0
    tags: tuple[str, ...] = ()
    delay_levels: tuple[int, ...] = ()
    undecided: bool = False


class FirstQueues:
    """A MessageQueueSelector that takes the first queues of each broker in turn."""

    def __init__(self, queues: int) -> None:
        """So many of each."""
        self.queues = queues

    def select(self, mqs: Sequence[MessageQueue], msg: Message, arg: int) -> MessageQueue:
        """The next one; arg -- the number of the message."""
        del msg
        brokers = sorted({mq.broker_name for mq in mqs})
        turn, at = divmod(arg, len(brokers))
        return MessageQueue(mqs[0].topic, brokers[at], turn % self.queues)


class Transactions:
    """The database of applications that send in transactions: what became of each, by the id of its message.

    It outlives their processes. A transaction that runs, or is to be run, is UNKNOW, and one whose process has ended
    meanwhile is rolled back.
    """

    def __init__(self, node: Node, notes: Notes, decided: Decided, sending: Sending) -> None:
        """Decide for a process; decided -- the database. sending -- how long a transaction takes, and how it ends."""
        self.node, self._notes, self._decided, self._sending = node, notes, decided, sending

    async def execute_local_transaction(self, msg: Message, arg: object) -> LocalTransactionState:
        """See TransactionListener: commit, roll back, or commit or roll back and say that nobody knows."""
        del arg
        await self.node.sleep(self._sending.transaction_ms)
        choice = self.node.random(4, "what becomes of a transaction")
        state, key = (ROLLBACK if choice % 2 else COMMIT), msg.uniq_id or ""
        if self._sending.undecided and choice == _UNDECIDED:
            self._decided[key] = UNKNOW
            return UNKNOW
        self._decided[key] = state
        self._notes.note(COMMITTED_HALF if state is COMMIT else ROLLED_BACK, self.node.name, key)
        return state if choice < 2 else UNKNOW  # noqa: PLR2004  # the second half says that it does not know

    async def check_local_transaction(self, msg: MessageExt) -> LocalTransactionState:
        """See TransactionListener."""
        key = msg.get_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX) or ""
        found = self._decided.get(key, ROLLBACK)
        if not isinstance(found, LocalTransactionState):
            if found.alive:
                return UNKNOW
            self._notes.note(ROLLED_BACK, self.node.name, key)
            found = self._decided[key] = ROLLBACK
        return found

    def begin(self, key: str) -> None:
        """The message is about to be sent."""
        self._decided[key] = self.node

    def failed(self, key: str) -> None:
        """The message could not be sent, or nobody knows: the transaction is not run."""
        self._decided[key] = ROLLBACK


class Producer:
    """A process that sends, and notes it; it never sends a message twice.

    sent -- how many sends it has begun.
    """

    def __init__(
        self, node: Node, namesrv_addrs: tuple[str, ...], sending: Sending, notes: Notes,
        decided: Decided,
    ) -> None:
        """Send nothing yet; decided -- what became of transactions."""
        self.node, self.sending, self._notes = node, sending, notes
        client_config, manager = ClientConfig(namesrv_addrs, node.name), MQClientManager(node)
        self._transactions = Transactions(node, notes, decided, sending)
        self.transactional = TransactionMQProducer(
            node, manager, client_config, sending.config, self._transactions)
        self.producer: DefaultMQProducer = self.transactional
        self.sent = 0
        self._how = {SYNC: self._sync, ASYNC: self._async, ONEWAY: self._oneway, TOGETHER: self._batch,
                     IN_TRANSACTION: self._in_transaction}

    async def run(self) -> None:
        """Send for as long as the process lives; nobody waits for an answer."""
        await self.producer.start()
        if ORDERED in self.sending.kinds:
            for key in KEYS:
                self.node.start_thread(f"sender of {key}", self._in_order(key))
        kinds = tuple(kind for kind in self.sending.kinds if kind != ORDERED)
        while kinds:
            await self.node.sleep(SEND_EVERY_MS)
            number, self.sent = self.sent, self.sent + 1
            how = self._chosen if self.sending.queues is not None else self._how[kinds[number % len(kinds)]]
            self.node.start_thread("sender", how(number))

    def _message(self, key: str | None = None, *, half: bool = False) -> Message:
        """A message whose body does not get shorter when it is compressed; its id is made now, to be noted."""
        length = BODY_BYTES[self.node.random(len(BODY_BYTES), "how long a message is")]
        message = Message(self.sending.topic, b"", keys=key or "")
        self.producer.impl.kernel.set_uniq_id(message)
        uniq_id = message.uniq_id or ""
        message.body, message.flag = shake_256(uniq_id.encode()).digest(length), length
        tag, level = self._drawn(self.sending.tags, "which tag"), self._drawn(self.sending.delay_levels, "how long")
        if tag is not None:
            message.put_property(PROPERTY_TAGS, tag)
        if level:
            message.put_property(PROPERTY_DELAY_TIME_LEVEL, str(level))
        self._notes.note(SEND, self.node.name, uniq_id, key=key, half=half or None, tag=tag,
                         delay_ms=DELAYS_MS[level or 0] or None)
        return message

    def _drawn(self, choices: Sequence[_Choice], what: str) -> _Choice | None:
        return choices[self.node.random(len(choices), what)] if choices else None

    # How --------------------------------------------------------------------------------------------------------------

    async def _sync(self, _: int) -> None:
        message = self._message()
        await self._noted([message], partial(self.producer.send, message), attempts=self._attempts)

    @property
    def _attempts(self) -> int:
        """How many requests there may be for a message whose queue the producer chooses."""
        return 1 + self.sending.config.retry_times_when_send_failed

    async def _chosen(self, number: int) -> None:
        message, selector = self._message(), FirstQueues(self.sending.queues or 1)
        await self._noted([message], partial(self.producer.send_select, message, selector, number))

    async def _batch(self, _: int) -> None:
        messages = [self._message() for _ in range(BATCH)]
        await self._noted(messages, partial(self.producer.send_batch, messages), attempts=self._attempts)

    async def _async(self, _: int) -> None:
        message = self._message()
        self._ask([message], 1 + self.sending.config.retry_times_when_send_async_failed, asynchronous=True)
        try:
            self.producer.send_async(message, Outcome(self, [message]))
        except JavaError as error:
            self.failed([message], error)

    async def _oneway(self, _: int) -> None:
        message = self._message()
        self._notes.note(UNKNOWN, self.node.name, message.uniq_id)
        self._ask([message], 1)
        with suppress(JavaError):
            await self.producer.send_oneway(message)
        self.node.trace(SendTold(self.producer.config.producer_group, _joined([message])))

    async def _in_order(self, key: str) -> None:
        """One message of a key after the other, each into the queue that its key has in the list of that moment."""
        selector = SelectMessageQueueByHash()
        while True:
            await self.node.sleep(SEND_EVERY_MS)
            message = self._message(key)
            await self._noted([message], partial(self.producer.send_select, message, selector, key), key)

    async def _in_transaction(self, _: int) -> None:
        message = self._message(half=True)
        if self.sending.immunity_seconds is not None:
            message.put_property(PROPERTY_CHECK_IMMUNITY_TIME_IN_SECONDS, str(self.sending.immunity_seconds))
        key = message.uniq_id or ""
        self._transactions.begin(key)
        self._ask([message], self._attempts)
        try:
            result = await self.transactional.send_message_in_transaction(message)
        except JavaError as error:
            self._transactions.failed(key)
            self.failed([message], error)
            return
        if result.send_status is not SendStatus.SEND_OK:
            self._transactions.failed(key)
        self.succeeded([message], result, half=True)

    # Outcomes ---------------------------------------------------------------------------------------------------------

    async def _noted(
        self, messages: Sequence[Message], send: Callable[[], object], key: str | None = None, *, attempts: int = 1,
    ) -> None:
        self._ask(messages, attempts)
        try:
            result = await send()  # type: ignore[misc]  # a coroutine function of the producer
        except JavaError as error:
            self.failed(messages, error)
        else:
            self.succeeded(messages, result, key)

    def _ask(self, messages: Sequence[Message], attempts: int, *, asynchronous: bool = False) -> None:
        """Report that messages are about to be sent together; attempts -- how many requests there may be."""
        config, contents = self.producer.config, tuple(map(content_of, messages))
        self.node.trace(SendAsked(config.producer_group, _joined(messages), self.sending.topic, attempts,
                                  config.send_msg_timeout_ms, contents, asynchronous))

    def failed(self, messages: Sequence[Message], error: JavaError) -> None:
        """Note it; most exceptions do not say whether a message is stored."""
        self.node.trace(SendTold(self.producer.config.producer_group, _joined(messages)))
        certain = response_code_of(error) in NOTHING_TRIED
        for message in messages:
            self._notes.note(FAILED if certain else UNKNOWN, self.node.name, message.uniq_id)

    def succeeded(
        self, messages: Sequence[Message], result: SendResult, key: str | None = None, *, half: bool = False,
    ) -> None:
        """Note it; another status than SEND_OK says only that the master has it in memory."""
        self.node.trace(SendTold(
            self.producer.config.producer_group, _joined(messages), result.send_status.name, result.msg_id,
            result.message_queue, result.queue_offset))
        for number, message in enumerate(messages):
            if result.send_status is not SendStatus.SEND_OK:
                self._notes.note(UNKNOWN, self.node.name, message.uniq_id)
                continue
            mq = None if half else result.message_queue  # consumers find it elsewhere
            offset = None if half else result.queue_offset + number
            self._notes.note(ACKNOWLEDGED, self.node.name, message.uniq_id, mq=mq, offset=offset, key=key)


def _joined(messages: Sequence[Message]) -> str:
    return ",".join(message.uniq_id or "" for message in messages)


class Outcome:
    """The SendCallback of an asynchronous send."""

    def __init__(self, producer: Producer, messages: Sequence[Message]) -> None:
        """Note what becomes of these messages."""
        self._producer, self._messages = producer, messages

    def on_success(self, result: SendResult) -> None:
        """See SendCallback."""
        self._producer.succeeded(self._messages, result)

    def on_exception(self, error: JavaError) -> None:
        """See SendCallback."""
        self._producer.failed(self._messages, error)


ALL_KINDS = Sending("", (SYNC, ASYNC, ONEWAY, TOGETHER))
"""Every kind whose queue the producer chooses."""


def latency_aware(sending: Sending) -> Sending:
    """The same, by a producer that shuns brokers that were slow."""
    return replace(sending, config=replace(sending.config, send_latency_fault_enable=True))
