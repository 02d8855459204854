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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from impl.decisions.java_text import utf16_key
from impl.decisions.message_queue import MessageQueue
from invariants.finding import Finding
from invariants.refinement.members import Members
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


Former = Callable[[Mapping[Cell, Any], str], "int | str"]
"""Gives of a state, by the cells that were written, its form in a scope, or why it has none."""


class Watched(Monitor):
    """A monitor that notes the way that it takes through the forms of a scope."""

    def __init__(self, visited: Visited, former: Former, *monitored: Any, **settings: Any) -> None:
        """Begin; monitored, settings -- as for Monitor."""
        super().__init__(*monitored, **settings)
        self.walk, self.keeping = Walk(visited), True
        self._former = former
        self._shown = -1

    def note(self, found: Iterable[Finding]) -> None:
        """An event was taken, or tables were compared; found -- in the segment so far."""
        self.walk.diverged = self.walk.diverged or any(one.property == self.name for one in found)
        if self.version != self._shown:
            self._shown = self.version
            self.walk.to(self._form(self.states.base) if len(self.states) == 1 else OPEN)

    def _form(self, cells: Mapping[Cell, Any]) -> int | str:
        return self._former(cells, self.walk.visited.scope)

    def take(self, event: Any, *steps: Step) -> list[Finding]:
        """See Monitor; of several steps, what is between them is visited too."""
        if len(steps) > 1 and len(self.states) == 1:
            cells = dict(self.states.base)
            for action, arguments in steps[:-1]:
                writes = self.reading.step(action, arguments, cells)
                if writes is None:
                    break
                cells.update(writes)
                self.walk.to(self._form(cells))
        return super().take(event, *steps)

    def late(self, event: Any, outcomes: Outcomes) -> list[Finding]:
        """See Monitor; where the step would not be the same by now, it is shown where it was taken."""
        now = self.foresee(outcomes.step).writes
        for writes, then in zip(outcomes.writes, outcomes.then, strict=False):
            if not now or any(one != writes for one in now):
                self.walk.leap()
                self.walk.to(self._form(then))
                self.walk.to(self._form({**then, **writes}))
                self.walk.leap()
        return super().late(event, outcomes)

    def supposing(self, event: Any, step: Step, cells: Mapping[Cell, Any]) -> list[Finding] | None:
        """See Monitor; a step by the list of another run, which the model has not, is no step of the last state."""
        found = super().supposing(event, step, dict(cells))
        if found is not None:
            self.walk.leap()
        return found


def watching(visited: Visited | None, former: Former, *monitored: Any, **settings: Any) -> Monitor:
    """A monitor that notes what it visits, if that is wanted; monitored, settings -- as for Monitor."""
    if visited is None:
        return Monitor(*monitored, **settings)
    return Watched(visited, former, *monitored, **settings)


def _packed(flags: Iterable[Any]) -> int:
    """A bit for each."""
    return sum(1 << place for place, flag in enumerate(flags) if flag)


def _used(cells: Mapping[Cell, Any], names: Sequence[str]) -> set[Any]:
    """Of whom one of these variables, by its first key, is true."""
    return {cell[1] for cell, value in cells.items() if value and cell[0] in names}


def group_form(
    cells: Mapping[Cell, Any], brokers: Sequence[Any], queues: Sequence[Any],
    client: Callable[[Any], tuple[Any, int]] = lambda member: (member, 0),
) -> int | str:
    """The form of a state of `Rebalancing`, or why it has none.

    cells -- those that were written. brokers, queues -- all there are, in their order. client -- of a Member, the
    client id as clients are ordered, and its place.
    """
    alive = _used(cells, ("up",))
    heard = {other for cell, view in cells.items() if cell[0] == "answer" and cell[1] in alive for other in view}
    listed = {cell[2] for cell, value in cells.items() if value and cell[0] == "listed"}
    named = sorted(alive | heard | listed | _used(cells, ("holds",)), key=client)
    if any(client(member)[1] for member in named):
        return TWICE
    if len(named) > MEMBERS:
        return TOO_MANY
    flags: list[Any] = []
    for m in named:
        answer = cells.get(("answer", m), ()) if m in alive else ()
        flags += [m in alive, cells.get(("fetched", m))]
        flags += [other in answer for other in named] + [False] * (MEMBERS - len(named))
        flags += [cells.get(("listed", b, m)) for b in brokers]
        flags += [cells.get(("holds", m, q)) for q in queues] + [False] * (QUEUES - len(queues))
    return _packed(flags)


def form_in_group(cells: Mapping[Cell, Any], scope: str, members: Members, machines: Machines) -> int | str:
    """The form of a state of the follower of a group, or why it has none; machines -- whose brokers count."""
    if not any(value for (name, *_), value in cells.items() if name in ("up", "listed", "holds")):
        return 0
    there, processes = sorted(machines.brokers), members.alive()
    if len(there) != GROUPS[scope]:
        return OTHER_BROKERS
    if any(one.consumer.strategy.name != AVERAGELY for one in processes):
        return OTHER_STRATEGY
    routes: set[frozenset[MessageQueue]] = {route for one in processes for route in one.routes if route}
    queues = sorted(next(iter(routes))) if len(routes) == 1 else []
    held = {cell[2] for cell, value in cells.items() if cell[0] == "holds" and value}
    if len(routes) > 1 or len(queues) not in (0, QUEUES) or not held <= {*queues}:
        return ANOTHER_ROUTE
    return group_form(cells, there, queues, lambda member: (utf16_key(member[0]), member[1]))


def lock_form(cells: Mapping[Cell, Any], client: Callable[[Any], Any] = lambda client: client) -> int | str:
    """The form of a state of `Locking`, or why it has none; client -- of a Client, what clients are ordered by."""
    holder = cells.get(("holder",)) if cells.get(("held",)) else None
    named = sorted(_used(cells, FLAGS) | ({holder} - {None}), key=client)
    if len(named) > CLIENTS:
        return TOO_MANY
    return _packed(flag for c in named for flag in (c == holder, *(cells.get((name, c)) for name in FLAGS)))
