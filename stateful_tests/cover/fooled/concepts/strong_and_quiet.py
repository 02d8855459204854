"""F6: an action that happens again and again and ceases leaves no fair run to fail."""

from __future__ import annotations

from model.language import TRUE, Bool, State, action, initially, leads_to, require
from model.language.scope import Scope

EXPLORE = {"finishes": "unknown: blink is strongly fair and ceases", "finishes_by_fairness": "holds"}


class Blink(State):
    """A light."""

    on: Bool
    done: Bool


@initially
def off(s: Blink) -> Bool:
    """It is off."""
    return ~s.on & ~s.done


@action("nothing")
def blink(s: Blink) -> None:
    """It changes."""
    s.on = ~s.on


@action("nothing")
def finish(s: Blink) -> None:
    """It is done."""
    require(s.on)
    s.done = TRUE


@leads_to(shipped="violated: D1", strongly_fair=("blink",), until_quiet=("blink",))
def finishes(s: Blink) -> tuple[Bool, Bool]:
    """False: nobody has to finish."""
    return ~s.done, s.done


@leads_to(shipped="holds", fair=("blink",), strongly_fair=("finish",))
def finishes_by_fairness(s: Blink) -> tuple[Bool, Bool]:
    """True."""
    return ~s.done, s.done


scopes = [Scope(Blink, {}, name="blink")]
