"""An honest bound: the scope has an age above it, so that it is judged."""

from __future__ import annotations

from model.language import Bool, Nat, State, action, always, initially, sometimes
from model.language.scope import Scope

EXPLORE = {"a_is_below_ten": "violated", "a_is_old": "holds"}


class Age(Nat, saturates=True):
    """An age."""


class Ages(State):
    """Two ages."""

    a: Age
    b: Age


@initially
def young(s: Ages) -> Bool:
    """Both are 0."""
    return (s.a == 0) & (s.b == 0)


@action("nothing")
def tick(s: Ages) -> None:
    """Both grow."""
    s.a = s.a + 1
    s.b = s.b + 1


@action("nothing")
def reset(s: Ages) -> None:
    """One begins anew."""
    s.b = Age.of(0)


@always(shipped="violated: D1")
def a_is_below_ten(s: Ages) -> Bool:
    """False."""
    return s.a < 10


@sometimes
def a_is_old(s: Ages) -> Bool:
    """True."""
    return s.a > 8


scopes = [Scope(Ages, {Age: 12}, name="twelve ages")]
