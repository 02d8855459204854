"""A forgotten cell is anything: nothing may be proved of it."""

from __future__ import annotations

from model.language import TRUE, Bool, Sort, State, Table, action, always, every, forall, initially, require, step

PROVE = {"never_seen": "unknown", "forgetting_keeps": "unknown"}


class Member(Sort):
    """A member."""



class Forgetful(State):
    """A table whose cells are dropped."""

    table: Table[Member, Bool]
    seen: Bool


@initially
def empty_table(s: Forgetful) -> Bool:
    """All is false."""
    return forall(~s.table[m] for m in every(Member)) & ~s.seen


@action("nothing")
def drop(s: Forgetful, m: Member) -> None:
    """A cell is forgotten."""
    s.table.forget(m)


@action("nothing")
def look(s: Forgetful, m: Member) -> None:
    """A cell that is true is seen."""
    require(s.table[m])
    s.seen = TRUE


@always(shipped="holds")
def never_seen(s: Forgetful) -> Bool:
    """False: a forgotten cell is anything; a search returns it to one value."""
    return ~s.seen


@step(shipped="holds")
def forgetting_keeps(before: Forgetful, after: Forgetful) -> Bool:
    """False, likewise."""
    return forall((~before.table[m]).implies(~after.table[m]) for m in every(Member))
