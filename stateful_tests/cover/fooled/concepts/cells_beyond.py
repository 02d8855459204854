"""Tables go on behind the end of a scope: what stands there decides, and no scope shows it."""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Nat,
    State,
    Table,
    action,
    always,
    every,
    forall,
    initially,
    leads_to,
    require,
    sometimes,
)
from model.language.scope import Scope

PROVE = {"marks_are_below_the_top": "holds", "nothing_is_taken": "unknown: keeps", "nothing_is_seen": "unknown: keeps"}
EXPLORE = {
    "nothing_is_taken": "unknown: what ranges over numbers decides it",
    "nothing_is_marked": "unknown: what ranges over numbers decides it",
    "nothing_is_seen": "unknown: what ranges over numbers decides it",
    "something_is_picked": "unknown: pick is fair, and may happen with a number beyond the scope",
    "the_bell_rings": "unknown: ring may happen with a number beyond the scope",
    "the_bell_is_silent": "holds: within the scope: ring may happen with a number beyond it",
    "all_are_small": "unknown: what ranges over numbers decides it",
    "marks_are_below_the_top": "holds",
    "it_never_starts": "violated",
}


class Number(Nat):
    """A number."""


class Far(State):
    """Numbers from three on are marked by one step, which in a scope of three numbers marks nothing."""

    marked: Table[Number, Bool]
    swept: Bool
    taken: Bool


@initially
def unswept(s: Far) -> Bool:
    """Nothing was done."""
    return forall(~s.marked[n] for n in every(Number)) & ~s.swept & ~s.taken


@action("nothing")
def sweep(s: Far) -> None:
    """All from three on are marked."""
    for n in every(Number):
        s.marked[n] = ~(n < 3)
    s.swept = TRUE


@action("nothing")
def take(s: Far) -> None:
    """It is taken when it was swept and nothing is marked: never."""
    require(s.swept, forall(~s.marked[n] for n in every(Number)))
    s.taken = TRUE


@always(shipped="holds")
def nothing_is_taken(s: Far) -> Bool:
    """True, and false in the scope."""
    return ~s.taken


class Ready(State):
    """Numbers from three on are marked at first, of which a scope of three numbers shows none."""

    marked: Table[Number, Bool]
    seen: Bool
    picked: Bool


@initially
def ready(s: Ready) -> Bool:
    """All from three on are marked."""
    return forall(s.marked[n].iff(~(n < 3)) for n in every(Number)) & ~s.seen & ~s.picked


@action("nothing")
def look(s: Ready) -> None:
    """It sees that nothing is marked: never."""
    require(forall(~s.marked[n] for n in every(Number)))
    s.seen = TRUE


@action("nothing")
def pick(s: Ready, n: Number) -> None:
    """Something marked is picked."""
    require(s.marked[n], ~s.picked)
    s.picked = TRUE


@always(shipped="violated: D1")
def nothing_is_marked(s: Ready) -> Bool:
    """False from the beginning on, and true in the scope."""
    return forall(~s.marked[n] for n in every(Number))


@always(shipped="holds")
def nothing_is_seen(s: Ready) -> Bool:
    """True, and false in the scope."""
    return ~s.seen


@leads_to(shipped="holds", fair=("pick",))
def something_is_picked(s: Ready) -> tuple[Bool, Bool]:
    """True, and nothing in the scope can be picked."""
    return ~s.picked, s.picked


class Bell(State):
    """A bell that only great numbers ring."""

    rung: Bool


@initially
def silent(s: Bell) -> Bool:
    """It is silent."""
    return ~s.rung


@action("nothing")
def ring(s: Bell, n: Number) -> None:
    """It rings."""
    require(~(n < 3))
    s.rung = TRUE


@sometimes
def the_bell_rings(s: Bell) -> Bool:
    """True, and not in the scope."""
    return s.rung


@always(shipped="violated: D1")
def the_bell_is_silent(s: Bell) -> Bool:
    """False, and true in the scope: the row says that there is more."""
    return ~s.rung


class Top(State):
    """Honest: nothing is marked above the top."""

    marked: Table[Number, Bool]
    top: Number


@initially
def nothing_yet(s: Top) -> Bool:
    """Nothing is marked."""
    return forall(~s.marked[n] for n in every(Number)) & (s.top == 0)


@action("nothing")
def mark_the_next(s: Top) -> None:
    """The next is marked."""
    s.marked[s.top + 1] = TRUE
    s.top = s.top + 1


@always(shipped="holds")
def marks_are_below_the_top(s: Top) -> Bool:
    """True, whatever lies beyond."""
    return forall(s.marked[n].implies(n <= s.top) for n in every(Number))


@always(shipped="violated: D1")
def all_are_small(s: Top) -> Bool:
    """False, and true of the numbers of the scope."""
    return forall(n <= 3 for n in every(Number)) & (s.top == s.top)


class Reset(State):
    """Honest: all marks are taken away, those beyond, too."""

    marked: Table[Number, Bool]
    clean: Bool
    started: Bool


@initially
def all_marked(s: Reset) -> Bool:
    """All are marked."""
    return forall(s.marked[n] for n in every(Number)) & ~s.clean & ~s.started


@action("nothing")
def clear(s: Reset) -> None:
    """No mark is left."""
    for n in every(Number):
        s.marked[n] = FALSE
    s.clean = TRUE


@action("nothing")
def begin(s: Reset) -> None:
    """It starts when nothing is marked."""
    require(s.clean, forall(~s.marked[n] for n in every(Number)))
    s.started = TRUE


@always(shipped="violated: D1")
def it_never_starts(s: Reset) -> Bool:
    """False: it does."""
    return ~s.started


scopes = [Scope(owner, {Number: 3 if owner in (Far, Ready, Bell) else 4}, name=owner.concept.name)
          for owner in (Far, Ready, Bell, Top, Reset)]
