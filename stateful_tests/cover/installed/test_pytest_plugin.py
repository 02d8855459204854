"""Verdicts as tests of pytest: what passes, fails and is an error, whatever the command does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rocketproof import child
from stateful_tests.architecture.sources import ROOT
from stateful_tests.cover.report import samples

pytest_plugins = ["pytester"]

PLUGIN = ("-p", "rocketproof.pytest_plugin", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")
ROWS = [
    samples.row("a", "prove", "m"),
    samples.row("b", "explore", "m", "violated", expected="violated", hazard=("D1",)),
    samples.row("c", "explore", "m", "violated", expected="holds", replay="replay c", note="it does"),
    samples.row("d", "campaign", "m", "unknown", expected="holds", note="a time-out"),
    samples.row("d", "campaign", "m", "not met", expected="violated"),
]
STAND_IN = """
import json, os, signal, sys, time
with open("calls", "a") as calls:
    print(*sys.argv[1:], file=calls)
file = sys.argv[sys.argv.index("--json") + 1]
os.makedirs(os.path.dirname(file), exist_ok=True)
with open(file, "w") as rows:
    rows.write({rows!r})
{then}
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeini("[pytest]\nrocketproof =\n    judge this\n")
    return pytester


def instead(run: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, rows: list[object], then: str) -> None:
    """Let a script stand in for the command: it writes rows, and then does something."""
    text = "".join(f"{row.to_json()}\n" if isinstance(row, type(ROWS[0])) else str(row) for row in rows)
    script = run.path / "stand_in.py"
    script.write_text(STAND_IN.format(rows=text, then=then), "utf-8")
    monkeypatch.setattr(child, "PROGRAM", [sys.executable, str(script)])


def test_a_row_is_a_test_which_fails_unless_it_is_as_expected(
    run: pytest.Pytester, monkeypatch: pytest.MonkeyPatch,
) -> None:
    instead(run, monkeypatch, [*ROWS], "sys.exit(1)")
    result = run.runpytest_inprocess(*PLUGIN, "--rocketproof", "-rA")
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(["c, explore: violated, expected holds", "it does", "see it again: replay c"])
    result.stdout.fnmatch_lines(["PASSED rocketproof judge this::b?m?", "PASSED rocketproof judge this::d?m?#2",
                                 "FAILED rocketproof judge this::c?m?*", "FAILED rocketproof judge this::d?m? *"])
    assert (run.path / "calls").read_text("utf-8") == "judge this --json out/pytest/1/rows.jsonl --out out/pytest/1\n"


@pytest.mark.parametrize(("rows", "then", "said"), [
    ([ROWS[0]], "print('the end is near', flush=True); os.kill(os.getpid(), signal.SIGSEGV)", "killed by SIGSEGV"),
    ([ROWS[0]], "raise RuntimeError('the end is near')", "ends with status 1, of which no row tells"),
    ([ROWS[0]], "sys.exit(3)", "ends with status 3, of which no row tells"),
    ([], "", "gives no verdict, and ends with status 0"),
    ([], "sys.exit(2)", "ends with status 2"),
    (["{nonsense"], "", "its rows cannot be read"),
    ([ROWS[0]], "print('the end is near', flush=True); time.sleep(600)", "does not end within 3 s"),
], ids=["crash", "exception", "status", "nothing", "bad input", "nonsense", "time"])
def test_a_command_that_does_not_end_as_it_should_is_an_error(
    rows: list[object], then: str, said: str, run: pytest.Pytester, monkeypatch: pytest.MonkeyPatch,
) -> None:
    instead(run, monkeypatch, rows, then)
    monkeypatch.setattr(child, "GRACE_S", 5)
    limit = ["--rocketproof-limit-s", "3"] if "sleep" in then else []
    result = run.runpytest_inprocess(*PLUGIN, "--rocketproof", *limit)
    result.assert_outcomes(passed=1 if rows and rows[0] is ROWS[0] else 0, errors=1)
    result.stdout.fnmatch_lines([f"rocketproof judge this: *{said}*"])
    if "near" in then:
        result.stdout.fnmatch_lines(["*the end is near"])


def running() -> str:
    """The command lines of all processes."""
    return subprocess.run(["ps", "-A", "-ww", "-o", "args="], capture_output=True, text=True, check=True).stdout  # noqa: S607 - ps of the PATH


@pytest.mark.parametrize("wait", ["time.sleep(600)", ""], ids=["too slow", "over"])
def test_nothing_is_left_of_a_command(wait: str, run: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    deaf = f"""
import subprocess
signal.signal(signal.SIGINT, signal.SIG_IGN)
nowhere = subprocess.DEVNULL
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(77777)", {str(run.path)!r}],
                 stdout=nowhere, stderr=nowhere)
{wait}
"""
    instead(run, monkeypatch, [], deaf)
    monkeypatch.setattr(child, "GRACE_S", 0.5)
    run.runpytest_inprocess(*PLUGIN, "--rocketproof", "--rocketproof-limit-s", "2").assert_outcomes(errors=1)
    until = time.monotonic() + 10  # a process that was killed may be seen for a moment
    while (left := f"time.sleep(77777) {run.path}" in running()) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left


def test_nothing_runs_unless_it_is_asked_for(run: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    instead(run, monkeypatch, [ROWS[0]], "")
    run.makepyfile("def test_mine(): assert True")
    run.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=1)
    assert not (run.path / "calls").exists()
    run.runpytest_inprocess(*PLUGIN, "--rocketproof-run", "judge that", "--rocketproof-run", "it", "-k", "mine or that",
                            ).assert_outcomes(passed=2, deselected=1)
    assert (run.path / "calls").read_text("utf-8").splitlines()[1].startswith("it --json out/pytest/2/")


def test_an_option_that_would_judge_nothing_is_refused(run: pytest.Pytester) -> None:
    run.makeini("[pytest]\n")
    result = run.runpytest_inprocess(*PLUGIN, "--rocketproof")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*there is nothing to run; set the ini option rocketproof*"])


def test_workers_of_xdist_share_one_answer(run: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    instead(run, monkeypatch, [*ROWS], "sys.exit(1)")
    run.runpytest_inprocess(*PLUGIN, "-p", "xdist", "--rocketproof", "-n", "2").assert_outcomes(passed=3, failed=2)
    assert len((run.path / "calls").read_text("utf-8").splitlines()) == 1


def test_a_failure_has_picture_and_replay_of_the_real_command(run: pytest.Pytester) -> None:
    run.makepyfile(mine="class Greedy:\n    def allocate(self, group, me, queues, members):\n        return queues\n")
    command = "check allocation --python mine:Greedy --queues 2 --members 2 --examples 1"
    result = run.runpytest_inprocess(*PLUGIN, "--rocketproof-run", command, "-k", "exclusive")
    result.assert_outcomes(failed=1, deselected=6)
    again = "see it again: rocketproof replay out/pytest/1/evidence/check-*.json"
    result.stdout.fnmatch_lines(["* T/b:0 *c0, c1 *", again])


def test_nothing_of_the_rooms_and_no_engine_is_imported(tmp_path: Path) -> None:
    code = ("import sys, json, pytest; before = {*sys.modules}; import rocketproof.pytest_plugin; "
            "print(json.dumps(sorted({name.partition('.')[0] for name in {*sys.modules} - before})))")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},  # noqa: S603 - this Python
                          capture_output=True, text=True, check=True)
    assert {name for name in json.loads(done.stdout) if name not in sys.stdlib_module_names} == {"rocketproof"}
