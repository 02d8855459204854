"""Applications that send messages with producers of all kinds, and note what they are answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import shake_256
from typing import Any, TypeVar

from impl.client.client_config import ClientConfig
from impl.client.client_errors import ClientErrorCode, response_code_of
from impl.client.default_mq_producer import DefaultMQProducer
from impl.client.mq_client_manager import MQClientManager
from impl.client.producer_config import ProducerConfig
from impl.client.send_result import SendCallback, SendResult, SendStatus
from impl.client.transaction_mq_producer import TransactionMQProducer
from impl.common.message_const import (
    PROPERTY_CHECK_IMMUNITY_TIME_IN_SECONDS,
    PROPERTY_DELAY_TIME_LEVEL,
    PROPERTY_TAGS,
)
from impl.common.message_to_send import Message
from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from impl.events import QueueChosen, SendAsked, SendTold
from impl.hosts.simulation.node import Node
from invariants.histories.operations import ACKNOWLEDGED, FAILED, SEND, UNKNOWN
from stateful_tests.worlds.contents import content_of, in_namespace
from stateful_tests.worlds.notes import Notes
from stateful_tests.worlds.selectors import ByHash, FirstQueues
from stateful_tests.worlds.transactions import Decided, Transactions

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
"""MessageStoreConfig#messageDelayLevel: how long the first levels are; 0: a message is not delayed.
Of brokers that know no others each greater level is the last one."""

SYNC, ASYNC, ONEWAY, TOGETHER, ORDERED, IN_TRANSACTION = (
    "sync", "async", "oneway", "batch", "ordered", "transaction")
TO, TO_ASYNC, TO_ONEWAY, TOGETHER_TO = "to", "to async", "to oneway", "batch to"
SELECTED, SELECTED_ASYNC, SELECTED_ONEWAY = "selected", "selected async", "selected oneway"
TOGETHER_ASYNC, ILLEGAL = "batch async", "illegal"
FEW = 2
"""How many queues of each broker an application selects from."""
ILLEGAL_TOPICS, ILLEGAL_BODIES = ("", "a b", "x" * 128, RMQ_SYS_SCHEDULE_TOPIC), (None, 0, 24_001)
"""Topics, and how long bodies are, that no broker is to hear of."""
LONGEST = ProducerConfig("P", max_message_size=24_000)
NOTHING_TRIED = {ClientErrorCode.NO_NAME_SERVER_EXCEPTION, ClientErrorCode.NOT_FOUND_TOPIC_EXCEPTION}
"""The codes of which an application knows that nothing was sent to any broker."""


PLAIN = ProducerConfig("P")
Way = Callable[[int], Coroutine[Any, Any, None]]
"""Sends the message, or the messages, of a number."""
_Choice = TypeVar("_Choice")


@dataclass(frozen=True)
class Sending:
    """What a process sends.

    topic -- to which. kinds -- how, in turn, one after another every SEND_EVERY_MS; ordered messages have a thread for
    each of keys. queues -- the application chooses among so many queues of each broker, and sends SYNC; None: its
    producer does. config -- of the producer. immunity_seconds -- for so long nobody is to be
    asked about a half message; None: as its broker is configured. transaction_ms -- how long its local transaction
    takes: what is shown before it has ended has time to be delivered. tags -- of which each message has one.
    delay_levels -- the same; 0: the message is not delayed. namespace -- of its client; empty: none. queue_nums -- how
    many queues its topic is to have at a broker that makes it; None: it is there. known -- queues that the application
    sends to without asking. properties -- that each message has. half_delay_level -- which half messages have, in vain.
    undecided -- of some transactions nobody ever knows what became of them. rests -- after so many sends nothing is
    sent for so long (ms); None: never. body_bytes -- how long a message may be, at most 256 lengths. padding -- so many
    zeros follow: it is long for who is given it, and short for brokers, for it is compressed. keys -- what ordered
    messages are about.
    """

    topic: str
    kinds: tuple[str, ...] = (SYNC,)
    queues: int | None = None
    config: ProducerConfig = PLAIN
    immunity_seconds: int | None = None
    transaction_ms: int = 0
    tags: tuple[str, ...] = ()
    delay_levels: tuple[int, ...] = ()
    namespace: str = ""
    queue_nums: int | None = None
    known: tuple[MessageQueue, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    half_delay_level: int = 0
    undecided: bool = False
    rests: tuple[int, int] | None = None
    body_bytes: Sequence[int] = BODY_BYTES
    padding: int = 0
    keys: tuple[str, ...] = KEYS

    @property
    def full_topic(self) -> str:
        """The topic as brokers and consumers call it."""
        return self.full(self.topic)

    def full(self, name: str) -> str:
        """A topic or a group as brokers and consumers call it."""
        return in_namespace(self.namespace, name)


class Producer:
    """A process that sends, and notes it; it never sends a message twice.

    sent -- how many sends it has begun.
    """

    def __init__(
        self, node: Node, namesrv_addrs: tuple[str, ...], sending: Sending, notes: Notes,
        decided: Decided, clients: tuple[MQClientManager, ClientConfig] | None = None,
    ) -> None:
        """Send nothing yet.

        decided -- what became of transactions. clients -- those of its process, and their configuration, if it has any.
        """
        self.node, self.sending, self._notes = node, sending, notes
        manager, client_config = clients or (
            MQClientManager(node), ClientConfig(namesrv_addrs, node.name, namespace=sending.namespace or None))
        self._group = sending.full(sending.config.producer_group)
        self._transactions = Transactions(node, notes, decided, sending.transaction_ms, self._group, sending.namespace,
                                          undecided=sending.undecided)
        self._clients = manager, client_config
        self.transactional = self._made()
        self.producer: DefaultMQProducer = self.transactional
        self.sent = 0
        self._how = self._ways()

    def _made(self) -> TransactionMQProducer:
        return TransactionMQProducer(self.node, *self._clients, self.sending.config, self._transactions)

    def _ways(self) -> dict[str, Way]:
        """How messages are sent, by the kind."""
        return {SYNC: self._sync, ASYNC: self._async, ONEWAY: self._oneway, TOGETHER: self._batch,
                IN_TRANSACTION: self._in_transaction, TO: self._to, TO_ASYNC: self._to_async,
                TO_ONEWAY: self._to_oneway, TOGETHER_TO: self._batch_to, SELECTED: self._selected,
                SELECTED_ASYNC: self._selected_async, SELECTED_ONEWAY: self._selected_oneway,
                TOGETHER_ASYNC: self._batch_async, ILLEGAL: self._illegal}

    async def run(self) -> None:
        """Send for as long as the process lives; nobody waits for an answer."""
        await self.producer.start()
        if ORDERED in self.sending.kinds:
            for key in self.sending.keys:
                self.node.start_thread(f"sender of {key}", self._in_order(key))
        kinds = tuple(kind for kind in self.sending.kinds if kind != ORDERED)
        while kinds:
            await self.node.sleep(SEND_EVERY_MS + self._rest_ms())
            number, self.sent = self.sent, self.sent + 1
            how = self._chosen if self.sending.queues is not None else self._how[kinds[number % len(kinds)]]
            self.node.start_thread("sender", how(number))

    def _rest_ms(self) -> int:
        """For how long nothing is sent before the next message."""
        sends, rest_ms = self.sending.rests or (1, 0)
        return rest_ms if self.sent and self.sent % sends == 0 else 0

    def _message(self, key: str | None = None, *, half: bool = False) -> Message:
        """A message whose body cannot be compressed, but for its padding; its id is made now, to be noted."""
        length = self._drawn(self.sending.body_bytes, "how long a message is") or 0
        message = Message(self.sending.topic, b"", keys=key or "")
        self.producer.impl.kernel.set_uniq_id(message)
        uniq_id = message.uniq_id or ""
        message.body, message.flag = shake_256(uniq_id.encode()).digest(length) + bytes(self.sending.padding), length
        tag, level = self._drawn(self.sending.tags, "which tag"), self._drawn(self.sending.delay_levels, "how long")
        for name, value in self.sending.properties:
            message.put_property(name, value)
        if tag is not None:
            message.put_property(PROPERTY_TAGS, tag)
        if level:
            message.put_property(PROPERTY_DELAY_TIME_LEVEL, str(level))
        self._notes.note(SEND, self.node.name, uniq_id, key=key, half=half or None, tag=tag,
                         delay_ms=DELAYS_MS[min(level or 0, len(DELAYS_MS) - 1)] or None)
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
        message, selector = self._message(), FirstQueues(self.sending.queues or 1, self._choose)
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
        self.node.trace(SendTold(self._group, _joined([message])))

    def _choose(
        self, message: Message, mq: MessageQueue, about: str = "", listed: Sequence[MessageQueue] = (),
    ) -> None:
        self.node.trace(QueueChosen(self._group, message.uniq_id or "", mq, about, tuple(listed)))

    # To queues that the application knows, or selects -----------------------------------------------------------------

    def _to_known(self, number: int) -> tuple[Message, MessageQueue]:
        message, mq = self._message(), self.sending.known[number % len(self.sending.known)]
        self._choose(message, mq)
        return message, mq

    async def _to(self, number: int) -> None:
        message, mq = self._to_known(number)
        await self._noted([message], partial(self.producer.send_to, message, mq))

    async def _batch_to(self, number: int) -> None:
        messages, mq = [self._message() for _ in range(BATCH)], self.sending.known[number % len(self.sending.known)]
        queue = mq._replace(topic=self.sending.full(mq.topic))
        self.node.trace(QueueChosen(self._group, _joined(messages), mq))
        await self._noted(messages, partial(self.producer.send_batch_to, messages, queue))

    async def _to_async(self, number: int) -> None:
        message, mq = self._to_known(number)
        self._called_back([message], partial(self.producer.send_async_to, message, mq))

    async def _to_oneway(self, number: int) -> None:
        message, mq = self._to_known(number)
        await self._unanswered(message, partial(self.producer.send_oneway_to, message, mq))

    async def _selected(self, number: int) -> None:
        message, selector = self._message(), FirstQueues(FEW, self._choose)
        await self._noted([message], partial(self.producer.send_select, message, selector, number))

    async def _selected_async(self, number: int) -> None:
        message, selector = self._message(), FirstQueues(FEW, self._choose)
        self._called_back([message], partial(self.producer.send_select_async, message, selector, number))

    async def _selected_oneway(self, number: int) -> None:
        message, selector = self._message(), FirstQueues(FEW, self._choose)
        await self._unanswered(message, partial(self.producer.send_oneway_select, message, selector, number))

    async def _batch_async(self, _: int) -> None:
        messages = [self._message() for _ in range(BATCH)]
        self._called_back(messages, partial(self.producer.send_batch_async, messages))

    async def _illegal(self, number: int) -> None:
        """A message that no broker is to hear of, in each of three ways."""
        message, (way, what) = self._message(), divmod(number, len(ILLEGAL_TOPICS) + len(ILLEGAL_BODIES))
        if what < len(ILLEGAL_TOPICS):
            message.topic = ILLEGAL_TOPICS[what]
        else:
            length = ILLEGAL_BODIES[what - len(ILLEGAL_TOPICS)]
            message.body = None if length is None else bytes(length)
        if way % 3 == 0:
            await self._noted([message], partial(self.producer.send, message), legal=False)
        elif way % 3 == 1:
            self._called_back([message], partial(self.producer.send_async, message), legal=False)
        else:
            await self._unanswered(message, partial(self.producer.send_oneway, message), legal=False)

    async def _unanswered(
        self, message: Message, send: Callable[[], Awaitable[None]], *, legal: bool = True,
    ) -> None:
        self._notes.note(UNKNOWN, self.node.name, message.uniq_id)
        self._ask([message], 1, legal=legal)
        with suppress(JavaError):
            await send()
        self.node.trace(SendTold(self._group, _joined([message])))

    def _called_back(
        self, messages: Sequence[Message], send: Callable[[SendCallback], None], *, legal: bool = True,
    ) -> None:
        attempts = 1 + self.sending.config.retry_times_when_send_async_failed
        self._ask(messages, attempts, asynchronous=True, legal=legal)
        try:
            send(Outcome(self, messages))
        except JavaError as error:
            self.failed(messages, error)

    async def _in_order(self, key: str) -> None:
        """One message of a key after the other, each into the queue that its key has in the list of that moment."""
        selector = ByHash(self._choose)
        while True:
            await self.node.sleep(SEND_EVERY_MS)
            message = self._message(key)
            await self._noted([message], partial(self.producer.send_select, message, selector, key), key)

    async def _in_transaction(self, _: int) -> None:
        message = self._message(half=True)
        if self.sending.immunity_seconds is not None:
            message.put_property(PROPERTY_CHECK_IMMUNITY_TIME_IN_SECONDS, str(self.sending.immunity_seconds))
        if self.sending.half_delay_level:
            message.put_property(PROPERTY_DELAY_TIME_LEVEL, str(self.sending.half_delay_level))
        key = message.uniq_id or ""
        self._transactions.begin(key)
        self._ask([message], self._attempts, half=True)
        try:
            result = await self.transactional.send_message_in_transaction(message)
        except JavaError as error:
            self._transactions.failed(key)
            self.failed([message], error)
            return
        if result.send_status is not SendStatus.SEND_OK:
            self._transactions.failed(key)
        self.succeeded([message], result, half=True, transaction=result.local_transaction_state.name)

    # Outcomes ---------------------------------------------------------------------------------------------------------

    async def _noted(
        self, messages: Sequence[Message], send: Callable[[], object], key: str | None = None, *, attempts: int = 1,
        legal: bool = True,
    ) -> None:
        self._ask(messages, attempts, legal=legal)
        try:
            result = await send()  # type: ignore[misc]  # a coroutine function of the producer
        except JavaError as error:
            self.failed(messages, error)
        else:
            self.succeeded(messages, result, key)

    def _ask(
        self, messages: Sequence[Message], attempts: int, *, asynchronous: bool = False, legal: bool = True,
        half: bool = False,
    ) -> None:
        """Report that messages are about to be sent together; attempts -- how many requests there may be."""
        timeout_ms = self.sending.config.send_msg_timeout_ms
        self.node.trace(SendAsked(
            self._group, _joined(messages), self.sending.full_topic, attempts, timeout_ms, self._contents(messages),
            asynchronous, self.node.now_ms(), legal, half, self.sending.queue_nums,
            self.sending.config.retry_another_broker_when_not_store_ok and not asynchronous))

    def _contents(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """What consumers are to be given."""
        return tuple(content_of(message, self.sending.namespace) for message in messages)

    def failed(self, messages: Sequence[Message], error: JavaError) -> None:
        """Note it; most exceptions do not say whether a message is stored."""
        self.node.trace(SendTold(self._group, _joined(messages)))
        certain = response_code_of(error) in NOTHING_TRIED
        for message in messages:
            self._notes.note(FAILED if certain else UNKNOWN, self.node.name, message.uniq_id)

    def succeeded(
        self, messages: Sequence[Message], result: SendResult, key: str | None = None, *, half: bool = False,
        transaction: str = "",
    ) -> None:
        """Note it; another status than SEND_OK says only that the master has it in memory.

        transaction -- what the result says of a half message.
        """
        self.node.trace(SendTold(
            self._group, _joined(messages), result.send_status.name, result.msg_id, result.message_queue,
            result.queue_offset, self._contents(messages) if len(messages) == 1 else (),
            None if half else result.offset_msg_id or "", transaction))
        for number, message in enumerate(messages):
            if result.send_status is not SendStatus.SEND_OK:
                self._notes.note(UNKNOWN, self.node.name, message.uniq_id)
                continue
            mq = None if half else result.message_queue._replace(topic=self.sending.full_topic)  # it is elsewhere
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
