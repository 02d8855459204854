"""Planted bugs of clients: what they wait for, whom they try again, what counts as done, what they forget to ask."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial

from impl.client import send_message_back
from impl.client.consume_message_concurrently_service import ConsumeMessageConcurrentlyService, Messages
from impl.client.consume_message_orderly_service import ConsumeMessageOrderlyService
from impl.client.default_lite_pull_consumer import DefaultLitePullConsumer
from impl.client.default_send import DefaultSend
from impl.client.lite_pull_consumer import DefaultLitePullConsumerImpl
from impl.client.lite_pull_consumer_config import LitePullConsumerConfig
from impl.client.lite_pull_task import PullTask
from impl.client.message_listener import (
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    ConsumeOrderlyContext,
    ConsumeOrderlyStatus,
)
from impl.client.mq_client_api import PullCallback
from impl.client.mq_client_instance import MQClientInstance
from impl.client.process_queue import ProcessQueue
from impl.client.pull_api_wrapper import PullAPIWrapper
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.request_response_future import RequestFutureHolder
from impl.client.send_message_api import AsyncSend, SendMessageAPI
from impl.client.transaction_mq_producer import TransactionMQProducerImpl
from impl.common import message_client_id_setter
from impl.common.headers import EndTransactionRequestHeader, PullMessageRequestHeader
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_WAIT_STORE_MSG_OK
from impl.decisions import route_queues
from impl.decisions.flags import FLAG_SUSPEND, clear_flag
from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.route_queues import TopicRouteData
from impl.events import ListenerEnded, ListenerStarted
from impl.variants.variant import around, replace, seeded

_TOO_SHORT_MS = 10_000
_MINUTE_MS = 60_000


@around(send_message_back, "send_to_retry_topic")
def _wait_for_no_copy(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def send_to_retry_topic(
        instance: MQClientInstance, group: str, msg: MessageExt, reconsume_times: int, max_reconsume_times: int,
    ) -> None:
        """As the copies of brokers say, whatever the message has said."""
        msg.put_property(PROPERTY_WAIT_STORE_MSG_OK, "false")
        await original(instance, group, msg, reconsume_times, max_reconsume_times)

    return send_to_retry_topic


@replace(SendMessageAPI, "_on_exception")
async def _stay_at_the_broker(  # as the method that it replaces
    self: SendMessageAPI, broker_name: str, timeout_ms: int, send: AsyncSend, error: JavaError, *, need_retry: bool,
) -> None:
    """Every attempt goes to the broker that was chosen first."""
    send.times += 1
    if not need_retry or send.times > send.retry_times:
        self._give_up(send, error)
        return
    await self.send_async(self._find_broker_address_in_publish(broker_name), broker_name, timeout_ms, send)


@replace(DefaultSend, "_times_total")
def _try_all_again(self: DefaultSend) -> int:
    """Also what is sent one way, or asynchronously, is tried again here."""
    return 1 + self.producer.config.retry_times_when_send_failed


@around(message_client_id_setter, "uniq_id_end")
def _count_nothing(original: Callable[..., str]) -> Callable[..., str]:
    def uniq_id_end(now_ms: int, start_time_ms: int, counter: int) -> str:
        """The time alone makes an id."""
        del counter
        return original(now_ms, start_time_ms, 0)

    return uniq_id_end


@replace(RequestFutureHolder, "process_reply_message")
def _keep_who_has_the_reply(self: RequestFutureHolder, reply: MessageExt, correlation_id: str | None) -> None:
    """Whoever has the reply still waits for it."""
    future = self.request_future_table.get(correlation_id)  # type: ignore[arg-type]  # null raises there
    if future is None:
        return
    future.put_response_message(reply)
    if future.request_callback is not None:
        future.request_callback.on_success(reply)


@around(TransactionMQProducerImpl, "_end_transaction_oneway")
def _swap_the_offsets(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def _end_transaction_oneway(
        self: TransactionMQProducerImpl, addr: str | None, header: EndTransactionRequestHeader, remark: str | None,
        timeout_ms: int,
    ) -> None:
        """What a check has asked about is named the wrong way round."""
        if header.from_transaction_check:
            header = header._replace(tran_state_table_offset=header.commit_log_offset,
                                     commit_log_offset=header.tran_state_table_offset)
        await original(self, addr, header, remark, timeout_ms)

    return _end_transaction_oneway


@replace(ConsumeMessageConcurrentlyService, "_listen")
async def _no_answer_is_well(
    self: ConsumeMessageConcurrentlyService, msgs: Messages, context: ConsumeConcurrentlyContext,
) -> ConsumeConcurrentlyStatus:
    """A listener that returns nothing has succeeded."""
    try:
        status = await self.consumer.message_listener.consume_message(msgs, context)
    except JavaError:
        return ConsumeConcurrentlyStatus.RECONSUME_LATER
    return ConsumeConcurrentlyStatus(status or ConsumeConcurrentlyStatus.CONSUME_SUCCESS)


@replace(ConsumeMessageOrderlyService, "_listen")
async def _no_answer_is_well_in_order(
    self: ConsumeMessageOrderlyService, msgs: Sequence[MessageExt], context: ConsumeOrderlyContext,
) -> ConsumeOrderlyStatus:
    """A listener that has thrown, or returned nothing, has succeeded."""
    client_id, group, status = self.consumer.instance.client_id, self.consumer.group, None
    self.node.trace(ListenerStarted(client_id, group, context.message_queue))
    with suppress(JavaError):
        status = await self.consumer.message_listener.consume_message(msgs, context)
    self.node.trace(ListenerEnded(client_id, group, context.message_queue))
    return ConsumeOrderlyStatus(status or ConsumeOrderlyStatus.SUCCESS)


@around(PullAPIWrapper, "pull_kernel_impl")
def _hang_up_first(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def pull_kernel_impl(
        self: PullAPIWrapper, mq: MessageQueue, header: PullMessageRequestHeader, timeout_ms: int,
        pull_callback: PullCallback,
    ) -> None:
        """The time-out of other calls, and a little more."""
        await original(self, mq, header, min(timeout_ms, _TOO_SHORT_MS), pull_callback)

    return pull_kernel_impl


@around(PullAPIWrapper, "pull_kernel_impl")
def _wait_for_nothing(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def pull_kernel_impl(
        self: PullAPIWrapper, mq: MessageQueue, header: PullMessageRequestHeader, timeout_ms: int,
        pull_callback: PullCallback,
    ) -> None:
        """The flag is left out."""
        header = header._replace(sys_flag=clear_flag(header.sys_flag, FLAG_SUSPEND))
        await original(self, mq, header, timeout_ms, pull_callback)

    return pull_kernel_impl


@replace(DefaultMQPushConsumerImpl, "_copy_subscription")
def _subscribe_no_retries(self: DefaultMQPushConsumerImpl) -> None:
    """What its user has subscribed, and nothing more."""
    for topic, selector in self.config.subscription.items():
        self.put_subscription(topic, selector)


@around(route_queues, "topic_route_data_is_change")
def _compare_queues(original: Callable[..., bool]) -> Callable[..., bool]:
    def topic_route_data_is_change(old: TopicRouteData | None, new: TopicRouteData | None) -> bool:
        """A broker that has moved has the queues that it had."""
        return original(old, new) and (old is None or new is None or old.queue_datas != new.queue_datas)

    return topic_route_data_is_change


@replace(MQClientInstance, "update_topic_route_info_of_all")
async def _poll_what_is_consumed(self: MQClientInstance) -> None:
    """What is only published keeps its first route."""
    for consumer in self.consumer_table.values():
        for topic in consumer.rebalance_impl.subscription_inner.key_set():
            await self.update_topic_route_info_from_name_server(topic)


@replace(PullTask, "_is_full")
def _never_full(self: PullTask, pq: ProcessQueue) -> bool:
    """Whoever polls is quick."""
    del self, pq
    return False


@replace(DefaultLitePullConsumerImpl, "unsubscribe")
def _leave_the_tasks(self: DefaultLitePullConsumerImpl, topic: str) -> None:
    """It says so, and nothing happens."""
    del self, topic


@around(DefaultLitePullConsumerImpl, "shutdown")
def _shut_down_at_once(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def shutdown(self: DefaultLitePullConsumerImpl) -> None:
        """What is in memory is forgotten."""
        for mq in self.assigned_message_queue.message_queues():
            self.offset_store.remove_offset(mq)
        await original(self)

    return shutdown


@around(DefaultLitePullConsumerImpl, "seek")
def _seek_below(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def seek(self: DefaultLitePullConsumerImpl, mq: MessageQueue, offset: int) -> None:
        """Where the queue begins is not asked."""
        await original(self, mq, max(offset, await self.min_offset(mq)))
        self.assigned_message_queue.set_seek_offset(mq, offset)

    return seek


@around(DefaultLitePullConsumerImpl, "seek")
def _seek_in_any_queue(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def seek(self: DefaultLitePullConsumerImpl, mq: MessageQueue, offset: int) -> None:
        """Of a queue that it does not have nothing can be forgotten."""
        if mq in self.assigned_message_queue.message_queues():
            await original(self, mq, offset)

    return seek


@replace(DefaultLitePullConsumer, "_with_namespace")
def _topics_only(self: DefaultLitePullConsumer, config: LitePullConsumerConfig) -> LitePullConsumerConfig:
    """A group is known by its name."""
    del self
    return config


@replace(DefaultLitePullConsumerImpl, "_maybe_auto_commit")
async def _commit_by_the_minute(self: DefaultLitePullConsumerImpl) -> None:
    """The interval is that of another timer."""
    now_ms = self.node.now_ms()
    if now_ms >= self._next_auto_commit_deadline:
        await self.commit_all()
        self._next_auto_commit_deadline = now_ms + _MINUTE_MS


_bug = partial(seeded, "an idea: what a port of a client gets wrong")


BUGS = (
    _bug("own-copies-are-not-waited-for", "What a consumer sends itself says WAIT=false, whatever it was given.",
         _wait_for_no_copy),
    _bug("async-retries-stay", "An asynchronous send tries the broker again that has just failed.",
         _stay_at_the_broker),
    _bug("all-is-tried-again", "What is sent one way is tried again.", _try_all_again),
    _bug("ids-are-times", "Messages of one millisecond have one id.", _count_nothing),
    _bug("reply-is-waited-for-again", "Who has been given a reply is told later that there is none.",
         _keep_who_has_the_reply),
    _bug("check-answers-swap-offsets", "The answer to a check names the offsets the wrong way round.",
         _swap_the_offsets),
    _bug("no-answer-is-success", "A listener that returns nothing has succeeded.", _no_answer_is_well),
    _bug("thrown-is-success-in-order", "An ordered listener that throws has succeeded.", _no_answer_is_well_in_order),
    _bug("pulls-end-before-brokers-answer", "A client waits less for a pull than brokers hold it.", _hang_up_first),
    _bug("pulls-are-not-held", "A pull that finds nothing is to be answered at once.", _wait_for_nothing),
    _bug("retries-are-not-subscribed", "No member subscribes the retry topic of its group.", _subscribe_no_retries),
    _bug("moved-broker-is-no-change", "A route with another address of a broker counts as unchanged.",
         _compare_queues),
    _bug("published-topics-are-not-polled", "Routes are polled of topics that are subscribed only.",
         _poll_what_is_consumed),
    _bug("polled-caches-have-no-end", "Who polls caches all that there is.", _never_full),
    _bug("left-topic-is-pulled", "A topic that was unsubscribed is pulled on.", _leave_the_tasks),
    _bug("poller-ends-uncommitted", "A consumer that is polled sends nothing when it shuts down.", _shut_down_at_once),
    _bug("seek-takes-any-queue", "A seek in a queue that the consumer does not have is no mistake.",
         _seek_in_any_queue),
    _bug("polled-groups-have-no-namespace", "The group of a consumer that is polled is named without its namespace.",
         _topics_only),
    _bug("auto-commit-is-by-the-minute", "autoCommit commits once a minute.", _commit_by_the_minute),
    _bug("seek-begins-anywhere", "A seek leads to before the first message of a queue.", _seek_below),
)
