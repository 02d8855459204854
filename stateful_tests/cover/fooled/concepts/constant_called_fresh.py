"""F1: constants are called as the solver once called its fresh arguments."""

from __future__ import annotations

from model.language import TRUE, Bool, Constant, Sort, State, Table, action, always, every, forall, initially
from model.language.scope import Scope

PROVE = {"only_m1_rises": "unknown: keeps only_m1_rises under rise",
         "only_m2_rises": "unknown: keeps only_m2_rises under rise",
         "only_m3_rises": "unknown: keeps only_m3_rises under rise"}
EXPLORE = dict.fromkeys(PROVE, "violated")


class Member(Sort):
    """A member."""


class Captured(State):
    """Members rise."""

    m_1: Constant[Member]
    m_2: Constant[Member]
    m_3: Constant[Member]
    up: Table[Member, Bool]


@initially
def down(s: Captured) -> Bool:
    """All are down."""
    return forall(~s.up[m] for m in every(Member))


@action("nothing")
def rise(s: Captured, m: Member) -> None:
    """Any member rises."""
    s.up[m] = TRUE


@always(shipped="holds")
def only_m1_rises(s: Captured) -> Bool:
    """False: anybody rises."""
    return forall(s.up[m].implies(m == s.m_1) for m in every(Member))


@always(shipped="holds")
def only_m2_rises(s: Captured) -> Bool:
    """False: anybody rises."""
    return forall(s.up[m].implies(m == s.m_2) for m in every(Member))


@always(shipped="holds")
def only_m3_rises(s: Captured) -> Bool:
    """False: anybody rises."""
    return forall(s.up[m].implies(m == s.m_3) for m in every(Member))


scopes = [Scope(Captured, {Member: 2}, {"m_1": 0, "m_2": 0, "m_3": 0}, name="captured")]
