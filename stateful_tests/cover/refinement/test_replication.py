"""Worlds with slaves are followed with the model of replication: step by step, and what differs from it is seen."""

from __future__ import annotations

from functools import partial

import pytest

from impl.events import (
    BrokerStopping,
    LogExpired,
    ProcessKilled,
    ReplicaReported,
    SlaveConnected,
    SlaveDisconnected,
    StoreLoaded,
)
from invariants.refinement.replication import Replication, _Master
from invariants.views import Replicated, StoredRecord, Views
from model.replication import Replicas
from stateful_tests.cover.refinement.counting import counted
from stateful_tests.worlds.run import RunRecord
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.world import World

NAME = "refines_replication"
OFTEN = {"append", "flush", "transfer", "report", "acknowledge"}
SOMETIMES = {"connect", "ask", "ask_empty", "heartbeat", "disconnect", "time_out", "expire"}
lived = partial(counted, Replicas.concept)


def properties(record: RunRecord) -> set[str]:
    """What was found broken."""
    return {one.property for one in record.seen}


def test_the_control_is_silent_and_every_step_that_is_followed_is_taken() -> None:
    record, steps = lived("repaired", "replicated_sync", "disks", 19)
    assert NAME not in properties(record)
    assert {*steps} >= OFTEN | SOMETIMES
    assert all(steps[name] > 100 for name in OFTEN)


def test_slaves_that_take_the_places_of_their_masters_are_followed() -> None:
    record, steps = lived("repaired", "replicated", "storm", 6)
    assert NAME not in properties(record)
    assert steps["append"] > 100
    assert steps["transfer"] > 10


def test_a_bug_that_no_rule_notices_is_noticed() -> None:
    record, _ = lived("repaired+seeded-first-report-is-no-answer", "replicated_sync", "calm", 0)
    explains = subject_named("repaired").explains
    assert {one.property for one in record.seen if not explains(one.key)} == {NAME}


@pytest.mark.parametrize(("bug", "workload"), [
    ("seeded-no-slave-is-waited-for", "replicated_sync"), ("seeded-frame-comes-again", "replicated_sync"),
    ("seeded-slave-reports-too-soon", "replicated_sync"), ("seeded-absent-slaves-are-waited-for", "replicated_sync"),
    ("seeded-last-report-counts", "two_slaves"), ("seeded-gone-slaves-are-waited-for", "replicated_sync"),
])
def test_other_bugs_of_replicas_are_noticed(bug: str, workload: str) -> None:
    assert NAME in properties(lived(f"repaired+{bug}", workload, "calm", 0)[0])


# Written histories ----------------------------------------------------------------------------------------------------

A, B = "broker-a", "broker-a-slave"
FILE_BYTES = 1_000
OLD, NEW = f"{B}:1", f"{B}:2"


class Looked(Views):
    """Tables of one master and one slave, which a test says."""

    def __init__(self, replicated: Replicated) -> None:
        self.tables = replicated

    def replicated(self, _broker: str) -> Replicated:
        """What the master has."""
        return self.tables

    def log_file_bytes(self, _broker: str) -> int:
        """Files are short."""
        return FILE_BYTES

    def log_begin(self, _broker: str) -> int:
        """Nobody has a file yet, but the master."""
        return -1

    def log_records(self, broker: str) -> tuple[StoredRecord, ...]:
        """The master has one record, and no slave has any."""
        return (StoredRecord(0, "orders", 0, 0, 900, "k"),) if broker == A else ()


def master(*slaves: tuple[str, bool], end: int = 900, push2slave: int = 0) -> _Master:
    """A master with one record of 900 bytes; its tables are to be these when they are looked at."""
    tables = Looked(Replicated(0, end, 900, push2slave, slaves, ()))
    return _Master(A, StoreLoaded(A, 0, 900, "ASYNC_FLUSH"), tables)


def reported(offset: int, connection: str = OLD) -> ReplicaReported:
    """A slave says how much it has."""
    return ReplicaReported(A, B, offset, -1, connection)


@pytest.mark.parametrize("has_asked", [True, False])
def test_a_connection_that_was_given_up_counts_again_when_the_later_one_has_ended(has_asked: bool) -> None:
    followed = master((OLD, True))
    followed.connected(SlaveConnected(A, B, OLD))
    if has_asked:
        followed.reported(reported(0))
    followed.connected(SlaveConnected(A, B, NEW))
    followed.disconnected(SlaveDisconnected(A, B, NEW))
    assert bool(followed.compare()) is not has_asked


def test_nothing_changes_when_the_connection_ends_that_was_given_up() -> None:
    followed = master((NEW, False))
    followed.connected(SlaveConnected(A, B, OLD))
    followed.reported(reported(0))
    followed.connected(SlaveConnected(A, B, NEW))
    followed.disconnected(SlaveDisconnected(A, B, OLD))
    assert followed.compare() == []


@pytest.mark.parametrize(("end", "differs"), [(1_000, False), (999, True), (900, True)])
def test_the_blank_at_the_end_of_a_file_can_be_reported(end: int, differs: bool) -> None:
    followed = master((OLD, True), end=end, push2slave=900)
    followed.connected(SlaveConnected(A, B, OLD))
    followed.adrift.add(B)
    followed.reported(reported(1_000))
    assert bool(followed.compare()) is differs


@pytest.mark.parametrize(("life", "differs"), [
    ((), True), ((ProcessKilled(1, power_loss=True),), False), ((BrokerStopping(B),), False),
    ((ProcessKilled(1, power_loss=True), StoreLoaded(B, 0, 0, "ASYNC_FLUSH", broker_role="SLAVE")), True),
])
def test_what_comes_from_a_process_that_had_ended_when_it_was_accepted_is_not_followed(
        life: tuple[object, ...], *, differs: bool) -> None:
    world = World()
    followed = Replication(world)
    followed.views = Looked(Replicated(0, 900, 900, 900, ((OLD, True),), ()))
    told = [(A, StoreLoaded(A, 0, 900, "ASYNC_FLUSH")), *((B, one) for one in life), (A, SlaveConnected(A, B, OLD)),
            (A, reported(900))]
    assert bool(followed.segment(A, [(0, at, event) for at, event in told])) is differs


def test_the_last_file_of_a_log_stays_also_without_a_record() -> None:
    followed = master(end=FILE_BYTES)
    for begin, differs in ((FILE_BYTES, False), (0, True)):
        followed.views = Looked(Replicated(begin, FILE_BYTES, FILE_BYTES, 0, (), ()))
        assert bool([*followed.expired(LogExpired(A, FILE_BYTES)), *followed.compare()]) is differs
