"""The follower of stores: it takes steps, is silent on the control, and sees bugs."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from impl.events import (
    SHUTDOWN_HOOK,
    BrokerStarted,
    BrokerStopping,
    ForceFailed,
    LogExpired,
    LogFlushed,
    MessageAppended,
    ProcessKilled,
    QueuesDeleted,
    StoreLoaded,
    ThreadDied,
)
from impl.store import commit_log_recovery
from impl.store.consume_queue import ConsumeQueue
from invariants.refinement.commit_log import NAME, Logs
from invariants.views import Replicated, StoredRecord, Views
from model.commit_log.store import Store
from stateful_tests.cover.refinement.counting import counted, signatures
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.world import World

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


# Written histories ----------------------------------------------------------------------------------------------------

A = "broker-a"


class Empty(Views):
    """Tables of a broker that has stored nothing."""

    def replicated(self, _broker: str) -> Replicated | None:
        """The broker does not run."""
        return None

    def log_begin(self, _broker: str) -> int:
        """There is no file."""
        return -1

    def log_records(self, _broker: str) -> tuple[StoredRecord, ...]:
        """None."""
        return ()

    def queue_units(self, _broker: str) -> dict[tuple[str, int], tuple[int, int]]:
        """None."""
        return {}


@pytest.mark.parametrize(("path", "is_clean", "differs"), [
    ("store/abort", False, False), ("store/abort", True, True),
    ("store/lock", True, False), ("store/lock", False, True),
])
def test_a_start_that_cannot_force_the_file_abort_has_made_it(path: str, *, is_clean: bool, differs: bool) -> None:
    world = World()
    followed = Logs(world)
    followed.views = Empty(world)
    killed, loads = ProcessKilled(1, power_loss=False), StoreLoaded(A, 0, 0, "ASYNC_FLUSH", last_exit_ok=True)
    found = [one for told in (
        [BrokerStarted(A, A, 0)], [BrokerStopping(A)], [killed], [loads, ForceFailed(path, lost=False), killed],
        [loads._replace(last_exit_ok=is_clean)],
    ) for one in followed.segment(A, [(0, A, event) for event in told])]
    assert bool(found) is differs


@pytest.mark.parametrize(("thread", "is_clean", "differs"), [
    (SHUTDOWN_HOOK, False, False), (SHUTDOWN_HOOK, True, True), ("pull", True, False)])
def test_a_stop_that_cannot_force_leaves_the_file_abort(thread: str, *, is_clean: bool, differs: bool) -> None:
    world = World()
    followed = Logs(world)
    followed.views = Empty(world)
    found = [one for told in (
        [BrokerStarted(A, A, 0)], [BrokerStopping(A), ThreadDied(thread, "java.io.IOException", None)],
        [ProcessKilled(1, power_loss=False)], [StoreLoaded(A, 0, 0, "ASYNC_FLUSH", last_exit_ok=is_clean)],
    ) for one in followed.segment(A, [(0, A, event) for event in told])]
    assert bool(found) is differs


class Expired(Empty):
    """The same of one whose log begins there, and has a file there without a record."""

    begin = 1_000

    def replicated(self, _broker: str) -> Replicated:
        """Where the log begins."""
        return Replicated(self.begin, 1_000, 1_000, 0, (), ())


@pytest.mark.parametrize(("begin", "differs"), [(1_000, False), (0, True)])
def test_the_last_file_of_a_log_stays_also_without_a_record(begin: int, *, differs: bool) -> None:
    world = World()
    followed = Logs(world)
    followed.views = Empty(world)
    put = MessageAppended(A, "orders", 0, 0, 0, 900, "k"), LogFlushed(A, 900)
    assert followed.segment(A, [(0, A, event) for event in (BrokerStarted(A, A, 0), *put)]) == []
    followed.stores[A].views = tables = Expired(world)
    tables.begin = begin
    assert bool(followed.segment(A, [(0, A, LogExpired(A, 1_000))])) is differs


def test_a_store_is_followed_again_from_the_start_on_that_comes_after_a_deletion_of_queues() -> None:
    world = World()
    followed = Logs(world)
    followed.views = Empty(world)
    starts, deletes = BrokerStarted(A, A, 0), QueuesDeleted(A, "orders", (0,))
    for event, is_followed in ((starts, True), (deletes, False), (LogFlushed(A, 900), False), (starts, True)):
        assert followed.segment(A, [(0, A, event)]) == []
        assert (A in followed.stores) is is_followed
