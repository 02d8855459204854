"""The crash atlas on Spark: every part once, the rows those of one process, and what was found is seen again."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from invariants import evidence
from invariants.verdict import BadInputError, Outcome, Verdict
from spark_fuzz import crash_plan
from spark_fuzz.cluster import Cluster
from spark_fuzz.commands import campaign_crashes
from spark_fuzz.crash_book import CrashBook, headline
from spark_fuzz.work import Row, Unit, attempt
from stateful_tests.crash.judge import judged, replayed
from stateful_tests.crash.promises import NAMES, STARTS, SURVIVES
from stateful_tests.crash.survey import Effort
from stateful_tests.crash.tally import Tally

AIM = crash_plan.Aim(workloads=("sync_two_topics", "async_torn")).checked()
SAME = ("judged", "distinct")


def units(aim: crash_plan.Aim) -> list[Unit]:
    return [*aim.first(), *aim.others()]


def told(rows: list[Verdict]) -> list[tuple[object, ...]]:
    return [(row.property, row.subject, row.outcome, row.expected, row.hazard, row.note,
             *(row.cost[name] for name in SAME)) for row in rows]


def test_units_have_different_names_that_tell_what_they_are_about() -> None:
    aim = crash_plan.Aim(("shipped", "repaired"), seed=3).checked()
    found = [*aim.first(), *islice(aim.others(), 400)]
    assert len({unit.id for unit in found}) == len(found)
    for unit in found:
        assert crash_plan.about_of({"unit": unit.id}) == (
            unit.body["subject"], unit.body["workload"], unit.body["crash"])
    assert {unit.body["workload"] for unit in aim.first()} == {*aim.workloads, "drawn SYNC_FLUSH", "drawn ASYNC_FLUSH"}
    parts = Counter(unit.body.get("of") for unit in units(AIM))
    assert parts == {1: 5, 2: 2}, "the machine crashes of async_torn have two parts"


def test_on_spark_as_in_one_process(cluster: Cluster, tmp_path: Path) -> None:
    rows = list(campaign_crashes(5.0, AIM, out=tmp_path, cluster=cluster))
    alone = list(judged(AIM.workloads, Effort(images=1_000_000)))
    assert told(rows) == told(alone)
    assert all(row.seed is None for row in rows)
    atlas = json.loads((tmp_path / "atlas.json").read_text("utf-8"))
    assert sum(row["judged"] for row in atlas) == sum(row["images"] for row in atlas)
    assert "images (" in headline(rows)[0]
    document = evidence.read(tmp_path / "evidence" / "crash-sync-two-topics-machine-acknowledged-survives-crash.json")
    assert replayed(document).outcome is Outcome.VIOLATED
    again = list(campaign_crashes(5.0, AIM, out=tmp_path, cluster=cluster))
    assert told(again) == told(rows)


def test_drawn_workloads_are_judged_and_replayed() -> None:
    aim = crash_plan.Aim(seed=1).checked()
    unit = next(unit for unit in aim.first() if unit.id.startswith("shipped | drawn ASYNC_FLUSH | machine"))
    small = replace(unit, body={**unit.body, "programs": [0, 4]})
    rows = attempt(crash_plan.work, small)
    assert [{**row, "cpu_us": 0} for row in rows] == [{**row, "cpu_us": 0} for row in attempt(crash_plan.work, small)]
    book = CrashBook(aim, Path("out"))
    book.add(rows)
    found = [row for row in book.verdicts() if row.subject.name == "drawn ASYNC_FLUSH, machine crash"]
    assert {row.outcome for row in found} >= {Outcome.VIOLATED}
    assert replayed(book.evidence()["crash-drawn-ASYNC-FLUSH-machine-store-starts-after-crash.json"]).as_expected


def some_row(book_aim: crash_plan.Aim) -> Row:
    return attempt(crash_plan.work, book_aim.first()[2])[0]


def test_what_is_not_seen_again_here_is_unknown() -> None:
    row = some_row(AIM)
    tally = Tally.from_json(row["tally"])
    tally.smallest[SURVIVES] = tally.smallest[STARTS]._replace(sentence="invented")
    book = CrashBook(AIM, Path("out"))
    book.add([{**row, "tally": tally.to_json()}])
    found = {row.property: row for row in book.verdicts() if row.subject.name == "sync_two_topics, machine crash"}
    assert (found[SURVIVES].outcome, found[NAMES].outcome) == (Outcome.UNKNOWN, Outcome.VIOLATED)


def test_a_unit_that_fails_and_one_that_is_missing_are_unknown() -> None:
    book = CrashBook(AIM, Path("out"))
    book.add([{"unit": AIM.first()[0].id, "cpu_us": 0, "error": "its worker ended"}])
    notes = {row.outcome: row.note for row in book.verdicts()}
    assert set(notes) == {Outcome.UNKNOWN}
    assert {row.note.split(":")[0] for row in book.verdicts()} == {
        "1 units failed, the first", "not reached in the time given"}


def test_names_that_are_none_are_refused() -> None:
    with pytest.raises(BadInputError, match="no workload"):
        crash_plan.Aim(workloads=("sync",)).checked()
    with pytest.raises(BadInputError, match="nonsense"):
        crash_plan.Aim(("nonsense",)).checked()
