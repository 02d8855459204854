"""Planted bugs of producers (group PR of known bugs), and of transactions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from copy import copy

from impl.broker import send_message_processor
from impl.broker.reported_message_store import ReportedMessageStore
from impl.broker.transaction.end_transaction_processor import EndTransactionProcessor
from impl.broker.transactions import Transactions
from impl.client.message_queue_selectors import SelectMessageQueueByHash
from impl.client.mq_fault_strategy import MQFaultStrategy
from impl.client.send_message_api import AsyncSend, SendMessageAPI
from impl.client.send_result import LocalTransactionState, SendResult
from impl.client.topic_publish_info import PickedQueue, TopicPublishInfo
from impl.client.transaction_mq_producer import TransactionMQProducerImpl
from impl.common.headers import SendMessageResponseHeader
from impl.common.message_to_send import Message
from impl.common.request_code import ResponseCode
from impl.decisions import queue_selection
from impl.decisions.flags import (
    TRANSACTION_COMMIT_TYPE,
    TRANSACTION_NOT_TYPE,
    TRANSACTION_ROLLBACK_TYPE,
    reset_transaction_value,
)
from impl.decisions.java_arithmetic import absolute32, remainder
from impl.decisions.java_errors import JavaError, NullPointerError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.queue_selection import plain_position
from impl.ports.remoting import Command
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.put_message_result import PutMessageFuture, PutMessageResult
from impl.store.store_tables import StoreTables
from impl.variants.variant import Variant, around, replace

_LONG_BYTES = 4_000
Executed = tuple[LocalTransactionState, JavaError | None]


@around(MQFaultStrategy, "select_one_message_queue")
def _only_the_last_broker(original: Callable[..., PickedQueue]) -> Callable[..., PickedQueue]:
    def select_one_message_queue(
        self: MQFaultStrategy, info: TopicPublishInfo, last_broker_name: str | None,
    ) -> PickedQueue:
        """With latency fault tolerance a retry takes a queue of the broker that has failed."""
        queues = info.message_queue_list
        place = next((at for at, mq in enumerate(queues) if mq.broker_name == last_broker_name), None)
        if not self.send_latency_fault_enable or place is None:
            return original(self, info, last_broker_name)
        return PickedQueue(queues, place)

    return select_one_message_queue


@replace(queue_selection, "position")
def _without_a_guard(index: int, size: int) -> int:
    """The absolute value of the least int is negative, and so is the position."""
    return remainder(absolute32(index), size)


@replace(queue_selection, "avoiding_position")
def _one_round_only(index: int, size: int, avoided: Callable[[int], bool]) -> tuple[int, int]:
    """A topic whose queues all are at the last broker has none for a retry."""
    for _ in range(size):
        index, place = plain_position(index, size)
        if not avoided(place):
            return index, place
    raise NullPointerError


@around(MQFaultStrategy, "select_one_message_queue")
def _avoid_nothing(original: Callable[..., PickedQueue]) -> Callable[..., PickedQueue]:
    def select_one_message_queue(
        self: MQFaultStrategy, info: TopicPublishInfo, last_broker_name: str | None,
    ) -> PickedQueue:
        """Nobody is told which broker was tried last."""
        del last_broker_name
        return original(self, info, None)

    return select_one_message_queue


@around(SendMessageAPI, "_on_exception")
def _no_retry_without_a_connection(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def _on_exception(
        self: SendMessageAPI, broker_name: str, timeout_ms: int, send: AsyncSend, error: JavaError, *,
        need_retry: bool,
    ) -> None:
        """What the call itself raises ends the send."""
        connected = not error.java_class.endswith("RemotingConnectException")
        await original(self, broker_name, timeout_ms, send, error, need_retry=need_retry and connected)

    return _on_exception


@around(EndTransactionProcessor, "process_request")
def _commit_what_was_rolled_back(original: Callable[..., None]) -> Callable[..., None]:
    def process_request(self: EndTransactionProcessor, header: object, respond: object) -> None:
        """Whoever ends a transaction commits it."""
        if header.commit_or_rollback == TRANSACTION_ROLLBACK_TYPE:  # type: ignore[attr-defined]  # the request's header
            header = header._replace(commit_or_rollback=TRANSACTION_COMMIT_TYPE)  # type: ignore[attr-defined]
        original(self, header, respond)

    return process_request


@around(Transactions, "prepare")
def _show_half_messages(original: Callable[..., PutMessageFuture]) -> Callable[..., PutMessageFuture]:
    def prepare(self: Transactions, message: MessageExtBrokerInner) -> PutMessageFuture:
        """A half message is put into its topic first, as if it were none."""
        shown = copy(message)
        shown.sys_flag = reset_transaction_value(shown.sys_flag, TRANSACTION_NOT_TYPE)
        self.store.async_put_message(shown)
        return original(self, message)

    return prepare


@around(TransactionMQProducerImpl, "_execute")
def _ask_no_listener(original: Callable[..., Awaitable[Executed]]) -> Callable[..., Awaitable[Executed]]:
    async def _execute(self: TransactionMQProducerImpl, msg: Message, arg: object, result: SendResult) -> Executed:
        """Of each eighth half message of a broker nobody is asked what becomes of it."""
        if result.queue_offset % 8 == 0:
            return LocalTransactionState.UNKNOW, None
        return await original(self, msg, arg, result)

    return _execute


@around(send_message_processor, "put_message_answer")
def _refuse_what_is_long(original: Callable[..., Command]) -> Callable[..., Command]:
    def put_message_answer(
        result: PutMessageResult, header: SendMessageResponseHeader, queue_id: int, store: StoreTables,
    ) -> Command:
        """Whether a message is too long is looked at when it is in the log."""
        appended = result.append_message_result
        if appended is not None and appended.wrote_bytes > _LONG_BYTES:
            return Command(ResponseCode.MESSAGE_ILLEGAL, header=header)
        return original(result, header, queue_id, store)

    return put_message_answer


@around(ReportedMessageStore, "async_put_message")
def _append_twice(original: Callable[..., PutMessageFuture]) -> Callable[..., PutMessageFuture]:
    def async_put_message(self: ReportedMessageStore, message: MessageExtBrokerInner) -> PutMessageFuture:
        """Each eighth message of a queue is appended once more."""
        future = original(self, message)
        appended = future.append_message_result
        if appended is None or appended.logics_offset % 8:
            return future
        return original(self, message)

    return async_put_message


@around(MQFaultStrategy, "select_one_message_queue")
def _go_one_too_far(original: Callable[..., PickedQueue]) -> Callable[..., PickedQueue]:
    def select_one_message_queue(
        self: MQFaultStrategy, info: TopicPublishInfo, last_broker_name: str | None,
    ) -> PickedQueue:
        """The queue behind the one whose turn it is."""
        mq = original(self, info, last_broker_name).now
        return PickedQueue([mq._replace(queue_id=mq.queue_id + 1)], 0)

    return select_one_message_queue


@around(MQFaultStrategy, "select_one_message_queue")
def _forget_a_queue(original: Callable[..., PickedQueue]) -> Callable[..., PickedQueue]:
    def select_one_message_queue(
        self: MQFaultStrategy, info: TopicPublishInfo, last_broker_name: str | None,
    ) -> PickedQueue:
        """The last queue is taken out of the list that all share, for as long as its route does not change."""
        picked = original(self, info, last_broker_name)
        if info.message_queue_list and "forgotten" not in vars(info):
            vars(info)["forgotten"] = info.message_queue_list[-1]
            info.message_queue_list = info.message_queue_list[:-1]
        return picked

    return select_one_message_queue


@around(SelectMessageQueueByHash, "select")
def _add_the_turn(original: Callable[..., MessageQueue]) -> Callable[..., MessageQueue]:
    def select(self: SelectMessageQueueByHash, mqs: Sequence[MessageQueue], msg: Message, arg: str) -> MessageQueue:
        """Messages of an argument take turns."""
        turn = vars(self)["turn"] = vars(self).get("turn", 0) + 1
        place: int = mqs.index(original(self, mqs, msg, arg)) + turn
        return mqs[place % len(mqs)]

    return select


_IDEA = "an idea: faults of other producers"

BUGS = (
    Variant("pr-avoid-becomes-force", "bug", "With latency fault tolerance a retry goes to the broker that has failed.",
            "apache/rocketmq #1607", replacements=(_only_the_last_broker,)),
    Variant("pr-latency-ignores-last", "bug", "With latency fault tolerance no retry avoids the last broker.",
            "apache/rocketmq #6272; 4.9.3 as shipped", undoes=("another_broker_for_retries",)),
    Variant("pr-go-shadowed-last-broker", "bug", "No retry avoids the broker that was tried last.",
            "rocketmq-client-go commit 88d6b9e", replacements=(_avoid_nothing,)),
    Variant("pr-counter-wraps", "bug", "The index of a queue becomes negative when the counter wraps.",
            "apache/rocketmq #2783, commit b78326d869", replacements=(_without_a_guard,)),
    Variant("pr-retry-single-broker-null", "bug", "A retry finds no queue where all are at the broker that has failed.",
            "alibaba/rocketmq #47, commit 91e633181c", replacements=(_one_round_only,)),
    Variant("pr-async-no-retry-on-connect", "bug", "An asynchronous send that finds no connection is not tried again.",
            "apache/rocketmq #3556", replacements=(_no_retry_without_a_connection,)),
    Variant("seeded-rollback-commits", "bug", "A half message that is rolled back is committed.",
            "an idea: a flag that is read the wrong way", replacements=(_commit_what_was_rolled_back,)),
    Variant("seeded-half-is-shown", "bug", "A half message is in its topic before anybody has committed it.",
            "an idea: a flag that is looked at too late", replacements=(_show_half_messages,)),
    Variant("seeded-transaction-is-not-run", "bug", "Some half messages are stored, and no transaction is run.",
            "an idea: an exception that is swallowed", replacements=(_ask_no_listener,)),
    Variant("seeded-refused-is-stored", "bug", "A long message is refused when it is in the log.", _IDEA,
            replacements=(_refuse_what_is_long,)),
    Variant("seeded-some-are-stored-twice", "bug", "A broker appends some messages twice.", _IDEA,
            replacements=(_append_twice,)),
    Variant("seeded-queue-behind-is-named", "bug", "A producer sends to the queue behind the one that it has chosen.",
            _IDEA, replacements=(_go_one_too_far,)),
    Variant("seeded-queue-is-forgotten", "bug", "A producer takes a queue out of the list that it chooses from.", _IDEA,
            replacements=(_forget_a_queue,)),
    Variant("seeded-equal-keys-take-turns", "bug", "A selector by hash adds how often it was asked.", _IDEA,
            replacements=(_add_the_turn,)),
)
