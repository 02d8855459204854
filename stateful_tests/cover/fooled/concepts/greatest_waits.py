"""A goal is asked for at the greatest number alone; a run is fair only because a scope has one."""

from __future__ import annotations

from model.language import (
    TRUE,
    Bool,
    Nat,
    Rank,
    State,
    action,
    every,
    forall,
    helps,
    initially,
    leads_to,
    ranking,
    require,
)

PROVE = {
    "the_bell_rings": "unknown: no run was found that waits for the goal",
    "some_bell_rings": "holds",
    "it_is_left": "unknown: no run was found that is fair",
    "it_is_left_at_two": "holds",
}


class Number(Nat):
    """A number."""


class Bell(State):
    """A number that grows, and a bell."""

    at: Number
    rung: Bool


@initially
def silent(s: Bell) -> Bool:
    """It is 0."""
    return ~s.rung & (s.at == 0)


@action("nothing")
def grow(s: Bell) -> None:
    """It grows."""
    s.at = s.at + 1


@action("nothing")
def ring(s: Bell) -> None:
    """It rings."""
    require(~s.rung)
    s.rung = TRUE


@leads_to(shipped="holds", fair=("ring",))
def the_bell_rings(s: Bell) -> tuple[Bool, Bool]:
    """True of nothing: there is no greatest number."""
    return forall(n <= s.at for n in every(Number)), s.rung


@ranking("the_bell_rings")
def at_once(s: Bell) -> Rank:
    """One ring is enough."""
    return Rank(measure=(), helpers=(helps(~s.rung, ring),))


@leads_to(shipped="holds", fair=("ring",))
def some_bell_rings(s: Bell) -> tuple[Bool, Bool]:
    """Honest."""
    return forall((n < 2).implies(n < s.at) for n in every(Number)), s.rung


@ranking("some_bell_rings")
def at_last(s: Bell) -> Rank:
    """One ring is enough."""
    return Rank(measure=(), helpers=(helps(~s.rung, ring),))


class Room(State):
    """Somebody who counts, and leaves a room."""

    number: Number
    inside: Bool


@initially
def at_home(s: Room) -> Bool:
    """He begins at 0."""
    return s.inside & (s.number == 0)


@action("nothing")
def count(s: Room, to: Number) -> None:
    """He counts: some number always is greater, so he may always go on, and a fair one does."""
    require(s.number < to)
    s.number = to


@action("nothing")
def leave(s: Room) -> None:
    """He leaves."""
    require(s.inside)
    s.inside = ~s.inside


@leads_to(shipped="holds", fair=("count", "leave"), until_quiet=("count",))
def it_is_left(s: Room) -> tuple[Bool, Bool]:
    """True of nothing: who counts fairly does not cease."""
    return TRUE, ~s.inside


@ranking("it_is_left")
def by_leaving(s: Room) -> Rank:
    """He leaves."""
    return Rank(measure=(), helpers=(helps(s.inside, leave),))


class Stairs(State):
    """The same with an end."""

    number: Number
    inside: Bool


@initially
def below(s: Stairs) -> Bool:
    """He begins at 0."""
    return s.inside & (s.number == 0)


@action("nothing")
def climb(s: Stairs, to: Number) -> None:
    """He climbs to two."""
    require(s.number < to, to <= 2)
    s.number = to


@action("nothing")
def go(s: Stairs) -> None:
    """He leaves."""
    require(s.inside)
    s.inside = ~s.inside


@leads_to(shipped="holds", fair=("climb", "go"), until_quiet=("climb",))
def it_is_left_at_two(s: Stairs) -> tuple[Bool, Bool]:
    """Honest: he ceases at the end."""
    return TRUE, ~s.inside


@ranking("it_is_left_at_two")
def by_going(s: Stairs) -> Rank:
    """He leaves."""
    return Rank(measure=(), helpers=(helps(s.inside, go),))
