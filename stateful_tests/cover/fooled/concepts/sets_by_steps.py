"""A set that is built element by element, beside one that is described: equal only if nothing is forgotten."""

from __future__ import annotations

from model.language import (
    FALSE,
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
    setof,
)
from model.language.scope import Scope

PROVE = {
    "the_set_is_the_table": "holds",
    "the_other_set_is_the_table": "unknown",
    "the_other_set_is_inside": "unknown",
}
EXPLORE = {
    "the_set_is_the_table": "holds",
    "the_other_set_is_the_table": "violated",
    "the_other_set_is_inside": "violated",
}


class Member(Sort):
    """A member."""


class Lists(State):
    """Who is up, in a table, in a set, and in a set from which nobody is taken."""

    up: Table[Member, Bool]
    listed: Set[Member]
    seen: Set[Member]


@initially
def nobody(s: Lists) -> Bool:
    """Nobody is up."""
    return forall(~s.up[m] for m in every(Member)) & (s.listed == empty(Member)) & (s.seen == empty(Member))


@action("nothing")
def start(s: Lists, m: Member) -> None:
    """One starts."""
    s.up[m] = TRUE
    s.listed = s.listed.plus(m)
    s.seen = s.seen.plus(m)


@action("nothing")
def stop(s: Lists, m: Member) -> None:
    """One stops."""
    s.up[m] = FALSE
    s.listed = s.listed.minus(m)


@always(shipped="holds")
def the_set_is_the_table(s: Lists) -> Bool:
    """True: as sets, not only element by element."""
    return s.listed == setof(Member, lambda x: s.up[x])


@always(shipped="holds")
def the_other_set_is_the_table(s: Lists) -> Bool:
    """False: nobody is taken from it."""
    return s.seen == setof(Member, lambda x: s.up[x])


@always(shipped="holds")
def the_other_set_is_inside(s: Lists) -> Bool:
    """False, and true the other way round."""
    return forall(s.seen.has(m).implies(s.listed.has(m)) for m in every(Member))


scopes = [Scope(Lists, {Member: 2}, name="two members")]
