"""An action that is fair and ceases: if it can always happen, no run is fair, and everything holds of nothing."""

from __future__ import annotations

from model.language import TRUE, Bool, Rank, State, action, helps, initially, leads_to, ranking, require
from model.language.scope import Scope

PROVE = {
    "endless_ceases": "unknown: no run was found that is fair: tick is fair and ceases",
    "short_ceases": "holds",
}
EXPLORE = {
    "nothing_finishes": "unknown: about nothing: tick is fair and ceases, and no run is both",
    "endless_ceases": "unknown: about nothing: tick is fair and ceases, and no run is both",
    "short_ceases": "holds",
}


class Clock(State):
    """A clock that always ticks, and a bell that rings once."""

    hand: Bool
    rung: Bool
    done: Bool


@initially
def nothing_yet(s: Clock) -> Bool:
    """Nothing has happened."""
    return ~s.hand & ~s.rung & ~s.done


@action("nothing")
def tick(s: Clock) -> None:
    """It can always tick."""
    s.hand = ~s.hand


@action("nothing")
def ring(s: Clock) -> None:
    """It rings once."""
    require(~s.rung)
    s.rung = TRUE


@action("nothing")
def finish(s: Clock) -> None:
    """It is done."""
    require(~s.done)
    s.done = TRUE


@leads_to(shipped="holds", fair=("tick",), until_quiet=("tick",))
def nothing_finishes(s: Clock) -> tuple[Bool, Bool]:
    """About nothing: nobody has to finish, and no run is fair."""
    return ~s.done, s.done


@leads_to(shipped="holds", fair=("tick", "finish"), until_quiet=("tick",))
def endless_ceases(s: Clock) -> tuple[Bool, Bool]:
    """About nothing, though its ranking is right."""
    return ~s.done, s.done


@ranking("endless_ceases")
def at_once(s: Clock) -> Rank:
    """One step reaches the goal."""
    return Rank((), (helps(~s.done, finish),))


@leads_to(shipped="holds", fair=("ring", "finish"), until_quiet=("ring",))
def short_ceases(s: Clock) -> tuple[Bool, Bool]:
    """True: what rings once ceases by itself."""
    return ~s.done, s.done


@ranking("short_ceases")
def also_at_once(s: Clock) -> Rank:
    """One step reaches the goal."""
    return Rank((), (helps(~s.done, finish),))


scopes = [Scope(Clock, {}, name="clock")]
