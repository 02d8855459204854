from __future__ import annotations

import json
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
from invariants.verdict import BadInputError, ExitStatus, Outcome, Verdict, exit_status
from spark_fuzz import commands, hunts
from spark_fuzz.cells import matrix_view, quartiles
from spark_fuzz.cluster import Cluster
from spark_fuzz.effect import FINGERPRINT_BYTES
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
    assert (bug.property, bug.outcome, bug.expected) == (NOTICED, Outcome.HOLDS, Outcome.HOLDS)
    assert "refinement: refines_route_info in 1 of 1" in bug.note
    assert (bug.cost["hunts"], bug.cost["refinement_killed"]) == (1, 1)


def test_the_kill_has_evidence_and_a_test_file(found: tuple[list[Verdict], Path]) -> None:
    (verdicts, folder) = found
    assert (folder / str(verdicts[1].evidence)).is_file()
    assert len(list((folder / "evidence").glob("test_*.py"))) == 1


def test_a_matrix_in_parts_is_that_of_one_run(
    cluster: Cluster, tmp_path: Path, found: tuple[list[Verdict], Path],
) -> None:
    subjects = ("repaired", subject_of(found[0][1].subject.details["file"]))
    aim, folder = MatrixAim(subjects, seeds=1, worlds=1), tmp_path / "out"
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
    assert any(line.split()[:1] == ["early"] for line in lines)
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


PLACE = "impl.decisions.allocation.averagely_range"


def called(calls: int, reached: int, of: int = 2) -> Row:
    return row("called", place=PLACE, calls=calls, reached=reached, runs=of)


def hunted(*digests: str, subject: str = BUGS[1], **more: Any) -> Row:
    """The row of a hunt whose runs have fingerprints of one letter each."""
    lives = {"runs": len(digests), "unknown": 0, "segments": 10, "time_ms": 5}
    packed = b"".join(one.encode() * FINGERPRINT_BYTES for one in digests)
    return row("hunted", fingerprints=packed, **lives, **more) | {"unit": f"{subject} | hunt 0"}


CONTROLS = hunted("a", "b", "c", subject="repaired")
ASKED = row("asked", property=None, steps=9) | {"unit": f"{BUGS[1]} | decisions"}


def verdict(*rows: Row) -> Verdict:
    matrix = Matrix(MatrixAim(BUGS, seeds=1), Path("out"))
    matrix.add(rows)
    return matrix.verdicts()[1]


def test_a_bug_that_nobody_notices_differs_and_what_is_not_done_is_unknown() -> None:
    lived = hunted("a", "x")
    assert verdict(ASKED, CONTROLS, lived).outcome is Outcome.VIOLATED
    assert not verdict(ASKED, CONTROLS, lived).as_expected
    assert verdict(ASKED, CONTROLS).outcome is Outcome.UNKNOWN
    assert verdict(ASKED, CONTROLS, lived | {"unknown": 1}).outcome is Outcome.UNKNOWN
    assert verdict(ASKED, CONTROLS, {**lived, "error": "lost"}).outcome is Outcome.UNKNOWN


def test_what_a_bug_has_changed_is_told_in_row_and_costs() -> None:
    told = verdict(ASKED, CONTROLS, hunted("a", "x"), called(7, 1))
    assert told.note.endswith(
        f"replaced: {PLACE} (7 calls), in 1 of 2 runs; differs from repaired in 1 of 2 runs on the same tapes")
    assert [told.cost[name] for name in (f"calls of {PLACE}", "compared", "different")] == [7, 2, 1]


@pytest.mark.parametrize(("calls", "outcome"), [(7, Outcome.NO_DIFFERENCE), (0, Outcome.NEVER_EXECUTED)])
def test_a_bug_that_changes_no_run_is_neither_noticed_nor_missed(calls: int, outcome: Outcome) -> None:
    told = verdict(ASKED, CONTROLS, hunted("a", "b"), called(calls, calls))
    assert told.outcome is outcome
    assert exit_status([told]) is ExitStatus.UNKNOWN
    assert verdict(ASKED, hunted("a", "b"), called(calls, calls)).outcome is Outcome.UNKNOWN  # nothing to compare with
    assert verdict(ASKED | {"property": "p"}, CONTROLS, hunted("a", "b"), called(calls, calls)).as_expected


def test_what_is_seen_although_nothing_was_executed_is_not_the_bugs_doing() -> None:
    kill = row("kill", judge="refinement", property="refines_route_info", unknown=0, signature="[]", steps=1, time_ms=1,
               subject=BUGS[1], workload="orderly", profile="calm", strategy="uniform", seed=0, choices=b"",
               digest=b"", sentence="wrong")
    seen = [ASKED, CONTROLS, hunted("a", "x"), kill]
    assert verdict(*seen, called(7, 1)).outcome is Outcome.HOLDS
    assert verdict(ASKED, CONTROLS, hunted("a", "b"), kill, called(7, 1)).outcome is Outcome.HOLDS
    told = verdict(ASKED, CONTROLS, hunted("a", "b"), kill, called(0, 0))
    assert told.outcome is Outcome.UNKNOWN
    assert "no run has executed it" in told.note


def test_an_arm_that_was_hunted_wholly_counts_even_if_time_ran_out_for_others() -> None:
    subjects = (*BUGS, "repaired+seeded-no-goodbye")
    matrix = Matrix(MatrixAim(subjects, seeds=1), Path("out"))
    matrix.add([ASKED, CONTROLS, hunted("a", "x"), called(7, 1)])
    assert [one.outcome for one in matrix.verdicts()] == [Outcome.UNKNOWN, Outcome.VIOLATED, Outcome.UNKNOWN]
    matrix.add([ASKED | {"unit": "repaired | decisions"}])
    assert [one.outcome for one in matrix.verdicts()] == [Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNKNOWN]


def test_of_a_hazard_the_matrix_says_whether_its_cause_was_reached() -> None:
    subjects, place = ("repaired", "repaired-X22"), "RebalancePushImpl.remove_unnecessary_message_queue"
    matrix = Matrix(MatrixAim(subjects, seeds=1), Path("out"))
    asked = [ASKED | {"unit": f"{subject} | decisions"} for subject in subjects]
    matrix.add([*asked, CONTROLS, hunted("a", subject=subjects[1])])
    told = matrix.verdicts()[1]
    assert (told.outcome, told.subject.details) == (Outcome.NEVER_EXECUTED, {"mutation": "repaired-X22"})
    assert f"un-repaired: {place} (never called), in 0 of 0 runs" in told.note
    matrix.add([called(3, 1, 1) | {"unit": f"{subjects[1]} | hunt 0", "place": place}])
    told = matrix.verdicts()[1]
    said = f"un-repaired: {place} (3 calls), in 1 of 1 runs; differs from repaired in 0 of 1 runs on the same tapes"
    assert (told.outcome, told.note) == (Outcome.NO_DIFFERENCE, f"nothing is seen in 1 hunts; {said}")
    (row,) = [row for row in json.loads(matrix.files()["kill-matrix.json"])["rows"] if row["subject"] == subjects[1]]
    assert row["effect"] == {"calls": {place: 3}, "reached": 1, "runs": 1, "compared": 1, "different": 0,
                             "outcome": "no difference"}


def test_a_hunt_that_crashes_makes_its_subject_unknown_whatever_others_have_seen() -> None:
    asked = ASKED | {"property": "allocation_is_balanced"}
    crashed = row("hunted") | {"error": "ZeroDivisionError"}
    assert verdict(asked).outcome is Outcome.HOLDS
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
        return RunRecord("00" * 16, (), (), "", 10, 100, calls={PLACE: len(lived)})

    def kills(plan: Plan, record: RunRecord, killed: set[str]) -> dict[str, Row]:
        del plan, record, killed
        return {judge: {"segments": 1, "time_ms": 1} for judge in judges if len(lived) == 3}

    monkeypatch.setattr(hunts, "run", run)
    monkeypatch.setattr(hunts, "_kills", kills)
    *killed, hunted, calls = attempt(
        hunts.work, Unit("u", {"subject": "repaired", "hunt": 0, "worlds": hunts.WORLDS}))
    assert [(row["judge"], row["steps"], row["time_ms"]) for row in killed] == [(judge, 21, 201) for judge in judges]
    assert hunted["runs"] == (3 + hunts.MORE if judges else hunts.WORLDS)
    assert len(hunted["fingerprints"]) == followed * FINGERPRINT_BYTES
    assert (calls["place"], calls["calls"], calls["reached"]) == (PLACE, sum(range(len(lived) + 1)), len(lived))
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
