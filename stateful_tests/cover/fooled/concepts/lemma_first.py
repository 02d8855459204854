"""F5: a lemma that is false at first does not make a true property false."""

from __future__ import annotations

from model.language import TRUE, Bool, State, action, always, initially, lemma
from model.language.scope import Scope

PROVE = {
    "down": "violated: false at first",
    "a_is_up": "unknown: it leans on the lemma down, which is false at first",
}
EXPLORE = {"down": "violated", "a_is_up": "holds"}


class Lemma(State):
    """A flag."""

    a: Bool


@initially
def up(s: Lemma) -> Bool:
    """It is up."""
    return s.a


@action("nothing")
def raise_it(s: Lemma) -> None:
    """It is raised."""
    s.a = TRUE


@lemma
def down(s: Lemma) -> Bool:
    """False."""
    return ~s.a


@always(shipped="holds")
def a_is_up(s: Lemma) -> Bool:
    """True."""
    return s.a


scopes = [Scope(Lemma, {}, name="lemma")]
