"""There is one for each is not: there is one for all."""

from __future__ import annotations

from model.language import FALSE, Bool, Sort, State, Table, action, always, every, exists, forall, initially, require
from model.language.scope import Scope

PROVE = {"each_queue_has_a_member": "holds", "a_member_has_each_queue": "unknown"}
EXPLORE = {"each_queue_has_a_member": "holds", "a_member_has_each_queue": "violated"}


class Member(Sort):
    """A member."""


class Queue(Sort):
    """A queue."""


class Shares(State):
    """Who may have which queue."""

    may: Table[tuple[Member, Queue], Bool]


@initially
def everybody(s: Shares) -> Bool:
    """Everybody may have everything."""
    return forall(s.may[m, q] for m, q in every(Member, Queue))


@action("nothing")
def clear(s: Shares, m: Member, q: Queue) -> None:
    """One right goes, if somebody else has it."""
    require(exists(~(k == m) & s.may[k, q] for k in every(Member)))
    s.may[m, q] = FALSE


@always(shipped="holds")
def each_queue_has_a_member(s: Shares) -> Bool:
    """True."""
    return forall(exists(s.may[m, q] for m in every(Member)) for q in every(Queue))


@always(shipped="holds")
def a_member_has_each_queue(s: Shares) -> Bool:
    """False."""
    return exists(forall(s.may[m, q] for q in every(Queue)) for m in every(Member))


scopes = [Scope(Shares, {Member: 2, Queue: 2}, name="two and two")]
