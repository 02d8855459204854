"""What runs visit of scopes that can be enumerated, in a form that followers and enumerations share.

The elements of a follower are whatever its implementation names, those of an enumeration are numbers. A *form* is a
small number that says the same of a state whatever its elements are: those of which nothing is said are left out, the
others are numbered in their order.
`enumerated` has the forms of all states that a model reaches in a scope, so that the share that was visited is exact.

What says nothing is no part of a form: the list that a dead member once fetched, the holder of a lock that nobody
holds; nor is what the follower of locks cannot see (`seen`), or reads from clocks (ages).

A state that does not fit into the scope is *outside*, with a reason, and so is all that comes after a divergence: what
follows is made of the implementation's tables and need not be a way of the model. An answer of a broker is learnt of
late (`Monitor.late`): its step counts where it was taken, and the one to the present state is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from impl.decisions.java_text import utf16_key
from impl.decisions.message_queue import MessageQueue
from invariants.finding import Finding
from invariants.refinement.members import Members, Process
from invariants.refinement.monitor import Monitor, Outcomes, Step
from invariants.views import Machines
from model.language.open.states import Cell

FLAGS = ("granted", "locked", "unlocking", "lease")
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


def between(monitor: Monitor, steps: Sequence[Step]) -> Iterator[Mapping[Cell, Any]]:
    """The states before the last of several steps, as far as they can be taken from the only state there is."""
    cells = dict(monitor.states.base)
    for action, arguments in steps[:-1]:
        writes = monitor.reading.step(action, arguments, cells)
        if writes is None:
            return
        cells.update(writes)
        yield cells


# Groups ---------------------------------------------------------------------------------------------------------------


def group_form(
    cells: Mapping[Cell, Any], brokers: Sequence[Any], queues: Sequence[Any],
    client: Callable[[Any], tuple[Any, int]] = lambda member: (member, 0),
) -> int | str:
    """The form of a state of `Rebalancing`, or why it has none.

    cells -- those that were written. brokers, queues -- all there are, in their order. client -- of a Member, the
    client id as clients are ordered, and its place.
    """
    heard = {other for (name, *keys), view in cells.items()
             if name == "answer" and cells.get(("up", keys[0])) for other in view}
    used = {keys[-1] if name == "listed" else keys[0] for (name, *keys), value in cells.items()
            if value and name in ("up", "listed", "holds")}
    named = sorted(used | heard, key=client)
    if any(client(member)[1] for member in named):
        return TWICE
    if len(named) > MEMBERS:
        return TOO_MANY
    form = place = 0
    for m in named:
        answer = cells.get(("answer", m), ()) if cells.get(("up", m)) else ()
        flags = [cells.get(("up", m)), cells.get(("fetched", m))]
        flags += [other in answer for other in named] + [False] * (MEMBERS - len(named))
        flags += [cells.get(("listed", b, m)) for b in brokers]
        flags += [cells.get(("holds", m, q)) for q in queues] + [False] * (QUEUES - len(queues))
        for flag in flags:
            form |= bool(flag) << place
            place += 1
    return form


class GroupWalk:
    """Watches a follower of a group. machines -- whose brokers count."""

    def __init__(self, visited: Visited, monitor: Monitor, members: Members, machines: Machines) -> None:
        """Begin where the model is."""
        self.walk, self.monitor, self.members, self.machines = Walk(visited), monitor, members, machines
        monitor.keeping = True
        self._version = -1

    def note(self, found: Iterable[Finding]) -> None:
        """An event was taken, or tables were compared; found -- in the segment so far."""
        monitor = self.monitor
        self.walk.diverged = self.walk.diverged or any(one.property == monitor.name for one in found)
        if monitor.version != self._version:
            self._version = monitor.version
            self.walk.to(self.form(monitor.states.base) if len(monitor.states) == 1 else OPEN)

    def taken(self, steps: Sequence[Step]) -> None:
        """Several steps are about to be taken for one event."""
        if len(steps) > 1 and len(self.monitor.states) == 1:
            for cells in between(self.monitor, steps):
                self.walk.to(self.form(cells))

    def late(self, outcomes: Outcomes) -> None:
        """A step is about to be entered that was taken before; where it would not be the same, it is shown there."""
        now = self.monitor.foresee(outcomes.step).writes
        for writes, then in zip(outcomes.writes, outcomes.then, strict=False):
            if not now or any(one != writes for one in now):
                self.walk.leap()
                self.walk.to(self.form(then))
                self.walk.to(self.form({**then, **writes}))
                self.walk.leap()

    def leap(self) -> None:
        """A step was taken by the list of another run, which the model has not: it is no step of the last state."""
        self.walk.leap()

    def form(self, cells: Mapping[Cell, Any]) -> int | str:
        """The form of a state of the follower, or why it has none."""
        there = sorted(self.machines.brokers)
        if not any(value for (name, *_), value in cells.items() if name in ("up", "listed", "holds")):
            return 0
        if len(there) != GROUPS[self.walk.visited.scope]:
            return OTHER_BROKERS
        processes = self.members.alive()
        if any(one.consumer.strategy.name != AVERAGELY for one in processes):
            return OTHER_STRATEGY
        queues = self._queues(cells, processes)
        if queues is None:
            return ANOTHER_ROUTE
        return group_form(cells, there, queues, lambda member: (utf16_key(member[0]), member[1]))

    def _queues(self, cells: Mapping[Cell, Any], processes: Sequence[Process]) -> list[MessageQueue] | None:
        """The queues that everybody knows who has a route; None if they differ or others are held."""
        routes: set[frozenset[MessageQueue]] = {route for one in processes for route in one.routes if route}
        known = sorted(next(iter(routes))) if len(routes) == 1 else []
        held = {keys[1] for (name, *keys), value in cells.items() if name == "holds" and value}
        if len(routes) > 1 or len(known) not in (0, QUEUES) or not held <= set(known):
            return None
        return known


# Locks ----------------------------------------------------------------------------------------------------------------


def lock_form(cells: Mapping[Cell, Any], client: Callable[[Any], Any] = lambda client: client) -> int | str:
    """The form of a state of `Locking`, or why it has none; client -- of a Client, what clients are ordered by."""
    holder = cells.get(("holder",)) if cells.get(("held",)) else None
    used = {keys[0] for (name, *keys), value in cells.items() if value and name in FLAGS}
    named = sorted(used | ({holder} - {None}), key=client)
    if len(named) > CLIENTS:
        return TOO_MANY
    form = place = 0
    for c in named:
        for flag in (c == holder, *(cells.get((name, c)) for name in FLAGS)):
            form |= bool(flag) << place
            place += 1
    return form


class LockWalk:
    """Watches the follower of one queue's lock, whose state is always one."""

    def __init__(self, visited: Visited, monitor: Monitor) -> None:
        """Begin where the model is."""
        self.walk, self.monitor = Walk(visited), monitor
        self.walk.to(self.form(monitor.states.base))

    def taken(self, steps: Sequence[Step]) -> None:
        """Several steps are about to be taken for one event."""
        for cells in between(self.monitor, steps):
            self.walk.to(self.form(cells))

    def note(self, found: Iterable[Finding]) -> None:
        """They were taken, or tables were compared."""
        self.walk.diverged = self.walk.diverged or any(one.property == self.monitor.name for one in found)
        self.walk.to(self.form(self.monitor.states.base))

    def form(self, cells: Mapping[Cell, Any]) -> int | str:
        """The form of a state, or why it has none."""
        return lock_form(cells, utf16_key)
