"""Two false lemmas that support each other."""

from __future__ import annotations

from model.language import FALSE, Bool, State, action, always, initially, lemma
from model.language.scope import Scope

PROVE = {"a_because_of_b": "unknown", "b_because_of_a": "unknown", "both": "unknown"}
EXPLORE = {"a_because_of_b": "violated", "b_because_of_a": "violated", "both": "violated"}


class Circle(State):
    """Two flags."""

    a: Bool
    b: Bool


@initially
def up(s: Circle) -> Bool:
    """Both are up."""
    return s.a & s.b


@action("nothing")
def lose_both(s: Circle) -> None:
    """Both go down at once."""
    s.a = FALSE
    s.b = FALSE


@lemma
def a_because_of_b(s: Circle) -> Bool:
    """False."""
    return s.a


@lemma
def b_because_of_a(s: Circle) -> Bool:
    """False."""
    return s.b


@always(shipped="holds")
def both(s: Circle) -> Bool:
    """False."""
    return s.a & s.b


scopes = [Scope(Circle, {}, name="circle")]
