"""Honest: the greatest numbers that a machine word holds, added, subtracted and compared."""

from __future__ import annotations

from model.language import Bool, Nat, State, action, always, initially, require, sometimes
from model.language.scope import Scope

PROVE = {"sum_is_great": "holds", "back_again": "holds"}
EXPLORE = {"sum_is_great": "holds", "back_again": "holds", "sum_is_small": "violated"}
MOST = (1 << 63) - 4


class Number(Nat):
    """Numbers."""


class Near(State):
    """A small number."""

    x: Number


@initially
def zero(s: Near) -> Bool:
    """It is 0."""
    return s.x == 0


@action("nothing")
def on(s: Near) -> None:
    """It grows."""
    require(s.x < 2)
    s.x = s.x + 1


@always(shipped="holds")
def sum_is_great(s: Near) -> Bool:
    """True: a word holds the sum."""
    return Number.of(5) < (s.x + MOST) + (s.x + MOST)


@always(shipped="holds")
def back_again(s: Near) -> Bool:
    """True."""
    return (s.x + MOST) - MOST == s.x


@sometimes
def sum_is_small(s: Near) -> Bool:
    """Never."""
    return (s.x + MOST) + s.x < Number.of(5)


scopes = [Scope(Near, {Number: 4}, name="four numbers")]
