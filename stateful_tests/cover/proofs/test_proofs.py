"""The judge `prove`: the catalogue is proved, and a proof that should fail does."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from invariants import evidence
from invariants.concepts import PROPERTIES
from invariants.verdict import ExitStatus, Outcome, exit_status
from model.consumer_group import Convergence, Group, Member, Queue
from model.explorer.exploration import Exploration
from model.language import Bool, Property, Run, always, drop_guard, every, forall, never
from model.language.mutations import Mutation
from model.language.scope import Scope
from model.scopes import SCOPES
from proofs import witnesses
from proofs.counterexample import counterexample, shown
from proofs.dead import dead
from proofs.engine import z3
from proofs.prove import Prover, provable
from proofs.solve import Answer, prove, satisfiable


def provable_properties() -> list[Property]:
    return [p for p in PROPERTIES.values() if provable(p)]


@pytest.fixture(scope="module")
def prover() -> Prover:
    return Prover()


@pytest.mark.parametrize("declared", provable_properties(), ids=lambda p: f"{p.concept.name}-{p.name}")
def test_it_is_proved_under_every_seed(prover: Prover, declared: Property) -> None:
    row = prover.verdict(declared)
    assert row.outcome is Outcome.HOLDS, row.note
    assert row.cost["obligations"] > 0


@pytest.fixture
def toy() -> Property:
    """one_owner_per_queue, claimed to hold: it is not inductive."""
    @always(shipped="holds")
    def toy_owner(s: Group) -> Bool:
        """At every instant a queue is held by at most one member."""
        return forall((s.holds[a, q] & s.holds[b, q]).implies(a == b) for a, b, q in every(Member, Member, Queue))
    return Group.concept.properties.pop("toy_owner")


def runs() -> list[tuple[Property, Run]]:
    concepts = {id(named.scope.concept): named.scope.concept for named in SCOPES}
    return [(concept.properties[run.property], run) for concept in concepts.values() for run in concept.runs.values()]


@pytest.mark.parametrize(("declared", "run"), runs(), ids=lambda value: value.name)
def test_a_premise_is_needed_for_all_constants(prover: Prover, declared: Property, run: Run) -> None:
    assert prover.tightness(declared, run).outcome is Outcome.HOLDS


def test_a_run_that_breaks_nothing_is_not_proved(prover: Prover) -> None:
    declared, run = next((p, r) for p, r in runs() if r.name == "the_answer_is_late")
    assert prover.tightness(declared, replace(run, steps=run.steps[:-1])).outcome is Outcome.UNKNOWN


def test_a_run_that_cannot_be_taken_is_not_proved(prover: Prover) -> None:
    declared, run = next((p, r) for p, r in runs() if r.name == "the_answer_is_late")
    early = replace(run, steps=tuple(step for step in run.steps if step[0] != "elapse"))
    row = prover.tightness(declared, early)
    assert row.outcome is Outcome.UNKNOWN
    assert "possible the_answer_is_late under grant" in row.note


def test_a_false_claim_is_unknown_to_the_prover_never_proved(toy: Property) -> None:
    row = Prover(seeds=(0,)).verdict(toy)
    assert row.outcome is Outcome.UNKNOWN
    assert "under apply is not inductive" in row.note
    assert exit_status([row]) is ExitStatus.UNKNOWN


def test_a_counterexample_to_induction_says_whether_it_is_reachable(toy: Property, tmp_path: Path) -> None:
    row = Prover(seeds=(0,), out=tmp_path).verdict(toy)
    stored = evidence.read(tmp_path / str(row.evidence))
    assert "not reachable in group 1,2,2" in row.note or "reachable in" in row.note
    assert stored["initial"]
    assert stored["sentence"] in row.note


def test_a_counterexample_to_induction_is_shown_as_a_state(toy: Property) -> None:
    scope = SCOPES[0].scope
    found = counterexample(toy, scope)
    assert found is not None
    assert (found.obligation.part, found.obligation.action) == ("keeps", "apply")
    assert any(line.startswith("fetched[") for line in shown(found, scope))


def test_a_property_that_is_false_at_first_is_violated() -> None:
    @always(shipped="holds")
    def toy_running(s: Group) -> Bool:
        """Everybody runs."""
        return forall(s.up[m] for m in every(Member))
    declared = Group.concept.properties.pop("toy_running")
    assert Prover(seeds=(0,)).verdict(declared).outcome is Outcome.VIOLATED


def test_a_proof_of_nothing_is_unknown() -> None:
    @always(shipped="holds", given=(never("start", because="Nobody ever starts."),))
    def toy_quiet(s: Group) -> Bool:
        """Nobody holds anything."""
        return forall(~s.up[m] & ~s.holds[m, q] & ~s.fetched[m] for m, q in every(Member, Queue))
    declared = Group.concept.properties.pop("toy_quiet")
    began = time.process_time()
    row = Prover(seeds=(0,)).verdict(declared)
    assert row.outcome is Outcome.UNKNOWN
    assert "perhaps of nothing" in row.note
    assert time.process_time() - began < 5, "no scope is searched for a run that cannot be"


def test_a_scope_is_searched_once_for_what_the_premises_leave_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[list[str]] = []
    plain = witnesses._explored

    def noted(scope: Scope, claims: Sequence[Property], *, until_decided: bool) -> Exploration | None:
        searched.append([claim.name for claim in claims])
        return plain(scope, claims, until_decided=until_decided)

    monkeypatch.setattr(witnesses, "_explored", noted)
    known = witnesses.Witnesses([named.scope for named in SCOPES if named.scope.concept is Group.concept])
    for name in ("only_the_living_hold", "one_owner_when_settled"):
        assert known.unseen(Group.concept, PROPERTIES[name].given, ["start", "fetch"]) == []
    assert [sorted(names) for names in searched] == [["fetch happens", "start happens"]]
    assert known.unseen(Group.concept, (), ["apply"]) == []
    assert searched[1:] == [["apply happens"]], "what was not asked of the scope is asked now"


def test_what_is_dead_and_what_is_not() -> None:
    quiet = (never("start", because="Nobody ever starts."),)
    assert dead(Group.concept, (), Group.concept.actions, 2_000) == set()
    assert dead(Group.concept, quiet, Group.concept.actions, 2_000) >= {"fetch", "apply", "crash"}


def test_a_mutation_that_the_proof_does_not_notice_is_unknown() -> None:
    @always(shipped="holds", broken_by=(drop_guard("start", 0),))
    def toy_dead(s: Group) -> Bool:
        """What does not run holds nothing."""
        return forall((~s.up[m]).implies(~s.holds[m, q]) for m, q in every(Member, Queue))
    declared = Group.concept.properties.pop("toy_dead")
    row = Prover(seeds=(0,)).verdict(declared)
    assert row.outcome is Outcome.UNKNOWN
    assert "start without guard 0" in row.note


def test_a_time_out_is_unknown() -> None:
    x, y, z = z3.Ints("x y z")
    hard = [x > 2, y > 2, z > 2, x * x * x + y * y * y == z * z * z]
    assert satisfiable(hard, (0,), timeout_ms=1).answer is Answer.UNKNOWN


def test_seeds_that_disagree_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([z3.unsat, z3.sat])
    monkeypatch.setattr(z3.Solver, "check", lambda _self: next(answers))
    monkeypatch.setattr(z3.Solver, "model", lambda _self: None)
    solved = prove([], z3.BoolVal(True), (0, 1))
    assert solved.answer is Answer.UNKNOWN
    assert "disagree" in solved.reason


def test_mutations_say_what_they_do() -> None:
    assert str(Mutation("elapse", guard=0)) == "elapse without guard 0"
    assert Mutation("run", guard=0).applied(Convergence.concept.actions["run"]).guards == ()
