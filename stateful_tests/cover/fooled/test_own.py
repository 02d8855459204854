"""Concepts of a user's own: the skeleton runs, evidence is replayed, an error is one line with place and cure."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from invariants.__main__ import app
from stateful_tests.standard_error import beside_progress


@pytest.fixture
def lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert run("new", "concept", "lease.py").exit_code == 0
    return Path("lease.py")


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def changed(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def test_the_skeleton_is_proved_and_searched(lease: Path) -> None:
    for judge in ("prove", "explore"):
        result = run(judge, lease)
        assert (result.exit_code, "one_live_client" in result.stdout) == (0, True), result.stdout


def test_one_property_of_a_file(lease: Path) -> None:
    for judge in ("prove", "explore"):
        result = run(judge, lease, "--property", "one_live_client")
        assert result.exit_code == 0
        assert "beliefs_are_granted" not in result.stdout


def test_a_violation_is_replayed(lease: Path, tmp_path: Path) -> None:
    changed(lease, "require(~s.granted | (s.period < s.age))", "require(~s.granted | (s.period <= s.age))")
    result = run("explore", lease, "--out", "out", "--property", "one_live_client")
    assert result.exit_code == 1
    (evidence,) = (tmp_path / "out" / "evidence").glob("*.json")
    replayed = run("replay", evidence)
    assert "confirmed" in replayed.stdout, replayed.stdout + replayed.stderr
    proved = run("prove", lease, "one_live_client")
    assert proved.exit_code == 3


def test_faults_that_a_file_names_are_planted_and_replayed(lease: Path, tmp_path: Path) -> None:
    result = run("explore", lease, "--twins", "--out", "out")
    assert result.exit_code == 0, result.stdout + result.stderr
    assert "1 of 1 planted mutation noticed" in result.stdout
    (evidence,) = (tmp_path / "out" / "evidence").glob("*.json")
    assert "confirmed" in run("replay", evidence).stdout
    both = run("explore", lease, "two clients", "--twins", "--json", "rows.jsonl")
    assert (both.exit_code, "well_defined" in both.stdout, "planted" in both.stdout) == (0, True, True)
    rows = (tmp_path / "rows.jsonl").read_text("utf-8")
    assert f"rocketproof explore '{lease}' --twins --property one_live_client" in rows


def test_a_planted_fault_that_no_search_notices_differs(lease: Path) -> None:
    changed(lease, 'drop_guard("grant", 0)', 'drop_guard("forget", 0)')
    assert run("explore", lease, "--twins").exit_code == 1
    changed(lease, 'broken_by=(drop_guard("forget", 0),)', "broken_by=()")
    result = run("explore", lease, "--twins")
    assert (result.exit_code, "no mutation is named" in result.stderr) == (2, True)


@pytest.mark.parametrize(("old", "new", "line"), [
    ("~s.granted | (s", "s.granted or (s", "lease.py:42: in grant: s.granted or (s.period < s.age): a formula is not"),
    ("class Ms(Nat", "class Ms(Nut", "lease.py:18: NameError: name 'Nut' is not defined; correct the line"),
    ("def grant(", "def grant((", "lease.py:40:"),
    ('{"period": 1}', '{"periods": 1}', "lease.py:89: Lease has no constant or rigid function periods"),
    ("scopes = [", "scopes = [3, ", "lease.py: scopes: no list of scopes"),
])
def test_an_error_is_one_line_with_place_and_cure(lease: Path, old: str, new: str, line: str) -> None:
    changed(lease, old, new)
    for judge in ("prove", "explore"):
        result = run(judge, lease)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"rocketproof: {line}")
        assert len(beside_progress(result.stderr)) == 1
        assert "; " in result.stderr


@pytest.mark.parametrize(("words", "line"), [
    (["prove", "none.py"], "none.py: no such file; `rocketproof new concept none.py` writes one that runs"),
    (["prove", "lease.py", "nothing"], "lease.py has no property nothing; it has beliefs_are_granted"),
    (["prove", "lease.py", "it_changes_hands"], "lease.py: nothing to prove; declare"),
    (["explore", "lease.py", "three"], "lease.py has the scopes two clients; write scopes ="),
    (["explore", "lease.py", "--property", "nothing"], "lease.py has no property nothing; it has"),
    (["new", "concept", "lease.py"], "lease.py: File exists; give a file"),
    (["new", "concept", "lease"], "lease: no Python file; call it lease.py"),
])
def test_bad_input_is_one_line(lease: Path, words: list[str], line: str) -> None:
    assert lease.exists()
    result = run(*words)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"rocketproof: {line}")
