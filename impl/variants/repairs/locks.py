"""Repairs of order locks, at the broker and at the client."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from typing import cast

from impl.broker.admin_broker_processor import AdminBrokerProcessor
from impl.broker.rebalance_lock_manager import REBALANCE_LOCK_MAX_LIVE_TIME_MS, RebalanceLockManager
from impl.client.consume_message_orderly_service import ConsumeMessageOrderlyService
from impl.client.offset_store import RemoteBrokerOffsetStore
from impl.client.process_queue import ProcessQueue
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance import LOCK_RPC_TIMEOUT_MS, PullRequest, RebalanceImpl
from impl.client.rebalance_push import CONSUME_LOCK_TIMEOUT_MS, UNLOCK_DELAY_TIME_MS, RebalancePushImpl
from impl.common.headers import LockBatchRequestBody
from impl.common.heartbeat_data import CLUSTERING, CONSUME_PASSIVELY
from impl.common.request_code import ResponseCode
from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID
from impl.ports.remoting import Command, Connection
from impl.ports.threads import UNINTERRUPTED, Interleave, Lock, Threads
from impl.variants.variant import Variant, around, replace

# At the broker --------------------------------------------------------------------------------------------------------


@around(RebalanceLockManager, "is_locked")
def _renew_in_one_step(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def is_locked(
        self: RebalanceLockManager, group: str, mq: MessageQueue, client_id: str, threads: Interleave,
    ) -> bool:
        """Under the lock."""
        del threads
        return await original(self, group, mq, client_id, UNINTERRUPTED)

    return is_locked


def _newest(processor: AdminBrokerProcessor, request: Command) -> tuple[MessageQueue, ...]:
    """The queues for which no later request of this client has been served yet; from now on this one has.

    A process numbers its requests, whatever connection they take, and its client id is its own
    (client_id_names_the_process).
    """
    body: LockBatchRequestBody = request.body
    served: dict[tuple[str, MessageQueue, str], int] = vars(processor).setdefault("served", {})
    newest = []
    for mq in body.mq_set:
        key = (body.consumer_group, mq, body.client_id)
        if served.get(key, 0) < request.opaque:
            served[key] = request.opaque
            newest.append(mq)
    return tuple(newest)


@replace(AdminBrokerProcessor, "lock_batch_mq")
async def _lock_in_order(self: AdminBrokerProcessor, channel: Connection, request: Command) -> Command:
    """A request that a later one of its client has overtaken locks nothing; under the lock."""
    del channel
    body: LockBatchRequestBody = request.body
    await self.node.interleave("lockBatchMQ: before tryLockBatch")
    mqs = _newest(self, request)
    locks = self.rebalance_lock_manager
    locked = await locks.try_lock_batch(body.consumer_group, mqs, body.client_id, UNINTERRUPTED)
    return self.answer_locks(body, locked)


@replace(AdminBrokerProcessor, "unlock_batch_mq")
async def _unlock_in_order(self: AdminBrokerProcessor, channel: Connection, request: Command) -> Command:
    """A request that a later one of its client has overtaken unlocks nothing."""
    del channel
    body: LockBatchRequestBody = request.body
    await self.node.interleave("unlockBatchMQ: before unlockBatch")
    mqs = _newest(self, request)
    self.rebalance_lock_manager.unlock_batch(body.consumer_group, mqs, body.client_id)
    return Command(ResponseCode.SUCCESS)


@around(RebalanceLockManager, "__init__")
def _know_the_start(original: Callable[..., None]) -> Callable[..., None]:
    def __init__(self: RebalanceLockManager, now_ms: Callable[[], int]) -> None:  # noqa: N807  # its name over there
        original(self, now_ms)
        vars(self)["started_ms"] = now_ms()

    return __init__


@around(RebalanceLockManager, "try_lock_under_lock")
def _wait_for_old_leases(original: Callable[..., list[MessageQueue]]) -> Callable[..., list[MessageQueue]]:
    def try_lock_under_lock(
        self: RebalanceLockManager, group: str, mqs: Sequence[MessageQueue], client_id: str,
    ) -> list[MessageQueue]:
        """Nothing is granted before all leases are over that a former process may have given."""
        if self.now_ms() - vars(self)["started_ms"] <= REBALANCE_LOCK_MAX_LIVE_TIME_MS:
            return []
        return original(self, group, mqs, client_id)

    return try_lock_under_lock


# At the client --------------------------------------------------------------------------------------------------------


@around(RebalanceImpl, "lock")
def _count_wishes(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def lock(self: RebalanceImpl, mq: MessageQueue) -> bool:
        """Note that the queue is wanted anew."""
        wishes: dict[MessageQueue, int] = vars(self).setdefault("wishes", {})
        wishes[mq] = wishes.get(mq, 0) + 1
        return await original(self, mq)

    return lock


@replace(RebalancePushImpl, "_unlock_delay")
async def _unlock_unless_wanted(self: RebalancePushImpl, mq: MessageQueue, pq: ProcessQueue) -> None:
    """The delayed unlock does nothing if the queue was wanted anew meanwhile."""
    wishes: dict[MessageQueue, int] = vars(self).setdefault("wishes", {})
    before = wishes.get(mq, 0)

    async def unlock() -> None:
        if wishes.get(mq, 0) == before:
            await self.unlock(mq, oneway=True)

    if pq.has_temp_message():
        self.instance.scheduler.schedule(unlock, UNLOCK_DELAY_TIME_MS)
    else:
        await self.unlock(mq, oneway=True)


@replace(ConsumeMessageOrderlyService, "shutdown")
async def _hand_over(self: ConsumeMessageOrderlyService) -> None:
    """Queue by queue: its listener ends, it is given up, its offset is stored, and only then its lock is free.

    The lock of a queue whose listener goes on is left to its lease.
    """
    await self._stop()
    if not self.in_clustering:
        return
    rebalance, store = self.consumer.rebalance_impl, self.consumer.offset_store
    for mq, pq in rebalance.process_queue_table.traverse():
        if not await self.node.try_lock(pq.consume_lock, CONSUME_LOCK_TIMEOUT_MS):
            continue
        pq.dropped = True
        rebalance.report_dropped()
        self.node.unlock(pq.consume_lock)
        offset = store.offset_table.get(mq) if isinstance(store, RemoteBrokerOffsetStore) else None
        if isinstance(store, RemoteBrokerOffsetStore) and offset is not None:
            with suppress(JavaError):
                await store.update_consume_offset_to_broker(mq, offset, is_oneway=False)
            store.remove_offset(mq)
        await rebalance.unlock(mq, oneway=False)


def _consume_locks(rebalance: RebalanceImpl) -> dict[MessageQueue, Lock]:
    """The consumeLock of each queue that the consumer has taken so far."""
    return cast("dict[MessageQueue, Lock]", vars(rebalance).setdefault("consume_locks", {}))


def _is_worked_on(rebalance: RebalanceImpl, mq: MessageQueue) -> bool:
    """Whether a listener of a former holding goes on."""
    lock = _consume_locks(rebalance).get(mq)
    return lock is not None and lock.held


def _is_stopped(rebalance: RebalanceImpl) -> bool:
    consumer = cast("RebalancePushImpl", rebalance).instance.push_consumer(rebalance.consumer_group)
    return consumer is None or consumer.consume_message_service.stopped


@around(RebalanceImpl, "_take")
def _take_nothing_once_stopped(
    original: Callable[..., Awaitable[PullRequest | None]],
) -> Callable[..., Awaitable[PullRequest | None]]:
    async def _take(
        self: RebalanceImpl, mq: MessageQueue, is_order: bool, threads: Threads,
    ) -> PullRequest | None:
        """A consumer that stops takes no lock, and gives back at once the one that it was just taking."""
        if is_order and _is_stopped(self):
            return None
        pull_request = await original(self, mq, is_order, threads)
        if not is_order or not _is_stopped(self):
            return pull_request
        if pull_request is not None:
            pull_request.process_queue.dropped = True
            self.process_queue_table.remove(mq)
        if not self.process_queue_table.contains_key(mq) and not _is_worked_on(self, mq):
            await self.unlock(mq, oneway=True)
        return None

    return _take


@replace(RebalanceImpl, "lock_all")
async def _renew_what_is_held(self: RebalanceImpl) -> None:
    """As before, but a queue that was dropped and could not be given back is not renewed."""
    for broker_name, in_table in self.build_process_queue_table_by_broker_name():
        held = [(mq, self.process_queue_table.get(mq)) for mq in in_table]
        mqs = [mq for mq, pq in held if pq is not None and not pq.dropped]
        found = self.rpc.find_broker_address_in_subscribe(broker_name, MASTER_ID, only_this_broker=True)
        if found is None or not mqs:
            continue
        try:
            locked_mq = await self.rpc.lock_batch_mq(found.broker_addr, self.consumer_group, mqs, LOCK_RPC_TIMEOUT_MS)
        except JavaError:
            continue
        self._mark_renewed(mqs, locked_mq)


@replace(RebalanceImpl, "_give_up")
async def _give_back_what_is_stuck(
    self: RebalanceImpl, topic: str, mq_set: Collection[MessageQueue], threads: Threads,
) -> bool:
    """As before, and a queue that could not be given back when it was dropped is given back even if it is mine."""
    changed = False
    for mq, pq in self.process_queue_table.traverse():
        if mq.topic != topic:
            continue
        expired = pq.is_pull_expired() and self.consume_type() == CONSUME_PASSIVELY
        if mq not in mq_set or expired or (pq.dropped and pq.try_unlock_times):
            pq.dropped = True
            await threads.interleave("updateProcessQueueTableInRebalance: the queue is dropped")
            if await self.remove_unnecessary_message_queue(mq, pq, threads):
                self.process_queue_table.remove(mq)
                changed = True
    return changed


@around(RebalancePushImpl, "_take")
def _believe_at_once(
    original: Callable[..., Awaitable[PullRequest | None]],
) -> Callable[..., Awaitable[PullRequest | None]]:
    async def _take(
        self: RebalancePushImpl, mq: MessageQueue, is_order: bool, threads: Threads,
    ) -> PullRequest | None:
        """A queue that was locked is entered as locked, since it was made."""
        pull_request = await original(self, mq, is_order, threads)
        if pull_request is not None and is_order:
            pull_request.process_queue.locked = True
            self._report_locks([mq], locked=True)
        return pull_request

    return _take


@around(RebalancePushImpl, "do_rebalance")
def _lock_in_clustering(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def do_rebalance(self: RebalancePushImpl, is_order: bool, threads: Threads) -> None:
        """Who broadcasts has every queue and locks none."""
        await original(self, is_order and self.message_model == CLUSTERING, threads)

    return do_rebalance


@around(DefaultMQPushConsumerImpl, "_has_order")
def _need_no_lock_alone(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def _has_order(self: DefaultMQPushConsumerImpl, pull_request: PullRequest) -> bool:
        """Who broadcasts waits for no lock."""
        return self.config.message_model != CLUSTERING or await original(self, pull_request)

    return _has_order


@around(RebalanceImpl, "_take")
def _give_back_what_is_not_taken(
    original: Callable[..., Awaitable[PullRequest | None]],
) -> Callable[..., Awaitable[PullRequest | None]]:
    async def _take(
        self: RebalanceImpl, mq: MessageQueue, is_order: bool, threads: Threads,
    ) -> PullRequest | None:
        """Who has not taken a queue, and does not hold it, keeps no lock of it; but the last of threads that try.

        A listener that goes on needs it until its lease is over.
        """
        taking = cast("Counter[MessageQueue]", vars(self).setdefault("taking", Counter()))
        taking[mq] += 1
        pull_request = await original(self, mq, is_order, threads)
        taking[mq] -= 1
        if (is_order and pull_request is None and not taking[mq] and not self.process_queue_table.contains_key(mq)
                and not _is_worked_on(self, mq)):
            await self.unlock(mq, oneway=True)
        return pull_request

    return _take


@around(RebalanceImpl, "_take")
def _keep_the_consume_lock(
    original: Callable[..., Awaitable[PullRequest | None]],
) -> Callable[..., Awaitable[PullRequest | None]]:
    async def _take(
        self: RebalanceImpl, mq: MessageQueue, is_order: bool, threads: Threads,
    ) -> PullRequest | None:
        """Who takes a queue anew gives it up only when the listener of its former holding has ended."""
        pull_request = await original(self, mq, is_order, threads)
        if pull_request is not None and is_order:
            pq = pull_request.process_queue
            pq.consume_lock = _consume_locks(self).setdefault(mq, pq.consume_lock)
        return pull_request

    return _take


REPAIRS = (
    Variant(
        "renew_in_one_step", "repair", "A lock is renewed under the lock of the table.",
        "the idea: no fast path beside the ReentrantLock", ("B-22a",), (_renew_in_one_step,),
    ),
    Variant(
        "locks_in_order", "repair", "Of a client's lock requests for a queue none is served after a later one.",
        "the idea: RemotingCommand.opaque orders the requests of a process", ("B-22b",),
        (_lock_in_order, _unlock_in_order),
    ),
    Variant(
        "wait_for_old_leases", "repair", "A broker grants no lock until the leases of its former life are over.",
        "Gray and Cheriton, Leases, SOSP 1989: the server waits for the maximum term after a restart", ("D8",),
        (_know_the_start, _wait_for_old_leases),
    ),
    Variant(
        "unlock_unless_wanted", "repair", "A delayed unlock does not free a lock that was asked for anew.",
        "the idea: the timer knows which lock it was started for", ("D9",), (_count_wishes, _unlock_unless_wanted),
    ),
    Variant(
        "hand_over_before_unlock", "repair", "A consumer that stops frees a lock after its listener and its offset.",
        "alibaba/rocketmq #367, commit 45dae1fa82, for the shutdown too", ("D10",), (_hand_over,),
    ),
    Variant(
        "consume_lock_of_the_queue", "repair", "The consumeLock of a queue outlives its process queue.",
        "the idea: RebalanceImpl has consumeLocks by queue, as MessageQueueLock has its own", ("D13",),
        (_keep_the_consume_lock,),
    ),
    Variant(
        "take_nothing_once_stopped", "repair", "A consumer that stops takes no lock.",
        "the idea: RebalanceImpl#lock looks at ConsumeMessageOrderlyService.stopped", ("D12",),
        (_take_nothing_once_stopped,),
    ),
    Variant(
        "renew_what_is_held", "repair", "The lock of a queue that was dropped is not renewed.",
        "the idea: lockAll skips dropped process queues", ("U6",), (_renew_what_is_held,),
    ),
    Variant(
        "give_back_what_is_stuck", "repair", "A dropped queue that comes back is given back first, and taken anew.",
        "the idea: `dropped` is looked at where the key is", ("U7",), (_give_back_what_is_stuck,),
    ),
    Variant(
        "believe_at_once", "repair", "A queue that was locked when it was taken counts as locked from then on.",
        "apache/rocketmq #2621, #5465, #5466, commit 7ae6caf741", ("U8",), (_believe_at_once,),
    ),
    Variant(
        "lock_in_clustering", "repair", "Who broadcasts locks no queue, and pulls without a lock.",
        "the idea: as ConsumeMessageOrderlyService.ConsumeRequest#run for BROADCASTING", ("U9",),
        (_lock_in_clustering, _need_no_lock_alone),
    ),
    Variant(
        "lock_goes_with_its_queue", "repair", "Who has locked a queue, and cannot begin it, gives the lock back.",
        "the idea: unlock behind each return of RebalanceImpl#updateProcessQueueTableInRebalance", ("U11",),
        (_give_back_what_is_not_taken,),
    ),
)
