"""A promise to those who wait, and nobody waits: when there is nobody, or when the goal comes first."""

from __future__ import annotations

from model.language import FALSE, TRUE, Bool, State, action, initially, leads_to, require
from model.language.scope import Scope

EXPLORE = {
    "whoever_waits_is_served": "unknown: about nothing: no run waits for the goal",
    "whoever_is_served_is_served": "unknown: about nothing: no run waits for the goal",
    "work_ends": "holds",
}


class Desk(State):
    """A desk at which nobody waits."""

    waits: Bool
    served: Bool
    busy: Bool


@initially
def nobody(s: Desk) -> Bool:
    """Nobody is there."""
    return ~s.waits & ~s.served & ~s.busy


@action("nothing")
def begin(s: Desk) -> None:
    """The desk is busy with something."""
    require(~s.busy)
    s.busy = TRUE


@action("nothing")
def end(s: Desk) -> None:
    """The desk is idle again."""
    require(s.busy)
    s.busy = FALSE
    s.served = TRUE


@leads_to(shipped="holds")
def whoever_waits_is_served(s: Desk) -> tuple[Bool, Bool]:
    """Whoever waits is served; `waits` never comes true."""
    return s.waits, s.served


@leads_to(shipped="holds")
def whoever_is_served_is_served(s: Desk) -> tuple[Bool, Bool]:
    """The goal is there before it is demanded."""
    return s.served, s.served | s.waits


@leads_to(shipped="holds", fair=("end",))
def work_ends(s: Desk) -> tuple[Bool, Bool]:
    """What was begun is ended."""
    return s.busy, ~s.busy


scopes = [Scope(Desk, {}, name="one desk")]
