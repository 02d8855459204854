"""An honest action that happens in no scope, because for it every number needs a greater one."""

from __future__ import annotations

from model.language import TRUE, Bool, Nat, State, action, always, every, exists, forall, initially, require

PROVE = {"who_goes_on_has_begun": "holds"}


class Number(Nat):
    """A number."""


class Endless(State):
    """Something that begins, and goes on."""

    at: Number
    begun: Bool
    endless: Bool


@initially
def at_rest(s: Endless) -> Bool:
    """It has not begun."""
    return ~s.begun & ~s.endless & (s.at == 0)


@action("nothing")
def begin(s: Endless) -> None:
    """It begins."""
    s.begun = TRUE


@action("nothing")
def go_on(s: Endless) -> None:
    """It goes on: above each number is another."""
    require(s.begun, forall(exists((s.at + n) < m for m in every(Number)) for n in every(Number)))
    s.endless = TRUE


@always(shipped="holds")
def who_goes_on_has_begun(s: Endless) -> Bool:
    """True."""
    return s.endless.implies(s.begun)
