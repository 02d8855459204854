"""`replay` runs the evidence of every judge again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from invariants import evidence
from invariants.verdict import Outcome
from stateful_tests.cover.front_desk.commands import one_line, rows, run


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Evidence of a small scope: a trace, and the graph of its states."""
    folder = tmp_path_factory.mktemp("searched")
    assert run("explore", "abandoned lock, U6", "--out", folder).exit_code == 0
    return folder / "evidence"


def test_a_trace_is_run_again_step_by_step(searched: Path) -> None:
    result = run("replay", searched / "explore-abandoned-lock-U6-abandoned-lock-is-freed.json", "--json", "-")
    (row,) = rows(result.stdout)
    assert result.exit_code == 0
    assert row.outcome is Outcome.VIOLATED
    assert "confirmed: abandoned_lock_is_freed is violated again" in result.stderr


def test_a_trace_that_no_longer_ends_in_a_violation_is_not_confirmed(searched: Path, tmp_path: Path) -> None:
    document = evidence.read(searched / "explore-abandoned-lock-U6-abandoned-lock-is-freed.json")
    evidence.write(tmp_path / "cut.json", {**document, "steps": document["steps"][:-1]})
    result = run("replay", tmp_path / "cut.json")
    assert result.exit_code == 1
    assert "not confirmed" in result.stdout


def test_a_graph_is_drawn_again(searched: Path, tmp_path: Path) -> None:
    file = searched / "explore-abandoned-lock-U6-state-space-is-pinned.json"
    assert run("replay", file).exit_code == 0
    document = evidence.read(file)
    evidence.write(tmp_path / "less.json", {**document, "edges": document["edges"][1:]})
    assert run("replay", tmp_path / "less.json").exit_code == 1


@pytest.mark.parametrize("change", [
    {"kind": "picture"}, {"subject": {"kind": "model", "name": "no such scope", "details": {}}}, {"initial": 3},
    {"steps": [{"action": "fly"}]}, {"property": "no_such_property"}, {"subject": None},
])
def test_evidence_that_cannot_be_run_is_bad_input(searched: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    document = evidence.read(searched / "explore-abandoned-lock-U6-abandoned-lock-is-freed.json")
    evidence.write(tmp_path / "changed.json", {**document, **change})
    result = run("replay", tmp_path / "changed.json")
    assert result.exit_code == 2
    assert one_line(result.stderr)


def recording(folder: Path, *answers: dict[str, Any]) -> None:
    header = {"what": "names", "java": "getName", "version": "4.9.3", "args": "a", "result": "r", "errors": ""}
    lines = [header, *({"a": "AllocateMessageQueueAveragely", **answer} for answer in answers)]
    (folder / "allocation-names.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def test_a_row_that_differs_is_compared_again(tmp_path: Path) -> None:
    recording(tmp_path, {"r": "AVG"}, {"r": "CIRCLE"})
    assert run("conform", "--vectors", tmp_path, "--out", tmp_path / "out").exit_code == 1
    file = tmp_path / "out" / "evidence" / "conform-allocation-names.json"
    again = run("replay", file)
    assert again.exit_code == 0
    assert "confirmed: conforms_to_recordings is violated again" in again.stdout
    assert 'expected {"r": "CIRCLE"}, got {"r": "AVG"}' in again.stdout
    (tmp_path / "allocation-names.jsonl").unlink()
    assert run("replay", file).exit_code == 0, "the evidence carries the row"
    recording(tmp_path, {"r": "AVG"}, {"r": "AVG"})
    assert run("replay", file).exit_code == 1


def test_a_row_that_was_not_understood_is_unknown_again(tmp_path: Path) -> None:
    header = {"what": "names", "java": "getName", "version": "4.9.3"}
    text = f"{json.dumps(header)}\n" + json.dumps({"a": "NoSuchStrategy", "r": "AVG"})
    (tmp_path / "allocation-names.jsonl").write_text(text, encoding="utf-8")
    assert run("conform", "--vectors", tmp_path, "--out", tmp_path).exit_code == 3
    assert run("replay", tmp_path / "evidence" / "conform-allocation-names.json").exit_code == 0


@pytest.mark.parametrize(("answer", "status"), [(0, 1), (1, 0)])
def test_an_answer_of_the_live_comparison_is_compared_again(tmp_path: Path, answer: int, status: int) -> None:
    arguments = {"strategy": {"strategy": "AVG"}, "group": "g", "cid": "a", "cidAll": ["a", "b"],
                 "mqAll": [["T", "x", 0], ["T", "x", 1]]}
    stored = {"format": evidence.FORMAT, "kind": "counterexample", "property": "answers_as_rocketmq",
              "judge": "conform",
              "subject": {"kind": "implementation", "name": "AllocateMessageQueueAveragely", "details": {}},
              "replay": "", "sentence": "", "arguments": arguments,
              "results": {"RocketMQ 4.9.3": {"r": [["T", "x", answer]]}}}
    evidence.write(tmp_path / "live.json", stored)
    assert run("replay", tmp_path / "live.json").exit_code == status


def test_several_files_are_replayed_by_one_command(searched: Path, tmp_path: Path) -> None:
    good = searched / "explore-abandoned-lock-U6-abandoned-lock-is-freed.json"
    document = evidence.read(good)
    evidence.write(tmp_path / "cut.json", {**document, "steps": document["steps"][:-1]})
    both = run("replay", good, tmp_path / "cut.json", "--json", "-")
    assert [row.outcome for row in rows(both.stdout)] == [Outcome.VIOLATED, Outcome.HOLDS]
    assert (both.exit_code, run("replay", good, good).exit_code) == (1, 0)
    bad = run("replay", tmp_path / "none.json", good)
    assert bad.exit_code == 2
    assert "confirmed: abandoned_lock_is_freed" in bad.stdout
    assert "none.json: cannot be read" in one_line(bad.stderr)
