"""The long control: it draws the same runs for the same seed, and tells what nothing explains."""

from __future__ import annotations

import json
import shlex
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from bench import control
from invariants import evidence
from invariants.verdict import Outcome
from spark_fuzz.simulation import Aim
from stateful_tests.worlds.evidence import replay_run
from stateful_tests.worlds.run import Plan
from stateful_tests.worlds.workloads import WORKLOADS

CALM = Plan("repaired+seeded-gone-broker-registers", "routes", "calm", "uniform")


def main(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
    """Exit status and lines."""
    app = typer.Typer()
    app.command()(control.main)
    ended = CliRunner().invoke(app, [*arguments])
    return ended.exit_code, [json.loads(line) for line in ended.stdout.splitlines()]


def test_a_seed_draws_each_world_once_and_then_all_again_in_another_order() -> None:
    seven, eight = (Aim(seed=seed).checked() for seed in (7, 8))
    every = [plan for plan, _ in islice(control.drawn(seven), 5_000)]
    half = len(seven.arms())
    assert {plan.workload for plan in every} == {*WORKLOADS}
    assert len({*every[:half]}) == half
    assert every[:half] != every[half:2 * half]
    assert [*islice(control.drawn(seven), 9)] == [*islice(control.drawn(seven), 9)]
    assert [*islice(control.drawn(seven), 9)] != [*islice(control.drawn(eight), 9)]


def test_what_nothing_explains_is_told_with_evidence_that_shows_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(control, "drawn", lambda *_: iter([(CALM, 0)]))
    status, (*found, last) = main("--segments", "1", "--subject", CALM.subject, "--out", str(tmp_path))
    assert status == 1
    assert last["alarms"] == len(found) > 0
    told = next(line for line in found if line["property"] == "gone_broker_is_not_heard_of")
    *_, file = shlex.split(told["replay"])
    assert replay_run(evidence.read(Path(file))).outcome is Outcome.VIOLATED


def test_the_control_is_silent_and_the_same_for_the_same_seed(tmp_path: Path) -> None:
    arguments = ("--segments", "1", "--seed", "3", "--workload", "name_servers", "--out", str(tmp_path))
    (status, (line,)), again = main(*arguments), main(*arguments)
    assert (status, line["runs"], line["alarms"], line["unknown"]) == (0, 1, 0, 0)
    assert again[1][0]["digest"] == line["digest"]
    assert line["digest"] != main(*arguments[:3], "4", *arguments[4:])[1][0]["digest"]


@pytest.mark.parametrize("arguments", [("--subject", "repared"), ("--workload", "sendin")])
def test_a_name_that_is_not_there_is_refused(arguments: tuple[str, ...]) -> None:
    assert main(*arguments) == (2, [])
