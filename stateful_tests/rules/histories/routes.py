"""Written histories of what name servers route."""

from __future__ import annotations

from typing import Any

import invariants.rules.routes  # noqa: F401  # declares the rules
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.decisions.names import RMQ_SYS_SELF_TEST_TOPIC
from impl.decisions.route_queues import QueueData
from impl.events import (
    BrokerLiveRemoved,
    BrokerRegistered,
    BrokerStarted,
    BrokerStopping,
    ClusterInfoFetched,
    ProcessKilled,
    ProcessStarted,
    RouteAnswered,
    RouteDenied,
    TopicConfigUpdated,
    TopicDeleted,
    WritePermAdded,
    WritePermWiped,
)
from invariants.views import Broker
from stateful_tests.rules.written import Tables, Turns, Written

B, NS, ADDR = "broker-a", "nameserver1", "broker-a:10911"
Told = tuple[int, str, Any]
BOTH = QueueData(B, 4, 4, PERM_READ | PERM_WRITE, 0)
READ_ONLY = BOTH._replace(perm=PERM_READ)
MASTER = Broker(B, B, 0, ADDR, 0, None)
WHOLE = frozenset({RMQ_SYS_SELF_TEST_TOPIC, "orders"})


def routing(*datas: QueueData, **tables: Any) -> Tables:
    """A name server that routes one topic, and what else tables say."""
    return Tables(namesrvs=[NS], queue_datas={"orders": datas}, **tables)


def routed(ms: int, *queue_names: str) -> Told:
    """A route with these queues, and the address of broker-a."""
    return ms, NS, RouteAnswered(NS, "orders", frozenset(queue_names), frozenset({B}), frozenset({ADDR}))


def registered(ms: int, counter: int = 1, topics: frozenset[str] = WHOLE) -> Told:
    """A master registers."""
    return ms, NS, BrokerRegistered(NS, B, 0, ADDR, "broker-a:1", (1, counter), topics)


def fetched(*cluster_names: str) -> Told:
    """An operator is answered with one name that has addresses, and these names of clusters."""
    return 1, "operator", ClusterInfoFetched(NS, frozenset({B}), frozenset(cluster_names))


def denied(ms: int, topic: str = "orders", code: int = 17) -> Told:
    """A name server says that there is no such topic, or something else."""
    return ms, NS, RouteDenied(NS, topic, code=code)


NS_STARTS, STOPS = (0, NS, ProcessStarted(1)), (0, B, BrokerStopping(B))
DIES, DELETED = (0, B, ProcessKilled(1, power_loss=False)), (2, NS, TopicDeleted(NS, "orders"))
WIPED, GIVEN = ((2, NS, kind(NS, B)) for kind in (WritePermWiped, WritePermAdded))
ORDERS, MORE, NONE = {"orders": (BOTH,)}, {"orders": (BOTH._replace(read_queue_nums=8),)}, dict[str, Any]()
LESS = {"orders": (READ_ONLY,)}
HAS_ORDERS = {"brokers": [MASTER], "topics": {"orders": BOTH}}
STARTED, CREATED = (0, B, BrokerStarted(B, B, 0)), (2, B, TopicConfigUpdated(B, "orders"))

HISTORIES = (
    Written("known_version_changes_nothing", broken=(registered(1), registered(2)),
            views=Tables(queue_datas=Turns(ORDERS, MORE)),
            kept=(registered(1), registered(2, 2)), kept_views=Tables(queue_datas=Turns(ORDERS, MORE))),
    Written("known_version_changes_nothing", broken=(registered(1), registered(2)),
            views=Tables(queue_datas=Turns(ORDERS, NONE)),
            kept=(registered(1), WIPED, registered(3)), kept_views=Tables(queue_datas=Turns(ORDERS, LESS, LESS))),
    Written("known_version_changes_nothing", broken=(registered(1), WIPED, registered(3)),
            views=Tables(queue_datas=Turns(ORDERS, LESS, ORDERS)),
            kept=(registered(1), (2, NS, BrokerLiveRemoved(NS, ADDR, "expired")), registered(3)),
            kept_views=Tables(queue_datas=Turns(NONE, ORDERS))),
    Written("route_fits_together", broken=(routed(1, B, "broker-b"),), kept=(routed(1, B),)),
    Written("route_fits_together", broken=(routed(1),)),
    Written("cluster_info_fits_together", broken=(fetched(),), kept=(fetched(B),)),
    Written("cluster_info_fits_together", broken=(fetched(B, "broker-b"),)),
    Written("routes_lead_to_the_living", broken=(DIES, routed(70_001, B)), kept=(DIES, routed(70_000, B))),
    Written("routes_lead_to_the_living", broken=(DIES, (1, NS, ProcessStarted(2)), routed(70_001, B)),
            kept=(DIES, (1, B, ProcessStarted(2)), routed(70_001, B))),
    Written("routes_say_what_brokers_have", broken=(), views=routing(READ_ONLY, **HAS_ORDERS),
            kept=(WIPED,), kept_views=routing(READ_ONLY, **HAS_ORDERS), says="with permission 4 for 6"),
    Written("routes_say_what_brokers_have", broken=(GIVEN,), views=routing(READ_ONLY, **HAS_ORDERS),
            kept=(WIPED, GIVEN), kept_views=routing(READ_ONLY, **HAS_ORDERS)),
    Written("routes_say_what_brokers_have", broken=(WIPED,),
            views=routing(BOTH._replace(topic_sys_flag=1), **HAS_ORDERS),
            kept_views=routing(BOTH, **HAS_ORDERS)),
    Written("routes_say_what_brokers_have", broken=(), views=routing(BOTH, brokers=[MASTER], topics={}),
            kept_views=routing(BOTH, brokers=[MASTER._replace(broker_id=1)], topics={})),
    Written("what_is_taken_away_stays_away", broken=(WIPED, registered(3)), views=routing(BOTH),
            kept=(WIPED, GIVEN, registered(3)), kept_views=routing(BOTH)),
    Written("what_is_taken_away_stays_away", broken=(WIPED, registered(3)), views=routing(BOTH),
            kept=(WIPED, registered(3)), kept_views=routing(READ_ONLY)),
    Written("what_is_taken_away_stays_away", broken=(WIPED, registered(3)), views=routing(BOTH),
            kept=(WIPED, registered(3)), kept_views=Tables(queue_datas=Turns(NONE, ORDERS))),
    Written("what_is_taken_away_stays_away", broken=(registered(1), DELETED, registered(3)), views=routing(BOTH),
            kept=(STARTED, registered(1), DELETED, CREATED, registered(3)), kept_views=routing(BOTH)),
    Written("what_is_taken_away_stays_away", broken=(registered(1), DELETED, registered(3)), views=routing(BOTH),
            kept=(registered(1), DELETED, registered(3, topics=WHOLE - {"orders"})), kept_views=routing(BOTH)),
    Written("what_is_taken_away_stays_away",
            broken=(registered(1), DELETED, registered(3, topics=frozenset({"invoices"}))), views=routing(BOTH),
            kept=(registered(1, topics=WHOLE - {"orders"}), DELETED, registered(3)), kept_views=routing(BOTH)),
    Written("existing_topics_are_not_denied", broken=(NS_STARTS, denied(29_999)), views=Tables(**HAS_ORDERS),
            kept=(NS_STARTS, denied(30_000)), kept_views=Tables(**HAS_ORDERS)),
    Written("existing_topics_are_not_denied", broken=(NS_STARTS, denied(1)), views=Tables(**HAS_ORDERS),
            kept=(NS_STARTS, denied(1, code=1)), kept_views=Tables(**HAS_ORDERS)),
    Written("routed_topics_are_not_denied", (denied(1),), (denied(1, code=1),), views=Tables(routed=[B]),
            kept_views=Tables(routed=[B])),
    Written("existing_topics_are_not_denied", broken=(NS_STARTS, STOPS, STARTED, denied(1)), views=Tables(**HAS_ORDERS),
            kept=(NS_STARTS, STOPS, denied(1)), kept_views=Tables(**HAS_ORDERS)),
    Written("existing_topics_are_not_denied", broken=(NS_STARTS, denied(1)), views=Tables(**HAS_ORDERS),
            kept=(NS_STARTS, denied(1)), kept_views=Tables(brokers=[MASTER._replace(broker_id=1)], topics=ORDERS)),
    Written("existing_topics_are_not_denied", broken=(NS_STARTS, denied(1)), views=Tables(**HAS_ORDERS), says="1 ms",
            kept=(denied(1), NS_STARTS, denied(1, "invoices")), kept_views=Tables(**HAS_ORDERS)),
    Written("route_fits_together", broken=(routed(1),), says="none of its queues"),
    Written("route_fits_together", broken=(routed(1, B, "broker-b"),), says="none of its addresses"),
    Written("routed_topics_are_not_denied", (denied(1),), (denied(1),), views=Tables(routed=[B]),
            kept_views=Tables(routed=[])),
)
