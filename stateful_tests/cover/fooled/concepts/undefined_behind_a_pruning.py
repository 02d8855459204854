"""Definedness may not rest on what only prunes a search."""

from __future__ import annotations

from model.language import Bool, Nat, State, action, always, initially, search_only
from model.language.scope import Scope

PROVE = {"at_most_two": "unknown: defined well_defined under down"}
EXPLORE = {"at_most_two": "unknown: not well defined", "well_defined": "violated"}


class Number(Nat):
    """A number."""


class Guarded(State):
    """A number."""

    n: Number


@initially
def two(s: Guarded) -> Bool:
    """It is 2."""
    return s.n == 2


@action("nothing")
def down(s: Guarded) -> None:
    """It falls, even from 0: only the search stops there."""
    search_only(s.n > 0)
    s.n = s.n - 1


@always(shipped="holds")
def at_most_two(s: Guarded) -> Bool:
    """True of the total reading, which is not what RocketMQ does beyond the pruning."""
    return s.n <= 2


scopes = [Scope(Guarded, {Number: 4}, name="four")]
