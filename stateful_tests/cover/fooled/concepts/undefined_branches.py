"""A subtraction that means nothing stands in a branch that is not taken, or in one that is."""

from __future__ import annotations

from model.language import (
    Bool,
    Nat,
    State,
    action,
    always,
    initially,
    ite,
    require,
)
from model.language.scope import Scope

PROVE = {
    "distance_is_small": "holds",
    "distance_is_smaller": "unknown: defined distance_is_smaller",
    "order_matters": "unknown: defined order_matters",
}
EXPLORE = {
    "distance_is_small": "holds",
    "distance_is_smaller": "unknown: not well defined",
    "order_matters": "unknown: not well defined",
}


class Count(Nat):
    """Numbers."""


class Two(State):
    """Two numbers below 3."""

    a: Count
    b: Count


@initially
def zero(s: Two) -> Bool:
    """Both begin at 0."""
    return (s.a == 0) & (s.b == 0)


@action("nothing")
def raise_a(s: Two) -> None:
    """The first grows."""
    require(s.a < 2)
    s.a = s.a + 1


@action("nothing")
def raise_b(s: Two) -> None:
    """The second grows."""
    require(s.b < 2)
    s.b = s.b + 1


@always(shipped="holds")
def distance_is_small(s: Two) -> Bool:
    """True: the greater less the smaller; the other branch is never read."""
    return (ite(s.b <= s.a, s.a - s.b, s.b - s.a) <= 2) & (s.a <= 2) & (s.b <= 2)


@always(shipped="holds")
def distance_is_smaller(s: Two) -> Bool:
    """It says the same, with the branches exchanged where the numbers differ: then both mean nothing."""
    return ite(s.b <= s.a, s.b - s.a, s.a - s.b) <= 2


@always(shipped="holds")
def order_matters(s: Two) -> Bool:
    """What makes the subtraction good stands behind it, too late."""
    return ((s.b - s.a) <= 2) | ~(s.a <= s.b) | ~(s.b <= 2)


scopes = [Scope(Two, {Count: 4}, name="small numbers")]
