"""Written histories of what does not last: keys, brokers that are shunned, clients and name servers that are silent."""

from __future__ import annotations

from typing import Any

from impl.events import (
    BrokerRegistered,
    BrokerUpdateTimestamp,
    ClockJumped,
    ConsumerShutDown,
    ConsumerStarted,
    ForceFailed,
    LogExpired,
    NameServersTold,
    ProcessKilled,
    ProcessPaused,
    ProcessStarted,
    RouteAnswered,
    RouteDenied,
    SpokenOnce,
    ThreadDied,
    TimerJobBegan,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from stateful_tests.rules.written import STORMY, Tables, Written

B, C, C2, P, G, NS, NS2 = "broker-a", "c1", "c2", "p1", "G", "nameserver1", "nameserver2"
ID, ADDR = "c1@1", "nameserver1:9876"
INDEX, SILENT, LISTED, AWAY = ("index_goes_with_the_log", "silent_client_expires",
                               "only_listed_name_servers_are_asked", "name_server_that_is_away_is_left")
CALM = Bounds()
WAITED_MS, ELSEWHERE_MS = deadlines.waited(STORMY), deadlines.asked_elsewhere(CALM)
Told = tuple[int, str, Any]

STILL = ProcessPaused(1_000)
ADDR_B, EXPIRED_MS = f"{B}:10911", deadlines.expired(STORMY)
STOPPED, DIED = ProcessKilled(1, power_loss=False), ThreadDied("scan", "java.lang.RuntimeException", "")
EXPIRES = (1, B, LogExpired(B, 100))


def failed(path: str = "store/index/1", at: str = B) -> Told:
    """A force of a file has failed."""
    return 0, at, ForceFailed(path, lost=False)


def index(*ends: int) -> Tables:
    """Where the records are that each file of the index has a key of last."""
    return Tables(index_ends=ends)


SPEAKS = (0, "operator", SpokenOnce(B, G, "x"))
AS_PRODUCER, AS_MEMBER = Tables(producers={(G, "o:1"): "x"}), Tables(has_group=True, members={"o:1": "x"}, producers={})
OF_OTHERS = Tables(producers={("H", "o:1"): "x", (G, "o:2"): "y"}, has_group=False, members={"o:1": "x"})


def route(ms: int, at: str = NS, who: str = C) -> Told:
    """A name server is asked for a route."""
    return ms, at, RouteAnswered(at, "orders", frozenset(), frozenset(), frozenset(), f"{who}:40001")


def denied(ms: int, at: str = NS, who: str = C) -> Told:
    """It has none."""
    return ms, at, RouteDenied(at, "orders", f"{who}:40001")


def registers(ms: int) -> Told:
    """A broker has registered."""
    return ms, NS, BrokerRegistered(NS, B, 0, ADDR_B, f"{B}:40001", (1, 1), frozenset())


def is_unchanged(ms: int) -> Told:
    """A broker has asked whether it has to register."""
    return ms, NS, BrokerUpdateTimestamp(NS, ADDR_B)


def knows(*addrs: str) -> Tables:
    """The addresses that a name server knows."""
    return Tables(registered=dict.fromkeys(addrs))


def told_of(ms: int, *listed: str) -> Told:
    """The client is told whom to ask."""
    return ms, C, NameServersTold(C, listed)


OTHERS = told_of(10, "nameserver2:9876")
TIMER = (0, C, TimerJobBegan(ID, "updateTopicRouteInfoFromNameServer", 30_000))
STARTS = (20, C, ConsumerStarted(ID, G, "CLUSTERING", orderly=False, strategy="AVG"))
SHUT_DOWN = (2, C, ConsumerShutDown(ID, G))
BOTH, NOBODY = Tables(namesrvs=[NS, NS2]), Tables(namesrvs=[NS])


def dies(ms: int, at: str = NS) -> Told:
    """A process ends."""
    return ms, at, ProcessKilled(1, power_loss=False)


def looks(ms: int) -> Told:
    """Somebody else does something, so that rules look."""
    return ms, "c9", TimerJobBegan("c9@1", "persistAllConsumerOffset", 5_000)


HISTORIES = (
    Written(INDEX, (EXPIRES,), (EXPIRES,), views=index(99, 200), kept_views=index(100, 200), causes=(),
            says="have no key of anything behind 99"),
    Written(INDEX, (EXPIRES,), (EXPIRES,), views=index(50, 99, 200), kept_views=index(99), says="2 of the files"),
    *(Written(INDEX, broken, (failed(), EXPIRES), views=index(99, 200), kept_views=index(99, 200)) for broken in (
        (failed(), (0, B, ProcessStarted(2)), EXPIRES), (failed("store/commitlog/0"), EXPIRES),
        (failed(at=C), EXPIRES))),
    *(Written(SILENT, (SPEAKS,), (SPEAKS,), views=listed, kept_views=OF_OTHERS, says="lists x in G")
      for listed in (AS_PRODUCER, AS_MEMBER)),
    *(Written("silent_broker_expires", (heard(0),), (heard(0),), views=knows(ADDR_B), kept_views=knows("x:10911"),
              says=f"knows {ADDR_B}", causes=()) for heard in (registers, is_unchanged)),
    *(Written("silent_broker_expires", (registers(0), heard(9), registers(EXPIRED_MS + 10)), views=knows(ADDR_B),
              kept=(registers(0), heard(10), registers(EXPIRED_MS + 10), (EXPIRED_MS + 11, NS, STOPPED)))
      for heard in (registers, is_unchanged)),
    Written("silent_broker_expires", (registers(0), (1, NS2, DIED)), (registers(0), (1, NS, STOPPED)),
            views=knows(ADDR_B), causes=()),
    Written("silent_broker_expires", (registers(0), (1, NS, DIED)), views=knows(ADDR_B), causes=("N-4",)),
    Written("silent_broker_expires", (registers(0),), (registers(0), (1, NS, ClockJumped(-60_000))),
            views=knows(ADDR_B)),
    *(Written(LISTED, (OTHERS, asked(11 + WAITED_MS)), (OTHERS, asked(10 + WAITED_MS)), says="was told")
      for asked in (route, denied)),
    Written(LISTED, (OTHERS, route(11 + WAITED_MS)), (OTHERS, route(11 + WAITED_MS, NS2))),
    Written(LISTED, (OTHERS, route(11 + WAITED_MS)), (OTHERS, route(11 + WAITED_MS, who=C2))),
    Written(LISTED, (OTHERS, route(11 + WAITED_MS)), (OTHERS, STARTS, route(11 + WAITED_MS))),
    *(Written(LISTED, (OTHERS, (20, at, STILL), route(1_011 + WAITED_MS)),
              (OTHERS, (20, at, STILL), route(1_010 + WAITED_MS))) for at in (C, NS)),
    Written(LISTED, (OTHERS, *((20, at, STILL) for at in (C2, NS2)), route(1_010 + WAITED_MS))),
    Written(LISTED, (OTHERS, route(11 + WAITED_MS)), (OTHERS, told_of(20, ADDR), route(30 + WAITED_MS))),
    *(Written(AWAY, (TIMER, asked(1), dies(10)), (TIMER, asked(1), dies(10), other(20, NS2)), views=BOTH, bounds=CALM,
              says="has asked no name server") for asked in (route, denied) for other in (route, denied)),
    Written(AWAY, (TIMER, route(1), dies(10), looks(11 + ELSEWHERE_MS), route(12 + ELSEWHERE_MS, NS2)),
            (TIMER, route(1), dies(10), looks(10 + ELSEWHERE_MS), route(11 + ELSEWHERE_MS, NS2)), views=BOTH,
            bounds=CALM),
    Written(AWAY, (TIMER, route(1), dies(10)), (route(1), dies(10)), views=BOTH, bounds=CALM),
    Written(AWAY, (TIMER, route(1), dies(10)), (TIMER, SHUT_DOWN, route(3), dies(10)), views=BOTH, bounds=CALM),
    Written(AWAY, (TIMER, route(1), dies(10)), (TIMER, route(1), route(2, NS2), dies(10)), views=BOTH, bounds=CALM),
    Written(AWAY, (TIMER, route(1), dies(10)), (TIMER, route(1), dies(10)), views=BOTH, kept_views=NOBODY, bounds=CALM),
    Written(AWAY, (TIMER, route(1), dies(10)), (TIMER, route(1), dies(10)), views=BOTH, bounds=CALM,
            kept_views=Tables(namesrvs=[NS, NS2], calm=False)),
)
