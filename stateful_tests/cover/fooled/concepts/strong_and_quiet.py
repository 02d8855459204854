"""F6: an action that may happen again and again and ceases leaves no fair run to fail; one that ends does."""

from __future__ import annotations

from model.language import TRUE, Bool, Rank, State, action, helps, initially, leads_to, ranking, require
from model.language.scope import Scope

PROVE = {"it_burns": "holds", "finishes": "unknown: no run was found that is fair: blink is fair and ceases"}
EXPLORE = {
    "finishes": "unknown: about nothing: blink is fair and ceases",
    "finishes_by_fairness": "holds",
    "it_burns": "holds",
}


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


@action("nothing")
def end(s: Blink) -> None:
    """It is done, on or off."""
    require(~s.done)
    s.done = TRUE


@leads_to(shipped="holds", strongly_fair=("blink",), fair=("end",), until_quiet=("blink",))
def finishes(s: Blink) -> tuple[Bool, Bool]:
    """True of nothing: it may blink for ever, so that no run ceases to, and is fair."""
    return ~s.done, s.done


@ranking("finishes")
def by_its_end(s: Blink) -> Rank:
    """One step."""
    return Rank(measure=(), helpers=(helps(~s.done, end),))


@leads_to(shipped="holds", fair=("blink",), strongly_fair=("finish",))
def finishes_by_fairness(s: Blink) -> tuple[Bool, Bool]:
    """True."""
    return ~s.done, s.done


class Match(State):
    """Something that is struck once."""

    struck: Bool
    burns: Bool


@initially
def new(s: Match) -> Bool:
    """It is new."""
    return ~s.struck & ~s.burns


@action("nothing")
def strike(s: Match) -> None:
    """It is struck, and cannot be again."""
    require(~s.struck)
    s.struck = TRUE


@action("nothing")
def burn(s: Match) -> None:
    """It burns."""
    require(~s.burns)
    s.burns = TRUE


@leads_to(shipped="holds", fair=("burn",), strongly_fair=("strike",), until_quiet=("strike",))
def it_burns(s: Match) -> tuple[Bool, Bool]:
    """Honest: after it was struck it is fair that it is not again."""
    return ~s.burns, s.burns


@ranking("it_burns")
def by_burning(s: Match) -> Rank:
    """One step."""
    return Rank(measure=(), helpers=(helps(~s.burns, burn),))


scopes = [Scope(Blink, {}, name="blink"), Scope(Match, {}, name="match")]
