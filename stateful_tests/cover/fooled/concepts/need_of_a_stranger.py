"""F3: the run breaks the property whether the premise is true or not, so the premise is not what is needed."""

from __future__ import annotations

from model.language import TRUE, Bool, Constant, Nat, State, Steps, action, always, initially, premise, tight

PROVE = {
    "all_is_good": "unknown: under disaster",
    "small_is_needed": "unknown: it breaks the property also where small is true",
}


class Number(Nat):
    """A number."""


class Stranger(State):
    """Good until a disaster."""

    limit: Constant[Number]
    bad: Bool


@initially
def good(s: Stranger) -> Bool:
    """All is good."""
    return ~s.bad


@action("nothing", environment=True)
def disaster(s: Stranger) -> None:
    """All is bad."""
    s.bad = TRUE


@premise
def small(s: Stranger) -> Bool:
    """The limit is small."""
    return s.limit <= 5


@always(shipped="violated: D1", given=(small,))
def all_is_good(s: Stranger) -> Bool:
    """False, and the limit has nothing to do with it."""
    return ~s.bad


@tight("all_is_good", small)
def by_disaster(s: Stranger) -> Steps:
    """A disaster."""
    return ((disaster,),)
