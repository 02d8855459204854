"""DefaultMQPushConsumerImpl: the life of a push consumer, and its place in a group.

Left out: filters, statistics, messages that are sent back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from impl.client.consume_message_concurrently_service import ConsumeMessageConcurrentlyService
from impl.client.consume_message_orderly_service import ConsumeMessageOrderlyService
from impl.client.consume_message_service import ConsumeMessageService, MessageListener, SucceedingListener
from impl.client.local_file_offset_store import LocalFileOffsetStore
from impl.client.mq_client_instance import (
    CREATE_JUST,
    RUNNING,
    SHUTDOWN_ALREADY,
    START_FAILED,
    ClientConfig,
    MQClientManager,
)
from impl.client.offset_store import RemoteBrokerOffsetStore
from impl.client.process_queue import BYTES_PER_MIB, ProcessQueue
from impl.client.pull_api_wrapper import PullAPIWrapper
from impl.client.pull_callback import PULL_TIME_DELAY_MS_WHEN_EXCEPTION, PullCallback
from impl.client.rebalance import PullRequest
from impl.client.rebalance_push import OffsetStore, RebalancePushImpl
from impl.common.heartbeat_data import BROADCASTING, CLUSTERING, CONSUME_PASSIVELY, ConsumerData
from impl.decisions.allocation import AllocateMessageQueueAveragely, AllocateMessageQueueStrategy
from impl.decisions.java_arithmetic import quotient
from impl.decisions.java_errors import JavaError, MQClientError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import check_group, get_retry_topic
from impl.decisions.start_offset import ConsumeFromWhere
from impl.decisions.subscription import SUB_ALL, TAG, build
from impl.events import (
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    ConsumerSuspended,
    OffsetLearntLate,
    RouteUpdated,
    TopicUnsubscribed,
    VersionRaised,
)
from impl.ports.node import Node

PULL_TIME_DELAY_MS_WHEN_FLOW_CONTROL = 50
PULL_TIME_DELAY_MS_WHEN_SUSPEND = 1_000
PULL_THRESHOLD_FOR_QUEUE, PULL_THRESHOLD_SIZE_FOR_QUEUE_MIB, CONSUME_CONCURRENTLY_MAX_SPAN = 1_000, 100, 2_000
CONSUME_TIMESTAMP_BACK_MS = 30 * 60 * 1000  # DefaultMQPushConsumer.consumeTimestamp: half an hour before it was made


@dataclass(frozen=True, slots=True)
class PushConsumerConfig:
    """`client.consumer.DefaultMQPushConsumer`, what is read here, with its defaults.

    subscription -- topic to expression, by tag. orderly -- the listener is a MessageListenerOrderly. pull_batch_size,
    consume_message_batch_max_size -- how many messages a pull finds, and a listener is given, at most.
    """

    consumer_group: str
    subscription: Mapping[str, str]
    message_model: str = CLUSTERING
    orderly: bool = False
    consume_from_where: ConsumeFromWhere = ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET
    strategy: AllocateMessageQueueStrategy = field(default_factory=AllocateMessageQueueAveragely)
    pull_batch_size: int = 32
    consume_message_batch_max_size: int = 1


class DefaultMQPushConsumerImpl:
    """`client.impl.consumer.DefaultMQPushConsumerImpl`.

    service_state -- CREATE_JUST, RUNNING, … pause -- suspended by its user. rebalance_impl -- its queues.
    message_listener -- its user's, who may put another one there before it starts.
    """

    def __init__(
        self, node: Node, manager: MQClientManager, client_config: ClientConfig, config: PushConsumerConfig,
    ) -> None:
        """Subscribe; raises MQClientError for an illegal group."""
        check_group(config.consumer_group)
        self.node, self.config, self.group = node, config, config.consumer_group
        if config.message_model == CLUSTERING:
            client_config = manager.change_instance_name_to_pid(client_config)
        self.instance = manager.get_or_create_mq_client_instance(client_config)
        self.service_state = CREATE_JUST
        self.pause = False
        self.offset_store: OffsetStore
        if config.message_model == BROADCASTING:
            self.offset_store = LocalFileOffsetStore(node, self.instance.client_id, self.group)
        else:
            self.offset_store = RemoteBrokerOffsetStore(self.instance, self.group)
        self.rebalance_impl = RebalancePushImpl(
            node, self.instance, self.group, config.message_model, config.strategy, orderly=config.orderly,
            consume_from_where=config.consume_from_where,
            consume_timestamp_ms=node.now_ms() - CONSUME_TIMESTAMP_BACK_MS,
            offset_store=self.offset_store, execute_pull_request=self.execute_pull_request_immediately,
        )
        self._copy_subscription()
        self.message_listener: MessageListener = SucceedingListener()
        self.consume_message_service: ConsumeMessageService = (
            ConsumeMessageOrderlyService(self) if config.orderly else ConsumeMessageConcurrentlyService(self)
        )
        self.pull_message_service = self.instance.pull_message_service
        self.pull_api_wrapper = PullAPIWrapper(
            node, self.instance, self.group, self.rebalance_impl.subscription_inner)

    def _copy_subscription(self) -> None:
        """DefaultMQPushConsumerImpl#copySubscription."""
        topics = dict(self.config.subscription)
        if self.config.message_model == CLUSTERING:
            topics[get_retry_topic(self.group)] = SUB_ALL
        for topic, expression in topics.items():
            self._put_subscription(topic, expression)

    def _put_subscription(self, topic: str, expression: str, expression_type: str = TAG) -> int:
        subscription = build(topic, expression, expression_type, self.node.now_ms())
        self.rebalance_impl.subscription_inner.put(topic, subscription)
        return subscription.sub_version

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
        if not self.instance.register_consumer(self.group, self):
            self.service_state = CREATE_JUST
            await self.consume_message_service.shutdown()
            raise MQClientError(f"The consumer group[{self.group}] has been created before, specify another name "
                                "please.")
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

    async def subscribe(self, topic: str, expression: str) -> None:
        """DefaultMQPushConsumerImpl#subscribe: a heartbeat if it runs; neither a route nor a rebalance."""
        version = self._put_subscription(topic, expression)
        self.node.trace(VersionRaised(self.instance.client_id, self.group, topic, version))
        await self.node.interleave("subscribe: before the heartbeat")
        await self.instance.send_heartbeat_to_all_broker_with_lock()

    def unsubscribe(self, topic: str) -> None:
        """DefaultMQPushConsumerImpl#unsubscribe: here only; the next heartbeat and rebalance will show it."""
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

    def is_subscribe_topic_need_update(self, topic: str) -> bool:
        """DefaultMQPushConsumerImpl#isSubscribeTopicNeedUpdate."""
        rebalance = self.rebalance_impl
        subscribed = rebalance.subscription_inner.contains_key(topic)
        return subscribed and not rebalance.topic_subscribe_info_table.contains_key(topic)

    def update_topic_subscribe_info(self, topic: str, mqs: Collection[MessageQueue]) -> None:
        """DefaultMQPushConsumerImpl#updateTopicSubscribeInfo."""
        if self.rebalance_impl.subscription_inner.contains_key(topic):
            self.rebalance_impl.topic_subscribe_info_table.put(topic, mqs)
            self.node.trace(RouteUpdated(self.instance.client_id, self.group, topic, frozenset(mqs)))

    def correct_tags_offset(self, pull_request: PullRequest) -> None:
        """DefaultMQPushConsumerImpl#correctTagsOffset: the offset moves if nothing is cached."""
        if pull_request.process_queue.msg_count == 0:
            mq, offset = pull_request.message_queue, pull_request.next_offset
            self.offset_store.update_offset(mq, offset, increase_only=True)
            if pull_request.process_queue.dropped:
                self.node.trace(OffsetLearntLate(self.instance.client_id, self.group, mq, offset, pulled=True))

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
        callback = PullCallback(self, pull_request)
        try:
            await self.pull_api_wrapper.pull_kernel_impl(pull_request, self.config.pull_batch_size, callback)
        except JavaError:
            callback.on_exception()

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
        subscribed = self.rebalance_impl.subscription_inner.contains_key(pull_request.message_queue.topic)
        return 0 if subscribed else PULL_TIME_DELAY_MS_WHEN_EXCEPTION

    def _is_full(self, pq: ProcessQueue) -> bool:
        """The flow control: too many messages are cached, or too many MiB of them, or without order too far apart."""
        too_far = not self.config.orderly and pq.get_max_span() > CONSUME_CONCURRENTLY_MAX_SPAN
        too_big = quotient(pq.msg_size_bytes, BYTES_PER_MIB) > PULL_THRESHOLD_SIZE_FOR_QUEUE_MIB
        return pq.msg_count > PULL_THRESHOLD_FOR_QUEUE or too_big or too_far

    async def _has_order(self, pull_request: PullRequest) -> bool:
        """The guard of an orderly chain: locked, and from the first time on at the offset that is committed now."""
        if not pull_request.process_queue.locked:
            return False
        if not pull_request.previously_locked:
            try:
                offset = await self.rebalance_impl.compute_pull_from_where_with_exception(
                    pull_request.message_queue, self.node,
                )
            except JavaError:
                return False
            pull_request.previously_locked = True
            pull_request.next_offset = offset
        return True
