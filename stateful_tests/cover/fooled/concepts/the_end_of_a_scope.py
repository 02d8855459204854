"""What ranges over numbers sees the greatest of a scope: where that decides, a search says nothing."""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Nat,
    Rank,
    State,
    Table,
    action,
    always,
    every,
    exists,
    forall,
    helps,
    initially,
    leads_to,
    lemma,
    ranking,
    require,
    sometimes,
    step,
)
from model.language.scope import Scope

PROVE = {"some_number_is_greater": "holds", "never_full": "unknown: no run was found in which stop happens",
         "the_door_opens": "holds"}
EXPLORE = {
    "some_number_is_greater": "unknown: what ranges over numbers decides it",
    "it_goes_on": "unknown: what ranges over numbers decides it",
    "it_never_goes_on_to_the_end": "unknown: what ranges over numbers decides it",
    "it_ends": "unknown: what ranges over numbers decides it",
    "it_stops": "unknown: what ranges over numbers decides it",
    "never_full": "unknown: what ranges over numbers decides it",
    "it_stays_below_two": "violated",
    "all_below_are_small": "violated",
    "it_stays_at_rest": "unknown: what ranges over numbers decides it",
    "two_is_not_marked": "violated",
    "the_door_opens": "unknown: open_at is fair, and may happen with a number beyond the scope",
    "the_gate_opens": "violated",
    "something_is_taken": "unknown: take is fair, and may happen with a number beyond the scope",
    "something_is_picked": "violated",
}


class Number(Nat):
    """A number."""


class Walk(State):
    """A number that grows, and may be found to be the greatest."""

    at: Number
    full: Bool
    stopped: Bool


@initially
def at_zero(s: Walk) -> Bool:
    """It is 0."""
    return (s.at == 0) & ~s.full & ~s.stopped


@action("nothing")
def grow(s: Walk) -> None:
    """It grows."""
    s.at = s.at + 1


@action("nothing")
def look(s: Walk) -> None:
    """It is full when no number is greater: never."""
    s.full = forall(n <= s.at for n in every(Number))


@action("nothing")
def stop(s: Walk) -> None:
    """It stops when it is full."""
    require(s.full)
    s.stopped = TRUE


@always(shipped="holds", excludes=("stop",))
def some_number_is_greater(s: Walk) -> Bool:
    """True, and false at the end of every scope."""
    return exists(s.at < n for n in every(Number))


@always(shipped="violated: D1")
def it_goes_on(s: Walk) -> Bool:
    """True: what would stop it is dead."""
    return ~s.stopped


@step(shipped="violated: D1")
def it_never_goes_on_to_the_end(before: Walk, after: Walk) -> Bool:
    """True: there is no end."""
    return before.full | exists(after.at < n for n in every(Number))


@sometimes
def it_ends(s: Walk) -> Bool:
    """False: no number is the greatest."""
    return ~exists(s.at < n for n in every(Number))


@sometimes
def it_stops(s: Walk) -> Bool:
    """False: it never is full."""
    return s.stopped


@lemma
def never_full(s: Walk) -> Bool:
    """True."""
    return ~s.full


@always(shipped="violated: D1")
def it_stays_below_two(s: Walk) -> Bool:
    """Honest: it does not."""
    return s.at < 2


@always(shipped="violated: D1")
def all_below_are_small(s: Walk) -> Bool:
    """Honest: it ranges over numbers, and one shows that it is false."""
    return forall((n < s.at).implies(n < 2) for n in every(Number))


@leads_to(shipped="violated: D1", fair=("look",))
def it_stays_at_rest(s: Walk) -> tuple[Bool, Bool]:
    """True of nothing: it never is full."""
    return s.full, s.at == 0


class Marks(State):
    """A table without end: that no cell is marked is true of those beyond a scope, too."""

    marked: Table[Number, Bool]


@initially
def unmarked(s: Marks) -> Bool:
    """No cell is marked."""
    return forall(~s.marked[n] for n in every(Number))


@action("nothing")
def mark(s: Marks, n: Number) -> None:
    """One cell alone is marked."""
    require(forall(~s.marked[m] for m in every(Number)))
    s.marked[n] = TRUE


@always(shipped="violated: D1")
def two_is_not_marked(s: Marks) -> Bool:
    """Honest: it may be."""
    return ~s.marked[Number.of(2)]


class Door(State):
    """A door that is opened with a number above the last one."""

    last: Number
    opened: Bool


@initially
def shut(s: Door) -> Bool:
    """It is shut."""
    return (s.last == 0) & ~s.opened


@action("nothing")
def count(s: Door) -> None:
    """The last number grows."""
    s.last = s.last + 1


@action("nothing")
def open_at(s: Door, n: Number) -> None:
    """Some number always is greater."""
    require(s.last < n, ~s.opened)
    s.opened = TRUE


@leads_to(shipped="holds", fair=("open_at",), until_quiet=("count",))
def the_door_opens(s: Door) -> tuple[Bool, Bool]:
    """True, and not where the scope has no number left."""
    return ~s.opened, s.opened


@ranking("the_door_opens")
def with_the_next(s: Door, n: Number) -> Rank:
    """The next number opens it."""
    return Rank(measure=(), helpers=(helps(~s.opened & (n == s.last + 1), open_at, n),))


class Gate(State):
    """The same with three numbers."""

    last: Number
    opened: Bool


@initially
def closed(s: Gate) -> Bool:
    """It is shut."""
    return (s.last == 0) & ~s.opened


@action("nothing")
def count_on(s: Gate) -> None:
    """The last number grows."""
    s.last = s.last + 1


@action("nothing")
def open_below_three(s: Gate, n: Number) -> None:
    """From two on no number is left."""
    require(s.last < n, n < 3, ~s.opened)
    s.opened = TRUE


@leads_to(shipped="violated: D1", fair=("open_below_three",))
def the_gate_opens(s: Gate) -> tuple[Bool, Bool]:
    """Honest: it may be too late."""
    return ~s.opened, s.opened


class Full(State):
    """A row without end, of which every place is full at first, and may be lost."""

    full: Table[Number, Bool]
    taken: Bool


@initially
def all_full(s: Full) -> Bool:
    """All are full."""
    return forall(s.full[n] for n in every(Number)) & ~s.taken


@action("nothing")
def lose(s: Full, n: Number) -> None:
    """A place is emptied."""
    require(s.full[n])
    s.full[n] = FALSE


@action("nothing")
def take(s: Full, n: Number) -> None:
    """Something is taken from a full place."""
    require(s.full[n], ~s.taken)
    s.taken = TRUE


@leads_to(shipped="holds", fair=("take",), until_quiet=("lose",))
def something_is_taken(s: Full) -> tuple[Bool, Bool]:
    """True: what is lost at last is a part of the places."""
    return ~s.taken, s.taken


class Empty(State):
    """The same, empty at first."""

    full: Table[Number, Bool]
    taken: Bool


@initially
def all_empty(s: Empty) -> Bool:
    """All are empty."""
    return forall(~s.full[n] for n in every(Number)) & ~s.taken


@action("nothing")
def pick(s: Empty, n: Number) -> None:
    """Something is taken from a full place."""
    require(s.full[n], ~s.taken)
    s.taken = TRUE


@leads_to(shipped="violated: D1", fair=("pick",))
def something_is_picked(s: Empty) -> tuple[Bool, Bool]:
    """Honest: there is nothing."""
    return ~s.taken, s.taken


scopes = [Scope(Walk, {Number: 4}, name="walk"), Scope(Marks, {Number: 3}, name="marks"),
          Scope(Door, {Number: 4}, name="door"), Scope(Gate, {Number: 5}, name="gate"),
          Scope(Full, {Number: 2}, name="full"), Scope(Empty, {Number: 2}, name="empty")]
