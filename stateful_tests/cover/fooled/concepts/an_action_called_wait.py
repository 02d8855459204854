"""Honest: a name that the judges might use themselves."""

from __future__ import annotations

from model.language import (
    TRUE,
    Bool,
    Rank,
    State,
    action,
    helps,
    initially,
    leads_to,
    never,
    ranking,
    require,
)

PROVE = {"it_ends": "holds"}


class Job(State):
    """Something to do."""

    done: Bool
    later: Bool


@initially
def begun(s: Job) -> Bool:
    """It is not done."""
    return ~s.done & ~s.later


@action("nothing")
def wait(s: Job) -> None:
    """It is put off."""
    s.later = TRUE


@action("nothing")
def end(s: Job) -> None:
    """It is done."""
    require(~s.done)
    s.done = TRUE


nobody_waits = never("wait", because="there is no time")


@leads_to(shipped="violated: D1", given=(nobody_waits,), fair=("end",))
def it_ends(s: Job) -> tuple[Bool, Bool]:
    """True."""
    return TRUE, s.done


@ranking("it_ends")
def at_once(s: Job) -> Rank:
    """One step."""
    return Rank(measure=(), helpers=(helps(~s.done, end),))
