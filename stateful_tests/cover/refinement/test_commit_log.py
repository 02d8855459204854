"""The follower of stores: it takes steps, is silent on the control, and sees bugs."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from impl.store import commit_log_recovery
from impl.store.consume_queue import ConsumeQueue
from invariants.refinement.commit_log import NAME
from model.commit_log.store import Store
from stateful_tests.cover.refinement.counting import counted, signatures
from stateful_tests.worlds.subjects import subject_named

seen = partial(signatures, NAME)
lived = partial(counted, Store.concept)
ALWAYS = {"append", "dispatch", "flush", "flush_newer", "resume"}


@pytest.mark.parametrize(("workload", "profile", "seed", "further"), [
    ("stored", "crashes", 0, {"kill", "recover", "dispatch_again", "dispatch_on"}),
    ("stored", "disks", 1, {"lose_power", "lose_record", "recover"}),
    ("sending", "storm", 0, set[str]()),
])
def test_the_control_takes_steps_of_the_model_only(
    workload: str, profile: str, seed: int, further: set[str],
) -> None:
    record, steps = lived("repaired", workload, profile, seed)
    assert (seen(record), record.unknown) == ([], "")
    assert {*steps} >= ALWAYS | further


def test_nobody_else_sees_that_a_flush_forces_nothing() -> None:
    record, _ = lived("repaired+seeded-written-is-flushed", "stored", "calm", 0)
    explains = subject_named("repaired").explains
    assert {one.property for one in record.seen if not explains(one.key)} == {NAME}
    assert seen(record) == [(NAME, "differs", "durable")]


def _twice(self: ConsumeQueue, offset: int, size: int, tags_code: int, cq_offset: int) -> bool:
    """Instead of putMessagePositionInfo: some units are put twice."""
    done = put(self, offset, size, tags_code, cq_offset)
    if cq_offset % 8 == 0:
        self.max_physic_offset = -1
        put(self, offset, size, tags_code, cq_offset + 1)
    return done


put = ConsumeQueue.put_message_position_info


def _a_byte_less(*args: Any, **settings: Any) -> tuple[int, bool]:
    """Instead of what counts the good bytes of a file: the last record seems to be torn."""
    good_bytes, ended = good(*args, **settings)
    return max(good_bytes - 1, 0), ended


good = commit_log_recovery._good_bytes


@pytest.mark.parametrize(("owner", "name", "bug", "profile", "signature"), [
    (ConsumeQueue, "put_message_position_info", _twice, "calm", (NAME, "differs", "unit", "units")),
    (commit_log_recovery, "_good_bytes", _a_byte_less, "crashes", (NAME, "recover", "¬readable[p]")),
])
def test_what_differs_is_seen(
    owner: object, name: str, bug: Any, profile: str, signature: tuple[str, ...], monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owner, name, bug)
    assert signature in seen(lived("repaired", "stored", profile, 0, until=(NAME,))[0])
