"""Two numbers that a machine word holds, and whose sum it does not: a search that went on would compute another one."""

from __future__ import annotations

from model.language import Bool, Nat, State, action, always, initially, require
from model.language.scope import Scope

PROVE = {"sum_is_small": "violated: false at first", "sum_is_great": "holds"}
UNSEARCHED = "a term may be 18446744073709551622, and a search computes with 64 bits"
HALF = 1 << 63


class Number(Nat):
    """Numbers."""


class Far(State):
    """A small number."""

    x: Number


@initially
def zero(s: Far) -> Bool:
    """It is 0."""
    return s.x == 0


@action("nothing")
def on(s: Far) -> None:
    """It grows."""
    require(s.x < 2)
    s.x = s.x + 1


@always(shipped="holds")
def sum_is_small(s: Far) -> Bool:
    """False, and true of words that wrap."""
    return (s.x + HALF) + (s.x + HALF) <= Number.of(6)


@always(shipped="holds")
def sum_is_great(s: Far) -> Bool:
    """True, and false of words that wrap."""
    return Number.of(6) < (s.x + HALF) + (s.x + HALF)


scopes = [Scope(Far, {Number: 4}, name="four numbers")]
