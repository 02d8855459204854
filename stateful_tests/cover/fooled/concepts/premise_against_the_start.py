"""F3: a premise contradicts the initial condition; explored without it, the property is false."""

from __future__ import annotations

from model.language import Bool, Rigid, Sort, State, Table, action, always, every, exists, forall, initially, premise
from model.language.scope import Scope

PROVE = {"all_is_bad": "unknown: the premises contradict the initial condition"}
EXPLORE = {"all_is_bad": "violated"}


class Member(Sort):
    """A member."""


class Against(State):
    """Members are up or down."""

    first: Rigid[Member, Bool]
    up: Table[Member, Bool]
    bad: Bool


@initially
def some_are_up(s: Against) -> Bool:
    """Somebody is up, and nobody knows whether all is bad."""
    return (forall(s.up[m].iff(s.first[m]) for m in every(Member)) & exists(s.first[m] for m in every(Member))
            & (s.bad | ~s.bad))


@premise
def nobody(s: Against) -> Bool:
    """Nobody is up at first."""
    return forall(~s.first[m] for m in every(Member))


@action("nothing")
def flop(s: Against, m: Member) -> None:
    """A member changes."""
    s.up[m] = ~s.up[m]


@always(shipped="violated: D1", given=(nobody,))
def all_is_bad(s: Against) -> Bool:
    """False whenever there is a state."""
    return s.bad


scopes = [Scope(Against, {Member: 2}, {"first": lambda m: m == 0}, name="somebody")]
