"""A folder collects the rows and the evidence of the commands that write there."""

from __future__ import annotations

import json
from pathlib import Path

from spark_fuzz.histories.judge import FINDINGS
from stateful_tests.cover.front_desk.commands import one_line, rows, run

U6 = ["explore", "abandoned lock, U6", "--property", "abandoned_lock_is_freed"]
PREMISE = ["explore", "abandoned lock", "--property", "it_took_the_whole_lease"]


def test_a_folder_keeps_the_rows_of_the_commands_that_write_there(tmp_path: Path) -> None:
    for command in (U6, PREMISE, U6):
        assert run(*command, "--out", tmp_path).exit_code == 0
    found = rows((tmp_path / "verdicts.jsonl").read_text(encoding="utf-8"))
    assert [row.property for row in found] == ["it_took_the_whole_lease", "abandoned_lock_is_freed"]
    assert (tmp_path / str(found[1].evidence)).is_file()
    assert run("report", tmp_path).exit_code == 0


def test_a_machine_leaves_a_folder_that_can_be_reported(tmp_path: Path) -> None:
    program = "stand_still(who='consumer1', s=5); start(who='consumer2')"
    command = ["machine", "consumer_group", "--subject", "shipped", "--program", program]
    assert run(*command, "--out", tmp_path).exit_code == 0
    assert run("report", tmp_path).exit_code == 0
    assert "one_owner_per_queue" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_judged_history_leaves_a_folder_that_can_be_reported(tmp_path: Path) -> None:
    history = tmp_path / "history.jsonl"
    assert run("history", "--operations", "500", "--fault", "lost", "--out", history).exit_code == 0
    assert run("judge", history, "--out", tmp_path / "out").exit_code == 1
    finding = json.loads((tmp_path / "out" / FINDINGS).read_text(encoding="utf-8"))
    assert run("report", tmp_path / "out").exit_code == 0
    assert finding["sentence"].rstrip(".") in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_rows_that_a_file_in_the_folder_has_are_not_written_twice(tmp_path: Path) -> None:
    assert run(*PREMISE, "--out", tmp_path, "--json", tmp_path / "rows.jsonl").exit_code == 0
    assert not (tmp_path / "verdicts.jsonl").exists()
    assert run(*PREMISE, "--out", tmp_path / "all", "--json", tmp_path / "rows.jsonl").exit_code == 0
    assert (tmp_path / "all" / "verdicts.jsonl").read_text("utf-8") == (tmp_path / "rows.jsonl").read_text("utf-8")


def test_a_folder_with_something_else_in_its_rows_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "verdicts.jsonl").write_text("mine\n", encoding="utf-8")
    result = run(*PREMISE, "--out", tmp_path)
    assert result.exit_code == 2
    assert "not a verdict row" in one_line(result.stderr)
    assert (tmp_path / "verdicts.jsonl").read_text(encoding="utf-8") == "mine\n"
