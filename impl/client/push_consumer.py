"""DefaultMQPushConsumerImpl: the life of a push consumer, its place in a group, and its pulls.

Left out: hooks, statistics, filter servers. Namespaces are put before the names of topics and groups here, and taken
from what listeners see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from impl.client.client_config import ClientConfig, InNamespace
from impl.client.consume_message_concurrently_service import ConsumeMessageConcurrentlyService
from impl.client.consume_message_orderly_service import ConsumeMessageOrderlyService
from impl.client.consume_message_service import ConsumeMessageService
from impl.client.local_file_offset_store import LocalFileOffsetStore
from impl.client.message_listener import MessageListener, SucceedingListener
from impl.client.mq_client_manager import MQClientManager
from impl.client.mq_consumer_inner import MQConsumerInner, read_consume_timestamp_ms
from impl.client.offset_store import ReadOffsetType
from impl.client.process_queue import BYTES_PER_MIB, ProcessQueue
from impl.client.pull_api_wrapper import PullAPIWrapper
from impl.client.pull_callback import (
    BROKER_SUSPEND_MAX_TIME_MS,
    CONSUMER_TIMEOUT_MS_WHEN_SUSPEND,
    PULL_TIME_DELAY_MS_WHEN_EXCEPTION,
    PullCallback,
)
from impl.client.push_consumer_config import NOT_SET, PushConsumerConfig, check_config
from impl.client.rebalance import PullRequest
from impl.client.rebalance_push import RebalancePushImpl
from impl.client.send_message_back import send_message_back, send_to_retry_topic
from impl.client.service_state import CREATE_JUST, RUNNING, SHUTDOWN_ALREADY, START_FAILED
from impl.common.headers import PullMessageRequestHeader
from impl.common.heartbeat_data import CLUSTERING, CONSUME_PASSIVELY, ConsumerData
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_RETRY_TOPIC
from impl.common.message_selector import MessageSelector
from impl.decisions.flags import build_pull_sys_flag
from impl.decisions.java_arithmetic import quotient
from impl.decisions.java_errors import JavaError, MQClientError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import get_retry_topic
from impl.decisions.namespace import without_namespace
from impl.decisions.retry_level import max_reconsume_times
from impl.decisions.subscription import SUB_ALL, SubscriptionData
from impl.events import (
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    ConsumerSuspended,
    OffsetLearntLate,
    PullBegun,
    TopicUnsubscribed,
    VersionRaised,
)
from impl.ports.node import Node

PULL_TIME_DELAY_MS_WHEN_FLOW_CONTROL = 50
PULL_TIME_DELAY_MS_WHEN_SUSPEND = 1_000


class DefaultMQPushConsumerImpl(InNamespace, MQConsumerInner):
    """`client.impl.consumer.DefaultMQPushConsumerImpl`.

    config -- with the namespace in its names. pause -- suspended by its user. message_listener -- its user's, who may
    put another one there before it starts.
    """

    def __init__(
        self, node: Node, manager: MQClientManager, client_config: ClientConfig, config: PushConsumerConfig,
    ) -> None:
        """Subscribe; raises MQClientError for a configuration that is not legal."""
        self.namespace = client_config.namespace
        config = self._with_namespace(config)
        check_config(config)
        super().__init__(node, manager, client_config, config.consumer_group, config.message_model)
        self.config = config
        self.pause = False
        self.rebalance_impl: RebalancePushImpl = RebalancePushImpl(
            node, self.instance, self.group, config.message_model, config.strategy, orderly=config.orderly,
            consume_from_where=config.consume_from_where,
            consume_timestamp_ms=read_consume_timestamp_ms(config.consume_timestamp, node.now_ms()),
            offset_store=self.offset_store, execute_pull_request=self.execute_pull_request_immediately,
            divide_thresholds=self.divide_thresholds,
        )
        self.pull_threshold_for_queue = config.pull_threshold_for_queue
        self.pull_threshold_size_for_queue_mib = config.pull_threshold_size_for_queue_mib
        self._copy_subscription()
        self.message_listener: MessageListener = SucceedingListener()
        self.consume_message_service: ConsumeMessageService = (
            ConsumeMessageOrderlyService(self) if config.orderly else ConsumeMessageConcurrentlyService(self)
        )
        self.pull_message_service = self.instance.pull_message_service
        self.pull_api_wrapper = PullAPIWrapper(node, self.instance, self.group)

    def _with_namespace(self, config: PushConsumerConfig) -> PushConsumerConfig:
        """DefaultMQPushConsumer#start, #setSubscription: its group, and its topics."""
        subscription = {self.with_namespace(topic): selector for topic, selector in config.subscription.items()}
        return replace(config, consumer_group=self.with_namespace(config.consumer_group), subscription=subscription)

    def _copy_subscription(self) -> None:
        """DefaultMQPushConsumerImpl#copySubscription."""
        topics = dict(self.config.subscription)
        if self.config.message_model == CLUSTERING:
            topics[get_retry_topic(self.group)] = SUB_ALL
        for topic, selector in topics.items():
            self.put_subscription(topic, selector)

    # Life -------------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """DefaultMQPushConsumerImpl#start; raises MQClientError, or IllegalStateError without any name server.

        In the latter case the consumer is RUNNING all the same, with all its threads.
        """
        if self.service_state != CREATE_JUST:
            raise MQClientError(f"The PushConsumer service state not OK, maybe started once, {self.service_state}")
        self.service_state = START_FAILED
        if isinstance(self.offset_store, LocalFileOffsetStore):
            self.offset_store.load()
        self.consume_message_service.start()
        try:
            self.register()
        except MQClientError:
            await self.consume_message_service.shutdown()
            raise
        self.node.trace(ConsumerStarted(
            self.instance.client_id, self.group, self.config.message_model, self.config.orderly,
            self.config.strategy.name,
        ))
        await self.instance.start()
        self.service_state = RUNNING
        for topic in self.rebalance_impl.subscription_inner.key_set():
            await self.instance.update_topic_route_info_from_name_server(topic)
        await self.instance.check_client_in_broker()
        await self.instance.send_heartbeat_to_all_broker_with_lock()
        self.instance.rebalance_immediately()

    async def shutdown(self) -> None:
        """DefaultMQPushConsumerImpl#shutdown(0), synchronized: locks, offsets, membership, connections, queues."""
        if self.service_state != RUNNING:
            return
        self.node.trace(ConsumerStopping(self.instance.client_id, self.group))
        await self.consume_message_service.shutdown()
        await self.node.interleave("shutdown: between unlockAll and persistConsumerOffset")
        await self.persist_consumer_offset()
        await self.instance.unregister_consumer(self.group)
        await self.instance.shutdown()
        self.rebalance_impl.destroy()
        self.service_state = SHUTDOWN_ALREADY
        self.node.trace(ConsumerShutDown(self.instance.client_id, self.group))

    def suspend(self) -> None:
        """DefaultMQPushConsumerImpl#suspend: it keeps its queues and its place in the list."""
        self.pause = True
        self.node.trace(ConsumerSuspended(self.instance.client_id, self.group))

    async def resume(self) -> None:
        """DefaultMQPushConsumerImpl#resume: rebalances in the thread of the caller."""
        self.pause = False
        await self.do_rebalance()

    async def subscribe(self, topic: str, selector: str | MessageSelector) -> None:
        """DefaultMQPushConsumerImpl#subscribe: a heartbeat if it runs; neither a route nor a rebalance.

        selector -- an expression by tag, or another one with its type.
        """
        topic = self.with_namespace(topic)
        version = self.put_subscription(topic, selector).sub_version
        self.node.trace(VersionRaised(self.instance.client_id, self.group, topic, version))
        await self.node.interleave("subscribe: before the heartbeat")
        await self.instance.send_heartbeat_to_all_broker_with_lock()

    def unsubscribe(self, topic: str) -> None:
        """DefaultMQPushConsumerImpl#unsubscribe: here only; the next heartbeat and rebalance will show it.

        topic -- with its namespace, which nobody puts before it here.
        """
        self.rebalance_impl.subscription_inner.remove(topic)
        self.node.trace(TopicUnsubscribed(self.instance.client_id, self.group, topic))

    # What the instance asks -------------------------------------------------------------------------------------------

    def consumer_data(self) -> ConsumerData:
        """Its part of a heartbeat."""
        return ConsumerData(
            self.group, CONSUME_PASSIVELY, self.config.message_model, self.config.consume_from_where,
            self.rebalance_impl.subscription_inner.values(),
        )

    async def do_rebalance(self) -> None:
        """DefaultMQPushConsumerImpl#doRebalance."""
        if not self.pause:
            await self.rebalance_impl.do_rebalance(self.config.orderly, self.node)

    async def persist_consumer_offset(self) -> None:
        """DefaultMQPushConsumerImpl#persistConsumerOffset: of all queues in the table, while RUNNING."""
        if self.service_state == RUNNING:
            mqs = frozenset(self.rebalance_impl.process_queue_table.key_set())
            await self.offset_store.persist_all(mqs, self.node)

    def update_consume_offset(self, mq: MessageQueue, offset: int) -> None:
        """DefaultMQPushConsumerImpl#updateConsumeOffset: set, also downwards."""
        self.offset_store.update_offset(mq, offset, increase_only=False)

    def correct_tags_offset(self, pull_request: PullRequest) -> None:
        """DefaultMQPushConsumerImpl#correctTagsOffset: the offset moves if nothing is cached."""
        if pull_request.process_queue.msg_count == 0:
            mq, offset = pull_request.message_queue, pull_request.next_offset
            self.offset_store.update_offset(mq, offset, increase_only=True)
            if pull_request.process_queue.dropped:
                self.node.trace(OffsetLearntLate(self.instance.client_id, self.group, mq, offset, pulled=True))

    # Messages that have not been consumed -----------------------------------------------------------------------------

    def reset_retry_topic(self, msgs: Sequence[MessageExt]) -> None:
        """DefaultMQPushConsumerImpl#resetRetryAndNamespace: what is retried has the topic that it was sent to.

        No topic has a namespace then.
        """
        for msg in msgs:
            retry_topic = msg.get_property(PROPERTY_RETRY_TOPIC)
            if retry_topic is not None and msg.topic == get_retry_topic(self.group):
                msg.topic = retry_topic
            self._take_namespace_away(msg)

    async def send_message_back(self, msg: MessageExt, delay_level: int, broker_name: str | None) -> None:
        """DefaultMQPushConsumerImpl#sendMessageBack; raises JavaErrors if the message may not be stored again."""
        most = max_reconsume_times(self.config.max_reconsume_times, orderly=False)
        msg.topic = self.with_namespace(msg.topic)
        try:
            await send_message_back(self.instance, self.group, msg, delay_level, broker_name, most)
        except JavaError:
            self._take_namespace_away(msg)
            raise
        self._take_namespace_away(msg)

    def _take_namespace_away(self, msg: MessageExt) -> None:
        msg.topic = without_namespace(msg.topic, self.namespace) or msg.topic

    async def send_to_retry_topic(self, msg: MessageExt, reconsume_times: int, most: int) -> None:
        """ConsumeMessageOrderlyService#sendMessageBack; raises JavaErrors if the message may not be stored again."""
        await send_to_retry_topic(self.instance, self.group, msg, reconsume_times, most)

    # Pull chains ------------------------------------------------------------------------------------------------------

    def execute_pull_request_immediately(self, pull_request: PullRequest) -> None:
        """DefaultMQPushConsumerImpl#executePullRequestImmediately."""
        self.pull_message_service.execute_pull_request_immediately(pull_request)

    async def pull_message(self, pull_request: PullRequest) -> None:
        """DefaultMQPushConsumerImpl#pullMessage: what stands in the way, and then the pull."""
        pq = pull_request.process_queue
        if pq.dropped:
            return
        pq.last_pull_timestamp = self.node.now_ms()
        later_ms = await self._later_ms(pull_request)
        if later_ms:
            self.pull_message_service.execute_pull_request_later(pull_request, later_ms)
            return
        await self._pull(pull_request)

    async def _pull(self, pull_request: PullRequest) -> None:
        """The end of #pullMessage; who is not subscribed tries again later."""
        mq = pull_request.message_queue
        subscription_data = self.rebalance_impl.subscription_inner.get(mq.topic)
        if subscription_data is None:
            self.pull_message_service.execute_pull_request_later(pull_request, PULL_TIME_DELAY_MS_WHEN_EXCEPTION)
            return
        callback = PullCallback(self, pull_request, subscription_data)
        header = await self._pull_header(pull_request, subscription_data)
        try:
            await self.pull_api_wrapper.pull_kernel_impl(mq, header, CONSUMER_TIMEOUT_MS_WHEN_SUSPEND, callback)
        except JavaError as error:
            callback.on_exception(error)

    async def _pull_header(
        self, pull_request: PullRequest, subscription_data: SubscriptionData,
    ) -> PullMessageRequestHeader:
        """What is asked for; who shares a queue out commits the offset in memory with it, if that is above 0."""
        mq, commit_offset = pull_request.message_queue, 0
        if self.config.message_model == CLUSTERING:
            commit_offset = await self.offset_store.read_offset(mq, ReadOffsetType.READ_FROM_MEMORY, self.node)
        class_filter = subscription_data.class_filter_mode
        posts = self.config.post_subscription_when_pull and not class_filter
        sys_flag = build_pull_sys_flag(
            commit_offset=commit_offset > 0, suspend=True, subscription=posts, class_filter=class_filter)
        return PullMessageRequestHeader(
            self.group, mq.topic, mq.queue_id, pull_request.next_offset, self.config.pull_batch_size, sys_flag,
            commit_offset, BROKER_SUSPEND_MAX_TIME_MS, subscription_data.sub_version,
            subscription_data.sub_string if posts else None, subscription_data.expression_type)

    async def _later_ms(self, pull_request: PullRequest) -> int:
        """How long the pull has to wait before it is looked at again; 0: it is made now."""
        if self.service_state != RUNNING:
            return PULL_TIME_DELAY_MS_WHEN_EXCEPTION
        if self.pause:
            return PULL_TIME_DELAY_MS_WHEN_SUSPEND
        if self._is_full(pull_request.process_queue):
            return PULL_TIME_DELAY_MS_WHEN_FLOW_CONTROL
        if self.config.orderly and not await self._has_order(pull_request):
            return PULL_TIME_DELAY_MS_WHEN_EXCEPTION
        return 0

    def _is_full(self, pq: ProcessQueue) -> bool:
        """The flow control: too many messages are cached, or too many MiB of them, or without order too far apart."""
        too_far = not self.config.orderly and pq.get_max_span() > self.config.consume_concurrently_max_span
        too_big = quotient(pq.msg_size_bytes, BYTES_PER_MIB) > self.pull_threshold_size_for_queue_mib
        return pq.msg_count > self.pull_threshold_for_queue or too_big or too_far

    def divide_thresholds(self, queue_count: int) -> None:
        """The thresholds of RebalancePushImpl#messageQueueChanged: what is set for a topic is divided among all queues.

        queue_count -- of all topics that this consumer has.
        """
        config = self.config
        if queue_count and config.pull_threshold_for_topic != NOT_SET:
            self.pull_threshold_for_queue = max(1, config.pull_threshold_for_topic // queue_count)
        if queue_count and config.pull_threshold_size_for_topic_mib != NOT_SET:
            self.pull_threshold_size_for_queue_mib = max(1, config.pull_threshold_size_for_topic_mib // queue_count)

    async def _has_order(self, pull_request: PullRequest) -> bool:
        """The guard of an orderly chain: locked, and from the first time on at the offset that is committed now."""
        if not pull_request.process_queue.locked:
            return False
        if not pull_request.previously_locked:
            mq = pull_request.message_queue
            try:
                offset = await self.rebalance_impl.compute_pull_from_where_with_exception(mq, self.node)
            except JavaError:
                return False
            pull_request.previously_locked = True
            pull_request.next_offset = offset
            if not pull_request.process_queue.dropped:
                self.node.trace(PullBegun(self.instance.client_id, self.group, mq, offset))
        return True
