from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from invariants.allocation.cases import Case
from invariants.verdict import ExitStatus, Outcome, Verdict, exit_status
from spark_fuzz import decisions
from spark_fuzz.findings import Findings
from spark_fuzz.work import Row, attempt
from stateful_tests.decisions.replay import replay_counterexample

BROKEN = "stateful_tests.spark.toys:BROKEN"
LOSES, RAISES = "loses a queue | equal lists", "raises for four | equal lists"
ROWS = [row for unit in decisions.first(BROKEN) for row in attempt(decisions.work, unit)]


def verdicts(*rows: Row, folder: Path = Path("out")) -> dict[tuple[str, str], Verdict]:
    findings = Findings(BROKEN, 0, folder)
    findings.add(rows)
    return {(one.subject.name, one.property): one for one in findings.verdicts()}


def test_a_violation_carries_its_smallest_case_count_and_replay() -> None:
    one = verdicts(*ROWS)["loses a queue", "allocation_is_total"]
    assert one.outcome is Outcome.VIOLATED
    assert one.note == "5 queues, 3 members: T/b:4 has no owner"
    assert one.replay == f"python -m spark_fuzz --decisions --minutes 1 --seed 0 --out out --strategies {BROKEN}"
    assert 0 < one.cost["violated"] < one.cost["inputs"]


def test_evidence_of_a_shipped_strategy_is_replayed_by_its_file() -> None:
    findings = Findings(decisions.TABLE, 0, Path("out"))
    unit = next(unit for unit in decisions.first() if unit.body["subject"].startswith("AVG | two processes"))
    findings.add(attempt(decisions.work, unit))
    found = [one for one in findings.verdicts() if one.outcome is Outcome.VIOLATED]
    assert len(found) == 2
    for one in found:
        assert one.replay == f"rocketproof replay out/{one.evidence}"
        again = replay_counterexample(findings.evidence()[Path(str(one.evidence)).name])
        assert (again.outcome, one.note.endswith(again.note)) == (Outcome.VIOLATED, True)


def test_what_holds_says_how_far_it_was_looked() -> None:
    one = verdicts(*ROWS)["loses a queue", "allocation_answers"]
    assert (one.outcome, one.evidence) == (Outcome.HOLDS, None)
    assert one.note.startswith("1 of ")
    assert "64 queues x 24 members" in one.note


def test_cases_that_could_not_be_judged_leave_it_unknown() -> None:
    one = verdicts(*ROWS)["raises for four", "allocation_is_total"]
    assert one.outcome is Outcome.UNKNOWN
    assert "could not be judged" in one.note


def test_what_was_not_reached_is_unknown() -> None:
    rows = verdicts(*(row for row in ROWS if row["subject"] == LOSES))
    one = rows["raises for four", "allocation_answers"]
    assert (one.outcome, one.note) == (Outcome.UNKNOWN, "not reached in the time given")
    assert exit_status([one]) is ExitStatus.UNKNOWN


def test_a_unit_that_failed_leaves_unknown_what_nothing_refuted() -> None:
    unit = decisions.first(BROKEN)[0].id
    failed = {"unit": unit, "cpu_us": 0, "error": "worker lost"}
    rows = verdicts(*ROWS, failed)
    assert rows["loses a queue", "allocation_answers"].outcome is Outcome.UNKNOWN
    assert rows["loses a queue", "allocation_answers"].note == f"1 units failed, the first: {unit}: worker lost"
    assert rows["loses a queue", "allocation_is_total"].outcome is Outcome.VIOLATED
    assert rows["raises for four", "allocation_answers"].outcome is Outcome.VIOLATED


def test_a_counterexample_that_does_not_come_out_again_is_unknown() -> None:
    forged = [{**row, "sentence": "T/b:9 has no owner"} if row["rank"] is not None else row for row in ROWS]
    one = verdicts(*forged)["loses a queue", "allocation_is_total"]
    assert one.outcome is Outcome.UNKNOWN
    assert "not so when it was put to the strategy again" in one.note


def test_the_order_in_which_rows_come_changes_nothing() -> None:
    whole = verdicts(*ROWS)
    assert all(verdicts(*some) == whole for some in itertools.islice(itertools.permutations(ROWS), 0, 24, 5))


def test_the_smallest_counterexample_of_all_units_wins() -> None:
    found = next(row for row in ROWS if row["rank"] is not None)
    larger = {**found, "unit": "a | earlier", "rank": 1 << 50, "case": "?"}
    assert verdicts(*ROWS, larger)["loses a queue", "allocation_is_total"].note.startswith("5 queues, 3 members")


@pytest.mark.parametrize("subject", ["loses a queue", "raises for four"])
def test_evidence_holds_what_shows_the_violation_again(subject: str, tmp_path: Path) -> None:
    findings = Findings(BROKEN, 0, tmp_path)
    findings.add(ROWS)
    one = next(one for one in findings.verdicts() if one.subject.name == subject and one.evidence)
    document = json.loads(json.dumps(findings.evidence()[Path(str(one.evidence)).name]))
    assert document["format"] == "rocketproof-evidence/1"
    assert (document["kind"], document["property"], document["replay"]) == ("counterexample", one.property, one.replay)
    row = decisions.subjects(document["strategies"])[f"{subject} | {document['subject']['details']['inputs']}"]
    case = Case.from_json(document["arguments"])
    assert row.make(case)
    assert document["sentence"] == f"{one.note}."
    assert len(document["table"]["rows"]) == len(case.queues())
