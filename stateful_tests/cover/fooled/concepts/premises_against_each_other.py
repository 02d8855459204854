"""F3: two premises are possible alone and impossible together."""

from __future__ import annotations

from model.language import Bool, Constant, Nat, State, action, always, initially, premise

PROVE = {"x_is_true": "unknown: the premises contradict each other"}


class Number(Nat):
    """A number."""


class Both(State):
    """A constant."""

    limit: Constant[Number]
    x: Bool


@initially
def anything(s: Both) -> Bool:
    """X is anything."""
    return s.x | ~s.x


@premise
def small(s: Both) -> Bool:
    """The limit is small."""
    return s.limit < 3


@premise
def large(s: Both) -> Bool:
    """The limit is large."""
    return s.limit > 5


@action("nothing")
def flip(s: Both) -> None:
    """X changes."""
    s.x = ~s.x


@always(shipped="violated: D1", given=(small, large))
def x_is_true(s: Both) -> Bool:
    """False: x is anything."""
    return s.x & ~s.x
