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
    ClockJumped,
    ConnectionSevered,
    ConsumerIdsFetched,
    ConsumerRemoved,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    ListenerStarted,
    LockGranted,
    LockReleased,
    MessageLost,
    PartitionBegan,
    ProcessKilled,
    ProcessPaused,
    QueueDropped,
    QueuesAssigned,
    QueueTaken,
    RouteUpdated,
    WorldHealed,
)
from invariants.refinement.follower import Record
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from invariants.views import Broker, Consumer, HeldQueue
from stateful_tests.rules.written import STORMY, Tables, Turns, Written

B, C, ID, G = "broker-a", "c1", "c1@1", "G"
MQ, MQ2 = (MessageQueue("orders", B, queue_id) for queue_id in range(2))
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
    """Tables of members that all know one queue; nothing is seen of it any more when a history has ended."""
    return Tables(**{
        "in_service": members or (member(),), "brokers": [MASTER], "topics": Turns(*[{"orders"}] * 2, ()),
        "subscribed": {"orders"}, "subscribe_info": {"orders": {MQ}}, "members": {f"{C}:1": ID},
        "process_queues": lambda machine: [one for one in queues if one.machine == machine], **others,
    })


def calm(*members: Consumer, queues: Sequence[HeldQueue] = (), **others: Any) -> Tables:
    """The same for a longer history."""
    return seen(*members, queues=queues, **{"topics": Turns(*[{"orders"}] * 3, ()), **others})


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


def asked(
    ms: int, addr: str = "broker-b:10911", *, topic: str = "orders", ids: tuple[str, ...] | None = None,
) -> Record:
    """The member has asked a broker for the list."""
    return ms, C, ConsumerIdsFetched(ID, G, topic, addr, ids)


LOOK, LATE = looked(6_000), looked(170_000)
SINCE_MS, LATELY_MS = (170_000 - takes(STORMY) for takes in (deadlines.handed_over, deadlines.divided))
LISTED = asked(LATELY_MS, ids=(ID,))
TAKEN = (1, C, QueueTaken(ID, G, MQ, 0))
LISTENS, ASSIGNED = (1, C, ListenerStarted(ID, G, MQ)), (1, C, QueuesAssigned(ID, G, "orders", frozenset(), True))
STARTED_BROKER, RESTARTED_BROKER = (-200_000, B, BrokerStarted(B, B, 0)), (500, B, BrokerStarted(B, B, 0))
GRANTED, GRANTED_ELSEWHERE = (
    (1, broker, LockGranted(broker, G, MQ, ID, ID, fast=False)) for broker in (B, "broker-b"))
SET, SET_ELSEWHERE = ((1, machine, ClockJumped(3_600_000)) for machine in (B, C))
EXPIRED, CLOSED = ((2, B, ConsumerRemoved(B, G, ID, f"{C}:1", why, True)) for why in ("expired", "closed"))
HELD_LOCK = (-87_000, *GRANTED[1:])
UNLOCK_LOST = (50_000, C, MessageLost(B))
KILLED, LOST = (5, C, ProcessKilled(1, False)), (5, C, ProcessKilled(1, True))
STOPPING, SHUT_DOWN = (-50_000, C, ConsumerStopping(ID, G)), (1, C, ConsumerShutDown(ID, G))
OWNED, TWICE = [held()], [held(), held("c2")]
IN_ORDER, SECOND = member(orderly=True), member("c2")
ROOMS = AllocateMessageQueueByMachineRoom(frozenset({"east"}))


def alone(*kept: Record, broken: tuple[Record, ...] = (), views: Any = None, kept_views: Any = None) -> Written:
    """Of queue_is_not_left_alone."""
    return Written(
        "queue_is_not_left_alone", (*broken, LOOK, LATE), (*kept, LOOK, LATE), views or seen(), kept_views or seen())


def at_once(*kept: Record, broken: tuple[Record, ...] = (), views: Any = None, kept_views: Any = None) -> Written:
    """Of members_share_at_once."""
    looks = LOOK, looked(8_000), looked(9_000)
    return Written(
        "members_share_at_once", (*broken, *looks), (*kept, *looks), views or calm(), kept_views or calm(), bounds=CALM)


def lost(*broken: Record, views: Any = None, causes: tuple[str, ...] = ()) -> Written:
    """Of queue_is_not_left_alone, and what it is put down to."""
    return Written("queue_is_not_left_alone", (*broken, LOOK, LATE), views=views or seen(SECOND), causes=causes)


HAD_IT = ((-130_000, *started(orderly=True)[1:]), (-129_000, *TAKEN[1:]))
GIVEN_UP, RESET = (dropped(-2, by_rebalance=by_rebalance) for by_rebalance in (True, False))
STOPS, UNLOCKED = (-1, C, ConsumerStopping(ID, G)), (-2, B, LockReleased(B, G, MQ, ID))
OTHER_STOPS = (-1, C, ConsumerStopping("c1@2", G))
BILLS, BILLS2 = (MessageQueue("bills", B, queue_id) for queue_id in range(2))
SILENT: dict[str, Any] = {"tells_of_changes": (False, True)}
ONE_SILENT: dict[str, Any] = {
    "tells_of_changes": lambda broker, _: (broker == B, True),
    "brokers": [MASTER, MASTER._replace(machine="broker-b", broker_name="broker-b")],
    "topics": Turns(*[{"orders"}, ()] * 3, (), ())}
SHARED_OUT_MS = 6_000 + deadlines.shared_out(CALM)


def holding(*members: Consumer, **shares: Sequence[MessageQueue]) -> Tables:
    """Two members that subscribe the topics of these queues, and what each of them holds; seen twice."""
    mqs = {mq for of_one in shares.values() for mq in of_one}
    topics = {mq.topic for mq in mqs}
    return Tables(
        in_service=members or (member(), SECOND), brokers=[MASTER], topics=Turns(topics, topics, ()), subscribed=topics,
        subscribe_info={topic: {mq for mq in mqs if mq.topic == topic} for topic in topics},
        process_queues=lambda machine: [
            *(held(machine)._replace(mq=mq) for mq in shares.get(machine, ())),
            *(held(machine, "H")._replace(mq=mq) for mq in sorted(mqs) if machine == C),
            *[held(machine, dropped=True)] * (machine != C)])


def knowing(tables: Tables, *mqs: MessageQueue) -> Tables:
    """The same, and members know these queues of the topic, too."""
    known = tables.answers["subscribe_info"]
    return Tables(**{**tables.answers, "subscribe_info": {**known, "orders": {*known["orders"], *mqs}}})


def even(uneven: Tables, kept: Tables, *, causes: tuple[str, ...] | None = None, late_ms: int = 1) -> Written:
    """Of members_have_even_shares; late_ms -- when the kept tables are looked at last."""
    broken, looks = ((LOOK, looked(SHARED_OUT_MS + one_ms)) for one_ms in (1, late_ms))
    return Written("members_have_even_shares", broken, looks, uneven, kept, bounds=CALM, causes=causes)


HISTORIES = (
    even(knowing(holding(c1=(MQ, MQ2)), MQ), knowing(holding(c1=(MQ, MQ2)), MQ._replace(broker_name="away"))),
    even(knowing(holding(c1=(MQ, MQ2)), MessageQueue("%RETRY%G", B, 5)), holding(c1=(MQ, MQ2), c2=(MQ2,))),
    even(holding(c1=(MQ, BILLS)), holding(c1=(MQ, BILLS), c2=(MQ2,)), causes=("A-9",)),
    even(holding(c1=(MQ, MQ2)), holding(c1=(MQ, MQ2), c2=(MQ2,)), causes=()),
    even(holding(c1=(MQ, MQ2)), holding(c1=(MQ, MQ2), c2=(MQ._replace(broker_name="away"),)), causes=()),
    even(holding(c1=(MQ, BILLS)), holding(c1=(MQ,), c2=(BILLS, BILLS2))),
    even(holding(c1=(MQ, MQ2, BILLS), c2=(BILLS2,)), holding(c1=(MQ,), c2=(MQ2,)), causes=()),
    even(holding(c2=(MQ, BILLS)), holding(c2=(MQ, BILLS)), late_ms=0),
    even(holding(c1=(MQ, MQ2, BILLS)), holding(c1=(MQ, MQ2, BILLS), c2=(MQ2,))),
    even(holding(c1=(MQ, MQ2)), holding(member(), member("c2", strategy=ROOMS), c1=(MQ, MQ2))),
    even(holding(c1=(MQ, MQ2)), holding(member(), member("c2", pause=True), c1=(MQ, MQ2))),
    even(holding(c1=(MQ, MQ2)), holding(member(), member()._replace(machine="c2"), c1=(MQ, MQ2))),
    even(holding(c1=(MQ, MQ2)), holding(member(model="BROADCASTING"), SECOND, c1=(MQ, MQ2))),
    even(holding(c1=(MQ, MQ2)), holding(c1=(MQ, MessageQueue(f"%RETRY%{G}", B, 0)))),
    alone(kept_views=seen(queues=OWNED)),
    alone(kept_views=seen(member(), SECOND, queues=TWICE)),
    alone(views=seen(queues=[held(dropped=True)]), kept_views=seen(member(state="START_FAILED"))),
    alone(views=seen(queues=[held(group="H")]), kept_views=seen(member(pause=True))),
    alone(views=seen(member(), SECOND), kept_views=seen(member(), member("c2", pause=True))),
    alone(kept_views=seen(member(model="BROADCASTING"))),
    alone(kept_views=seen(brokers=[SLAVE])),
    alone(kept_views=seen(brokers=[])),
    alone(kept_views=seen(topics={"invoices"})),
    alone(kept_views=seen(subscribed={"invoices"})),
    alone(views=seen(member(), SECOND), kept_views=seen(
        member(), SECOND, subscribe_info=lambda machine, _: {"orders": {MQ} if machine == C else set()})),
    alone(views=seen(member(), SECOND, subscribe_info={"orders": {MQ, MQ2}}), kept_views=seen(
        member(), SECOND, subscribe_info=lambda machine, _: {"orders": {MQ} if machine == C else {MQ, MQ2}})),
    alone(kept_views=seen(in_service=Turns([member()], [member(pause=True)]))),
    alone(kept_views=seen(dead_addresses={"broker-b:10911"})),
    *(Written("queue_is_not_left_alone", (LOOK, broken, LATE), (LOOK, asked(SINCE_MS), LATE), calm()) for broken in (
        asked(SINCE_MS - 1), asked(SINCE_MS, f"{B}:10911"), asked(SINCE_MS, topic="invoices"),
        asked(SINCE_MS, ids=(ID,)))),
    # A member has the list, and may stand still before it has taken the queue.
    *(Written("queue_is_not_left_alone", (LOOK, *broken, LATE), (LOOK, LISTED, LATE), calm(), calm()) for broken in (
        (asked(LATELY_MS - 1, ids=(ID,)),), (asked(LATELY_MS, f"{B}:10911"),),
        (asked(LATELY_MS, topic="invoices", ids=(ID,)),), (LISTED, (LATELY_MS, *ASSIGNED[1:])),
        (LISTED, (LATELY_MS, C, ProcessKilled(1, False))))),
    Written("queue_is_not_left_alone", (LOOK, asked(SINCE_MS, ids=(ID,)), LISTED, LATE),
            views=seen(topics=Turns(*[{"orders"}] * 4, ()))),
    alone(LISTENS),
    alone(started(), RESTARTED_BROKER, broken=(RESTARTED_BROKER, started())),
    alone(STARTED_BROKER, (1, B, ProcessPaused(10)), broken=((-250_000, B, ProcessPaused(10)), STARTED_BROKER)),
    alone(STARTED_BROKER, (1, B, PartitionBegan(C)), broken=(STARTED_BROKER, (1, C, ConnectionSevered(B, None)))),
    alone(STARTED_BROKER, SET, EXPIRED, broken=(STARTED_BROKER, SET, CLOSED)),
    alone(STARTED_BROKER, SET, EXPIRED, broken=(STARTED_BROKER, SET_ELSEWHERE, EXPIRED)),
    alone(STARTED_BROKER, (1, C, PartitionBegan(B)), broken=((1, C, PartitionBegan("c2")),)),
    alone(started(orderly=True), TAKEN, KILLED, broken=(started(), TAKEN, KILLED), views=seen(SECOND)),
    alone(started(orderly=True), TAKEN, LISTENS, SHUT_DOWN, KILLED,
          broken=(started(orderly=True), TAKEN, SHUT_DOWN, KILLED)),
    alone(broken=(GRANTED,), views=seen(IN_ORDER), kept_views=seen(IN_ORDER)),
    alone(GRANTED_ELSEWHERE, broken=(GRANTED_ELSEWHERE, GRANTED), views=seen(IN_ORDER), kept_views=seen(IN_ORDER)),
    alone(kept_views=seen(queues=OWNED), broken=(LOST,), views=seen(SECOND)),
    alone(kept_views=seen(queues=OWNED), broken=(LOST,), views=seen(SECOND, members={})),
    alone(kept_views=seen(queues=OWNED), broken=((1, "c2", ConnectionSevered("c3", None)),),
          views=seen(SECOND, members={})),
    alone(kept_views=seen(queues=OWNED), views=seen(member(strategy=AllocateMessageQueueByMachineRoom()))),
    alone(kept_views=seen(queues=OWNED), views=seen(member(strategy=ROOMS))),
    alone(kept_views=seen(queues=OWNED), views=seen(member(strategy=AllocateMessageQueueByConfig([])))),
    alone(kept_views=seen(queues=OWNED), views=seen(member(strategy=AllocateMessageQueueByConfig([MQ])))),
    Written("queue_is_not_left_alone", broken=(LOOK, looked(32_000)), kept=(LOOK, looked(31_000)), views=seen(),
            kept_views=seen(), bounds=CALM),
    Written("queue_is_not_left_alone", broken=(GRANTED, LOOK, looked(52_000)), kept=(GRANTED, LOOK, looked(51_000)),
            views=seen(IN_ORDER), kept_views=seen(IN_ORDER), bounds=CALM),
    # It is taken, and dropped again before anybody looks: time begins anew.
    *(Written("queue_is_not_left_alone", broken=(LOOK, *broken, LATE), views=calm(),
              kept=(LOOK, (SINCE_MS, *TAKEN[1:]), LATE), kept_views=calm()) for broken in (
        ((SINCE_MS - 1, *TAKEN[1:]),), (dropped(SINCE_MS),), ((SINCE_MS, C, QueueTaken(ID, G, MQ2, 0)),),
        ((SINCE_MS, C, QueueTaken(ID, "H", MQ, 0)),))),
    at_once(kept_views=calm(queues=OWNED)),
    at_once(views=calm(member(), SECOND, queues=TWICE), kept_views=calm(queues=OWNED)),
    at_once(views=calm(member(), SECOND), kept_views=calm(member(), member())),
    at_once(kept_views=calm(IN_ORDER)),
    at_once(kept_views=calm(member(strategy=AllocateMessageQueueAveragelyByCircle()))),
    at_once(views=calm(member(), SECOND),
            kept_views=calm(member(), SECOND, subscribed=lambda machine, _: {"orders", machine})),
    at_once(kept_views=calm(member(), member("c2", pause=True))),
    at_once(dropped(1)),
    at_once(dropped(1), broken=(dropped(1, by_rebalance=True),)),
    at_once(dropped(1), broken=(STOPPING, dropped(1))),
    at_once(ASSIGNED, routed(MQ), broken=(routed(MQ),)),
    at_once(ASSIGNED, routed(MQ), broken=(routed(MQ), ASSIGNED, routed(MQ))),
    Written("members_share_at_once", broken=(TAKEN, looked(1_000), looked(4_000)), bounds=CALM,
            views=seen(member(), SECOND, queues=TWICE), kept=(TAKEN, looked(1_000), looked(3_000)),
            kept_views=seen(member(), SECOND, queues=TWICE)),
    alone((-100_000, *started()[1:]), (-57_000, B, BrokerStarted(B, B, 0)),
          broken=((-100_000, *started()[1:]), (-57_001, B, BrokerStarted(B, B, 0)))),
    alone(*HAD_IT, (-87_000, *KILLED[1:]), broken=(*HAD_IT, (-87_001, *KILLED[1:])), views=seen(SECOND),
          kept_views=seen(SECOND)),
    # A hand-over begins anew when a member comes or goes.
    *(Written("queue_is_not_left_alone", broken=(LOOK, broken, LATE), kept=(LOOK, (SINCE_MS, C, change), LATE),
              views=views, kept_views=calm(calm=False))
      for change in (started()[2], SHUT_DOWN[2])
      for broken, views in (((SINCE_MS - 1, C, change), calm(calm=False)), ((SINCE_MS, C, change), calm()))),
    # The same where a broker tells nobody of it.
    *(Written("queue_is_not_left_alone", broken=(LOOK, (SINCE_MS - 1, C, change), LATE), views=calm(**SILENT),
              kept=(LOOK, (SINCE_MS, C, change), LATE), kept_views=calm(**SILENT))
      for change in (started()[2], SHUT_DOWN[2])),
    Written("queue_is_not_left_alone", broken=(LOOK, (SINCE_MS - 1, C, started()[2]), LATE), views=calm(**ONE_SILENT),
            kept=(LOOK, (SINCE_MS, C, started()[2]), LATE), kept_views=calm(**ONE_SILENT)),
    *(at_once(views=calm(tells_of_changes=(True, True)), kept_views=calm(tells_of_changes=tells))
      for tells in ((False, True), (True, False))),
    Written("queue_is_not_left_alone", broken=(LOOK, (19_999, *GRANTED[1:]), LATE), views=calm(IN_ORDER),
            kept=(LOOK, (20_000, *GRANTED[1:]), LATE), kept_views=calm(IN_ORDER)),
    lost((-177_000, *LOST[1:]), causes=("U1",)),
    lost((-177_001, *LOST[1:])),
    lost(KILLED),
    alone(started(), GRANTED, UNLOCK_LOST, broken=(started(), GRANTED)),
    alone(HELD_LOCK, GIVEN_UP, STOPS, broken=(HELD_LOCK, RESET, STOPS), kept_views=seen(SECOND), views=seen(SECOND)),
    alone(HELD_LOCK, GIVEN_UP, STOPS, broken=(HELD_LOCK, GIVEN_UP, OTHER_STOPS), kept_views=seen(SECOND),
          views=seen(SECOND)),
    alone(HELD_LOCK, GIVEN_UP, STOPS, broken=(HELD_LOCK, GIVEN_UP, UNLOCKED, STOPS), kept_views=seen(SECOND),
          views=seen(SECOND)),
    alone(HELD_LOCK, GIVEN_UP, STOPS, broken=((HELD_LOCK[0] - 1, *HELD_LOCK[1:]), GIVEN_UP, STOPS),
          kept_views=seen(SECOND), views=seen(SECOND)),
    alone(started(), GRANTED, UNLOCK_LOST, broken=(started(), GRANTED, (5, C, MessageLost("another")))),
    alone(started(), GRANTED, UNLOCK_LOST, broken=(started(), GRANTED, (5, "c9", MessageLost(B)))),
    lost(views=seen(member(strategy=AllocateMessageQueueByMachineRoom())), causes=("U13",)),
    lost(views=seen(member(strategy=ROOMS)), causes=("L13",)),
    lost(views=seen(member(strategy=AllocateMessageQueueByConfig([]))), causes=("L13",)),
    lost(views=seen(member(strategy=AllocateMessageQueueByConfig([MQ])))),
    at_once(views=calm(queues=[held(dropped=True)]), kept_views=calm(queues=OWNED)),
    at_once(views=calm(queues=[held(group="H")]), kept_views=calm(queues=OWNED)),
    at_once((-19_000, *ASSIGNED[1:]), (-18_000, *routed(MQ)[1:]),
            broken=((-19_000, *ASSIGNED[1:]), (-18_001, *routed(MQ)[1:]))),
    at_once(dropped(-25_000), broken=(dropped(-25_001),)),
    at_once((1, C, ConsumerIdsFetched(ID, G, "orders", None, None)),
            broken=((1, C, ConsumerIdsFetched(ID, G, "orders", None, (ID,))),)),
    Written("members_share_at_once", broken=(LOOK, looked(8_001)), kept=(looked(5_000), looked(6_000), looked(9_000)),
            views=seen(), kept_views=seen(topics=Turns({"orders"}, {"orders"}, (), ())), bounds=CALM,
            says="has no owners"),
    Written("members_share_at_once", broken=(TAKEN, looked(1_000), looked(4_000)), bounds=CALM, says="has 2 owners",
            views=seen(member(), SECOND, queues=TWICE)),
)
