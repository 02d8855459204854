"""Loops over two keys that may be one cell, and later assignments that win."""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Sort,
    State,
    Table,
    action,
    always,
    every,
    exists,
    forall,
    initially,
    step,
)
from model.language.scope import Scope

PROVE = {
    "the_diagonal_is_marked": "unknown",
    "nothing_beside_the_diagonal": "holds",
    "some_cell_is_unmarked": "holds",
}
EXPLORE = {
    "the_diagonal_is_marked": "violated",
    "nothing_beside_the_diagonal": "holds",
    "some_cell_is_unmarked": "holds",
}


class Member(Sort):
    """A member."""


class Square(State):
    """A square of cells."""

    cell: Table[tuple[Member, Member], Bool]


@initially
def diagonal_only(s: Square) -> Bool:
    """The diagonal is marked."""
    return forall(s.cell[a, b].iff(a == b) for a, b in every(Member, Member))


@action("nothing")
def swap(s: Square, m: Member) -> None:
    """A column becomes a row, the diagonal is marked, and one cell of it is not."""
    for x in every(Member):
        s.cell[x, m] = s.cell[m, x]
    for x in every(Member):
        s.cell[x, x] = TRUE
    s.cell[m, m] = FALSE


@always(shipped="holds")
def the_diagonal_is_marked(s: Square) -> Bool:
    """False after one step."""
    return forall(s.cell[m, m] for m in every(Member))


@always(shipped="holds")
def nothing_beside_the_diagonal(s: Square) -> Bool:
    """True."""
    return forall(s.cell[a, b].implies(a == b) for a, b in every(Member, Member))


@step(shipped="holds")
def some_cell_is_unmarked(_before: Square, after: Square) -> Bool:
    """True: the one that was assigned last."""
    return exists(~after.cell[m, m] for m in every(Member))


scopes = [Scope(Square, {Member: 2}, name="two by two")]
