"""Honest: nothing can happen any more, whatever numbers and cells lie beyond the scope."""

from __future__ import annotations

from model.language import FALSE, TRUE, Bool, Nat, State, Table, action, every, forall, initially, require, sometimes
from model.language.scope import Scope

EXPLORE = {"never_stuck": "violated: states in which nothing can happen", "it_is_over": "holds", "it_is_full": "holds"}


class Number(Nat):
    """A number."""


class Shop(State):
    """What is there may be bought, once."""

    there: Table[Number, Bool]
    over: Bool


@initially
def one_is_there(s: Shop) -> Bool:
    """Of the first there is one."""
    return forall(s.there[n].iff(n == 0) for n in every(Number)) & ~s.over


@action("nothing")
def buy(s: Shop, n: Number) -> None:
    """It is bought."""
    require(s.there[n])
    s.there[n] = FALSE
    s.over = TRUE


@sometimes
def it_is_over(s: Shop) -> Bool:
    """Honest."""
    return s.over


class Glass(State):
    """It is filled with numbers below two."""

    level: Number


@initially
def empty_glass(s: Glass) -> Bool:
    """It is empty."""
    return s.level == 0


@action("nothing")
def fill(s: Glass, n: Number) -> None:
    """It is filled up to a greater number that is below two."""
    require(s.level < n, n < 2)
    s.level = n


@sometimes
def it_is_full(s: Glass) -> Bool:
    """Honest."""
    return s.level == 1


scopes = [Scope(owner, {Number: 3}, name=owner.concept.name) for owner in (Shop, Glass)]
