"""An action that happens in every scope, because a table ends there, and never without bounds."""

from __future__ import annotations

from model.language import TRUE, Bool, Nat, State, Table, action, always, every, forall, initially, lemma, require

PROVE = {
    "all_is_well": "unknown: no run was found in which stop happens",
    "it_goes_on": "unknown: no run was found in which stop happens",
    "it_never_stops": "holds",
}


class Number(Nat):
    """A number."""


class Walk(State):
    """A walk along a table without end."""

    at: Number
    free: Table[Number, Bool]
    well: Bool
    stopped: Bool


@initially
def all_free(s: Walk) -> Bool:
    """Every place is free."""
    return (s.at == 0) & forall(s.free[n] for n in every(Number)) & s.well & ~s.stopped


@action("nothing")
def go(s: Walk) -> None:
    """One place on."""
    s.at = s.at + 1


@action("nothing")
def look(s: Walk) -> None:
    """The next place is looked at: behind the end of a scope it seems not to be free."""
    s.well = s.free[s.at + 1]


@action("nothing")
def stop(s: Walk) -> None:
    """It stops at a place that is not free: never."""
    require(~s.well)
    s.stopped = TRUE


@lemma
def all_is_well(s: Walk) -> Bool:
    """Every place stays free."""
    return forall(s.free[n] for n in every(Number)) & s.well


@always(shipped="holds")
def it_goes_on(s: Walk) -> Bool:
    """True of nothing: what would stop it is dead."""
    return ~s.stopped


@always(shipped="holds", excludes=("stop",))
def it_never_stops(s: Walk) -> Bool:
    """True, and it says so."""
    return ~s.stopped
