"""A mutation that only a ghost would notice, and a proof that does not need the guard."""

from __future__ import annotations

from model.language import TRUE, Bool, Ghost, State, action, always, drop_guard, initially, require
from model.language.scope import Scope

PROVE = {"set_once": "holds", "twice_is_on": "unknown: proved, but also with switch without guard 0"}
EXPLORE = {"set_once": "holds", "twice_is_on": "holds"}


class Once(State):
    """A switch that is set once, and how often it was."""

    on: Bool
    twice: Ghost[Bool]


@initially
def off(s: Once) -> Bool:
    """It is off."""
    return ~s.on & ~s.twice


@action("nothing")
def switch(s: Once) -> None:
    """It is set."""
    require(~s.on)
    s.twice = s.twice | s.on
    s.on = TRUE


@always(shipped="holds", broken_by=(drop_guard("switch", 0),))
def set_once(s: Once) -> Bool:
    """True, and false without the guard."""
    return ~s.twice


@always(shipped="holds", broken_by=(drop_guard("switch", 0),))
def twice_is_on(s: Once) -> Bool:
    """True with the guard and without."""
    return s.twice.implies(s.on)


scopes = [Scope(Once, {}, name="once")]
