"""What docs/ci.md shows runs as it stands, in a project that has the files which it speaks of."""

from __future__ import annotations

import os
import re
import shlex
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET  # reads what this project has written

import pytest
import typer
import yaml

from invariants.__main__ import app
from rocketproof import child
from stateful_tests.architecture.sources import ROOT
from stateful_tests.installed import environment as installed

TEXT = (ROOT / "docs" / "ci.md").read_text("utf-8")


def block(language: str) -> str:
    """The first block of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)[0]  # type: ignore[no-any-return]


def script(file: Path, line: str) -> None:
    """A program of one line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{line}\n", "utf-8")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project; `rocketproof` and `pip` are programs beside it."""
    folder = tmp_path_factory.mktemp("mine")
    script(folder / "bin" / "rocketproof", f'exec {shlex.join(child.PROGRAM)} "$@"')
    script(folder / ".venv-rocketproof" / "bin" / "rocketproof", "exit 1")
    for kind, name in (("strategy", "my_strategy.py"), ("change", "my_change.py"), ("concept", "my_lease.py")):
        ran(["rocketproof", "new", kind, name], folder)
    return folder


def ran(words: list[str], folder: Path, **environment: str) -> str:
    """What a program printed that must succeed."""
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = installed.ran(*words, folder=folder, limit_s=installed.LIMIT_S, PATH=path, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def accepted(words: list[str]) -> bool:
    """Whether the command line takes these words; raises what Click says against them."""
    command: Any = typer.main.get_command(app)
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    return command.make_context(command.name, words) is not None


def test_the_workflow_runs(mine: Path) -> None:
    workflow = yaml.safe_load(block("yaml"))
    steps = workflow["jobs"]["rocketproof"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert commands.pop(0) == 'pip install "$ROCKETPROOF"'
    assert [accepted(shlex.split(command)[1:]) for command in commands] == [True] * 3
    for command in commands:
        if " compare " not in command:  # which takes two minutes
            ran(["bash", "-e", "-c", command], mine, GITHUB_STEP_SUMMARY=str(mine / "summary.md"))
    assert (mine / "summary.md").read_text("utf-8").count("### rocketproof") == 2
    for name in ("strategy", "protocol"):
        suite = ET.fromstring((mine / "out" / f"{name}.xml").read_text("utf-8"))[0]  # noqa: S314 - our own
        assert int(suite.attrib["tests"]) > 0
        assert (mine / "out" / name / "verdicts.jsonl").is_file()


def test_make_says_the_same(mine: Path) -> None:
    (mine / "Makefile").write_text(block("make"), "utf-8")
    workflow = yaml.safe_load(block("yaml"))["jobs"]["rocketproof"]["steps"]
    wanted = [shlex.split(step["run"])[1:-2] for step in workflow if step.get("run", "").startswith("rocketproof")]
    said = [shlex.split(line) for line in ran(["make", "-n", "judge"], mine).splitlines()]
    assert [words[1:] for words in said] == wanted
    assert {words[0] for words in said} == {".venv-rocketproof/bin/rocketproof"}


def test_pytest_has_commands_that_give_rows() -> None:
    commands = tomllib.loads(block("toml"))["tool"]["pytest"]["ini_options"]["rocketproof"]
    assert len(commands) == 3
    for command in commands:
        assert accepted([*shlex.split(command), "--json", "rows.jsonl", "--out", "out"])


def test_the_options_of_the_plugin_are_on_the_page() -> None:
    said = (ROOT / "rocketproof" / "pytest_plugin.py").read_text("utf-8")
    names = re.findall(r'(?:addoption|addini)\(\s*"([\w-]+)"', said)
    assert len(names) == 6
    for name in names:
        assert f"`{name}" in TEXT


def test_machines_are_made_as_the_page_says(mine: Path) -> None:
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))
    told = ran([sys.executable, "-c", f"{code}\nprint(TestChange.settings.max_examples, TestMine.__name__)"], mine,
               PYTHONPATH=str(ROOT))
    assert told == "50 ConsumerGroupMachine[repaired].TestCase\n"
