"""DefaultLitePullConsumerImpl: a consumer whose user polls, and says which queues it has, or only which topics.

A batch counts as consumed when it is polled: it is committed with the next one that is polled, after 5 s at the latest.
Left out: hooks, interrupts of pulls.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection

from impl.client.assigned_message_queue import UNSET, AssignedMessageQueue
from impl.client.client_config import ClientConfig
from impl.client.lite_pull_consumer_config import LitePullConsumerConfig, check_config
from impl.client.lite_pull_task import ConsumeRequest, PullTask
from impl.client.local_file_offset_store import LocalFileOffsetStore
from impl.client.mq_client_manager import MQClientManager
from impl.client.mq_consumer_inner import MQConsumerInner, read_consume_timestamp_ms
from impl.client.offset_store import ReadOffsetType
from impl.client.pull_api_wrapper import PullAPIWrapper
from impl.client.rebalance_lite_pull import RebalanceLitePullImpl
from impl.client.service_state import CREATE_JUST, RUNNING, SHUTDOWN_ALREADY, START_FAILED
from impl.common.heartbeat_data import BROADCASTING, CONSUME_ACTIVELY, ConsumerData
from impl.common.message import MessageExt
from impl.common.message_selector import MessageSelector
from impl.decisions.java_errors import IllegalArgumentError, JavaError, MQClientError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.namespace import without_namespace
from impl.decisions.start_offset import READ_FAILED, ConsumeFromWhere
from impl.events import QueuesHeld
from impl.hash_map import ConcurrentHashMap, IllegalStateError
from impl.ports.node import Node
from impl.ports.threads import Lock, Signal

NONE, SUBSCRIBE, ASSIGN = "NONE", "SUBSCRIBE", "ASSIGN"  # SubscriptionType

TopicMessageQueueChangeListener = Callable[[str, Collection[MessageQueue]], None]
"""`client.consumer.TopicMessageQueueChangeListener`: topic, and the queues that it has now."""


class DefaultLitePullConsumerImpl(MQConsumerInner):
    """`client.impl.consumer.DefaultLitePullConsumerImpl`; its user calls it from one thread.

    subscription_type -- how it has come to its queues; no one mixes both ways. assigned_message_queue -- its queues.
    task_table -- the task that pulls each. consume_request_cache -- what waits to be polled. pull_executor -- the
    threads that pull. namespace -- is in the names that it is given, but not in those that its user is given.
    """

    def __init__(
        self, node: Node, manager: MQClientManager, client_config: ClientConfig, config: LitePullConsumerConfig,
    ) -> None:
        """Not started; raises MQClientError for a configuration that is not legal."""
        check_config(config)
        super().__init__(node, manager, client_config, config.consumer_group, config.message_model)
        self.config, self.subscription_type, self.namespace = config, NONE, client_config.namespace
        self.rebalance_impl: RebalanceLitePullImpl = RebalanceLitePullImpl(
            node, self.instance, self.group, config.message_model, config.strategy,
            consume_from_where=config.consume_from_where,
            consume_timestamp_ms=read_consume_timestamp_ms("", node.now_ms()), offset_store=self.offset_store)
        self.pull_api_wrapper = PullAPIWrapper(node, self.instance, self.group)
        self.assigned_message_queue = AssignedMessageQueue(node.now_ms)
        self.task_table: ConcurrentHashMap[MessageQueue, PullTask] = ConcurrentHashMap()
        self.consume_request_cache: deque[ConsumeRequest] = deque()
        self.pull_executor = node.scheduler(f"PullMsgThread-{self.group}", config.pull_thread_nums)
        self.monitor_executor = node.scheduler("MonitorMessageQueueChangeThread")
        self._arrival = Signal("DefaultLitePullConsumerImpl.consumeRequestCache")
        self._locks: dict[MessageQueue, Lock] = {}
        self._next_auto_commit_deadline = -1
        self._change_listeners: dict[str, TopicMessageQueueChangeListener] = {}
        self._queues_of_topics: dict[str, frozenset[MessageQueue]] = {}

    # Life -------------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """DefaultLitePullConsumerImpl#start: neither a heartbeat nor a rebalance follows at once.

        Raises MQClientError; IllegalStateError without any name server, though it is RUNNING then.
        """
        if self.service_state != CREATE_JUST:
            raise MQClientError(f"The PullConsumer service state not OK, maybe started once, {self.service_state}")
        self.service_state = START_FAILED
        self.register()
        if isinstance(self.offset_store, LocalFileOffsetStore):
            self.offset_store.load()
        await self.instance.start()
        self.monitor_executor.schedule_at_fixed_rate(
            self._fetch_topic_message_queues_and_compare, 10_000, self.config.topic_metadata_check_interval_ms)
        self.service_state = RUNNING
        await self._operate_after_running()

    async def _operate_after_running(self) -> None:
        """DefaultLitePullConsumerImpl#operateAfterRunning."""
        if self.subscribes:
            await self._update_topic_subscribe_info()
        if self.subscription_type == ASSIGN:
            self._update_pull_tasks(self.assigned_message_queue.message_queues())
        for topic in self._change_listeners:
            self._queues_of_topics[topic] = await self.fetch_message_queues(topic)
        await self.instance.check_client_in_broker()

    async def shutdown(self) -> None:
        """DefaultLitePullConsumerImpl#shutdown: what is polled and not committed is not sent."""
        if self.service_state != RUNNING:
            return
        await self.persist_consumer_offset()
        await self.instance.unregister_consumer(self.group)
        self.pull_executor.shutdown()
        self.monitor_executor.shutdown()
        await self.instance.shutdown()
        self.service_state = SHUTDOWN_ALREADY

    def _check_service_state(self) -> None:
        if self.service_state != RUNNING:
            raise IllegalStateError("The consumer not running, please start it first.")

    # Queues -----------------------------------------------------------------------------------------------------------

    @property
    def subscribes(self) -> bool:
        """Whether the group shares out the queues of topics; else its user assigns queues."""
        return self.subscription_type == SUBSCRIBE

    def _set_subscription_type(self, subscription_type: str) -> None:
        if self.subscription_type not in {NONE, subscription_type}:
            raise IllegalStateError("Subscribe and assign are mutually exclusive.")
        self.subscription_type = subscription_type

    async def subscribe(self, topic: str, selector: str | MessageSelector = "*") -> None:
        """DefaultLitePullConsumerImpl#subscribe; raises MQClientError, also for what is wrong with the arguments."""
        try:
            if not topic:
                raise IllegalArgumentError("Topic can not be null or empty.")
            self._set_subscription_type(SUBSCRIBE)
            self.put_subscription(topic, selector)
            self.rebalance_impl.message_queue_listener = self.message_queue_changed
            self.assigned_message_queue.rebalance_impl = self.rebalance_impl
            if self.service_state == RUNNING:
                await self.instance.send_heartbeat_to_all_broker_with_lock()
                await self._update_topic_subscribe_info()
        except JavaError as error:
            raise MQClientError("subscribe exception") from error

    def unsubscribe(self, topic: str) -> None:
        """DefaultLitePullConsumerImpl#unsubscribe: here only."""
        self.rebalance_impl.subscription_inner.remove(topic)
        self._cancel(lambda mq: mq.topic == topic)
        self.assigned_message_queue.remove_assigned_message_queue(topic)
        self._report_queues()

    def assign(self, mqs: Collection[MessageQueue]) -> None:
        """DefaultLitePullConsumerImpl#assign: exactly these; raises IllegalArgumentError, IllegalStateError."""
        if not mqs:
            raise IllegalArgumentError("Message queues can not be null or empty.")
        self._set_subscription_type(ASSIGN)
        self.assigned_message_queue.update_assigned_message_queue(mqs)
        self._report_queues()
        if self.service_state == RUNNING:
            self._update_pull_tasks(mqs)

    def message_queue_changed(
        self, topic: str, mq_all: Collection[MessageQueue], mq_divided: Collection[MessageQueue],
    ) -> None:
        """MessageQueueListenerImpl#messageQueueChanged."""
        mine = mq_all if self.config.message_model == BROADCASTING else mq_divided
        self.assigned_message_queue.update_assigned_message_queue(mine, topic)
        self._report_queues()
        self._update_pull_tasks(mine, topic)

    def _report_queues(self) -> None:
        mqs = frozenset(self.assigned_message_queue.message_queues())
        self.node.trace(QueuesHeld(self.instance.client_id, self.group, mqs))

    def _update_pull_tasks(self, mqs: Collection[MessageQueue], topic: str | None = None) -> None:
        """DefaultLitePullConsumerImpl#updatePullTask, #updateAssignPullTask if there is no topic."""
        self._cancel(lambda mq: topic in {None, mq.topic} and mq not in mqs)
        for mq in mqs:
            self._start_pull_task(mq)

    def _cancel(self, which: Callable[[MessageQueue], bool]) -> None:
        for mq, task in self.task_table.entries():
            if which(mq):
                task.cancelled = True
                self.task_table.remove(mq)

    def _start_pull_task(self, mq: MessageQueue) -> None:
        """DefaultLitePullConsumerImpl#startPullTask, for one queue."""
        if not self.task_table.contains_key(mq):
            task = PullTask(self, mq)
            self.task_table.put(mq, task)
            self.pull_executor.schedule(task.run, 0)

    async def _update_topic_subscribe_info(self) -> None:
        for topic in self.rebalance_impl.subscription_inner.key_set():
            await self.instance.update_topic_route_info_from_name_server(topic)

    # What its user does -----------------------------------------------------------------------------------------------

    async def poll(self, timeout_ms: int = 5_000) -> list[MessageExt]:
        """DefaultLitePullConsumerImpl#poll: what one pull has found; empty when the time is over.

        It counts as consumed here. Raises IllegalStateError, and IllegalArgumentError for a time below 0.
        """
        self._check_service_state()
        if timeout_ms < 0:
            raise IllegalArgumentError("Timeout must not be negative")
        if self.config.auto_commit:
            await self._maybe_auto_commit()
        end_ms = self.node.now_ms() + timeout_ms
        request = await self._next_request(end_ms)
        while request is not None and request.process_queue.dropped and end_ms > self.node.now_ms():
            request = await self._next_request(end_ms)
        if request is None or request.process_queue.dropped:
            return []
        offset = request.process_queue.remove_message(request.message_exts)
        self.assigned_message_queue.update_consume_offset(request.message_queue, offset)
        self._reset_topic(request.message_exts)
        return list(request.message_exts)

    def _reset_topic(self, msgs: Collection[MessageExt]) -> None:
        """DefaultLitePullConsumerImpl#resetTopic."""
        for msg in msgs:
            msg.topic = without_namespace(msg.topic, self.namespace) or msg.topic

    async def _next_request(self, end_ms: int) -> ConsumeRequest | None:
        """BlockingQueue#poll."""
        while not self.consume_request_cache:
            left_ms = end_ms - self.node.now_ms()
            if left_ms <= 0 or not await self.node.wait(self._arrival, left_ms):
                break
        return self.consume_request_cache.popleft() if self.consume_request_cache else None

    def submit_consume_request(self, request: ConsumeRequest) -> None:
        """DefaultLitePullConsumerImpl#submitConsumeRequest."""
        self.consume_request_cache.append(request)
        self.node.wake(self._arrival)

    def message_queue_lock(self, mq: MessageQueue) -> Lock:
        """MessageQueueLock#fetchLockObject."""
        return self._locks.setdefault(mq, Lock(f"MessageQueueLock {mq.text}"))

    def pause(self, mqs: Collection[MessageQueue]) -> None:
        """DefaultLitePullConsumerImpl#pause: nothing is pulled; what waits can be polled."""
        self.assigned_message_queue.pause(mqs)

    def resume_queues(self, mqs: Collection[MessageQueue]) -> None:
        """DefaultLitePullConsumerImpl#resume."""
        self.assigned_message_queue.pause(mqs, paused=False)

    async def seek(self, mq: MessageQueue, offset: int) -> None:
        """DefaultLitePullConsumerImpl#seek: what waits of the queue is forgotten; raises MQClientError.

        The commit follows when the next pull begins: until then the next poll commits what was polled before.
        """
        if mq not in self.assigned_message_queue.message_queues():
            maybe = ", may be rebalancing" if self.subscribes else ""
            raise MQClientError(f"The message queue is not in assigned list{maybe}, message queue: {mq.text}")
        least, greatest = await self.min_offset(mq), await self.max_offset(mq)
        if not least <= offset <= greatest:
            raise MQClientError(f"Seek offset illegal, seek offset = {offset}, min offset = {least}, "
                                f"max offset = {greatest}")
        lock = self.message_queue_lock(mq)
        await self.node.lock(lock)
        self._clear_message_queue_in_cache(mq)
        self._cancel(lambda one: one == mq)
        self.assigned_message_queue.set_seek_offset(mq, offset)
        self._start_pull_task(mq)
        self.node.unlock(lock)

    async def seek_to_begin(self, mq: MessageQueue) -> None:
        """DefaultLitePullConsumerImpl#seekToBegin; raises MQClientError."""
        await self.seek(mq, await self.min_offset(mq))

    async def seek_to_end(self, mq: MessageQueue) -> None:
        """DefaultLitePullConsumerImpl#seekToEnd; raises MQClientError."""
        await self.seek(mq, await self.max_offset(mq))

    def _clear_message_queue_in_cache(self, mq: MessageQueue) -> None:
        pq = self.assigned_message_queue.process_queue(mq)
        if pq is not None:
            pq.clear()
        kept = [request for request in self.consume_request_cache if request.message_queue != mq]
        self.consume_request_cache.clear()
        self.consume_request_cache.extend(kept)

    async def min_offset(self, mq: MessageQueue) -> int:
        """MQAdminImpl#minOffset; raises MQClientError, IllegalStateError."""
        self._check_service_state()
        return await self.instance.admin.min_offset(mq)

    async def max_offset(self, mq: MessageQueue) -> int:
        """MQAdminImpl#maxOffset; raises MQClientError, IllegalStateError."""
        self._check_service_state()
        return await self.instance.admin.max_offset(mq)

    # Offsets ----------------------------------------------------------------------------------------------------------

    async def _maybe_auto_commit(self) -> None:
        """DefaultLitePullConsumerImpl#maybeAutoCommit."""
        now_ms = self.node.now_ms()
        if now_ms >= self._next_auto_commit_deadline:
            await self.commit_all()
            self._next_auto_commit_deadline = now_ms + self.config.auto_commit_interval_ms

    async def commit_all(self) -> None:
        """DefaultLitePullConsumerImpl#commitAll, DefaultLitePullConsumer#commitSync: into memory; a timer sends it.

        Who broadcasts writes its file.
        """
        assigned = self.assigned_message_queue
        for mq, state in assigned.states.entries():
            if state.consume_offset != UNSET and not state.process_queue.dropped:
                self.offset_store.update_offset(mq, state.consume_offset, increase_only=False)
        if self.config.message_model == BROADCASTING:
            await self.offset_store.persist_all(assigned.message_queues(), self.node)

    async def committed(self, mq: MessageQueue) -> int:
        """DefaultLitePullConsumerImpl#committed; raises MQClientError, IllegalStateError."""
        self._check_service_state()
        offset = await self.offset_store.read_offset(mq, ReadOffsetType.MEMORY_FIRST_THEN_STORE, self.node)
        if offset == READ_FAILED:
            raise MQClientError("Fetch consume offset from broker exception")
        return offset

    async def fetch_consume_offset(self, mq: MessageQueue) -> int:
        """DefaultLitePullConsumerImpl#fetchConsumeOffset; raises JavaErrors."""
        self._check_service_state()
        return await self.rebalance_impl.compute_pull_from_where_with_exception(mq, self.node)

    # Changes of topics ------------------------------------------------------------------------------------------------

    async def fetch_message_queues(self, topic: str) -> frozenset[MessageQueue]:
        """DefaultLitePullConsumerImpl#fetchMessageQueues: without their namespace.

        Raises MQClientError, IllegalStateError.
        """
        self._check_service_state()
        mqs = await self.instance.admin.fetch_subscribe_message_queues(topic)
        return frozenset(mq._replace(topic=without_namespace(mq.topic, self.namespace) or mq.topic) for mq in mqs)

    async def register_topic_message_queue_change_listener(
        self, topic: str, listener: TopicMessageQueueChangeListener,
    ) -> None:
        """DefaultLitePullConsumerImpl#registerTopicMessageQueueChangeListener; raises MQClientError."""
        self._change_listeners[topic] = listener
        if self.service_state == RUNNING:
            self._queues_of_topics[topic] = await self.fetch_message_queues(topic)

    async def _fetch_topic_message_queues_and_compare(self) -> None:
        """DefaultLitePullConsumerImpl#fetchTopicMessageQueuesAndCompare: a failure ends the round."""
        try:
            for topic, listener in [*self._change_listeners.items()]:
                mqs = await self.fetch_message_queues(topic)
                if not mqs or mqs != self._queues_of_topics.get(topic):  # two empty sets count as different
                    self._queues_of_topics[topic] = mqs
                    listener(topic, mqs)
        except JavaError:
            return  # logged

    # What the instance asks -------------------------------------------------------------------------------------------

    def consumer_data(self) -> ConsumerData:
        """Its part of a heartbeat: wherever it begins, it says CONSUME_FROM_LAST_OFFSET."""
        return ConsumerData(
            self.group, CONSUME_ACTIVELY, self.config.message_model, ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,
            self.rebalance_impl.subscription_inner.values())

    async def do_rebalance(self) -> None:
        """DefaultLitePullConsumerImpl#doRebalance."""
        await self.rebalance_impl.do_rebalance(False, self.node)

    async def persist_consumer_offset(self) -> None:
        """DefaultLitePullConsumerImpl#persistConsumerOffset: of the queues in the table, or of those assigned."""
        if self.service_state == RUNNING:
            mqs = self.assigned_message_queue.message_queues()
            if self.subscribes:
                mqs = self.rebalance_impl.process_queue_table.key_set()
            await self.offset_store.persist_all(frozenset(mqs), self.node)
