"""Histories: judges of what was reported say nothing of what keeps to it, and see each property fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from impl.decisions.message_queue import MessageQueue
from impl.events import (
    BrokerFound,
    BrokerLiveRemoved,
    BrokerRegistered,
    BrokerStarted,
    ClientChannelClosed,
    ClusterInfoFetched,
    ConsumerIdsAnswered,
    ConsumerIdsChanged,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    GroupOffsetsRemoved,
    ListenerStarted,
    LockBelieved,
    LockGranted,
    LockReleased,
    MessagesFound,
    MessagesSettled,
    OffsetAnswered,
    OffsetCommitted,
    OffsetReset,
    OffsetSent,
    OffsetUpdated,
    QueueDropped,
    QueuesAssigned,
    QueueTaken,
    ResetReceived,
    RouteUpdated,
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
B, C, G, AT, NS = "broker-a", "c1", "G", "c1:32768", "nameserver1"
START = (0, B, BrokerStarted(B, B, 0))
ORDERLY = (0, C, ConsumerStarted(C, G, "CLUSTERING", orderly=True))
TAKEN = (1, C, QueueTaken(C, G, MQ, 100))
TAKEN_TOO = (0, C, QueueTaken(C, G, MQ, 98))
RESET = (2, C, OffsetReset(C, G, MQ, 2))
DROPPED = (2, C, QueueDropped(C, G, MQ))
GIVEN_UP = (2, C, QueueDropped(C, G, MQ, by_rebalance=True))
DIES = (2, C, ("killed", 1, False))
CLOSED = (1, B, ClientChannelClosed(B, AT))
BROADCASTING = (0, C, ConsumerStarted(C, G, "BROADCASTING", orderly=False))
CLUSTERING = (0, C, ConsumerStarted(C, G, "CLUSTERING", orderly=False))
STOPPING = (4, C, ConsumerStopping(C, G))
LOCKED = (1, B, LockGranted(B, G, MQ, C, C, fast=False))
SHUT_DOWN = (4, C, ConsumerShutDown(C, G))
RECEIVED = (2, C, ResetReceived(C, G, frozenset({MQ})))
UPDATED = (3, C, OffsetUpdated(C, G, MQ, 102))
ROUTED = (0, C, RouteUpdated(C, G, "orders", frozenset({MQ})))
ENDED = (2, NS, BrokerFound(NS, None, "broker-a:1"))
TOLD = (2, B, ConsumerIdsChanged(B, G, AT, delivered=True))
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


def found(*offsets: int) -> Told:
    return 2, C, MessagesFound(C, G, MQ, offsets)


def settled(*offsets: int) -> Told:
    return 3, C, MessagesSettled(C, G, MQ, offsets)


def registered(ms: int, connection: str) -> Told:
    return ms, NS, BrokerRegistered(NS, B, 0, f"{B}:10911", connection, (1, 1), frozenset())


def live_removed(ms: int, why: str) -> Told:
    return ms, NS, BrokerLiveRemoved(NS, f"{B}:10911", why)


def answers(*client_ids: str) -> Told:
    return 1, B, ConsumerIdsAnswered(B, G, AT, client_ids)


class Case(NamedTuple):
    """A history that keeps to a property, and one that does not."""

    property: str
    kept: tuple[Told, ...]
    broken: tuple[Told, ...]


CASES = (
    Case("listener_begins_under_a_fresh_lock",
         ((0, C, LockBelieved(C, G, MQ, locked=True)), (20_000, C, ListenerStarted(C, G, MQ))),
         ((0, C, LockBelieved(C, G, MQ, locked=True)), (40_000, C, ListenerStarted(C, G, MQ)))),
    Case("only_the_settled_is_committed", (TAKEN, found(100, 101), settled(100), sent(101)),
         (TAKEN, found(100, 101), settled(101), sent(102))),
    Case("settled_is_committed", (CLUSTERING, TAKEN, found(100, 101), settled(100, 101), sent(102), LATER),
         (CLUSTERING, TAKEN, found(100, 101), settled(100, 101), sent(101), LATER)),
    Case("settled_is_committed",
         (CLUSTERING, ROUTED, TAKEN, found(100, 101), settled(100, 101), UPDATED, DROPPED, sent(102), LATER),
         (CLUSTERING, ROUTED, TAKEN, found(100, 101), settled(100, 101), UPDATED, DROPPED, LATER)),
    Case("settled_is_committed",
         (CLUSTERING, ROUTED, TAKEN, found(100, 101), settled(100, 101), UPDATED, DROPPED, RESET, sent(2), LATER),
         (CLUSTERING, ROUTED, TAKEN, found(100, 101), settled(100, 101), UPDATED, DROPPED, sent(2), LATER)),
    Case("settled_is_committed", (CLUSTERING, TAKEN, found(100), settled(100), DIES, LATER),
         (CLUSTERING, TAKEN, found(100), settled(100), (2, NS, ("killed", 1, False)), LATER)),
    Case("broadcaster_goes_on_where_it_ended", (BROADCASTING, TAKEN, found(100), STOPPING, TAKEN),
         (BROADCASTING, TAKEN, found(100), settled(100), STOPPING, TAKEN)),
    Case("reset_is_done", (TAKEN, RECEIVED, RESET, LATER), (TAKEN, RECEIVED, LATER)),
    Case("reset_is_done", (TAKEN, RECEIVED, GIVEN_UP, LATER), (TAKEN, RECEIVED, DROPPED, LATER)),
    Case("list_has_no_repetition", (answers("c1", "c2"),), (answers("c1", "c2", "c1"),)),
    Case("members_are_told_of_changes", (heartbeat(0), TOLD, LATER), (heartbeat(0), LATER)),
    Case("members_are_told_of_changes", (heartbeat(0), TOLD, removed(3, "closed"), LATER),
         (TOLD, heartbeat(3), LATER)),
    Case("registrations_keep_a_broker", (registered(0, "broker-a:1"), live_removed(121_000, "expired")),
         (registered(0, "broker-a:1"), registered(60_000, "broker-a:1"), live_removed(121_000, "expired"))),
    Case("registrations_keep_a_broker", (registered(0, "broker-a:1"), ENDED, live_removed(3, "destroyed")),
         (registered(0, "broker-a:1"), ENDED, registered(2, "broker-a:2"), live_removed(3, "destroyed"))),
    Case("living_members_do_not_expire", ((1, C, ("paused", 20_000)), removed(121_000, "expired")),
         ((1, "c2", ("paused", 20_000)), removed(121_000, "expired"))),
    Case("goodbye_delists_a_member", (SHUT_DOWN, removed(5, "unregistered")), (SHUT_DOWN, removed(121_000, "expired"))),
    Case("goodbye_delists_a_member", (STOPPING, removed(121_000, "expired")), (SHUT_DOWN, removed(121_000, "expired"))),
    Case("leaver_frees_its_locks", (TAKEN, LOCKED, STOPPING, GIVEN_UP, removed(5, "unregistered"), LATER),
         (TAKEN, LOCKED, STOPPING, DROPPED, removed(5, "unregistered"), LATER)),
    Case("queue_is_taken_once", (TAKEN, DROPPED, TAKEN), (TAKEN, TAKEN)),
    Case("queue_is_taken_once", (TAKEN, DIES, TAKEN), (TAKEN, (2, B, ("killed", 1, False)), TAKEN)),
    Case("start_is_what_the_broker_answered", (START, answered(0, 100), TAKEN), (START, answered(0, 70), TAKEN)),
    Case("start_is_what_the_broker_answered", (START, answered(0, -1), TAKEN), (START, TAKEN)),
    Case("nothing_is_skipped", (START, committed(0, 98), TAKEN_TOO, settled(98, 99), TAKEN),
         (START, committed(0, 98), TAKEN_TOO, settled(98), TAKEN)),
    Case("settled_is_not_begun_again", (START, committed(0, 98), TAKEN_TOO, settled(98, 99), TAKEN),
         (START, committed(0, 98), TAKEN_TOO, settled(98, 99, 100), TAKEN)),
    Case("settled_is_not_begun_again", (START, committed(0, 98), TAKEN_TOO, settled(99), TAKEN_TOO),
         (START, committed(0, 98), TAKEN_TOO, settled(99), settled(98), TAKEN_TOO)),
    Case("nothing_is_skipped", (TAKEN_TOO, answered(0, -1), TAKEN), (START, TAKEN_TOO, answered(0, 98), TAKEN)),
    Case("nothing_is_skipped", (START, committed(0, 98), (1, C, OffsetReset(C, G, MQ, 2)), TAKEN),
         (START, committed(0, 98), (1, C, OffsetReset(C, "another", MQ, 2)), TAKEN)),
    Case("nothing_is_skipped",
         (START, committed(-60_000, 98), (-1, B, ("paused", 5)), (1, B, ("killed", 1, False)), TAKEN),
         (START, committed(-60_001, 98), (-1, B, ("paused", 5)), (1, B, ("killed", 1, False)), TAKEN)),
    Case("nothing_is_skipped", (START, committed(0, 98), (1, B, ("killed", 1, False)), TAKEN),
         (START, committed(-60_000, 98), (1, B, ("killed", 1, False)), TAKEN)),
    Case("nothing_is_skipped", (START, committed(0, 98), (1, B, GroupOffsetsRemoved(B, G)), TAKEN),
         (START, committed(0, 98), (1, B, GroupOffsetsRemoved(B, "another")), TAKEN)),
    Case("nothing_is_skipped", (START, committed(0, 98), BROADCASTING, TAKEN),
         (START, committed(0, 98), CLUSTERING, TAKEN)),
    Case("broker_keeps_what_was_committed", (START, committed(1, 5), answered(2, 5)),
         (START, committed(1, 5), answered(2, 0))),
    Case("only_the_settled_is_committed", (TAKEN, sent(100)), (TAKEN, sent(101))),
    Case("commits_of_a_holding_go_forward", (TAKEN, RESET, sent(2)),
         (TAKEN, sent(2))),
    Case("committed_offset_never_regresses", (START, committed(1, 5), RESET, committed(3, 2)),
         (START, committed(1, 5), committed(2, 4))),
    Case("reset_takes_effect", (RESET, sent(2)),
         (RESET, sent(9))),
    Case("reset_takes_effect", (START, RESET, answered(3, -1), sent(9)),
         (START, RESET, answered(3, 1), sent(9))),
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
    calm = True

    def alive(self, machine: str) -> bool:
        return bool(machine)


def judged(told: tuple[Told, ...]) -> Iterator[str]:
    follower = Histories(Nobody())
    for one in told:
        yield from (finding.property for finding in follower.segment(one[1], [one]))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.property)
def test_a_judge_sees_its_property_fail_and_nothing_else(case: Case) -> None:
    assert case.property not in list(judged(case.kept))
    assert case.property in list(judged(case.broken))


PLANTED = (
    ("group_offsets_go_with_the_group", "repaired+po-deleted-group-keeps-offset", "operators", "calm", 1),
    ("committed_offset_survives_its_broker", "repaired+seeded-offsets-are-not-written", "operators", "calm", 1),
    ("closed_producer_is_delisted", "repaired+seeded-producers-outlive-connections", "clustering", "threads", 0),
    ("who_consumes_is_answered", "repaired+bc-topic-group-index-value", "operators", "calm", 0),
    ("producers_are_known", "repaired+seeded-producers-are-stamped-once", "clustering", "calm", 0),
    ("only_the_subscribed_is_held", "repaired+seeded-unsubscribed-is-kept", "subscriptions", "calm", 0),
    ("clients_forget_the_dead", "repaired+seeded-dead-brokers-stay-known", "operators", "calm", 0),
    ("goodbye_frees_its_sender_only", "repaired+ns-unregister-by-id", "promotion", "calm", 0),
    ("known_version_changes_nothing", "repaired+ns-dataversion-never-equal", "operators", "calm", 0),
    ("topic_survives_its_broker", "repaired+seeded-topics-are-not-written", "routes", "calm", 0),
    ("slave_follows_its_master", "repaired+seeded-slave-copies-no-offsets", "routes", "calm", 0),
    ("broadcaster_goes_on_where_it_ended", "repaired+po-broadcast-illegal-loop", "broadcasting", "calm", 1),
    ("reset_is_done", "repaired+seeded-reset-is-ignored", "resets", "calm", 0),
    ("only_the_settled_is_committed", "repaired+po-cpp-ordered-early-commit", "ordered_listeners", "calm", 0),
    ("settled_is_committed", "repaired+seeded-offsets-sent-at-the-end-only", "listeners", "calm", 0),
    ("living_members_do_not_expire", "repaired+seeded-heartbeats-end-at-an-error", "operators", "calm", 0),
    ("goodbye_delists_a_member", "repaired+seeded-no-goodbye", "shared", "calm", 0),
    ("members_are_told_of_changes", "repaired+seeded-join-is-not-announced", "clustering", "threads", 0),
    ("queue_is_taken_once", "repaired+rb-two-pull-loops", "clustering", "storm", 13),
    ("queue_is_taken_once", "repaired-X22", "clustering", "threads", 2_000_001),
    ("start_is_what_the_broker_answered", "repaired+po-fetch-failure-commits-zero", "listeners", "network", 1),
    ("only_the_settled_is_committed", "repaired-L8", "resets", "calm", 1),
    ("reset_takes_effect", "repaired+po-reset-vs-inflight", "resets", "threads", 1),
    ("reset_goes_to_its_time", "repaired+po-search-by-time", "resets", "calm", 1),
    ("commits_of_a_holding_go_forward", "repaired+seeded-offset-goes-back", "listeners", "threads", 0),
    ("only_ordered_groups_lock", "repaired+ol-lock-everyone", "clustering", "calm", 0),
    ("taken_queue_counts_as_locked", "repaired-U8", "orderly", "calm", 0),
    ("held_queue_stays_locked", "repaired+ol-unlock-other-topics", "orderly", "calm", 0),
    ("listener_keeps_its_lock", "repaired+ol-consume-while-releasing", "ordered_listeners", "threads", 2),
    ("leaver_frees_its_locks", "repaired+ol-unlock-missing-on-leave", "orderly", "calm", 0),
    ("changed_share_renews_the_subscription", "repaired+bc-subversion-not-bumped", "clustering", "threads", 0),
    ("versions_are_times", "repaired+xl-subversion-units", "clustering", "calm", 0),
    ("notifications_have_a_reason", "repaired+seeded-every-heartbeat-notifies", "clustering", "calm", 0),
    ("group_has_its_retry_topic", "repaired+seeded-retry-topic-is-not-made", "clustering", "calm", 0),
    ("closed_broker_is_dropped", "repaired+seeded-closed-brokers-stay", "one_topic", "storm", 3),
    ("held_queue_is_pulled", "repaired+seeded-moved-pull-is-the-last", "broadcasting", "calm", 0),
    ("given_up_lock_is_freed", "repaired+seeded-given-up-stays-locked", "orderly", "calm", 0),
    ("members_share_at_once", "repaired+seeded-notification-is-ignored", "groups", "calm", 0),
    ("members_share_at_once", "repaired+seeded-resume-waits", "clustering", "calm", 2),
)


@pytest.mark.parametrize(("name", "subject", "workload", "profile", "seed"), PLANTED, ids=str)
def test_runs_of_planted_bugs_are_seen(name: str, subject: str, workload: str, profile: str, seed: int) -> None:
    record = run(Plan(subject, workload, profile), STRATEGIES["uniform"](seed))
    assert name in {one.property for one in record.seen}


@pytest.mark.parametrize(("name", "subject", "workload", "profile", "seed"), [
    ("nothing_is_skipped", "repaired-L2", "listeners", "storm", 1),
    ("commits_of_a_holding_go_forward", "repaired-X23", "resets", "threads", 6_000_037),
    ("only_the_settled_is_committed", "repaired-X23", "resets", "threads", 6_000_047),
    ("reset_takes_effect", "repaired-X23", "resets", "clocks", 6_000_053),
    ("goodbye_is_final", "repaired-B-30", "clustering", "threads", 5),
    ("broadcaster_goes_on_where_it_ended", "repaired-X23", "broadcasting", "clocks", 6_000_037),
    ("settled_is_not_begun_again", "repaired", "listeners", "storm", 1),
], ids=str)
def test_races_are_seen_where_threads_stand_still_again_and_again(
    name: str, subject: str, workload: str, profile: str, seed: int,
) -> None:
    record = run(Plan(subject, workload, profile, "focus"), STRATEGIES["focus"](seed))
    assert name in {one.property for one in record.seen}
    assert subject_named(subject).surprises(record.seen) == []


def test_every_history_is_declared_judged_and_seen_to_fail() -> None:
    assert {judge.name for judge in JUDGES} == set(HISTORIES)
    assert {case.property for case in CASES} | {name for name, *_ in PLANTED} == set(HISTORIES)
    assert all(set(one.expected.hazards) <= set(HAZARDS) for one in HISTORIES.values())


@pytest.mark.parametrize("plan", [
    ("listeners", "storm", 3), ("ordered_listeners", "threads", 1), ("resets", "storm", 1), ("promotion", "crashes", 0),
    ("shared", "network", 2), ("containers", "storm", 0), ("resets", "crashes", 4_000_042),
    ("subscriptions", "clocks", 4_000_059), ("clustering", "threads", 2_000_001), ("promotion", "crashes", 8_000_056),
], ids=lambda plan: plan[0])
def test_the_repaired_subject_is_silent(plan: tuple[str, str, int]) -> None:
    workload, profile, seed = plan
    record = run(Plan("repaired", workload, profile), STRATEGIES["uniform"](seed))
    assert subject_named("repaired").surprises(record.seen) == []
    assert record.unknown == ""


@pytest.mark.parametrize("plan", [
    ("resets", "clocks", 6_000_025), ("broadcasting", "clocks", 6_000_037), ("subscriptions", "threads", 6_000_037),
    ("resets", "threads", 6_000_037), ("smallest", "threads", 6_000_004), ("resets", "clocks", 6_000_053),
    ("broadcasting", "clocks", 100), ("broadcasting", "clocks", 124), ("routes", "storm", 8_000_047),
    ("broadcasting", "clocks", 23_000_050), ("listeners", "storm", 21_000_026),
], ids=str)
def test_the_repaired_subject_is_silent_where_threads_stand_still(plan: tuple[str, str, int]) -> None:
    workload, profile, seed = plan
    record = run(Plan("repaired", workload, profile, "focus"), STRATEGIES["focus"](seed))
    assert subject_named("repaired").surprises(record.seen) == []
    assert record.unknown == ""


def test_a_history_is_expected_as_its_hazards_say() -> None:
    shipped, repaired = subject_named("shipped"), subject_named("repaired")
    for name, one in HISTORIES.items():
        assert (shipped.expected(name) is Outcome.VIOLATED) is bool(one.expected.hazards)
        assert (repaired.expected(name) is Outcome.VIOLATED) is bool(set(one.expected.hazards) & set(NO_REPAIR))
