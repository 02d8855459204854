"""What groups subscribe."""

from __future__ import annotations

import invariants.rules.subscriptions  # noqa: F401  # declares the rules
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    BrokerShutDown,
    BrokerStarted,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumerStarted,
    ProcessKilled,
    ProcessPaused,
    PullAnswered,
    PullFailed,
    PullHeld,
    PullSuspended,
    QueuesAssigned,
    SubscriptionAsked,
    SubscriptionRemoved,
    SubscriptionUpdated,
    VersionRaised,
    WorldHealed,
)
from invariants.refinement.follower import Record
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from invariants.views import Broker, Consumer, HeldQueue, Subscription
from stateful_tests.rules.histories.membership import consumer
from stateful_tests.rules.written import STORMY, Tables, Turns, Written

B, C, G, AT, OTHER = "broker-a", "c1", "G", "c1:1", "c2:1"
MQ = MessageQueue("orders", B, 0)
CLUSTERS = (0, C, ConsumerStarted(C, G, "CLUSTERING", orderly=False))
CLUSTERS_TOO = (0, "c2", ConsumerStarted("c2", G, "CLUSTERING", orderly=False))
BROADCASTS = (0, "c2", ConsumerStarted("c2", G, "BROADCASTING", orderly=False))
PUT = (2, B, SubscriptionUpdated(B, G, "orders", "*", 1, True))
OUT = (9, B, SubscriptionRemoved(B, G, "orders", True))
OUT_OF_ANOTHER = (9, B, SubscriptionRemoved(B, G, "orders", False))
ELSEWHERE = (3, "broker-b", ConsumerRegistered("broker-b", G, C, "c1:2", True, True, frozenset()))
RAISED = (2, C, VersionRaised(C, G, "orders", 2))
CHANGED = (2, C, QueuesAssigned(C, G, "orders", frozenset(), changed=True))
UNCHANGED = (2, C, QueuesAssigned(C, G, "orders", frozenset(), changed=False))
ON_THE_WAY_MS = deadlines.on_the_way(STORMY)
HELD = HeldQueue(C, C, G, MQ, False, True, False, 0, 0)


def heartbeat(ms: int, version: int = 1, topic: str = "orders", *, attached: bool = True) -> Record:
    """A broker has put the connection of a member."""
    return ms, B, ConsumerRegistered(B, G, C, AT, attached, True, frozenset({(topic, "*", version)}))


def heartbeat_too(ms: int, topic: str = "invoices") -> Record:
    """A broker has put the connection of another member."""
    return ms, B, ConsumerRegistered(B, G, "c2", OTHER, True, True, frozenset({(topic, "*", 1)}))


def gone(ms: int, connection: str = AT, *, attached: bool = True) -> Record:
    """A broker was told of the end of a connection, and has taken it out."""
    return ms, B, ConsumerRemoved(B, G, connection.partition(":")[0], connection, "closed", attached)


_CLOCK = Tables(broker=Broker(B, B, 0, "broker-a:10911", 1_000, None))
_TO_BROKER = {(B, 0): "broker-a:10911"}
_ROUTED = Tables(known_addresses=_TO_BROKER)
_WITH_DEAD = Tables(known_addresses=_TO_BROKER, dead_addresses={"broker-c:10911", "broker-d:10911"})
TOLD_MS = RAISED[0] + deadlines.told_at_once(Bounds())
STARTED, SHUT_DOWN = (0, B, BrokerStarted(B, B, 0)), (0, B, BrokerShutDown(B))
BROKER = (0, "broker-b", BrokerStarted("broker-b", "broker-b", 0))
BROKER_DIES, OTHER_DIES, KILLED = (
    (ms, machine, ProcessKilled(1, False)) for ms, machine in ((3, "broker-b"), (3, "c2"), (100_000, C)))


def looks(ms: int) -> Record:
    """Time has passed."""
    return ms, "world", WorldHealed()


def waited(calls: float) -> int:
    """When a member must have told its new version, if it has waited for so many calls without an answer."""
    return TOLD_MS + int(calls * deadlines.CALL_MS)


def stands_still(ms: int, for_ms: int, at: str = "broker-b") -> Record:
    """A process stands still; it is one of another broker, if it is not said whose."""
    return ms, at, ProcessPaused(for_ms)


_OTHER_IS_ROUTED = Tables(known_addresses=lambda _, *client: {} if client == (C,) else _TO_BROKER)
_HOLDS = {"consumers": [consumer()], "process_queues": [HELD]}

def held(connection: str = AT, at: str = B, group: str = G, topic: str = "orders", queue_id: int = 0) -> Record:
    """A broker holds a pull."""
    return 4, at, PullHeld(at, group, topic, queue_id, 5, connection, 1, "*", 15_000)


PULLED, PULLED_AGAIN = ((ms, C, PullSuspended(C, G, MQ, 5, "broker-a:10911", by_version=2)) for ms in (3, 5))
ANSWERED, ANSWERED_AGAIN = ((ms, C, PullAnswered(C, G, MQ, 0)) for ms in (4, 6))
PULLED_NEXT = (4, C, PULLED[2]._replace(by_version=3))
REFUSED = (4, C, PullFailed(C, G, MQ))
NEWER = (2, B, SubscriptionUpdated(B, G, "orders", "*", 2, True))

def asked(expression: str | None, ms: int = 1, topic: str = "orders") -> Record:
    """An application says what it subscribes."""
    return ms, C, SubscriptionAsked(G, topic, expression)


def having(expression: str | None, *others: Consumer) -> Tables:
    """A member subscribes this, beside others."""
    mine = {} if expression is None else {"orders": Subscription(expression, 2, "TAG")}
    return Tables(subscribed=mine, in_service=[consumer(), *others])


HAS = "application_has_what_it_subscribes"
VERSION, KNOWN_MS = "known_version_is_not_refused", deadlines.HEARTBEAT_MS + deadlines.soon(Bounds())


BROKER_COMES, POLLED_MS = (7, "b-1", BrokerStarted("b-1", MQ.broker_name, 0)), 7 + deadlines.ROUTE_MS


def refused(ms: int, code: int = 25) -> Record:
    """A pull is refused."""
    return ms, C, PullFailed(C, G, MQ, code)


def raised(ms: int, topic: str = "orders", group: str = G) -> Record:
    """A newer version counts for pulls."""
    return ms, C, VersionRaised(C, group, topic, ms)


HISTORIES = (
    Written(HAS, (asked("a"),), (asked("a"),), having("*"), having("a"), says="c1 is to subscribe orders with a in G"),
    Written(HAS, (asked("a"),), (asked("a"), asked("*")), having(None), having("*")),
    Written(HAS, (asked("a"), asked(None)), (asked("a"), asked(None)), having("a"), having(None), says="with nothing"),
    *(Written(HAS, (asked("a"),), (asked("a"),), having("*", other), having("*", consumer()))
      for other in (consumer(machine="c2"), consumer(group="H"))),
    Written(HAS, (asked("a"),), (asked("a"),), having("*"), Tables(subscribed={})),
    Written(HAS, (asked("a"),), (asked("a", topic="invoices"), asked(None, topic="invoices")), having("*"),
            having("*")),
    *(Written("retries_stay_subscribed", (CLUSTERS, heartbeat(1)), kept) for kept in (
        (CLUSTERS, heartbeat(1, topic=f"%RETRY%{G}")), (CLUSTERS_TOO, heartbeat(1)), (BROADCASTS, heartbeat_too(1)))),
    Written("pull_waits_for_its_version", (CLUSTERS, PUT, PULLED, ANSWERED), (CLUSTERS, NEWER, PUT, PULLED, ANSWERED),
            says="by version 2, and has heard of no later version than 1"),
    Written("pull_waits_for_its_version", (CLUSTERS, PULLED, ANSWERED), (PULLED, ANSWERED)),
    Written("pull_waits_for_its_version", (CLUSTERS, PUT, PULLED, REFUSED, PULLED_AGAIN, ANSWERED_AGAIN),
            (CLUSTERS, PUT, PULLED, PULLED_AGAIN, ANSWERED_AGAIN)),
    Written("pull_waits_for_its_version", (CLUSTERS, PUT, PULLED, ANSWERED),
            (CLUSTERS, PUT, PULLED, REFUSED, ANSWERED)),
    Written("pull_waits_for_its_version", (CLUSTERS, PUT, PULLED, held()), (
        CLUSTERS, PUT, PULLED, held("c2:1"), held(at="broker-b"), held(queue_id=1), held(group="H"),
        held(topic="invoices"))),
    Written("pull_waits_for_its_version", (CLUSTERS, PUT, PULLED, held()),
            (CLUSTERS, PUT, PULLED, PULLED_AGAIN, held())),
    Written("pull_waits_for_its_version", (CLUSTERS, PUT, PULLED, held()),
            (CLUSTERS, PUT, PULLED, REFUSED, PULLED, held())),
    Written("pull_waits_for_its_version", (CLUSTERS, NEWER, PULLED, ANSWERED, PULLED_NEXT, held()),
            (CLUSTERS, NEWER, PULLED, PULLED_NEXT, ANSWERED, ANSWERED_AGAIN)),
    Written("pull_waits_for_its_version", (CLUSTERS, NEWER, PULLED_NEXT, ANSWERED),
            (CLUSTERS, NEWER, PULLED, PULLED_AGAIN, ANSWERED, PULLED_NEXT, ANSWERED_AGAIN)),
    Written("group_has_one_message_model", broken=(CLUSTERS, BROADCASTS, heartbeat(1), heartbeat_too(2)),
            kept=(CLUSTERS, CLUSTERS_TOO, heartbeat(1), heartbeat_too(2))),
    Written("group_has_one_message_model", broken=(CLUSTERS, BROADCASTS, heartbeat(1), heartbeat_too(2)),
            kept=(CLUSTERS, BROADCASTS, heartbeat(1), gone(2), heartbeat_too(3))),
    Written("group_has_one_message_model", broken=(CLUSTERS, BROADCASTS, heartbeat(1), heartbeat_too(2)),
            kept=(CLUSTERS, BROADCASTS, heartbeat(1, attached=False), heartbeat_too(2))),
    Written("group_has_one_message_model", broken=(CLUSTERS, BROADCASTS, heartbeat(1), heartbeat_too(2)),
            kept=(BROADCASTS, heartbeat(1), heartbeat_too(2))),
    Written("topics_leave_with_their_member", broken=(heartbeat(0), heartbeat_too(1), PUT, gone(3)),
            kept=(heartbeat(0), heartbeat_too(1), PUT, OUT, gone(3))),
    Written("topics_leave_with_their_member", broken=(heartbeat(0), heartbeat_too(1), PUT, OUT_OF_ANOTHER, gone(3)),
            kept=(heartbeat(0), heartbeat_too(1, "orders"), PUT, gone(3))),
    Written("topics_leave_with_their_member", broken=(heartbeat(0), heartbeat_too(1), PUT, gone(3)),
            kept=(heartbeat(0), heartbeat_too(1), PUT, gone(3, attached=False))),
    Written("topics_leave_with_their_member", broken=(heartbeat(0), heartbeat_too(1), PUT, gone(3)),
            kept=(heartbeat(0), PUT, gone(3))),
    Written("new_version_is_told_soon", broken=(heartbeat(0), RAISED, heartbeat(3)),
            kept=(heartbeat(0), RAISED, heartbeat(3, 2)), views=_ROUTED),
    Written("new_version_is_told_soon", broken=(heartbeat(0), RAISED), views=_ROUTED,
            kept=(heartbeat(0, topic="invoices"), RAISED)),
    Written("new_version_is_told_soon", broken=(heartbeat(0), RAISED), views=_ROUTED,
            kept=(heartbeat(0), RAISED), kept_views=Tables(known_addresses={("broker-b", 0): "broker-b:10911"})),
    Written("new_version_is_told_soon", broken=(heartbeat(0), RAISED), views=_ROUTED,
            kept=(heartbeat(0), RAISED), kept_views=_OTHER_IS_ROUTED),
    Written("new_version_is_told_soon", broken=(heartbeat(0), RAISED), views=_ROUTED,
            kept=(heartbeat(0), RAISED), kept_views=Tables(known_addresses=Turns(_TO_BROKER, {}))),
    Written("new_version_is_told_soon", broken=(heartbeat(0), RAISED, ELSEWHERE), views=_ROUTED,
            kept=(heartbeat(0), RAISED, ELSEWHERE),
            kept_views=Tables(known_addresses=Turns(_TO_BROKER, {}, _TO_BROKER))),
    Written("new_version_is_told_soon", broken=(heartbeat(0), RAISED, heartbeat_too(3)),
            kept=(heartbeat(0), RAISED, ELSEWHERE), views=Tables(known_addresses=Turns(_TO_BROKER, _TO_BROKER, {})),
            kept_views=Tables(known_addresses=Turns(_TO_BROKER, {}, _TO_BROKER))),
    Written("new_version_is_told_soon", broken=(heartbeat(0), RAISED, heartbeat_too(3, "orders")),
            kept=(heartbeat_too(0, "orders"), RAISED), views=_ROUTED),
    Written("new_version_is_told_soon", broken=(heartbeat(0), RAISED), views=_ROUTED,
            kept=(heartbeat(0), RAISED, ELSEWHERE, ELSEWHERE),
            kept_views=Tables(known_addresses=Turns(_TO_BROKER, _TO_BROKER, {}))),
    Written("new_version_is_told_soon", broken=(SHUT_DOWN, STARTED, heartbeat(0), RAISED), views=_ROUTED,
            kept=(STARTED, SHUT_DOWN, heartbeat(0), RAISED)),
    # A heartbeat waits for each address where no broker lives, or that falls silent while it goes round.
    *(Written("new_version_is_told_soon", bounds=Bounds(), views=views, kept_views=views,
              broken=(BROKER, heartbeat(0), RAISED, *dead, looks(waited(calls) + 1), KILLED),
              kept=(BROKER, heartbeat(0), RAISED, *dead, looks(waited(calls)), KILLED))
      for views, dead, calls in (
          (_ROUTED, (), 0), (_WITH_DEAD, (), 2), (_ROUTED, (BROKER_DIES,), 1), (_WITH_DEAD, (BROKER_DIES,), 3),
          (_ROUTED, (RAISED, OTHER_DIES), 0), (_WITH_DEAD, ((3, *RAISED[1:]),), 2),
          (_ROUTED, (stands_still(3, 3_000),), 1), (_ROUTED, (stands_still(3, 1_500),), 0.5),
          (_WITH_DEAD, (stands_still(3, 9_000), BROKER_DIES), 4), (_ROUTED, (stands_still(3, 3_000, "c2"),), 0))),
    *(Written("new_version_is_told_soon", bounds=Bounds(), views=views, kept_views=views,
              broken=(BROKER, before, heartbeat(0), RAISED, looks(waited(calls) + 1), KILLED),
              kept=(BROKER, before, heartbeat(0), RAISED, looks(waited(calls)), KILLED))
      for views, before, calls in (
          (_ROUTED, stands_still(0, RAISED[0] + 3_000), 1), (_WITH_DEAD, stands_still(0, RAISED[0] + 9_000), 3),
          (_ROUTED, stands_still(0, RAISED[0]), 0), (_ROUTED, stands_still(0, RAISED[0] + 1_500), 0.5),
          (_ROUTED, stands_still(0, RAISED[0] + 3_000, "c2"), 0))),
    Written("changed_share_renews_the_subscription",
            broken=(heartbeat(0), CHANGED, heartbeat(3 + ON_THE_WAY_MS)),
            kept=(heartbeat(0), CHANGED, heartbeat(2 + ON_THE_WAY_MS))),
    Written("changed_share_renews_the_subscription",
            broken=(heartbeat(0, 2), heartbeat(0), CHANGED, heartbeat(3 + ON_THE_WAY_MS, 2)),
            kept=(heartbeat(0), CHANGED, heartbeat(3, 2), heartbeat(3 + ON_THE_WAY_MS, 2))),
    Written("changed_share_renews_the_subscription",
            broken=(heartbeat(0), CHANGED, (3, C, CHANGED[2]), heartbeat(3 + ON_THE_WAY_MS)),
            kept=(heartbeat(0), UNCHANGED, heartbeat(3 + ON_THE_WAY_MS))),
    Written("changed_share_renews_the_subscription",
            broken=(heartbeat(0), CHANGED, heartbeat(3 + ON_THE_WAY_MS)),
            kept=(CHANGED, heartbeat(3 + ON_THE_WAY_MS))),
    Written("versions_are_times", broken=(heartbeat(100, 1_001),), kept=(heartbeat(100, 1_000),), views=_CLOCK),
    Written("versions_are_times", broken=(heartbeat(100, 899),), kept=(heartbeat(100, 900),), views=_CLOCK),
    Written("only_the_subscribed_is_held", broken=(), kept=(CLUSTERS,), views=Tables(**_HOLDS, subscribed={}),
            kept_views=Tables(**_HOLDS, subscribed={"orders": Subscription("*", 1, "TAG")})),
    Written(VERSION, (raised(5), refused(KNOWN_MS + 6)), (raised(5), refused(KNOWN_MS + 5)), bounds=Bounds(),
            says=f"by c1 is refused with code 25, and its version is {KNOWN_MS + 1} ms old"),
    Written(VERSION, (refused(KNOWN_MS + 1, 28),), (refused(KNOWN_MS, 28),), bounds=Bounds()),
    *(Written(VERSION, (refused(KNOWN_MS + 1),), (refused(KNOWN_MS + 1, code),), bounds=Bounds()) for code in (24, -1)),
    Written(VERSION, (refused(KNOWN_MS + 1),), (refused(KNOWN_MS + 1),), kept_views=Tables(calm=False),
            bounds=Bounds()),
    *(Written(VERSION, (broken, refused(KNOWN_MS + 6)), (kept, refused(KNOWN_MS + 6)), bounds=Bounds())
      for broken, kept in (
        (raised(7, "invoices"), raised(7)), (raised(7, group="H"), raised(7)), (raised(5), raised(6)),
        ((7, "c2", raised(7)[2]), raised(7)),
        ((7, "c2", ConsumerStarted("c2", G, "CLUSTERING", False)), (7, C, ConsumerStarted(C, G, "CLUSTERING", False))),
        ((7, "b-1", BrokerStarted("b-1", "broker-c", 0)), (7, "b-1", BrokerStarted("b-1", MQ.broker_name, 0))))),
    Written(VERSION, (BROKER_COMES, refused(POLLED_MS + KNOWN_MS + 1)), (BROKER_COMES, refused(POLLED_MS + KNOWN_MS)),
            bounds=Bounds()),
)
