"""F5: lemmas owe a run for every action, too."""

from __future__ import annotations

from model.language import TRUE, Bool, State, action, always, initially, lemma, require
from model.language.scope import Scope

PROVE = {"a_stays_down": "unknown: no run was found in which raise_b happens", "b_stays_down": "holds"}
EXPLORE = {"b_stays_down": "holds"}


class Lonely(State):
    """A flag that is never raised."""

    a: Bool
    b: Bool


@initially
def down(s: Lonely) -> Bool:
    """Both are down."""
    return ~s.a & ~s.b


@action("nothing")
def raise_b(s: Lonely) -> None:
    """The second is raised after the first, so never."""
    require(s.a)
    s.b = TRUE


@action("nothing")
def nothing(s: Lonely) -> None:
    """Nothing changes."""
    s.b = s.b & s.b


@lemma
def a_stays_down(s: Lonely) -> Bool:
    """True, and raise_b never happens."""
    return ~s.a


@always(shipped="holds", excludes=("raise_b",))
def b_stays_down(s: Lonely) -> Bool:
    """True, and it says why."""
    return ~s.b


scopes = [Scope(Lonely, {}, name="lonely")]
