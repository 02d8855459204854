from __future__ import annotations

from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from impl.hosts.simulation.tape import Tape
from invariants.__main__ import app
from invariants.runs import NOTICED, SILENT
from invariants.verdict import BadInputError, Outcome, Verdict
from spark_fuzz import commands, hunts
from spark_fuzz.cells import matrix_view, quartiles
from spark_fuzz.cluster import Cluster
from spark_fuzz.matrix import Matrix, MatrixAim
from spark_fuzz.simulation import subject_of
from spark_fuzz.work import Row, Unit, attempt
from stateful_tests.spark import planted
from stateful_tests.worlds.run import Plan, RunRecord
from stateful_tests.worlds.workloads import WORKLOADS

BUGS = ("repaired", "repaired+rb-unsigned-underflow")


@pytest.fixture(scope="module")
def found(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Verdict], Path]:
    """Verdicts and folder of a matrix of one bug that each world shows, one hunt of one world."""
    folder = tmp_path_factory.mktemp("matrix")
    (folder / "early.py").write_text(planted.EARLY, encoding="utf-8")
    aim = MatrixAim(("repaired", subject_of(str(folder / "early.py"))), seeds=1, worlds=1)
    return list(commands.kill_matrix(10.0, aim, out=folder / "out", cluster=cluster)), folder / "out"


def test_a_bug_is_noticed_and_the_control_is_silent(found: tuple[list[Verdict], Path]) -> None:
    control, bug = found[0]
    assert (control.property, control.outcome, control.expected) == (SILENT, Outcome.HOLDS, Outcome.HOLDS)
    assert (bug.property, bug.outcome, bug.expected) == (NOTICED, Outcome.VIOLATED, Outcome.VIOLATED)
    assert "refinement: refines_route_info in 1 of 1" in bug.note
    assert (bug.cost["hunts"], bug.cost["refinement_killed"]) == (1, 1)


def test_the_kill_has_evidence_and_a_test_file(found: tuple[list[Verdict], Path]) -> None:
    (verdicts, folder) = found
    assert (folder / str(verdicts[1].evidence)).is_file()
    assert len(list((folder / "evidence").glob("test_*.py"))) == 1


def test_a_matrix_in_parts_is_that_of_one_run(
    cluster: Cluster, tmp_path: Path, found: tuple[list[Verdict], Path],
) -> None:
    aim, folder = MatrixAim(tuple(one.subject.name for one in found[0]), seeds=1, worlds=1), tmp_path / "out"
    for limit in (1, None):
        verdicts = list(commands.performed(
            commands.of_matrix(aim, folder), folder, 10.0, "local", limit=limit, cluster=cluster))
        assert any(one.outcome is Outcome.UNKNOWN for one in verdicts) is (limit == 1)
    assert [(one.subject.name, one.outcome, one.note) for one in verdicts] == [
        (one.subject.name, one.outcome, one.note) for one in found[0]]
    assert (folder / "kill-matrix.json").read_text("utf-8") == (found[1] / "kill-matrix.json").read_text("utf-8")


def test_the_table_shows_who_and_after_how_long(found: tuple[list[Verdict], Path]) -> None:
    text = StringIO()
    Console(file=text, width=200).print(matrix_view(found[1]))
    lines = text.getvalue().splitlines()
    assert "subject" in lines[1]
    assert all(judge in lines[1] for judge in hunts.JUDGES)
    row = next(line for line in lines if "refines_route_info" in line)
    assert "early.py" in "".join(lines)
    assert "1/1" in lines[lines.index(row) + 1]


def test_hunts_are_the_same_for_all_subjects_and_meet_every_workload() -> None:
    one, other = ([(plan.workload, plan.profile, plan.strategy, seed)
                   for plan, seed in islice(hunts.worlds(subject, 3), hunts.WORLDS)] for subject in BUGS)
    assert one == other
    assert sorted(workload for workload, *_ in one[: len(WORKLOADS)]) == sorted(WORKLOADS)
    assert len({seed for *_, seed in one}) == hunts.WORLDS


def test_decisions_are_a_judge_of_their_own() -> None:
    silent, killed = (attempt(hunts.work, Unit("u", {"subject": subject}))[0] for subject in BUGS)
    assert (silent["property"], killed["property"]) == (None, "allocation_is_balanced")
    assert 0 < killed["steps"] < silent["steps"]


@pytest.mark.parametrize(("values", "of", "expected"), [
    ([5, 1, 3, 2, 4], 5, (2, 3, 4)), ([7], 1, (7, 7, 7)), ([1, 2], 4, (1, 2, None)), ([1], 4, (1, None, None)),
    ([], 4, (None, None, None)), ([], 0, (None, None, None)),
])
def test_a_hunt_without_a_kill_is_longer_than_any(values: list[int], of: int, expected: tuple[Any, ...]) -> None:
    assert quartiles(values, of) == expected


def row(kind: str, **more: Any) -> Row:
    return {"kind": kind, "unit": f"{BUGS[1]} | hunt 0", "error": None, "cpu_us": 1, "number": 0, **more}


def verdict(*rows: Row) -> Verdict:
    matrix = Matrix(MatrixAim(BUGS, seeds=1), Path("out"))
    matrix.add(rows)
    return matrix.verdicts()[1]


def test_a_bug_that_nobody_notices_differs_and_what_is_not_done_is_unknown() -> None:
    asked = row("asked", property=None, steps=9) | {"unit": f"{BUGS[1]} | decisions"}
    lived = row("hunted", runs=2, unknown=0, segments=10, time_ms=5)
    assert verdict(asked, lived).outcome is Outcome.HOLDS
    assert not verdict(asked, lived).as_expected
    assert verdict(asked).outcome is Outcome.UNKNOWN
    assert verdict(asked, lived | {"unknown": 1}).outcome is Outcome.UNKNOWN
    assert verdict(asked, {**lived, "error": "lost"}).outcome is Outcome.UNKNOWN


def test_a_hunt_that_crashes_makes_its_subject_unknown_whatever_others_have_seen() -> None:
    asked = row("asked", property="allocation_is_balanced", steps=9) | {"unit": f"{BUGS[1]} | decisions"}
    crashed = row("hunted") | {"error": "ZeroDivisionError"}
    assert verdict(asked).outcome is Outcome.VIOLATED
    assert verdict(asked, crashed).outcome is Outcome.UNKNOWN
    assert "ZeroDivisionError" in verdict(asked, crashed).note
    assert "allocation_is_balanced in 1 of 1" in verdict(asked, crashed).note


def test_a_kill_that_is_not_seen_again_does_not_count() -> None:
    kill = row("kill", judge="refinement", property="refines_route_info", unknown=1)
    assert verdict(kill).outcome is Outcome.UNKNOWN
    assert "is not seen when the tape is played again" in verdict(kill).note


@pytest.mark.parametrize(("judges", "followed"), [
    ((), hunts.WORLDS), ((hunts.PROPERTIES,), 3 + hunts.MORE), ((hunts.PROPERTIES, hunts.REFINEMENT), 3),
])
def test_a_hunt_gives_the_other_judges_a_few_more_worlds(
    judges: tuple[str, ...], followed: int, monkeypatch: pytest.MonkeyPatch,
) -> None:
    lived: list[bool] = []

    def run(plan: Plan, tape: Tape, *, judged: bool) -> RunRecord:
        del plan, tape
        lived.append(judged)
        return RunRecord("", (), (), "", 10, 100)

    def kills(plan: Plan, record: RunRecord, killed: set[str]) -> dict[str, Row]:
        del plan, record, killed
        return {judge: {"segments": 1, "time_ms": 1} for judge in judges if len(lived) == 3}

    monkeypatch.setattr(hunts, "run", run)
    monkeypatch.setattr(hunts, "_kills", kills)
    *killed, hunted = attempt(hunts.work, Unit("u", {"subject": "repaired", "hunt": 0, "worlds": hunts.WORLDS}))
    assert [(row["judge"], row["steps"], row["time_ms"]) for row in killed] == [(judge, 21, 201) for judge in judges]
    assert hunted["runs"] == (3 + hunts.MORE if judges else hunts.WORLDS)
    assert lived == [True] * followed + [False] * (hunted["runs"] - followed)


def test_without_variants_all_planted_bugs_are_hunted() -> None:
    aim = MatrixAim.of((), 2, 1)
    assert aim.subjects[0] == "repaired"
    assert len(aim.subjects) > 30
    units = list(aim.units())
    assert len({unit.id for unit in units}) == len(units) == 3 * len(aim.subjects)


def test_bad_input_is_2_and_one_line() -> None:
    with pytest.raises(BadInputError, match="--seeds 0"):
        MatrixAim.of((), 0)
    for words in (["--variant", "no-such-bug"], ["--variant", "repaired-XX"], ["--minutes", "0"]):
        result = CliRunner().invoke(app, ["kill-matrix", *words])
        assert (result.exit_code, result.stdout) == (2, ""), result.output
        assert len([line for line in result.stderr.splitlines() if line.startswith("rocketproof: ")]) == 1
