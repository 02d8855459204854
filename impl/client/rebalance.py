"""RebalanceImpl: which queues a consumer holds, and how it takes and gives them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from impl.client.offset_store import FindBrokerResult
from impl.client.process_queue import ProcessQueue
from impl.common.heartbeat_data import BROADCASTING, CONSUME_PASSIVELY
from impl.decisions.allocation import AllocateMessageQueueStrategy
from impl.decisions.java_errors import JavaError
from impl.decisions.java_text import utf16_key
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID
from impl.decisions.subscription import SubscriptionData
from impl.hash_map import ConcurrentHashMap, HashMap
from impl.ports.threads import Threads

LOCK_RPC_TIMEOUT_MS = 1000


@dataclass(slots=True, eq=False)
class PullRequest:
    """`client.impl.consumer.PullRequest`: one chain of pulls for one process queue.

    next_offset -- where the next pull starts. previously_locked -- an orderly chain has seen the lock before.
    """

    consumer_group: str
    message_queue: MessageQueue
    process_queue: ProcessQueue
    next_offset: int
    previously_locked: bool = False


@lru_cache(maxsize=1024)
def _in_order(mqs: tuple[MessageQueue, ...]) -> tuple[MessageQueue, ...]:
    """Collections#sort; the same queues are sorted again and again."""
    return tuple(sorted(mqs))


@lru_cache(maxsize=1024)
def _by_text(client_ids: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(client_ids, key=utf16_key))


class RebalanceRpc(Protocol):
    """What a rebalance asks of MQClientInstance and MQClientAPIImpl."""

    client_id: str

    def find_broker_address_in_subscribe(
        self, broker_name: str, broker_id: int, *, only_this_broker: bool,
    ) -> FindBrokerResult | None:
        """MQClientInstance#findBrokerAddressInSubscribe."""
        ...

    async def find_consumer_id_list(self, topic: str, group: str) -> Sequence[str] | None:
        """MQClientInstance#findConsumerIdList: None for any failure; may refresh the route, too late for this run."""
        ...

    async def lock_batch_mq(
        self, addr: str, group: str, mqs: Collection[MessageQueue], timeout_ms: int,
    ) -> Collection[MessageQueue]:
        """MQClientAPIImpl#lockBatchMQ: the queues that are locked now."""
        ...

    async def unlock_batch_mq(
        self, addr: str, group: str, mqs: Collection[MessageQueue], timeout_ms: int, *, oneway: bool,
    ) -> None:
        """MQClientAPIImpl#unlockBatchMQ."""
        ...


class RebalanceImpl(ABC):
    """`client.impl.consumer.RebalanceImpl`: ConcurrentHashMaps, no lock.

    The rebalance thread of the instance runs it, the scheduled thread its lock_all, network threads the removal of a
    queue, and a resume() any thread of the user: only put_if_absent keeps two rebalances apart.

    consumer_group, message_model -- of the consumer. strategy -- shares out the queues. rpc -- the client instance.
    now_ms -- the clock of the client.

    process_queue_table -- the queues that this consumer takes for its own, the dropped ones that it could not give back
    included. topic_subscribe_info_table -- topic to all its readable queues. subscription_inner -- what is subscribed.
    """

    def __init__(
        self,
        consumer_group: str,
        message_model: str,
        strategy: AllocateMessageQueueStrategy,
        rpc: RebalanceRpc,
        now_ms: Callable[[], int],
    ) -> None:
        """Start without queues."""
        self.consumer_group = consumer_group
        self.message_model = message_model
        self.strategy = strategy
        self.rpc = rpc
        self.now_ms = now_ms
        self.process_queue_table: ConcurrentHashMap[MessageQueue, ProcessQueue] = ConcurrentHashMap(64)
        self.topic_subscribe_info_table: ConcurrentHashMap[str, Collection[MessageQueue]] = ConcurrentHashMap()
        self.subscription_inner: ConcurrentHashMap[str, SubscriptionData] = ConcurrentHashMap()

    # What a kind of consumer adds -------------------------------------------------------------------------------------

    @abstractmethod
    async def message_queue_changed(
        self, topic: str, mq_all: Collection[MessageQueue], mq_divided: Collection[MessageQueue], threads: Threads,
    ) -> None:
        """RebalanceImpl#messageQueueChanged."""

    @abstractmethod
    async def remove_unnecessary_message_queue(self, mq: MessageQueue, pq: ProcessQueue, threads: Threads) -> bool:
        """RebalanceImpl#removeUnnecessaryMessageQueue: False keeps the dropped queue in the table."""

    @abstractmethod
    def consume_type(self) -> str:
        """RebalanceImpl#consumeType."""

    @abstractmethod
    def remove_dirty_offset(self, mq: MessageQueue) -> None:
        """RebalanceImpl#removeDirtyOffset."""

    @abstractmethod
    async def compute_pull_from_where_with_exception(self, mq: MessageQueue, threads: Threads) -> int:
        """RebalanceImpl#computePullFromWhereWithException: below 0, and any JavaError, skip the queue in this run."""

    @abstractmethod
    async def dispatch_pull_request(self, pull_request_list: list[PullRequest]) -> None:
        """RebalanceImpl#dispatchPullRequest."""

    # Rebalance --------------------------------------------------------------------------------------------------------

    async def do_rebalance(self, is_order: bool, threads: Threads) -> None:
        """RebalanceImpl#doRebalance: topic by topic; whatever goes wrong with one, the next one goes on."""
        for topic, _ in self.subscription_inner.traverse():
            try:
                await self.rebalance_by_topic(topic, is_order, threads)
            except JavaError:
                continue  # logged
        await self.truncate_message_queue_not_my_topic(threads)

    async def rebalance_by_topic(self, topic: str, is_order: bool, threads: Threads) -> None:
        """RebalanceImpl#rebalanceByTopic: the route is read BEFORE the members are asked for."""
        mq_set = self.topic_subscribe_info_table.get(topic)
        if self.message_model == BROADCASTING:
            if mq_set is not None and await self.update_process_queue_table(topic, mq_set, is_order, threads):
                await self.message_queue_changed(topic, mq_set, mq_set, threads)
            return
        cid_all = await self.rpc.find_consumer_id_list(topic, self.consumer_group)
        if mq_set is None or cid_all is None:
            return
        try:
            allocated = self.strategy.allocate(
                self.consumer_group, self.rpc.client_id, list(_in_order(tuple(mq_set))), list(_by_text(tuple(cid_all))),
            )
        except JavaError as error:
            self.report_failed(topic, error)
            return  # logged; nothing changes
        mine = list(dict.fromkeys(allocated or []))
        if await self.update_process_queue_table(topic, mine, is_order, threads):
            await self.message_queue_changed(topic, mq_set, mine, threads)

    def report_failed(self, topic: str, error: JavaError) -> None:
        """Report that the strategy has thrown; by itself a rebalance reports nothing."""
        del topic, error

    def report_removed(self, mq: MessageQueue, removed: ProcessQueue | None) -> None:
        """Report what has left the table, whatever was meant to leave it; by itself a rebalance reports nothing."""
        del mq, removed

    async def update_process_queue_table(
        self, topic: str, mq_set: Collection[MessageQueue], is_order: bool, threads: Threads,
    ) -> bool:
        """RebalanceImpl#updateProcessQueueTableInRebalance: whether a queue came or went."""
        removed = await self._give_up(topic, mq_set, threads)
        pull_request_list = []
        for mq in mq_set:
            if not self.process_queue_table.contains_key(mq):
                pull_request = await self._take(mq, is_order, threads)
                if pull_request is not None:
                    pull_request_list.append(pull_request)
        await threads.interleave("updateProcessQueueTableInRebalance: before dispatchPullRequest")
        await self.dispatch_pull_request(pull_request_list)
        return removed or bool(pull_request_list)

    async def _give_up(self, topic: str, mq_set: Collection[MessageQueue], threads: Threads) -> bool:
        """The first loop: drop what is not in the set, and what a push consumer has not pulled for 120 s."""
        changed = False
        for mq, pq in self.process_queue_table.traverse():
            if mq.topic != topic:
                continue
            if mq not in mq_set or (pq.is_pull_expired() and self.consume_type() == CONSUME_PASSIVELY):
                pq.dropped = True
                await threads.interleave("updateProcessQueueTableInRebalance: the queue is dropped")
                if await self.remove_unnecessary_message_queue(mq, pq, threads):
                    self.report_removed(mq, self.process_queue_table.remove(mq))
                    changed = True
        return changed

    async def _take(self, mq: MessageQueue, is_order: bool, threads: Threads) -> PullRequest | None:
        """The second loop for one queue: lock, forget, ask where to start, and only then enter it in the table."""
        if is_order and not await self.lock(mq):
            return None
        self.remove_dirty_offset(mq)
        pq = ProcessQueue(self.now_ms)
        try:
            next_offset = await self.compute_pull_from_where_with_exception(mq, threads)
        except JavaError:
            return None  # logged; the lock, if there is one, stays
        await threads.interleave("updateProcessQueueTableInRebalance: before putIfAbsent")
        if next_offset < 0 or self.process_queue_table.put_if_absent(mq, pq) is not None:
            return None
        return PullRequest(self.consumer_group, mq, pq, next_offset)

    async def truncate_message_queue_not_my_topic(self, threads: Threads) -> None:
        """RebalanceImpl#truncateMessageQueueNotMyTopic: nothing is persisted, forgotten or unlocked."""
        for mq in self.process_queue_table.key_set():
            if not self.subscription_inner.contains_key(mq.topic):
                await threads.interleave("truncateMessageQueueNotMyTopic: before a queue is removed")
                pq = self.process_queue_table.remove(mq)
                if pq is not None:
                    pq.dropped = True

    async def remove_process_queue(self, mq: MessageQueue, threads: Threads) -> None:
        """RebalanceImpl#removeProcessQueue: whatever process queue the table has by now; the answer is ignored."""
        pq = self.process_queue_table.remove(mq)
        if pq is not None:
            pq.dropped = True
            await self.remove_unnecessary_message_queue(mq, pq, threads)

    def destroy(self) -> None:
        """RebalanceImpl#destroy."""
        for pq in self.process_queue_table.values():
            pq.dropped = True
        self.process_queue_table.clear()

    # Locks at the master, for orderly consumers -----------------------------------------------------------------------

    async def lock(self, mq: MessageQueue) -> bool:
        """RebalanceImpl#lock: whether the broker grants it; a refusal does not clear `locked`.

        A queue that is not in the table yet gets no flag: it counts as unlocked until the next lock_all.
        """
        found = self.rpc.find_broker_address_in_subscribe(mq.broker_name, MASTER_ID, only_this_broker=True)
        if found is None:
            return False
        try:
            locked_mq = await self.rpc.lock_batch_mq(
                found.broker_addr, self.consumer_group, [mq], LOCK_RPC_TIMEOUT_MS,
            )
        except JavaError:
            return False  # logged
        self._mark_locked(locked_mq)
        return mq in locked_mq

    async def lock_all(self) -> None:
        """RebalanceImpl#lockAll: one call a broker, dropped queues included; an error leaves its queues as they are."""
        for broker_name, mqs in self.build_process_queue_table_by_broker_name():
            found = self.rpc.find_broker_address_in_subscribe(broker_name, MASTER_ID, only_this_broker=True)
            if found is None:
                continue
            try:
                locked_mq = await self.rpc.lock_batch_mq(
                    found.broker_addr, self.consumer_group, mqs, LOCK_RPC_TIMEOUT_MS,
                )
            except JavaError:
                continue  # logged
            self._mark_renewed(mqs, locked_mq)

    async def unlock(self, mq: MessageQueue, *, oneway: bool) -> None:
        """RebalanceImpl#unlock."""
        found = self.rpc.find_broker_address_in_subscribe(mq.broker_name, MASTER_ID, only_this_broker=True)
        if found is None:
            return
        try:
            await self.rpc.unlock_batch_mq(
                found.broker_addr, self.consumer_group, [mq], LOCK_RPC_TIMEOUT_MS, oneway=oneway,
            )
        except JavaError:
            return  # logged

    async def unlock_all(self, *, oneway: bool) -> None:
        """RebalanceImpl#unlockAll: `locked` is cleared only after success."""
        for broker_name, mqs in self.build_process_queue_table_by_broker_name():
            found = self.rpc.find_broker_address_in_subscribe(broker_name, MASTER_ID, only_this_broker=True)
            if found is None:
                continue
            try:
                await self.rpc.unlock_batch_mq(
                    found.broker_addr, self.consumer_group, mqs, LOCK_RPC_TIMEOUT_MS, oneway=oneway,
                )
            except JavaError:
                continue  # logged
            self._mark_unlocked(mqs)

    def build_process_queue_table_by_broker_name(self) -> tuple[tuple[str, list[MessageQueue]], ...]:
        """RebalanceImpl#buildProcessQueueTableByBrokerName: broker name to the queues in the table."""
        result: HashMap[str, list[MessageQueue]] = HashMap()
        for mq in self.process_queue_table.key_set():
            mqs = result.get(mq.broker_name)
            if mqs is None:
                mqs = []
                result.put(mq.broker_name, mqs)
            mqs.append(mq)
        return result.entries()

    def _mark_renewed(self, mqs: Collection[MessageQueue], locked_mq: Collection[MessageQueue]) -> None:
        self._mark_locked(locked_mq)
        self._mark_unlocked([mq for mq in mqs if mq not in locked_mq])

    def _mark_locked(self, mqs: Collection[MessageQueue]) -> None:
        for mq in mqs:
            pq = self.process_queue_table.get(mq)
            if pq is not None:
                pq.locked = True
                pq.last_lock_timestamp = self.now_ms()

    def _mark_unlocked(self, mqs: Collection[MessageQueue]) -> None:
        for mq in mqs:
            pq = self.process_queue_table.get(mq)
            if pq is not None:
                pq.locked = False
