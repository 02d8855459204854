"""F3: an action is said never to happen, and happens."""

from __future__ import annotations

from model.language import TRUE, Bool, State, action, always, initially, require

PROVE = {"b_after_a": "unknown: excludes b_after_a under raise_b"}


class Alive(State):
    """Two flags."""

    a: Bool
    b: Bool


@initially
def down(s: Alive) -> Bool:
    """Both are down."""
    return ~s.a & ~s.b


@action("nothing")
def raise_a(s: Alive) -> None:
    """One is raised."""
    s.a = TRUE


@action("nothing")
def raise_b(s: Alive) -> None:
    """The other is raised, after the first."""
    require(s.a)
    s.b = TRUE


@always(shipped="holds", excludes=("raise_b",))
def b_after_a(s: Alive) -> Bool:
    """True, but not because raise_b never happens."""
    return s.b.implies(s.a)
