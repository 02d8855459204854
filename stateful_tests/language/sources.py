"""Source of declarations that tests complete: a state with variables of every kind, and an action that uses them."""

from __future__ import annotations

HEAD = '''from __future__ import annotations

from model.language import (
    FALSE, TRUE, Bool, Choice, Constant, Ghost, Maybe, Nat, Rank, Rigid, Set, Sort, State, Steps, Table, action,
    always, count, drop_assignment, drop_condition, drop_guard, empty, every, exists, forall, helps, initially, ite,
    leads_to, lemma, never, none, premise, ranking, require, search_only, setof, some, sometimes, step, tight, total,
)


class Member(Sort):
    """A member."""


class Queue(Sort):
    """A queue."""


class Offset(Nat):
    """A place."""


class Ms(Nat):
    """Milliseconds."""


class Role(Choice):
    """What it is."""

    MASTER: Role
    SLAVE: Role


class Group(State):
    """Variables of every kind."""

    up: Table[Member, Bool]
    end: Offset
    age: Ms
    held: Bool
    owner: Table[Queue, Member]
    view: Table[Member, Set[Member]]
    last: Maybe[Member]
    role: Role
    log: Table[Offset, Member]
    pair: Table[tuple[Member, Queue], Bool]
    seen: Ghost[Table[Member, Bool]]
    limit: Constant[Offset]
    share: Rigid[Member, Maybe[Queue]]


'''
ACT = '@action("Class#method")\ndef act(s: Group, m: Member, q: Queue, n: Offset) -> None:\n'


USED = """    require(s.up[m] & (s.end < n), ~s.held, ~(s.last.holds(m)))
    require(s.view[m].has(m).iff(s.role == Role.MASTER))
    s.end += 1
    s.log[n], s.owner[q] = s.owner[q], ite(s.share[m].holds(q), m, s.owner[q])
    for x, y in every(Member, Queue):
        s.pair[x, y] = s.up[x] & exists(s.pair[z, y] & ~(z == x) for z in every(Member))
    s.seen[m] = s.seen[m] | s.held


@always("holds", broken_by=(drop_guard("act", 0), drop_assignment("act", "end"), drop_condition("act", "owner")))
def p(s: Group) -> Bool:
    return forall(s.seen[x].implies(s.up[x]) for x in every(Member))
"""
