"""Going back from the greatest age: what stands for many ages becomes one."""

from __future__ import annotations

from model.language import Bool, Nat, State, action, always, initially, require
from model.language.scope import Scope

EXPLORE = {"never_far": "unknown: steps depend on"}


class Age(Nat, saturates=True):
    """An age."""


class Back(State):
    """An age that goes back."""

    a: Age
    far: Bool


@initially
def young(s: Back) -> Bool:
    """It is 0."""
    return (s.a == 0) & ~s.far


@action("nothing")
def tick(s: Back) -> None:
    """It grows."""
    s.a = s.a + 1


@action("nothing")
def back(s: Back) -> None:
    """It goes back, which is far if more than 2 are left."""
    require(s.a > 0)
    s.far = s.a > 6
    s.a = s.a - 1


@always(shipped="violated: D1")
def never_far(s: Back) -> Bool:
    """False from 7 on."""
    return ~s.far


scopes = [Scope(Back, {Age: 4}, name="four ages")]
