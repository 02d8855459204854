"""Helpers that cannot happen, or stop to help: rankings that rely on the wrong fairness, and such that do not."""

from __future__ import annotations

from model.language import TRUE, Bool, Rank, State, action, helps, initially, leads_to, ranking, require
from model.language.scope import Scope

PROVE = {
    "weak_suffices": "holds",
    "weak_does_not_suffice": "unknown: enables weak_does_not_suffice under finish_when_on is not proved",
    "weak_while_it_is_on": "unknown: rises weak_while_it_is_on under blink is not proved",
    "strong_and_blinking_suffice": "holds",
    "strong_and_resting": "unknown: falls strong_and_resting under break_it is not proved",
    "strong_without_a_way": "unknown: enables strong_without_a_way under finish_when_on is not proved",
    "quiet_while_off": "unknown: helps quiet_while_off is not proved",
    "strong_and_quiet": "holds",
}
EXPLORE = {
    "weak_suffices": "holds",
    "weak_does_not_suffice": "violated",
    "weak_while_it_is_on": "violated",
    "strong_and_blinking_suffice": "holds",
    "strong_and_resting": "violated",
    "strong_without_a_way": "violated",
    "quiet_while_off": "violated",
    "strong_and_quiet": "holds",
}


class Lamp(State):
    """A light, which may be broken."""

    on: Bool
    broken: Bool
    done: Bool


@initially
def off(s: Lamp) -> Bool:
    """It is off."""
    return ~s.on & ~s.broken & ~s.done


@action("nothing")
def blink(s: Lamp) -> None:
    """It changes."""
    require(~s.broken)
    s.on = ~s.on


@action("nothing")
def break_it(s: Lamp) -> None:
    """It breaks, and stays as it is."""
    s.broken = TRUE


@action("nothing")
def finish(s: Lamp) -> None:
    """It is done."""
    require(~s.done)
    s.done = TRUE


@action("nothing")
def finish_when_on(s: Lamp) -> None:
    """It is done while it is on."""
    require(s.on, ~s.done)
    s.done = TRUE


@leads_to(shipped="holds", fair=("finish",))
def weak_suffices(s: Lamp) -> tuple[Bool, Bool]:
    """True."""
    return ~s.done, s.done


@ranking("weak_suffices")
def at_once(s: Lamp) -> Rank:
    """One step reaches the goal."""
    return Rank((), (helps(~s.done, finish),))


@leads_to(shipped="holds", fair=("finish_when_on", "blink"), until_quiet=("finish", "break_it"))
def weak_does_not_suffice(s: Lamp) -> tuple[Bool, Bool]:
    """False: it blinks for ever."""
    return ~s.done, s.done


@ranking("weak_does_not_suffice")
def possible_now_and_then(s: Lamp) -> Rank:
    """It is not possible all the time."""
    return Rank((), (helps(~s.done, finish_when_on),))


@leads_to(shipped="holds", fair=("finish_when_on", "blink"), until_quiet=("finish", "break_it"))
def weak_while_it_is_on(s: Lamp) -> tuple[Bool, Bool]:
    """False, for the same reason."""
    return ~s.done, s.done


@ranking("weak_while_it_is_on")
def either_helps(s: Lamp) -> Rank:
    """What helps while it is on helps no more when it is off."""
    return Rank((~s.on,), (helps(s.on, finish_when_on), helps(~s.on, blink)))


@leads_to(shipped="holds", strongly_fair=("finish_when_on",), fair=("blink",), until_quiet=("break_it",))
def strong_and_blinking_suffice(s: Lamp) -> tuple[Bool, Bool]:
    """True, unless it breaks."""
    return ~s.done, s.done | s.broken


@ranking("strong_and_blinking_suffice")
def it_is_on_again_and_again(s: Lamp) -> Rank:
    """It blinks, so that it is on at last."""
    return Rank((), (helps(TRUE, finish_when_on, way=Rank((~s.on,), (helps(~s.on, blink),))),))


@leads_to(shipped="holds", strongly_fair=("finish_when_on",), fair=("break_it",), until_quiet=("finish",))
def strong_and_resting(s: Lamp) -> tuple[Bool, Bool]:
    """False: nobody switches it on."""
    return ~s.done, s.done


@ranking("strong_and_resting")
def what_breaks_helps_nobody(s: Lamp) -> Rank:
    """It is broken at last, and off."""
    return Rank((), (helps(TRUE, finish_when_on, way=Rank((~s.on,), (helps(~s.on, break_it),))),))


@leads_to(shipped="holds", strongly_fair=("finish_when_on",), until_quiet=("finish",))
def strong_without_a_way(s: Lamp) -> tuple[Bool, Bool]:
    """False: it rests while it is off."""
    return ~s.done, s.done


@ranking("strong_without_a_way")
def strong_is_not_enough(s: Lamp) -> Rank:
    """Nothing makes it possible."""
    return Rank((), (helps(~s.done, finish_when_on),))


@leads_to(shipped="holds", fair=("finish_when_on",), until_quiet=("blink", "finish"))
def quiet_while_off(s: Lamp) -> tuple[Bool, Bool]:
    """False: it is off when it falls quiet."""
    return s.on, s.done


@ranking("quiet_while_off")
def while_it_is_on(s: Lamp) -> Rank:
    """It is on at first."""
    return Rank((), (helps(s.on & ~s.done, finish_when_on),))


@leads_to(shipped="holds", fair=("finish",), strongly_fair=("blink",), until_quiet=("blink",))
def strong_and_quiet(s: Lamp) -> tuple[Bool, Bool]:
    """Honest: where it is broken, it is fair that nothing blinks."""
    return ~s.done, s.done


@ranking("strong_and_quiet")
def done_at_once(s: Lamp) -> Rank:
    """One step reaches the goal."""
    return Rank((), (helps(~s.done, finish),))


scopes = [Scope(Lamp, {}, name="lamp")]
