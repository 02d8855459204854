"""F1: a rigid function is called as the solver once called the variable `x`."""

from __future__ import annotations

from model.language import Bool, Rigid, Sort, State, Table, action, always, every, forall, initially
from model.language.scope import Scope

PROVE = {"x_is_rigid": "violated: false at first"}
EXPLORE = {"x_is_rigid": "violated"}


class Member(Sort):
    """A member."""


class Same(State):
    """x is open at first; one action flips y."""

    x: Table[Member, Bool]
    now_x: Rigid[Member, Bool]
    y: Bool


@initially
def open_x(s: Same) -> Bool:
    """X is anything."""
    return ~s.y & forall(s.x[m] | ~s.x[m] for m in every(Member))


@action("nothing")
def tick(s: Same) -> None:
    """Y changes."""
    s.y = ~s.y


@always(shipped="holds")
def x_is_rigid(s: Same) -> Bool:
    """False: x is anything."""
    return forall(s.x[m].iff(s.now_x[m]) for m in every(Member))


scopes = [Scope(Same, {Member: 2}, {"now_x": lambda _: True}, name="same")]
