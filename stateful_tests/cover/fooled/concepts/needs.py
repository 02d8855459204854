"""F3: a need that is real; one of which nothing can be assumed; one that assumes what says nothing new."""

from __future__ import annotations

from model.language import (
    Bool,
    Constant,
    Nat,
    State,
    Steps,
    action,
    always,
    initially,
    lemma,
    premise,
    require,
    tight,
)

PROVE = {
    "x_below_the_limit": "holds",
    "x_is_small": "holds",
    "small_is_needed": "holds",
    "x_is_slight": "holds",
    "slight_is_needed": "unknown: nothing is known to satisfy what it assumes without slight",
    "x_is_modest": "holds",
    "modest_is_needed": "unknown: not_tiny follows from what else it assumes",
}


class Number(Nat):
    """A number."""


class Counter(State):
    """A number that grows up to a limit."""

    limit: Constant[Number]
    x: Number


@initially
def zero(s: Counter) -> Bool:
    """It is 0."""
    return s.x == 0


@action("nothing")
def add(s: Counter) -> None:
    """It grows by one."""
    require(s.x < s.limit)
    s.x = s.x + 1


@action("nothing")
def leap(s: Counter) -> None:
    """It is the limit at once."""
    s.x = s.limit


@premise
def small(s: Counter) -> Bool:
    """The limit is at most 5."""
    return s.limit <= 5


@premise
def slight(s: Counter) -> Bool:
    """The same."""
    return s.limit <= 5


@premise
def modest(s: Counter) -> Bool:
    """The same."""
    return s.limit <= 5


@premise
def tiny(s: Counter) -> Bool:
    """The limit is 0."""
    return s.limit == 0


@premise
def not_tiny(s: Counter) -> Bool:
    """The limit is not 0, which follows from its being above 5."""
    return s.limit > 0


@lemma
def x_below_the_limit(s: Counter) -> Bool:
    """It stays within the limit."""
    return s.x <= s.limit


@always(shipped="violated: D1", given=(small,))
def x_is_small(s: Counter) -> Bool:
    """True under the premise."""
    return s.x <= 5


@tight("x_is_small", small)
def leaps(s: Counter) -> Steps:
    """Honest: one leap breaks it whenever the premise is false, and only then."""
    return ((leap,),)


@always(shipped="violated: D1", given=(slight,))
def x_is_slight(s: Counter) -> Bool:
    """True under the premise."""
    return s.x <= 5


@tight("x_is_slight", slight, where=(tiny,))
def nonsense(s: Counter) -> Steps:
    """Nothing is assumed that could be."""
    return ((add,),)


@always(shipped="violated: D1", given=(modest,))
def x_is_modest(s: Counter) -> Bool:
    """True under the premise."""
    return s.x <= 5


@tight("x_is_modest", modest, where=(not_tiny,))
def leaps_anyhow(s: Counter) -> Steps:
    """One leap is enough, and what else it assumes says nothing."""
    return ((leap,),)
