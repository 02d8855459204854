"""F6: a premise that subtracts below 0 allows what nobody meant."""

from __future__ import annotations

from model.language import TRUE, Bool, Constant, Nat, State, action, always, initially, premise, require

PROVE = {"never_set": "unknown"}


class Number(Nat):
    """A number."""


class Limited(State):
    """A number below a limit."""

    limit: Constant[Number]
    x: Bool


@initially
def unset(s: Limited) -> Bool:
    """It is not set."""
    return ~s.x


@premise
def limit_is_three(s: Limited) -> Bool:
    """Nothing is left of it without 3, which is also true of 0, 1 and 2."""
    return (s.limit - 3) == 0


@action("nothing")
def go(s: Limited) -> None:
    """It is set below the limit 0."""
    require(s.limit == 0)
    s.x = TRUE


@always(shipped="violated: D1", given=(limit_is_three,), excludes=("go",))
def never_set(s: Limited) -> Bool:
    """True if the limit is 3."""
    return ~s.x
