"""The start, or a premise, allows something for a greatest number alone: the rest of it is possible."""

from __future__ import annotations

from model.language import (
    TRUE,
    Bool,
    Constant,
    Nat,
    Rigid,
    State,
    action,
    always,
    every,
    forall,
    initially,
    lemma,
    premise,
    require,
)

PROVE = {
    "not_full": "unknown: no run was found in which stop happens",
    "it_goes_on": "unknown: no run was found in which stop happens",
    "nobody_halts": "unknown: no run was found in which halt happens",
    "nobody_falls": "unknown: no run was found in which fall happens",
}


class Number(Nat):
    """A number."""


class Walk(State):
    """A number that grows."""

    at: Number
    full: Bool
    stopped: Bool


@initially
def at_zero_or_full(s: Walk) -> Bool:
    """It is 0, or full at the greatest number."""
    return ~s.stopped & (((s.at == 0) & ~s.full) | (s.full & forall(n <= s.at for n in every(Number))))


@action("nothing")
def grow(s: Walk) -> None:
    """It grows."""
    s.at = s.at + 1


@action("nothing")
def stop(s: Walk) -> None:
    """It stops when it is full."""
    require(s.full)
    s.stopped = TRUE


@lemma
def not_full(s: Walk) -> Bool:
    """It never is."""
    return ~s.full


@always(shipped="holds")
def it_goes_on(s: Walk) -> Bool:
    """True of nothing: what would stop it is dead."""
    return ~s.stopped


class Limited(State):
    """Something that may be halted."""

    limit: Constant[Number]
    great: Constant[Bool]
    at: Number
    halted: Bool


@initially
def running(s: Limited) -> Bool:
    """It is not."""
    return ~s.halted & (s.at == 0)


@action("nothing")
def move(s: Limited) -> None:
    """It grows."""
    s.at = s.at + 1


@action("nothing")
def halt(s: Limited) -> None:
    """What is great is halted."""
    require(s.great)
    s.halted = TRUE


@premise
def great_is_the_greatest(s: Limited) -> Bool:
    """What is great has a limit above all numbers."""
    return s.great.implies(forall(n <= s.limit for n in every(Number)))


@always(shipped="violated: D1", given=(great_is_the_greatest,))
def nobody_halts(s: Limited) -> Bool:
    """True of nothing: what would halt it is dead."""
    return ~s.halted


class Descent(State):
    """A way that may lead down."""

    height: Rigid[Number, Number]
    down: Constant[Bool]
    at: Number
    fell: Bool


@initially
def on_top(s: Descent) -> Bool:
    """It begins."""
    return ~s.fell & (s.at == 0)


@action("nothing")
def step(s: Descent) -> None:
    """One place on."""
    s.at = s.at + 1


@action("nothing")
def fall(s: Descent) -> None:
    """What leads down falls."""
    require(s.down)
    s.fell = TRUE


@premise
def down_without_end(s: Descent) -> Bool:
    """What leads down is lower at each place: natural numbers are not, for ever."""
    return s.down.implies(forall((m < n).implies(s.height[n] < s.height[m]) for m, n in every(Number, Number)))


@always(shipped="violated: D1", given=(down_without_end,))
def nobody_falls(s: Descent) -> Bool:
    """True of nothing, and not proved: no induction knows it."""
    return ~s.fell | s.down
