"""Files to begin with: what is written runs, and its head says how."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from impl.hosts.simulation.tape import RandomTape
from impl.variants.variant import load_variant
from stateful_tests.cover.front_desk.commands import run
from stateful_tests.stories.storm import STORMY, group_world
from stateful_tests.worlds.subjects import subject_named


def test_a_new_change_runs_and_its_head_has_the_commands_that_judge_it(tmp_path: Path) -> None:
    file = tmp_path / "my_change.py"
    written = run("new", "change", str(file))
    assert written.stdout == f"{file}: rocketproof compare {file} --base shipped\n"
    variant, head = load_variant(str(file)), file.read_text("utf-8").partition("\nfrom ")[0]
    assert (variant.name, variant.kind) == ("my-change", "change")
    for command in ("campaign --variant", "machine subscription --variant", "compare"):
        assert f"rocketproof {command} {file}" in head
    with subject_named(str(file)).running() as calls, group_world(RandomTape(3), STORMY, orderly=True) as world:
        world.run(60_000)
    assert all(calls.values())
    assert list(calls) == ["ConsumerGroupInfo.add_subscriptions", "ConsumerGroupInfo.compute"]


def test_a_new_strategy_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    command = run("new", "strategy", "my_strategy.py").stdout.partition(": rocketproof ")[2]
    assert command == "check allocation --python my_strategy.py:MyStrategy\n"
    assert f"rocketproof {command}" in Path("my_strategy.py").read_text("utf-8")
    judged = run(*shlex.split(command), "--queues", "3", "--members", "2", "--examples", "2")
    assert judged.exit_code == 0, judged.output
    elsewhere = run("new", "strategy", str(tmp_path / "other.py")).stdout
    assert elsewhere.endswith(f": rocketproof check allocation --python {tmp_path / 'other.py'}:Other\n")


@pytest.mark.parametrize("what", ["change", "strategy"])
def test_no_file_is_written_over_and_none_that_is_no_python_file(what: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("kept", "utf-8")
    for name, said in (("mine.py", "give a file that can be written and is not there yet"),
                       ("mine.txt", "no Python file; call it"), ("no/mine.py", "No such file or directory")):
        result = run("new", what, str(tmp_path / name))
        assert (result.exit_code, said in result.stderr) == (2, True), result.output
    assert (tmp_path / "mine.py").read_text("utf-8") == "kept"


def test_who_wants_a_strategy_in_another_language_is_told_where_to_go(tmp_path: Path) -> None:
    said = run("new", "strategy", str(tmp_path / "mine.go")).stderr
    assert "call it" in said
    assert "check allocation --exec` (docs/adapters.md)" in said


def test_a_strategy_needs_a_name_of_python(tmp_path: Path) -> None:
    assert "its name is no name of Python; call it my_strategy.py" in run(
        "new", "strategy", str(tmp_path / "my-strategy.py")).stderr
