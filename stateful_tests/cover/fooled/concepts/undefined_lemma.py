"""F6: a lemma that subtracts below 0 must not support anything."""

from __future__ import annotations

from model.language import Bool, Nat, State, action, always, initially, lemma, require
from model.language.scope import Scope

PROVE = {
    "three_less_is_nothing": "unknown: defined three_less_is_nothing",
    "at_most_three": "unknown: defined three_less_is_nothing",
}
EXPLORE = {"three_less_is_nothing": "unknown", "at_most_three": "holds", "well_defined": "violated"}


class Number(Nat):
    """A number."""


class Small(State):
    """A number."""

    n: Number


@initially
def two(s: Small) -> Bool:
    """It is 2."""
    return s.n == 2


@action("nothing")
def down(s: Small) -> None:
    """It falls."""
    require(s.n > 0)
    s.n = s.n - 1


@lemma
def three_less_is_nothing(s: Small) -> Bool:
    """Ill defined everywhere that is reached."""
    return (s.n - 3) == 0


@always(shipped="holds")
def at_most_three(s: Small) -> Bool:
    """True, but it leans on the lemma."""
    return s.n <= 3


scopes = [Scope(Small, {Number: 5}, name="five")]
