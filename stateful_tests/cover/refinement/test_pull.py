"""The follower of pulls that masters hold: it takes steps, is silent on the control, and sees bugs."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from impl.broker.pull_message_processor import PullMessageProcessor
from impl.broker.pull_request_hold_service import PullRequestHoldService
from impl.ports.pools import RejectedExecutionError
from impl.store.dispatch_request import DispatchRequest
from impl.store.index_service import IllegalMonitorStateError, IndexService
from invariants.refinement.pull import NAME
from model.pull import LongPolling
from stateful_tests.cover.refinement.counting import counted, signatures
from stateful_tests.worlds.subjects import subject_named

ALWAYS = {"look", "put_away", "execute"}
seen = partial(signatures, NAME)
lived = partial(counted, LongPolling.concept)


@pytest.mark.parametrize(("workload", "profile", "seed", "further"), [
    ("clustering", "storm", 0, {"scan"}),
    ("stored", "disks", 1, {"arrive"}),
    ("operators", "clocks", 0, {"arrive", "scan"}),
    ("filtered", "threads", 0, set[str]()),
])
def test_the_control_takes_steps_of_the_model_only(
    workload: str, profile: str, seed: int, further: set[str],
) -> None:
    record, steps = lived("repaired", workload, profile, seed)
    assert (seen(record), record.unknown) == ([], "")
    assert {*steps} >= ALWAYS | further


def test_a_round_that_answers_all_is_seen_here_and_by_who_waits_too_short_a_time() -> None:
    record, _ = lived("repaired+seeded-round-answers-all", "clustering", "calm", 0)
    explains = subject_named("repaired").explains
    assert {one.property for one in record.seen if not explains(one.key)} == {
        NAME, "empty_answer_has_waited"}
    assert (NAME, "execute", "phase = WOKEN") in seen(record)


def _held_twice(service: PullRequestHoldService, topic: str, queue_id: int, *others: Any) -> None:
    """Instead of notifyMessageArriving: what is woken stays in the table."""
    before = [*(service.pull_request_table.get((topic, queue_id)) or ())]
    notify(service, topic, queue_id, *others)
    if before:
        service.pull_request_table.put((topic, queue_id), before)


notify = PullRequestHoldService._notify


def test_a_pull_that_stays_in_the_table_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PullRequestHoldService, "_notify", _held_twice)
    assert (NAME, "differs", "phase") in seen(lived("repaired", "stored", "calm", 0)[0])


def _index_fails_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The index fails with each record when it comes first; the queue has it then, and it comes again."""
    failed, build = set(), IndexService.build_index

    def build_index(service: IndexService, request: DispatchRequest) -> None:
        if request.commit_log_offset not in failed:
            failed.add(request.commit_log_offset)
            raise IllegalMonitorStateError
        build(service, request)

    monkeypatch.setattr(IndexService, "build_index", build_index)


def test_a_message_whose_index_fails_wakes_nobody_before_it_is_dispatched_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _index_fails_once(monkeypatch)
    record, steps = lived("repaired", "stored", "calm", 0)
    assert seen(record) == []
    assert steps["arrive"] > 0
    monkeypatch.setattr(PullRequestHoldService, "_notify", _held_twice)
    assert (NAME, "differs", "phase") in seen(lived("repaired", "stored", "calm", 0)[0])


def _full(*_: object) -> None:
    raise RejectedExecutionError


def test_a_pool_that_is_full_loses_pulls_as_the_model_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PullMessageProcessor, "execute_request_when_wakeup", _full)
    record, steps = lived("repaired", "clustering", "calm", 0)
    assert seen(record) == []
    assert steps["refuse"] > 0
    assert steps["execute"] == 0
