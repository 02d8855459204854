"""Workloads that are drawn, and the numbers of images: they are lived through, and they add up."""

from __future__ import annotations

import pytest

from impl.store.message_store_config import FlushDiskType
from stateful_tests.crash.drawn import DRAWN, LEAST, MOST, drawn, group_of
from stateful_tests.crash.programs import Life, Workload
from stateful_tests.crash.promises import GONE, IDEMPOTENT, SURVIVES
from stateful_tests.crash.survey import JOURNALLED, KINDS, MACHINE, PROCESS, Crashes, surveyed
from stateful_tests.crash.tally import Tally
from stateful_tests.crash.workloads import WORKLOADS
from stateful_tests.worlds.subjects import subject_named


@pytest.mark.parametrize("flush", FlushDiskType)
def test_a_store_lives_through_what_is_drawn(flush: FlushDiskType) -> None:
    workloads = [drawn(flush, 0, number) for number in range(60)]
    assert all(LEAST <= len(workload.operations) <= MOST for workload in workloads)
    assert {word.split()[0] for workload in workloads for word in workload.operations} >= {
        "put", "batch", "roll", "edge", "dispatch", "flush", "queues", "checkpoint", "stop", "kill", "start",
        "delay", "deliver", "offsets", "clean", "full"}
    assert all(Life(workload).messages for workload in workloads)
    assert workloads == [drawn(flush, 0, number) for number in range(60)] != [
        drawn(flush, 1, number) for number in range(60)]


def test_what_is_drawn_is_expected_to_break_what_the_workloads_break() -> None:
    for workload in WORKLOADS.values():
        expected = DRAWN[group_of(workload.flush)]
        assert all(set(workload.expected[kind]) <= set(expected[kind]) for kind in KINDS)


def test_what_is_acknowledged_and_not_flushed_is_promised_with_sync_flush_only() -> None:
    lost = {flush: DRAWN[group_of(flush)][MACHINE][SURVIVES] for flush in FlushDiskType}
    assert lost[FlushDiskType.ASYNC_FLUSH] == ()
    assert "V26" in lost[FlushDiskType.SYNC_FLUSH]
    assert DRAWN[group_of(FlushDiskType.SYNC_FLUSH)][MACHINE][GONE] == ()


def test_the_tally_of_parts_is_that_of_all() -> None:
    life = Life(WORKLOADS["sync_kill"])
    crashes = Crashes(life, JOURNALLED)
    whole, joined = surveyed(life, crashes.all()), Tally()
    for part in range(3):
        joined.join(Tally.from_json(surveyed(life, crashes.all(part, 3)).to_json()))
    assert (joined.covered, joined.distinct, joined.broken) == (whole.covered, whole.distinct, whole.broken)
    assert {name: one.to_json() for name, one in joined.smallest.items()} == {
        name: one.to_json() for name, one in whole.smallest.items()}
    assert joined.covered == crashes.images


def test_process_crashes_are_counted_by_their_steps() -> None:
    life = Life(WORKLOADS["sync_stop"])
    crashes = Crashes(life, PROCESS)
    assert surveyed(life, crashes.all()).covered == crashes.images == life.recorder.steps + 1


def test_a_second_recovery_comes_after_the_first_one_so_that_their_index_files_have_names_of_their_own() -> None:
    """The first recovery makes two index files, of which the second destroys the last: it must not make the other."""
    program = ("put B k m", "put A k m", "put A m l", "flush", "put A k m", "dispatch", "put B k")
    with subject_named("repaired").running():
        life = Life(Workload("keys", "", FlushDiskType.SYNC_FLUSH, program, has_index=True))
        crashes = Crashes(life, PROCESS)
        assert surveyed(life, crashes.all()).broken.get(IDEMPOTENT) is None
