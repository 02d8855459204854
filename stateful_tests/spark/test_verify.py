"""`rocketproof verify` ends with campaigns, if it is given time for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from invariants.verdict import Outcome, Verdict


def test_worlds_of_the_repaired_rocketmq_are_a_judge_of_verify(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "invariants", "verify", "one_lock_holder", "--campaign-seconds", "0.001",
               "--out", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own command
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = [Verdict.from_json(line) for line in (tmp_path / "verdicts.jsonl").read_text("utf-8").splitlines()]
    (row,) = [one for one in found if one.judge == "campaign"]
    assert (row.property, row.subject.name, row.outcome) == ("one_lock_holder", "repaired", Outcome.HOLDS)
    assert row.cost["runs"] > 0
    assert not (tmp_path / "campaign-worlds" / "verdicts.jsonl").exists()
    assert "new states" in (tmp_path / "report.html").read_text("utf-8")
