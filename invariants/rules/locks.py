"""Rules of locks: who may have one and for how long, what clients believe, and that nobody keeps what is not needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl import events
from impl.decisions.names import CLIENT_INNER_PRODUCER_GROUP, MASTER_ID
from invariants.rules import deadlines
from invariants.rules.answers import HELD, ROLLBACK, is_put_back
from invariants.rules.excuse import FOR_EVER, Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match
from invariants.rules.rule import Duty, Kept, Rule, Told, after, on
from invariants.rules.weather import clock_was_set

_LEFT = frozenset({HELD, ROLLBACK})
"""What it answers that leaves them to whoever has the queue next."""


class only_ordered_groups_lock(Rule):
    """Queues are locked for orderly consumers in clustering, and for nobody else."""

    shipped = "violated: U9 who reads in order broadcasts"
    cite = "RebalanceImpl#updateProcessQueueTableInRebalance: isOrder"
    about = "at client_id group mq"

    @on(events.LockGranted)
    def granted(self, _: int, at: str, event: events.LockGranted) -> Iterator[Told]:
        for (machine, group), started in self.facts.consumers.items():
            theirs = (started.client_id, group) == (event.client_id, event.group)
            if theirs and not self.facts.is_orderly(machine, group):
                yield self.told(f"{at} locks {queue_text(event.mq)} for {event.client_id}, who is not orderly",
                                at, event.client_id, event.group, event.mq)


class lock_is_lost_by_an_answer(Rule):
    """Who believes to have the lock of a queue ceases to do so when a broker has answered that it has not.

    A broker that does not answer says nothing: the lock may be left.
    """

    cite = "RebalanceImpl#lockAll, #unlockAll"
    about = "at client_id group mq"
    excuses = (Excuse("it shuts down", by=events.ConsumerStopping, lasts=FOR_EVER, until=events.ConsumerStarted),)

    # The answers of which nobody has believed anything yet.
    heard = Kept("at client_id group mq")

    @on(events.LocksHeard)
    def hears(self, _: int, at: str, event: events.LocksHeard) -> None:
        for mq in event.mqs:
            key = at, *event[:2], mq
            self.heard[key] = self.heard.get(key, 0) + 1

    @on(events.LockBelieved)
    def believes(self, _: int, at: str, event: events.LockBelieved) -> Iterator[Told]:
        key = at, *event[:3]
        left = self.heard.pop(key, 0) - 1
        if left > 0:
            self.heard[key] = left
        if left < 0 and not event.locked:
            yield self.told(f"{at} believes no more to have the lock of {queue_text(event.mq)}, and no broker has "
                            "answered so", *key)


class masters_are_asked_for_locks(Rule):
    """Only a master is asked for locks, or who was one."""

    cite = "RebalanceImpl#lock, #lockAll: findBrokerAddressInSubscribe(brokerName, MixAll.MASTER_ID, true)"
    about = "broker group mq"

    masters = Kept("at", survives="all", begins=(Match(events.BrokerStarted, having=lambda one: (
        one.broker_id == MASTER_ID)),))

    @on(events.LockGranted)
    def grants(self, _: int, at: str, event: events.LockGranted) -> Iterator[Told]:
        if self.facts.brokers.get((at,)) is not None and (at,) not in self.masters:
            yield self.told(f"{event.client_id} has asked {at} for the lock of {queue_text(event.mq)}, and that is no "
                            "master", at, event.group, event.mq)


class taken_queue_counts_as_locked(Rule):
    """An orderly consumer that was granted the lock of a queue that it takes may pull it from then on."""

    shipped = "violated: U8 it waits for the next renewal"
    cite = "RebalanceImpl#lock, ProcessQueue#setLocked"
    about = "at client_id group mq"

    @after(events.QueueTaken)
    def taken(self, _: int, at: str, event: events.QueueTaken) -> Iterator[Told]:
        for held in self.views.process_queues(at) if self.facts.is_orderly(at, event.group) else ():
            if held[1:4] == event[:3] and not held.dropped and not held.locked:
                yield self.told(f"{at} holds {queue_text(event.mq)} and waits for its lock", at, *event[:3])


class held_queue_stays_locked(Rule):
    """A lock is not given back while its client holds the queue."""

    shipped = "violated: D9 a delayed unlock, D10 shutdown unlocks first, D6 equal ids"
    cite = "RebalancePushImpl#unlockDelay"
    about = "at client_id group mq"

    @on(events.LockReleased)
    def released(self, _: int, at: str, event: events.LockReleased) -> Iterator[Told]:
        if self.facts.holds(event.client_id, event.group, event.mq):
            yield self.told(f"{at} frees {queue_text(event.mq)}, which {event.client_id} holds",
                            at, event.client_id, event.group, event.mq)


class listener_keeps_its_lock(Rule):
    """A lock is not given back while a listener of its client works on the queue."""

    shipped = ("violated: D9 a delayed unlock, D10 shutdown does not wait, D13 the queue was taken anew, "
               "D6 equal ids")
    cite = "RebalancePushImpl#removeUnnecessaryMessageQueue: consumeLock"
    about = "at client_id group mq"

    @on(events.LockReleased)
    def released(self, _: int, at: str, event: events.LockReleased) -> Iterator[Told]:
        where = self.facts.works(event.client_id, event.group, event.mq)
        if where is not None:
            yield self.told(f"{at} frees {queue_text(event.mq)} while a listener of {where} works on it",
                            at, event.client_id, event.group, event.mq)


class lock_outlasts_the_batch(Rule):
    """A lock is not given back before the last batch that was read under it is settled.

    Of a queue that is reset or corrected, and of a consumer that stops, nothing more is settled; a reset clears a queue
    that was given up before, too, as long as its batch keeps it in the table. A batch that is to be consumed again is
    put back, if one of it was not tried too often, or its client could not send one back that was: then its listener
    has left it. So it has what it holds back, or rolls back.
    """

    shipped = "violated: X11 a batch that ends too late, D9 a delayed unlock, D6 equal ids"
    cite = "RebalancePushImpl#removeUnnecessaryMessageQueue, ConsumeMessageOrderlyService#processConsumeResult"
    about = "client_id group mq"

    # Batches that listeners have begun.
    open = Kept("at client_id group mq", begins=(events.ListenerStarted,), ends=(
        events.MessagesSettled, events.ConsumerStopping, events.OffsetReset,
        Match(events.QueueDropped, having=lambda event: not event.by_rebalance)))
    given = Kept("at group mq", begins=(events.MessagesGiven,), value=lambda _, event: event)

    @on(events.MessagesAnswered)
    def puts_back(self, _: int, at: str, event: events.MessagesAnswered) -> None:
        given = self.given.get((at, event.group, event.mq))
        if (given is not None and is_put_back(event, given)) or _LEFT.issuperset(event.answers):
            self._leaves((at, event.group, event.mq))

    @on(events.SendFailed)
    def cannot_send_back(self, _: int, at: str, event: events.SendFailed) -> None:
        if event.group == CLIENT_INNER_PRODUCER_GROUP:
            for key in [key for key, given in self.given.items() if key[0] == at and event.key in given.keys]:
                self._leaves(key)

    def _leaves(self, left: tuple[Any, ...]) -> None:
        self.open.drop(lambda key: (key[0], *key[2:]) == left)

    @on(events.LockReleased)
    def released(self, _: int, at: str, event: events.LockReleased) -> Iterator[Told]:
        about = event.client_id, event.group, event.mq
        for key in [key for key in self.open if key[1:] == about]:
            del self.open[key]
            yield self.told(f"{at} frees the lock of {queue_text(event.mq)}, whose batch {key[0]} has not settled",
                            *about)


class listener_begins_under_a_fresh_lock(Rule):
    """A listener that reads in order begins when its lock was granted in the last 30 s.

    The broker says when it has granted it.
    """

    cite = "ConsumeMessageOrderlyService.ConsumeRequest#run: isLocked, isLockExpired"
    about = "at client_id group mq"
    excuses = (
        clock_was_set("at"),
        Excuse("its consumer broadcasts, and shares no queue with others",
               when=lambda rule, told: rule.facts.broadcasts(told.about[0], told.about[2])),
        Excuse("its process stood still while the answer was on its way, and counts from when it went on",
               by=Match(events.ProcessPaused, of="at"), lasts=deadlines.lock_is_fresh),
    )

    granted_ms = Kept("client_id group mq", survives="all", begins=(events.LockGranted,))

    @on(events.ListenerStarted)
    def begins(self, ms: int, at: str, event: events.ListenerStarted) -> Iterator[Told]:
        since_ms = self.granted_ms.get(tuple(event))
        if since_ms is None or ms - since_ms > deadlines.lock_is_fresh(self.bounds):
            old = "was never granted its lock" if since_ms is None else f"was granted its lock {ms - since_ms} ms ago"
            yield self.told(f"a listener of {at} begins with {queue_text(event.mq)} and {old}", at, *event)


class refused_lock_is_not_believed(Rule):
    """A client whose renewal of a lock is refused does not go on believing in it.

    The broker says what it has refused, and the client's table what it believes when it has heard that. A refusal of
    what the client has is none: a broker that serves the requests of a client in their order gives it to one that has
    overtaken this one.
    """

    cite = "RebalanceImpl#lockAll"
    about = "at client_id group mq"

    # Whose last answer was a refusal.
    refused = Kept("client_id group mq", survives="all")

    @on(events.LocksAnswered)
    def answered(self, ms: int, at: str, event: events.LocksAnswered) -> None:
        for mq in event.asked:
            self.refused.pop((event.client_id, event.group, mq), None)
        for mq in event.asked - event.granted:
            _, holder = self.facts.locks.get((at, event.group, mq), (ms, None))
            if holder != event.client_id:
                self.refused[event.client_id, event.group, mq] = ms

    @after(events.LocksHeard)
    def heard(self, _: int, at: str, event: events.LocksHeard) -> Iterator[Told]:
        refused = {mq for mq in event.mqs if (event.client_id, event.group, mq) in self.refused}
        for held in self.views.process_queues(at) if refused else ():
            # RebalanceImpl#lock asks for one queue, when its lock has expired, and leaves `locked` as it is.
            is_renewal = len(event.mqs) > 1 or not held.lock_expired
            if held[1:3] == event[:2] and held.mq in refused and held.locked and is_renewal:
                yield self.told(f"{at} believes in the lock of {queue_text(held.mq)} and was refused it",
                                at, *held[1:4])


class lock_answers_are_true(Rule):
    """Where nothing fails a client is answered, of the queues that it asks for, those whose locks it has then."""

    cite = "AdminBrokerProcessor#lockBatchMQ, RebalanceLockManager#tryLockBatch"
    calm = True
    about = "at client_id group mq"

    @after(events.LocksAnswered)
    def answered(self, _: int, at: str, event: events.LocksAnswered) -> Iterator[Told]:
        for mq in sorted(event.asked):
            lock = self.views.lock(at, event.group, mq)
            has = lock is not None and lock.client_id == event.client_id
            if has != (mq in event.granted):
                what = "is refused" if mq not in event.granted else "is granted"
                whose = f"is locked for {lock.client_id}" if lock else "nobody has locked"
                yield self.told(f"{event.client_id} {what} {queue_text(mq)}, which {whose} at {at}",
                                at, event.client_id, event.group, mq)


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
        for *_, mq in self.facts.held_at(at, *event):
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


class lock_goes_with_its_holder(Duty):
    """A client that its broker has taken out of a group, and that is not back, has no lock of the group there.

    Who shuts down in order gives its locks back first; this is about those who end without a word.
    """

    shipped = "violated: B-34 only the end of the lease frees it"
    cite = "ConsumerManager#doChannelCloseEvent, #scanNotActiveChannel, RebalanceLockManager#tryLockBatch"
    about = "at group mq client_id"
    within_ms = deadlines.handled
    paid_by = (Match(events.LockReleased, events.LockGranted, of="at group mq"),
               Match(events.ConsumerRegistered, of="at group client_id"))
    excuses = (cause("B-34", "the broker has granted it the lock, and the lease is not over",
                     by=Match(events.LockGranted, of="at group mq client_id=holder"), lasts=FOR_EVER),)

    @after(events.ConsumerRemoved)
    def removed(self, ms: int, at: str, event: events.ConsumerRemoved) -> None:
        listed = (one.client_id for one in self.facts.connections(at, event.group).values())
        if event.why in {"closed", "expired"} and event.client_id not in listed:
            for (group, mq), lock in self.views.locks(at).items():
                if (group, lock.client_id) == (event.group, event.client_id):
                    self.owe((at, group, mq, lock.client_id), ms)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str | None:
        """What has expired is free."""
        del what
        lock = self.views.lock(*key[:3])
        if lock is None or lock.expired:
            return None
        return f"{key[0]} has {queue_text(key[2])} locked for {key[3]}, who was taken out {waited_ms} ms ago"


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
