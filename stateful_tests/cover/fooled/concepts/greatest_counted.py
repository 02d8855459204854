"""Somebody counts how often a guard was true that no number satisfies."""

from __future__ import annotations

from model.language import TRUE, Bool, Nat, State, action, always, every, forall, initially, ite, lemma, require

PROVE = {
    "none_counted": "unknown: no run was found in which stop happens",
    "it_goes_on": "unknown: no run was found in which stop happens",
    "twice_is_even": "holds",
}


class Number(Nat):
    """A number."""


class Walk(State):
    """A number that grows, and how often it was the greatest."""

    at: Number
    seen: Number
    stopped: Bool


@initially
def at_zero(s: Walk) -> Bool:
    """Both are 0."""
    return (s.at == 0) & (s.seen == 0) & ~s.stopped


@action("nothing")
def grow(s: Walk, by: Number) -> None:
    """It grows."""
    s.at = s.at + by


@action("nothing")
def look(s: Walk) -> None:
    """One more, if it is the greatest number."""
    s.seen = ite(forall(n <= s.at for n in every(Number)), s.seen + 1, s.seen)


@action("nothing")
def stop(s: Walk) -> None:
    """It stops when it was seen twice."""
    require(s.seen == 2)
    s.stopped = TRUE


@lemma
def none_counted(s: Walk) -> Bool:
    """There is no greatest."""
    return s.seen == 0


@always(shipped="holds")
def it_goes_on(s: Walk) -> Bool:
    """True of nothing: what would stop it is dead."""
    return ~s.stopped


class Odd(State):
    """The same, counted while some number is greater."""

    at: Number
    passed: Number
    done: Bool


@initially
def nothing_passed(s: Odd) -> Bool:
    """Both are 0."""
    return (s.at == 0) & (s.passed == 0) & ~s.done


@action("nothing")
def go(s: Odd) -> None:
    """Both grow: some number always is greater."""
    s.passed = ite(forall(n <= s.at for n in every(Number)), s.passed, s.passed + 1)
    s.at = s.at + 1


@action("nothing")
def finish(s: Odd) -> None:
    """It is done after two."""
    require(s.passed == 2)
    s.done = TRUE


@always(shipped="holds")
def twice_is_even(s: Odd) -> Bool:
    """Honest: both grow alike."""
    return s.at == s.passed
