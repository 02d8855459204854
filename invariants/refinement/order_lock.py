"""Follows the order locks of a group with `model.order_lock.Locking`: one small model for each queue.

Elements. A Client is a client id. The entry is that of the broker which granted last: a grant by another one is a
`restart`, the table of the former counts no more.

Time. No event says that it passes. Before each step the ages are set from clocks: `age` and `lease_age` by the broker's
clock, for the broker decides by it, `since` by the client's; so clocks may drift. A clock that is set breaks what
leases are made of, and nothing is promised then: for the time of a lease, and for as long as it went back, violated
properties are not reported (steps and tables are). rpc_max and batch_max are not RocketMQ's and have no bound here.
`wait`, `belief_age`, `worked` and `batch_age` are read by lemmas alone and stay 0.

What is not there. Listeners are users': no step of the model is `work` or `finish`, for one may begin when it will, and
listeners_do_not_overlap is judged of what they report themselves. That the fast path has read the client id is not
reported: a client that has had the entry may have read it then (`seen`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from impl import events
from impl.decisions.message_queue import MessageQueue
from invariants import order_lock as promised
from invariants.finding import Finding
from invariants.refinement.coverage import LOCK, Visited
from invariants.refinement.follower import Follower
from invariants.refinement.maps import Map, hears
from invariants.refinement.monitor import Step, judged
from invariants.refinement.queue_lock import BROKER_LIVE_MS, NAME, QueueLock, age
from invariants.views import ConsumerTables, Machines
from model.language import Property
from model.language.open.states import Cell, Writes
from model.order_lock import OrderLock

PROPERTIES = judged(OrderLock.concept, promised.one_lock_holder, promised.one_live_believer)
ANSWERS = 3
"""How many answers to one client can be on their way: its threads that ask, and one more."""
FLAGS = ("granted", "locked", "seen", "unlocking", "lease")
OF_BROKERS = (events.LockGranted, events.LockReleased)
OF_QUEUES = (*OF_BROKERS, events.LockBelieved, events.QueueTaken, events.QueueDropped, events.QueueForgotten,
             events.ListenerStarted, events.ListenerEnded)


def followers(machines: Machines, groups: Sequence[tuple[str, str]], scopes: Sequence[str]) -> list[Follower]:
    """One for each group; all of them watch the scope of locks, if it is among these."""
    watched = Visited(LOCK) if LOCK in scopes else None
    return [OrderLocks(machines, group, watched=watched) for group, _ in groups]


class OrderLocks(Map):
    """Follower of all order locks of one group; see Follower. Fingerprints are without ages."""

    def __init__(
        self, machines: Machines, group: str, properties: Iterable[Property] = PROPERTIES,
        watched: Visited | None = None,
    ) -> None:
        """Watch from the first segment on; properties -- of OrderLock, to judge. watched -- of its scope, if any."""
        self._judged = tuple(properties)
        super().__init__(machines, NAME, self._judged)
        self.group, self.watched = group, watched
        self._queues: dict[MessageQueue, QueueLock] = {}
        self._running: dict[str, dict[str, ConsumerTables]] = {}
        self._changed: dict[QueueLock, None] = {}
        self._set_ms = -1
        self.takes.update({kind: partial(self._hear, self.takes[kind]) for kind in OF_QUEUES})

    def _hear(self, take: Callable[..., list[Finding]], machine: str, event: Any) -> list[Finding]:
        """Let a method take what a broker, or an orderly consumer that is followed, says of a queue."""
        followed = event.__class__ in OF_BROKERS or event.client_id in self._running.get(machine, ())
        if event.group != self.group or not followed:
            return []
        queue = self._queue(event.mq)
        found = take(machine, queue, event)
        if found and self.ms <= self._set_ms:  # see the head of this file about clocks that were set
            found = [one for one in found if one.property == NAME]
        self.visited.update(queue.monitor.fingerprints())
        if queue.monitor.moved or found or self.found:
            self._changed[queue] = None
        return found

    def _queue(self, mq: MessageQueue) -> QueueLock:
        queue = self._queues.get(mq)
        if queue is None:
            queue = self._queues[mq] = QueueLock(mq, self._judged, self.watched)
        return queue

    # Machines ---------------------------------------------------------------------------------------------------------

    @hears(events.ClockJumped)
    def _set(self, _: str, event: events.ClockJumped) -> list[Finding]:
        self._set_ms = max(self._set_ms, self.ms + BROKER_LIVE_MS + max(0, -event.ms))
        return []

    @hears(events.ProcessKilled)
    def _killed(self, machine: str, event: events.ProcessKilled) -> list[Finding]:
        ends = [one for client in list(self._running.get(machine, ())) for one in self._end(machine, client, event)]
        return ends + [one for queue in self._queues.values() if queue.broker == machine
                       for one in self._lost(queue, event)]

    def _lost(self, queue: QueueLock, event: Any) -> list[Finding]:
        """The broker's table is gone, or that of another broker counts."""
        queue.broker, queue.had = "", set()
        return queue.step(event, ("restart", ()))

    @hears(events.ConsumerStarted)
    def _start(self, machine: str, event: events.ConsumerStarted) -> list[Finding]:
        for consumer in self.views.tables_of(machine, self.group) if event.group == self.group else ():
            if consumer.client_id == event.client_id and consumer.orderly:
                self._running.setdefault(machine, {})[event.client_id] = consumer
        return []

    @hears(events.ConsumerShutDown)
    def _shut_down(self, machine: str, event: events.ConsumerShutDown) -> list[Finding]:
        return self._end(machine, event.client_id, event) if event.group == self.group else []

    def _end(self, machine: str, client: str, event: Any) -> list[Finding]:
        """A process ends; if another one has the same client id (D6), it goes on for both."""
        if self._running.get(machine, {}).pop(client, None) is None or self._process(client) is not None:
            return []
        found: list[Finding] = []
        for queue in self._queues.values():
            queue.holders.discard(client)
            queue.working.discard(client)
            if any(queue.value(flag, client) for flag in FLAGS):
                queue.answers[client] = 0
                found += queue.step(event, ("crash", (client,)))
        return found

    def _process(self, client: str) -> ConsumerTables | None:
        """The one process that runs with a client id."""
        return next((clients[client] for clients in self._running.values() if client in clients), None)

    # Brokers ----------------------------------------------------------------------------------------------------------

    @hears(events.LockGranted)
    def _granted(self, machine: str, queue: QueueLock, event: events.LockGranted) -> list[Finding]:
        """RebalanceLockManager#tryLockBatch; the model knows the last answer on its way, the others are counted."""
        found, clock = [] if queue.broker in ("", machine) else self._lost(queue, event), self.views.clock(machine)
        if clock is None:
            return found
        queue.broker, queue.clock = machine, clock
        entry = self.views.lock(machine, self.group, event.mq)
        client, now_ms, stamped_ms = event.client_id, clock(), None if entry is None else entry.last_update_timestamp
        lost: list[Step] = [("lose_answer", (client,))] if queue.value("granted", client) else []
        found += queue.step(event, *lost, self._grant(queue, event, stamped_ms))
        if stamped_ms is not None:
            queue.stamped_ms = stamped_ms
        queue.leased_ms[client] = now_ms
        queue.taken_ms.pop(client, None)
        queue.had.add(client)
        queue.answers[client] = min(ANSWERS, queue.answers.get(client, 0) + 1)
        return found

    def _grant(self, queue: QueueLock, event: events.LockGranted, stamped_ms: int | None) -> Step:
        """The fast path renews as `grant` does; if it was overtaken, it set the time of another's entry, or of none.

        stamped_ms -- the time of the entry that the table has now.
        """
        client, alive = event.client_id, age(queue.clock(), queue.stamped_ms) <= BROKER_LIVE_MS
        if not event.fast or client not in queue.had or (event.holder == client and alive):
            return "grant", (client,)
        if not alive or stamped_ms != queue.clock():
            return "fast_stamp", (client,)
        queue.monitor.write({("seen", client): True})
        return "fast_grant", (client,)

    @hears(events.LockReleased)
    def _released(self, machine: str, queue: QueueLock, event: events.LockReleased) -> list[Finding]:
        """RebalanceLockManager#unlockBatch: at whose request, if it is known that there was one."""
        if queue.broker not in ("", machine):
            return []
        client, process = event.client_id, self._process(event.client_id)
        stopped = process is None or process.listeners_stopped
        beside = stopped or client in queue.gave_up or client not in queue.holders
        waits = queue.value("unlocking", client)
        return queue.step(event, ("unlock_late" if waits or not beside else "unlock_beside", (client,)))

    # Clients ----------------------------------------------------------------------------------------------------------

    @hears(events.QueueTaken)
    def _taken(self, _: str, queue: QueueLock, event: events.QueueTaken) -> list[Finding]:
        """The answer that was asked for the taking has found no process queue, unless it is put down in it at once."""
        queue.holders.add(event.client_id)
        if queue.value("granted", event.client_id):
            queue.taken_ms[event.client_id] = self.ms
        return []

    def _unheard(self, queue: QueueLock, client: str, event: Any) -> list[Finding]:
        """The client ignores the answers that are on their way."""
        queue.answers[client] = 0
        queue.taken_ms.pop(client, None)
        return queue.step(event, ("lose_answer", (client,))) if queue.value("granted", client) else []

    @hears(events.QueueDropped, events.QueueForgotten)
    def _dropped(
        self, _: str, queue: QueueLock, event: events.QueueDropped | events.QueueForgotten,
    ) -> list[Finding]:
        """ProcessQueue#setDropped, or it leaves the table: an unlock follows, at once or in 20 s, when it comes."""
        client = event.client_id
        queue.holders.discard(client)
        if client not in queue.monitor.reading.given.named["Client"]:
            return []  # it never asked for the lock
        queue.answers[client] = 0
        queue.gave_up.add(client)
        return queue.step(event, ("drop_later" if queue.value("locked", client) else "drop_unlocked", (client,)))

    @hears(events.LockBelieved)
    def _believed(self, machine: str, queue: QueueLock, event: events.LockBelieved) -> list[Finding]:
        """ProcessQueue#setLocked; what happens to a dropped process queue nobody looks at."""
        client = event.client_id
        if client not in queue.holders:
            return self._unheard(queue, client, event)
        if not event.locked:
            return queue.step(event, ("refuse", (client,))) if queue.value("locked", client) else []
        taken_ms = queue.taken_ms.pop(client, None)
        found = [] if taken_ms in (None, self.ms) else self._unheard(queue, client, event)
        consumer = self._running[machine][client]
        locked_ms = consumer.last_lock_ms(queue.mq)
        queue.believed_ms[client] = consumer.now_ms, consumer.now_ms() if locked_ms is None else locked_ms
        again = not queue.value("granted", client) and queue.answers.get(client, 0) > 0
        queue.answers[client] = max(0, queue.answers.get(client, 0) - 1)
        how = "take_locked" if taken_ms == self.ms else "answer_again" if again else "answer"
        return found + queue.step(event, (how, (client,)), entering=client if taken_ms == self.ms else "")

    @hears(events.ListenerStarted)
    def _begins(self, _: str, queue: QueueLock, event: events.ListenerStarted) -> list[Finding]:
        """A listener begins with messages of the queue, and may not be the only one."""
        others = sorted(queue.working - {event.client_id})
        queue.working.add(event.client_id)
        name = promised.listeners_do_not_overlap.__name__
        both = f"the listeners of {event.client_id} and of {', '.join(others)} work at once"
        return queue.noted([Finding(name, event, both, (name, "ListenerStarted"))]) if others else []

    @hears(events.ListenerEnded)
    def _ends(self, _: str, queue: QueueLock, event: events.ListenerEnded) -> list[Finding]:
        queue.working.discard(event.client_id)
        return []

    # Tables -----------------------------------------------------------------------------------------------------------

    def compare(self, machine: str, *, whole: bool) -> list[Finding]:
        """See Map: the queues of which something was said, or all, also those without a model."""
        changed, self._changed = self._changed, {}
        if not (whole or changed):
            return []
        consumers, differing = self._alone(machine), list[Finding]()
        for queue in self._all(machine, consumers) if whole else changed:
            queue.monitor.moved = False
            seen, looked = self._visible(queue, machine, consumers)
            if looked:
                differing += queue.compare(seen, looked)
                self.visited.update(queue.monitor.fingerprints())
        return self.unsaid(differing)

    def _alone(self, machine: str) -> dict[str, ConsumerTables]:
        """The consumers of a machine; those whose client id another process has, too, are not compared (D6)."""
        others = [clients for other, clients in self._running.items() if other != machine]
        return {client: consumer for client, consumer in self._running.get(machine, {}).items()
                if not any(client in clients for clients in others)}

    def _all(self, machine: str, consumers: dict[str, ConsumerTables]) -> list[QueueLock]:
        """The queues of which a machine's tables say something, also those that nobody has spoken of."""
        for group, mq in self.views.locks(machine):
            if group == self.group:
                self._queue(mq)
        for consumer in consumers.values():
            for mq in consumer.locked():
                self._queue(mq)
        return [queue for queue in self._queues.values() if consumers or queue.broker in ("", machine)]

    def _visible(
        self, queue: QueueLock, machine: str, consumers: dict[str, ConsumerTables],
    ) -> tuple[Writes, list[Cell]]:
        """What the tables of a machine say of a queue, and the cells that they determine."""
        seen: Writes = {("locked", client): consumer.has_lock(queue.mq) for client, consumer in consumers.items()}
        looked: list[Cell] = [*seen]
        if queue.broker in ("", machine) and self.views.runs_broker(machine):
            entry = self.views.lock(machine, self.group, queue.mq)
            seen["held",] = entry is not None
            looked.append(("held",))
            if entry is not None:  # whose an entry is that is not there nobody can see
                seen["holder",] = entry.client_id
                looked.append(("holder",))
        return seen, looked
