"""Every scope has a greatest number, the naturals have none."""

from __future__ import annotations

from model.language import TRUE, Bool, Nat, State, Table, action, always, every, exists, forall, initially

PROVE = {"marks_are_below_the_top": "holds", "there_is_a_greatest": "unknown"}


class Number(Nat):
    """A number."""


class Grows(State):
    """A table of numbers up to a top."""

    marked: Table[Number, Bool]
    top: Number


@initially
def zero(s: Grows) -> Bool:
    """Nothing is marked."""
    return (s.top == 0) & forall(~s.marked[n] for n in every(Number))


@action("nothing")
def raise_top(s: Grows, by: Number) -> None:
    """The top grows and is marked."""
    s.marked[s.top + by] = TRUE
    s.top = s.top + by


@always(shipped="holds")
def marks_are_below_the_top(s: Grows) -> Bool:
    """True."""
    return forall(s.marked[n].implies(n <= s.top) for n in every(Number))


@always(shipped="holds")
def there_is_a_greatest(s: Grows) -> Bool:
    """False without bounds, true in every scope."""
    return exists(forall(k <= n for k in every(Number)) for n in every(Number)) & (s.top == s.top)
