"""DefaultMQPushConsumerImpl: the life of a push consumer, and its place in a group.

Messages are not fetched here: a pull is a hold of 15 s at a broker that has nothing new, without the request; whoever
has messages answers it (`on_found`, `on_offset_moved`). All that a pull does to ownership is done: chains end at
dropped queues, others stay fresh, orderly ones wait for their lock. An offset below 0 is illegal, and corrected.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

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
from impl.client.process_queue import REBALANCE_LOCK_INTERVAL_MS, Message
from impl.client.rebalance import PullRequest
from impl.client.rebalance_push import OffsetStore, RebalancePushImpl
from impl.common.headers import QueueOffsetRequestHeader
from impl.common.heartbeat_data import BROADCASTING, CLUSTERING, CONSUME_PASSIVELY, ConsumerData
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.allocation import AllocateMessageQueueAveragely, AllocateMessageQueueStrategy
from impl.decisions.java_errors import JavaError, MQClientError, not_null
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID, check_group, get_retry_topic
from impl.decisions.start_offset import ConsumeFromWhere
from impl.decisions.subscription import SUB_ALL, TAG, build
from impl.events import (
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    MessagesFound,
    OffsetCorrected,
    RouteUpdated,
    VersionRaised,
)
from impl.ports.node import Node
from impl.ports.pools import Scheduler
from impl.ports.remoting import Command

PULL_TIME_DELAY_MS_WHEN_EXCEPTION = 1_000
PULL_TIME_DELAY_MS_WHEN_SUSPEND = 1_000
BROKER_SUSPEND_MAX_TIME_MS = 15_000
CONSUMER_TIMEOUT_MS_WHEN_SUSPEND = 30_000
OFFSET_ILLEGAL_DELAY_MS = 10_000
CONSUME_TIMESTAMP_BACK_MS = 30 * 60 * 1000  # DefaultMQPushConsumer.consumeTimestamp: half an hour before it was made


@dataclass(frozen=True, slots=True)
class PushConsumerConfig:
    """`client.consumer.DefaultMQPushConsumer`, what is read here, with its defaults.

    subscription -- topic to expression, by tag. orderly -- the listener is a MessageListenerOrderly.
    """

    consumer_group: str
    subscription: Mapping[str, str]
    message_model: str = CLUSTERING
    orderly: bool = False
    consume_from_where: ConsumeFromWhere = ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET
    strategy: AllocateMessageQueueStrategy = field(default_factory=AllocateMessageQueueAveragely)


class DefaultMQPushConsumerImpl:
    """`client.impl.consumer.DefaultMQPushConsumerImpl`.

    service_state -- CREATE_JUST, RUNNING, … pause -- suspended by its user. rebalance_impl -- its queues. held_pulls --
    the pulls that a broker holds now, each with the number of its hold.
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
        self.lock_scheduler: Scheduler | None = None
        self.stopped = False  # ConsumeMessageOrderlyService.stopped
        self.held_pulls: dict[PullRequest, int] = {}
        self._holds = 0

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
        self._start_consume_service()
        if not self.instance.register_consumer(self.group, self):
            self.service_state = CREATE_JUST
            await self._shutdown_consume_service()
            raise MQClientError(f"The consumer group[{self.group}] has been created before, specify another name "
                                "please.")
        self.node.trace(ConsumerStarted(
            self.instance.client_id, self.group, self.config.message_model, self.config.orderly,
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
        await self._shutdown_consume_service()
        await self.node.interleave("shutdown: between unlockAll and persistConsumerOffset")
        await self.persist_consumer_offset()
        await self.instance.unregister_consumer(self.group)
        await self.instance.shutdown()
        self.rebalance_impl.destroy()
        self.service_state = SHUTDOWN_ALREADY
        self.node.trace(ConsumerShutDown(self.instance.client_id, self.group))

    def _start_consume_service(self) -> None:
        """ConsumeMessageOrderlyService#start: lockAll after 1 s and every 20 s, on a thread of the service."""
        if self.config.orderly and self.config.message_model == CLUSTERING:
            self.lock_scheduler = self.node.scheduler("ConsumeMessageScheduledThread")
            self.lock_scheduler.schedule_at_fixed_rate(
                self._lock_mq_periodically, 1_000, REBALANCE_LOCK_INTERVAL_MS,
            )

    async def _lock_mq_periodically(self) -> None:
        """ConsumeMessageOrderlyService#lockMQPeriodically."""
        if not self.stopped:
            await self.rebalance_impl.lock_all()

    async def _shutdown_consume_service(self) -> None:
        """ConsumeMessageOrderlyService#shutdown(0): nobody waits for a running listener before the locks go."""
        self.stopped = True
        if self.lock_scheduler is not None:
            self.lock_scheduler.shutdown()
            await self.rebalance_impl.unlock_all(oneway=False)

    def suspend(self) -> None:
        """DefaultMQPushConsumerImpl#suspend: it keeps its queues and its place in the list."""
        self.pause = True

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

    # Pull chains ------------------------------------------------------------------------------------------------------

    def execute_pull_request_immediately(self, pull_request: PullRequest) -> None:
        """PullMessageService#executePullRequestImmediately: into the queue of its one thread."""
        if not self.instance.pull_stopped:
            self.instance.pull_pool.execute(lambda: self.pull_message(pull_request))

    def _execute_pull_request_later(self, pull_request: PullRequest, delay_ms: int) -> None:
        """PullMessageService#executePullRequestLater: after the stop it is discarded."""
        if not self.instance.pull_stopped:
            self.instance.pull_scheduler.schedule(
                lambda: self.execute_pull_request_immediately(pull_request), delay_ms,
            )

    async def pull_message(self, pull_request: PullRequest) -> None:
        """PullMessageService#pullMessage, DefaultMQPushConsumerImpl#pullMessage up to the request."""
        pq = pull_request.process_queue
        if pq.dropped or not self.instance.consumer_table.contains_key(self.group):
            return
        pq.last_pull_timestamp = self.node.now_ms()
        if self.service_state == RUNNING and self.pause:
            self._execute_pull_request_later(pull_request, PULL_TIME_DELAY_MS_WHEN_SUSPEND)
        elif (
            self.service_state != RUNNING
            or (self.config.orderly and not await self._has_order(pull_request))
            or not self.rebalance_impl.subscription_inner.contains_key(pull_request.message_queue.topic)
        ):
            self._execute_pull_request_later(pull_request, PULL_TIME_DELAY_MS_WHEN_EXCEPTION)
        elif pull_request.next_offset < 0:
            await self._pull_below_zero(pull_request)
        else:
            self._hold(pull_request)

    def _hold(self, pull_request: PullRequest) -> None:
        """What stands for the request: a broker that holds it, and in 15 s has found nothing."""
        if not self.instance.pull_stopped:
            self._holds += 1
            number = self.held_pulls[pull_request] = self._holds
            self.instance.pull_scheduler.schedule(
                lambda: self._on_end_of_hold(pull_request, number), BROKER_SUSPEND_MAX_TIME_MS,
            )

    def _on_end_of_hold(self, pull_request: PullRequest, number: int) -> None:
        if self.held_pulls.get(pull_request) == number:
            del self.held_pulls[pull_request]
            self._on_no_new_msg(pull_request)

    def on_found(self, pull_request: PullRequest, msgs: Sequence[Message]) -> bool:
        """PullCallback#onSuccess with FOUND, of a pull that is held; whether a consume task is to be submitted.

        msgs -- not empty, by ascending offset. `dropped` is not looked at.
        """
        del self.held_pulls[pull_request]
        pull_request.next_offset = msgs[-1].queue_offset + 1
        dispatch_to_consume = pull_request.process_queue.put_message(msgs)
        offsets = tuple(msg.queue_offset for msg in msgs)
        if not pull_request.process_queue.dropped:  # else they are in the cache of a holding that has ended
            self.node.trace(MessagesFound(self.instance.client_id, self.group, pull_request.message_queue, offsets))
        self.execute_pull_request_immediately(pull_request)
        return dispatch_to_consume

    def on_offset_moved(self, pull_request: PullRequest, next_begin_offset: int) -> None:
        """PullCallback#onSuccess with OFFSET_ILLEGAL, of a pull that is held; next_begin_offset -- what is legal."""
        del self.held_pulls[pull_request]
        self._on_offset_illegal(pull_request, next_begin_offset)

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

    def _on_no_new_msg(self, pull_request: PullRequest) -> None:
        """PullCallback#onSuccess with NO_NEW_MSG: the offset moves if nothing is cached; `dropped` is not looked at."""
        if pull_request.process_queue.msg_count == 0:
            self.offset_store.update_offset(
                pull_request.message_queue, pull_request.next_offset, increase_only=True,
            )
        self.execute_pull_request_immediately(pull_request)

    async def _pull_below_zero(self, pull_request: PullRequest) -> None:
        """What stands for a request that the broker answers at once: PULL_OFFSET_MOVED, to the least offset it has."""
        mq = pull_request.message_queue
        found = self.instance.find_broker_address_in_subscribe(mq.broker_name, MASTER_ID, only_this_broker=False)
        request = Command(RequestCode.GET_MIN_OFFSET, header=QueueOffsetRequestHeader(mq.topic, mq.queue_id))
        try:
            await self.instance.remoting_client.invoke_async(
                not_null(found).broker_addr, request, CONSUMER_TIMEOUT_MS_WHEN_SUSPEND,
                lambda future: self._on_answer_below_zero(pull_request, future.response_command),
            )
        except JavaError:
            self._execute_pull_request_later(pull_request, PULL_TIME_DELAY_MS_WHEN_EXCEPTION)

    def _on_answer_below_zero(self, pull_request: PullRequest, response: Command | None) -> None:
        if response is None or response.code != ResponseCode.SUCCESS:
            self._execute_pull_request_later(pull_request, PULL_TIME_DELAY_MS_WHEN_EXCEPTION)
        else:
            self._on_offset_illegal(pull_request, int(response.header.offset))

    def _on_offset_illegal(self, pull_request: PullRequest, next_begin_offset: int) -> None:
        """PullCallback#onSuccess with OFFSET_ILLEGAL: the chain ends, and in 10 s the offset will be corrected."""
        pull_request.next_offset = next_begin_offset
        pull_request.process_queue.dropped = True
        self.rebalance_impl.report_dropped()
        if not self.instance.pull_stopped:
            self.instance.pull_scheduler.schedule(
                lambda: self._correct_illegal_offset(pull_request), OFFSET_ILLEGAL_DELAY_MS,
            )

    async def _correct_illegal_offset(self, pull_request: PullRequest) -> None:
        """The task of OFFSET_ILLEGAL: set, commit, remove, whoever has the queue by now (X17)."""
        mq = pull_request.message_queue
        self.update_consume_offset(mq, pull_request.next_offset)
        self.node.trace(OffsetCorrected(self.instance.client_id, self.group, mq, pull_request.next_offset))
        try:
            await self.offset_store.persist(mq)
            await self.rebalance_impl.remove_process_queue(mq, self.node)
        except JavaError:
            return  # logged
