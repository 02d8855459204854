"""The greatest age of a scope stands for all above it, as a key of a table, as a parameter, and where all are asked."""

from __future__ import annotations

from model.language import (
    TRUE,
    Bool,
    Nat,
    State,
    Table,
    action,
    always,
    every,
    exists,
    forall,
    initially,
    require,
    sometimes,
)
from model.language.scope import Scope

PROVE = {"some_age_is_greater": "holds", "no_age_comes_twice": "unknown: keeps no_age_comes_twice"}
EXPLORE = {"no_age_comes_twice": "unknown: steps depend on what saturation does not keep",
           "it_jumps": "unknown: steps depend on what saturation does not keep",
           "some_age_is_greater": "unknown: steps depend on what saturation does not keep"}


class Age(Nat, saturates=True):
    """An age."""


class Diary(State):
    """Each age has a page, and is written down once."""

    age: Age
    written: Table[Age, Bool]
    twice: Bool


@initially
def unwritten(s: Diary) -> Bool:
    """Nothing is written."""
    return (s.age == 0) & forall(~s.written[a] for a in every(Age)) & ~s.twice


@action("nothing")
def write(s: Diary) -> None:
    """A page is written, and one grows older: in a scope the last page is found written."""
    s.twice = s.twice | s.written[s.age]
    s.written[s.age] = TRUE
    s.age = s.age + 1


@always(shipped="holds")
def no_age_comes_twice(s: Diary) -> Bool:
    """True."""
    return ~s.twice


class Jumper(State):
    """One who jumps over more years than a scope has."""

    age: Age
    jumped: Bool


@initially
def newborn(s: Jumper) -> Bool:
    """The age is 0."""
    return (s.age == 0) & ~s.jumped


@action("nothing")
def jump(s: Jumper, by: Age) -> None:
    """A great jump."""
    require(by > 3)
    s.jumped = TRUE


@action("nothing")
def grow_older(s: Jumper) -> None:
    """One year."""
    s.age = s.age + 1


@sometimes
def it_jumps(s: Jumper) -> Bool:
    """True, and not in a scope of four ages."""
    return s.jumped


@always(shipped="holds")
def some_age_is_greater(s: Jumper) -> Bool:
    """True, and false at the greatest age of a scope."""
    return exists(s.age < a for a in every(Age))


scopes = [Scope(Diary, {Age: 4}, name="diary"), Scope(Jumper, {Age: 4}, name="jumper")]
