"""Histories: judges of what was reported say nothing of what keeps to it, and see each property fail."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from impl.broker.given_message_store import GivenMessageStore, QueueRange
from impl.common.topic_config import TopicConfig
from impl.decisions.flags import PERM_READ
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RMQ_SYS_SELF_TEST_TOPIC
from impl.decisions.route_queues import QueueData
from impl.decisions.start_offset import NO_OFFSET, ConsumeFromWhere
from impl.events import (
    BrokerFound,
    BrokerLiveRemoved,
    BrokerRegistered,
    BrokerStarted,
    BrokerStopping,
    ClientChannelClosed,
    ClusterInfoFetched,
    ConnectionSevered,
    ConsumerIdsAnswered,
    ConsumerIdsChanged,
    ConsumerIdsFetched,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    GoodbyeTaken,
    GroupOffsetsRemoved,
    HeartbeatHandled,
    HeartbeatRefused,
    KVConfigLoaded,
    KVConfigPut,
    ListenerStarted,
    LockBelieved,
    LockGranted,
    LockReleased,
    MasterLearned,
    MessagesFound,
    MessagesSettled,
    OffsetAnswered,
    OffsetCommitted,
    OffsetReset,
    OffsetSent,
    OffsetsWritten,
    OffsetUpdated,
    ProcessKilled,
    ProcessPaused,
    ProcessStarted,
    QueueDropped,
    QueuesAssigned,
    QueueTaken,
    RegistrationAnswered,
    RegistrationFailed,
    ResetReceived,
    RetryTopicAnnounced,
    RouteAnswered,
    RouteUpdated,
    SubscriptionRemoved,
    SubscriptionUpdated,
    VersionQueried,
    VersionRaised,
    WorldHealed,
    WritePermWiped,
)
from impl.namesrv.route_info_manager import RouteInfoManager
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
DIES = (2, C, ProcessKilled(1, False))
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
LISTENS = (1, C, ListenerStarted(C, G, MQ))
FREED = (3, B, LockReleased(B, G, MQ, C))
ASSIGNED = (2, C, QueuesAssigned(C, G, "orders", frozenset(), changed=True))
TOLD = (2, B, ConsumerIdsChanged(B, G, AT, delivered=True))
FILTERS = "filter_is_as_new_as_its_subscription"  # see test_history_tables.py
NEW_GROUP = "new_group_begins_where_it_is_to"
LATER = (400_000, "world", WorldHealed())
HEALED, TIME_PASSES = (1, "world", WorldHealed()), (400_000, "world", ("nothing",))
Told = tuple[int, str, Any]
FULL = frozenset({RMQ_SYS_SELF_TEST_TOPIC, "orders"})
ASKED = (1, NS, VersionQueried(NS, "broker-a:10911", "broker-a:1", changed=True))
KEPT = (1, NS, KVConfigPut(NS, "N", "K", "V"))


def heartbeat(ms: int, version: int = 1) -> Told:
    return ms, B, ConsumerRegistered(B, G, C, AT, True, True, frozenset({("orders", "*", version)}))


def removed(ms: int, why: str) -> Told:
    return ms, B, ConsumerRemoved(B, G, C, AT, why, attached=True)


def fetched(*client_ids: str) -> Told:
    return 1, C, ConsumerIdsFetched(C, G, "orders", f"{B}:10911", client_ids)


def committed(ms: int, offset: int) -> Told:
    return ms, B, OffsetCommitted(B, G, "orders", 0, offset)


def answered(ms: int, offset: int) -> Told:
    return ms, B, OffsetAnswered(B, G, "orders", 0, AT, offset)


BROADCASTS_TOO = (0, "c2", ConsumerStarted("c2", G, "BROADCASTING", orderly=False))
HEARTBEAT_TOO = (3, B, ConsumerRegistered(B, G, "c2", "c2:1", True, True, frozenset({("invoices", "*", 1)})))
PUT = (2, B, SubscriptionUpdated(B, G, "orders", "*", 1, True))
ALL_HANDLED = ((2, B, HeartbeatHandled(B, G, AT)), (2, B, HeartbeatHandled(B, G, "c2:1")))
GOODBYE = (2, B, GoodbyeTaken(B, G, C, "c1:1", attached=True))
REFUSED = (2, B, HeartbeatRefused(B, G, C, "c1:2"))
RAISED = (1, C, VersionRaised(C, G, "orders", 2))


def sent(offset: int) -> Told:
    return 2, C, OffsetSent(C, G, MQ, offset)


def found(*offsets: int) -> Told:
    return 2, C, MessagesFound(C, G, MQ, offsets)


def settled(*offsets: int) -> Told:
    return 3, C, MessagesSettled(C, G, MQ, offsets)


def written(offset: int) -> Told:
    return 2, C, OffsetsWritten(C, G, ((MQ, offset),))


def registered(ms: int, connection: str) -> Told:
    return ms, NS, BrokerRegistered(NS, B, 0, f"{B}:10911", connection, (1, 1), frozenset())


def live_removed(ms: int, why: str) -> Told:
    return ms, NS, BrokerLiveRemoved(NS, f"{B}:10911", why)


def routed(ms: int, *queue_names: str) -> Told:
    """A route with these queues, and the address of broker-a."""
    names = frozenset(queue_names)
    return ms, NS, RouteAnswered(NS, "orders", names, frozenset({B}), frozenset({"broker-a:10911"}))


def takes(ms: int, addr: str) -> Told:
    return ms, NS, BrokerRegistered(NS, B, 0, addr, f"{addr}:1", (1, 1), FULL)


def answered_with(code: int, *, known: bool) -> Told:
    return 1, NS, RegistrationAnswered(NS, "broker-a:10911", code, known)


def loaded(value: str) -> Told:
    return 3, NS, KVConfigLoaded(NS, frozenset({("N", "K", value)}))


def learned(master_addr: str | None, *told: str | None) -> Told:
    return 1, B, MasterLearned(B, master_addr, told)


def announced(waited_ms: int) -> Told:
    return 1, B, RetryTopicAnnounced(B, G, waited_ms)


def answers(*client_ids: str) -> Told:
    return 1, B, ConsumerIdsAnswered(B, G, AT, client_ids)


class Nobody:
    """No machine runs anything that could be looked at."""

    namesrvs: Any = {}  # noqa: RUF012  # never changed
    brokers: Any = {}  # noqa: RUF012  # never changed
    consumers: Any = {}  # noqa: RUF012  # never changed
    calm = True

    def alive(self, machine: str) -> bool:
        return bool(machine)


class ReadOnly(Nobody):
    """A name server with a topic that may not be written there, and its broker, where it may."""

    def __init__(self) -> None:
        route_info = RouteInfoManager(lambda: 0)
        route_info.topic_queue_table.put("orders", [QueueData(B, 4, 4, PERM_READ, 0)])
        topics = SimpleNamespace(select_topic_config=lambda topic: TopicConfig(topic, 4, 4))
        config = SimpleNamespace(broker_name=B, broker_id=0)
        self.namesrvs = {NS: SimpleNamespace(node=None, route_info=route_info)}
        self.brokers = {B: SimpleNamespace(node=None, config=config, topic_config_manager=topics)}


class Case(NamedTuple):
    """A history that keeps to a property, and one that does not.

    machines -- whose tables its judge looks at in both; None: all judges are told, and there is none.
    """

    property: str
    kept: tuple[Told, ...]
    broken: tuple[Told, ...]
    machines: Any = None


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
    Case("settled_is_committed", (CLUSTERING, TAKEN, found(100, 101), GIVEN_UP, settled(100, 101), UPDATED, LATER),
         (CLUSTERING, ROUTED, TAKEN, found(100, 101), GIVEN_UP, settled(100, 101), UPDATED, LATER)),
    Case("settled_is_committed",
         (CLUSTERING, ROUTED, TAKEN, found(100, 101), GIVEN_UP, settled(100, 101), UPDATED, sent(102), LATER),
         (CLUSTERING, ROUTED, TAKEN, found(100, 101), GIVEN_UP, settled(100, 101), UPDATED, sent(101), LATER)),
    Case("settled_is_committed", (CLUSTERING, TAKEN, found(100), settled(100), DIES, LATER),
         (CLUSTERING, TAKEN, found(100), settled(100), (2, NS, ProcessKilled(1, False)), LATER)),
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
    Case("living_members_do_not_expire", (REFUSED, removed(121_000, "expired")),
         (REFUSED, heartbeat(3), removed(121_000, "expired"))),
    Case("living_members_do_not_expire", ((1, C, ProcessPaused(20_000)), removed(121_000, "expired")),
         ((1, "c2", ProcessPaused(20_000)), removed(121_000, "expired"))),
    Case("goodbye_delists_a_member", (SHUT_DOWN, removed(5, "unregistered")), (SHUT_DOWN, removed(121_000, "expired"))),
    Case("goodbye_delists_a_member", (STOPPING, removed(121_000, "expired")), (SHUT_DOWN, removed(121_000, "expired"))),
    Case("leaver_frees_its_locks", (TAKEN, LOCKED, STOPPING, GIVEN_UP, removed(5, "unregistered"), LATER),
         (TAKEN, LOCKED, STOPPING, DROPPED, removed(5, "unregistered"), LATER)),
    Case("queue_is_taken_once", (TAKEN, DROPPED, TAKEN), (TAKEN, TAKEN)),
    Case("queue_is_taken_once", (TAKEN, DIES, TAKEN), (TAKEN, (2, B, ProcessKilled(1, False)), TAKEN)),
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
         (START, committed(-60_000, 98), (-1, B, ProcessPaused(5)), (1, B, ProcessKilled(1, False)), TAKEN),
         (START, committed(-60_001, 98), (-1, B, ProcessPaused(5)), (1, B, ProcessKilled(1, False)), TAKEN)),
    Case("nothing_is_skipped", (START, committed(0, 98), (1, B, ProcessKilled(1, False)), TAKEN),
         (START, committed(-60_000, 98), (1, B, ProcessKilled(1, False)), TAKEN)),
    Case("nothing_is_skipped", (START, committed(0, 98), (1, B, GroupOffsetsRemoved(B, G)), TAKEN),
         (START, committed(0, 98), (1, B, GroupOffsetsRemoved(B, "another")), TAKEN)),
    Case("nothing_is_skipped", (START, committed(0, 98), BROADCASTING, TAKEN),
         (START, committed(0, 98), CLUSTERING, TAKEN)),
    Case("first_beginning_is_kept", (START, TAKEN_TOO, settled(98, 99), DIES, TAKEN),
         (START, TAKEN_TOO, settled(98), DIES, TAKEN)),
    Case("first_beginning_is_kept", (START, TAKEN_TOO, (2, "c2", QueueTaken("c2", G, MQ, 100))),
         (START, TAKEN_TOO, DROPPED, (2, "c2", QueueTaken("c2", G, MQ, 100)))),
    Case("first_beginning_is_kept", (START, TAKEN_TOO, committed(1, 98), DIES, TAKEN),
         (START, TAKEN_TOO, answered(1, -1), DIES, TAKEN)),
    Case("lock_outlasts_the_batch", (LISTENS, settled(100), FREED), (LISTENS, GIVEN_UP, FREED)),
    Case("lock_outlasts_the_batch", (LISTENS, DROPPED, FREED), (LISTENS, FREED)),
    Case("lock_outlasts_the_batch", (LISTENS, STOPPING, FREED), (LISTENS, (2, B, ProcessKilled(1, False)), FREED)),
    Case("file_keeps_its_offsets", (written(5), written(6)), (written(5), written(4))),
    Case("file_keeps_its_offsets", (written(5), (2, C, OffsetReset(C, G, MQ, 2)), written(2)),
         (written(5), (2, C, OffsetsWritten(C, G, ())))),
    Case("file_keeps_its_offsets", (written(5), (2, C, ProcessKilled(1, True)), written(2)),
         (written(5), DIES, written(2))),
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
    Case("only_the_listed_give_up", (TAKEN, fetched(C, "c2"), GIVEN_UP), (TAKEN, fetched("c2"), GIVEN_UP)),
    Case("share_is_kept", (TAKEN, GIVEN_UP, ASSIGNED, TAKEN), (TAKEN, GIVEN_UP, TAKEN, ASSIGNED)),
    Case("heartbeats_keep_a_member", (heartbeat(0), removed(120_001, "expired"), LATER),
         (heartbeat(0), removed(119_000, "expired"), LATER)),
    Case("closed_connection_is_delisted",
         (heartbeat(0), CLOSED, (2, B, ProcessPaused(130_000)), (100_000, "world", ("nothing",))),
         (heartbeat(0), CLOSED, (2, C, ProcessPaused(130_000)), (100_000, "world", ("nothing",)))),
    Case("closed_connection_is_delisted", (heartbeat(0), CLOSED, removed(2, "closed"), LATER),
         (heartbeat(0), CLOSED, LATER)),
    Case("changed_share_renews_the_subscription",
         (heartbeat(0), (1, C, QueuesAssigned(C, G, "orders", frozenset(), changed=True)), heartbeat(300_000, 2)),
         (heartbeat(0), (1, C, QueuesAssigned(C, G, "orders", frozenset(), changed=True)), heartbeat(300_000))),
    Case("route_fits_together", (routed(1, B),), (routed(1, B, "broker-b"),)),
    Case("route_fits_together", (routed(1, B),), (routed(1),)),
    Case("routes_lead_to_the_living", ((0, B, ProcessKilled(1, True)), routed(59_000, B)),
         ((0, B, ProcessKilled(1, True)), routed(61_000, B))),
    Case("routes_lead_to_the_living", ((0, B, ProcessKilled(1, True)), (1, B, ProcessStarted(2)), routed(61_000, B)),
         ((0, B, ProcessKilled(1, True)), (1, NS, ProcessStarted(2)), routed(61_000, B))),
    Case("id_is_not_taken_back", (takes(1, "a:1"), takes(2, "b:1"), takes(3, "c:1"), takes(4, "c:1")),
         (takes(1, "a:1"), takes(2, "b:1"), takes(3, "a:1"))),
    Case("id_is_not_taken_back",
         (takes(1, "a:1"), takes(2, "b:1"), (3, NS, BrokerLiveRemoved(NS, "b:1", "expired")), takes(4, "a:1")),
         (takes(1, "a:1"), takes(2, "b:1"), (3, NS, BrokerLiveRemoved(NS, "c:1", "expired")), takes(4, "a:1"))),
    Case("other_version_is_registered", (ASKED, registered(2, "broker-a:1"), LATER), (ASKED, LATER)),
    Case("other_version_is_registered", (ASKED, (2, B, RegistrationFailed(B, f"{NS}:9876", "timeout")), LATER),
         (ASKED, (2, B, RegistrationFailed(B, "another:9876", "timeout")), LATER)),
    Case("other_version_is_registered", (ASKED, (2, NS, ProcessKilled(1, False)), LATER),
         (ASKED, (2, "c1", ProcessKilled(1, False)), LATER)),
    Case("living_broker_is_not_dropped", (START, registered(1, "broker-a:1"), live_removed(2, "unregistered")),
         (START, registered(1, "broker-a:1"), live_removed(2, "destroyed"))),
    Case("living_broker_is_not_dropped",
         (START, (1, B, ConnectionSevered(NS, None)), registered(1, "broker-a:1"), live_removed(2, "destroyed")),
         (START, (1, C, ConnectionSevered("c2", None)), registered(1, "broker-a:1"), live_removed(2, "destroyed"))),
    Case("living_broker_is_not_dropped",
         (START, registered(1, "broker-a:1"), (2, B, BrokerStopping(B)), live_removed(3, "destroyed")),
         (START, registered(1, "broker-a:1"), (2, "another", BrokerStopping("another")), live_removed(3, "destroyed"))),
    Case("success_means_registered", (answered_with(1, known=False), answered_with(0, known=True)),
         (answered_with(0, known=False),)),
    Case("routes_say_what_brokers_have", ((0, NS, WritePermWiped(NS, B)), HEALED, TIME_PASSES), (HEALED, TIME_PASSES),
         ReadOnly()),
    Case("key_values_survive", (KEPT, loaded("V")), (KEPT, loaded("another"))),
    Case("key_values_survive", (KEPT, (2, NS, ProcessKilled(1, True)), loaded("another")),
         (KEPT, (2, NS, ProcessKilled(1, False)), loaded("another"))),
    Case("slave_takes_the_master_it_is_told", (learned("a:1", None, "a:1"),), (learned(None, None, "a:1"),)),
    Case("slave_takes_the_master_it_is_told", (learned(None, None, None),), (learned(None, "a:1"),)),
    Case("heartbeats_do_not_wait_for_name_servers", (announced(2_999),), (announced(3_000),)),
    Case("goodbye_delists_a_member", (heartbeat(0), removed(1, "unregistered"), GOODBYE), (heartbeat(0), GOODBYE)),
    Case("connections_of_members_last", (heartbeat(0), DIES, removed(3, "closed")),
         (heartbeat(0), removed(3, "closed"))),
    Case("connections_of_members_last", (heartbeat(0), removed(76_000, "closed")),
         (heartbeat(0), (1, C, ProcessPaused(20_000)), removed(3, "closed"))),
    Case("connections_of_members_last", (heartbeat(0), REFUSED, removed(3, "closed")),
         (REFUSED, heartbeat(3), removed(4, "closed"))),
    Case("group_has_one_message_model", (CLUSTERING, BROADCASTS_TOO, heartbeat(1), removed(2, "closed"), HEARTBEAT_TOO),
         (CLUSTERING, BROADCASTS_TOO, heartbeat(1), HEARTBEAT_TOO)),
    Case("topics_leave_with_their_member",
         (heartbeat(0), HEARTBEAT_TOO, PUT, (2, B, SubscriptionRemoved(B, G, "orders", True)), *ALL_HANDLED,
          removed(3, "closed"), LATER),
         (heartbeat(0), HEARTBEAT_TOO, PUT, *ALL_HANDLED, removed(3, "closed"), LATER)),
    Case("new_version_is_told_soon", (heartbeat(0), RAISED, heartbeat(5_000, 2), LATER),
         (heartbeat(0), RAISED, heartbeat(5_000), LATER)),
    Case("new_version_is_told_soon", (heartbeat(0), RAISED, removed(3, "closed"), LATER),
         (heartbeat(0), RAISED, LATER)),
    Case("cluster_info_fits_together", ((1, "operator", ClusterInfoFetched("ns", frozenset({"a"}), frozenset({"a"}))),),
         ((1, "operator", ClusterInfoFetched("ns", frozenset({"a"}), frozenset())),)),
)


def judged(case: Case, told: tuple[Told, ...]) -> Iterator[str]:
    alone = [judge for judge in JUDGES if judge.name == case.property]
    follower = Histories(Nobody()) if case.machines is None else Histories(case.machines, alone)
    for one in told:
        yield from (finding.property for finding in follower.segment(one[1], [one]))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.property)
def test_a_judge_sees_its_property_fail_and_nothing_else(case: Case) -> None:
    assert case.property not in list(judged(case, case.kept))
    assert case.property in list(judged(case, case.broken))


@pytest.mark.parametrize(("where", "topic", "begin"), [
    (ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET, "orders", 9), (ConsumeFromWhere.CONSUME_FROM_MIN_OFFSET, "orders", 9),
    (ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, "orders", 0), (ConsumeFromWhere.CONSUME_FROM_TIMESTAMP, "orders", 5),
    (ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET, "%RETRY%G", 0),
    (ConsumeFromWhere.CONSUME_FROM_TIMESTAMP, "%RETRY%G", 0),
])
@pytest.mark.parametrize("answer", [NO_OFFSET, 3])
def test_a_new_group_is_to_begin_as_configured(
    where: ConsumeFromWhere, topic: str, begin: int, answer: int, monkeypatch: pytest.MonkeyPatch,
) -> None:
    offsets, rebalance = GivenMessageStore(), SimpleNamespace(consume_from_where=where, consume_timestamp_ms=70)
    offsets.ranges.put((topic, 0), QueueRange(0, 9, stored=((60, 4), (80, 5))))
    node = SimpleNamespace(alive=True)
    monkeypatch.setattr(Nobody, "brokers", {B: SimpleNamespace(node=node, message_store=offsets)})
    consumer = SimpleNamespace(node=node, group=G, rebalance_impl=rebalance)
    monkeypatch.setattr(Nobody, "consumers", {C: [consumer]})
    judge = next(judge for judge in JUDGES if judge.name == NEW_GROUP)
    for taken in range(10):
        follower = Histories(Nobody(), [judge])
        told = (START, (1, B, OffsetAnswered(B, G, topic, 0, AT, answer)),
                (2, C, QueueTaken(C, G, MessageQueue(topic, B, 0), taken)))
        findings = [finding.property for one in told for finding in follower.segment(one[1], [one])]
        assert findings == [NEW_GROUP] * (answer == NO_OFFSET and taken != begin)


PLANTED = (
    ("what_is_taken_away_stays_away", "repaired-N-13", "operators", "calm", 5),
    ("group_offsets_go_with_the_group", "repaired+po-deleted-group-keeps-offset", "operators", "calm", 1),
    ("committed_offset_survives_its_broker", "repaired+seeded-offsets-are-not-written", "operators", "calm", 1),
    ("closed_producer_is_delisted", "repaired+seeded-producers-outlive-connections", "clustering", "threads", 1),
    ("who_consumes_is_answered", "repaired+bc-topic-group-index-value", "operators", "calm", 0),
    ("producers_are_known", "repaired+seeded-producers-are-stamped-once", "clustering", "calm", 0),
    ("only_the_subscribed_is_held", "repaired+seeded-unsubscribed-is-kept", "subscriptions", "calm", 0),
    ("clients_forget_the_dead", "repaired+seeded-dead-brokers-stay-known", "operators", "calm", 0),
    ("goodbye_frees_its_sender_only", "repaired+ns-unregister-by-id", "promotion", "calm", 0),
    ("known_version_changes_nothing", "repaired+ns-dataversion-never-equal", "operators", "calm", 0),
    ("topic_survives_its_broker", "repaired+seeded-topics-are-not-written", "routes", "calm", 0),
    ("group_survives_its_broker", "repaired+seeded-groups-are-not-written", "operators", "calm", 1),
    ("slave_follows_its_master", "repaired+seeded-slave-copies-no-offsets", "routes", "calm", 0),
    ("broadcaster_goes_on_where_it_ended", "repaired+po-broadcast-illegal-loop", "broadcasting", "calm", 1),
    ("reset_is_done", "repaired+seeded-reset-is-ignored", "resets", "calm", 0),
    ("only_the_settled_is_committed", "repaired+po-cpp-ordered-early-commit", "ordered_listeners", "calm", 0),
    ("settled_is_committed", "repaired+seeded-offsets-sent-at-the-end-only", "listeners", "calm", 0),
    ("living_members_do_not_expire", "repaired+seeded-heartbeats-end-at-an-error", "operators", "calm", 0),
    ("goodbye_delists_a_member", "repaired+seeded-no-goodbye", "shared", "calm", 0),
    ("members_are_told_of_changes", "repaired+seeded-join-is-not-announced", "clustering", "threads", 0),
    ("queue_is_taken_once", "repaired+rb-two-pull-loops", "clustering", "storm", 27),
    ("start_is_what_the_broker_answered", "repaired+po-fetch-failure-commits-zero", "listeners", "network", 1),
    ("only_the_settled_is_committed", "repaired-L8", "resets", "calm", 1),
    ("reset_takes_effect", "repaired+po-reset-vs-inflight", "resets", "threads", 1),
    ("reset_goes_to_its_time", "repaired+po-search-by-time", "resets", "calm", 1),
    ("commits_of_a_holding_go_forward", "repaired+seeded-offset-goes-back", "listeners", "threads", 1),
    ("only_ordered_groups_lock", "repaired+ol-lock-everyone", "clustering", "calm", 0),
    ("taken_queue_counts_as_locked", "repaired-U8", "orderly", "calm", 0),
    ("held_queue_stays_locked", "repaired+ol-unlock-other-topics", "orderly", "calm", 0),
    ("listener_keeps_its_lock", "repaired+ol-consume-while-releasing", "ordered_listeners", "threads", 2),
    ("refused_lock_is_not_believed", "repaired+seeded-refusal-is-ignored", "orderly", "clocks", 4),
    ("leaver_frees_its_locks", "repaired+ol-unlock-missing-on-leave", "orderly", "calm", 0),
    ("changed_share_renews_the_subscription", "repaired+bc-subversion-not-bumped", "clustering", "threads", 0),
    ("versions_are_times", "repaired+xl-subversion-units", "clustering", "calm", 0),
    ("notifications_have_a_reason", "repaired+seeded-every-heartbeat-notifies", "clustering", "calm", 0),
    ("group_has_its_retry_topic", "repaired+seeded-retry-topic-is-not-made", "clustering", "calm", 0),
    ("heartbeat_makes_the_retry_topic", "repaired+seeded-retry-topic-is-not-made", "clustering", "calm", 0),
    ("replies_find_the_producer", "repaired-B-23", "clustering", "storm", 0),
    ("closed_broker_is_dropped", "repaired+seeded-closed-brokers-stay", "one_topic", "storm", 26),
    ("held_queue_is_pulled", "repaired+seeded-moved-pull-is-the-last", "broadcasting", "calm", 0),
    ("given_up_lock_is_freed", "repaired+seeded-given-up-stays-locked", "orderly", "calm", 0),
    ("closed_connection_is_delisted", "repaired+seeded-close-in-one-group", "shared", "storm", 1),
    ("cluster_info_fits_together", "repaired+ns-clusterinfo-unlocked", "operators", "threads", 8),
    ("members_share_at_once", "repaired+rb-unsigned-underflow", "clustering", "calm", 0),
    ("members_share_at_once", "repaired+seeded-notification-is-ignored", "groups", "calm", 0),
    ("told_members_rebalance", "repaired+seeded-notification-is-ignored", "groups", "calm", 0),
    ("held_queue_is_worked_on", "repaired+seeded-moved-pull-is-the-last", "broadcasting", "calm", 0),
    ("only_the_readable_is_held", "repaired+seeded-all-but-one-given-up", "operators", "calm", 0),
    ("queue_is_not_left_alone", "repaired+seeded-given-up-stays-locked", "orderly", "calm", 0),
    ("members_share_at_once", "repaired+seeded-resume-waits", "clustering", "calm", 2),
)


@pytest.mark.parametrize(("name", "subject", "workload", "profile", "seed"), PLANTED, ids=str)
def test_runs_of_planted_bugs_are_seen(name: str, subject: str, workload: str, profile: str, seed: int) -> None:
    record = run(Plan(subject, workload, profile), STRATEGIES["uniform"](seed))
    assert name in {one.property for one in record.seen}


@pytest.mark.parametrize(("name", "subject", "workload", "profile", "seed"), [
    ("nothing_is_skipped", "repaired-L2", "listeners", "storm", 4),
    ("commits_of_a_holding_go_forward", "repaired-X23", "resets", "clocks", 6_000_077),
    ("only_the_settled_is_committed", "repaired-X23", "resets", "threads", 6_000_029),
    ("reset_takes_effect", "repaired-X23", "resets", "clocks", 6_000_053),
    ("reset_takes_effect", "repaired-X18", "resets", "storm", 290),
    ("lock_outlasts_the_batch", "repaired-X11", "ordered_listeners", "threads", 2),
    ("goodbye_is_final", "repaired-B-30", "clustering", "threads", 244),
    ("broadcaster_goes_on_where_it_ended", "repaired-X23", "broadcasting", "clocks", 6_000_037),
    ("settled_is_not_begun_again", "repaired", "listeners", "storm", 2),
], ids=str)
def test_races_are_seen_where_threads_stand_still_again_and_again(
    name: str, subject: str, workload: str, profile: str, seed: int,
) -> None:
    record = run(Plan(subject, workload, profile, "focus"), STRATEGIES["focus"](seed))
    assert name in {one.property for one in record.seen}
    assert subject_named(subject).surprises(record.seen) == []


def test_every_history_is_declared_judged_and_seen_to_fail() -> None:
    assert {judge.name for judge in JUDGES} == set(HISTORIES)
    assert {case.property for case in CASES} | {name for name, *_ in PLANTED} | {FILTERS, NEW_GROUP} == set(HISTORIES)
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
    ("subscriptions", "threads", 51_000_043),
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


def test_what_is_settled_of_a_queue_that_has_left_the_route_may_stay_uncommitted() -> None:
    record = run(Plan("repaired", "one_topic", "network", "swarm"), STRATEGIES["swarm"](41_000_017))
    assert subject_named("repaired").surprises(record.seen) == []
    assert record.unknown == ""


def test_a_history_is_expected_as_its_hazards_say() -> None:
    shipped, repaired = subject_named("shipped"), subject_named("repaired")
    for name, one in HISTORIES.items():
        assert (shipped.expected(name) is Outcome.VIOLATED) is bool(one.expected.hazards)
        assert (repaired.expected(name) is Outcome.VIOLATED) is bool(set(one.expected.hazards) & set(NO_REPAIR))
