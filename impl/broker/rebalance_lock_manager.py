"""RebalanceLockManager: which client may consume a queue in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from impl.decisions.message_queue import MessageQueue
from impl.hash_map import ConcurrentHashMap
from impl.ports.threads import Interleave

REBALANCE_LOCK_MAX_LIVE_TIME_MS = 60000  # property rocketmq.broker.rebalance.lockMaxLiveTime


@dataclass(slots=True, eq=False)
class LockEntry:
    """`RebalanceLockManager.LockEntry`: last_update_timestamp is volatile, client_id is not.

    last_update_timestamp -- milliseconds since 1970 by the broker's clock.
    """

    client_id: str
    last_update_timestamp: int

    def is_locked(self, client_id: str, now_ms: int) -> bool:
        """LockEntry#isLocked, when nobody writes in between."""
        return self.client_id == client_id and not self.is_expired(now_ms)

    def is_expired(self, now_ms: int) -> bool:
        """LockEntry#isExpired."""
        return now_ms - self.last_update_timestamp > REBALANCE_LOCK_MAX_LIVE_TIME_MS


class RebalanceLockManager:
    """`broker.client.rebalance.RebalanceLockManager`: one table, in memory, of this broker process.

    The plain methods are what Java does under ONE ReentrantLock for all groups. The fast path takes no lock: it reads
    the owner, then the time, then writes the time, and another thread can run between any two of them. (What a fast
    path writes in the middle of the locked part has the same outcome as the same write right before or after it.)

    now_ms -- the clock of the broker.

    mq_lock_table -- group to queue to owner. Queues, groups and clients are not checked against anything.
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        """Start empty, as every broker process does."""
        self.now_ms = now_ms
        self.mq_lock_table: ConcurrentHashMap[str, ConcurrentHashMap[MessageQueue, LockEntry]] = ConcurrentHashMap(1024)

    async def try_lock(self, group: str, mq: MessageQueue, client_id: str, threads: Interleave) -> bool:
        """RebalanceLockManager#tryLock; nothing in the broker calls it."""
        if await self.is_locked(group, mq, client_id, threads):
            return True
        await threads.interleave("tryLock: before the lock")
        return self.try_lock_under_lock(group, [mq], client_id) == [mq]

    async def try_lock_batch(
        self, group: str, mqs: Sequence[MessageQueue], client_id: str, threads: Interleave,
    ) -> list[MessageQueue]:
        """RebalanceLockManager#tryLockBatch: the queues that the client has now."""
        locked_mqs: list[MessageQueue] = []
        not_locked_mqs: list[MessageQueue] = []
        for mq in mqs:
            locked = await self.is_locked(group, mq, client_id, threads)
            (locked_mqs if locked else not_locked_mqs).append(mq)
        if not_locked_mqs:
            await threads.interleave("tryLockBatch: before the lock")
            locked_mqs += self.try_lock_under_lock(group, not_locked_mqs, client_id)
        return locked_mqs

    async def is_locked(self, group: str, mq: MessageQueue, client_id: str, threads: Interleave) -> bool:
        """RebalanceLockManager#isLocked, the fast path without a lock: renews what the client has."""
        group_value = self.mq_lock_table.get(group)
        lock_entry = None if group_value is None else group_value.get(mq)
        if lock_entry is None or lock_entry.client_id != client_id:
            return False
        await threads.interleave("isLocked: the owner has been read")
        if lock_entry.is_expired(self.now_ms()):
            return False
        await threads.interleave("isLocked: the time has been read")
        lock_entry.last_update_timestamp = self.now_ms()
        return True

    def try_lock_under_lock(self, group: str, mqs: Sequence[MessageQueue], client_id: str) -> list[MessageQueue]:
        """The locked part of RebalanceLockManager#tryLockBatch: free, own or expired queues are granted."""
        group_value = self.mq_lock_table.get(group)
        if group_value is None:
            group_value = ConcurrentHashMap(32)
            self.mq_lock_table.put(group, group_value)
        return [mq for mq in mqs if self._grant(group_value, mq, client_id)]

    def _grant(self, group_value: ConcurrentHashMap[MessageQueue, LockEntry], mq: MessageQueue, client_id: str) -> bool:
        now_ms = self.now_ms()
        lock_entry = group_value.get(mq)
        if lock_entry is None:
            lock_entry = LockEntry(client_id, now_ms)
            group_value.put(mq, lock_entry)
        if lock_entry.client_id != client_id:
            if not lock_entry.is_expired(now_ms):
                return False
            lock_entry.client_id = client_id
        lock_entry.last_update_timestamp = now_ms
        return True

    def unlock_batch(self, group: str, mqs: Sequence[MessageQueue], client_id: str) -> None:
        """RebalanceLockManager#unlockBatch: the queues of others are left alone; an empty group stays in the table."""
        group_value = self.mq_lock_table.get(group)
        if group_value is None:
            return
        for mq in mqs:
            lock_entry = group_value.get(mq)
            if lock_entry is not None and lock_entry.client_id == client_id:
                group_value.remove(mq)
