"""F6: a bound above the greatest age of the scope looks as if it held; an honest one has an age above it."""

from __future__ import annotations

from model.language import Bool, Nat, State, action, always, initially, sometimes
from model.language.scope import Scope

EXPLORE = {
    "a_is_below_ten": "unknown: saturation",
    "a_is_eleven": "unknown: saturation",
    "a_is_below_ten_in_sight": "violated",
    "a_is_old": "holds",
}


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
def a_is_eleven(s: Ages) -> Bool:
    """True, but beyond the scope."""
    return s.a == 11


class InSight(Ages):
    """The same, searched with an age above the bound."""


@always(shipped="violated: D1")
def a_is_below_ten_in_sight(s: InSight) -> Bool:
    """False."""
    return s.a < 10


@sometimes
def a_is_old(s: InSight) -> Bool:
    """True."""
    return s.a > 8


scopes = [Scope(Ages, {Age: 5}, name="five ages"), Scope(Ages, {Age: 10}, name="ten ages"),
          Scope(InSight, {Age: 12}, name="twelve ages")]
