"""Rules of locks that nobody needs any more: whoever gives a queue up, or leaves, gives its lock back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl import events
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.facts import queue_text
from invariants.rules.match import Match
from invariants.rules.rule import Duty, Kept, Told, on


class leaver_frees_its_locks(Duty):
    """A client that shuts down and says goodbye has given the locks of its idle queues back.

    Of what it held when its shutdown began, or has taken since.
    """

    shipped = "violated: D12 locks that are taken meanwhile, B-22b a renewal that comes late"
    cite = "ConsumeMessageOrderlyService#unlockAllMQ"
    about = "at group mq client_id"
    within_ms = deadlines.handled
    paid_by = (Match(events.LockReleased, of="at group mq"),)
    excuses = (
        Excuse("a listener has just ended, and its thread may still hold the queue",
               by=Match(events.ListenerEnded, of="client_id group mq"), lasts=deadlines.soon),
    )

    late = "{at} has queue {mq.queue_id} of {mq.topic} at {mq.broker_name} locked for {client_id}, who left"

    # The queues of those who stop: since when; a rebalance frees them by a call that may be lost.
    theirs = Kept("client_id group mq", survives="all", ends=(
        events.ConsumerStarted, Match(events.QueueDropped, having=lambda event: event.by_rebalance)))
    _since_ms = Kept("client_id group", survives="all", begins=(events.ConsumerStopping,))

    @on(events.ConsumerStopping)
    def stops(self, ms: int, at: str, event: events.ConsumerStopping) -> None:
        for mq in self.facts.held_at(at, *event):
            self.theirs[*event, mq] = ms

    @on(events.QueueTaken)
    def taken(self, ms: int, _: str, event: events.QueueTaken) -> None:
        if self.facts.stops_now(event.client_id, event.group):
            self.theirs[event[:3]] = ms

    @on(events.ConsumerRemoved)
    def says_goodbye(self, ms: int, at: str, event: events.ConsumerRemoved) -> None:
        """From now on; unless the shutdown has lasted so long that an UNLOCK_BATCH_MQ may have failed.

        Where a listener goes on, perhaps until its process ends, the lock is left to the lease.
        """
        mine = event.client_id, event.group
        in_time = ms - self._since_ms.get(mine, ms) < deadlines.LOCK_CALL_MS
        for key in self.theirs if event.why == "unregistered" and in_time else ():
            lock = self.facts.locks.get((at, event.group, key[2]))
            held = key[:2] == mine and lock is not None and lock[1] == event.client_id
            if held and self.facts.works(*key) is None:
                self.owe((at, event.group, key[2], event.client_id), ms)

    @on(events.LockGranted)
    def granted(self, ms: int, at: str, event: events.LockGranted) -> Iterator[Told]:
        for key, (since_ms, *_) in [*self.owed.items()]:
            if key[:3] == (at, event.group, event.mq):
                self.pay(key)
                if key[3] != event.holder:
                    yield self.told(f"the lease of {queue_text(event.mq)} had to end: "
                                    f"{key[3]} left {ms - since_ms} ms ago", *key, since_ms=since_ms)


class given_up_lock_is_freed(Duty):
    """Where nothing fails who gives a queue up in a rebalance frees its lock, after 20 s at the latest."""

    cite = "RebalancePushImpl#removeUnnecessaryMessageQueue, #unlockDelay"
    calm = True
    about = "at client_id group mq"
    within_ms = deadlines.unlocked_late
    paid_by = (events.QueueTaken, Match(events.LockReleased, of="client_id group mq"))
    excuses = (Excuse("a client stops meanwhile, and leaves it to the lease", by=events.ConsumerStopping),)

    @on(events.QueueDropped)
    def dropped(self, ms: int, at: str, event: events.QueueDropped) -> None:
        key = event.client_id, event.group, event.mq
        if event.by_rebalance and self.facts.works(*key) is None:  # who works on it needs its lock
            self.owe((at, *key), ms, self._lock(*key))

    def broken(self, key: Any, what: Any, waited_ms: int) -> str | None:
        """A lock that was granted later is another one."""
        lock = self._lock(*key[1:])
        if lock is None or lock != what:
            return None
        return f"{lock[0]} has {queue_text(key[3])} locked for {key[1]}, who gave it up {waited_ms} ms ago"

    def _lock(self, client_id: str, group: str, mq: Any) -> tuple[str, int] | None:
        """The broker that has it locked for a client, and since when."""
        return next(((key[0], ms) for key, (ms, holder) in self.facts.locks.items()
                     if key[1:] == (group, mq) and holder == client_id), None)
