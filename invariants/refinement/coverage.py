"""What runs visit of scopes that can be enumerated, in a form that followers and enumerations share.

A follower lends the elements of a growing scope to identities that come and go, and packs its states anew when the
scope grows: equal states look different. A *form* is a small number that says the same of a state in every scope of its
concept: elements of which nothing is said are left out, the others are numbered by the order of their identities.
`enumerated` has the forms of all states that a model reaches in a scope, so that the share that was visited is exact.

What says nothing is no part of a form: the list that a dead member once fetched, the holder of a lock that nobody
holds; nor is what the follower of locks cannot see (`seen`), or reads from clocks (ages).

A state that does not fit into the scope is *outside*, with a reason, and so is all that comes after a divergence: what
follows is made of the implementation's tables and need not be a way of the model. An answer of a broker is learnt of
late (`Monitor.late`): its step counts where it was taken, and the one to the present state is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from impl.decisions.java_text import utf16_key
from impl.decisions.message_queue import MessageQueue
from invariants.finding import Finding
from invariants.refinement.follower import Machines
from invariants.refinement.group_model import GroupModel
from invariants.refinement.lock_model import QueueLock
from invariants.refinement.members import Process
from invariants.refinement.monitor import Reading, Step
from model.language import Property
from model.language.layout import Layout
from model.language.scalar import LeavesScope

MEMBERS = QUEUES = CLIENTS = 2
"""Of each enumerable scope."""

GROUPS = {"group, 1 broker": 1, "group, 2 brokers": 2}
"""Scopes of `Rebalancing`, with so many brokers: everybody subscribes and shares out averagely, no client id twice."""
LOCK = "order lock"
"""The scope of `Locking`."""

OPEN, ANOTHER_ROUTE, OTHER_BROKERS, TOO_MANY, TWICE, OTHER_STRATEGY, DIVERGED = (
    "more than one state fits", "a member has another route", "there are other brokers", "more than two are named",
    "a client has two places", "a member shares out in another way", "the model was left before",
)
"""Why a state is outside."""
AVERAGELY = "AVG"


@dataclass
class Visited:
    """What was visited of a scope.

    states -- forms. steps -- of each step that changed the form, the forms before and after. moments -- how often the
    form changed, or the state while it had none. outside -- at how many of these it had none, by reason.
    """

    scope: str
    states: set[int] = field(default_factory=set)
    steps: set[tuple[int, int]] = field(default_factory=set)
    moments: int = 0
    outside: Counter[str] = field(default_factory=Counter)

    def join(self, other: Visited) -> None:
        """Take what was visited elsewhere."""
        self.states |= other.states
        self.steps |= other.steps
        self.moments += other.moments
        self.outside += other.outside


class Walk:
    """A way through the forms of a scope; whatever was outside breaks it off, and a divergence ends it."""

    def __init__(self, visited: Visited) -> None:
        """It has not begun."""
        self.visited = visited
        self.last: int | None = None
        self.diverged = False

    def to(self, form: int | str) -> None:
        """Go on to a form, or (its reason) outside."""
        if self.diverged:
            form = DIVERGED
        if form == self.last:
            return
        self.visited.moments += 1
        if isinstance(form, str):
            self.visited.outside[form] += 1
            self.last = None
            return
        self.visited.states.add(form)
        if self.last is not None:
            self.visited.steps.add((self.last, form))
        self.last = form

    def leap(self) -> None:
        """Go on from anywhere: what comes next is no step of the last form."""
        self.last = None


def between(reading: Reading, state: int, steps: Sequence[Step]) -> Iterable[int]:
    """The states before the last of several steps, as far as they can be taken."""
    after: int | None = state
    for action, arguments in steps[:-1]:
        try:
            after = reading.step(action, arguments, state)
        except LeavesScope:
            return
        if after is None:
            return
        yield (state := after)


# Groups ---------------------------------------------------------------------------------------------------------------


class _GroupBits(NamedTuple):
    up: list[int]
    fetched: list[int]
    answer: list[int]
    listed: list[list[int]]
    holds: list[list[int]]
    whole: list[int]


@lru_cache(maxsize=64)
def _group_bits(layout: Layout) -> _GroupBits:
    """Masks by numbers of elements: of a member, of a member and a broker or queue; `answer` are positions."""
    sizes, cell = layout.scope.sizes, layout.cell
    brokers, members, queues = range(sizes["Broker"]), range(sizes["Member"]), range(sizes["Queue"])
    up, fetched = ([cell(name, m).mask for m in members] for name in ("up", "fetched"))
    listed = [[cell("listed", b, m).mask for b in brokers] for m in members]
    holds = [[cell("holds", m, q).mask for q in queues] for m in members]
    whole = [up[m] | sum(listed[m]) | sum(holds[m]) for m in members]
    return _GroupBits(up, fetched, [cell("answer", m).position for m in members], listed, holds, whole)


def group_form(
    layout: Layout, state: int, members: Sequence[int], brokers: Sequence[int | None],
    queues: Sequence[int | None],
) -> int | str:
    """The form of a state of `Rebalancing`, or why it has none.

    members -- elements in the order of their client ids; others than these must not be in use. brokers -- elements of
    all brokers by name, queues -- of all queues in their order, if there are any; None for one without.
    """
    bits, heard, every = _group_bits(layout), 0, (1 << len(_group_bits(layout).up)) - 1
    for m, up in enumerate(bits.up):
        if state & up:
            heard |= state >> bits.answer[m] & every
    used = [m for m, whole in enumerate(bits.whole) if state & whole or heard >> m & 1]
    named = [m for m in members if m in used]
    if len(named) < len(used):
        return TWICE
    if len(named) > MEMBERS:
        return TOO_MANY
    form, place = 0, 0
    for m in named:
        flags = [state & bits.up[m], state & bits.fetched[m]]
        answer = state >> bits.answer[m] if state & bits.up[m] else 0
        flags += [answer >> other & 1 for other in named] + [0] * (MEMBERS - len(named))
        flags += [0 if b is None else state & bits.listed[m][b] for b in brokers]
        flags += [0 if q is None else state & bits.holds[m][q] for q in queues] + [0] * (QUEUES - len(queues))
        for flag in flags:
            form |= bool(flag) << place
            place += 1
    return form


class GroupWalk:
    """Watches a follower of a group. machines -- whose brokers count."""

    def __init__(self, visited: Visited, model: GroupModel, machines: Machines) -> None:
        """Begin where the model is."""
        self.walk, self.model, self.machines = Walk(visited), model, machines
        self._states: tuple[int, ...] = ()

    def note(self, found: Iterable[Finding]) -> None:
        """An event was taken, or tables were compared; found -- in the segment so far."""
        states = self.model.states
        self.walk.diverged = self.walk.diverged or any(one.property == self.model.monitor.name for one in found)
        if states is not self._states:
            self._states = states
            self.walk.to(self.form(states[0]) if len(states) == 1 else OPEN)

    def taken(self, steps: Sequence[Step]) -> None:
        """Several steps are about to be taken for one event."""
        if len(steps) > 1 and len(self.model.states) == 1:
            for state in between(self.model.bits.reading, self.model.states[0], steps):
                self.walk.to(self.form(state))

    def late(self, step: Step, then: Sequence[int]) -> None:
        """A step is about to be taken that was taken in one of these states."""
        reading, states = self.model.bits.reading, self.model.states
        now = [reading.step(*step, state) for state in states]
        written = reading.written(*step)
        for before in then:
            after = reading.step(*step, before)
            if after is not None and any(one is None or (one ^ after) & written for one in now):
                self.walk.leap()
                self.walk.to(self.form(before))
                self.walk.to(self.form(after))
                self.walk.leap()

    def leap(self) -> None:
        """A step was taken by the list of another run, which the model has not: it is no step of the last state."""
        self.walk.leap()

    def form(self, state: int) -> int | str:
        """The form of a state of the follower, or why it has none."""
        model, there = self.model, sorted(self.machines.brokers)
        if not any(state & whole for whole in _group_bits(model.bits.reading.layout).whole):
            return 0
        if len(there) != GROUPS[self.walk.visited.scope]:
            return OTHER_BROKERS
        processes = [model.members.processes[m] for of in model.members.running.values() for m in of.values()]
        if any(one.consumer.rebalance_impl.strategy.name != AVERAGELY for one in processes):
            return OTHER_STRATEGY
        queues = self._queues(state, processes)
        if queues is None:
            return ANOTHER_ROUTE
        chains = sorted(model.members.chains.items(), key=lambda chain: utf16_key(chain[0]))
        return group_form(
            model.bits.reading.layout, state, [chain[0] for _, chain in chains if chain],
            [model.brokers.get(machine) for machine in there], queues,
        )

    def _queues(self, state: int, processes: Sequence[Process]) -> list[int | None] | None:
        """The elements of the queues that everybody knows who has a route; None if they differ or others are held.

        A queue that is in no present route and that nobody holds has no element.
        """
        routes: set[frozenset[MessageQueue]] = {route for one in processes for route in one.routes if route}
        known = sorted(next(iter(routes))) if len(routes) == 1 else []
        numbers, bits = self.model.members.queues, _group_bits(self.model.bits.reading.layout)
        held = [mq for mq, q in numbers.items() if any(state & row[q] for row in bits.holds)]
        if len(routes) > 1 or len(known) not in (0, QUEUES) or not set(held) <= set(known):
            return None
        return [numbers.get(mq) for mq in known]


# Locks ----------------------------------------------------------------------------------------------------------------


class _LockBits(NamedTuple):
    held: int
    holder: tuple[int, int]
    flags: list[list[int]]


@lru_cache(maxsize=16)
def _lock_bits(layout: Layout) -> _LockBits:
    """Masks; of the holder position and mask; of each client those of its flags."""
    holder = layout.cell("holder")
    flags = [[layout.cell(name, c).mask for name in ("granted", "locked", "unlocking", "lease")]
             for c in range(layout.scope.sizes["Client"])]
    return _LockBits(layout.cell("held").mask, (holder.position, (1 << holder.width) - 1), flags)


def lock_form(layout: Layout, state: int, clients: Sequence[int]) -> int | str:
    """The form of a state of `Locking`, or why it has none; clients -- elements in the order of their client ids."""
    bits = _lock_bits(layout)
    holder = state >> bits.holder[0] & bits.holder[1] if state & bits.held else None
    named = [c for c in clients if c == holder or any(state & flag for flag in bits.flags[c])]
    if len(named) > CLIENTS:
        return TOO_MANY
    form = place = 0
    for c in named:
        for flag in (c == holder, *(state & mask for mask in bits.flags[c])):
            form |= bool(flag) << place
            place += 1
    return form


class WatchedLock(QueueLock):
    """The lock of one queue, and what is visited of it."""

    def __init__(self, mq: MessageQueue, properties: Iterable[Property], visited: Visited) -> None:
        """Nobody has it."""
        super().__init__(mq, properties)
        self.walk = Walk(visited)
        self.walk.to(self.form(self.state))

    def step(self, event: Any, *steps: Step) -> list[Finding]:
        """See QueueLock."""
        for state in between(self.bits, self.state, steps):
            self.walk.to(self.form(state))
        return self._noted(super().step(event, *steps))

    def compare(self, seen: int, visible: int) -> list[Finding]:
        """See QueueLock."""
        return self._noted(super().compare(seen, visible))

    def _noted(self, found: list[Finding]) -> list[Finding]:
        self.walk.diverged = self.walk.diverged or any(one.property == self.monitor.name for one in found)
        self.walk.to(self.form(self.state))
        return found

    def form(self, state: int) -> int | str:
        """The form of a state, or why it has none."""
        given = sorted((utf16_key(str(client_id)), c) for client_id, c in self.pool.given.items())
        return lock_form(self.bits.layout, state, [c for _, c in given if c < len(self.bits.locked)])
