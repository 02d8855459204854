"""Planted bugs of producers: what requests say, what is refused, whom they shun, what becomes of requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace as replaced
from typing import Any

from impl.client import request_reply, route_tables, validators
from impl.client.client_errors import SendError
from impl.client.mq_client_instance import MQClientInstance
from impl.client.mq_fault_strategy import MQFaultStrategy
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.request_response_future import RequestFutureHolder, RequestResponseFuture
from impl.client.route_tables import RouteTables
from impl.client.send_kernel import SendKernel
from impl.client.send_result import LocalTransactionState, SendResult, SendStatus
from impl.client.topic_publish_info import PickedQueue
from impl.client.transaction_mq_producer import TransactionMQProducerImpl
from impl.common.headers import SendMessageRequestHeader
from impl.common.heartbeat_data import ConsumerData
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_DELAY_TIME_LEVEL, PROPERTY_MESSAGE_TTL
from impl.common.message_to_send import Message
from impl.decisions.java_errors import JavaError
from impl.decisions.names import MASTER_ID
from impl.decisions.route_queues import TopicRouteData
from impl.hash_map import HashMap
from impl.ports.threads import Threads
from impl.variants.variant import Variant, around, replace

_IDEA = "an idea: what a port of a producer forgets"
_LEAST_BYTES, _CALL_MS = 4_096, 3_000


@around(SendKernel, "_header")
def _born_at_zero(original: Callable[..., SendMessageRequestHeader]) -> Callable[..., SendMessageRequestHeader]:
    def _header(self: SendKernel, msg: Message, mq: PickedQueue) -> SendMessageRequestHeader:
        """The field is left out."""
        return original(self, msg, mq)._replace(born_timestamp=0)

    return _header


@around(SendKernel, "_header")
def _to_the_first_queue(original: Callable[..., SendMessageRequestHeader]) -> Callable[..., SendMessageRequestHeader]:
    def _header(self: SendKernel, msg: Message, mq: PickedQueue) -> SendMessageRequestHeader:
        """Whatever was chosen."""
        return original(self, msg, mq)._replace(queue_id=0)

    return _header


@replace(validators, "check_message")
def _take_all(msg: Message | None, max_message_size: int) -> None:
    """Brokers refuse what is illegal anyway."""
    del msg, max_message_size


@around(validators, "check_message")
def _take_what_is_short(original: Callable[..., None]) -> Callable[..., None]:
    def check_message(msg: Message | None, max_message_size: int) -> None:
        """A limit of somebody's own."""
        original(msg, max_message_size)
        if msg is not None and msg.body is not None and len(msg.body) > _LEAST_BYTES:
            raise SendError("too long")

    return check_message


@replace(route_tables, "_capped")
def _take_all_queues(route: TopicRouteData, default_topic_queue_nums: int) -> TopicRouteData:
    """The default topic as it is."""
    del default_topic_queue_nums
    return route


@around(MQFaultStrategy, "update_fault_item")
def _blame_by_time_only(original: Callable[..., None]) -> Callable[..., None]:
    def update_fault_item(self: MQFaultStrategy, broker_name: str | None, latency_ms: int, *, isolation: bool) -> None:
        """Who fails at once counts as quick."""
        del isolation
        original(self, broker_name, latency_ms, isolation=False)

    return update_fault_item


@around(TransactionMQProducerImpl, "end_transaction")
def _roll_back_what_has_thrown(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def end_transaction(
        self: TransactionMQProducerImpl, result: SendResult, state: LocalTransactionState,
        local_error: JavaError | None,
    ) -> None:
        """Who has thrown has rolled back."""
        rolled_back = LocalTransactionState.ROLLBACK_MESSAGE
        await original(self, result, state if local_error is None else rolled_back, local_error)

    return end_transaction


@around(TransactionMQProducerImpl, "send_message_in_transaction")
def _run_all(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def send_message_in_transaction(self: TransactionMQProducerImpl, msg: Message, arg: object) -> Any:
        """Nobody looks at the status."""
        result = await original(self, msg, arg)
        if result.send_status is not SendStatus.SEND_OK:
            await self._execute(msg, arg, result)
        return result

    return send_message_in_transaction


@around(TransactionMQProducerImpl, "send_message_in_transaction")
def _call_all_committed(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def send_message_in_transaction(self: TransactionMQProducerImpl, msg: Message, arg: object) -> Any:
        """What is stored counts as committed."""
        result, committed = await original(self, msg, arg), LocalTransactionState.COMMIT_MESSAGE
        stored = result.send_status is SendStatus.SEND_OK
        return replaced(result, local_transaction_state=committed) if stored else result

    return send_message_in_transaction


@replace(TransactionMQProducerImpl, "_execute")
async def _run_without_an_id(
    self: TransactionMQProducerImpl, msg: Message, arg: object, result: SendResult,
) -> tuple[LocalTransactionState, JavaError | None]:
    """The listener is given a message whose transactionId is null."""
    del result
    try:
        state = await self.transaction_listener.execute_local_transaction(msg, arg)
    except JavaError as error:
        return LocalTransactionState.UNKNOW, error
    return state or LocalTransactionState.UNKNOW, None


@around(TransactionMQProducerImpl, "send_message_in_transaction")
def _keep_the_delay(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def send_message_in_transaction(self: TransactionMQProducerImpl, msg: Message, arg: object) -> Any:
        """A half message is delayed as any message."""
        level, clear = msg.get_property(PROPERTY_DELAY_TIME_LEVEL), msg.clear_property
        if level is not None:
            msg.clear_property = lambda name: None if name == PROPERTY_DELAY_TIME_LEVEL else clear(name)  # type: ignore[method-assign]
        return await original(self, msg, arg)

    return send_message_in_transaction


@replace(RequestFutureHolder, "process_reply_message")
def _take_it_for_the_first(self: RequestFutureHolder, reply: MessageExt, correlation_id: str | None) -> None:
    """Whoever has waited longest gets the reply."""
    del correlation_id
    for key, future in self.request_future_table.entries()[:1]:
        self.request_future_table.remove(key)
        future.put_response_message(reply)
        if future.request_callback is not None:
            future.request_callback.on_success(reply)


@replace(RequestFutureHolder, "process_reply_message")
def _take_no_reply(self: RequestFutureHolder, reply: MessageExt, correlation_id: str | None) -> None:
    """The broker is told SUCCESS."""
    del self, reply, correlation_id


@replace(RequestFutureHolder, "scan_expired_request")
def _look_for_none(self: RequestFutureHolder) -> None:
    """Nobody is told of a time-out."""
    del self


@around(request_reply, "_prepare_request")
def _say_no_time_out(
    original: Callable[..., Awaitable[RequestResponseFuture]],
) -> Callable[..., Awaitable[RequestResponseFuture]]:
    async def _prepare_request(producer: Any, msg: Message, timeout_ms: int, callback: Any) -> RequestResponseFuture:
        """The property is left out."""
        future = await original(producer, msg, timeout_ms, callback)
        msg.clear_property(PROPERTY_MESSAGE_TTL)
        return future

    return _prepare_request


@around(DefaultMQPushConsumerImpl, "shutdown")
def _leave_without_a_commit(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def shutdown(self: DefaultMQPushConsumerImpl) -> None:
        """Who takes the queues begins at the last timer."""
        self.persist_consumer_offset = _nothing  # type: ignore[method-assign]
        await original(self)

    return shutdown


async def _nothing() -> None:
    """Commit nothing."""


@replace(MQClientInstance, "unregister_client")
async def _leave_the_masters(self: MQClientInstance, producer_group: str | None, consumer_group: str | None) -> None:
    """Slaves learn of it by the end of the connection, or by time."""
    for _, addrs in self.routes.broker_addr_table.traverse():
        addr = addrs.get(MASTER_ID)
        if addr is not None:
            try:
                await self.api.unregister_client(addr, producer_group, consumer_group, _CALL_MS)
            except JavaError:
                continue


@around(RouteTables, "take_over")
def _keep_old_addresses(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def take_over(self: RouteTables, topic: str, route: TopicRouteData, threads: Threads) -> None:
        """Ids that a broker has no more stay."""
        before = {name: addrs.entries() for name, addrs in self.broker_addr_table.entries()}
        await original(self, topic, route, threads)
        for broker in route.broker_datas:
            addrs = self.broker_addr_table.get(broker.broker_name) or HashMap()
            for broker_id, addr in before.get(broker.broker_name, ()):
                if addrs.get(broker_id) is None:
                    addrs.put(broker_id, addr)

    return take_over


@around(DefaultMQPushConsumerImpl, "consumer_data")
def _begin_at_the_last(original: Callable[..., ConsumerData]) -> Callable[..., ConsumerData]:
    def consumer_data(self: DefaultMQPushConsumerImpl) -> ConsumerData:
        """Whatever is configured."""
        return replaced(original(self), consume_from_where="CONSUME_FROM_LAST_OFFSET")

    return consumer_data


def _variant(name: str, sentence: str, *replacements: Any) -> Variant:
    return Variant(name, "bug", sentence, _IDEA, replacements=replacements)


BUGS = (
    _variant("seeded-born-at-zero", "Messages do not say when they were sent.", _born_at_zero),
    _variant("seeded-first-queue-is-named", "Each request names the first queue of its broker.", _to_the_first_queue),
    _variant("seeded-nothing-is-illegal", "Illegal messages are left to brokers to refuse.", _take_all),
    _variant("seeded-long-is-illegal", "Messages of more than 4 KiB are refused.", _take_what_is_short),
    _variant("seeded-default-topic-is-not-capped", "A new topic has as many queues as the default one.",
             _take_all_queues),
    _variant("seeded-failed-counts-as-quick", "A broker that refuses a connection at once is not shunned.",
             _blame_by_time_only),
    _variant("seeded-thrown-is-rolled-back", "A transaction whose listener throws is rolled back.",
             _roll_back_what_has_thrown),
    _variant("seeded-unsafe-transactions-run", "Transactions are done whatever the status of the half message is.",
             _run_all),
    _variant("seeded-all-transactions-are-committed", "A result says of each transaction that was run: COMMIT_MESSAGE.",
             _call_all_committed),
    _variant("seeded-transactions-have-no-id", "Who is to do a transaction is given a message without transactionId.",
             _run_without_an_id),
    _variant("seeded-half-messages-wait", "Half messages keep their delay.", _keep_the_delay),
    _variant("seeded-first-gets-the-reply", "A reply is given to the request that has waited longest.",
             _take_it_for_the_first),
    _variant("seeded-replies-are-dropped", "Who asks is given no reply.", _take_no_reply),
    _variant("seeded-requests-wait-for-ever", "Requests whose reply does not come are forgotten.", _look_for_none),
    _variant("seeded-requests-say-no-time", "Requests do not say how long they wait.", _say_no_time_out),
    _variant("seeded-leaver-commits-nothing", "A consumer that shuts down commits nothing.", _leave_without_a_commit),
    _variant("seeded-masters-hear-goodbye", "Who leaves says so to masters only.", _leave_the_masters),
    _variant("seeded-addresses-are-merged", "A client keeps addresses that a broker has no more.", _keep_old_addresses),
    _variant("seeded-groups-begin-at-the-last", "Heartbeats say that each group begins at the last offset.",
             _begin_at_the_last),
)
