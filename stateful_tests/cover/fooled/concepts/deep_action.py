"""An honest concept is not refused: an action that happens only after twenty steps, at the fourth member."""

from __future__ import annotations

from model.language import (
    TRUE,
    Bool,
    Nat,
    Sort,
    State,
    Table,
    action,
    always,
    every,
    exists,
    forall,
    initially,
    require,
)

PROVE = {"open_for_somebody": "holds"}


class Member(Sort):
    """A member."""


class Number(Nat):
    """A number."""


class Deep(State):
    """A counter, and members that come one by one."""

    x: Number
    there: Table[Member, Bool]
    open: Bool


@initially
def nobody(s: Deep) -> Bool:
    """Nobody is there."""
    return (s.x == 0) & forall(~s.there[m] for m in every(Member)) & ~s.open


@action("nothing")
def count(s: Deep) -> None:
    """One more."""
    s.x = s.x + 1


@action("nothing")
def come(s: Deep, m: Member) -> None:
    """A member comes once nine are counted."""
    require(s.x == 9)
    s.there[m] = TRUE


@action("nothing")
def open_up(s: Deep, a: Member, b: Member, c: Member) -> None:
    """Three different ones open."""
    require(s.there[a], s.there[b], s.there[c], ~(a == b), ~(b == c), ~(a == c))
    s.open = TRUE


@always(shipped="holds")
def open_for_somebody(s: Deep) -> Bool:
    """True."""
    return s.open.implies(exists(s.there[m] for m in every(Member)))
