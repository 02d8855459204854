from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from impl.hosts.simulation.digest import PART
from impl.hosts.simulation.tape import QuietTape, Tape
from invariants.finding import put_down_to
from invariants.report.page import render
from invariants.verdict import Outcome
from spark_fuzz import runs
from spark_fuzz.failures import Failures, Limits
from spark_fuzz.runs import Key
from spark_fuzz.sightings import Sightings
from spark_fuzz.simulation import KNOWN_LOOKS, LOOKS, Aim, repeated_unit, search_unit
from spark_fuzz.tallies import is_told
from spark_fuzz.work import Row, Unit, attempt
from stateful_tests.spark.books import settle
from stateful_tests.worlds.evidence import drawn, replay_run
from stateful_tests.worlds.run import Plan, RunRecord, run
from stateful_tests.worlds.subjects import subject_named

STORM = {"subject": "repaired", "workload": "clustering", "profile": "storm", "strategy": "uniform"}


def failure(name: str, *signature: str, seed: int = 0, runs: int = 1) -> Row:
    """The row of a unit that shows a way to fail in so many runs; each seed has a tape of its own."""
    return {"kind": "failure", "property": name, "signature": json.dumps([name, *signature]), "seed": seed, **STORM,
            "choices": bytes([1, seed]), "digest": bytes([seed]), "time_ms": 7, "sentence": "It fails.",
            "violated": runs}


def seen(*rows: Row, limits: Limits | None = None, told: Sequence[Key] = ()) -> Failures:
    """All failures of a campaign on the control that shows these; told -- those that a story confirms."""
    failures = Failures(subject_named("repaired").explains, lambda key: key in told, limits)
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


def test_what_a_story_confirms_is_believed_as_it_was_recorded() -> None:
    key = (OWNERS, OWNERS, "QueueTaken", D1)
    row, unexplained = failure(*key[:1], *key[2:]), failure(OWNERS, "QueueTaken", seed=1)
    failures = seen(row, unexplained, told=[key, (OWNERS, OWNERS, "QueueTaken")])
    assert asked(failures) == [((OWNERS, OWNERS, "QueueTaken"), LOOKS)]
    assert [(one.key, one.believed is not None) for one in failures.ways(OWNERS)] == [
        (key, True), ((OWNERS, OWNERS, "QueueTaken"), False)]
    failures.answer({**row, "unit": "again", "error": None, "violated": 0, "unknown": 1})
    assert not any(one.believed for one in failures.ways(OWNERS))


@pytest.mark.parametrize(("subject", "name", "causes", "told"), [
    ("repaired", KEPT, ("X1",), True), ("repaired", KEPT, ("X1", "D1"), True),
    ("repaired", KEPT, ("D1",), False), ("repaired", KEPT, (), False), ("shipped", OWNERS, (), False),
    ("shipped", KEPT, ("X12",), True), ("repaired", KEPT, ("X12",), False),
])
def test_a_story_confirms_what_it_breaks_by_a_cause_that_was_seen_and_that_the_subject_has(
    subject: str, name: str, causes: tuple[str, ...], told: bool,
) -> None:
    assert is_told(subject, (name, name, "QueueTaken", *map(put_down_to, causes))) is told


def test_the_evidence_of_what_was_recorded_is_drawn_when_it_is_replayed(tmp_path: Path) -> None:
    aim = Aim(("repaired",), ("smallest",), ("clocks",), ("uniform",)).checked()
    book = Sightings(aim, tmp_path)
    book.add(attempt(runs.work, search_unit(aim.arms()[0], aim.seed, 1, 0)))
    assert not list(book.questions())
    row = next(one for one in book.verdicts() if one.property == OWNERS)
    document = book.evidence()[str(row.evidence).removeprefix("evidence/")]
    assert (row.outcome, row.hazard, "picture" in document) == (Outcome.VIOLATED, ("D1",), False)
    assert "replay command draws it" in render([row], {str(row.evidence): dict(document)})
    again = replay_run(document)
    assert (again.outcome, "digest as stored" in again.note) == (Outcome.VIOLATED, True)
    shown = drawn(document)
    assert {**document, "told": shown["told"], "picture": shown["picture"]} == shown
    assert drawn(shown) is shown
    assert "picture" not in drawn({**document, "choices": []})


@pytest.fixture(name="explained")
def _explained(tmp_path: Path) -> tuple[Sightings, Unit]:
    """A campaign whose run a hazard breaks that no story confirms, and the unit that looks at it again."""
    aim = Aim(("shipped",), ("smallest",), ("storm",), ("uniform",)).checked()
    book = Sightings(aim, tmp_path)
    book.add(attempt(runs.work, search_unit(aim.arms()[0], aim.seed, 1, 0)))
    question, = book.questions()
    assert question.body["looks"] == KNOWN_LOOKS
    return book, question


def test_what_a_hazard_explains_is_believed_when_its_digest_was_repeated(explained: tuple[Sightings, Unit]) -> None:
    book, question = explained
    asked_about = {key[0] for key in question.body["keys"]}
    assert not asked_about & {one.property for one in book.verdicts() if one.outcome is Outcome.VIOLATED}
    book.add(attempt(runs.work, question))
    assert not list(book.questions())
    rows = {one.property: one for one in book.verdicts() if one.property in asked_about}
    assert {one.outcome for one in rows.values()} == {Outcome.VIOLATED}
    for row in rows.values():
        document = book.evidence()[str(row.evidence).removeprefix("evidence/")]
        assert "picture" not in document
        assert replay_run(document).outcome is Outcome.VIOLATED


def test_what_has_another_digest_is_not_believed(explained: tuple[Sightings, Unit]) -> None:
    book, question = explained
    rows = attempt(runs.work, replace(question, body={**question.body, "digest": bytes(16).hex()}))
    assert [(row["violated"], row["unknown"]) for row in rows] == [(0, 1)] * len(question.body["keys"])
    book.add(rows)
    outcomes = {one.property: one.outcome for one in book.verdicts()}
    assert {outcomes[key[0]] for key in question.body["keys"]} == {Outcome.UNKNOWN}


def test_it_is_played_until_all_was_seen_and_no_longer(
    explained: tuple[Sightings, Unit], monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, question = explained
    played: list[RunRecord] = []

    def noted(plan: Plan, tape: Tape, *, judged: bool, records: int) -> RunRecord:
        played.append(run(plan, tape, judged=judged, records=records))
        return played[-1]

    monkeypatch.setattr(runs, "run", noted)
    assert {row["violated"] for row in attempt(runs.work, question)} == {1}
    plan, tape = Plan(**question.body["plan"]), bytes.fromhex(question.body["choices"])
    short, = played
    whole = run(plan, QuietTape(tape))
    assert 0 < short.segments < whole.segments / 2
    asked_about = {tuple(key) for key in question.body["keys"]}
    last = max(whole.seen_after[key] for key in asked_about)
    assert last < question.body["records"] <= last + PART
    assert asked_about <= {*run(plan, QuietTape(tape), records=question.body["records"]).signatures()}
    other = bytes([*tape[:-1], tape[-1] ^ 1])
    assert run(plan, QuietTape(other)).digest != whole.digest


@pytest.mark.parametrize(("records", "longest"), [((128, 384, 256), 384), ((128, 0, 256), 0)])
def test_a_tape_is_played_until_the_last_of_its_failures(records: tuple[int, ...], longest: int) -> None:
    ways = zip((("in time", U1), ("in time", U1, L13), ("QueueDropped", L13)), records, strict=True)
    failures = seen(*({**failure(LEFT_ALONE, *signature), "records": many, "beginning": bytes([many % 251])}
                      for signature, many in ways))
    question, = failures.questions()
    assert question.body["records"] == longest
    assert question.body["digest"] == bytes([longest % 251]).hex()


def test_a_run_that_its_judges_have_ended_is_repeated_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan("shipped", "smallest", "calm")
    ended = run(plan, QuietTape([]))
    lived_on = replace(ended, digest="00" * 16)
    monkeypatch.setattr(runs, "run", lambda *_, judged=True, **__: ended if judged else lived_on)
    question = repeated_unit(plan, [(OWNERS, OWNERS)], b"", bytes.fromhex(ended.digest), 0)
    assert [row["violated"] for row in attempt(runs.work, question)] == [1]


def test_a_row_says_which_ways_were_counted_only(tmp_path: Path) -> None:
    aim = Aim(("repaired",), ("clustering",), ("storm",), ("uniform",)).checked()
    book, unit = Sightings(aim, tmp_path), search_unit(aim.arms()[0], 0, 0, 0).id
    rows = [failure(KEPT, "QueueTaken", put_down_to("X1")), failure(OWNERS, "QueueTaken", D1, seed=1),
            failure(KEPT, "QueueTaken", D1, seed=2)]
    judged = {"kind": "judged", "runs": 9, "violated": 2, "unknown": 0, "segments": 1, "cpu_us": 1}
    book.add({**row, "unit": unit, "error": None} for row in (*rows, *({**judged, "property": one} for one in (
        KEPT, OWNERS))))
    notes = {one.property: (one.note, one.hazard) for one in book.verdicts() if one.outcome is Outcome.VIOLATED}
    assert notes == {
        KEPT: ("It fails.; in 2 of 9 runs, in 2 ways, 1 of them counted only, put down to D1 too", ("X1",)),
        OWNERS: ("It fails.; in 2 of 9 runs", ("D1",))}


@pytest.mark.parametrize(("more", "counted"), [
    ((), "in 3 of 9 runs; with what hazards explain in 7 of 9 runs, in 2 ways"),
    (("in time",), "in 3 of 9 runs, nor one more way; with what hazards explain in 7 of 9 runs, in 3 ways"),
    (("in time", "late"), "in 3 of 9 runs, nor 2 more ways; with what hazards explain in 7 of 9 runs, in 4 ways"),
])
def test_a_row_counts_what_no_hazard_explains_by_itself(tmp_path: Path, more: tuple[str, ...], counted: str) -> None:
    aim = Aim(("repaired",), ("clustering",), ("storm",), ("uniform",)).checked()
    book, unit = Sightings(aim, tmp_path), search_unit(aim.arms()[0], 0, 0, 0).id
    explained = failure(KEPT, "QueueTaken", put_down_to("X1"))
    strange = [failure(KEPT, way, seed=seed, runs=runs) for seed, (way, runs) in enumerate((
        ("QueueTaken", 2), ("QueueTaken", 1), *((way, 1) for way in more)), 6)]
    judged = {"kind": "judged", "property": KEPT, "runs": 9, "violated": 7, "unknown": 0, "segments": 1, "cpu_us": 1}
    book.add({**row, "unit": unit, "error": None} for row in (explained, *strange, judged))
    for failing in book._about["repaired"].failures.looked_at():
        if not failing.expected:
            failing.answers, failing.played = [failing.first], failing.first
    row, = (one for one in book.verdicts() if one.property == KEPT)
    assert row.note.startswith(f"It fails.; no hazard explains this, {counted}; the run shows no cause of X1")
    assert (row.expected, row.outcome) == (Outcome.HOLDS, Outcome.VIOLATED)


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
