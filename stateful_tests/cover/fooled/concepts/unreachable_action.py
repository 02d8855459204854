"""F3: an action that could happen in a state with all invariants, but no run leads there."""

from __future__ import annotations

from model.language import TRUE, Bool, State, action, always, initially, require

PROVE = {"c_follows_b": "unknown: no run was found in which follow happens"}


class Unreachable(State):
    """Three flags."""

    a: Bool
    b: Bool
    c: Bool


@initially
def down(s: Unreachable) -> Bool:
    """All are down."""
    return ~s.a & ~s.b & ~s.c


@action("nothing")
def flip(s: Unreachable) -> None:
    """One changes."""
    s.a = ~s.a


@action("nothing")
def follow(s: Unreachable) -> None:
    """What never is raised is followed."""
    require(s.b)
    s.c = TRUE


@always(shipped="holds")
def c_follows_b(s: Unreachable) -> Bool:
    """True, and says nothing: b is never raised."""
    return s.c.implies(s.b)
