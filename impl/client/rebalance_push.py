"""RebalancePushImpl: how a push consumer takes queues and gives them up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Coroutine
from dataclasses import replace
from typing import Any

from impl.client.mq_admin_impl import MQAdminImpl
from impl.client.mq_client_instance import MQClientInstance
from impl.client.offset_store import OffsetStore, ReadOffsetType
from impl.client.process_queue import ProcessQueue
from impl.client.rebalance import PullRequest, RebalanceImpl
from impl.common.heartbeat_data import CLUSTERING, CONSUME_PASSIVELY
from impl.decisions.allocation import AllocateMessageQueueStrategy
from impl.decisions.java_errors import JavaError, not_null
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX
from impl.decisions.start_offset import ConsumeFromWhere, Source, start_offset, start_offset_source
from impl.events import (
    AllocationFailed,
    LockBelieved,
    OffsetLearntLate,
    QueueDropped,
    QueueForgotten,
    QueuesAssigned,
    QueueTaken,
    RenewalRefused,
    VersionRaised,
)
from impl.ports.node import Node
from impl.ports.threads import Lock, Threads

UNLOCK_DELAY_TIME_MS = 20_000  # property rocketmq.client.unlockDelayTimeMills
CONSUME_LOCK_TIMEOUT_MS = 1_000


async def ask_where_to_start(
    admin: MQAdminImpl, mq: MessageQueue, source: Source, stored: int, consume_timestamp_ms: int,
) -> int:
    """The end of #computePullFromWhereWithException: the source may have to be asked for; raises JavaErrors."""
    max_offset = await admin.max_offset(mq) if source is Source.MAX_OFFSET else -1
    searched = await admin.search_offset(mq, consume_timestamp_ms) if source is Source.SEARCH_OFFSET else -1
    return start_offset(source, stored, max_offset, searched)


class RebalancePushImpl(RebalanceImpl):
    """`client.impl.consumer.RebalancePushImpl`.

    orderly -- the listener is a MessageListenerOrderly. consume_from_where, consume_timestamp_ms -- where a queue is
    begun that has no offset. execute_pull_request -- DefaultMQPushConsumerImpl#executePullRequestImmediately.
    divide_thresholds -- is told how many queues there are.
    """

    def __init__(  # noqa: PLR0913  # what Java's class reads of its consumer
        self,
        node: Node,
        instance: MQClientInstance,
        group: str,
        message_model: str,
        strategy: AllocateMessageQueueStrategy,
        *,
        orderly: bool,
        consume_from_where: ConsumeFromWhere,
        consume_timestamp_ms: int,
        offset_store: OffsetStore,
        execute_pull_request: Callable[[PullRequest], None],
        divide_thresholds: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Start without queues."""
        super().__init__(group, message_model, strategy, instance, node.now_ms)
        self.node, self.instance, self.offset_store = node, instance, offset_store
        self.orderly = orderly
        self.consume_from_where, self.consume_timestamp_ms = consume_from_where, consume_timestamp_ms
        self.execute_pull_request, self.divide_thresholds = execute_pull_request, divide_thresholds
        self._held: dict[MessageQueue, ProcessQueue] = {}  # taken, and its drop not reported yet

    # What happens to queues -------------------------------------------------------------------------------------------

    def consume_type(self) -> str:
        """RebalancePushImpl#consumeType."""
        return CONSUME_PASSIVELY

    async def message_queue_changed(
        self, topic: str, mq_all: Collection[MessageQueue], mq_divided: Collection[MessageQueue], threads: Threads,
    ) -> None:
        """RebalancePushImpl#messageQueueChanged: a new version of the subscription, then a heartbeat, if it may.

        Raises NullPointerError if the topic is not subscribed any more.
        """
        del mq_all, mq_divided
        subscription = not_null(self.subscription_inner.get(topic))
        newer = replace(subscription, sub_version=self.now_ms())
        self.subscription_inner.put(topic, newer)
        self.node.trace(VersionRaised(self.instance.client_id, self.consumer_group, topic, newer.sub_version))
        self.divide_thresholds(len(self.process_queue_table))
        await threads.interleave("messageQueueChanged: before the heartbeat")
        await self.instance.send_heartbeat_to_all_broker_with_lock()

    async def remove_unnecessary_message_queue(self, mq: MessageQueue, pq: ProcessQueue, threads: Threads) -> bool:
        """RebalancePushImpl#removeUnnecessaryMessageQueue: the offset goes first, whatever becomes of the queue."""
        self.report_dropped(by_rebalance=True)
        await self.offset_store.persist(mq)
        await threads.interleave("removeUnnecessaryMessageQueue: between persist and removeOffset")
        self.offset_store.remove_offset(mq)
        if not self.orderly or self.message_model != CLUSTERING:
            return True
        if not await threads.try_lock(pq.consume_lock, CONSUME_LOCK_TIMEOUT_MS):
            pq.try_unlock_times += 1
            return False
        try:
            await self._unlock_delay(mq, pq)
        except JavaError:
            threads.unlock(pq.consume_lock)
            return False
        threads.unlock(pq.consume_lock)
        return True

    async def _unlock_delay(self, mq: MessageQueue, pq: ProcessQueue) -> None:
        """RebalancePushImpl#unlockDelay: with messages in the cache the lock is given back 20 s later in any case."""
        if pq.has_temp_message():
            self.instance.scheduler.schedule(lambda: self.unlock(mq, oneway=True), UNLOCK_DELAY_TIME_MS)
        else:
            await self.unlock(mq, oneway=True)

    def remove_dirty_offset(self, mq: MessageQueue) -> None:
        """RebalancePushImpl#removeDirtyOffset."""
        self.offset_store.remove_offset(mq)

    async def compute_pull_from_where_with_exception(self, mq: MessageQueue, threads: Threads) -> int:
        """RebalancePushImpl#computePullFromWhereWithException."""
        stored = await self.offset_store.read_offset(mq, ReadOffsetType.READ_FROM_STORE, threads)
        if stored >= 0 and not self.orderly and mq in self._held:  # orderly ones read for their first pull, too
            self.node.trace(OffsetLearntLate(self.instance.client_id, self.consumer_group, mq, stored, pulled=False))
        source = self._source(stored, retry_topic=mq.topic.startswith(RETRY_GROUP_TOPIC_PREFIX))
        return await ask_where_to_start(self.instance.admin, mq, source, stored, self.consume_timestamp_ms)

    def _source(self, stored: int, *, retry_topic: bool) -> Source:
        """A group that begins at a time begins its retry topic at the end (L11)."""
        return start_offset_source(self.consume_from_where, stored, retry_topic=retry_topic)

    async def dispatch_pull_request(self, pull_request_list: list[PullRequest]) -> None:
        """RebalancePushImpl#dispatchPullRequest: at once, but only after all new queues have been entered."""
        for pull_request in pull_request_list:
            self.execute_pull_request(pull_request)

    # Reports ----------------------------------------------------------------------------------------------------------

    async def do_rebalance(self, is_order: bool, threads: Threads) -> None:
        """RebalanceImpl#doRebalance."""
        await super().do_rebalance(is_order, _Reporting(self, threads))
        self.report_dropped(by_rebalance=True)

    async def update_process_queue_table(
        self, topic: str, mq_set: Collection[MessageQueue], is_order: bool, threads: Threads,
    ) -> bool:
        """RebalanceImpl#updateProcessQueueTableInRebalance."""
        reporting = threads if isinstance(threads, _Reporting) else _Reporting(self, threads)
        changed = await super().update_process_queue_table(topic, mq_set, is_order, reporting)
        self.report_dropped(by_rebalance=True)
        mqs = frozenset(mq for mq in self._held if mq.topic == topic)
        self.node.trace(QueuesAssigned(self.instance.client_id, self.consumer_group, topic, mqs, changed))
        return changed

    async def _take(self, mq: MessageQueue, is_order: bool, threads: Threads) -> PullRequest | None:
        pull_request = await super()._take(mq, is_order, threads)
        if pull_request is not None:
            self._held[mq] = pull_request.process_queue
            self.node.trace(QueueTaken(self.instance.client_id, self.consumer_group, mq, pull_request.next_offset))
        return pull_request

    def destroy(self) -> None:
        """RebalanceImpl#destroy."""
        super().destroy()
        self.report_dropped()

    def report_failed(self, topic: str, error: JavaError) -> None:
        """Report that the strategy has thrown."""
        self.node.trace(AllocationFailed(self.instance.client_id, self.consumer_group, topic, error.java_class))

    def report_removed(self, mq: MessageQueue, removed: ProcessQueue | None) -> None:
        """Report a queue that has left the table without being dropped."""
        if removed is not None and not removed.dropped:
            self.node.trace(QueueForgotten(self.instance.client_id, self.consumer_group, mq))

    def report_dropped(self, *, by_rebalance: bool = False) -> None:
        """Report the queues whose `dropped` has been set in this segment; whoever is no rebalance does so at once."""
        for mq in [mq for mq, pq in self._held.items() if pq.dropped]:
            del self._held[mq]
            self.node.trace(QueueDropped(self.instance.client_id, self.consumer_group, mq, by_rebalance))

    def _mark_renewed(self, mqs: Collection[MessageQueue], locked_mq: Collection[MessageQueue]) -> None:
        super()._mark_renewed(mqs, locked_mq)
        refused = frozenset(mqs).difference(locked_mq)
        if refused:
            self.node.trace(RenewalRefused(self.instance.client_id, self.consumer_group, refused))

    def _mark_locked(self, mqs: Collection[MessageQueue]) -> None:
        super()._mark_locked(mqs)
        self._report_locks(mqs, locked=True)

    def _mark_unlocked(self, mqs: Collection[MessageQueue]) -> None:
        super()._mark_unlocked(mqs)
        self._report_locks(mqs, locked=False)

    def _report_locks(self, mqs: Collection[MessageQueue], *, locked: bool) -> None:
        for mq in mqs:
            if self.process_queue_table.contains_key(mq):
                self.node.trace(LockBelieved(self.instance.client_id, self.consumer_group, mq, locked))


class _Reporting:
    """The thread of a rebalance: before its segment ends, drops are reported that it has made."""

    def __init__(self, rebalance: RebalancePushImpl, threads: Threads) -> None:
        self.rebalance, self.threads = rebalance, threads

    def interleave(self, where: str) -> Awaitable[None]:
        """See `impl.ports.threads`."""
        self.rebalance.report_dropped(by_rebalance=True)
        return self.threads.interleave(where)

    def try_lock(self, lock: Lock, timeout_ms: int) -> Coroutine[Any, Any, bool]:
        """See `impl.ports.threads`."""
        return self.threads.try_lock(lock, timeout_ms)

    def unlock(self, lock: Lock) -> None:
        """See `impl.ports.threads`."""
        self.threads.unlock(lock)
