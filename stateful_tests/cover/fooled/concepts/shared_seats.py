"""Honest: guests share a seat, one sits down where nobody sits."""

from __future__ import annotations

from model.language import (
    Bool,
    Maybe,
    Rigid,
    Sort,
    State,
    Table,
    action,
    always,
    every,
    forall,
    initially,
    require,
    some,
)
from model.language.scope import Scope

PROVE = {"everybody_sits_alone": "holds"}
EXPLORE = {"everybody_sits_alone": "holds"}


class Guest(Sort):
    """A guest."""


class Seat(Sort):
    """A seat."""


class OneByOne(State):
    """Guests have seats, several of them perhaps the same."""

    chair: Rigid[Guest, Seat]
    on: Table[Seat, Maybe[Guest]]


@initially
def all_free(s: OneByOne) -> Bool:
    """Nobody sits."""
    return forall(s.on[c].absent for c in every(Seat))


@action("nothing")
def sit_down(s: OneByOne, g: Guest) -> None:
    """One sits down."""
    require(s.on[s.chair[g]].absent)
    s.on[s.chair[g]] = some(g)


@always(shipped="holds")
def everybody_sits_alone(s: OneByOne) -> Bool:
    """True: who sits has the seat."""
    return forall(s.on[c].holds(g).implies(s.chair[g] == c) for c, g in every(Seat, Guest))


scopes = [Scope(OneByOne, {"Guest": 2, "Seat": 2}, {"chair": lambda _: 0}, name="one by one")]
