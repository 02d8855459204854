"""What is true of one element, or of two: a small scope says so, and more elements refute it."""

from __future__ import annotations

from model.language import (
    TRUE,
    Bool,
    Sort,
    State,
    Table,
    action,
    always,
    every,
    forall,
    initially,
)
from model.language.scope import Scope

PROVE = {"all_are_alike": "violated", "two_of_three_are_alike": "violated", "marks_stay": "unknown"}
EXPLORE = {"all_are_alike": "violated", "two_of_three_are_alike": "holds", "marks_stay": "violated"}


class Member(Sort):
    """A member."""


class Marks(State):
    """Marks on members."""

    mark: Table[tuple[Member, Member], Bool]


@initially
def nothing(s: Marks) -> Bool:
    """Nothing is marked but each with itself."""
    return forall(s.mark[a, b].iff(a == b) for a, b in every(Member, Member))


@action("nothing")
def add(s: Marks, a: Member, b: Member) -> None:
    """A mark is made."""
    s.mark[a, b] = TRUE


@always(shipped="holds")
def all_are_alike(s: Marks) -> Bool:
    """True of one member only."""
    return forall(s.mark[a, b] for a, b in every(Member, Member))


@always(shipped="holds")
def two_of_three_are_alike(s: Marks) -> Bool:
    """True of two members only."""
    return forall((a == b) | (b == c) | (a == c) for a, b, c in every(Member, Member, Member))


@always(shipped="holds")
def marks_stay(s: Marks) -> Bool:
    """True of one, false of two: nobody has to mark back."""
    return forall(s.mark[a, b].iff(s.mark[b, a]) for a, b in every(Member, Member))


scopes = [Scope(Marks, {Member: 2}, name="two members")]
