from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from invariants import evidence
from invariants.runs import CHANGED, NOTICED, OF_KIND, SAME_RUN
from invariants.verdict import BadInputError, ExitStatus, Outcome, Verdict, exit_status
from spark_fuzz import confirmed, runs
from spark_fuzz.asked import Asked
from spark_fuzz.commands import campaign_worlds
from spark_fuzz.sightings import Sightings
from spark_fuzz.simulation import Aim, is_again, search_unit, subject_of
from spark_fuzz.work import Row, attempt
from stateful_tests.spark import planted
from stateful_tests.spark.books import FEW, aim_of, done, settle, short
from stateful_tests.worlds.evidence import replay_run
from stateful_tests.worlds.run import Plan, run
from stateful_tests.worlds.subjects import subject_on


@pytest.fixture(scope="module")
def early(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sightings, Path, list[Row]]:
    """A campaign about a planted bug, in a folder."""
    folder = tmp_path_factory.mktemp("early")
    (folder / "early.py").write_text(planted.EARLY, encoding="utf-8")
    aim = aim_of(subject_of(str(folder / "early.py")), until_failure=True)
    book = Sightings(aim, folder)
    return book, folder, done(book, aim)


# A failure, from the run to the file that a user keeps ----------------------------------------------------------------


def test_a_planted_bug_is_one_row_that_holds_when_it_is_noticed(early: tuple[Sightings, Path, list[Row]]) -> None:
    noticed, same = early[0].verdicts()
    assert (noticed.property, noticed.expected, noticed.outcome) == (NOTICED, Outcome.HOLDS, Outcome.HOLDS)
    assert noticed.note.startswith("refines_route_info: ")
    assert (same.property, same.outcome) == (SAME_RUN, Outcome.HOLDS)
    assert same.cost["states"] > 0


def test_a_variant_of_a_file_goes_by_its_name(early: tuple[Sightings, Path, list[Row]]) -> None:
    book, folder, _ = early
    noticed = book.verdicts()[0]
    assert noticed.subject.name == "repaired+early"
    assert noticed.subject.details == {"mutation": "early", "file": str(folder / "early.py")}
    assert re.fullmatch(r"evidence/refines-route-info-repaired-early-[0-9a-f]{6}\.json", str(noticed.evidence))
    tests = [name for name in book.files() if name.startswith("evidence/test_refines_route_info_repaired_early_")]
    assert len(tests) == 1
    assert "of RocketMQ, repaired+early." in book.files()[tests[0]]
    assert list(json.loads(book.files()["failures.json"])) == ["repaired+early"]


def test_a_row_says_what_is_replaced_how_often_it_was_called_and_in_how_many_runs_it_differs(
    early: tuple[Sightings, Path, list[Row]],
) -> None:
    noticed = early[0].verdicts()[0]
    calls = int(noticed.cost["calls of RouteInfoManager.register_broker"])
    assert calls > 1
    said = f"replaced: RouteInfoManager.register_broker ({calls:,} calls), in 1 of 1 runs"
    assert noticed.note.endswith(f"{said}; differs from repaired in 1 of 1 runs on the same tapes")


@pytest.mark.parametrize(("source", "outcome", "called"), [
    (planted.SAME, Outcome.NO_DIFFERENCE, True), (planted.NEVER, Outcome.NEVER_EXECUTED, False),
])
def test_a_variant_that_changes_no_run_is_neither_noticed_nor_missed(
    source: str, outcome: Outcome, called: bool, tmp_path: Path,
) -> None:
    (tmp_path / "same.py").write_text(source, encoding="utf-8")
    aim = aim_of(subject_of(str(tmp_path / "same.py")), limit=1)
    book = Sightings(aim, tmp_path)
    done(book, aim)
    noticed = book.verdicts()[0]
    assert noticed.outcome is outcome
    assert ("never called" in noticed.note) is not called
    assert "differs from repaired in 0 of 1 runs" in noticed.note
    assert exit_status(book.verdicts()) is ExitStatus.UNKNOWN


def looked_at(aim: Aim, folder: Path) -> list[Verdict]:
    """The verdicts after one run, and what it calls for; nothing is made simpler."""
    book = Sightings(aim, folder)
    (arm,) = aim.arms()
    book.add(attempt(runs.work, search_unit(arm, aim.seed, 0, 0)))
    for question in list(book.questions()):
        book.add(attempt(runs.work, question))
    settle(book)
    return book.verdicts()


@pytest.mark.parametrize(("kind", "base", "outcome"), [
    ("change", "repaired", Outcome.VIOLATED), ("repair", "repaired", Outcome.VIOLATED),
    ("bug", "shipped", Outcome.HOLDS),
])
def test_what_is_said_of_a_variant_is_said_in_the_words_of_its_kind(
    kind: str, base: str, outcome: Outcome, tmp_path: Path,
) -> None:
    (tmp_path / "early.py").write_text(planted.EARLY.replace('"bug"', repr(kind)), encoding="utf-8")
    whole, *others = looked_at(aim_of(subject_on(base, str(tmp_path / "early.py"))), tmp_path)
    assert (whole.property, whole.expected, whole.outcome) == (OF_KIND[kind], Outcome.HOLDS, outcome)
    assert whole.note.startswith("refines_route_info: ")
    assert whole.subject.name == f"{base}+early"
    wrong = [one.property for one in others if not one.as_expected]
    assert wrong == ([] if kind == "bug" else ["refines_route_info"])


def test_what_the_base_breaks_by_a_hazard_is_left_to_compare(tmp_path: Path) -> None:
    file = Path(__file__).parents[2] / "examples" / "changes" / "rebalance_every_10_s.py"
    subject = subject_on("shipped", str(file))
    whole, *_ = looked_at(Aim((subject,), ("clustering",), ("storm",), ("uniform",)).checked(), tmp_path)
    assert whole.outcome is Outcome.UNKNOWN
    assert f"whether more often says `rocketproof compare {file} --base shipped`" in whole.note


def test_what_the_base_of_a_change_does_on_the_same_tape_is_not_its_doing(tmp_path: Path) -> None:
    (tmp_path / "early.py").write_text(planted.EARLY, encoding="utf-8")
    (tmp_path / "same.py").write_text(planted.SAME.replace('"bug"', '"change"'), encoding="utf-8")
    whole, *_ = looked_at(aim_of(subject_on(str(tmp_path / "early.py"), str(tmp_path / "same.py"))), tmp_path)
    assert (whole.property, whole.outcome) == (OF_KIND["change"], Outcome.NO_DIFFERENCE)
    assert whole.subject.name == "repaired+early+same"


def test_a_mistake_in_a_file_ends_the_campaign_with_one_line(tmp_path: Path) -> None:
    (tmp_path / "early.py").write_text(planted.EARLY.replace("broker_live_table", "broker_life_table"), "utf-8")
    with pytest.raises(BadInputError, match=r"early.py:13: AttributeError: .*broker_life_table"):
        looked_at(aim_of(str(tmp_path / "early.py")), tmp_path)


def test_a_repair_that_is_left_out_has_a_row_that_says_what_came_of_it(tmp_path: Path) -> None:
    aim = aim_of("repaired-N-1", limit=1)
    book = Sightings(aim, tmp_path)
    done(book, aim)
    changed = next(one for one in book.verdicts() if one.property == CHANGED)
    assert changed.note.startswith("un-repaired: RouteInfoManager.")
    assert changed.cost["compared"] == 1
    assert CHANGED not in {one.property for one in Sightings(aim_of("repaired"), tmp_path).verdicts()}


def test_the_campaign_ends_with_the_failure_when_it_is_told_to(early: tuple[Sightings, Path, list[Row]]) -> None:
    assert len({row["unit"] for row in early[2] if not is_again(row["unit"])}) == 1


def test_the_tape_is_made_simpler_and_replayed_with_equal_digests(early: tuple[Sightings, Path, list[Row]]) -> None:
    found, *again = [row for row in early[2] if row["kind"] in {"failure", "again"}
                     and row["property"] == "refines_route_info"]
    assert len(again) > 1
    assert runs.simplicity(again[-1]["choices"]) < runs.simplicity(found["choices"])
    assert all((row["violated"], row["unknown"]) == (1, 0) for row in again)


def test_evidence_is_confirmed_by_a_replay(early: tuple[Sightings, Path, list[Row]]) -> None:
    book, folder, _ = early
    (name, document), = ((name, one) for name, one in book.evidence().items() if name.startswith("refines-route-info"))
    assert f"rocketproof replay {folder / 'evidence' / name}" == document["replay"] == book.verdicts()[0].replay
    evidence.write(folder / "evidence" / name, dict(document))
    again = replay_run(evidence.read(folder / "evidence" / name))
    assert (again.property, again.outcome) == ("refines_route_info", Outcome.VIOLATED)
    assert "digest as stored" in again.note


def test_the_test_file_fails_with_the_bug_and_passes_without(early: tuple[Sightings, Path, list[Row]]) -> None:
    book, folder, _ = early
    name, text = next((name, text) for name, text in book.files().items() if "test_refines_route_info" in name)
    file = folder / Path(name).name
    file.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
    failed = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - this Python
    assert failed.returncode == 1, failed.stdout
    assert "1 failed" in failed.stdout
    assert "Failing explicit example" in failed.stdout
    with_bug = re.search(r"subject='.*'", text)
    assert with_bug
    repaired = text.replace(with_bug[0], "subject='repaired'").replace("max_examples=20", "max_examples=3")
    file.write_text(repaired, encoding="utf-8")
    runpy.run_path(str(file))["test_refines_route_info"]()


def test_all_failures_name_the_seeds_that_show_them(early: tuple[Sightings, Path, list[Row]]) -> None:
    (failures,) = json.loads(early[0].files()["failures.json"]).values()
    route = next(one for one in failures if one["property"] == "refines_route_info")
    assert [kept["seed"] for kept in route["recordings"]] == [0]
    assert route["shortest"]["not_boring"] <= route["recordings"][0]["not_boring"]


# What is not to be believed -------------------------------------------------------------------------------------------


def test_a_run_that_cannot_be_repeated_is_unknown_and_never_a_violation(tmp_path: Path) -> None:
    (tmp_path / "dice.py").write_text(planted.UNREPEATABLE, encoding="utf-8")
    aim = aim_of(subject_of(str(tmp_path / "dice.py")), limit=1)
    book = Sightings(aim, tmp_path)
    rows = done(book, aim)
    assert any(row["kind"] == "failure" for row in rows)
    noticed, same = book.verdicts()
    assert noticed.outcome is Outcome.UNKNOWN
    assert "the same tape gave another run" in noticed.note
    assert same.outcome is Outcome.VIOLATED
    assert book.evidence() == {}


def test_a_tape_that_does_not_fail_again_is_unknown(early: tuple[Sightings, Path, list[Row]], tmp_path: Path) -> None:
    aim = aim_of("repaired")
    book = Sightings(aim, tmp_path)
    found = next(row for row in early[2] if row["kind"] == "failure" and row["property"] == "refines_route_info")
    unit = search_unit(Plan("repaired", *(one[0] for one in FEW)), 0, 0, 0)
    book.add([{**found, "unit": unit.id, "subject": "repaired"}])
    question, = book.questions()
    book.add(attempt(runs.work, question))
    row = next(one for one in book.verdicts() if one.property == "refines_route_info")
    assert (row.outcome, row.evidence) == (Outcome.UNKNOWN, None)
    assert "not so when the same tape was played again" in row.note


@pytest.mark.parametrize("other", [{"digest": "00" * 16}, {"seen": ()}])
def test_what_no_hazard_explains_is_believed_when_this_process_has_seen_it_too(
    other: dict[str, Any], early: tuple[Sightings, Path, list[Row]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, folder, rows = early
    book = Sightings(aim_of(subject_of(str(folder / "early.py"))), tmp_path)
    searched = next(row["unit"] for row in rows)
    question = next(row["unit"] for row in rows if row["kind"] == "again")
    book.add(row for row in rows if row["unit"] == searched)
    asked = list(book.questions())
    book.add(row for row in rows if row["unit"] == question)
    assert question in {unit.id for unit in asked}
    assert (book.verdicts()[0].outcome, book.evidence()) == (Outcome.UNKNOWN, {})
    monkeypatch.setattr(confirmed, "run", lambda *of: replace(run(*of), **other))
    assert book.settle()
    noticed = book.verdicts()[0]
    assert noticed.outcome is Outcome.UNKNOWN
    assert "not so when this process played the tape of a worker" in noticed.note


def test_units_that_fail_and_runs_that_are_unknown_make_unknown_verdicts(tmp_path: Path) -> None:
    aim = aim_of("repaired")
    unit = search_unit(Plan("repaired", *(one[0] for one in FEW)), 0, 0, 0)
    good = attempt(runs.work, short(unit, 1))
    failed = [{"unit": unit.id, "cpu_us": 1, "error": "lost"}]
    doubtful = [{**row, "unknown": 1} for row in good] + [{**good[0], "kind": "unknown", "seed": 0, "sentence": "much"}]
    assert outcome(aim, tmp_path, good) == (Outcome.HOLDS, "in 1 runs, ")
    assert outcome(aim, tmp_path, good, failed) == (Outcome.UNKNOWN, "1 units fai")
    assert outcome(aim, tmp_path, doubtful) == (Outcome.UNKNOWN, "1 of 1 runs")
    assert outcome(aim, tmp_path) == (Outcome.UNKNOWN, "not reached")


SPINS, LOOPS = ("2 s of CPU", "mine.py:4: spin"), ("9 segments", "mine.py:9: loop")


@pytest.mark.parametrize(("ends", "given_up"), [
    ((SPINS,), False), ((SPINS, LOOPS), False), ((SPINS, SPINS), True), ((SPINS, LOOPS, LOOPS), True),
])
def test_a_function_that_does_not_end_in_two_units_ends_the_campaign(
    ends: tuple[tuple[str, str], ...], given_up: bool, tmp_path: Path,
) -> None:
    (tmp_path / "same.py").write_text(planted.SAME, encoding="utf-8")
    aim = aim_of(subject_of(str(tmp_path / "same.py")))
    book = Sightings(aim, tmp_path)
    unit = search_unit(Plan(aim.subjects[0], *(one[0] for one in FEW)), 0, 0, 0)
    row = {"unit": unit.id, "cpu_us": 1, "error": None, "kind": "unknown", "violated": 1}
    book.add({**row, "seed": seed, "sentence": f"{what} does not end ({why})"} for seed, (why, what) in enumerate(ends))
    assert book.given_up() is given_up
    whole, *_ = book.verdicts()
    first = ends.index(ends[-1])
    said = f"it does not end: seed {first} of {unit.id}: {ends[-1][1]} does not end ({ends[-1][0]})"
    assert (whole.outcome, whole.note.startswith(said)) == (Outcome.UNKNOWN, given_up)


def outcome(aim: Aim, folder: Path, *rows: list[Row]) -> tuple[Outcome, str]:
    book = Sightings(aim, folder)
    for some in rows:
        book.add(some)
    row = next(one for one in book.verdicts() if one.property == "refines_route_info")
    return row.outcome, row.note[:11]


def test_what_a_hazard_breaks_is_unknown_until_it_is_seen(tmp_path: Path) -> None:
    aim = Aim(("shipped",), ("clustering",), ("calm",), ("uniform",)).checked()
    rows = {one.property: one for one in Sightings(aim, tmp_path).verdicts()}
    assert rows["one_owner_per_queue"].expected is Outcome.VIOLATED
    unit = search_unit(Plan("shipped", "broadcasting", "calm", "uniform"), 0, 0, 0)
    book = Sightings(Aim(("shipped",), *FEW).checked(), tmp_path)
    lived = attempt(runs.work, short(unit, 1))
    book.add(lived)
    seen = {row["property"] for row in lived if row["kind"] == "failure"}
    unseen = [one for one in book.verdicts() if one.expected is Outcome.VIOLATED and one.property not in seen]
    assert unseen
    assert {one.outcome for one in unseen} == {Outcome.UNKNOWN}


def test_a_control_in_which_nothing_unexpected_happens_ends_with_0(tmp_path: Path) -> None:
    unit = search_unit(Plan("repaired", "broadcasting", "calm", "uniform"), 0, 0, 0)
    book = Sightings(aim_of("repaired"), tmp_path)
    assert exit_status(book.verdicts()) is ExitStatus.UNKNOWN  # nothing was looked at
    book.add(attempt(runs.work, short(unit, 1)))
    unseen = [one for one in book.verdicts() if one.expected is Outcome.VIOLATED]
    assert {one.outcome for one in unseen} == {Outcome.NOT_MET}
    assert all(one.hazard and one.note.startswith("a hazard may break it, which none of 1 runs has met")
               for one in unseen)
    assert exit_status(book.verdicts()) is ExitStatus.AS_EXPECTED


def test_what_a_hazard_explains_is_seen_again_by_a_worker_tape_by_tape_and_never_made_simpler(tmp_path: Path) -> None:
    unit = search_unit(Plan("shipped", "clustering", "storm", "uniform"), 0, 0, 0)
    book = Sightings(Aim(("shipped",), ("clustering",), ("storm",), ("uniform",)).checked(), tmp_path)
    rows = attempt(runs.work, unit)
    book.add(rows)
    keys = {(row["property"], row["signature"]) for row in rows if row["kind"] == "failure"}
    question, = book.questions()
    assert len(keys) > len({name for name, _ in keys}) / 2 > 1
    answers = attempt(runs.work, question)
    assert {(row["property"], row["signature"]) for row in answers} <= keys
    assert {(row["runs"], row["violated"], row["rest"]) for row in answers} == {(1, 1, "null")}
    book.add(answers)
    assert (list(book.questions()), list(book.wishes())) == ([], [])
    assert not book.settle()
    broken = {one.property for one in book.verdicts() if one.outcome is Outcome.VIOLATED}
    assert broken == {name for name, _ in keys}


def test_a_hazard_whose_repair_is_left_out_has_to_be_met(tmp_path: Path) -> None:
    unit = search_unit(Plan("repaired-N-2", *(one[0] for one in FEW)), 0, 0, 0)
    book = Sightings(aim_of("repaired-N-2"), tmp_path)
    book.add([row for row in attempt(runs.work, short(unit, 1)) if row["kind"] == "judged"])
    rows = {one.property: one for one in book.verdicts()}
    assert rows["full_registration_installs_all_topics"].outcome is Outcome.UNKNOWN
    assert Outcome.NOT_MET in {one.outcome for one in rows.values()}


def test_rows_of_verdicts_can_be_written(early: tuple[Sightings, Path, list[Row]]) -> None:
    assert [Verdict.from_json(one.to_json()) for one in early[0].verdicts()] == early[0].verdicts()


# What is told ---------------------------------------------------------------------------------------------------------

REFINED = Asked(("refines_route_info",))


def test_of_a_planted_bug_each_property_that_is_asked_for_has_a_row(tmp_path: Path) -> None:
    (tmp_path / "early.py").write_text(planted.EARLY, encoding="utf-8")
    aim = aim_of(subject_of(str(tmp_path / "early.py")), until_failure=True)
    book = Sightings(aim, tmp_path, REFINED)
    done(book, aim)
    noticed, row = book.verdicts()
    assert (noticed.property, noticed.as_expected) == (NOTICED, True)
    assert (row.property, row.outcome, row.as_expected) == ("refines_route_info", Outcome.VIOLATED, True)
    assert {one["property"] for one in book.evidence().values()} == {"refines_route_info"}
    other = Sightings(aim, tmp_path, Asked(("every_name_server_learns",)))
    assert [one.property for one in other.verdicts()] == [NOTICED, "every_name_server_learns"]
    assert not other.found()


def test_rows_and_evidence_are_about_what_was_asked_for(tmp_path: Path) -> None:
    unit = search_unit(Plan("shipped", "clustering", "storm", "uniform"), 0, 0, 0)
    aim = Aim(("shipped",), ("clustering",), ("storm",), ("uniform",)).checked()
    book = Sightings(aim, tmp_path, Asked(("route_fits_together",)))
    book.add(attempt(runs.work, unit))
    for question in list(book.questions()):
        book.add(attempt(runs.work, question))
    settle(book)
    assert [one.property for one in book.verdicts()] == ["route_fits_together"]
    assert {one["property"] for one in book.evidence().values()} <= {"route_fits_together"}


def test_the_command_that_goes_on_has_the_options_of_the_campaign(tmp_path: Path) -> None:
    asked = Asked(("refines_route_info", "same_tape_same_run"), 2.5, "spark://host:7077")
    aim = aim_of("repaired", until_failure=True)
    row = Sightings(aim, tmp_path, asked).verdicts()[0]
    assert row.replay == (
        "rocketproof campaign --subject repaired --workload broadcasting --profile calm --strategy uniform "
        "--until-failure --seed 0 --property refines_route_info --property same_tape_same_run --minutes 2.5 "
        f"--master spark://host:7077 --out {tmp_path}")


def test_a_property_that_no_workload_is_judged_by_is_refused_before_spark_starts(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no workload of this campaign is judged by it"):
        campaign_worlds(1, aim_of("repaired"), out=tmp_path, properties=["one_lock_holder"])
