"""A virtual environment in which the wheel is installed, made without a network: other packages are borrowed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("rocketproof", "model", "invariants", "impl", "stateful_tests", "proofs", "spark_fuzz", "pyproject.toml",
           "setup.py", "README.md", "LICENSE")
"""What the wheel is made from."""
LIMIT_S = 300
NOT_TOLD = ("PYTHONPATH", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")
"""Of the environment: where this process finds packages, and what `make test` leaves for a make below it."""


def ran(*words: str | Path, folder: Path | None = None, limit_s: float = LIMIT_S, **environment: str,
        ) -> subprocess.CompletedProcess[str]:
    """A command that has ended, with what it printed; it is not told what is NOT_TOLD, but in environment.

    Raises subprocess.TimeoutExpired if it does not end in time.
    """
    variables = {name: value for name, value in os.environ.items() if name not in NOT_TOLD}
    return subprocess.run(  # noqa: S603 - commands of the project
        [*map(str, words)], cwd=folder, env={**variables, **environment}, timeout=limit_s, check=False,
        capture_output=True, text=True, stdin=subprocess.DEVNULL)


def succeeded(*words: str | Path, folder: Path | None = None) -> str:
    """What a command printed; raises RuntimeError with what it said if it fails."""
    done = ran(*words, folder=folder)
    if done.returncode:
        said = done.stderr or done.stdout
        raise RuntimeError(f"{' '.join(map(str, words))} ended with status {done.returncode}: {said}")
    return done.stdout


def wheel(folder: Path) -> Path:
    """Build the wheel below a folder, from a copy of the sources: building leaves files beside them."""
    copy = folder / "sources"
    copy.mkdir(parents=True)
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
        else:
            shutil.copy(ROOT / name, copy / name)
    succeeded(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation",
              "--wheel-dir", folder, copy)
    (built,) = folder.glob("rocketproof-*.whl")
    return built


@dataclass(frozen=True)
class Environment:
    """A virtual environment. folder -- it lies there."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Environment:
        """Make one that finds what is installed here, but for this project itself."""
        succeeded(sys.executable, "-m", "venv", "--without-pip", folder)
        made = cls(folder)
        here = [entry for entry in sys.path if Path(entry).name in {"site-packages", "dist-packages"}]
        (made.packages / "borrowed.pth").write_text("".join(f"{entry}\n" for entry in here), "utf-8")
        return made

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def command(self) -> Path:
        """Its `rocketproof`."""
        return self.folder / "bin" / "rocketproof"

    @property
    def packages(self) -> Path:
        """Its site-packages."""
        (found,) = (self.folder / "lib").glob("python3.*/site-packages")
        return found

    def install(self, what: Sequence[str | Path]) -> None:
        """Install wheels or requirements, and nothing that they need."""
        succeeded(sys.executable, "-m", "pip", "--python", self.python, "install", "--quiet", "--no-deps",
                  "--no-compile", "--disable-pip-version-check", *what)


PROJECT = {
    "model/__init__.py": "MINE = True\n",
    "model/strategies.py": """\
from typing import Any

from model import MINE


class RoundRobin:
    def allocate(self, consumer_group: str, current_cid: str, mq_all: list[Any], cid_all: list[str]) -> list[Any]:
        assert MINE
        return [queue for place, queue in enumerate(mq_all) if cid_all[place % len(cid_all)] == current_cid]
""",
    "impl/__init__.py": "",
    "impl/strategies.py": """\
from typing import Any


class Greedy:
    def allocate(self, consumer_group: str, current_cid: str, mq_all: list[Any], cid_all: list[str]) -> list[Any]:
        return list(mq_all)
""",
    "proofs/main.go": "package main\n",
    "change.py": """\
from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.variants.variant import Variant, replace


@replace(ConsumerGroupInfo, "add_subscriptions")
async def nothing(self, sub_list, threads):
    return False


VARIANT = Variant("nothing-is-added", "change", "No subscription is taken.", replacements=(nothing,))
""",
    "test_mine.py": """\
import sys

from hypothesis import Phase, settings
from hypothesis.stateful import RuleBasedStateMachine

from model import MINE
from model.strategies import RoundRobin
from rocketproof import state_machine

TestChange = state_machine("subscription", variant="change.py").TestCase
TestChange.settings = settings(TestChange.settings, max_examples=4, derandomize=True, phases=[Phase.generate])
Rounds: type[RuleBasedStateMachine] = state_machine("consumer_group", strategy=RoundRobin())
TestRounds = Rounds.TestCase
TestRounds.settings = settings(TestRounds.settings, max_examples=1)


def test_names_are_mine() -> None:
    assert MINE
    assert "invariants" not in sys.modules
""",
}
"""A project of a user's: packages and a folder of it are called like rooms, and it has a change to be judged."""


def project(folder: Path) -> Path:
    """Write the project of a user's into a folder; returns the folder."""
    for name, text in PROJECT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder
