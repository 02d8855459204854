"""Written tables of worlds that have healed: properties of models that came true, and some that did not."""

from __future__ import annotations

from typing import Any

import invariants.rules.promises  # noqa: F401  # declares the rules
from impl.common.heartbeat_data import BROADCASTING, CLUSTERING
from impl.decisions.allocation import AllocateMessageQueueAveragely, AllocateMessageQueueByMachineRoom
from impl.decisions.message_queue import MessageQueue
from impl.decisions.route_queues import QueueData
from impl.events import (
    BrokerStarted,
    ConsumerRegistered,
    HeartbeatRefused,
    ProcessKilled,
    ProducerShutDown,
    PublishInfoUpdated,
    TopicConfigUpdated,
    TopicDeleted,
    WorldHealed,
)
from invariants.views import Broker, Consumer, HeldQueue, QueueLock, Subscription
from stateful_tests.rules.written import END_MS, Tables, Written

B, NS, C, G, ADDR, ORDERS = "broker-a", "nameserver1", "c1", "G", "broker-a:10911", "orders"
MASTER, SLAVE = Broker(B, B, 0, ADDR, 0, None), Broker("slave", B, 1, "slave:1", 0, None)
MEMBER = Consumer(C, C, G, CLUSTERING, orderly=False, service_state="RUNNING", pause=False,
                  strategy=AllocateMessageQueueAveragely(), now_ms=0)
ORDERLY, BROADCASTER = MEMBER._replace(orderly=True), MEMBER._replace(orderly=True, message_model=BROADCASTING)
ROOMS = MEMBER._replace(strategy=AllocateMessageQueueByMachineRoom(frozenset({"west"})))
MQ, GONE = MessageQueue(ORDERS, B, 0), MessageQueue(ORDERS, "broker-b", 0)
BESIDE = MessageQueue(ORDERS, B, 1)
EAST, WEST = (MessageQueue(ORDERS, f"{room}@{B}", 0) for room in ("east", "west"))
HELD = HeldQueue(C, C, G, MQ, dropped=False, locked=True, lock_expired=False, msg_count=0, last_pull_timestamp=0)
OLD, NEW = Subscription("*", 1, None), Subscription("*", 2, None)
THERE, ELSEWHERE = QueueData(B, 1, 1, 6, 0), QueueData("broker-b", 1, 1, 6, 0)
LOST_POWER = ((0, B, BrokerStarted(B, B, 0)), (1, B, ProcessKilled(1, power_loss=True)))
KILLED = (LOST_POWER[0], (1, B, ProcessKilled(1, power_loss=False)))
TWO = [MASTER, MASTER._replace(machine="broker-b", broker_name="broker-b")]


def members(*consumers: Consumer, **tables: Any) -> Tables:
    """A world with one broker, and members of a group."""
    asked = {"brokers": [MASTER], "in_service": list(consumers), "subscribed": {ORDERS: NEW}, "groups": [G]}
    return Tables(**{**asked, **tables})


def knowing(*mqs: MessageQueue, topic: str = ORDERS, **tables: Any) -> Tables:
    """A client that knows these queues of a topic; there is one real one."""
    info, real = {topic: frozenset(mqs)}, {"subscribed": {topic: NEW}, "queues": [MQ]}
    return members(MEMBER, **{"subscribe_info": info, **real, **tables})


def held(consumer: Consumer, *queues: HeldQueue, lock: QueueLock | None = None) -> Tables:
    """A member that holds queues, and perhaps a lock at the broker."""
    return members(consumer, process_queues=list(queues), locks={} if lock is None else {(G, MQ): lock})


def publishing(*queues: MessageQueue, client_id: str = C, ms: int = 1) -> tuple[int, str, Any]:
    """A producer chooses from these."""
    return ms, C, PublishInfoUpdated(client_id, "P", ORDERS, queues)


COMES_UP = Tables(sending={("P", C)}, writable=[MQ, BESIDE], brokers=[MASTER])
SENDING = Tables(sending={("P", C)}, writable=[MQ, BESIDE])
NO_SENDER, NO_QUEUES = Tables(sending=set(), writable=[MQ, BESIDE]), Tables(sending={("P", C)}, writable=[])
ROUTING = {"sending": {("P", C)}, "writable": [MQ, BESIDE], "namesrvs": [NS]}
PRODUCER_ENDS = (2, C, ProducerShutDown(C, "P"))
REFUSED = (1, B, HeartbeatRefused(B, G, C, "c1:1"))
REFUSED_THERE = (1, "broker-b", HeartbeatRefused("broker-b", G, C, "c1:1"))
HEARD = (2, B, ConsumerRegistered(B, G, C, "c1:1", True, True, frozenset()))
LEFT_OVER: dict[str, Any] = {
    "namesrvs": [NS], "queue_datas": {ORDERS: (ELSEWHERE,)}, "brokers": TWO}
NOBODY_HOLDS: dict[str, Any] = {"holders": {MQ: []}, "namesrvs": [NS], "queue_datas": {ORDERS: (THERE,)}, "topics": {},
                                "subscribe_info": {}}
LOCK = QueueLock(C, 0, expired=False)

HEALED, MADE = (9, "", WorldHealed()), (10, B, TopicConfigUpdated(B, ORDERS))
MADE_LATELY = END_MS - 10, *MADE[1:]

STARTS = (4, B, BrokerStarted(B, B, 0))
UNROUTED = Tables(namesrvs=[NS], brokers=[MASTER], topics={ORDERS: THERE}, routed=[])


def made(ms: int, at: str = B, topic: str = ORDERS) -> tuple[int, str, Any]:
    """A broker makes a topic, or reads it when it starts."""
    return ms, at, TopicConfigUpdated(at, topic)


def deleted(ms: int, at: str = NS, topic: str = ORDERS) -> tuple[int, str, Any]:
    """A name server deletes a topic."""
    return ms, at, TopicDeleted(at, topic)


def routing(*names: str) -> Tables:
    """A name server routes the topic to brokers of these names."""
    return Tables(**ROUTING, queue_datas={ORDERS: tuple(QueueData(name, 1, 1, 6, 0) for name in names)})


HISTORIES = (
    Written("producers_know_the_queues", (HEALED, publishing(MQ)), (HEALED, publishing(BESIDE, MQ)), views=SENDING,
            says="chooses from 1 queues of orders, and there are 2"),
    Written("producers_know_the_queues", (HEALED, publishing(BESIDE, MQ), publishing(MQ, ms=2)),
            (HEALED, publishing(MQ), publishing(MQ, BESIDE, ms=2)), views=SENDING),
    Written("producers_know_the_queues", (HEALED, publishing(MQ)), (HEALED, publishing(MQ), PRODUCER_ENDS),
            views=SENDING),
    *(Written("producers_know_the_queues", (HEALED, publishing(MQ)), (HEALED, publishing(MQ)), views=SENDING,
              kept_views=views) for views in (NO_SENDER, NO_QUEUES)),
    *(Written("producers_know_the_queues", (HEALED, publishing(MQ)), (HEALED, publishing(MQ)), views=routing(B),
              kept_views=views) for views in (routing(), routing("broker-b"), Tables(**ROUTING, queue_datas={}))),
    Written("producers_know_the_queues", (*LOST_POWER, STARTS, HEALED, publishing(MQ)),
            (*LOST_POWER, HEALED, publishing(MQ)), views=COMES_UP, kept_views=COMES_UP),
    Written("every_name_server_learns_in_time", broken=(),
            views=Tables(namesrvs=[NS], brokers=[MASTER, SLAVE], addresses={(B, 0): ADDR}),
            kept_views=Tables(namesrvs=[NS], brokers=[MASTER, SLAVE],
                              addresses={(B, 0): ADDR, (B, 1): "slave:1", (B, 2): "dead:1"})),
    Written("all_topics_are_routed_in_time", broken=(),
            views=Tables(namesrvs=[NS], brokers=[MASTER], topics={ORDERS: THERE}, routed=[]),
            kept_views=Tables(namesrvs=[NS], brokers=[MASTER], topics={ORDERS: THERE}, routed=[B])),
    Written("all_topics_are_routed_in_time", broken=(),
            views=Tables(namesrvs=[NS], brokers=[MASTER], topics={ORDERS: THERE}, routed=["broker-b"]),
            kept_views=Tables(namesrvs=[NS], brokers=[SLAVE], topics={ORDERS: THERE}, routed=[])),
    Written("all_topics_are_routed_in_time", broken=(HEALED, MADE),
            kept=(HEALED, MADE_LATELY),
            views=Tables(namesrvs=[NS], brokers=[MASTER], topics={ORDERS: THERE}, routed=[])),
    # What was deleted there stays away until its broker makes it; one that starts reads what it has.
    *(Written("all_topics_are_routed_in_time", broken=broken, kept=(HEALED, *KILLED, deleted(2), made(3), STARTS),
              views=UNROUTED) for broken in (
                  (HEALED, deleted(2, "nameserver2")), (HEALED, deleted(2, topic="invoices")),
                  (HEALED, deleted(2), made(3)), (HEALED, *KILLED, deleted(2), STARTS, made(5)),
                  (HEALED, deleted(2), (3, NS, KILLED[1][2])))),
    Written("all_topics_are_routed_in_time", broken=(HEALED, deleted(2), made(3)), views=UNROUTED, kept=(
        HEALED, made(1), deleted(2), made(3, "broker-b"), made(3, topic="invoices"))),
    Written("dead_broker_is_dropped_in_time", broken=(),
            views=Tables(namesrvs=[NS], brokers=[MASTER], addresses={(B, 0): ADDR, (B, 1): "slave:1"}),
            kept_views=Tables(namesrvs=[NS], brokers=[MASTER, SLAVE], addresses={(B, 0): ADDR, (B, 1): "slave:1"})),
    Written("route_cache_becomes_true_in_time", broken=(), views=knowing(), kept_views=knowing(MQ), causes=()),
    Written("route_cache_becomes_true_in_time", broken=(), views=knowing(MQ, GONE),
            kept_views=knowing(topic="%RETRY%G"), causes=()),
    Written("route_cache_becomes_true_in_time", broken=(), views=knowing(MQ, GONE, **LEFT_OVER), causes=("N-14",)),
    Written("route_cache_becomes_true_in_time", broken=(), views=knowing(GONE, **LEFT_OVER), causes=()),
    Written("route_cache_becomes_true_in_time", broken=(), causes=(),
            views=knowing(MQ, GONE, **{**LEFT_OVER, "queues": [MQ, BESIDE]})),
    Written("route_cache_becomes_true_in_time", broken=(), causes=(),
            views=knowing(MQ, GONE, **LEFT_OVER, topics={ORDERS: THERE})),
    Written("list_is_exactly_the_living_in_time", broken=(), views=members(MEMBER, listed=[]),
            kept_views=members(MEMBER, listed=[C])),
    # Whom a broker refuses is no member there, until it enters a heartbeat.
    Written("list_is_exactly_the_living_in_time", broken=(REFUSED, HEARD), views=members(MEMBER, listed=[]),
            kept=(REFUSED,), kept_views=members(MEMBER, listed=[])),
    Written("list_is_exactly_the_living_in_time", broken=(REFUSED_THERE,), views=members(MEMBER, listed=[]),
            kept=(REFUSED,), kept_views=members(MEMBER, listed=[])),
    Written("pull_finds_its_subscription_in_time", broken=(REFUSED, HEARD), views=members(MEMBER, subscriptions={}),
            kept=(REFUSED,), kept_views=members(MEMBER, subscriptions={})),
    Written("pull_finds_its_subscription_in_time", broken=(REFUSED_THERE,), views=members(MEMBER, subscriptions={}),
            kept=(REFUSED,), kept_views=members(MEMBER, subscriptions={})),
    Written("ownership_converges_in_time", broken=(REFUSED, HEARD), views=members(MEMBER, holders={MQ: []}),
            kept=(REFUSED_THERE,), kept_views=members(MEMBER, holders={MQ: []})),
    Written("list_is_exactly_the_living_in_time", broken=(), views=members(listed=[C]), kept_views=members(listed=[])),
    Written("list_is_exactly_the_living_in_time", broken=(), views=members(MEMBER, listed=[C, C])),
    Written("list_is_exactly_the_living_in_time", broken=(), views=members(MEMBER, groups=[], listed=[])),
    Written("pull_finds_its_subscription_in_time", broken=(), views=members(MEMBER, subscriptions={}),
            kept_views=members(MEMBER, subscriptions={ORDERS: NEW})),
    Written("pull_finds_its_subscription_in_time", broken=(), views=members(MEMBER, subscriptions={ORDERS: OLD}),
            kept_views=members(MEMBER, subscribed={ORDERS: OLD}, subscriptions={ORDERS: NEW})),
    Written("ownership_converges_in_time", broken=(), views=members(MEMBER, holders={MQ: []}),
            kept_views=members(MEMBER, holders={MQ: [C]})),
    Written("ownership_converges_in_time", broken=(), views=members(MEMBER, holders={MQ: [C, "c2"]}),
            kept_views=members(BROADCASTER, holders={MQ: [C, "c2"]})),
    Written("ownership_converges_in_time", broken=(), views=members(ROOMS, holders={EAST: [C], WEST: [C]}),
            kept_views=members(ROOMS, holders={EAST: [], WEST: [C]})),
    Written("ownership_converges_in_time", broken=LOST_POWER, views=members(MEMBER, **NOBODY_HOLDS), causes=("N-14",)),
    Written("ownership_converges_in_time", broken=LOST_POWER, causes=(),
            views=members(MEMBER, **{**NOBODY_HOLDS, "subscribe_info": {ORDERS: frozenset({MQ})}})),
    Written("ownership_converges_in_time", broken=LOST_POWER, causes=(),
            views=members(MEMBER, **{**NOBODY_HOLDS, "holders": {MQ: [C, "c2"]},
                                     "subscribe_info": {ORDERS: frozenset({MQ, GONE})}})),
    Written("ownership_converges_in_time", broken=LOST_POWER, causes=("N-14",), views=members(
        MEMBER, MEMBER._replace(machine="c2", client_id="c2"), **{
            **NOBODY_HOLDS, "holders": {BESIDE: []}, "subscribe_info": lambda machine, _: {
                ORDERS: frozenset({MQ, BESIDE} if machine == C else {BESIDE, GONE})}})),
    Written("ownership_converges_in_time", broken=LOST_POWER, causes=(),
            views=members(MEMBER, **{**NOBODY_HOLDS, "brokers": [MASTER._replace(broker_id=1)]})),
    Written("ownership_converges_in_time", broken=LOST_POWER, causes=(),
            views=members(MEMBER, **{**NOBODY_HOLDS, "topics": {ORDERS: THERE}})),
    Written("ownership_converges_in_time", broken=LOST_POWER, causes=(),
            views=members(MEMBER, **{**NOBODY_HOLDS, "queue_datas": {ORDERS: (ELSEWHERE,)}})),
    Written("ownership_converges_in_time", broken=KILLED, views=members(MEMBER, **NOBODY_HOLDS), causes=()),
    Written("locks_are_those_of_holders_in_time", broken=(), views=held(ORDERLY, HELD._replace(locked=False)),
            kept_views=held(ORDERLY, HELD, lock=LOCK)),
    Written("locks_are_those_of_holders_in_time", broken=(), views=held(ORDERLY, HELD._replace(lock_expired=True)),
            kept_views=held(ORDERLY, HELD._replace(locked=False, dropped=True))),
    Written("locks_are_those_of_holders_in_time", broken=(), views=held(ORDERLY, lock=LOCK),
            kept_views=held(ORDERLY, lock=LOCK._replace(expired=True))),
    Written("locks_are_those_of_holders_in_time", broken=(),
            views=held(ORDERLY, HELD, lock=LOCK._replace(client_id="x")),
            kept_views=held(MEMBER, HELD._replace(locked=False))),
    Written("locks_are_those_of_holders_in_time", broken=(),
            views=held(ORDERLY, HELD._replace(locked=False), HELD._replace(group="H")),
            kept_views=held(BROADCASTER, HELD._replace(locked=False))),
    Written("pull_finds_its_subscription_in_time", broken=(), views=members(MEMBER, subscriptions={}),
            says="has no subscription"),
    Written("pull_finds_its_subscription_in_time", broken=(), views=members(MEMBER, subscriptions={ORDERS: OLD}),
            says="has an old subscription"),
    Written("list_is_exactly_the_living_in_time", broken=(), views=members(MEMBER, listed=[]),
            says=f"lists nobody in {G}; the living are {C}."),
    Written("list_is_exactly_the_living_in_time", broken=(), views=members(listed=[C]),
            says=f"lists {C} in {G}; nobody of it lives."),
    Written("ownership_converges_in_time", broken=(), views=members(MEMBER, holders={MQ: []}), says="held by nobody"),
    Written("ownership_converges_in_time", broken=(), views=members(MEMBER, holders={MQ: [C, "c2"]}),
            says=f"held by {C}, c2"),
)
