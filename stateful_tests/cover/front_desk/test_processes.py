"""`rocketproof` as a process of its own: its start, its standard streams, its status, and what Ctrl-C leaves behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from invariants.verdict import Verdict
from model.scopes import SCOPES
from stateful_tests.standard_error import beside_progress

ROOT = Path(__file__).parents[3]
LIMIT_S = 120
HANGING = """
import os, time
class Hanging:
    def allocate(self, consumer_group, current_cid, mq_all, cid_all):
        open(os.environ["STARTED"], "a").write(f"{os.getpid()}\\n")
        time.sleep(600)
"""


def start(*arguments: str, folder: Path = ROOT, **environment: str) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    env.pop("COLUMNS", None)
    return subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-m", "invariants", *arguments], cwd=folder, env=env, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - no threads here
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=LIMIT_S)
    return process.returncode, out, err


def interrupted_after_a_row(*arguments: str) -> tuple[int, list[Verdict], str]:
    """Status, rows and standard error of a command that gets Ctrl-C as soon as its first row is out."""
    process = start(*arguments, "--json", "-")
    assert process.stdout is not None
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read()  # not by communicate, which would leave out what readline has read ahead
    status, _, err = ended(process)
    assert "Traceback" not in err
    return status, [Verdict.from_json(line) for line in (first + rest).splitlines()], err


def until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not done():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.05)


def alive(number: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{number}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_help_is_there_at_once() -> None:
    heavy = ("numpy", "z3", "hypothesis", "networkx", "scipy", "pyspark", "jinja2", "matplotlib", "model.scopes",
             "rich.table")
    script = ("import sys, time; import invariants.__main__; spent = time.process_time();"
              f"print(spent, [name for name in {heavy!r} if name in sys.modules])")
    out = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    spent, _, imported = out.partition(" ")
    assert imported.strip() == "[]"
    assert float(spent) < 0.5


def test_a_command_knows_its_own_name_for_each_room() -> None:
    for room in ("model", "proofs"):
        done = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-m", room, "--help"], cwd=ROOT, capture_output=True, text=True, check=True)
        assert f"python -m {room}" in done.stdout


def test_rows_on_standard_output_and_everything_else_on_standard_error() -> None:
    status, out, err = ended(start("explore", "abandoned lock", "--json", "-"))
    assert status == 0
    assert {Verdict.from_json(line).judge for line in out.splitlines()} == {"explore"}
    assert "as expected" in err


@pytest.mark.parametrize("arguments", [
    ("show", "one_live_believer"), ("list", "--json"), ("explore", "abandoned lock"),
    ("explore", "abandoned lock", "--json", "-"),
])
def test_a_reader_that_leaves_ends_it_quietly_as_is_usual(arguments: tuple[str, ...]) -> None:
    process = start(*arguments)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    status, _, err = ended(process)
    assert status == 128 + signal.SIGPIPE
    assert "rror" not in err


@pytest.mark.parametrize(("arguments", "said"), [
    (("verify", "one_owner", "--json", "-"), "did you mean 'one_owner_per_queue'"),
    (("explore", "group 9,9,9"), "no scope is called 'group 9,9,9'"),
])
def test_bad_input_is_one_line_and_status_2(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    status, out, err = ended(start(*arguments, folder=tmp_path))
    assert (status, out) == (2, "")
    assert said in err
    assert len(beside_progress(err)) == 1


def test_ctrl_c_in_a_search_keeps_what_was_found() -> None:
    status, kept, err = interrupted_after_a_row("explore")
    assert status == 3
    assert len({row.subject.name for row in kept}) < len(SCOPES)
    (said,) = re.findall(r"rocketproof: interrupted: (\d+) verdict", err)
    assert int(said) == len(kept) > 0


def test_ctrl_c_in_a_proof_is_not_lost_in_the_solver() -> None:
    began = time.monotonic()
    status, kept, err = interrupted_after_a_row("prove")
    assert status == 3
    assert {row.judge for row in kept} == {"prove"}
    assert len(kept) < 20
    assert "rocketproof: interrupted" in err
    assert time.monotonic() - began < LIMIT_S / 2


def test_ctrl_c_in_a_check_leaves_no_process_behind(tmp_path: Path) -> None:
    (tmp_path / "desk_hanging.py").write_text(HANGING, encoding="utf-8")
    started = tmp_path / "started"
    process = start("check", "allocation", "--python", "desk_hanging:Hanging", folder=tmp_path, STARTED=str(started))
    until(lambda: started.exists() and started.read_text(encoding="ascii").endswith("\n"))
    process.send_signal(signal.SIGINT)
    status, _, err = ended(process)
    assert status == 3
    assert "rocketproof: interrupted" in err
    assert "Traceback" not in err
    for number in started.read_text(encoding="ascii").split():
        until(lambda number=int(number): not alive(number))  # type: ignore[misc]
