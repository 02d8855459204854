"""A step that writes two cells, which may be one; the last writer wins, and both read what was before."""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Sort,
    State,
    Table,
    action,
    always,
    every,
    exists,
    forall,
    initially,
    require,
    step,
)
from model.language.scope import Scope

PROVE = {
    "one_light_at_least": "unknown",
    "the_second_is_on": "holds",
    "the_first_is_off": "unknown",
    "lights_are_exchanged": "holds",
}
EXPLORE = {
    "one_light_at_least": "violated",
    "the_second_is_on": "holds",
    "the_first_is_off": "violated",
    "lights_are_exchanged": "holds",
}


class Lamp(Sort):
    """A lamp."""


class Lights(State):
    """Lamps, and two of them by name."""

    on: Table[Lamp, Bool]
    left: Bool
    right: Bool


@initially
def dark(s: Lights) -> Bool:
    """All but the left one are off."""
    return forall(~s.on[a] for a in every(Lamp)) & s.left & ~s.right


@action("nothing")
def move(s: Lights, a: Lamp, b: Lamp) -> None:
    """The light goes from one to another, or to the same."""
    s.on[a] = FALSE
    s.on[b] = TRUE


@action("nothing")
def put_out(s: Lights, a: Lamp) -> None:
    """One goes out."""
    require(s.on[a])
    s.on[a] = FALSE


@action("nothing")
def exchange(s: Lights) -> None:
    """Both take what the other one had."""
    left, right = s.left, s.right
    s.left = right
    s.right = left


@always(shipped="holds")
def one_light_at_least(s: Lights) -> Bool:
    """False at first already: no lamp is on."""
    return exists(s.on[a] for a in every(Lamp)) | s.left | ~s.left & exists(s.on[a] for a in every(Lamp))


@step(shipped="holds")
def the_second_is_on(s: Lights, then: Lights) -> Bool:
    """True: a step that puts a lamp on leaves it on, also if it is the one that was put off."""
    return forall((~s.on[a] & then.on[a]).implies(then.on[a]) for a in every(Lamp)) & (
        exists(~s.on[a] & then.on[a] for a in every(Lamp)).implies(exists(then.on[a] for a in every(Lamp))))


@step(shipped="holds")
def the_first_is_off(s: Lights, then: Lights) -> Bool:
    """False: a move from a lamp that is on to itself puts nothing off, and one that is off puts one on."""
    return forall(then.on[a].implies(s.on[a]) for a in every(Lamp))


@always(shipped="holds")
def lights_are_exchanged(s: Lights) -> Bool:
    """True: each reads what was before the step; one after the other, both would be alike."""
    return ~s.left.iff(s.right)


scopes = [Scope(Lights, {Lamp: 2}, name="two lamps")]
