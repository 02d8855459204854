"""A guard that no number satisfies is true at the greatest number of every scope, and a flag remembers it."""

from __future__ import annotations

from model.language import TRUE, Bool, Nat, State, action, always, every, exists, forall, initially, lemma, require

PROVE = {
    "never_full": "unknown: no run was found in which stop happens",
    "it_goes_on": "unknown: no run was found in which stop happens",
    "it_never_stops": "holds",
    "full_is_full": "holds",
}


class Number(Nat):
    """A number."""


class Walk(State):
    """A number that grows."""

    at: Number
    full: Bool
    stopped: Bool


@initially
def at_zero(s: Walk) -> Bool:
    """It is 0."""
    return (s.at == 0) & ~s.full & ~s.stopped


@action("nothing")
def grow(s: Walk) -> None:
    """It grows."""
    s.at = s.at + 1


@action("nothing")
def look(s: Walk) -> None:
    """It is full when no number is greater: never."""
    s.full = ~exists(s.at < n for n in every(Number))


@action("nothing")
def stop(s: Walk) -> None:
    """It stops when it is full."""
    require(s.full)
    s.stopped = TRUE


@lemma
def never_full(s: Walk) -> Bool:
    """It never is."""
    return ~s.full


@always(shipped="holds")
def it_goes_on(s: Walk) -> Bool:
    """True of nothing: what would stop it is dead."""
    return ~s.stopped


@always(shipped="holds", excludes=("stop",))
def it_never_stops(s: Walk) -> Bool:
    """True, and it says so."""
    return ~s.stopped


class Shelf(State):
    """The same with a number that is great enough."""

    size: Number
    at: Number
    full: Bool
    stopped: Bool


@initially
def empty(s: Shelf) -> Bool:
    """It is 0."""
    return (s.at == 0) & ~s.full & ~s.stopped


@action("nothing")
def put(s: Shelf) -> None:
    """It grows."""
    require(~s.full)
    s.at = s.at + 1


@action("nothing")
def count(s: Shelf) -> None:
    """It is full when each number below the size was reached."""
    s.full = forall((n < s.size).implies(n < s.at) for n in every(Number))


@action("nothing")
def close(s: Shelf) -> None:
    """It is closed when it is full."""
    require(s.full)
    s.stopped = TRUE


@always(shipped="holds")
def full_is_full(s: Shelf) -> Bool:
    """Honest: what is closed reaches the size."""
    return (s.full | s.stopped).implies(s.size <= s.at)
