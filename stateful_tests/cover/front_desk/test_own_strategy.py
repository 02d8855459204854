"""`check allocation`: a user's own strategy."""

from __future__ import annotations

from pathlib import Path

import pytest

from invariants.verdict import Outcome
from stateful_tests.cover.front_desk.commands import rows, run

GREEDY = """
class Greedy:
    def allocate(self, consumer_group, current_cid, mq_all, cid_all):
        return {answer}
"""


def strategy(folder: Path, answer: str) -> None:
    (folder / "desk_strategy.py").write_text(GREEDY.format(answer=answer), encoding="utf-8")


def test_a_broken_strategy_is_refuted_and_its_counterexample_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    strategy(tmp_path, "mq_all")
    sizes = ["--queues", "3", "--members", "2", "--examples", "5"]
    files = ["--out", "found", "--json", "rows.jsonl"]
    result = run("check", "allocation", "--python", "desk_strategy:Greedy", *sizes, *files)
    found = {row.property: row for row in rows((tmp_path / "rows.jsonl").read_text(encoding="utf-8"))}
    assert result.exit_code == 1
    exclusive = found["allocation_is_exclusive"]
    assert exclusive.outcome is Outcome.VIOLATED
    assert exclusive.note.startswith("1 queue, 2 members")
    assert exclusive.replay in result.stdout
    again = run(*exclusive.replay.split()[1:])
    assert again.exit_code == 0
    assert "confirmed: allocation_is_exclusive is violated again" in again.stdout
    strategy(tmp_path, "mq_all[cid_all.index(current_cid)::len(cid_all)]")
    mended = run(*exclusive.replay.split()[1:])
    assert mended.exit_code == 1
    assert "not confirmed: allocation_is_exclusive was violated, and is holds now" in mended.stdout


def test_a_good_strategy_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "desk_good.py").write_text(
        GREEDY.format(answer="mq_all[cid_all.index(current_cid)::len(cid_all)]"), encoding="utf-8")
    sizes = ["--queues", "3", "--members", "2", "--examples", "5", "--property", "allocation_is_total"]
    result = run("check", "allocation", "--python", "desk_good:Greedy", *sizes, "--json", "-")
    (row,) = rows(result.stdout)
    assert result.exit_code == 0
    assert row.outcome is Outcome.HOLDS
