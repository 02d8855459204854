"""A set with as many elements as a word takes, and a table beside it that takes another word."""

from __future__ import annotations

from model.language import (
    TRUE,
    Bool,
    Set,
    Sort,
    State,
    Table,
    action,
    always,
    empty,
    every,
    forall,
    initially,
    require,
    setof,
)
from model.language.scope import Scope

PROVE = {"the_set_is_the_table": "holds", "nobody_is_there": "unknown"}
EXPLORE = {"the_set_is_the_table": "holds", "nobody_is_there": "violated"}


class Member(Sort):
    """A member."""


class Wide(State):
    """Who is there, twice."""

    there: Set[Member]
    listed: Table[Member, Bool]


@initially
def nobody(s: Wide) -> Bool:
    """Nobody is there."""
    return (s.there == empty(Member)) & forall(~s.listed[m] for m in every(Member))


@action("nothing")
def come(s: Wide, m: Member) -> None:
    """The only one comes."""
    require(s.there == empty(Member))
    s.there = s.there.plus(m)
    s.listed[m] = TRUE


@always(shipped="holds")
def the_set_is_the_table(s: Wide) -> Bool:
    """True, of the last element, too."""
    return s.there == setof(Member, lambda x: s.listed[x])


@always(shipped="holds")
def nobody_is_there(s: Wide) -> Bool:
    """False."""
    return s.there == empty(Member)


scopes = [Scope(Wide, {Member: 63}, name="63 members")]
