"""The verdicts of the crash atlas: as expected, the same again, and different for a store that is broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from impl.store import dispatch_request
from impl.store.default_message_store import DefaultMessageStore
from impl.store.mapped_file import MappedFile
from impl.store.mapped_file_queue import MappedFileQueue
from invariants.__main__ import app
from invariants.hazards import HAZARDS
from invariants.verdict import BadInputError, ExitStatus, Outcome, Verdict
from stateful_tests.crash.images import MachineCrashes
from stateful_tests.crash.judge import About, judged
from stateful_tests.crash.programs import Life
from stateful_tests.crash.promises import (
    CONSECUTIVE,
    ENDS,
    GONE,
    KEYS,
    LIVES,
    MISSED,
    NAMES,
    PREFIX,
    PROPERTIES,
    STARTS,
    SURVIVES,
    broken,
)
from stateful_tests.crash.recovery import NEVER_ENDS, WAITS, outcome
from stateful_tests.crash.survey import JOURNALLED, KINDS, MACHINE, PROCESS, Crashes, Effort, surveyed
from stateful_tests.crash.tally import Example
from stateful_tests.crash.workloads import WORKLOADS
from stateful_tests.worlds.subjects import subject_named

SMALL = Effort(images=1_000)


def smallest(life: Life, kind: str) -> dict[str, Example]:
    """What crashes of a life break."""
    return surveyed(life, Crashes(life, kind).all()).smallest


def differing(rows: list[Verdict]) -> set[tuple[str, str]]:
    """Property and kind of crash of each row that is not as expected."""
    return {(row.property, row.subject.details["crash"]) for row in rows if not row.as_expected}


@pytest.mark.parametrize("name", [
    "sync_two_topics", "sync_torn", "sync_stop", "sync_kill", "sync_index", "sync_refused", "sync_touched",
    "sync_forget", "sync_clean", "sync_full", "sync_power",
    "async_power"])
def test_every_row_is_as_expected(name: str) -> None:
    rows = list(judged([name], Effort(images=3_000)))
    assert differing(rows) == set()
    assert all(row.seed is None for row in rows)


@pytest.mark.parametrize("name", [
    "async_roll", "async_torn", "async_index", "async_full", "sync_undispatched"])
def test_no_row_of_a_sample_is_unexpected(name: str) -> None:
    assert differing(list(judged([name], Effort(images=300)))) == set()


def test_every_expectation_is_of_a_known_property_kind_and_hazard() -> None:
    for workload in WORKLOADS.values():
        assert set(workload.expected) == set(KINDS)
        for broken_properties in workload.expected.values():
            assert set(broken_properties) <= set(PROPERTIES)
            assert {hazard for hazards in broken_properties.values() for hazard in hazards} <= set(HAZARDS)


def test_each_property_is_broken_by_some_workload() -> None:
    assert {name for workload in WORKLOADS.values() for table in workload.expected.values() for name in table} == set(
        PROPERTIES) - {LIVES}


@pytest.mark.parametrize(("bug", "workload", "name"), [
    ("st-cq-duplicate-dispatch", "sync_kill", NAMES), ("st-cq-gap-on-failed-append", "sync_refused", SURVIVES),
    ("st-offset-table-key", "sync_roll", CONSECUTIVE), ("st-find-file-race", "sync_clean", LIVES),
    ("st-initial-reput", "sync_forget", MISSED), ("st-truncation-not-crash-safe", "sync_power", GONE),
    ("st-index-slot-count", "sync_index", LIVES), ("cl-delete-middle", "sync_touched", PREFIX),
])
def test_a_planted_bug_is_noticed(bug: str, workload: str, name: str) -> None:
    rows = list(judged([workload], Effort(images=100), subject=f"repaired+{bug}"))
    assert name in {row.property for row in rows if row.outcome is Outcome.VIOLATED and not row.as_expected}


@pytest.mark.parametrize("name", ["sync_refused", "sync_touched", "sync_forget"])
def test_nothing_but_unforced_deletions_is_seen_where_the_bugs_are_not(name: str) -> None:
    rows = list(judged([name], Effort(images=100), subject="repaired"))
    assert {row.property for row in rows if row.outcome is Outcome.VIOLATED} <= {GONE}
    assert differing(rows) == set()


def test_keys_are_judged_where_there_is_an_index_and_all_else_everywhere() -> None:
    judged_so = {name: set(About(subject_named("shipped"), name, PROCESS).properties())
                 for name in ("sync_torn", "sync_index", "drawn SYNC_FLUSH")}
    assert judged_so == {
        "sync_torn": set(PROPERTIES) - {KEYS}, "sync_index": set(PROPERTIES), "drawn SYNC_FLUSH": set(PROPERTIES)}


SURE = [name for name in WORKLOADS if name.startswith("sync") and name not in {
    "sync_full", "sync_undispatched", "sync_clean_many"}]


@pytest.mark.parametrize("name", SURE)
def test_with_sync_flush_an_acknowledged_message_survives_where_the_file_abort_does(name: str) -> None:
    life = Life(WORKLOADS[name])
    lost = []
    for found in MachineCrashes(life.recorder).all():
        known = life.known(found.until - 1)
        if "store/abort" in found.image and SURVIVES in broken(outcome(found.image, life), known):
            lost.append(found)
    assert lost == []


class Unforced(DefaultMessageStore):
    """A store whose group commit forgets the force."""

    def load(self) -> bool:
        """Load, and replace the flush."""
        queue = self.commit_log.mapped_file_queue

        def flush(flush_least_pages: int) -> bool:
            queue.flushed_where = queue.get_max_offset()
            return bool(flush_least_pages)

        queue.flush = flush  # type: ignore[method-assign]  # the planted bug
        return super().load()


def test_an_acknowledgement_without_force_is_noticed() -> None:
    assert differing(list(judged(["sync_roll"], SMALL, store=Unforced))) >= {
        (SURVIVES, JOURNALLED), (SURVIVES, MACHINE)}


def test_a_recovery_that_keeps_a_torn_record_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    life = Life(WORKLOADS["sync_roll"])
    assert PREFIX not in smallest(life, JOURNALLED)
    rest, body = dispatch_request._rest, dispatch_request._read_body
    monkeypatch.setattr(dispatch_request, "_rest", lambda *given: rest(*given)._replace(topic="A", success=True))
    monkeypatch.setattr(dispatch_request, "_read_body", lambda buffer, header, *, check_crc, read_body: body(
        buffer, header, check_crc=check_crc and not read_body, read_body=read_body))
    assert PREFIX in smallest(life, JOURNALLED)


def test_a_recovery_that_cuts_too_much_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    life = Life(WORKLOADS["sync_roll"])
    truncate = MappedFileQueue.truncate_dirty_files
    monkeypatch.setattr(MappedFileQueue, "truncate_dirty_files", lambda queue, offset: truncate(
        queue, 0 if queue.store_path.endswith("commitlog") else offset))
    assert SURVIVES in smallest(life, PROCESS)


@pytest.mark.parametrize("look", [
    lambda queue: queue.disk.length("f"), lambda queue: queue.now_ms()], ids=["disk", "clock"])
def test_a_recovery_without_end_is_noticed(
    monkeypatch: pytest.MonkeyPatch, look: Callable[[MappedFileQueue], object],
) -> None:
    life = Life(WORKLOADS["sync_roll"])
    assert ENDS not in smallest(life, PROCESS)

    def for_ever(queue: MappedFileQueue, _: int) -> None:
        while True:
            look(queue)

    monkeypatch.setattr(MappedFileQueue, "truncate_dirty_files", for_ever)
    found = smallest(life, PROCESS)
    assert found[ENDS].sentence == NEVER_ENDS
    assert set(found) == {STARTS, ENDS}


def test_a_clean_up_that_only_forgets_its_files_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert GONE not in smallest(Life(WORKLOADS["sync_clean"]), PROCESS)
    monkeypatch.setattr(MappedFile, "destroy", lambda *_: True)
    assert GONE in smallest(Life(WORKLOADS["sync_clean"]), PROCESS)


def test_a_gap_that_is_left_of_a_deletion_keeps_the_start_waiting() -> None:
    assert smallest(Life(WORKLOADS["sync_full"]), MACHINE)[ENDS].sentence == WAITS


def test_the_same_seed_gives_the_same_rows() -> None:
    def rows(seed: int) -> list[tuple[str, Outcome, str]]:
        found = judged(["async_torn"], Effort(images=200, seed=seed))
        return [(row.property, row.outcome, row.note) for row in found]

    assert rows(1) == rows(1) != rows(2)


def test_what_was_not_met_in_a_sample_is_not_said_to_hold() -> None:
    rows = [row for row in judged(["sync_kill"], Effort(images=1)) if row.seed is not None]
    unmet = [row for row in rows if row.expected is Outcome.VIOLATED and row.outcome is not Outcome.VIOLATED]
    assert unmet
    assert {row.outcome for row in unmet} == {Outcome.NOT_MET}


def test_an_unknown_workload_is_bad_input() -> None:
    with pytest.raises(BadInputError, match="no workload 'sync'"):
        list(judged(["sync"], SMALL))


def test_the_command_leaves_an_image_that_replays_and_files_that_a_store_has(tmp_path: Path) -> None:
    run = CliRunner()
    made = run.invoke(app, ["crash", "--workload", "sync_torn", "--out", str(tmp_path)])
    assert made.exit_code == ExitStatus.AS_EXPECTED
    evidence = tmp_path / "evidence" / "crash-sync-torn-journalled-recovery-is-a-prefix.json"
    assert run.invoke(app, ["replay", str(evidence)]).exit_code == ExitStatus.AS_EXPECTED
    files = tmp_path / json.loads(evidence.read_text("utf-8"))["arguments"]["files"] / "store"
    assert run.invoke(app, ["store", str(files)]).exit_code in (ExitStatus.AS_EXPECTED, ExitStatus.DIFFERENT)
    document = json.loads(evidence.read_text("utf-8"))
    document["property"] = SURVIVES  # which the image does not break
    evidence.write_text(json.dumps(document), "utf-8")
    assert run.invoke(app, ["replay", str(evidence)]).exit_code == ExitStatus.DIFFERENT
