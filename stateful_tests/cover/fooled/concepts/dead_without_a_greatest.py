"""An action that happens at the greatest number of every scope, and never without bounds."""

from __future__ import annotations

from model.language import TRUE, Bool, Nat, State, action, always, every, forall, initially, require

PROVE = {"it_goes_on": "unknown: no run was found in which stop happens", "it_never_stops": "holds"}


class Number(Nat):
    """A number."""


class Count(State):
    """A number that grows."""

    x: Number
    stopped: Bool


@initially
def zero(s: Count) -> Bool:
    """It is 0."""
    return (s.x == 0) & ~s.stopped


@action("nothing")
def more(s: Count) -> None:
    """It grows."""
    s.x = s.x + 1


@action("nothing")
def stop(s: Count) -> None:
    """It stops at the greatest number: there is none."""
    require(forall(n <= s.x for n in every(Number)))
    s.stopped = TRUE


@always(shipped="holds")
def it_goes_on(s: Count) -> Bool:
    """True of nothing: what would stop it is dead."""
    return ~s.stopped


@always(shipped="holds", excludes=("stop",))
def it_never_stops(s: Count) -> Bool:
    """True, and it says so."""
    return ~s.stopped
