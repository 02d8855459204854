"""A table is read past its end: in a scope there is nothing, without bounds there is something."""

from __future__ import annotations

from model.language import TRUE, Bool, Nat, State, Table, action, always, every, forall, initially
from model.language.scope import Scope

EXPLORE = {"the_next_is_unmarked": "unknown: not well defined", "well_defined": "violated"}


class Place(Nat):
    """A place."""


class Row(State):
    """A row of places."""

    marked: Table[Place, Bool]
    at: Place


@initially
def unmarked(s: Row) -> Bool:
    """Nothing is marked."""
    return forall(~s.marked[p] for p in every(Place)) & (s.at == 0)


@action("nothing")
def move(s: Row) -> None:
    """One goes on, and marks where one was."""
    s.marked[s.at] = TRUE
    s.at = s.at + 1


@always(shipped="violated: D1")
def the_next_is_unmarked(s: Row) -> Bool:
    """True, but the scope ends before the place after the last."""
    return ~s.marked[s.at + 1]


scopes = [Scope(Row, {Place: 3}, name="three places")]
