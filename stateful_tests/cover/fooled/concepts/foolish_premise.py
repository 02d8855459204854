"""F3: a premise contradicts itself for every number of elements but none."""

from __future__ import annotations

from model.language import Bool, Rigid, Sort, State, action, always, every, exists, forall, initially, premise

PROVE = {"x_is_true": "unknown: the premise everybody_differs contradicts itself"}


class Member(Sort):
    """A member."""


class Foolish(State):
    """A relation."""

    before: Rigid[tuple[Member, Member], Bool]
    x: Bool


@initially
def anything(s: Foolish) -> Bool:
    """X is anything."""
    return s.x | ~s.x


@premise
def everybody_differs(s: Foolish) -> Bool:
    """A barber: he shaves exactly those who do not shave themselves."""
    return exists(forall(s.before[b, m].iff(~s.before[m, m]) for m in every(Member)) for b in every(Member))


@action("nothing")
def flip(s: Foolish) -> None:
    """X changes."""
    s.x = ~s.x


@always(shipped="violated: D1", given=(everybody_differs,))
def x_is_true(s: Foolish) -> Bool:
    """False: x is anything."""
    return s.x
