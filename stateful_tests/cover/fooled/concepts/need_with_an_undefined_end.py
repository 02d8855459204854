"""F3: a run ends where the property means nothing."""

from __future__ import annotations

from model.language import Bool, Constant, Nat, State, Steps, action, always, initially, premise, require, tight

PROVE = {"far_from_the_limit": "unknown", "never_below_is_needed": "unknown: defined far_from_the_limit"}


class Number(Nat):
    """A number."""


class Undefined(State):
    """A number that falls."""

    limit: Constant[Number]
    x: Number


@initially
def at_the_limit(s: Undefined) -> Bool:
    """It begins at the limit."""
    return s.x == s.limit


@action("nothing")
def fall(s: Undefined, to: Number) -> None:
    """It falls."""
    require(to < s.x)
    s.x = to


@premise
def never_below(s: Undefined) -> Bool:
    """The limit is 0, so nothing falls."""
    return s.limit == 0


@always(shipped="violated: D1", given=(never_below,), excludes=("fall",))
def far_from_the_limit(s: Undefined) -> Bool:
    """Where x is above 0, x less the limit would have to be above 0 as well."""
    return (s.x == s.limit) | ((s.x - s.limit) > 0)


@tight("far_from_the_limit", never_below)
def falls(s: Undefined) -> Steps:
    """It falls below the limit, where the difference means nothing."""
    return ((fall, Number.of(0)),)
