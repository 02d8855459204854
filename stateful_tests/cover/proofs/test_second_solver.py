"""cvc5 as a second opinion: the same rows; what it cannot tell is unknown; a false obligation is refuted by it, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from invariants.__main__ import app
from invariants.claim import CLAIMS
from invariants.concepts import PROPERTIES
from invariants.verdict import Outcome, Verdict
from model.language import Property
from model.language.own import load
from proofs import cvc5_paths, cvc5_solver
from proofs.cvc5_paths import PathsByCvc5
from proofs.cvc5_solver import Obligations
from proofs.decisions import prove_claim
from proofs.obligations import Induction, Obligation
from proofs.prove import Prover
from proofs.solve import Answer
from proofs.solvers import Cvc5
from proofs.terms import negation, truth
from proofs.written import Written

SOME = ("list_is_exactly_the_living", "one_owner_when_settled", "one_live_believer", "heartbeat_is_idempotent")
CONCEPTS = Path(__file__).parents[1] / "fooled" / "concepts"


def prover(timeout_ms: int = 5_000, **options: object) -> Prover:
    return Prover((0,), timeout_ms, solver=Cvc5((0,), timeout_ms), **options)  # type: ignore[arg-type]


def rows(*names: str) -> list[Verdict]:
    return list(prover().judge(p for p in PROPERTIES.values() if p.name in names))


def test_it_proves_the_same_rows_and_says_who_did() -> None:
    found = rows(*SOME)
    assert [row.property for row in found] == [
        row.property for row in Prover((0,)).judge(p for p in PROPERTIES.values() if p.name in SOME)]
    assert {row.outcome for row in found} == {Outcome.HOLDS}
    for row in found:
        assert row.subject.details["solver"] == "cvc5"
        assert row.cost["cvc5_seconds"] > 0


def obligations(declared: Property) -> tuple[Written, list[Obligation]]:
    reading = Written(declared.concept)
    return reading, [*Induction(reading, declared.given).of(declared)]


@pytest.mark.parametrize("name", ["one_owner_when_settled", "pull_finds_its_subscription"])
def test_what_is_proved_is_not_proved_when_it_is_denied(name: str) -> None:
    """A reader that loses the assumptions, or the goal, would prove both."""
    reading, owed = obligations(PROPERTIES[name])
    asker = Obligations(reading, (0,), 1_000)
    for one in owed:
        assert asker.asked(one).answer is Answer.PROVED
    denied = Obligation(owed[0].part, name, "", owed[0].assumed, owed[0].hypotheses, negation(owed[0].goal))
    assert asker.asked(denied).answer is not Answer.PROVED


def test_a_set_means_what_its_description_says() -> None:
    """Without the definitions nothing follows from the name of a set."""
    reading, owed = obligations(PROPERTIES["ownership_converges"])
    asker = Obligations(reading, (0,), 500)
    assert all(asker.asked(one).answer is Answer.PROVED for one in owed)
    reading.definitions = dict.fromkeys(reading.definitions, truth(True, reading.context))
    asker = Obligations(reading, (0,), 500)
    assert not all(asker.asked(one).answer is Answer.PROVED for one in owed)


def test_every_seed_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    plain = cvc5_solver.Session.asked

    def noted(self: cvc5_solver.Session, formulas: object, seed: int, *rest: object) -> object:
        asked.append(seed)
        return plain(self, formulas, seed, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(cvc5_solver.Session, "asked", noted)
    reading, owed = obligations(PROPERTIES["one_live_believer"])
    assert Obligations(reading, (3, 4), 1_000).asked(owed[0]).answer is Answer.PROVED
    assert asked == [3, 4]


@pytest.mark.parametrize("path", sorted(CONCEPTS.glob("*.py")), ids=lambda path: path.stem)
def test_what_was_made_to_fool_the_prover_does_not_fool_it_either(path: Path) -> None:
    own = load(path)
    found = [row for concept in own.concepts
             for row in prover(300, scopes=own.scopes).judge(concept.properties.values())]
    expected = getattr(own.module, "PROVE", {})
    for row in found:
        if row.property in expected:
            assert row.outcome == expected[row.property].partition(":")[0], row.note


def test_decisions_are_proved_and_refuted_with_the_same_counterexample() -> None:
    for name in ("averagely_is_total", "position_is_in_range", "averagely_moves_minimally"):
        ours, theirs = (prove_claim(CLAIMS[name], (0,), **solver).verdict  # type: ignore[arg-type]
                        for solver in ({}, {"solver": PathsByCvc5()}))
        assert (ours.outcome, ours.note) == (theirs.outcome, theirs.note)
        assert theirs.cost["cvc5_seconds"] > 0


def test_a_decision_that_it_leaves_open_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cvc5_paths, "EFFORT", {"rlimit-per": "1"})
    assert prove_claim(CLAIMS["averagely_is_total"], (0,), solver=PathsByCvc5()).verdict.outcome is Outcome.UNKNOWN


def test_the_command_takes_it() -> None:
    words = ["prove", "--solver", "cvc5", "--seeds", "1", "one_live_believer", "averagely_is_exclusive"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "cvc5 " in result.stdout
    assert CliRunner().invoke(app, ["prove", "--solver", "vampire"]).exit_code == 2
