"""Liveness: which fairness suffices for a light that blinks."""

from __future__ import annotations

from model.language import TRUE, Bool, State, action, initially, leads_to, require
from model.language.scope import Scope

EXPLORE = {
    "weak_suffices": "holds",
    "weak_does_not_suffice": "violated",
    "strong_alone_may_rest": "violated",
    "strong_and_blinking_suffice": "holds",
    "quiet_while_off": "violated",
}


class Light(State):
    """A light."""

    on: Bool
    done: Bool


@initially
def off(s: Light) -> Bool:
    """It is off."""
    return ~s.on & ~s.done


@action("nothing")
def blink(s: Light) -> None:
    """It changes."""
    s.on = ~s.on


@action("nothing")
def finish(s: Light) -> None:
    """It is done."""
    require(~s.done)
    s.done = TRUE


@action("nothing")
def finish_when_on(s: Light) -> None:
    """It is done while it is on."""
    require(s.on, ~s.done)
    s.done = TRUE


@leads_to(shipped="holds", fair=("finish",))
def weak_suffices(s: Light) -> tuple[Bool, Bool]:
    """True."""
    return ~s.done, s.done


@leads_to(shipped="violated: D1", fair=("finish_when_on", "blink"))
def weak_does_not_suffice(s: Light) -> tuple[Bool, Bool]:
    """False: it blinks for ever."""
    return ~s.done, s.done


@leads_to(shipped="violated: D1", strongly_fair=("finish_when_on",))
def strong_alone_may_rest(s: Light) -> tuple[Bool, Bool]:
    """False: it rests while off."""
    return ~s.done, s.done


@leads_to(shipped="holds", strongly_fair=("finish_when_on",), fair=("blink",))
def strong_and_blinking_suffice(s: Light) -> tuple[Bool, Bool]:
    """True."""
    return ~s.done, s.done


@leads_to(shipped="violated: D1", fair=("finish_when_on",), until_quiet=("blink",))
def quiet_while_off(s: Light) -> tuple[Bool, Bool]:
    """False: it is off when it falls quiet."""
    return ~s.done, s.done


scopes = [Scope(Light, {}, name="light")]
