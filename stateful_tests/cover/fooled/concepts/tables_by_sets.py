"""Tables whose keys are sets and Maybes: two descriptions of one set are one key, two sets are two."""

from __future__ import annotations

from model.language import (
    TRUE,
    Bool,
    Maybe,
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
    some,
)
from model.language.scope import Scope

PROVE = {
    "taken_out_again_is_one_key": "holds",
    "a_description_is_one_key": "holds",
    "put_in_twice_is_one_key": "unknown",
    "nobody_is_never_seen": "unknown",
    "the_last_is_never_marked": "unknown",
}
EXPLORE = {
    "taken_out_again_is_one_key": "holds",
    "a_description_is_one_key": "holds",
    "put_in_twice_is_one_key": "violated",
    "nobody_is_never_seen": "violated",
    "the_last_is_never_marked": "violated",
}


class Member(Sort):
    """A member."""


class Seen(State):
    """Who is there, which sets were there, who came last, and who ever did."""

    there: Set[Member]
    seen: Table[Set[Member], Bool]
    last: Maybe[Member]
    marked: Table[Maybe[Member], Bool]


@initially
def nobody(s: Seen) -> Bool:
    """Nobody is there, nothing was."""
    unseen = forall(~s.seen[k] for k in every(Set[Member])) & forall(~s.marked[k] for k in every(Maybe[Member]))
    return (s.there == empty(Member)) & s.last.absent & unseen


@action("nothing")
def come(s: Seen, m: Member) -> None:
    """One comes; what was is remembered."""
    s.seen[s.there] = TRUE
    s.there = s.there.plus(m)
    s.marked[s.last] = TRUE
    s.last = some(m)


@action("nothing")
def go(s: Seen, m: Member) -> None:
    """One goes."""
    s.there = s.there.minus(m)


@always(shipped="holds")
def taken_out_again_is_one_key(s: Seen) -> Bool:
    """True: who is not there comes and goes."""
    return forall((~s.there.has(m)).implies(
        s.seen[s.there].iff(s.seen[s.there.plus(m).minus(m)])) for m in every(Member))


@always(shipped="holds")
def a_description_is_one_key(s: Seen) -> Bool:
    """True."""
    return s.seen[s.there].iff(s.seen[setof(Member, s.there.has)])


@always(shipped="holds")
def put_in_twice_is_one_key(s: Seen) -> Bool:
    """False: who is there is missing then."""
    return forall(s.seen[s.there].iff(s.seen[s.there.plus(m).minus(m)]) for m in every(Member))


@always(shipped="holds")
def nobody_is_never_seen(s: Seen) -> Bool:
    """False after one step."""
    return ~s.seen[empty(Member)]


@always(shipped="holds")
def the_last_is_never_marked(s: Seen) -> Bool:
    """False: one comes twice."""
    return s.last.absent | ~s.marked[s.last]


scopes = [Scope(Seen, {Member: 2}, name="two members")]
