"""What lies behind a pruning is not unreachable."""

from __future__ import annotations

from model.language import Bool, Nat, State, action, initially, leads_to, search_only, sometimes
from model.language.scope import Scope

EXPLORE = {"reaches_three": "unknown: steps were pruned", "stays_small": "unknown"}


class Number(Nat):
    """A number."""


class Stopped(State):
    """A number that grows; a search stops at 2."""

    x: Number


@initially
def zero(s: Stopped) -> Bool:
    """It is 0."""
    return s.x == 0


@action("nothing")
def up(s: Stopped) -> None:
    """It grows."""
    search_only(s.x < 2)
    s.x = s.x + 1


@sometimes
def reaches_three(s: Stopped) -> Bool:
    """True."""
    return s.x == 3


@leads_to(shipped="violated: D1", fair=("up",))
def stays_small(s: Stopped) -> tuple[Bool, Bool]:
    """It reaches 2, and what it does then is not searched."""
    return s.x == 0, s.x == 5


scopes = [Scope(Stopped, {Number: 6}, name="six")]
