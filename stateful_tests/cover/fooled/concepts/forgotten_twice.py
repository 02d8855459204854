"""A cell that is forgotten in two steps may be two values: a run may not rest on their being one."""

from __future__ import annotations

from model.language import (
    Bool,
    Constant,
    Nat,
    State,
    Steps,
    Table,
    action,
    always,
    every,
    forall,
    initially,
    premise,
    tight,
)

PROVE = {"copies_differ": "unknown", "small_is_needed": "unknown: violates copies_differ"}


class Number(Nat):
    """A number."""


class Twice(State):
    """A cell that is forgotten, and a copy of what it was."""

    limit: Constant[Number]
    cell: Table[Number, Number]
    copy: Number
    other: Number


@initially
def zero(s: Twice) -> Bool:
    """All is 0."""
    return forall(s.cell[n] == 0 for n in every(Number)) & (s.copy == 0) & (s.other == 1)


@action("nothing")
def lose(s: Twice) -> None:
    """The first cell means nothing any more."""
    s.cell.forget(Number.of(0))


@action("nothing")
def keep_it(s: Twice) -> None:
    """It is copied."""
    s.copy = s.cell[Number.of(0)]


@action("nothing")
def keep_other(s: Twice) -> None:
    """It is copied to another place."""
    s.other = s.cell[Number.of(0)]


@premise
def small(s: Twice) -> Bool:
    """The limit is small."""
    return s.limit < 3


@always(shipped="violated: D1", given=(small,))
def copies_differ(s: Twice) -> Bool:
    """False whatever the limit is, though not because of this run."""
    return ~(s.copy == s.other)


@tight("copies_differ", small)
def twice(s: Twice) -> Steps:
    """What is lost twice need not be the same."""
    return (lose,), (keep_it,), (lose,), (keep_other,)
