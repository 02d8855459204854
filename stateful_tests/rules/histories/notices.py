"""Who is told and asked of the members of groups."""

from __future__ import annotations

import invariants.rules.notices  # noqa: F401  # declares the rules
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    ConsumerIdsChanged,
    ConsumerIdsFetched,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumersOfTopicAnswered,
    ConsumerStarted,
    ConsumerStopping,
    GoodbyeTaken,
    ProcessPaused,
    RouteUpdated,
    SubscriptionRemoved,
    SubscriptionUpdated,
)
from invariants.refinement.follower import Record
from invariants.rules import deadlines
from invariants.views import Subscription
from stateful_tests.rules.written import STORMY, Tables, Written

B, C, G, AT, OTHER = "broker-a", "c1", "G", "c1:1", "c2:1"
GONE = (3, B, ConsumerRemoved(B, G, "c2", OTHER, "closed", attached=True))
GOODBYE = (3, B, GoodbyeTaken(B, G, "c2", OTHER, attached=True))
ORDERS = Subscription("*", 1, "TAG")


def heartbeat(connection: str = AT, *, attached: bool = True, ms: int = 1) -> Record:
    """A broker has put the connection of a member."""
    return ms, B, ConsumerRegistered(B, G, C, connection, attached, True, frozenset())


def told(connection: str = AT) -> Record:
    """A member was sent a notification."""
    return 4, B, ConsumerIdsChanged(B, G, connection, delivered=True)


def subscribed(version: int = 1, *, attached: bool = True) -> Record:
    """A broker has put a topic of the group."""
    return 2, B, SubscriptionUpdated(B, G, "orders", "*", version, attached)


def unsubscribed(*, attached: bool = True) -> Record:
    """A broker has removed a topic of the group."""
    return 3, B, SubscriptionRemoved(B, G, "orders", attached)


def fetched(*client_ids: str) -> Record:
    """A client was answered with this list."""
    return 1, C, ConsumerIdsFetched(C, G, "orders", "broker-a:10911", client_ids)


def asked(*groups: str) -> Record:
    """An operator was answered with these groups."""
    return 1, B, ConsumersOfTopicAnswered(B, "orders", frozenset(groups))


def started(message_model: str = "CLUSTERING") -> Record:
    """A consumer has started."""
    return 1, C, ConsumerStarted(C, G, message_model, orderly=False)


def routed(ms: int = 2, group: str = G, *, queues: int = 1) -> Record:
    """It learns of queues of a topic."""
    mqs = frozenset(MessageQueue("orders", B, queue_id) for queue_id in range(queues))
    return ms, C, RouteUpdated(C, group, "orders", mqs)


LEFT = (3, B, ConsumerRemoved(B, G, "c2", OTHER, "unregistered", attached=True))
TELLS, TELLS_NOBODY, TELLS_NOT_G = (
    Tables(tells_of_changes=one) for one in ((True, True), (False, True), (True, False)))
HANDLED_MS = 3 + deadlines.handled(STORMY)
STILL = (4, B, ProcessPaused(1_000))
MANY_CHANGES = (heartbeat(), subscribed(), unsubscribed())
LATER_MS = 4 + deadlines.handled(STORMY)
_CONSUMED = Tables(groups_with_offsets={("H", "orders"), ("I", "invoices")}, groups=["G", "J"],
                   subscriptions=lambda _, group: {"orders": ORDERS} if group == G else {})

SOON_MS = 1 + deadlines.soon(STORMY)
ASKS = (3, C, ConsumerIdsFetched(C, G, "orders", None, None))
HISTORIES = (
    *(Written("starter_rebalances_at_once", (started(), routed(SOON_MS)), kept, says="not asked for the members of G")
      for kept in ((started(), routed(), ASKS), (started("BROADCASTING"), routed()), (started(), routed(queues=0)),
                   (started(), routed(SOON_MS + 1)), (started(), routed(group="H")), (routed(),),
                   (started(), routed(), (3, C, ConsumerStopping(C, G))), (started(), routed(), ASKS, routed(4)))),
    Written("starter_rebalances_at_once", (started(), routed(), (3, C, ASKS[2]._replace(group="H"))),
            (started(), routed()), kept_views=Tables(calm=False)),
    Written("list_has_no_repetition", broken=(fetched("c1", "c2", "c1"),), kept=(fetched("c1", "c2"),)),
    Written("list_has_no_repetition", broken=(fetched("c1", "c1"),),
            kept=((1, C, ConsumerIdsFetched(C, G, "orders", None, None)),)),
    Written("members_are_told_of_changes", broken=(heartbeat(),), kept=(heartbeat(), told())),
    *(Written("members_are_told_of_changes", broken=(heartbeat(),), kept=(heartbeat(),), views=TELLS, kept_views=views)
      for views in (TELLS_NOBODY, TELLS_NOT_G)),
    Written("notifications_can_be_switched_off", broken=(told(),), kept=(told(),), views=TELLS_NOBODY, kept_views=TELLS,
            says="c1:1 that G has changed, and is not to"),
    Written("notifications_can_be_switched_off", broken=(told(),), kept=(GONE, told()), views=TELLS_NOT_G,
            kept_views=TELLS_NOT_G),
    Written("notifications_can_be_switched_off", broken=(GONE, told()), kept=(told(),), views=TELLS_NOBODY,
            kept_views=TELLS),
    Written("notifications_can_be_switched_off", broken=(LEFT, told()), kept=(GONE, told()), views=TELLS_NOT_G,
            kept_views=TELLS_NOT_G),
    Written("notifications_can_be_switched_off", broken=(GONE, (HANDLED_MS + 1, *told()[1:])), views=TELLS_NOT_G,
            kept=(GONE, (HANDLED_MS, *told()[1:])), kept_views=TELLS_NOT_G),
    Written("notifications_can_be_switched_off", broken=(GONE, (HANDLED_MS + 1, *told()[1:])), views=TELLS_NOT_G,
            kept=(GONE, STILL, (HANDLED_MS + 1_000, *told()[1:])), kept_views=TELLS_NOT_G),
    Written("members_are_told_of_changes", broken=(heartbeat(), told(), heartbeat(OTHER), told(OTHER)),
            kept=(heartbeat(), told(), heartbeat(), heartbeat(attached=False), heartbeat(OTHER, attached=False))),
    Written("members_are_told_of_changes", broken=(heartbeat(), heartbeat(OTHER), told(), told(OTHER), GONE),
            kept=(heartbeat(), heartbeat(OTHER), told(), told(OTHER), GONE, told())),
    Written("members_are_told_of_changes", broken=(heartbeat(), told(), subscribed()),
            kept=(heartbeat(), subscribed(), told(), subscribed(2), subscribed(attached=False))),
    Written("members_are_told_of_changes", broken=(heartbeat(), subscribed(), told(), unsubscribed()),
            kept=(heartbeat(), subscribed(), told(), unsubscribed(attached=False),
                  (4, B, ConsumerRemoved(B, G, "c2", OTHER, "closed", attached=False)))),
    Written("notifications_have_a_reason", broken=(heartbeat(), told(), told()),
            kept=(heartbeat(), told(), told(OTHER))),
    Written("notifications_have_a_reason", broken=(heartbeat(), heartbeat(), told(), told()),
            kept=(heartbeat(), heartbeat(attached=False), told(), told())),
    Written("notifications_have_a_reason", broken=(subscribed(), subscribed(2), told(), told()),
            kept=(subscribed(), subscribed(attached=False), told(), told())),
    Written("notifications_have_a_reason", broken=(told(),),
            kept=(GONE, told(), GOODBYE, told(), unsubscribed(), told())),
    Written("notifications_have_a_reason", broken=(*MANY_CHANGES, heartbeat(OTHER, ms=LATER_MS), *(told(OTHER),) * 2),
            kept=(*MANY_CHANGES, heartbeat(OTHER, ms=LATER_MS - 1), *(told(OTHER),) * 2)),
    # The broker stands still in between.
    Written("notifications_have_a_reason",
            broken=(*MANY_CHANGES, STILL, heartbeat(OTHER, ms=LATER_MS + 1_000), *(told(OTHER),) * 2),
            kept=(*MANY_CHANGES, STILL, heartbeat(OTHER, ms=LATER_MS + 999), *(told(OTHER),) * 2)),
    Written("notifications_have_a_reason", broken=(
        *MANY_CHANGES, (4, C, STILL[2]), heartbeat(OTHER, ms=LATER_MS + 999), *(told(OTHER),) * 2)),
    Written("notifications_have_a_reason", broken=(*MANY_CHANGES, *(told(OTHER),) * 4),
            kept=(*MANY_CHANGES, *(told(OTHER),) * 3)),
    Written("who_consumes_is_answered", broken=(asked(G),), kept=(asked(G, "H"),), views=_CONSUMED),
    Written("who_consumes_is_answered", broken=(asked(G, "H", "J"),), views=_CONSUMED),
)
