"""`python -m stateful_tests.installed`: every judge from the installed wheel, in a project with a package `model`."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from stateful_tests.installed.environment import Environment, project, ran, wheel

COMMANDS: tuple[tuple[tuple[str, ...], tuple[int, ...]], ...] = (
    (("verify", "one_owner_while_nobody_joins", "share_is_kept", "allocation_is_total"), (0,)),
    (("explore", "group 1,2,2", "--twins"), (0,)),
    (("prove", "one_live_believer", "allocation_is_exclusive"), (0,)),
    (("conform",), (0,)),
    (("search", "duplicates during a rolling restart"), (0,)),
    (("list",), (0,)),
    (("show", "D8"), (0,)),
    (("crash", "--workload", "sync_torn"), (0,)),
    (("check", "allocation", "--python", "model.strategies:RoundRobin"), (0,)),
    (("check", "allocation", "--python", "impl.strategies:Greedy"), (1,)),
    (("machine", "subscription", "--variant", "change.py", "--program", "pass_time(s=20)"), (1,)),
    (("campaign", "--minutes", "0.2"), (0, 3)),
    (("campaign", "--variant", "change.py", "--minutes", "0.3"), (0, 3)),
    (("export", "tla", "--out", "specs"), (0,)),
)
"""What is run, and how it may end: a campaign that had no time for its second look has unknown rows."""


def main() -> None:
    """Build, install and run; the status is 1 if a command ends otherwise than it should, or types are wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made, mine = Environment.made(folder / "venv"), project(folder / "mine")
        made.install([wheel(folder / "wheel")])
        failed = [words for words, allowed in COMMANDS if not as_expected(made, words, allowed, mine)]
        typed = ran(sys.executable, "-m", "mypy", "--strict", "--python-executable", made.python, "test_mine.py",
                    folder=mine)
    print(f"{len(COMMANDS) - len(failed)} of {len(COMMANDS)} commands end as they should; mypy: {typed.stdout}")
    sys.exit(bool(failed) or typed.returncode)


def as_expected(made: Environment, words: tuple[str, ...], allowed: tuple[int, ...], folder: Path) -> bool:
    """Run a command of the wheel, and tell what came of it."""
    began = time.monotonic()
    done = ran(made.command, *words, folder=folder)
    print(f"{done.returncode} rocketproof {' '.join(words)} ({time.monotonic() - began:.1f} s)", flush=True)
    if done.returncode not in allowed:
        print(done.stdout[-3_000:] + done.stderr[-3_000:], flush=True)
    return done.returncode in allowed


if __name__ == "__main__":
    main()
