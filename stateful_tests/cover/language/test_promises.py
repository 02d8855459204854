"""Promises in the language: who has the guard that they are, and what is refused."""

from __future__ import annotations

import pytest

from model.explorer import explore
from model.language import (
    TRUE,
    Bool,
    Misuse,
    Nat,
    Rank,
    State,
    action,
    always,
    assume,
    drop_guard,
    helps,
    initially,
    ite,
    leads_to,
    lemma_given,
    promise,
    ranking,
    require,
    text,
)
from model.language.open import OpenReading
from model.language.properties import Property
from model.language.scalar import StepReading
from model.language.scope import Scope
from proofs.prove import Prover


class Level(Nat):
    """How full the tank is."""


class Tank(State):
    """A tank that somebody fills, who promises to look."""

    level: Level
    open: Bool


@initially
def empty(s: Tank) -> Bool:
    """Nothing is in it, and it is shut."""
    return (s.level == 0) & ~s.open


@promise
def fillers_look(s: Tank, by: Level) -> Bool:
    """Nobody fills in more than fits."""
    return s.level + by <= 3


@action("Tank#fill")
def fill(s: Tank, by: Level) -> None:
    """Some is filled in."""
    require(by > 0, by="Tank#fill")
    assume(fillers_look, s, by)
    s.level = s.level + by


@action("Tank#open")
def lift(s: Tank) -> None:
    """Somebody opens it."""
    require(~s.open)
    s.open = TRUE


@always(shipped="holds", given=(fillers_look,), broken_by=(drop_guard("fill", 1),))
def nothing_runs_over(s: Tank) -> Bool:
    """The tank is never over-full."""
    return s.level <= 3


@always(shipped="holds")
def it_is_never_full(s: Tank) -> Bool:
    """Without the promise anything can be in it."""
    return s.level <= 4


@leads_to(shipped="holds", fair=("fill",))
def it_is_full_at_last(s: Tank) -> tuple[Bool, Bool]:
    """Only where nobody keeps the promise: who keeps it does not fill in the last of it."""
    return s.level < 5, s.level >= 5


@ranking("it_is_full_at_last")
def it_rises(s: Tank) -> Rank:
    """Each filling helps."""
    left = ite(s.level < 5, Level.of(5) - s.level, Level.of(0))
    return Rank(measure=(left,), helpers=(helps(s.level < 5, fill, Level.of(1)),))


KEPT, BROKEN = (Scope(Tank, {Level: 6}, breaks=breaks) for breaks in ((), ("fillers_look",)))
PROPERTIES = Tank.concept.properties


def proof(declared: Property) -> str:
    return Prover(scopes=[KEPT]).verdict(declared).outcome.value


def test_a_proof_has_the_guard_only_where_the_promise_is_a_premise() -> None:
    assert proof(PROPERTIES["nothing_runs_over"]) == "holds"
    assert proof(PROPERTIES["it_is_never_full"]) == "unknown"


def test_what_is_promised_may_keep_a_fair_action_from_happening() -> None:
    row = Prover(scopes=[KEPT]).verdict(PROPERTIES["it_is_full_at_last"])
    assert row.outcome.value == "unknown"
    assert row.note.startswith("enables it_is_full_at_last under fill is not proved: ")


def test_a_search_has_the_guard_unless_its_scope_breaks_the_promise() -> None:
    names = ["nothing_runs_over", "it_is_never_full"]
    kept, broken = (explore(scope, [PROPERTIES[name] for name in names]) for scope in (KEPT, BROKEN))
    assert (kept.states, broken.states) == (8, 12)
    assert [kept.outcome(name) for name in names] == ["holds", "holds"]
    assert [broken.outcome(name) for name in names] == ["violated", "violated"]


def test_what_follows_an_implementation_has_no_promise() -> None:
    state = {("level",): 3}
    assert OpenReading(Tank.concept).step("fill", (2,), state) == {("level",): 5}
    assert OpenReading(Tank.concept).first_false_conjunct("fill", (0,), state) is fill.traced.guards[0]
    assert OpenReading(Tank.concept).first_false_conjunct("fill", (2,), state) is None
    for scope, pruned, enabled in ((KEPT, True, False), (KEPT, False, True), (BROKEN, True, True)):
        reading = StepReading(scope, pruned=pruned)
        assert reading.enabled("fill", (2,), reading.layout.pack({("level",): 3})) is enabled


def test_guards_say_why_they_are_and_keep_their_numbers() -> None:
    assert [(one.kind, one.by) for one in fill.traced.grounds] == [
        ("tested", "Tank#fill"), ("promised", "fillers_look")]
    assert [(one.kind, one.by) for one in lift.traced.grounds] == [("tested", "")]
    without = drop_guard("fill", 0).applied(fill.traced)
    assert [one.by for one in without.grounds] == ["fillers_look"]
    assert without.keeping().guards == ()
    assert "promised (fillers_look) that level + by ≤ 3" in text.action(fill.traced)
    assert text.assumption(fillers_look) == "level + by ≤ 3"
    assert fillers_look.sentence == "Nobody fills in more than fits."


def test_a_promise_that_no_action_assumes_is_no_premise_and_no_scope_breaks_it() -> None:
    @promise
    def nobody_opens(s: Tank) -> Bool:
        """It stays shut."""
        return ~s.open

    with pytest.raises(Misuse, match="no action of Tank assumes nobody_opens; give one of fillers_look"):
        @lemma_given(nobody_opens)
        def it_stays_shut(s: Tank) -> Bool:
            """It stays shut."""
            return ~s.open

    with pytest.raises(ValueError, match="Tank has no promise nobody_opens; it has fillers_look"):
        Scope(Tank, {Level: 6}, breaks=("nobody_opens",))


def test_a_promise_is_not_taken_for_another_of_its_name() -> None:
    @promise
    def fillers_look(s: Tank, by: Level) -> Bool:
        """More fits than the actions assume."""
        return s.level + by <= 9

    with pytest.raises(Misuse, match="the actions of Tank assume another promise fillers_look; rename one"):
        @lemma_given(fillers_look)
        def much_fits(s: Tank) -> Bool:
            """It would be proved with a guard that the premise does not give."""
            return s.level <= 3

    with pytest.raises(Misuse, match="Tank has two promises fillers_look; rename one"):
        @action("Tank#refill")
        def refill(s: Tank, by: Level) -> None:
            """Some more is filled in."""
            assume(fillers_look, s, by)
            s.level = s.level + by


def test_a_promise_outside_an_action_is_refused() -> None:
    with pytest.raises(Misuse, match="assume outside an action"):
        assume(fillers_look, Tank(), Level.of(1))
