"""The repairs of the store: with its repair a story ends differently, and the crash atlas is silent."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable

import pytest

from impl.variants.catalogue import NO_REPAIR, REPAIRS
from impl.variants.repairs import store_reads, store_recovery
from impl.variants.stack import active
from invariants.hazards import HAZARDS
from invariants.verdict import Outcome
from stateful_tests.cover.store import test_hazards as hazards, test_replication as replication
from stateful_tests.crash.judge import judged
from stateful_tests.crash.promises import GONE, SURVIVES
from stateful_tests.crash.survey import Effort

OF_STORES = {one.name: one for one in (*store_recovery.REPAIRS, *store_reads.REPAIRS)}
REFUTED: tuple[tuple[Callable[[], None], str, str], ...] = (
    (hazards.test_v1_a_batch_whose_properties_add_up_poisons_the_log, "batch_properties_have_a_limit",
     "broker.put_batch"),
    (hazards.test_v5_a_delayed_message_that_recovery_dispatches_is_due_at_once, "levels_before_recovery",
     'string_hash("tag")'),
    (hazards.test_v12_a_second_process_recovers_the_directory_before_it_asks_for_the_lock, "lock_before_load",
     "broker.load().start()"),
    (hazards.test_v18_a_queue_of_which_all_records_have_expired_keeps_its_minimum, "expired_queue_is_empty", "(0, 1)"),
    (hazards.test_v25_a_unit_of_offset_0_is_answered_with_what_is_first_now, "offset_0_is_looked_at", "found.records"),
    (replication.test_v11_a_slave_that_has_what_its_master_lost_acknowledges_what_was_never_sent,
     "forced_is_sent", "PUT_OK"),
    (replication.test_v29_an_empty_slave_gets_the_last_file_only, "empty_slave_gets_all", "== 2_048"),
)
BY_MORE = {"time_finds_the_first", "silence_ends_a_connection", "levels_begin_in_their_queues", "topics_are_forced",
           "flush_goes_on_at_the_first_file"}
"""A repair whose story has arguments, and four whose stories are of worlds (`stateful_tests.stories`)."""
BY_ATLAS = {"index_is_forced", "new_files_are_forced", "delay_offsets_are_forced"}
"""Repairs of what no story tells."""


def refuted_line(story: Callable[..., None], *given: object) -> str:
    """The line of a story that is not true any more; empty if all are."""
    try:
        story(*given)
    except Exception as error:  # noqa: BLE001  # also what the store raises
        file = story.__code__.co_filename
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        return linecache.getline(file, frames[0].lineno or 0)
    except pytest.fail.Exception as error:  # of pytest.raises
        return str(error)
    return ""


@pytest.mark.parametrize(("story", "repair", "line"), REFUTED, ids=lambda value: getattr(value, "__name__", ""))
def test_with_its_repair_a_story_is_no_longer_true(story: Callable[[], None], repair: str, line: str) -> None:
    assert refuted_line(story) == ""
    with active([REPAIRS[repair]]):
        assert line in refuted_line(story)


@pytest.mark.parametrize(("story", "line"), [
    (hazards.test_v10_an_index_that_rolls_over_vouches_for_queues_that_were_not_flushed, "len(found) < 420"),
    (hazards.test_v35_clean_up_of_a_full_disk_takes_what_was_not_dispatched_and_later_units_lie_too_early,
     "[8_192, 13_284]"),
])
def test_where_queues_are_built_anew_their_stories_are_no_longer_true(story: Callable[[], None], line: str) -> None:
    assert refuted_line(story) == ""
    with active([REPAIRS["queues_are_built_anew"]]):
        assert line in refuted_line(story)


@pytest.mark.parametrize(("times", "searched", "first"), [
    ((10, 20, 20, 20, 20, 30), 20, 1), ((10, 20, 20, 20, 20, 30), 31, 6), ((10, 20, 30), 25, 2), ((10, 20), 5, 0)])
def test_a_search_by_time_leads_to_the_first(
    monkeypatch: pytest.MonkeyPatch, times: tuple[int, ...], searched: int, first: int,
) -> None:
    story = hazards.test_v28_a_search_by_time_stops_at_any_message_of_that_time_and_behind_the_end_at_the_last
    with active([REPAIRS["time_finds_the_first"]]):
        assert refuted_line(story, monkeypatch, times, searched, first) == ""
        assert refuted_line(story, monkeypatch, times, searched, first + 1) != ""


def test_every_repair_of_a_store_is_tested_here() -> None:
    told = {name for _, name, _ in REFUTED}
    assert set(OF_STORES) == told | BY_MORE | BY_ATLAS
    repaired = {hazard for repair in REPAIRS.values() for hazard in repair.hazards}
    of_stores = {name for name, hazard in HAZARDS.items() if hazard.group == HAZARDS["V1"].group}
    assert of_stores - repaired - set(NO_REPAIR) == set()


SMALL = ["sync_two_topics", "sync_roll", "sync_index", "sync_torn", "sync_stop", "sync_kill", "sync_index_stop",
         "sync_two_stops", "sync_delay", "async_batch", "sync_clean", "sync_full", "sync_undispatched",
         "sync_power", "async_power", "async_full", "async_index_stop"]
CLEANED = {"sync_clean", "sync_full", "sync_undispatched", "async_full"}
"""Workloads of which a machine crash may undo a deletion; nobody has promised that it does not."""


@pytest.mark.parametrize("name", SMALL)
def test_the_atlas_is_silent_on_the_repaired_store_but_for_what_was_not_flushed(name: str) -> None:
    rows = list(judged([name], Effort(images=200), subject="repaired"))
    broken = {row.property for row in rows if row.outcome is not Outcome.HOLDS}
    assert broken <= ({SURVIVES} if name.startswith("async") else set()) | ({GONE} if name in CLEANED else set())
    assert all(row.as_expected for row in rows)


@pytest.mark.parametrize(("hazard", "workload"), [
    ("V3", "sync_kill"), ("V4", "sync_power"), ("V35", "sync_full"), ("V18", "sync_clean"),
    ("V5", "sync_delay"), ("V7", "sync_torn"), ("V22", "sync_stop"), ("V26", "sync_two_topics"),
    ("V27", "sync_index_stop"), ("V28", "sync_roll"), ("V31", "sync_two_stops"), ("V35", "sync_undispatched")])
def test_without_the_repair_of_a_hazard_the_atlas_tells_of_it(hazard: str, workload: str) -> None:
    found = [row for row in judged([workload], Effort(images=800), subject=f"repaired-{hazard}")
             if row.outcome is Outcome.VIOLATED and hazard in row.hazard]
    assert found
