"""Honest: two cells are exchanged, perhaps one with itself; reads mean the state before."""

from __future__ import annotations

from model.language import Bool, Nat, State, Table, action, always, every, forall, initially
from model.language.scope import Scope

PROVE = {"all_stay_small": "holds"}
EXPLORE = {"all_stay_small": "holds: within the scope: exchange may happen with a number beyond it"}


class Number(Nat):
    """A number."""


class Pairs(State):
    """Two tables."""

    left: Table[Number, Number]
    right: Table[Number, Number]


@initially
def zeros_and_ones(s: Pairs) -> Bool:
    """Zeros stand at the left, ones at the right."""
    return forall((s.left[n] == 0) & (s.right[n] == 1) for n in every(Number))


@action("nothing")
def exchange(s: Pairs, n: Number, m: Number) -> None:
    """A cell of one table is exchanged with one of the other."""
    first, second = s.left[n], s.right[m]
    s.left[n] = second
    s.right[m] = first


@always(shipped="holds")
def all_stay_small(s: Pairs) -> Bool:
    """True."""
    return forall((s.left[n] <= 1) & (s.right[n] <= 1) for n in every(Number))


scopes = [Scope(Pairs, {Number: 2}, name="pairs")]
