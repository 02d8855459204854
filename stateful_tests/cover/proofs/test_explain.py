"""What a proof leans on: nothing that is needed is left out, what is not needed is not listed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from invariants.__main__ import app
from invariants.concepts import PROPERTIES
from proofs.explain import Explanation, explanation, lines
from proofs.obligations import Induction
from proofs.ranking import owed
from proofs.solve import Answer
from proofs.solvers import Z3


@pytest.fixture(scope="module")
def pulls() -> Explanation:
    return explanation(PROPERTIES["pull_finds_its_subscription"])


def names(found: Explanation, kind: str) -> set[str]:
    return {called.name for called, _ in found.uses(kind)}


def test_premises_lemmas_and_guards_are_told(pulls: Explanation) -> None:
    assert names(pulls, "premise") == {"same_topics"}
    assert names(pulls, "lemma") >= {"everybody_adds_the_same", "threads_keep_their_plan"}
    assert pulls.unused == ["a_heartbeat_leaves_its_mark"]
    assert ("turn 1", "phase[m] = ADDING") in {(called.name, called.text) for called, _ in pulls.uses("guard")}
    assert pulls.open == []
    text = "\n".join(lines(pulls))
    assert "same_topics" in text
    assert "keeps everybody_adds_the_same under" in text


def proved_without(pulls: Explanation, lemma: str) -> bool:
    """Whether the property and the lemmas that it leans on are still proved, with one lemma less to lean on."""
    declared = pulls.declared
    reading, asker = Z3((0,), 5_000).asker(declared.concept, "")
    induction = Induction(reading, declared.given)
    used = [one for one in induction.lemmas if one.name in names(pulls, "lemma")]
    induction.lemmas = [one for one in induction.lemmas if one.name != lemma]
    owes = [*induction.of_lemmas([one for one in used if one.name != lemma]), *owed(induction, declared)]
    return all(asker.asked(one).answer is Answer.PROVED for one in owes)


def test_what_is_not_used_is_not_needed_and_what_is_used_is(pulls: Explanation) -> None:
    assert proved_without(pulls, "a_heartbeat_leaves_its_mark")
    assert not proved_without(pulls, "everybody_adds_the_same")
    assert not proved_without(pulls, "threads_keep_their_plan")


def test_a_guard_that_is_listed_is_needed(pulls: Explanation) -> None:
    declared = pulls.declared
    reading, asker = Z3((0,), 5_000).asker(declared.concept, "")
    induction = Induction(reading, declared.given)
    turn = declared.concept.actions["turn"]
    induction.actions = [replace(turn, guards=turn.guards[1:])]
    assert not all(asker.asked(one).answer is Answer.PROVED for one in induction.of_lemmas(induction.lemmas))


def test_what_cannot_be_proved_again_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofs.explain.FIRST", 1)
    found = explanation(PROPERTIES["pull_finds_its_subscription"])
    assert found.open
    assert "not proved again in the time" in "\n".join(lines(found))


def run(*words: str) -> Result:
    return CliRunner().invoke(app, [*words])


def test_the_command_tells_and_the_page_shows_and_replay_confirms(tmp_path: Path) -> None:
    result = run("prove", "--explain", "--seeds", "1", "pull_finds_its_subscription", "--out", str(tmp_path))
    assert result.exit_code == 0
    assert "lemmas that are not used" in result.stdout
    (evidence,) = (tmp_path / "evidence").glob("proof-*.json")
    assert "confirmed" in run("replay", str(evidence)).stdout
    assert run("report", str(tmp_path)).exit_code == 0
    assert "threads_<wbr>keep_<wbr>their_<wbr>plan" in (tmp_path / "report.html").read_text("utf-8")
