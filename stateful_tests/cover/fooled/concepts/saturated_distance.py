"""F6: two ages with a fixed distance look equal once both have saturated, however many ages there are."""

from __future__ import annotations

from model.language import TRUE, Bool, Nat, State, action, always, initially, lemma_given, require
from model.language.scope import Scope

PROVE = {"they_stay_apart": "holds", "they_never_meet": "holds"}
EXPLORE = {
    "they_stay_apart": "unknown: saturation",
    "they_never_meet": "unknown: steps depend on what saturation does not keep",
    "well_defined": "unknown",
}


class Age(Nat, saturates=True):
    """An age."""


class Apart(State):
    """Two ages, two apart."""

    a: Age
    b: Age
    met: Bool


@initially
def apart(s: Apart) -> Bool:
    """One is 2."""
    return (s.a == 2) & (s.b == 0) & ~s.met


@action("nothing")
def tick(s: Apart) -> None:
    """Both grow."""
    s.a = s.a + 1
    s.b = s.b + 1


@action("nothing")
def meet(s: Apart) -> None:
    """They meet: never, and always at last in a scope."""
    require(s.a == s.b)
    s.met = TRUE


@lemma_given(excludes=("meet",))
def they_stay_apart(s: Apart) -> Bool:
    """True: the distance is 2."""
    return (s.a == s.b + 2) & ~s.met


@always(shipped="holds", excludes=("meet",))
def they_never_meet(s: Apart) -> Bool:
    """True, and false in every scope."""
    return ~s.met


scopes = [Scope(Apart, {Age: n}, name=f"{n} ages") for n in (5, 6, 9)]
