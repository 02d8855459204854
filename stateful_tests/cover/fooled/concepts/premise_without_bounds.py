"""F3: a premise that every scope satisfies and no infinity does: there is a greatest number."""

from __future__ import annotations

from model.language import Bool, Nat, Rigid, State, action, always, every, exists, forall, initially, premise
from model.language.scope import Scope

PROVE = {"x_is_true": "unknown: the premise marks_go_up contradicts itself"}
EXPLORE = {"x_is_true": "violated"}


class Number(Nat):
    """A number."""


class Greatest(State):
    """A table over all numbers."""

    marked: Rigid[Number, Bool]
    x: Bool


@initially
def anything(s: Greatest) -> Bool:
    """X is anything."""
    return s.x | ~s.x


@premise
def marks_go_up(s: Greatest) -> Bool:
    """One number is not below any other, and 0 is marked."""
    return exists(forall(k <= n for k in every(Number)) for n in every(Number)) & s.marked[Number.of(0)]


@action("nothing")
def flip(s: Greatest) -> None:
    """X changes."""
    s.x = ~s.x


@always(shipped="violated: D1", given=(marks_go_up,))
def x_is_true(s: Greatest) -> Bool:
    """False: x is anything."""
    return s.x


scopes = [Scope(Greatest, {Number: 3}, {"marked": lambda _: True}, name="three numbers")]
