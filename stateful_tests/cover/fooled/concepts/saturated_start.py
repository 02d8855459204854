"""An initial condition that only an age beyond the scope satisfies."""

from __future__ import annotations

from model.language import Bool, Nat, State, action, always, initially
from model.language.scope import Scope

EXPLORE = {"never_old": "unknown: steps depend on"}


class Age(Nat, saturates=True):
    """An age."""


class Begun(State):
    """An age and a flag."""

    a: Age
    old: Bool


@initially
def begun(s: Begun) -> Bool:
    """Old if it is above 5."""
    return s.old.iff(s.a > 5)


@action("nothing")
def flip(s: Begun) -> None:
    """Nothing depends on it."""
    s.a = s.a + 1


@always(shipped="violated: D1")
def never_old(s: Begun) -> Bool:
    """False at once."""
    return ~s.old


scopes = [Scope(Begun, {Age: 4}, name="four ages")]
