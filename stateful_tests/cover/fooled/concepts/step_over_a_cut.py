"""A step property that only a step out of the scope breaks."""

from __future__ import annotations

from model.language import Bool, Nat, State, action, always, initially, ite, step
from model.language.scope import Scope

EXPLORE = {
    "steps_are_small": "holds: within the scope: steps that leave it were cut",
    "stays_below_nine": "holds: within the scope",
}


class Number(Nat):
    """A number."""


class Edge(State):
    """A number that leaps at the edge of its scope."""

    x: Number


@initially
def zero(s: Edge) -> Bool:
    """It is 0."""
    return s.x == 0


@action("nothing")
def on(s: Edge) -> None:
    """It grows by one, and by two from 3 on."""
    s.x = ite(s.x < 3, s.x + 1, s.x + 2)


@step(shipped="violated: D1")
def steps_are_small(before: Edge, after: Edge) -> Bool:
    """False, and true within four numbers: the row says that steps were cut."""
    return after.x <= before.x + 1


@always(shipped="violated: D1")
def stays_below_nine(s: Edge) -> Bool:
    """False, likewise."""
    return s.x < 9


scopes = [Scope(Edge, {Number: 4}, name="four numbers")]
