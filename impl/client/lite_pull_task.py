"""PullTaskImpl: the pulls of a lite pull consumer for one queue, one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from impl.client.process_queue import BYTES_PER_MIB, ProcessQueue
from impl.common.headers import PullMessageRequestHeader
from impl.common.message import MessageExt
from impl.common.pull_result import PullResult
from impl.decisions.flags import build_pull_sys_flag
from impl.decisions.java_arithmetic import quotient
from impl.decisions.java_errors import JavaError, MQClientError, not_null
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullStatus
from impl.decisions.subscription import SUB_ALL, SubscriptionData, build_subscription_data, is_tag_type

if TYPE_CHECKING:  # a consumer has tasks
    from impl.client.lite_pull_consumer import DefaultLitePullConsumerImpl

FLOW_CONTROL_MS = 50  # PULL_TIME_DELAY_MILLS_WHEN_FLOW_CONTROL
PAUSED_MS = 1_000  # PULL_TIME_DELAY_MILLS_WHEN_PAUSE
NO_OFFSET_MS = 3_000  # PULL_TIME_DELAY_MILLS_ON_EXCEPTION
EXCEPTION_MS = 1_000  # DefaultLitePullConsumer.pullTimeDelayMillsWhenException


class ConsumeRequest(NamedTuple):
    """`DefaultLitePullConsumerImpl.ConsumeRequest`: what one pull has found, and nobody has polled yet."""

    message_exts: tuple[MessageExt, ...]
    message_queue: MessageQueue
    process_queue: ProcessQueue


class PullTask:
    """`DefaultLitePullConsumerImpl.PullTaskImpl`. cancelled -- it ends as soon as it looks; nobody interrupts it."""

    def __init__(self, consumer: DefaultLitePullConsumerImpl, mq: MessageQueue) -> None:
        """Not started."""
        self.consumer, self.message_queue = consumer, mq
        self.cancelled = False

    async def run(self) -> None:
        """PullTaskImpl#run: one pull, and the next one after it."""
        pq = self.consumer.assigned_message_queue.process_queue(self.message_queue)
        if self.cancelled:
            return
        if self.consumer.assigned_message_queue.is_paused(self.message_queue):
            self._later(PAUSED_MS)
        elif pq is None or pq.dropped:
            return
        elif self._is_full(pq):
            self._later(FLOW_CONTROL_MS)
        else:
            await self._pull_next(pq)

    def _later(self, delay_ms: int) -> None:
        self.consumer.pull_executor.schedule(self.run, delay_ms)

    def _is_full(self, pq: ProcessQueue) -> bool:
        """Too much waits to be polled, of all queues or of this one, or it is too far apart."""
        consumer = self.consumer
        config, requests = consumer.config, len(consumer.consume_request_cache)
        return (requests * config.pull_batch_size > config.pull_threshold_for_all
                or pq.msg_count > config.pull_threshold_for_queue
                or quotient(pq.msg_size_bytes, BYTES_PER_MIB) > config.pull_threshold_size_for_queue_mib
                or pq.get_max_span() > config.consume_max_span)

    async def _pull_next(self, pq: ProcessQueue) -> None:
        try:
            offset = await self._next_pull_offset()
        except JavaError:
            self._later(NO_OFFSET_MS)
            return
        if self._is_over(pq):
            return
        delay_ms = 0
        try:
            result = await self._pull(offset)
            if self._is_over(pq):
                return
            await self._take(pq, result)
        except JavaError:
            delay_ms = EXCEPTION_MS
        if not self.cancelled:
            self._later(delay_ms)

    def _is_over(self, pq: ProcessQueue) -> bool:
        """Whether anybody has cancelled it, or the queue has gone, while it waited."""
        return self.cancelled or pq.dropped

    async def _next_pull_offset(self) -> int:
        """DefaultLitePullConsumerImpl#nextPullOffset: where the user wants to go, or behind the last pull, or anew."""
        consumer, mq = self.consumer, self.message_queue
        assigned = consumer.assigned_message_queue
        seek_offset = assigned.seek_offset(mq)
        if seek_offset != -1:
            assigned.update_consume_offset(mq, seek_offset)
            assigned.set_seek_offset(mq, -1)
            return seek_offset
        state = assigned.states.get(mq)
        if state is not None and state.pull_offset != -1:
            return state.pull_offset
        return await consumer.fetch_consume_offset(mq)

    async def _pull(self, offset: int) -> PullResult:
        """DefaultLitePullConsumerImpl#pullSyncImpl; raises MQClientError for an offset below 0, and JavaErrors."""
        consumer, mq = self.consumer, self.message_queue
        config, subscription = consumer.config, self._subscription()
        if offset < 0:
            raise MQClientError("offset < 0")
        sys_flag = build_pull_sys_flag(
            commit_offset=False, suspend=True, subscription=True, class_filter=False, lite_pull=True)
        header = PullMessageRequestHeader(
            consumer.group, mq.topic, mq.queue_id, offset, config.pull_batch_size, sys_flag, 0,
            config.broker_suspend_max_time_ms,
            0 if is_tag_type(subscription.expression_type) else subscription.sub_version, subscription.sub_string,
            subscription.expression_type)
        wrapper = consumer.pull_api_wrapper
        result = await wrapper.pull_kernel_impl_sync(mq, header, config.consumer_timeout_ms_when_suspend)
        return wrapper.process_pull_result(mq, result, subscription)

    def _subscription(self) -> SubscriptionData:
        """What is subscribed; who has assigned queues reads all of them."""
        consumer, topic = self.consumer, self.message_queue.topic
        if consumer.subscribes:
            return not_null(consumer.rebalance_impl.subscription_inner.get(topic))
        return build_subscription_data(topic, SUB_ALL)

    async def _take(self, pq: ProcessQueue, result: PullResult) -> None:
        """What was found waits to be polled, unless the user wants to go elsewhere."""
        consumer, mq = self.consumer, self.message_queue
        assigned = consumer.assigned_message_queue
        if result.pull_status is PullStatus.FOUND:
            lock = consumer.message_queue_lock(mq)
            await consumer.node.lock(lock)
            if result.msg_found_list and assigned.seek_offset(mq) == -1:
                pq.put_message(result.msg_found_list)
                consumer.submit_consume_request(ConsumeRequest(result.msg_found_list, mq, pq))
            consumer.node.unlock(lock)
        if assigned.seek_offset(mq) == -1:
            assigned.update_pull_offset(mq, result.next_begin_offset, pq)
