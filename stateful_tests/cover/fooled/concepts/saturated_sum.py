"""Two ages that saturate, added: the sum is at most the greatest age, in a search only."""

from __future__ import annotations

from model.language import (
    Bool,
    Nat,
    State,
    action,
    always,
    initially,
    require,
)
from model.language.scope import Scope

PROVE = {"the_sum_is_small": "unknown", "a_sum_is_greater": "holds"}
EXPLORE = {"the_sum_is_small": "unknown: saturation", "a_sum_is_greater": "unknown: saturation"}


class Ms(Nat, saturates=True):
    """Time."""


class Ages(State):
    """Two ages, and their sum."""

    a: Ms
    b: Ms
    both: Ms


@initially
def young(s: Ages) -> Bool:
    """All begin at 0."""
    return (s.a == 0) & (s.b == 0) & (s.both == 0)


@action("time")
def elapse(s: Ages, by: Ms) -> None:
    """Time passes for both."""
    require(by > 0)
    s.both = s.a + s.b
    s.a = s.a + by
    s.b = s.b + by


@always(shipped="holds")
def the_sum_is_small(s: Ages) -> Bool:
    """False: there is no greatest age."""
    return s.both <= 7


@always(shipped="holds")
def a_sum_is_greater(s: Ages) -> Bool:
    """True: what was added is not greater than what it is now."""
    return (s.both <= s.a + s.b) & (s.a == s.b)


scopes = [Scope(Ages, {Ms: 5}, name="five ages")]
