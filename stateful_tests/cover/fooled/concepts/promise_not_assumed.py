"""Honest: what happens only where a promise is broken that is no premise."""

from __future__ import annotations

from model.language import TRUE, Bool, Nat, State, action, always, assume, initially, promise, require

PROVE = {
    "late_is_late": "holds",
    "soon_is_soon": "holds",
    "never_late": "unknown: no run was found in which be_late happens",
}


class Ms(Nat):
    """Time."""


class Clock(State):
    """Time passes, and somebody is late."""

    now: Ms
    late: Bool


@initially
def at_zero(s: Clock) -> Bool:
    """It is 0."""
    return (s.now == 0) & ~s.late


@promise
def in_time(s: Clock) -> Bool:
    """Whatever has to happen does so before 2."""
    return s.now < 2


@action("nothing", environment=True)
def tick(s: Clock) -> None:
    """Time passes."""
    assume(in_time, s)
    s.now = s.now + 1


@action("nothing")
def be_late(s: Clock) -> None:
    """Who comes after 2 is late."""
    require(s.now > 2)
    s.late = TRUE


@always(shipped="holds")
def late_is_late(s: Clock) -> Bool:
    """True without the promise."""
    return s.late.implies(s.now > 2)


@always(shipped="violated: D1", given=(in_time,), excludes=("be_late",))
def soon_is_soon(s: Clock) -> Bool:
    """True under the promise, and nobody is late."""
    return (s.now <= 2) & ~s.late


@always(shipped="violated: D1", given=(in_time,))
def never_late(s: Clock) -> Bool:
    """The same, but it does not say that nobody can be."""
    return (s.now <= 2) & ~s.late
