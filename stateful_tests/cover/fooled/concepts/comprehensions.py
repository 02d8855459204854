"""Sets by comprehension: what was answered is a set of then, not of now."""

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
    exists,
    forall,
    initially,
    setof,
)
from model.language.scope import Scope

PROVE = {
    "answers_are_current": "unknown",
    "answers_are_subsets": "holds",
    "answers_are_equal": "unknown",
    "every_set_is_an_answer": "violated",
}
EXPLORE = {
    "answers_are_current": "violated",
    "answers_are_subsets": "holds",
    "answers_are_equal": "violated",
    "every_set_is_an_answer": "violated",
}


class Member(Sort):
    """A member."""



class Lists(State):
    """Who is listed, and what was answered."""

    listed: Table[Member, Bool]
    answer: Table[Member, Set[Member]]
    got: Table[Member, Bool]


@initially
def nobody(s: Lists) -> Bool:
    """Nobody is listed."""
    return forall(~s.listed[m] & ~s.got[m] for m in every(Member))


@action("nothing")
def enter(s: Lists, m: Member) -> None:
    """A member is listed."""
    s.listed[m] = TRUE


@action("nothing")
def ask(s: Lists, m: Member) -> None:
    """A member gets the list."""
    s.answer[m] = setof(Member, lambda x: s.listed[x])
    s.got[m] = TRUE


@always(shipped="holds")
def answers_are_current(s: Lists) -> Bool:
    """False: somebody enters later."""
    return forall(s.got[m].implies(s.answer[m] == setof(Member, lambda x: s.listed[x])) for m in every(Member))


@always(shipped="holds")
def answers_are_subsets(s: Lists) -> Bool:
    """True: nobody leaves."""
    return forall((s.got[m] & s.answer[m].has(x)).implies(s.listed[x]) for m, x in every(Member, Member))


@always(shipped="holds")
def answers_are_equal(s: Lists) -> Bool:
    """False."""
    return forall((s.got[m] & s.got[k]).implies(s.answer[m] == s.answer[k]) for m, k in every(Member, Member))


@always(shipped="holds")
def every_set_is_an_answer(s: Lists) -> Bool:
    """False: sets as bound variables, in alternation."""
    return forall(exists(s.got[m].implies(s.answer[m] == v) & ~(v == empty(Member)) for m in every(Member))
                  for v in every(Set[Member]))


scopes = [Scope(Lists, {Member: 2}, name="two members")]
