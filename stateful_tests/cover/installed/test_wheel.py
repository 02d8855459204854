"""The wheel in a virtual environment, far from the repository: one name, and everything that the command needs."""

from __future__ import annotations

import ast
import re
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import pytest

from rocketproof.home import ROOMS
from stateful_tests.architecture import sources
from stateful_tests.installed.environment import ROOT, Environment, project, ran, succeeded, wheel


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    made = Environment.made(tmp_path_factory.mktemp("venv"))
    made.install([built])
    (made.packages / "proofs").mkdir()
    (made.packages / "proofs" / "__init__.py").write_text("raise ImportError('this is a package of others')\n", "utf-8")
    return made


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("mine"))


def test_one_name_goes_into_site_packages(built: Path) -> None:
    tops = {name.partition("/")[0] for name in ZipFile(built).namelist()}
    assert {name for name in tops if not name.endswith(".dist-info")} == {"rocketproof"}


def test_the_rooms_are_named_alike_wherever_they_are_named() -> None:
    assert set(sources.ROOMS) == {"rocketproof", *ROOMS}
    (line,) = [line for line in (ROOT / "setup.py").read_text("utf-8").splitlines() if line.startswith("ROOMS = ")]
    assert ast.literal_eval(line.removeprefix("ROOMS = ")) == ROOMS


def test_whatever_lies_in_the_rooms_is_in_the_wheel(built: Path) -> None:
    listed = succeeded("git", "ls-files", *ROOMS, folder=ROOT).splitlines()
    assert len(listed) > 700
    assert "rocketproof/py.typed" in ZipFile(built).namelist()
    assert {f"rocketproof/rooms/{name}" for name in listed} - set(ZipFile(built).namelist()) == set()


def test_a_project_with_a_package_of_a_rooms_name_is_judged(installed: Environment, mine: Path) -> None:
    sizes = ("--queues", "4", "--members", "3", "--examples", "5")
    for name, status in (("model.strategies:RoundRobin", 0), ("impl.strategies:Greedy", 1)):
        words = ("check", "allocation", "--python", name, *sizes)
        done = ran(installed.command, *words, folder=mine)
        assert done.returncode == status, done.stdout + done.stderr
    for command in ([installed.command], [installed.python, "-m", "rocketproof"]):
        assert ran(*command, "--version", folder=mine).stdout == f"rocketproof {metadata.version('rocketproof')}\n"


def test_recordings_are_there(installed: Environment, mine: Path) -> None:
    done = ran(installed.command, "conform", "--file", "bytes", folder=mine)
    assert done.returncode == 0, done.stdout + done.stderr


def test_machines_and_verdicts_are_tests_in_a_project_of_ones_own(installed: Environment, mine: Path) -> None:
    judged = "check allocation --python impl.strategies:Greedy --queues 2 --members 2 --examples 1"
    done = ran(installed.python, "-m", "pytest", "-q", "-rA", "--rocketproof-run", judged, folder=mine)
    assert done.returncode == 1, done.stdout + done.stderr
    outcomes = {line for line in done.stdout.splitlines() if line.startswith(("PASSED", "FAILED", "ERROR"))}
    assert "PASSED test_mine.py::test_names_are_mine" in outcomes
    assert "PASSED test_mine.py::TestRounds::runTest" in outcomes
    assert {line.partition(" - ")[0] for line in outcomes if line.startswith(("FAILED", "ERROR"))} == {
        "FAILED test_mine.py::TestChange::runTest",
        f"FAILED rocketproof {judged}::allocation_is_exclusive[impl.strategies:Greedy]"}
    assert re.search(r"replay: rocketproof machine subscription --subject \S+/change.py --program", done.stdout)
