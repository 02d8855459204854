"""What operators have ordered, and what became of it."""

from __future__ import annotations

from typing import Any

import invariants.rules.orders  # noqa: F401  # declares its rules
from impl.decisions.route_queues import QueueData
from impl.events import (
    BrokerRegistered,
    BrokerStarted,
    DiskFilled,
    OrderDone,
    OrderGiven,
    ProcessKilled,
    TopicConfigUpdated,
    TopicDeleted,
    WritePermAdded,
    WritePermWiped,
)
from invariants.refinement.follower import Record
from invariants.rules import deadlines
from invariants.views import Broker
from stateful_tests.rules.written import STORMY, Tables, Turns, Written

B, NS, OPERATOR, TOPIC = "broker-a", "nameserver1", "operator", "refunds"
MASTER = Broker(B, B, 0, f"{B}:10911", 0, None)
FOUR = (4, 4, 6, 0)
STARTED = (0, B, BrokerStarted(B, B, 0, ()))
LATER_MS = deadlines.handled(STORMY)


def given(ms: int, server: str = B, kind: str = "topic", name: str = TOPIC, wanted: Any = FOUR) -> Record:
    """An operator sends an order."""
    return ms, OPERATOR, OrderGiven(server, kind, name, wanted)


def done(ms: int, server: str = B, kind: str = "topic", name: str = TOPIC, wanted: Any = FOUR) -> Record:
    """He was answered SUCCESS."""
    return ms, OPERATOR, OrderDone(server, kind, name, wanted)


def order(*what: Any) -> tuple[Record, Record]:
    """Both."""
    return given(1, *what), done(2, *what)


def dies(*, power_loss: bool = False) -> Record:
    """The process of the broker ends."""
    return 3, B, ProcessKilled(1, power_loss)


def has(queues: Any = FOUR, *, broker_id: int = 0, **views: Any) -> Tables:
    """What the broker has of the topic."""
    topics = {} if queues is None else {TOPIC: QueueData(B, *queues)}
    master = MASTER._replace(broker_id=broker_id)
    return Tables(brokers=[master], broker=lambda at: master if at == B else None, namesrvs=[NS],
                  **{"topics": topics, **views})


def routed(*perms: int) -> dict[str, tuple[QueueData, ...]]:
    """A topic of two brokers, and another one."""
    return {"orders": tuple(QueueData(name, 4, 4, perm, 0) for name, perm in zip((B, "broker-b"), perms, strict=True)),
            "bills": (QueueData("broker-b", 4, 4, 6, 0),)}


THERE = {TOPIC: QueueData(B, *FOUR)}
MADE = (1, B, TopicConfigUpdated(B, TOPIC))
CONFIGURED = (True, True, True, 3, 16, 0, 1, True)
AUDIT = (B, "group", "audit", CONFIGURED)
OFFSET = (B, "offset", "audit orders 0", (4,))
KEY = (NS, "key value", "notes owner", ("1",))
WIPED, ADDED = ((2, NS, kind(NS, B)) for kind in (WritePermWiped, WritePermAdded))
WIPE, ADD = ((NS, "permission", B, (writable,)) for writable in (False, True))
FORGET = (NS, "route", "bills", None)
FORGOTTEN = (2, NS, TopicDeleted(NS, "bills"))
ORDERS_ONLY = {"orders": routed(6, 6)["orders"]}
REGISTERED = (2, NS, BrokerRegistered(NS, B, 0, f"{B}:10911", f"{B}:1", (1, 1), frozenset()))
DONE = order()


def seen(before: Any, behind: Any) -> Tables:
    """What a name server routes when an order is given, and when it is done."""
    return Tables(queue_datas=Turns(before, behind))


HISTORIES = (
    Written("orders_are_kept", broken=(STARTED, *DONE), views=has((4, 4, 4, 0)), kept=(STARTED, *DONE),
            kept_views=has()),
    Written("orders_are_kept", broken=(STARTED, *DONE), views=has(None), says="has nothing for the topic refunds",
            kept=(STARTED, *DONE), kept_views=has(None, broker_id=1)),
    Written("orders_are_kept", broken=(STARTED, *order(B, "topic", TOPIC, None)), views=has(),
            kept=(STARTED, *order(B, "topic", TOPIC, None)), kept_views=has(None)),
    Written("orders_are_kept", broken=(STARTED, *DONE), views=has(None), kept=(STARTED, given(1)),
            kept_views=has(None)),
    Written("orders_are_kept", broken=(STARTED, *DONE), views=has(None), kept=(STARTED, given(0), *DONE),
            kept_views=has(None)),
    Written("orders_are_kept", broken=(STARTED, *DONE, given(1 + LATER_MS), done(3 + LATER_MS)),
            views=has(topics=Turns(THERE, {})), kept=(STARTED, *DONE, given(LATER_MS), done(LATER_MS)),
            kept_views=has(topics=Turns(THERE, {}))),
    Written("orders_are_kept", broken=(STARTED, *DONE, dies(), STARTED), views=has(topics=Turns(THERE, {})),
            kept=(STARTED, *DONE, dies(power_loss=True), STARTED),
            kept_views=has(topics=Turns(THERE, {}))),
    Written("orders_are_kept", broken=(STARTED, *DONE, dies(), MADE, STARTED),
            views=has(topics=Turns(THERE, {})), kept=(STARTED, *DONE, MADE),
            kept_views=has(topics=Turns(THERE, {}))),
    Written("orders_are_kept", broken=(STARTED, (0, "broker-b", DiskFilled(100)), *DONE), views=has(None),
            kept=(STARTED, (0, B, DiskFilled(100)), *DONE), kept_views=has(None)),
    Written("orders_are_kept", broken=(STARTED, *DONE, dies(), (4, B, DiskFilled(100)), STARTED),
            views=has(topics=Turns(THERE, {})),
            kept=(STARTED, (0, B, DiskFilled(100)), given(0), (0, B, DiskFilled(0)), *DONE), kept_views=has(None)),
    Written("orders_are_kept", broken=(STARTED, *order(*AUDIT)), views=has(group_config=None),
            kept=(STARTED, *order(*AUDIT)), kept_views=has(group_config=CONFIGURED)),
    Written("orders_are_kept", broken=(STARTED, *order(*OFFSET)), views=has(committed_of={0: 3}),
            kept=(STARTED, *order(*OFFSET)), kept_views=has(committed_of={0: 4})),
    Written("orders_are_kept", broken=(STARTED, *order(*OFFSET[:3], None)), views=has(committed_of={0: 4}),
            kept=(STARTED, *order(*OFFSET[:3], None)), kept_views=has(committed_of={1: 4})),
    Written("orders_are_kept", broken=(STARTED, *order(*OFFSET)), views=has(committed_of=None),
            kept=(STARTED, *order(*OFFSET), dies(), STARTED), kept_views=has(committed_of=Turns({0: 4}, {}))),
    Written("orders_are_kept", broken=(STARTED, *DONE), views=has(None), kept=(STARTED, *order(B, "illegal")),
            kept_views=has(None)),
    Written("orders_are_kept", broken=order(*KEY), views=has(key_values={"notes owner": "2"}),
            kept=order(*KEY), kept_views=has(key_values={"notes owner": "1"})),
    Written("orders_are_kept", broken=order(*KEY), views=has(key_values={}),
            kept=(*order(*KEY), (3, NS, ProcessKilled(1, power_loss=False))),
            kept_views=has(key_values=Turns({"notes owner": "1"}, {}))),
    Written("orders_change_nothing_else", broken=(given(1, *WIPE), WIPED, done(3, *WIPE)),
            views=seen(routed(6, 6), routed(4, 4)), kept=(given(1, *WIPE), WIPED, done(3, *WIPE)),
            kept_views=seen(routed(6, 6), routed(4, 6))),
    Written("orders_change_nothing_else", broken=order(*WIPE), views=seen(routed(6, 6), routed(6, 6)),
            kept=(given(1, *WIPE), REGISTERED, done(3, *WIPE)), kept_views=seen(routed(6, 6), routed(6, 6))),
    Written("orders_change_nothing_else", broken=(given(1, *ADD), ADDED, done(3, *ADD)),
            views=seen(routed(7, 4), routed(7, 4)), kept=(given(1, *ADD), ADDED, done(3, *ADD)),
            kept_views=seen(routed(7, 4), routed(6, 4))),
    Written("orders_change_nothing_else", broken=(given(1, *WIPE), WIPED, done(3, *WIPE)),
            views=seen(routed(6, 6), routed(6, 6)), kept=(given(1, *WIPE), ADDED, done(3, *WIPE)),
            kept_views=seen(routed(6, 6), routed(6, 6))),
    Written("orders_change_nothing_else", broken=(given(1, *FORGET), FORGOTTEN, done(3, *FORGET)),
            views=seen(routed(6, 6), routed(6, 6)),
            kept=(given(1, *FORGET), FORGOTTEN, done(3, *FORGET)),
            kept_views=seen(routed(6, 6), ORDERS_ONLY)),
    Written("orders_change_nothing_else", broken=order(*FORGET), views=seen(routed(6, 6), {}),
            kept=(given(1, *FORGET), (2, NS, TopicDeleted(NS, "orders")), done(3, *FORGET)),
            kept_views=seen(routed(6, 6), {})),
)
