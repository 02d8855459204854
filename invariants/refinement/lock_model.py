"""The model that follows the lock of one queue: `model.order_lock.OrderLock` in the grain of its implementation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from impl.decisions.message_queue import MessageQueue
from invariants import order_lock as promised
from invariants.finding import Finding
from invariants.refinement.elements import Pool, Sized
from invariants.refinement.monitor import Alternatives, Monitor, Step
from model.language import FALSE, TRUE, Property, action, require
from model.language.scope import Scope
from model.order_lock import Client, Ms, OrderLock

NAME = "refines_order_lock"
CLIENT_LIVE_MS, BROKER_LIVE_MS = 30_000, 60_000
TOP_MS = 65_535
"""Ages end here; nothing asks for more than the broker's lease."""
CLIENTS = 4
ANSWERS = 3
"""How many answers to one client can be on their way: its threads that ask, and one more."""

PROPERTIES: tuple[Property, ...] = tuple(
    OrderLock.concept.properties[declared.__name__]
    for declared in (promised.one_lock_holder, promised.one_live_believer)
)


class Locking(OrderLock):
    """The lock of one queue, in the implementation's steps."""


@action("RebalanceImpl#lock, #lockAll: another answer")
def answer_again(s: Locking, c: Client) -> None:
    """A second answer arrives, of a request that was made beside the first."""
    s.locked[c] = TRUE
    s.since[c] = Ms.of(0)


@action("RebalanceImpl#updateProcessQueueTableInRebalance: setLocked, of later versions")
def take_locked(s: Locking, c: Client) -> None:
    """The answer has come, and the queue is taken as one that is locked since its process queue was made."""
    require(s.granted[c])
    s.granted[c] = FALSE
    s.locked[c] = TRUE


@action("RebalancePushImpl#unlockDelay: the lock was never believed in")
def drop_unlocked(s: Locking, c: Client) -> None:
    """A queue is dropped whose lock was granted for its taking, and not renewed since."""
    require(~s.locked[c])
    s.granted[c] = FALSE
    s.unlocking[c] = TRUE


@action("RebalanceLockManager#unlockBatch: nobody waits for it")
def unlock_beside(s: Locking, c: Client) -> None:
    """An unlock of a process that ends or is gone, or one that the network has delivered twice."""
    s.held = s.held & ~(s.holder == c)
    s.lease[c] = FALSE


@action("RebalanceLockManager#tryLockBatch: LockEntry#setLastUpdateTimestamp of an entry that has gone, or expired")
def fast_stamp(s: Locking, c: Client) -> None:
    """The fast path has read id and time before; by now the entry has expired, or is not the table's any more."""
    s.granted[c] = TRUE
    s.lease[c] = TRUE
    s.lease_age[c] = Ms.of(0)


VISIBLE = ("held", "holder", "locked")


class Bits(Sized):
    """A reading with the places of what followers look at; by the numbers of clients."""

    def __init__(self, clients: int) -> None:
        """Look them up."""
        constants = {"client_live": CLIENT_LIVE_MS, "broker_live": BROKER_LIVE_MS, "rpc_max": TOP_MS,
                     "batch_max": TOP_MS}
        super().__init__(Scope(Locking, {Client: clients, Ms: TOP_MS + 1}, constants))
        cell = self.layout.cell
        self.held, self.holder, self.age = cell("held"), cell("holder"), cell("age")
        of = range(clients)
        self.granted, self.locked, self.seen, self.unlocking, self.lease = (
            [cell(name, c).mask for c in of] for name in ("granted", "locked", "seen", "unlocking", "lease"))
        self.since, self.lease_age = ([cell(name, c) for c in of] for name in ("since", "lease_age"))
        self.flags = [sum(masks) for masks in zip(self.granted, self.locked, self.seen, self.unlocking, strict=True)]
        self.ages = self.age.mask | sum(one.mask for cells in (self.since, self.lease_age) for one in cells)
        self.broker_side = self.held.mask | self.holder.mask


@lru_cache(maxsize=8)
def bits_of(clients: int) -> Bits:
    """The model with so many clients; all queues share it."""
    return Bits(clients)


class QueueLock:
    """The lock of one queue.

    broker -- the machine that granted it last. clock -- that broker's. stamped_ms -- the entry's time by it. leased_ms,
    believed_ms -- of each Client: the broker's clock at the last grant, its own at the last answer it believed.
    answers -- how many may be on their way to it. taken_ms -- when it took the queue by an answer, if none was given
    since. entering -- a Client whose `since` counts although it does not believe yet. had -- Clients that the entry was
    given to. gave_up -- Clients that have dropped the queue. holders -- client ids that hold it now.
    working -- client ids whose listeners work on it.
    """

    def __init__(self, mq: MessageQueue, properties: Iterable[Property]) -> None:
        """Nobody has it."""
        self.mq, self.broker = mq, ""
        self.clock: Callable[[], int] = _stopped
        self.pool = Pool(CLIENTS)
        self.bits = bits_of(CLIENTS)
        self.monitor = Monitor(self.bits, _nothing, VISIBLE, 0, properties, NAME)
        self.stamped_ms = 0
        self.leased_ms: dict[int, int] = {}
        self.believed_ms: dict[int, int] = {}
        self.clocks: dict[int, Callable[[], int]] = {}
        self.answers: dict[int, int] = {}
        self.taken_ms: dict[int, int] = {}
        self.entering = -1
        self.had: set[int] = set()
        self.gave_up: set[int] = set()
        self.holders: set[str] = set()
        self.working: set[str] = set()

    @property
    def state(self) -> int:
        """The one state: nothing is left open."""
        return self.monitor.states[0]

    @state.setter
    def state(self, state: int) -> None:
        """Put another state in its place; nothing is judged."""
        self.monitor.states = (state,)

    def client(self, client_id: str) -> int:
        """The element of a client id."""
        found = self.pool.get(client_id)
        if found is None:
            found = self.pool.give(client_id, self.needed, self.renamed)
            if self.pool.size > len(self.bits.locked):
                larger = bits_of(self.pool.size)
                self.monitor.move(larger, [self.bits.moved(self.state, larger)])
                self.bits = larger
        return found

    def needed(self, c: int) -> bool:
        """Whether anything of a Client is set."""
        bits, state = self.bits, self.state
        holds = state & bits.held.mask and bits.layout.read(state, bits.holder) == c
        leased = state & bits.lease[c] and self.clock() - self.leased_ms.get(c, 0) <= BROKER_LIVE_MS
        return bool(holds or leased or state & bits.flags[c])

    def renamed(self, c: int) -> None:
        """A lease that has run out may be forgotten with its client."""
        if c < len(self.bits.lease):
            self.state &= ~self.bits.lease[c]
        for of in (self.leased_ms, self.believed_ms, self.clocks, self.answers, self.taken_ms):
            of.pop(c, None)
        self.had.discard(c)
        self.gave_up.discard(c)

    def step(self, event: Any, *steps: Step) -> list[Finding]:
        """Let time pass, and take these steps."""
        bits, state = self.bits, self.state
        now = state & ~bits.ages
        if state & bits.held.mask:
            now |= age(self.clock(), self.stamped_ms) << bits.age.position
        for c in self.pool.given.values():
            if state & bits.locked[c] or c == self.entering:
                clock = self.clocks.get(c, _stopped)
                now |= age(clock(), self.believed_ms.get(c, 0)) << bits.since[c].position
            if state & bits.lease[c]:
                now |= age(self.clock(), self.leased_ms[c]) << bits.lease_age[c].position
        self.state = now
        return [self.named(finding) for finding in self.monitor.follow(event, [steps])]

    def compare(self, seen: int, visible: int) -> list[Finding]:
        """See Monitor."""
        return [self.named(finding) for finding in self.monitor.compare(seen, visible)]

    def named(self, finding: Finding) -> Finding:
        """With the implementation's names instead of those of elements."""
        names = {f"client{c}": str(client_id) for client_id, c in self.pool.given.items()}
        sentence = re.sub(r"\bclient\d+\b", lambda word: names.get(word[0], word[0]), finding.sentence)
        return replace(finding, sentence=f"{self.mq.broker_name}/{self.mq.queue_id} of {self.mq.topic}: {sentence}")


def age(now_ms: int, then_ms: int) -> int:
    """Milliseconds by one clock, which may have been set back in between."""
    return max(0, min(now_ms - then_ms, TOP_MS))


def _stopped() -> int:
    return 0


def _nothing(_: Any) -> Alternatives:
    return ()
