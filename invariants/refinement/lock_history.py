"""Judges of histories (`invariants.history`): queues that are held, and their locks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from impl.decisions.message_queue import MessageQueue
from impl.events import (
    ClockDrifts,
    ClockJumped,
    ConsumerRemoved,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    ListenerStarted,
    LockBelieved,
    LockGranted,
    LockReleased,
    ProcessKilled,
    ProcessPaused,
    QueueDropped,
    QueueTaken,
)
from invariants.refinement.follower import Living
from invariants.refinement.judge import HANDLED_MS, Hearing, Holdings, Judge, Key, Listeners, queue_text

REMEMBERED_MS = 120_000
"""An answer that is older belongs to no question that anybody still waits for."""
SOON_MS = 2_000
LOCK_RPC_TIMEOUT_MS = 1_000
"""Of UNLOCK_BATCH_MQ."""
FRESH_MS = 30_000 + 1_000
"""ProcessQueue#isLockExpired, and the wait for the lock of the queue, which a listener need not look at again."""


class _QueueIsTakenOnce(Judge):
    """Of queue_is_taken_once."""

    name = "queue_is_taken_once"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.holdings = Holdings()

    def hears(self) -> Hearing:
        return {**self.holdings.hears(), QueueTaken: self.taken}

    def taken(self, ms: int, machine: str, event: QueueTaken) -> Iterator[str]:
        if (machine, event.client_id, event.group, event.mq) in self.holdings.queues:
            yield f"{machine} takes {queue_text(event.mq)} a second time"
        self.holdings.taken(ms, machine, event)


class _OnlyOrderedGroupsLock(Judge):
    """Of only_ordered_groups_lock."""

    name = "only_ordered_groups_lock"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.started: dict[tuple[str, str], bool] = {}

    def hears(self) -> Hearing:
        return {ConsumerStarted: self.starts, LockGranted: self.granted}

    def starts(self, _: int, __: str, event: ConsumerStarted) -> None:
        self.started[event.client_id, event.group] = event.orderly and event.message_model == "CLUSTERING"

    def granted(self, _: int, machine: str, event: LockGranted) -> Iterator[str]:
        if not self.started.get((event.client_id, event.group), True):
            yield f"{machine} locks {queue_text(event.mq)} for {event.client_id}, who is not orderly"


class _TakenQueueCountsAsLocked(Judge):
    """Of taken_queue_counts_as_locked."""

    name = "taken_queue_counts_as_locked"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.orderly: dict[tuple[str, str], bool] = {}
        self.taken_ms: dict[Key, int] = {}

    def hears(self) -> Hearing:
        return {ConsumerStarted: self.started, QueueTaken: self.taken, QueueDropped: self.over, LockBelieved: self.over,
                ConsumerShutDown: self.ended, tuple: self.host}

    def started(self, _: int, machine: str, event: ConsumerStarted) -> None:
        self.orderly[machine, event.group] = event.orderly and event.message_model == "CLUSTERING"

    def taken(self, ms: int, machine: str, event: QueueTaken) -> None:
        if self.orderly.get((machine, event.group)):
            self.taken_ms[machine, event.group, event.mq] = ms

    def over(self, _: int, machine: str, event: QueueDropped | LockBelieved) -> None:
        self.taken_ms.pop((machine, event.group, event.mq), None)

    def ended(self, _: int, machine: str, event: ConsumerShutDown) -> None:
        self._forget(lambda key: key[:2] == (machine, event.group))

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled:
            self._forget(lambda key: key[0] == machine)

    def _forget(self, mine: Callable[[Key], bool]) -> None:
        for key in [key for key in self.taken_ms if mine(key)]:
            del self.taken_ms[key]

    def due(self, now_ms: int) -> Iterator[str]:
        for key, taken_ms in [*self.taken_ms.items()]:
            if now_ms - taken_ms > SOON_MS:
                del self.taken_ms[key]
                yield f"{key[0]} holds {queue_text(key[2])} and waits for its lock"


class _HeldQueueStaysLocked(Judge):
    """Of held_queue_stays_locked."""

    name = "held_queue_stays_locked"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.holdings = Holdings()

    def hears(self) -> Hearing:
        return {**self.holdings.hears(), QueueTaken: self.holdings.taken, LockReleased: self.released}

    def released(self, _: int, machine: str, event: LockReleased) -> Iterator[str]:
        if self.holdings.held(event.client_id, event.group, event.mq):
            yield f"{machine} frees {queue_text(event.mq)}, which {event.client_id} holds"


class _ListenerKeepsItsLock(Judge):
    """Of listener_keeps_its_lock."""

    name = "listener_keeps_its_lock"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.listeners = Listeners()

    def hears(self) -> Hearing:
        return {**self.listeners.hears(), LockReleased: self.released}

    def released(self, _: int, machine: str, event: LockReleased) -> Iterator[str]:
        where = self.listeners.busy.get((event.client_id, event.group, event.mq))
        if where is not None:
            yield f"{machine} frees {queue_text(event.mq)} while a listener of {where} works on it"


class _ListenerBeginsUnderAFreshLock(Judge):
    """Of listener_begins_under_a_fresh_lock; not where the client's clock was touched."""

    name = "listener_begins_under_a_fresh_lock"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.believed_ms: dict[Key, int] = {}
        self.touched: set[str] = set()

    def hears(self) -> Hearing:
        return {LockBelieved: self.believes, ListenerStarted: self.starts, tuple: self.host}

    def believes(self, ms: int, machine: str, event: LockBelieved) -> None:
        key = machine, event.group, event.mq
        if event.locked:
            self.believed_ms[key] = ms
        else:
            self.believed_ms.pop(key, None)

    def starts(self, ms: int, machine: str, event: ListenerStarted) -> Iterator[str]:
        since_ms = self.believed_ms.get((machine, event.group, event.mq))
        if machine not in self.touched and (since_ms is None or ms - since_ms > FRESH_MS):
            old = "has no lock" if since_ms is None else f"was granted its lock {ms - since_ms} ms ago"
            yield f"a listener of {machine} begins with {queue_text(event.mq)} and {old}"

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ in (ClockJumped, ClockDrifts):
            self.touched.add(machine)
        elif event.__class__ is ProcessKilled:
            for key in [key for key in self.believed_ms if key[0] == machine]:
                del self.believed_ms[key]


class _LeaverFreesItsLocks(Judge):
    """Of leaver_frees_its_locks: of what it held when its shutdown began or took since, where its goodbye has arrived.

    A queue whose listener is at work, or was a minute before, may be left to its lease; so may one that a rebalance
    drops meanwhile, whose UNLOCK_BATCH_MQ is one-way and may be lost, and all when the shutdown took so long that an
    UNLOCK_BATCH_MQ may have failed.
    """

    name = "leaver_frees_its_locks"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.holdings, self.listeners = Holdings(), Listeners()
        self.locks: dict[tuple[str, str, MessageQueue], str] = {}
        self.leaving: dict[tuple[str, str], tuple[int, list[MessageQueue]]] = {}
        self.wanted: dict[tuple[str, str, MessageQueue], tuple[str, int]] = {}

    def hears(self) -> Hearing:
        return {**self.holdings.hears(), **self.listeners.hears(), tuple: self.host, QueueTaken: self.taken,
                LockGranted: self.granted, LockReleased: self.released, ConsumerStopping: self.stopping,
                QueueDropped: self.dropped, ConsumerStarted: self.started, ConsumerRemoved: self.removed}

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        self.holdings.host(ms, machine, event)
        self.listeners.host(ms, machine, event)
        if event.__class__ is ProcessKilled:
            for table in (self.locks, self.wanted):
                for key in [key for key in table if key[0] == machine]:
                    table.pop(key, None)
        elif event.__class__ is ProcessPaused:  # it frees them when it goes on
            for key in [key for key in self.wanted if key[0] == machine]:
                self.wanted[key] = self.wanted[key][0], ms + event.ms

    def started(self, _: int, __: str, event: ConsumerStarted) -> None:
        self.leaving.pop((event.client_id, event.group), None)

    def stopping(self, ms: int, machine: str, event: ConsumerStopping) -> None:
        mine = machine, event.client_id, event.group
        self.leaving[mine[1:]] = ms, [
            key[3] for key in self.holdings.queues if key[:3] == mine and key[1:] not in self.listeners.busy
            and ms - self.listeners.ended_ms.get(key[1:], -REMEMBERED_MS) > HANDLED_MS
        ]

    def taken(self, ms: int, machine: str, event: QueueTaken) -> None:
        self.holdings.taken(ms, machine, event)
        _, queues = self.leaving.get((event.client_id, event.group), (ms, []))
        queues.append(event.mq)

    def dropped(self, ms: int, machine: str, event: QueueDropped) -> None:
        self.holdings.dropped(ms, machine, event)
        _, queues = self.leaving.get((event.client_id, event.group), (ms, []))
        if event.by_rebalance and event.mq in queues:
            queues.remove(event.mq)

    def removed(self, ms: int, machine: str, event: ConsumerRemoved) -> None:
        since_ms, queues = self.leaving.get((str(event.client_id), event.group), (ms, []))
        if event.why == "unregistered" and ms - since_ms < LOCK_RPC_TIMEOUT_MS:
            for mq in queues:
                if self.locks.get((machine, event.group, mq)) == event.client_id:
                    self.wanted[machine, event.group, mq] = str(event.client_id), ms

    def granted(self, ms: int, machine: str, event: LockGranted) -> Iterator[str]:
        key = machine, event.group, event.mq
        wanted = self.wanted.pop(key, None)
        if wanted is not None and wanted[0] != event.holder:
            yield f"the lease of {queue_text(event.mq)} had to end: {wanted[0]} left {ms - wanted[1]} ms ago"
        self.locks[key] = event.holder

    def released(self, _: int, machine: str, event: LockReleased) -> None:
        self.locks.pop((machine, event.group, event.mq), None)
        self.wanted.pop((machine, event.group, event.mq), None)

    def due(self, now_ms: int) -> Iterator[str]:
        for key, (client_id, since_ms) in [*self.wanted.items()]:
            if now_ms - since_ms > HANDLED_MS:
                del self.wanted[key]
                yield f"{key[0]} has {queue_text(key[2])} locked for {client_id}, who left"


JUDGES: tuple[type[Judge], ...] = (
    _QueueIsTakenOnce,
    _OnlyOrderedGroupsLock,
    _TakenQueueCountsAsLocked,
    _HeldQueueStaysLocked,
    _ListenerKeepsItsLock,
    _ListenerBeginsUnderAFreshLock,
    _LeaverFreesItsLocks,
)
