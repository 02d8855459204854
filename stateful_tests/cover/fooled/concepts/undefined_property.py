"""F6: a property that subtracts below 0 means nothing; its total reading looks as if it held."""

from __future__ import annotations

from model.language import (
    Bool,
    Nat,
    State,
    action,
    always,
    every,
    forall,
    initially,
    leads_to,
    require,
    sometimes,
    step,
)
from model.language.scope import Scope

PROVE = {
    "three_less_is_below_three": "unknown: defined three_less_is_below_three",
    "nothing_is_less_than_nothing": "unknown: defined nothing_is_less_than_nothing",
    "steps_take_one": "holds",
    "steps_take_some": "unknown: defined steps_take_some",
    "at_most_five": "holds",
}
EXPLORE = {
    "three_less_is_below_three": "unknown: not well defined",
    "nothing_is_less_than_nothing": "unknown: not well defined",
    "steps_take_one": "holds",
    "steps_take_some": "unknown: not well defined",
    "two_is_three_less": "unknown: not well defined",
    "it_ends": "unknown: not well defined",
    "at_most_five": "holds",
    "well_defined": "violated",
}


class Number(Nat):
    """A number."""


class Left(State):
    """What is left of 5."""

    left: Number


@initially
def full(s: Left) -> Bool:
    """Five are left."""
    return s.left == 5


@action("nothing")
def take(s: Left) -> None:
    """One is taken."""
    require(s.left > 0)
    s.left = s.left - 1


@always(shipped="holds")
def three_less_is_below_three(s: Left) -> Bool:
    """Ill defined at 2."""
    return (s.left - 3) < 3


@always(shipped="holds")
def nothing_is_less_than_nothing(s: Left) -> Bool:
    """Ill defined everywhere, and true by logic alone."""
    return forall((n - (n + 1)) == 0 for n in every(Number))


@step(shipped="holds")
def steps_take_one(before: Left, after: Left) -> Bool:
    """Ill defined at the last step."""
    return (before.left - after.left - 1) == 0


@step(shipped="holds")
def steps_take_some(before: Left, after: Left) -> Bool:
    """Ill defined: after - before."""
    return (after.left - before.left) == 0


@sometimes
def two_is_three_less(s: Left) -> Bool:
    """Ill defined where it is reached."""
    return ((s.left - 3) == 0) & (s.left == 2)


@leads_to(shipped="holds", fair=("take",))
def it_ends(s: Left) -> tuple[Bool, Bool]:
    """Ill defined: the goal."""
    return s.left == 5, (s.left - 4) == 0


@always(shipped="holds")
def at_most_five(s: Left) -> Bool:
    """Well defined and true: said first, then subtracted."""
    return (s.left <= 5) & ((s.left >= 3).implies((s.left - 3) <= 2))


scopes = [Scope(Left, {Number: 7}, name="seven")]
