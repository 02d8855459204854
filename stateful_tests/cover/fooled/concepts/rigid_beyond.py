"""A rigid function is given for the numbers of a scope: what it says of those beyond is anybody's guess."""

from __future__ import annotations

from model.language import TRUE, Bool, Nat, Rigid, State, action, always, every, forall, initially, require, sometimes
from model.language.scope import Scope

EXPLORE = {"it_is_not_done": "unknown: what ranges over numbers decides it",
           "the_bad_is_found": "unknown: find may happen with a number beyond the scope"}


class Number(Nat):
    """A number."""


class Task(State):
    """It is done if all numbers are good, as those of the scope are."""

    good: Rigid[Number, Bool]
    done: Bool
    found: Bool


@initially
def undone(s: Task) -> Bool:
    """It is not done."""
    return ~s.done & ~s.found


@action("nothing")
def do(s: Task) -> None:
    """It is done."""
    require(forall(s.good[n] for n in every(Number)))
    s.done = TRUE


@action("nothing")
def find(s: Task, n: Number) -> None:
    """A number that is not good is found."""
    require(~s.good[n])
    s.found = TRUE


@always(shipped="violated: D1")
def it_is_not_done(s: Task) -> Bool:
    """True or false: the scope does not tell."""
    return ~s.done


@sometimes
def the_bad_is_found(s: Task) -> Bool:
    """Likewise."""
    return s.found


scopes = [Scope(Task, {Number: 3}, {"good": lambda _: True}, name="task")]
