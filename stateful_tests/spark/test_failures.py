from __future__ import annotations

import json
from pathlib import Path

import pytest

from invariants.finding import put_down_to
from invariants.verdict import Outcome
from spark_fuzz import runs
from spark_fuzz.failures import Failures, Limits
from spark_fuzz.runs import Key
from spark_fuzz.sightings import Sightings
from spark_fuzz.simulation import KNOWN_LOOKS, LOOKS, Aim, search_unit
from spark_fuzz.work import Row, attempt
from stateful_tests.spark.books import settle
from stateful_tests.worlds.subjects import subject_named

STORM = {"subject": "repaired", "workload": "clustering", "profile": "storm", "strategy": "uniform"}


def failure(name: str, *signature: str, seed: int = 0) -> Row:
    """The row of a unit that shows a way to fail; each seed has a tape of its own."""
    return {"kind": "failure", "property": name, "signature": json.dumps([name, *signature]), "seed": seed, **STORM,
            "choices": bytes([1, seed]), "digest": bytes([seed]), "time_ms": 7, "sentence": "It fails."}


def seen(*rows: Row, limits: Limits | None = None) -> Failures:
    """All failures of a campaign on the control that shows these."""
    failures = Failures(subject_named("repaired").explains, limits)
    for row in rows:
        failures.take(row)
    return failures


def asked(failures: Failures) -> list[tuple[Key, int]]:
    """Each way that is looked at again, and how often its tape is played."""
    return [(tuple(key), unit.body["looks"]) for unit in failures.questions() for key in unit.body["keys"]]


LEFT_ALONE, OWNERS, KEPT = "queue_is_not_left_alone", "one_owner_per_queue", "settled_is_not_begun_again"
U1, L13, D1 = map(put_down_to, ("U1", "L13", "D1"))


def test_each_way_and_each_hazard_is_looked_at_once_and_the_rest_is_counted() -> None:
    failures = seen(*(failure(LEFT_ALONE, *signature, seed=seed) for seed, signature in enumerate([
        ("in time", U1), ("in time", U1, L13), ("in time", L13), ("QueueDropped", L13), ("QueueDropped", U1, L13)])))
    assert asked(failures) == [
        ((LEFT_ALONE, LEFT_ALONE, *signature), KNOWN_LOOKS)
        for signature in [("in time", U1), ("in time", U1, L13), ("QueueDropped", L13)]]
    assert len(failures.ways(LEFT_ALONE)) == 5
    assert [one["looked_at"] for one in failures.to_json()] == [True, True, False, True, False]


def test_a_hazard_is_named_by_one_look_whatever_the_property() -> None:
    both = seen(failure(KEPT, "QueueTaken", put_down_to("X1")), failure(OWNERS, "QueueTaken", D1, seed=1),
                failure(KEPT, "QueueTaken", D1, seed=2))
    assert [key for key, _ in asked(both)] == [(KEPT, KEPT, "QueueTaken", put_down_to("X1")),
                                               (OWNERS, OWNERS, "QueueTaken", D1)]


def test_a_row_says_which_ways_were_counted_only(tmp_path: Path) -> None:
    aim = Aim(("repaired",), ("clustering",), ("storm",), ("uniform",)).checked()
    book, unit = Sightings(aim, tmp_path), search_unit(aim.arms()[0], 0, 0, 0).id
    rows = [failure(KEPT, "QueueTaken", put_down_to("X1")), failure(OWNERS, "QueueTaken", D1, seed=1),
            failure(KEPT, "QueueTaken", D1, seed=2)]
    judged = {"kind": "judged", "runs": 9, "violated": 2, "unknown": 0, "segments": 1, "cpu_us": 1}
    book.add({**row, "unit": unit, "error": None} for row in (*rows, *({**judged, "property": one} for one in (
        KEPT, OWNERS))))
    for question, row in zip(list(book.questions()), rows, strict=False):
        book.add([{**row, "unit": question.id, "error": None, "violated": 1, "unknown": 0, "rest": "null"}])
    notes = {one.property: (one.note, one.hazard) for one in book.verdicts() if one.outcome is Outcome.VIOLATED}
    assert notes == {
        KEPT: ("It fails.; in 2 of 9 runs, in 2 ways, 1 of them counted only, put down to D1 too", ("X1",)),
        OWNERS: ("It fails.; in 2 of 9 runs", ("D1",))}


@pytest.mark.parametrize("signature", [("in time",), ("in time", put_down_to("D4"))])
def test_what_no_hazard_of_the_subject_explains_is_looked_at_twice_whatever_was_looked_at_before(
    signature: tuple[str, ...],
) -> None:
    failures = seen(failure(LEFT_ALONE, "in time", U1), failure(LEFT_ALONE, *signature, seed=1))
    assert asked(failures) == [((LEFT_ALONE, LEFT_ALONE, "in time", U1), KNOWN_LOOKS),
                               ((LEFT_ALONE, LEFT_ALONE, *signature), LOOKS)]
    assert [one.expected for one in failures.of(LEFT_ALONE)] == [False, True]


def test_of_what_no_hazard_explains_so_many_ways_are_looked_at() -> None:
    failures = seen(*(failure(OWNERS, f"way {number}", seed=number) for number in range(4)), limits=Limits(3, 1))
    assert len(asked(failures)) == 3
    assert len(failures.ways(OWNERS)) == 4


def test_a_bug_is_not_hidden_by_a_permitted_finding_of_the_same_property(tmp_path: Path) -> None:
    subject = "repaired+seeded-given-up-stays-locked"
    aim = Aim((subject,), ("orderly",), ("calm",), ("uniform",)).checked()
    book, unit = Sightings(aim, tmp_path), search_unit(aim.arms()[0], 0, 0, 0)
    permitted = {**failure(LEFT_ALONE, "in time", L13), "subject": subject, "unit": unit.id, "error": None}
    book.add([permitted])
    before = list(book.questions())
    book.add(attempt(runs.work, unit))
    assert before == [one for one in book.questions() if one.body["looks"] == KNOWN_LOOKS]
    later = [one for one in book.questions() if one not in before]
    assert [LEFT_ALONE, LEFT_ALONE, "in time"] in [key for one in later for key in one.body["keys"]]
    for question in later:
        book.add(attempt(runs.work, question))
    settle(book)
    assert LEFT_ALONE in book.verdicts()[0].note
