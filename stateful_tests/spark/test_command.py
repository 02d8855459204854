from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext, suppress
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from invariants.__main__ import app as front_desk
from invariants.front_desk import ticking
from invariants.front_desk.desk import CRASHED
from invariants.verdict import Outcome, Verdict
from spark_fuzz import commands, progress
from spark_fuzz.__main__ import app
from spark_fuzz.campaign import Progress
from spark_fuzz.cluster import Cluster
from spark_fuzz.crew import ClusterLostError, Crew, Done
from stateful_tests.spark.processes import gone

BROKEN = "stateful_tests.spark.toys:BROKEN"


@pytest.fixture(autouse=True)
def _one_spark(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command uses the session's Spark where a test has it."""
    if "cluster" in request.fixturenames:
        running = request.getfixturevalue("cluster")
        monkeypatch.setattr(commands, "open_cluster", lambda *_: nullcontext(running))


def told(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["--decisions", *arguments])


def test_as_expected_is_0_and_the_table_replays_every_hazard(cluster: Cluster, tmp_path: Path) -> None:
    assert cluster.cores
    result = told("--out", str(tmp_path), "--units", "37", "--json", str(tmp_path / "rows.jsonl"), "--all")
    assert result.exit_code == 0, result.output
    text = (tmp_path / "rows.jsonl").read_text(encoding="utf-8")
    assert text == (tmp_path / "verdicts.jsonl").read_text(encoding="utf-8")
    rows = [Verdict.from_json(line) for line in text.splitlines()]
    assert all(row.as_expected for row in rows)
    violated = {(row.property, row.hazard) for row in rows if row.outcome == "violated"}
    replayed = {(row.property, row.hazard) for row in rows if row.outcome == "violated" and row.replay in result.output}
    assert len(violated) > 10
    assert violated == replayed


def test_something_different_is_1(cluster: Cluster, tmp_path: Path) -> None:
    assert cluster.cores
    result = told("--out", str(tmp_path), "--units", "2", "--strategies", BROKEN)
    assert result.exit_code == 1
    assert "5 queues, 3 members: T/b:4 has no owner" in result.output


def test_something_unknown_is_3(cluster: Cluster, tmp_path: Path) -> None:
    assert cluster.cores
    result = told("--out", str(tmp_path), "--units", "1")
    assert result.exit_code == 3
    assert "not reached in the time given" in result.output


def test_a_spark_that_is_lost_is_3_and_keeps_the_verdicts(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lost(*_arguments: object) -> None:
        raise ClusterLostError("Spark ended while it worked; give the same command again to go on")

    assert cluster.cores
    assert told("--out", str(tmp_path), "--units", "1").exit_code == 3
    kept = (tmp_path / "verdicts.jsonl").read_text(encoding="utf-8")
    monkeypatch.setattr(Crew, "take", lost)
    result = told("--out", str(tmp_path), "--json", "-")
    assert result.exit_code == 3
    assert "rocketproof: Spark ended while it worked" in result.stderr
    assert result.stdout == kept == (tmp_path / "verdicts.jsonl").read_text(encoding="utf-8")


def written(file: Path) -> list[Verdict]:
    return [Verdict.from_json(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("ends", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("command", [["campaign", "--decisions"], []])
def test_rows_are_written_whatever_ends_a_campaign(
    ends: type[BaseException], command: list[str], cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_arguments: object) -> None:
        raise ends

    front = front_desk if command else app
    words = [*(command or ["--decisions"]), "--out", str(tmp_path), "--json", str(tmp_path / "rows.jsonl")]
    monkeypatch.setattr(Crew, "take", fails)
    result = CliRunner().invoke(front, words)
    assert result.exit_code == 3
    rows = [row for row in written(tmp_path / "rows.jsonl") if row.property != CRASHED]
    assert {(row.outcome, row.note) for row in rows} == {(Outcome.UNKNOWN, "not reached in the time given")}
    assert len(rows) > 90
    monkeypatch.undo()
    monkeypatch.setattr(commands, "open_cluster", lambda *_: nullcontext(cluster))
    assert told("--out", str(tmp_path), "--units", "2").exit_code == 3
    monkeypatch.setattr(Crew, "take", fails)
    assert CliRunner().invoke(front, words).exit_code == 3
    assert any(row.outcome is not Outcome.UNKNOWN for row in written(tmp_path / "rows.jsonl"))


@pytest.mark.parametrize("command", [["invariants", "campaign"], ["invariants", "kill-matrix"], ["spark_fuzz"]])
def test_who_is_terminated_while_spark_starts_tells_what_it_does_and_writes_rows(
    command: list[str], tmp_path: Path,
) -> None:
    options = ["--out", str(tmp_path / "out"), "--json", str(tmp_path / "rows.jsonl")]
    process = subprocess.Popen(  # noqa: S603 - this Python
        [sys.executable, "-u", "-m", *command, *options], env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stdout is not None
    told = process.stdout if command == ["spark_fuzz"] else process.stderr
    name = "kill-matrix" if "kill-matrix" in command else "campaign"
    line = told.readline()
    process.send_signal(signal.SIGTERM)  # before anything is asserted: nothing is to go on
    _, err = process.communicate(timeout=60)
    assert line.startswith(f"{name}: 0 s | starting Spark")
    assert process.returncode == 3, err
    assert "interrupted" in err
    assert "Traceback" not in err
    rows = written(tmp_path / "rows.jsonl")
    assert rows
    assert {row.outcome for row in rows} == {Outcome.UNKNOWN}
    assert gone(str(tmp_path), 20)


def test_a_ctrl_c_that_is_swallowed_is_heard_later(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    swallowed: list[int] = []
    take = Crew.take

    def swallows(self: Crew, wait_s: float) -> list[Done]:
        if not swallowed:
            swallowed.append(1)
            with suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        return take(self, wait_s)

    monkeypatch.setattr(Crew, "take", swallows)
    result = told("--out", str(tmp_path), "--minutes", "0.3", "--json", str(tmp_path / "rows.jsonl"))
    assert swallowed
    assert (cluster.cores > 0, result.exit_code) == (True, 3)
    assert "interrupted; what was found is kept" in result.stderr
    assert written(tmp_path / "rows.jsonl")


def test_where_nothing_can_move_a_line_is_told_every_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    text = StringIO()
    monkeypatch.setattr(ticking, "EVERY_S", 0.05)
    screen = progress.Screen(Console(file=text, width=200), "compare")
    with screen.shown():
        time.sleep(0.2)
        screen.meanwhile(3)
        time.sleep(0.2)
        screen.stored(Progress(3, 7, 7, 2.0, [], "pairs", so_far="so far no difference"), 60.0)
        time.sleep(0.2)
    lines = text.getvalue().splitlines()
    assert lines[0] == "compare: 0 s | starting Spark"
    assert "compare: 0 s | 3 units" in lines
    assert lines[-1] == "compare: 2 s of 60 s | 3 units | 7 pairs | 3.5/s | so far no difference"
    assert len(lines) > 3


def refused(*arguments: str) -> str:
    """The one line of a command that ends with 2."""
    result = told(*arguments)
    assert result.exit_code == 2, result.output
    lines = [line for line in result.stderr.splitlines() if line.startswith("rocketproof: ")]
    assert len(lines) == 1
    assert "Traceback" not in result.output
    return lines[0]


@pytest.mark.parametrize(("arguments", "line"), [
    (["--minutes", "0"], "--minutes 0.0: give a number above 0"),
    (["--minutes", "nan"], "--minutes nan: give a number above 0"),
    (["--master", "lokal"], "--master lokal: not a master; give local[*]"),
    (["--master", "spark://127.0.0.1:1"], "--master spark://127.0.0.1:1: nothing answers there; start the master"),
    (["--strategies", "nowhere:TABLE"], "nowhere:TABLE: no table of strategies"),
])
def test_bad_input_is_2_and_says_what_to_do(arguments: list[str], line: str, tmp_path: Path) -> None:
    assert line in refused(*arguments, "--out", str(tmp_path / "out"))


def test_a_folder_of_another_version_is_2_and_its_verdicts_stay(tmp_path: Path) -> None:
    header = {"campaign": "x", "format": "rocketproof-campaign/1", "python": "3.11", "seed": 0, "version": "old"}
    (tmp_path / "campaign.json").write_text(json.dumps(header), encoding="utf-8")
    (tmp_path / "verdicts.jsonl").write_text("kept\n", encoding="utf-8")
    assert "version old, now" in refused("--out", str(tmp_path))
    assert (tmp_path / "verdicts.jsonl").read_text(encoding="utf-8") == "kept\n"


def test_a_folder_and_a_file_that_cannot_be_written_are_2(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert "cannot be written" in refused("--out", str(tmp_path / "file" / "below"))
    assert "cannot be written" in refused("--json", str(tmp_path / "file" / "below"), "--out", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_java_that_cannot_start_is_2_with_its_own_words_and_leaves_no_process(tmp_path: Path) -> None:
    java = tmp_path / "home" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'Error: no such virtual machine' >&2\nexit 1\n", encoding="utf-8")
    java.chmod(0o755)
    done = subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-m", "spark_fuzz", "--decisions", "--out", str(tmp_path / "out")],
        env={**os.environ, "JAVA_HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path)},
        capture_output=True, text=True, check=False, timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "rocketproof: Spark does not start: Error: no such virtual machine"
    assert gone(str(tmp_path), 5)
