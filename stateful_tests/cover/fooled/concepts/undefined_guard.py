"""A guard subtracts below 0, where its reading is true all the same: what lies behind it is reached by nobody."""

from __future__ import annotations

from model.language import Bool, Nat, State, action, always, initially, leads_to, require, sometimes
from model.language.scope import Scope

PROVE = {"it_counts_nothing": "unknown: defined well_defined under end"}
EXPLORE = {
    "well_defined": "violated",
    "it_is_over": "unknown: not well defined",
    "it_ends": "unknown: not well defined",
    "it_is_always_late": "violated",
    "it_counts_nothing": "unknown: not well defined",
}


class Count(Nat):
    """Numbers."""


class Clock(State):
    """A number, and whether all is over."""

    x: Count
    over: Bool


@initially
def early(s: Clock) -> Bool:
    """It begins at 0."""
    return (s.x == 0) & ~s.over


@action("nothing")
def end(s: Clock) -> None:
    """Its guard means nothing at 0, where alone it is read as true."""
    require((s.x - 1) == 0)
    require(s.x < 1)
    s.over = s.x == 0


@action("nothing")
def stay(s: Clock) -> None:
    """Nothing happens."""
    s.x = s.x


@sometimes
def it_is_over(s: Clock) -> Bool:
    """Reached by the guard that means nothing."""
    return s.over


@leads_to(shipped="holds", fair=("end",))
def it_ends(s: Clock) -> tuple[Bool, Bool]:
    """Fair to an action that means nothing."""
    return ~s.over, s.over


@always(shipped="violated: D1")
def it_is_always_late(s: Clock) -> Bool:
    """False at first."""
    return s.over


@always(shipped="holds")
def it_counts_nothing(s: Clock) -> Bool:
    """True, as far as one can tell what the steps are."""
    return s.x == 0


scopes = [Scope(Clock, {Count: 4}, name="four numbers")]
