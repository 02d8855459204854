"""A lemma under a premise must not help a property without it."""

from __future__ import annotations

from model.language import FALSE, Bool, State, action, always, initially, lemma_given, never
from model.language.scope import Scope

PROVE = {"a_stays_if_unbroken": "holds", "a_stays": "unknown"}
EXPLORE = {"a_stays": "violated"}


class Premised(State):
    """A flag."""

    a: Bool


@initially
def up(s: Premised) -> Bool:
    """It is up."""
    return s.a


@action("nothing")
def break_it(s: Premised) -> None:
    """It goes down."""
    s.a = FALSE


@action("nothing")
def keep_it(s: Premised) -> None:
    """It stays."""
    s.a = s.a & s.a


unbroken = never("break_it", because="Nobody breaks it.")


@lemma_given(unbroken)
def a_stays_if_unbroken(s: Premised) -> Bool:
    """True under the premise."""
    return s.a


@always(shipped="holds")
def a_stays(s: Premised) -> Bool:
    """False."""
    return s.a


scopes = [Scope(Premised, {}, name="premised")]
