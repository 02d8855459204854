"""Written histories of what client processes do by themselves."""

from __future__ import annotations

from typing import Any

import invariants.rules.clients  # noqa: F401  # declares the rules
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    ConsumerIdsFetched,
    ConsumerShutDown,
    ConsumerStopping,
    NameServerChosen,
    PollerShutDown,
    PollerStopping,
    ProcessKilled,
    ProcessStarted,
    ProducerShutDown,
    RouteAnswered,
    RouteDenied,
    SendAttempted,
    SubscriptionAsked,
    TimerJobBegan,
    TimerJobEnded,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from stateful_tests.rules.written import Tables, Written

C, ID, G = "c1", "c1@1", "G"
MQ = MessageQueue("orders", "broker-a", 0)
POLL, COMMIT = "updateTopicRouteInfoFromNameServer", "persistAllConsumerOffset"
Told = tuple[int, str, Any]


def begins(ms: int, job: str = POLL, period_ms: int = 30_000) -> Told:
    """A job begins."""
    return ms, C, TimerJobBegan(ID, job, period_ms)


def ends(ms: int, job: str = POLL) -> Told:
    """It ends."""
    return ms, C, TimerJobEnded(ID, job)


def chosen(*listed: str) -> Told:
    """A client chooses nameserver1."""
    return 1, C, NameServerChosen("nameserver1:9876", frozenset(listed))


NS, NS2 = "nameserver1", "nameserver2"
REACHED = "name_server_that_was_reached_is_asked"


def goes(ms: int, namesrv: str, client: int = 1) -> Told:
    """A client of the process chooses a name server."""
    return ms, C, NameServerChosen(f"{namesrv}:9876", frozenset({f"{NS}:9876", f"{NS2}:9876"}), client)


FIRST, SECOND, BACK, BACK_LATE = goes(0, NS), goes(3_000, NS2), goes(3_002, NS), goes(5_002, NS)
WAITED = FIRST, SECOND, BACK
BOTH, NOBODY = Tables(namesrvs=[NS, NS2]), Tables(namesrvs=[NS])

CALM = Bounds()
STOPS, COMES_UP = (0, C, PollerStopping(G)), (0, C, ProcessStarted(2))
DIES, SHUT_DOWN = (2, C, ProcessKilled(1, power_loss=False)), (2, C, ConsumerShutDown(ID, G))


def route(ms: int, topic: str = "orders", client: str = C) -> Told:
    """A name server answers a client that asks for a route."""
    return ms, NS, RouteAnswered(NS, topic, frozenset(), frozenset(), frozenset(), f"{client}:1")


def denied(ms: int, topic: str = "orders", client: str = C) -> Told:
    """It knows none."""
    return ms, NS, RouteDenied(NS, topic, f"{client}:1")


def shares(ms: int = 0, topic: str = "orders") -> Told:
    """A consumer of the client asks who is in its group."""
    return ms, C, ConsumerIdsFetched(ID, G, topic, "broker-a:10911", (ID,))


def sends(*listed: MessageQueue, topic: str = "orders") -> Told:
    """A producer of the client sends to a queue."""
    return 0, C, SendAttempted(ID, G, "k", 1, MessageQueue(topic, "broker-a", 0), frozenset(listed))


POLLED, DEFAULT = "route_of_each_topic_is_polled", "default_topic_is_asked_about_last"
ROUNDS = shares(), begins(1), begins(30_001)
SECOND_ROUND = *ROUNDS[:2], route(2), begins(30_001), denied(30_001, "TBW102")
ASKED_MS = 5 + deadlines.soon(CALM)
ASKS_LATE = begins(0), ends(1), denied(5), route(5 + deadlines.soon(CALM) + 1, "TBW102")

HISTORIES = (
    Written("timers_do_not_wait_for_each_other", broken=(begins(0), ends(1), begins(32_001)),
            kept=(begins(0), ends(1), begins(32_000), begins(62_000)), bounds=CALM),
    Written("timers_do_not_wait_for_each_other", broken=(begins(0), ends(30_000), begins(32_001)),
            kept=(begins(0), ends(40_000), begins(42_000)), bounds=CALM),
    Written("timers_do_not_wait_for_each_other",
            broken=(begins(0), ends(1), ends(40_000, COMMIT), begins(40_000)),
            kept=(begins(0), ends(1), begins(30_000, COMMIT, 5_000)), bounds=CALM),
    Written("timers_do_not_wait_for_each_other",
            broken=(begins(1, period_ms=5_000), ends(2), begins(7_002, period_ms=5_000)),
            kept=(begins(1), DIES, begins(90_000)), bounds=CALM),
    Written("timers_do_not_wait_for_each_other", broken=(begins(1), ends(1), begins(97_002)), says="67001 ms late",
            kept=(begins(1), SHUT_DOWN, begins(97_002))),
    Written("name_server_is_chosen_from_the_list", broken=(chosen("nameserver2:9876"),),
            kept=(chosen("nameserver1:9876", "nameserver2:9876"),)),
    Written(REACHED, WAITED, WAITED, views=BOTH, kept_views=NOBODY,
            says="c1 has come to nameserver2 after it had waited for another one, and asks nameserver1 2 ms later"),
    # A client that shuts down connects no more.
    Written(REACHED, (STOPS, COMES_UP, *WAITED), (STOPS, *WAITED), views=BOTH),
    # It was there for as long as a call may last, or has chosen it once more; it is another client, or process.
    Written(REACHED, (FIRST, SECOND, goes(4_999, NS)), (FIRST, SECOND, goes(5_000, NS)), views=BOTH),
    Written(REACHED, WAITED, (FIRST, SECOND, goes(3_002, NS2)), views=BOTH),
    Written(REACHED, WAITED, (FIRST, SECOND, goes(3_002, NS, 2)), views=BOTH),
    Written(REACHED, WAITED, (FIRST, goes(3_000, NS2, 2), BACK), views=BOTH),
    Written(REACHED, WAITED, (FIRST, SECOND, (3_001, *DIES[1:]), BACK), views=BOTH),
    # It has not waited for another one as long as it takes to connect, or has done more than that since.
    Written(REACHED, WAITED, (FIRST, goes(2_999, NS2), BACK), views=BOTH),
    Written(REACHED, (FIRST, goes(5_000, NS2), BACK_LATE), (FIRST, goes(5_001, NS2), BACK_LATE), views=BOTH),
    Written(REACHED, WAITED, (FIRST, goes(3_000, NS), goes(3_002, NS2)), views=BOTH),
    Written(REACHED, WAITED, (SECOND, BACK), views=BOTH),
    Written(POLLED, ROUNDS, (*ROUNDS[:2], route(2), ROUNDS[2]), bounds=CALM,
            says="c1 has not asked for the route of orders for 30001 ms"),
    Written(POLLED, ROUNDS, (*ROUNDS[:2], denied(1), ROUNDS[2]), bounds=CALM),
    *(Written(POLLED, (*ROUNDS[:2], other, ROUNDS[2]), (*ROUNDS[:2], route(2), ROUNDS[2]), bounds=CALM)
      for other in (route(2, "bills"), route(2, client="c2"))),
    # The first round, and the first of a topic; another timer; a round that asks, and one that does not.
    Written(POLLED, ROUNDS, ROUNDS[:2], bounds=CALM),
    *(Written(POLLED, ROUNDS, (begins(1), shares(ms), ROUNDS[2]), bounds=CALM) for ms in (1, 2)),
    *(Written(POLLED, ROUNDS, (ROUNDS[0], *kept), bounds=CALM) for kept in (
        (begins(1), begins(30_001, COMMIT)), (begins(1, COMMIT), begins(30_001)))),
    Written(POLLED, (*SECOND_ROUND, begins(60_001)), (*SECOND_ROUND, shares(30_005), route(30_006), begins(60_001)),
            bounds=CALM, says="route of orders"),
    Written(POLLED, (*SECOND_ROUND, shares(30_005), begins(60_001)), (*SECOND_ROUND, route(30_001), begins(60_001)),
            bounds=CALM),
    Written(POLLED, (begins(1), begins(30_001), begins(60_001)), SECOND_ROUND[1:], bounds=CALM, says="of TBW102"),
    # It looked for a name server, and not long before.
    Written(POLLED, (shares(), goes(0, NS), *ROUNDS[1:]), (*ROUNDS[:2], goes(2, NS), ROUNDS[2]), bounds=CALM),
    Written(POLLED, (*ROUNDS[:2], (2, "c2", goes(2, NS)[2]), ROUNDS[2]), (*ROUNDS[:2], goes(2, NS), ROUNDS[2]),
            bounds=CALM),
    # Who does not have the topic any more.
    *(Written(POLLED, (*ROUNDS[:2], (2, C, broken), ROUNDS[2]), (*ROUNDS[:2], (2, C, kept), ROUNDS[2]), bounds=CALM)
      for broken, kept in (
        (ConsumerStopping(ID, "H"), ConsumerStopping(ID, G)), (ProducerShutDown("c1@2", G), ProducerShutDown(ID, G)),
        (SubscriptionAsked(G, "orders", "a"), SubscriptionAsked(G, "orders", None)),
        (SubscriptionAsked(G, "bills", None), SubscriptionAsked(G, "orders", None)),
        (SubscriptionAsked("H", "orders", None), SubscriptionAsked(G, "orders", None)))),
    Written(POLLED, (sends(MQ), *ROUNDS[1:]), (sends(), *ROUNDS[1:]), bounds=CALM, says="route of orders"),
    Written(POLLED, (sends(MQ), *ROUNDS[1:]), (sends(MQ), begins(1), DIES, begins(30_001)), bounds=CALM),
    # The default topic is polled in a round, and asked about when another one is denied.
    Written(DEFAULT, (begins(0), ends(1), route(5, "TBW102")), (begins(0), route(0, "TBW102"), ends(1)), bounds=CALM,
            says="c1 asks for the route of TBW102, and no name server has just denied it another one"),
    Written(DEFAULT, (begins(0), ends(1), denied(5, "TBW102")), (begins(0), ends(0, COMMIT), denied(1, "TBW102")),
            bounds=CALM),
    Written(DEFAULT, (begins(0, COMMIT), route(5, "TBW102")), (begins(0), ends(1), route(5)), bounds=CALM),
    Written(DEFAULT, (begins(0), ends(1), route(5, "TBW102")), (route(5, "TBW102"),), bounds=CALM),
    Written(DEFAULT, (begins(0), ends(1), route(5, "TBW102")),
            (begins(0), ends(1), denied(4), route(5, "TBW102")), bounds=CALM),
    *(Written(DEFAULT, (begins(0), ends(1), other, route(5, "TBW102")),
              (begins(0), ends(1), denied(4), route(5, "TBW102")), bounds=CALM)
      for other in (denied(4, client="c2"), route(4))),
    Written(DEFAULT, (begins(0), ends(1), denied(4, "TBW102"), route(5, "TBW102")),
            (begins(0), ends(1), denied(4), denied(5, "TBW102")), bounds=CALM),
    # A client that shuts down ends a round whose last question is on its way; not so another one.
    *(Written(DEFAULT, (begins(0), ends(1), other, route(ASKED_MS, "TBW102")),
              (begins(0), ends(1), ended, route(ASKED_MS, "TBW102")), bounds=CALM)
      for other, ended in (
          ((5, "c2", SHUT_DOWN[2]), (5, *SHUT_DOWN[1:])), ((4, *SHUT_DOWN[1:]), (5, *SHUT_DOWN[1:])),
          ((4, *SHUT_DOWN[1:]), (5, C, PollerShutDown(G))), ((4, *SHUT_DOWN[1:]), (5, C, ProducerShutDown(ID, "P"))))),
    Written(DEFAULT, ASKS_LATE, (*ASKS_LATE[:3], route(5 + deadlines.soon(CALM), "TBW102")), bounds=CALM),
    *(Written("timers_have_their_periods", (begins(0, job, wrong_ms),), (begins(0, job, period_ms),),
              says=f"every {wrong_ms} ms, and is to do so every {period_ms} ms") for job, period_ms, wrong_ms in (
        (POLL, 30_000, 30_001), (COMMIT, 5_000, 4_999), ("sendHeartbeatToAllBroker", 30_000, 5_000))),
    Written("timers_have_their_periods", (begins(0, POLL, 5_000),), (begins(0, "another", 5_000),)),
)
