"""F2: what only prunes a search must not strengthen a proof."""

from __future__ import annotations

from model.language import Bool, Nat, State, action, always, initially, search_only
from model.language.scope import Scope

PROVE = {"pruned_stays_small": "unknown: keeps pruned_stays_small under up"}


class Number(Nat):
    """A number."""


class Pruned(State):
    """A number that grows; a search stops at 2."""

    x: Number


@initially
def zero(s: Pruned) -> Bool:
    """It is 0."""
    return s.x == 0


@action("nothing")
def up(s: Pruned) -> None:
    """It grows."""
    search_only(s.x < 2)
    s.x = s.x + 1


@always(shipped="holds")
def pruned_stays_small(s: Pruned) -> Bool:
    """False: nothing but the pruning keeps it small."""
    return s.x <= 2


scopes = [Scope(Pruned, {Number: 6}, name="pruned")]
