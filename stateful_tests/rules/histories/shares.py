"""Whether the members of a group have all queues between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import invariants.rules.abandoned_queues
import invariants.rules.shares  # noqa: F401  # both declare rules
from impl.decisions.allocation import (
    AllocateMessageQueueAveragely,
    AllocateMessageQueueAveragelyByCircle,
    AllocateMessageQueueByConfig,
    AllocateMessageQueueByMachineRoom,
)
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    BrokerStarted,
    ConnectionSevered,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    ListenerStarted,
    ProcessKilled,
    ProcessPaused,
    QueueDropped,
    QueuesAssigned,
    QueueTaken,
    RouteUpdated,
    WorldHealed,
)
from invariants.refinement.follower import Record
from invariants.rules.bounds import Bounds
from invariants.views import Broker, Consumer, HeldQueue
from stateful_tests.rules.written import Tables, Turns, Written

B, C, ID, G = "broker-a", "c1", "c1@1", "G"
MQ = MessageQueue("orders", B, 0)
CALM = Bounds()
AVERAGELY = AllocateMessageQueueAveragely()
MASTER, SLAVE = Broker(B, B, 0, f"{B}:10911", 0, None), Broker("s", B, 1, "s:10911", 0, None)


def member(
    machine: str = C, state: str = "RUNNING", *, pause: bool = False, orderly: bool = False, model: str = "CLUSTERING",
    strategy: Any = AVERAGELY,
) -> Consumer:
    """A consumer of the group."""
    return Consumer(machine, f"{machine}@1", G, model, orderly, state, pause, strategy, 0)


def held(machine: str = C, group: str = G, *, dropped: bool = False) -> HeldQueue:
    """A queue in a table."""
    return HeldQueue(machine, f"{machine}@1", group, MQ, dropped, True, False, 0, 0)


def seen(*members: Consumer, queues: Sequence[HeldQueue] = (), **others: Any) -> Tables:
    """Tables of members that all know one queue."""
    return Tables(**{
        "in_service": members or (member(),), "brokers": [MASTER], "topics": {"orders"}, "subscribed": {"orders"},
        "subscribe_info": {"orders": {MQ}}, "members": {f"{C}:1": ID},
        "process_queues": lambda machine: [one for one in queues if one.machine == machine], **others,
    })


def started(*, orderly: bool = False) -> Record:
    """A consumer starts."""
    return 0, C, ConsumerStarted(ID, G, "CLUSTERING", orderly)


def dropped(ms: int, *, by_rebalance: bool = False) -> Record:
    """The queue is given up."""
    return ms, C, QueueDropped(ID, G, MQ, by_rebalance)


def looked(ms: int) -> Record:
    """It is time to look."""
    return ms, "world", WorldHealed()


def routed(*mqs: MessageQueue) -> Record:
    """The consumer has a route."""
    return 2, C, RouteUpdated(ID, G, "orders", frozenset(mqs))


LOOK, TAKEN = looked(6_000), (1, C, QueueTaken(ID, G, MQ, 0))
LISTENS, ASSIGNED = (1, C, ListenerStarted(ID, G, MQ)), (1, C, QueuesAssigned(ID, G, "orders", frozenset(), True))
STARTED_BROKER = (-200_000, B, BrokerStarted(B, B, 0))
KILLED, LOST = (5, C, ProcessKilled(1, False)), (5, C, ProcessKilled(1, True))
STOPPING, SHUT_DOWN = (-50_000, C, ConsumerStopping(ID, G)), (1, C, ConsumerShutDown(ID, G))
NOBODY, ONE, TWO = seen(), seen(queues=[held()]), seen(member(), member("c2"), queues=[held(), held("c2")])
IN_ORDER = member(orderly=True)
ROOMS = AllocateMessageQueueByMachineRoom(frozenset({"east"}))


def alone(*kept: Record, broken: tuple[Record, ...] = (), views: Any = NOBODY, kept_views: Any = NOBODY) -> Written:
    """Of queue_is_not_left_alone."""
    return Written("queue_is_not_left_alone", (*broken, LOOK), (*kept, LOOK), views, kept_views)


def at_once(*kept: Record, broken: tuple[Record, ...] = (), views: Any = NOBODY, kept_views: Any = ONE) -> Written:
    """Of members_share_at_once."""
    return Written("members_share_at_once", (*broken, LOOK), (*kept, LOOK), views, kept_views, CALM)


HISTORIES = (
    alone(kept_views=ONE),
    alone(kept_views=TWO),
    alone(views=seen(queues=[held(dropped=True)]), kept_views=seen(member(state="START_FAILED"))),
    alone(views=seen(queues=[held(group="H")]), kept_views=seen(member(pause=True))),
    alone(views=seen(member(), member("c2")), kept_views=seen(member(), member("c2", pause=True))),
    alone(kept_views=seen(member(model="BROADCASTING"))),
    alone(kept_views=seen(brokers=[SLAVE])),
    alone(kept_views=seen(brokers=[])),
    alone(kept_views=seen(topics={"invoices"})),
    alone(kept_views=seen(subscribed={"invoices"})),
    alone(views=seen(member(), member("c2")), kept_views=seen(
        member(), member("c2"), subscribe_info=lambda machine, _: {"orders": {MQ} if machine == C else set()})),
    alone(kept_views=seen(in_service=Turns([member()], [member(pause=True)]))),
    alone(kept_views=seen(dead_addresses={"broker-b:10911"})),
    alone(LISTENS),
    alone(STARTED_BROKER, (1, B, ProcessPaused(10)), broken=((-250_000, B, ProcessPaused(10)), STARTED_BROKER)),
    alone(STARTED_BROKER, (1, C, ConnectionSevered(B, None)), broken=((1, C, ProcessPaused(10)),)),
    alone(started(orderly=True), TAKEN, KILLED, broken=(started(), TAKEN, KILLED),
          views=seen(member("c2"))),
    alone(started(orderly=True), TAKEN, LISTENS, SHUT_DOWN, KILLED, broken=(started(orderly=True), TAKEN, SHUT_DOWN)),
    alone(kept_views=ONE, broken=(LOST,), views=seen(member("c2"))),
    alone(kept_views=ONE, broken=(LOST,), views=seen(member("c2"), members={})),
    alone(kept_views=ONE, broken=((1, "c2", ConnectionSevered("c3", None)),), views=seen(member("c2"), members={})),
    alone(kept_views=ONE, views=seen(member(strategy=AllocateMessageQueueByMachineRoom()))),
    alone(kept_views=ONE, views=seen(member(strategy=ROOMS))),
    alone(kept_views=ONE, views=seen(member(strategy=AllocateMessageQueueByConfig([])))),
    alone(kept_views=ONE, views=seen(member(strategy=AllocateMessageQueueByConfig([MQ])))),
    Written("queue_is_not_left_alone", broken=(LOOK, looked(32_000)), kept=(LOOK, looked(31_000)), views=NOBODY,
            kept_views=seen(in_service=Turns([member()], [member()], [])), bounds=CALM),
    Written("queue_is_not_left_alone", broken=(LOOK, looked(52_000)), kept=(LOOK, looked(51_000)),
            views=seen(IN_ORDER), kept_views=seen(in_service=Turns([IN_ORDER], [IN_ORDER], [])), bounds=CALM),
    at_once(),
    at_once(views=TWO),
    at_once(views=seen(member(), member("c2")), kept_views=seen(member(), member())),
    at_once(kept_views=seen(member(orderly=True))),
    at_once(kept_views=seen(member(strategy=AllocateMessageQueueAveragelyByCircle()))),
    at_once(views=seen(member(), member("c2")), kept_views=seen(
        member(), member("c2"), subscribed=lambda machine, _: {"orders", machine})),
    at_once(kept_views=seen(member(), member("c2", pause=True))),
    at_once(dropped(1), kept_views=NOBODY),
    at_once(dropped(1), broken=(dropped(1, by_rebalance=True),), kept_views=NOBODY),
    at_once(dropped(1), broken=(STOPPING, dropped(1)), kept_views=NOBODY),
    at_once(ASSIGNED, routed(MQ), kept_views=NOBODY, broken=(routed(MQ),)),
    at_once(ASSIGNED, routed(MQ), kept_views=NOBODY, broken=(routed(MQ), (3, *ASSIGNED[1:]), routed(MQ))),
    Written("members_share_at_once", broken=(TAKEN, looked(1_000), looked(4_000)), views=TWO, bounds=CALM,
            kept=(TAKEN, looked(1_000), looked(3_000)), kept_views=seen(
                queues=[held(), held("c2")], in_service=Turns([member(), member("c2")], [member(), member("c2")], []))),
)
