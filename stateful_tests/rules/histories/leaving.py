"""Written histories of members that leave, and of what clients say of themselves."""

from __future__ import annotations

from typing import Any

import invariants.rules.leaving  # noqa: F401  # declares the rules
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import ConsumeFromWhere
from impl.events import (
    BrokerStarted,
    BrokerStopping,
    ConsumerRegistered,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    ConsumerSuspended,
    GoodbyeTaken,
    OffsetReset,
    OffsetSent,
    OffsetUpdated,
    PollerShutDown,
    PollerStopping,
    ProcessKilled,
    ProducerForgotten,
    ProducerRegistered,
    ProducerShutDown,
    QueueTaken,
    TimerJobBegan,
    TimerJobEnded,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from invariants.views import Broker, Consumer
from stateful_tests.rules.histories.promises import MEMBER
from stateful_tests.rules.written import Tables, Turns, Written

A, C, G, ID, AT = "broker-a", "c1", "G", "c1@1", "c1:1"
MQ = MessageQueue("orders", A, 0)
MASTER = Broker(A, A, 0, "broker-a:10911", 0, None)
KNOWN, CALM = {(A, 0): "broker-a:10911"}, Bounds()
Told = tuple[int, str, Any]


def started(model: str = "CLUSTERING") -> Told:
    """The member starts."""
    return 0, C, ConsumerStarted(ID, G, model, False, "")


def settled(offset: int, mq: MessageQueue = MQ) -> Told:
    """What is in memory."""
    return 2, C, OffsetUpdated(ID, G, mq, offset)


def sent(offset: int) -> Told:
    """What it has committed."""
    return 4, C, OffsetSent(ID, G, MQ, offset)


def known(**tables: Any) -> Tables:
    """A broker that lists the member, which knows it."""
    return Tables(**{"brokers": [MASTER], "known_addresses": KNOWN, "listed": [ID], **tables})


def goodbye(client_id: str = ID, group: str = G) -> Told:
    """A broker hears the goodbye."""
    return 6, A, GoodbyeTaken(A, group, client_id, AT, attached=True)


def heartbeats(ms: int, job: str = "sendHeartbeatToAllBroker") -> Told:
    """A round begins."""
    return ms, C, TimerJobBegan(ID, job, 30_000)


def returns(ms: int, job: str = "sendHeartbeatToAllBroker") -> Told:
    """The timer is through."""
    return ms, C, TimerJobEnded(ID, job)


def hears(ms: int) -> Told:
    """A broker hears the member."""
    return ms, *HEARD[1:]


def at(ms: int) -> Told:
    """Time passes."""
    return ms, "broker-z", BrokerStarted("broker-z", "broker-z", 0)


STOPS, OVER = (5, C, ConsumerStopping(ID, G)), (9, C, ConsumerShutDown(ID, G))
POLLER_STOPS, POLLER_IS_OVER = (5, C, PollerStopping(G, ID)), (9, C, PollerShutDown(G, ID))
UP, DOWN = (0, A, BrokerStarted(A, A, 0)), (1, A, BrokerStopping(A))
HEARD = (9, A, ConsumerRegistered(A, G, ID, AT, True, False, frozenset()))
LEAVES = (started(), settled(7), STOPS, goodbye())
RESET, TAKEN = (3, C, OffsetReset(ID, G, MQ, 2)), (1, C, QueueTaken(ID, G, MQ, 0))
FAILS = known(calm=False)
LATE_MS = deadlines.told_at_once(CALM)
COMMITS, SPEAKS, WHOLE = "leaver_has_committed", "heartbeats_reach_all_brokers", "goodbye_reaches_all_brokers"
ADDRESSES = "clients_know_the_addresses_of_routes"
CONSUMER: Consumer = MEMBER


def addresses(mine: dict[tuple[str, int], str], *theirs: dict[tuple[str, int], str]) -> Tables:
    """A client, and name servers."""
    routed = {f"nameserver{number}": one for number, one in enumerate(theirs)}
    return Tables(consumers=[CONSUMER], known_addresses=mine, namesrvs=[*routed], addresses=lambda name: routed[name])


def model(where: str, members: tuple[Consumer, ...] = (CONSUMER,)) -> Tables:
    """What a broker knows of a group."""
    return Tables(in_service=[*members], brokers=[MASTER], consumes=("CONSUME_PASSIVELY", "CLUSTERING", where),
                  consume_from=(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, ""))


MINE, MORE = {(A, 0): "a:1"}, {(A, 0): "a:1", (A, 1): "a:2"}

SUSPENDED = (0, C, ConsumerSuspended(ID, G))
PAUSED = MEMBER._replace(machine=C, client_id=ID, group=G, pause=True)
LONG_MS = deadlines.handled(CALM) + 1


def takes(ms: int) -> Told:
    """The member takes a queue."""
    return ms, C, QueueTaken(ID, G, MQ, 0)


PRODUCES, FORGOTTEN = (0, A, ProducerRegistered(A, "P", ID, AT)), (1, A, ProducerForgotten(A, "P", ID, AT))
HAS_STOPPED = (2, C, ProducerShutDown(ID, "P"))

HISTORIES = (
    Written(COMMITS, LEAVES, (started(), settled(7), sent(7), STOPS, goodbye()), views=known(),
            says="has not committed 7 of queue 0"),
    Written(COMMITS, (started(), sent(6), *LEAVES[1:]), (started(), settled(7), STOPS, sent(7), goodbye()),
            views=known()),
    Written(COMMITS, LEAVES, (started(), STOPS, settled(7), goodbye()), views=known()),
    Written(COMMITS, LEAVES, (started("BROADCASTING"), *LEAVES[1:]), views=known()),
    Written(COMMITS, LEAVES, (started(), settled(7), RESET, STOPS, goodbye()), views=known()),
    Written(COMMITS, LEAVES, (*LEAVES[:3], goodbye("c2@1"), goodbye(group="H")), views=known()),
    Written(COMMITS, LEAVES, LEAVES, views=known(), kept_views=known(known_addresses={})),
    Written(COMMITS, LEAVES, LEAVES, views=known(), kept_views=FAILS),
    Written(COMMITS, (TAKEN, *LEAVES), (started(), settled(7), TAKEN, STOPS, goodbye()), views=known()),
    Written(COMMITS, (*LEAVES,), (*LEAVES[:2], goodbye()), views=known()),
    Written(WHOLE, (STOPS, OVER), (STOPS, goodbye(), OVER), views=known(), says="not said so to broker-a"),
    Written(WHOLE, (POLLER_STOPS, POLLER_IS_OVER), (POLLER_STOPS, goodbye(), POLLER_IS_OVER),
            views=known(known_addresses={}, addresses_to_poll=KNOWN), says="not said so to broker-a"),
    Written(WHOLE, (STOPS, OVER), (POLLER_STOPS, POLLER_IS_OVER), views=known(),
            kept_views=known(addresses_to_poll={})),
    Written(WHOLE, (goodbye(), STOPS, OVER), (OVER,), views=known()),
    Written(WHOLE, (STOPS, OVER), (STOPS, OVER), views=known(), kept_views=known(listed=[])),
    Written(WHOLE, (STOPS, OVER), (STOPS, OVER), views=known(), kept_views=known(known_addresses={})),
    Written(WHOLE, (DOWN, UP, STOPS, OVER), (DOWN, STOPS, OVER), views=known()),
    Written(WHOLE, (STOPS, OVER), (STOPS, DOWN, OVER), views=known()),
    Written(WHOLE, (STOPS, at(6), OVER), (STOPS, (6, *UP[1:]), OVER), views=known()),
    Written(WHOLE, (STOPS, OVER), (STOPS, OVER), views=known(), kept_views=FAILS),
    Written(SPEAKS, (UP, heartbeats(5)), (UP, heartbeats(5), HEARD), views=known(), bounds=CALM),
    Written(SPEAKS, (UP, heartbeats(5), at(LATE_MS + 6), HEARD), (UP, heartbeats(5), at(LATE_MS + 5), HEARD),
            views=known(), bounds=CALM, says="has not spoken to broker-a"),
    Written(SPEAKS, (UP, heartbeats(5)), (heartbeats(5),), views=known(), bounds=CALM),
    Written(SPEAKS, (UP, heartbeats(5)), (UP, DOWN, heartbeats(5)), views=known(), bounds=CALM),
    Written(SPEAKS, (UP, heartbeats(5)), (UP, heartbeats(5, "persistAllConsumerOffset")), views=known(), bounds=CALM),
    Written(SPEAKS, (UP, heartbeats(5)), (UP, heartbeats(5)), views=known(), bounds=CALM,
            kept_views=known(known_addresses={})),
    Written(SPEAKS, (UP, heartbeats(5)), (UP, heartbeats(5)), views=known(), bounds=CALM,
            kept_views=known(known_addresses=Turns(KNOWN, {}))),
    Written(SPEAKS, (UP, heartbeats(5)), (UP, heartbeats(5)), views=known(), bounds=CALM, kept_views=FAILS),
    # The timer finds another round under way, which has been at the broker before.
    *(Written(SPEAKS, (UP, *broken), (UP, *kept), views=known(), bounds=CALM) for broken, kept in (
        ((hears(3), heartbeats(5), returns(6)), (hears(3), heartbeats(5), returns(5))),
        ((heartbeats(5), returns(5)), (hears(3), heartbeats(5), returns(5, "persistAllConsumerOffset"), returns(5))),
        ((hears(3), heartbeats(5), HEARD, heartbeats(20), heartbeats(30), returns(30)),
         (heartbeats(5), HEARD, heartbeats(20), returns(20))))),
    Written(ADDRESSES, (), views=addresses(MORE, MINE, MINE), kept=(UP,), kept_views=addresses(MINE, MINE, MINE)),
    Written(ADDRESSES, (), views=addresses(MORE, MINE), kept=(UP,), kept_views=addresses(MORE, MINE, MORE)),
    Written(ADDRESSES, (), views=addresses(MORE, MINE), kept=(UP,), kept_views=addresses(MORE, {})),
    Written(ADDRESSES, (), views=addresses(MORE, MINE), kept=(UP,), kept_views=addresses(MORE)),
    Written("brokers_know_how_groups_consume", (), views=model("CONSUME_FROM_LAST_OFFSET"), kept=(UP,),
            kept_views=model("CONSUME_FROM_FIRST_OFFSET")),
    Written("brokers_know_how_groups_consume", (), views=model("CONSUME_FROM_LAST_OFFSET"), kept=(UP,),
            kept_views=model("CONSUME_FROM_LAST_OFFSET", ())),
    Written("brokers_know_how_groups_consume", (), views=model("CONSUME_FROM_LAST_OFFSET"), kept=(UP,),
            kept_views=Tables(**{**model("CONSUME_FROM_LAST_OFFSET").answers, "consumes": None})),
    Written("suspended_members_take_nothing", (SUSPENDED, takes(LONG_MS)), (SUSPENDED, takes(LONG_MS)),
            views=Tables(consumers=[PAUSED]), kept_views=Tables(consumers=[PAUSED._replace(pause=False)]), bounds=CALM),
    Written("suspended_members_take_nothing", (SUSPENDED, takes(LONG_MS)), (SUSPENDED, takes(LONG_MS - 1)),
            views=Tables(consumers=[PAUSED]), bounds=CALM),
    Written("suspended_members_take_nothing", (SUSPENDED, takes(LONG_MS)), (takes(LONG_MS),),
            views=Tables(consumers=[PAUSED]), bounds=CALM),
    *(Written("producer_says_goodbye", (PRODUCES, *broken, HAS_STOPPED), (PRODUCES, *kept, HAS_STOPPED),
              says="c1 has stopped its producer in P, and broker-a lists it") for broken, kept in (
        ((), (FORGOTTEN,)), ((), ((1, A, BrokerStopping(A)),)), ((), ((1, A, ProcessKilled(1, power_loss=False)),)),
        (((1, "broker-b", BrokerStopping("broker-b")),), (FORGOTTEN,)),
        (((1, A, FORGOTTEN[2]._replace(group="Q")),), (FORGOTTEN,)))),
    Written("producer_says_goodbye", (PRODUCES, HAS_STOPPED), (PRODUCES, (2, C, ProducerShutDown("c2@1", "P")))),
    Written("producer_says_goodbye", (PRODUCES, HAS_STOPPED), (PRODUCES, (2, C, ProducerShutDown(ID, "Q")))),
    Written("producer_says_goodbye", (PRODUCES, HAS_STOPPED), (PRODUCES, HAS_STOPPED), kept_views=Tables(calm=False)),
)
