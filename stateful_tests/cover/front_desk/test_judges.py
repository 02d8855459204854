"""The commands of single judges: what they print, write, and leave with."""

from __future__ import annotations

from pathlib import Path

import pytest

from invariants.concepts import PROPERTIES
from invariants.verdict import Outcome
from stateful_tests.cover.front_desk.commands import one_line, rows, run


def test_explore_judges_the_scope_itself_too(tmp_path: Path) -> None:
    result = run("explore", "abandoned lock, U6", "--json", tmp_path / "rows.jsonl", "--out", tmp_path)
    found = {row.property: row for row in rows((tmp_path / "rows.jsonl").read_text(encoding="utf-8"))}
    assert result.exit_code == 0
    assert found["state_space_is_pinned"].outcome is Outcome.HOLDS
    assert found["abandoned_lock_is_freed"].hazard == ("U6",)
    assert found["abandoned_lock_is_freed"].cost["states"] == 41
    assert "U6" in result.stdout


def test_a_search_that_reaches_its_memory_bound_is_unknown() -> None:
    result = run("explore", "order lock, D8", "--memory-bytes", "100000")
    assert result.exit_code == 3
    assert "bound of 100000 bytes" in result.stdout


def test_planted_bugs_are_found() -> None:
    result = run("explore", "--twins", "--property", "abandoned_lock_is_freed")
    assert result.exit_code == 0
    planted = len(PROPERTIES["abandoned_lock_is_freed"].broken_by)
    assert planted > 0
    assert f"{planted} of {planted} planted mutations noticed" in result.stdout


@pytest.mark.parametrize(("command", "said"), [
    (["explore", "grup"], "did you mean 'group 1,2,2'"),
    (["explore", "nowhere"], "names begin with group, running group, convergence, registration,"),
    (["explore", "group99"], "did you mean 'group 1,2,2' or 'group 2,2,2' or 'group 2,3,2'?"),
    (["list", "one_owner_per_quue"], "did you mean 'one_owner_per_queue'"),
    (["list", "rule", "xyzzy"], "nothing in the list has 'rule' and 'xyzzy'"),
    (["campaign", "--workload", "broadcasting", "--property", "one_lock_holder"], "no workload of this campaign is"),
    (["explore", "routes", "--property", "one_owner_per_queue"], "is not judged in routes"),
    (["prove", "one_owner_per_queue"], "no proof is claimed of one_owner_per_queue"),
    (["check", "allocation"], "say what to check: --python MODULE:CLASS"),
    (["check", "allocation", "--python", "no_such_module:Strategy"], "no_such_module"),
    (["check", "allocation", "--java", "nowhere.jar", "--class", "a.B"], "nowhere.jar does not exist"),
    (["conform", "--vectors", "/nowhere"], "/nowhere: no such directory"),
    (["conform", "--file", "nonsense"], "no recording 'nonsense'"),
    (["campaign", "--workload", "nothing"], "no workload 'nothing'"),
    (["kill-matrix", "--variant", "nothing"], "no subject 'nothing': say shipped"),
    (["campaign", "--variant", "/proc/version"], "/proc/version is no Python file: give one that ends with .py"),
    (["campaign", "--variant", "folder/nothing"], "no file folder/nothing: give the path of a Python file"),
    (["campaign", "--decisions", "--minutes", "0"], "give a number above 0"),
    (["replay", "/nowhere.json"], "cannot be read"),
    (["report", "/nowhere"], "no such directory"),
    (["verify", "--json", "/proc/nowhere/rows.jsonl"], "cannot be written"),
    (["verify", "--out", "/proc/nowhere"], "cannot be written"),
])
def test_bad_input_is_answered_in_one_line(
    command: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*command)
    assert result.exit_code == 2
    assert said in one_line(result.stderr)
    assert result.stdout == ""


def test_prove_proves_protocols_and_decisions_with_as_many_seeds_as_asked() -> None:
    result = run("prove", "abandoned_lock_is_freed", "--property", "circle_is_total", "--seeds", "2", "--json", "-")
    protocol, decision = rows(result.stdout)
    assert result.exit_code == 0
    assert (protocol.property, decision.property) == ("abandoned_lock_is_freed", "allocation_is_total")
    assert decision.subject.details["claim"] == "circle_is_total"
    assert {row.outcome for row in (protocol, decision)} == {Outcome.HOLDS}


def test_conform_prints_rows_compared_and_different_per_file() -> None:
    result = run("conform", "--file", "allocation-names", "--file", "delay-levels")
    assert result.exit_code == 0
    assert "allocation-names.jsonl" in result.stdout
    assert "0 different" in result.stdout.replace("\N{NO-BREAK SPACE}", " ")
