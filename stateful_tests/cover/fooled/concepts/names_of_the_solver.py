"""Names that solvers and readings use themselves."""

from __future__ import annotations

from model.language import (
    TRUE,
    Bool,
    Choice,
    Constant,
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

PROVE = {"now_is_first": "unknown", "only_the_constant": "unknown", "first_stays": "holds"}
EXPLORE = {"now_is_first": "violated", "only_the_constant": "violated", "first_stays": "holds"}


class Bool_(Sort):  # noqa: N801 - the point is the name
    """A sort called nearly like the truth values."""


class Int(Sort):
    """A sort called like the integers."""


class Array(Choice):
    """A choice called like the arrays, with elements that mean something to a solver."""

    select: Array
    store: Array


class Names(State):
    """Variables called like states, symbols and operators."""

    now: Table[Int, Bool]
    first: Table[Int, Bool]
    rigid: Constant[Int]
    fresh: Constant[Int]
    forgotten: Table[Bool_, Array]
    k: Bool
    x·y: Bool  # noqa: PLC2401 - the point is the name


@initially
def nothing(s: Names) -> Bool:
    """Nothing is set."""
    return forall(~s.now[i] & ~s.first[i] for i in every(Int)) & ~s.k & ~s.x·y


@action("nothing")
def step_(s: Names, k: Int) -> None:
    """One is set."""
    s.now[k] = TRUE


@action("nothing")
def lose(s: Names, b: Bool_) -> None:
    """One is forgotten."""
    s.forgotten.forget(b)
    s.k = TRUE


@always(shipped="holds")
def now_is_first(s: Names) -> Bool:
    """False after one step."""
    return forall(s.now[i].iff(s.first[i]) for i in every(Int))


@always(shipped="holds")
def only_the_constant(s: Names) -> Bool:
    """False."""
    return forall(s.now[k].implies((k == s.rigid) | (k == s.fresh)) for k in every(Int))


@always(shipped="holds")
def first_stays(s: Names) -> Bool:
    """True."""
    return forall(~s.first[i] for i in every(Int)) & ~s.x·y


scopes = [Scope(Names, {Int: 3, Bool_: 1}, {"rigid": 0, "fresh": 1}, name="names")]
