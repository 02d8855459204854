"""States without a step in the scope, in which steps are possible: with numbers beyond it, or where a search prunes."""

from __future__ import annotations

from model.language import (
    TRUE,
    Bool,
    Nat,
    State,
    Table,
    action,
    every,
    exists,
    forall,
    initially,
    require,
    search_only,
    sometimes,
)
from model.language.scope import Scope

EXPLORE = {"never_stuck": "unknown: a step may be possible that the scope does not have", "two_are_marked": "holds",
           "it_is_at_one": "holds", "it_went_once": "holds"}


class Number(Nat):
    """A number."""


class Marks(State):
    """Numbers are marked, each once; some always is left."""

    marked: Table[Number, Bool]


@initially
def unmarked(s: Marks) -> Bool:
    """No number is marked."""
    return forall(~s.marked[n] for n in every(Number))


@action("nothing")
def mark(s: Marks, n: Number) -> None:
    """One more is marked."""
    require(~s.marked[n])
    s.marked[n] = TRUE


@sometimes
def two_are_marked(s: Marks) -> Bool:
    """Honest."""
    return exists(s.marked[n] & s.marked[m] & (n < m) for n, m in every(Number, Number))


class Walk(State):
    """It goes on while some number is greater: always."""

    at: Number


@initially
def at_zero(s: Walk) -> Bool:
    """It is 0."""
    return s.at == 0


@action("nothing")
def go(s: Walk) -> None:
    """One further."""
    require(exists(s.at < n for n in every(Number)))
    s.at = s.at + 1


@sometimes
def it_is_at_one(s: Walk) -> Bool:
    """Honest."""
    return s.at == 1


class Pruned(State):
    """It goes on, as far as it is searched."""

    at: Number


@initially
def begins(s: Pruned) -> Bool:
    """It is 0."""
    return s.at == 0


@action("nothing")
def go_on(s: Pruned) -> None:
    """One further."""
    search_only(s.at < 1)
    s.at = s.at + 1


@sometimes
def it_went_once(s: Pruned) -> Bool:
    """Honest."""
    return s.at == 1


scopes = [Scope(owner, {Number: 3}, name=owner.concept.name) for owner in (Marks, Walk, Pruned)]
