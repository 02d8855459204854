"""Histories: judges of what was reported say nothing of what keeps to it, and see each property fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from impl.decisions.message_queue import MessageQueue
from impl.events import (
    BrokerStarted,
    ClientChannelClosed,
    ClusterInfoFetched,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumerStarted,
    LockBelieved,
    LockGranted,
    LockReleased,
    OffsetAnswered,
    OffsetCommitted,
    OffsetReset,
    OffsetSent,
    QueueDropped,
    QueuesAssigned,
    QueueTaken,
)
from impl.variants.catalogue import NO_REPAIR
from invariants.hazards import HAZARDS
from invariants.history import HISTORIES
from invariants.refinement.history import JUDGES, Histories
from invariants.verdict import Outcome
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, run
from stateful_tests.worlds.subjects import subject_named

MQ = MessageQueue("orders", "broker-a", 0)
B, C, G, AT = "broker-a", "c1", "G", "c1:32768"
START = (0, B, BrokerStarted(B, B, 0))
ORDERLY = (0, C, ConsumerStarted(C, G, "CLUSTERING", orderly=True))
TAKEN = (1, C, QueueTaken(C, G, MQ, 100))
RESET = (2, C, OffsetReset(C, G, MQ, 2))
DROPPED = (2, C, QueueDropped(C, G, MQ))
DIES = (2, C, ("killed", 1, False))
CLOSED = (1, B, ClientChannelClosed(B, AT))
LATER = (400_000, "world", ("healed",))
Told = tuple[int, str, Any]


def heartbeat(ms: int, version: int = 1) -> Told:
    return ms, B, ConsumerRegistered(B, G, C, AT, True, True, frozenset({("orders", "*", version)}))


def removed(ms: int, why: str) -> Told:
    return ms, B, ConsumerRemoved(B, G, C, AT, why, attached=True)


def committed(ms: int, offset: int) -> Told:
    return ms, B, OffsetCommitted(B, G, "orders", 0, offset)


def answered(ms: int, offset: int) -> Told:
    return ms, B, OffsetAnswered(B, G, "orders", 0, AT, offset)


def sent(offset: int) -> Told:
    return 2, C, OffsetSent(C, G, MQ, offset)


class Case(NamedTuple):
    """A history that keeps to a property, and one that does not."""

    property: str
    kept: tuple[Told, ...]
    broken: tuple[Told, ...]


CASES = (
    Case("queue_is_taken_once", (TAKEN, DROPPED, TAKEN), (TAKEN, TAKEN)),
    Case("queue_is_taken_once", (TAKEN, DIES, TAKEN), (TAKEN, (2, B, ("killed", 1, False)), TAKEN)),
    Case("start_is_what_the_broker_answered", (START, answered(0, 100), TAKEN), (START, answered(0, 70), TAKEN)),
    Case("start_is_what_the_broker_answered", (START, answered(0, -1), TAKEN), (START, TAKEN)),
    Case("broker_keeps_what_was_committed", (START, committed(1, 5), answered(2, 5)),
         (START, committed(1, 5), answered(2, 0))),
    Case("only_the_settled_is_committed", (TAKEN, sent(100)), (TAKEN, sent(101))),
    Case("commits_of_a_holding_go_forward", (TAKEN, RESET, sent(2)),
         (TAKEN, sent(2))),
    Case("committed_offset_never_regresses", (START, committed(1, 5), RESET, committed(3, 2)),
         (START, committed(1, 5), committed(2, 4))),
    Case("reset_takes_effect", (RESET, sent(2)),
         (RESET, sent(9))),
    Case("only_ordered_groups_lock", (ORDERLY, (1, B, LockGranted(B, G, MQ, C, C, fast=False))),
         ((0, C, ConsumerStarted(C, G, "CLUSTERING", orderly=False)), (1, B, LockGranted(B, G, MQ, C, C, fast=False)))),
    Case("taken_queue_counts_as_locked", (ORDERLY, TAKEN, (1, C, LockBelieved(C, G, MQ, locked=True)), LATER),
         (ORDERLY, TAKEN, LATER)),
    Case("held_queue_stays_locked", (TAKEN, DROPPED, (3, B, LockReleased(B, G, MQ, C))),
         (TAKEN, (3, B, LockReleased(B, G, MQ, C)))),
    Case("goodbye_is_final", (heartbeat(0), removed(1, "unregistered"), ORDERLY, heartbeat(2)),
         (heartbeat(0), removed(1, "unregistered"), heartbeat(2))),
    Case("heartbeats_keep_a_member", (heartbeat(0), removed(120_001, "expired"), LATER),
         (heartbeat(0), removed(119_000, "expired"), LATER)),
    Case("closed_connection_is_delisted", (heartbeat(0), CLOSED, removed(2, "closed"), LATER),
         (heartbeat(0), CLOSED, LATER)),
    Case("changed_share_renews_the_subscription",
         (heartbeat(0), (1, C, QueuesAssigned(C, G, "orders", frozenset(), changed=True)), heartbeat(300_000, 2)),
         (heartbeat(0), (1, C, QueuesAssigned(C, G, "orders", frozenset(), changed=True)), heartbeat(300_000))),
    Case("cluster_info_fits_together", ((1, "operator", ClusterInfoFetched("ns", frozenset({"a"}), frozenset({"a"}))),),
         ((1, "operator", ClusterInfoFetched("ns", frozenset({"a"}), frozenset())),)),
)


class Nobody:
    """No machine runs anything that could be looked at."""

    namesrvs: Any = {}  # noqa: RUF012  # never changed
    brokers: Any = {}  # noqa: RUF012  # never changed
    consumers: Any = {}  # noqa: RUF012  # never changed

    def alive(self, machine: str) -> bool:
        return bool(machine)


def found(told: tuple[Told, ...]) -> Iterator[str]:
    follower = Histories(Nobody())
    for one in told:
        yield from (finding.property for finding in follower.segment(one[1], [one]))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.property)
def test_a_judge_sees_its_property_fail_and_nothing_else(case: Case) -> None:
    assert case.property not in list(found(case.kept))
    assert case.property in list(found(case.broken))


PLANTED = (
    ("queue_is_taken_once", "repaired+rb-two-pull-loops", "clustering", "network", 0),
    ("start_is_what_the_broker_answered", "repaired+po-fetch-failure-commits-zero", "listeners", "network", 1),
    ("only_the_settled_is_committed", "repaired-L8", "resets", "threads", 0),
    ("reset_takes_effect", "repaired+po-reset-vs-inflight", "resets", "threads", 0),
    ("reset_goes_to_its_time", "repaired+po-search-by-time", "resets", "calm", 1),
    ("commits_of_a_holding_go_forward", "repaired+seeded-offset-goes-back", "listeners", "threads", 0),
    ("only_ordered_groups_lock", "repaired+ol-lock-everyone", "clustering", "calm", 0),
    ("taken_queue_counts_as_locked", "repaired-U8", "orderly", "calm", 0),
    ("held_queue_stays_locked", "repaired+ol-unlock-other-topics", "orderly", "calm", 0),
    ("listener_keeps_its_lock", "repaired+ol-consume-while-releasing", "ordered_listeners", "threads", 1),
    ("leaver_frees_its_locks", "repaired+ol-unlock-missing-on-leave", "orderly", "calm", 0),
    ("changed_share_renews_the_subscription", "repaired+bc-subversion-not-bumped", "clustering", "threads", 0),
    ("versions_are_times", "repaired+xl-subversion-units", "clustering", "calm", 0),
)


@pytest.mark.parametrize(("name", "subject", "workload", "profile", "seed"), PLANTED, ids=str)
def test_runs_of_planted_bugs_are_seen(name: str, subject: str, workload: str, profile: str, seed: int) -> None:
    record = run(Plan(subject, workload, profile), STRATEGIES["uniform"](seed))
    assert name in {one.property for one in record.seen}


def test_every_history_is_declared_judged_and_seen_to_fail() -> None:
    assert {judge.name for judge in JUDGES} == set(HISTORIES)
    assert {case.property for case in CASES} | {name for name, *_ in PLANTED} == set(HISTORIES)
    assert all(set(one.expected.hazards) <= set(HAZARDS) for one in HISTORIES.values())


@pytest.mark.parametrize("plan", [
    ("listeners", "storm", 3), ("ordered_listeners", "threads", 1), ("resets", "storm", 1), ("promotion", "crashes", 0),
    ("shared", "network", 2), ("containers", "storm", 0),
], ids=lambda plan: plan[0])
def test_the_repaired_subject_is_silent(plan: tuple[str, str, int]) -> None:
    workload, profile, seed = plan
    record = run(Plan("repaired", workload, profile), STRATEGIES["uniform"](seed))
    assert subject_named("repaired").surprises(record.seen) == []
    assert record.unknown == ""


def test_a_history_is_expected_as_its_hazards_say() -> None:
    shipped, repaired = subject_named("shipped"), subject_named("repaired")
    for name, one in HISTORIES.items():
        assert (shipped.expected(name) is Outcome.VIOLATED) is bool(one.expected.hazards)
        assert (repaired.expected(name) is Outcome.VIOLATED) is bool(set(one.expected.hazards) & set(NO_REPAIR))
