"""Names that the text for other solvers uses itself: every symbol stays its own."""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Choice,
    Constant,
    Maybe,
    Set,
    Sort,
    State,
    Table,
    action,
    always,
    empty,
    every,
    exists,
    forall,
    initially,
    none,
    require,
    setof,
    some,
)
from model.language.scope import Scope

PROVE = {"nothing_is_held": "unknown", "what_is_held_is_up": "holds", "kinds_differ": "holds"}
EXPLORE = {"nothing_is_held": "violated", "what_is_held_is_up": "holds", "kinds_differ": "holds"}


class set(Sort):  # noqa: A001, N801 - the point is the name
    """A sort called like the first word of the names of sets."""


class goal(Choice):  # noqa: N801 - the point is the name
    """A choice called like the last assertion."""

    negated: goal
    unsat: goal


class Names(State):
    """Variables called like words of SMT-LIB, of the writer, and of each other."""

    select: Table[set, Bool]
    ite: Maybe[set]
    just: Set[set]
    assumption: goal
    place: Constant[set]
    another: Bool


@initially
def nothing(s: Names) -> Bool:
    """Nothing is up."""
    return (forall(~s.select[x] for x in every(set)) & (s.ite == none(set)) & (s.just == empty(set))
            & (s.assumption == goal.negated) & ~s.another)


@action("nothing")
def let(s: Names, exists_: set) -> None:
    """One is up, and held."""
    s.just = setof(set, lambda x: s.select[x] | (x == exists_))
    s.select[exists_] = TRUE
    s.ite = some(exists_)


@action("nothing")
def define(s: Names) -> None:
    """The choice changes."""
    require(exists(s.select[x] for x in every(set)))
    s.assumption = goal.unsat
    s.another = ~s.another


@action("nothing")
def pop(s: Names) -> None:
    """Nothing is held."""
    s.ite = none(set)
    s.another = FALSE


@always(shipped="holds")
def nothing_is_held(s: Names) -> Bool:
    """False."""
    return s.ite == none(set)


@always(shipped="holds")
def what_is_held_is_up(s: Names) -> Bool:
    """True."""
    return forall((s.ite.holds(x) | s.just.has(x)).implies(s.select[x]) for x in every(set))


@always(shipped="holds")
def kinds_differ(s: Names) -> Bool:
    """True, of one kind or the other."""
    return (s.assumption == goal.negated) | (s.assumption == goal.unsat)


scopes = [Scope(Names, {set: 2}, {"place": 0}, name="two")]
