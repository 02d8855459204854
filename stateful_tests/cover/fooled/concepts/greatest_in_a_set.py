"""A guard that no number satisfies is remembered by a set, and by a relation."""

from __future__ import annotations

from model.language import (
    TRUE,
    Bool,
    Nat,
    Set,
    Sort,
    State,
    Table,
    action,
    always,
    every,
    exists,
    forall,
    initially,
    ite,
    lemma,
    require,
)

PROVE = {
    "nobody_saw_it": "unknown: no run was found in which stop happens",
    "it_goes_on": "unknown: no run was found in which stop happens",
    "nobody_told": "unknown: no run was found in which halt happens",
    "it_moves": "unknown: no run was found in which halt happens",
}


class Number(Nat):
    """A number."""


class Guard(Sort):
    """Somebody who looks."""


class Walk(State):
    """A number that grows, and who has seen the end."""

    at: Number
    saw: Set[Guard]
    stopped: Bool


@initially
def at_zero(s: Walk) -> Bool:
    """It is 0."""
    return (s.at == 0) & ~s.stopped & forall(~s.saw.has(g) for g in every(Guard))


@action("nothing")
def grow(s: Walk) -> None:
    """It grows."""
    s.at = s.at + 1


@action("nothing")
def look(s: Walk, g: Guard) -> None:
    """Who looks at the greatest number has seen the end."""
    s.saw = ite(forall(n <= s.at for n in every(Number)), s.saw.plus(g), s.saw)


@action("nothing")
def stop(s: Walk, g: Guard) -> None:
    """Who has seen the end stops it."""
    require(s.saw.has(g))
    s.stopped = TRUE


@lemma
def nobody_saw_it(s: Walk) -> Bool:
    """There is no end."""
    return ~exists(s.saw.has(g) for g in every(Guard))


@always(shipped="holds")
def it_goes_on(s: Walk) -> Bool:
    """True of nothing: what would stop it is dead."""
    return ~s.stopped


class Told(State):
    """The same, and one tells another."""

    at: Number
    told: Table[tuple[Guard, Guard], Bool]
    stopped: Bool


@initially
def untold(s: Told) -> Bool:
    """It is 0."""
    return (s.at == 0) & ~s.stopped & forall(~s.told[g, h] for g, h in every(Guard, Guard))


@action("nothing")
def move(s: Told) -> None:
    """It grows."""
    s.at = s.at + 1


@action("nothing")
def tell(s: Told, g: Guard) -> None:
    """All are told at the greatest number."""
    for h in every(Guard):
        s.told[g, h] = ~exists(s.at < n for n in every(Number))


@action("nothing")
def halt(s: Told, g: Guard, h: Guard) -> None:
    """Two who told each other stop it."""
    require(s.told[g, h], s.told[h, g])
    s.stopped = TRUE


@lemma
def nobody_told(s: Told) -> Bool:
    """There is no end."""
    return forall(~s.told[g, h] for g, h in every(Guard, Guard))


@always(shipped="holds")
def it_moves(s: Told) -> Bool:
    """True of nothing: what would stop it is dead."""
    return ~s.stopped
