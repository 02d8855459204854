"""Written histories of whom name servers know."""

from __future__ import annotations

from typing import Any

import invariants.rules.known_brokers  # noqa: F401  # declares the rules
from impl.events import (
    BrokerDropped,
    BrokerFound,
    BrokerLiveRemoved,
    BrokerRegistered,
    BrokerStarted,
    BrokerStopping,
    BrokerUnregistered,
    BrokerUpdateTimestamp,
    ClockDrifts,
    ConnectionMade,
    ProcessKilled,
    TopicConfigUpdated,
    VersionQueried,
)
from invariants.views import Registration
from stateful_tests.rules.written import Tables, Turns, Written

B, NS, ADDR = "broker-a", "nameserver1", "broker-a:10911"
OLD, NEW = "broker-a:1", "broker-a:2"
Told = tuple[int, str, Any]


def registered(ms: int, connection: str = OLD, *, half: bool = False) -> Told:
    """A broker registers on a connection; half -- without its topics."""
    return ms, NS, BrokerRegistered(NS, B, 0, ADDR, connection, None if half else (1, 1), frozenset())


def takes(ms: int, addr: str, name: str = B) -> Told:
    """A broker registers as the master of a name."""
    return ms, NS, BrokerRegistered(NS, name, 0, addr, f"{addr}:1", (1, 1), frozenset())


def removed(ms: int, why: str, addr: str = ADDR) -> Told:
    """An address leaves the table of the living."""
    return ms, NS, BrokerLiveRemoved(NS, addr, why)


def found(ms: int, connection: str) -> Told:
    """The end of a connection is looked into."""
    return ms, NS, BrokerFound(NS, None, connection)


def asked(ms: int, connection: str, *, changed: bool) -> Told:
    """A broker asks for its version on a connection."""
    return ms, NS, VersionQueried(NS, ADDR, connection, changed=changed)


def dropped(ms: int) -> Told:
    """Some address leaves the routes."""
    return ms, NS, BrokerDropped(NS, "c:1")


def goodbye(addr: str) -> Told:
    """A broker says goodbye as the master of broker-a."""
    return 3, NS, BrokerUnregistered(NS, B, 0, addr)


def made(ms: int, connection: str = OLD, server: str = NS) -> Told:
    """The broker connects to a name server."""
    return ms, B, ConnectionMade(server, connection)


LIVING = Tables(namesrvs=[NS], registered=lambda _: {ADDR: Registration(OLD, active=True)})
CLOSED = Tables(namesrvs=[NS], registered=lambda _: {ADDR: Registration(OLD, active=False)})
TIME_PASSES = (1_000, "world", ())
STARTS = (0, B, BrokerStarted(B, B, 0))
ENDS = (0, B, ProcessKilled(1, power_loss=False))
BOTH_START = ((0, "a", BrokerStarted("a", B, 0)), (0, "b", BrokerStarted("b", B, 0)))

GONE = (2, NS, BrokerUnregistered(NS, B, 0, ADDR))
AGAIN, OTHER_STARTS = ((2, name, BrokerStarted(name, name, 0)) for name in (B, "broker-b"))
CREATES, STOPS = (2, B, TopicConfigUpdated(B, "orders")), (2, B, BrokerStopping(B))

HISTORIES = (
    Written("living_broker_is_not_dropped", broken=(registered(1), removed(60_000, "destroyed")),
            kept=(registered(1), removed(60_001, "destroyed"), registered(60_002), removed(60_003, "unregistered"))),
    Written("living_broker_is_not_dropped", broken=(registered(1), removed(2, "destroyed")),
            kept=(registered(1), (1, B, BrokerStopping(B)), removed(2, "destroyed"))),
    Written("living_broker_is_not_dropped",
            broken=((0, B, BrokerStopping(B)), (0, B, BrokerStarted(B, B, 0)), registered(1), removed(2, "destroyed")),
            kept=((0, B, BrokerStopping(B)), registered(1), removed(2, "destroyed"))),
    Written("living_broker_is_not_dropped",
            broken=(registered(1), (1, "c", ProcessKilled(1, power_loss=True)), removed(2, "destroyed")),
            kept=(registered(1), (1, NS, ProcessKilled(1, power_loss=False)), removed(2, "destroyed"))),
    Written("registrations_keep_a_broker",
            broken=(registered(1), registered(60_000), removed(121_000, "expired")),
            kept=(registered(1), removed(120_001, "expired"))),
    Written("registrations_keep_a_broker",
            broken=(registered(1), (60_000, NS, BrokerUpdateTimestamp(NS, ADDR)), removed(121_000, "expired")),
            kept=((0, NS, ClockDrifts(1)), registered(1), removed(60_000, "expired"))),
    Written("registrations_keep_a_broker", broken=(registered(1, OLD), found(1, NEW), removed(2, "destroyed")),
            kept=(registered(1, OLD), found(1, OLD), removed(2, "destroyed"))),
    Written("registrations_keep_a_broker",
            broken=((0, NS, ClockDrifts(1)), registered(1, OLD), found(1, OLD), asked(1, NEW, changed=False),
                    removed(2, "destroyed")),
            kept=(registered(1, OLD), found(1, OLD), asked(1, NEW, changed=True), removed(2, "destroyed"))),
    Written("registrations_keep_a_broker",
            broken=(registered(1), removed(2, "destroyed")),
            kept=((0, NS, BrokerUpdateTimestamp(NS, ADDR)), asked(0, NEW, changed=False), registered(0, half=True),
                  removed(2, "destroyed"), removed(3, "expired"), registered(4), removed(5, "unregistered"))),
    Written("closed_broker_is_dropped", broken=(TIME_PASSES,), views=CLOSED, kept=(TIME_PASSES,), kept_views=LIVING),
    Written("closed_broker_is_dropped", broken=(registered(0), found(0, OLD), TIME_PASSES), views=CLOSED,
            kept=(found(0, OLD), registered(0), TIME_PASSES), kept_views=CLOSED),
    Written("goodbye_frees_its_sender_only", broken=(takes(1, "b:1"), goodbye("a:1")),
            views=Tables(addresses=Turns({(B, 0): "b:1"}, {})), kept=(takes(1, "b:1"), goodbye("b:1")),
            kept_views=Tables(addresses=Turns({(B, 0): "b:1"}, {}))),
    Written("goodbye_frees_its_sender_only", broken=(dropped(1), goodbye("a:1")),
            views=Tables(addresses=Turns({(B, 0): "b:1"}, {})), kept=(dropped(1), goodbye("a:1")),
            kept_views=Tables(addresses={(B, 0): "b:1"})),
    *(Written("goodbye_ends_its_own_process", broken=(STARTS, made(0), registered(1), removed(2, "unregistered")),
              kept=kept) for kept in (
          (STARTS, made(0), registered(1), (1, B, BrokerStopping(B)), registered(1), removed(2, "unregistered")),
          (STARTS, made(0), registered(1), removed(2, "expired"), removed(3, "unregistered")),
          (STARTS, made(0, server="nameserver2"), registered(1), removed(2, "unregistered")),
          (STARTS, (0, "broker-b", made(0)[2]), registered(1), removed(2, "unregistered")),
          (made(0), registered(1), removed(2, "unregistered")),
          (STARTS, made(0), registered(1), ENDS, STARTS, removed(2, "unregistered")),
          (STARTS, made(0), ENDS, STARTS, registered(1), removed(2, "unregistered")))),  # heard when it runs anew
    Written("goodbye_ends_its_own_process",
            broken=(made(0), registered(0), ENDS, STARTS, made(1, NEW), registered(1), registered(2, NEW),
                    removed(3, "unregistered")),
            kept=(made(0), registered(0), ENDS, STARTS, made(1, NEW), registered(1, NEW), registered(2),
                  removed(3, "unregistered"))),
    Written("goodbye_ends_its_own_process",
            broken=(STARTS, made(0), registered(1), (2, "c", ProcessKilled(1, power_loss=False)),
                    removed(3, "unregistered")),
            kept=(STARTS, made(0), registered(1), (2, NS, ProcessKilled(1, power_loss=False)),
                  removed(3, "unregistered"))),
    Written("address_has_one_name", broken=(takes(1, ADDR, "z"),),
            views=Tables(addresses={("z", 0): ADDR, (B, 0): ADDR}),
            kept=(takes(1, ADDR),), kept_views=Tables(addresses={("z", 0): "c:1", (B, 0): ADDR, (B, 1): ADDR})),
    Written("id_is_not_taken_back", broken=(BOTH_START[0], takes(1, "a:1"), takes(2, "b:1"), takes(3, "a:1")),
            causes=(),
            kept=(takes(1, "a:1"), takes(2, "b:1"), takes(3, "c:1"), takes(4, "c:1"))),
    Written("id_is_not_taken_back", broken=(takes(1, "a:1"), takes(2, "b:1"), removed(3, "expired", "c:1"),
                                            takes(4, "a:1")),
            kept=(takes(1, "a:1"), takes(2, "b:1"), removed(3, "expired", "b:1"), takes(4, "a:1"))),
    Written("id_is_not_taken_back", broken=(*BOTH_START, takes(1, "a:1"), takes(2, "b:1"), takes(3, "a:1")),
            causes=("N-15",),
            kept=(takes(1, "a:1", "x"), takes(2, "b:1"), takes(3, "a:1", "x"))),
    Written("gone_broker_is_not_heard_of", (GONE, registered(3)), (GONE, AGAIN, registered(3)), says="again 1 ms"),
    Written("gone_broker_is_not_heard_of", (GONE, registered(3)), (GONE, takes(3, "broker-b:10911"))),
    Written("gone_broker_is_not_heard_of", (GONE, OTHER_STARTS, registered(3)),
            (GONE, (2, NS, ProcessKilled(1, power_loss=False)), registered(3))),
    # It creates a topic while it shuts down.
    Written("gone_broker_is_not_heard_of", (CREATES, STOPS, GONE, registered(3)),
            (STOPS, CREATES, GONE, registered(3))),
    Written("gone_broker_is_not_heard_of", (STOPS, CREATES, AGAIN, GONE, registered(3)),
            (STOPS, GONE, CREATES, registered(3))),
)
