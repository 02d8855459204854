"""The follower of queues at ordered consumers: it takes steps, is silent on the control, and sees bugs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest

from impl.client.consume_message_orderly_service import ConsumeMessageOrderlyService
from impl.client.process_queue import ProcessQueue
from impl.common.message import MessageExt
from invariants.refinement.consumers import NAME
from model.process_queue.ordered import OrderedQueue
from stateful_tests.cover.refinement.counting import counted, signatures
from stateful_tests.worlds.subjects import subject_named

ALWAYS = {"answer", "begin_pulls", "pull_ordered", "take_message", "commit"}
seen = partial(signatures, NAME)
lived = partial(counted, OrderedQueue.concept)


@pytest.mark.parametrize(("workload", "profile", "seed", "further"), [
    ("ordered_listeners", "storm", 1, set[str]()),
    ("one_topic", "threads", 2, set[str]()),
    ("stored_orderly", "storm", 3, {"begin_elsewhere", "suspend"}),  # its listeners fail
])
def test_the_control_takes_steps_of_the_model_only(
    workload: str, profile: str, seed: int, further: set[str],
) -> None:
    record, steps = lived("repaired", workload, profile, seed)
    assert (seen(record), record.unknown) == ([], "")
    assert {*steps} >= ALWAYS | further


def test_concurrent_consumers_are_not_followed_here() -> None:
    record, steps = lived("repaired", "clustering", "calm", 0)
    assert (seen(record), {*steps}) == ([], set())


def test_nobody_else_sees_that_the_first_pull_asks_nobody() -> None:
    record, _ = lived("repaired+seeded-first-pull-asks-nobody", "ordered_listeners", "calm", 0)
    assert {*seen(record)} == {(NAME, "pull_ordered", "begun")}
    explains = subject_named("repaired").explains
    assert {one.property for one in record.seen if not explains(one.key)} == {NAME}


def _twice(queue: ProcessQueue, msgs: Iterable[MessageExt]) -> None:
    """Instead of what puts messages back: they count as taken still."""
    for msg in msgs:
        queue.msg_tree_map.put(msg.queue_offset, msg)


def _one_too_low(queue: ProcessQueue) -> int:
    """Instead of ProcessQueue#commit: the offset of the last message, not the one behind it."""
    return commit(queue) - 1


def _nowhere(*_: object, **__: object) -> None:
    """Instead of what raises the offset in memory."""


commit = ProcessQueue.commit


@pytest.mark.parametrize(("workload", "owner", "name", "bug", "signature"), [
    ("stored_orderly", ProcessQueue, "_untake", _twice, (NAME, "differs", "next", "turn")),
    ("ordered_listeners", ProcessQueue, "commit", _one_too_low, (NAME, "differs", "memory")),
    ("ordered_listeners", ConsumeMessageOrderlyService, "_put", _nowhere, (NAME, "differs", "memory")),
])
def test_tables_that_the_model_does_not_have_are_seen(
    workload: str, owner: type, name: str, bug: Any, signature: tuple[str, ...], monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owner, name, bug)
    assert seen(lived("repaired", workload, "calm", 0, until=(NAME,))[0]) == [signature]
