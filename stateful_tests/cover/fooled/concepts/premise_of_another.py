"""A lemma under a premise supports what has the same premise, and nothing that has another one of the same words."""

from __future__ import annotations

from model.language import (
    TRUE,
    Bool,
    Constant,
    State,
    action,
    always,
    initially,
    lemma_given,
    premise,
    require,
)
from model.language.scope import Scope

PROVE = {
    "quiet": "holds",
    "quiet_by_premise": "holds",
    "quiet_by_its_twin": "holds",
    "quiet_without": "unknown",
}
EXPLORE = {"quiet_by_premise": "violated", "quiet_by_its_twin": "violated", "quiet_without": "violated"}


class Alarm(State):
    """An alarm that may be set."""

    broken: Constant[Bool]
    rings: Bool
    heard: Bool


@premise
def works(s: Alarm) -> Bool:
    """It is not broken."""
    return ~s.broken


@premise
def works_well(s: Alarm) -> Bool:
    """The same, of another name."""
    return ~s.broken


@initially
def silent(s: Alarm) -> Bool:
    """It is silent."""
    return ~s.rings & ~s.heard


@action("nothing")
def ring(s: Alarm) -> None:
    """It rings if it is broken."""
    require(s.broken)
    s.rings = TRUE


@action("nothing")
def listen(s: Alarm) -> None:
    """Somebody hears what rings."""
    s.heard = s.rings


@lemma_given(works, excludes=("ring",))
def quiet(s: Alarm) -> Bool:
    """It never rings."""
    return ~s.rings


@always(shipped="holds", given=(works,), excludes=("ring",))
def quiet_by_premise(s: Alarm) -> Bool:
    """True, by the lemma."""
    return ~s.heard


@always(shipped="holds", given=(works_well,), excludes=("ring",))
def quiet_by_its_twin(s: Alarm) -> Bool:
    """True, without the lemma: its premise is another one."""
    return ~s.heard & ~s.rings


@always(shipped="holds")
def quiet_without(s: Alarm) -> Bool:
    """False without the premise, though a lemma says it."""
    return ~s.rings


scopes = [Scope(Alarm, {}, {"broken": True}, name="broken")]
