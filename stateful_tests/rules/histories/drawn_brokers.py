"""Which brokers clients ask for the members of their groups."""

from __future__ import annotations

import invariants.rules.drawn_brokers  # noqa: F401  # declares the rules
from impl.decisions.message_queue import MessageQueue
from impl.events import BrokerStarted, ConsumerIdsFetched, NumberDrawn, ProcessKilled, RouteAnswered, RouteUpdated
from invariants.refinement.follower import Record
from invariants.rules.bounds import draws_for_all
from invariants.rules.drawn_brokers import FIND_BROKER, UNDER_WAY
from stateful_tests.rules.written import Written

A, B, C, OTHER, G, N = "broker-a", "broker-b", "c1", "c2", "G", "nameserver1"
BOTH, THREE = frozenset((A, B)), frozenset((A, B, "broker-c"))
MANY, MORE = (draws_for_all(brokers) + UNDER_WAY for brokers in (2, 3))


def answered(names: frozenset[str] = BOTH, topic: str = "orders", client: str = C) -> Record:
    """A name server has answered who has a topic."""
    return 1, N, RouteAnswered(N, topic, names, names, frozenset(), f"{client}:40000")


def took(names: frozenset[str] = BOTH, topic: str = "orders", client_id: str = C, at: str = C) -> Record:
    """A client has taken that."""
    return 1, at, RouteUpdated(client_id, G, topic, frozenset(MessageQueue(topic, name, 0) for name in names))


def asks(broker: str = A, topic: str = "orders", client_id: str = C, at: str = C) -> Record:
    """A client has asked a broker for the members of its group."""
    return 2, at, ConsumerIdsFetched(client_id, G, topic, broker and f"{broker}:10911", (client_id,))


def drew(number: int = 0, where: str = FIND_BROKER, at: str = C) -> Record:
    """A process has drawn a number."""
    return 2, at, NumberDrawn(where, 2, number)


def started(name: str, at: str = A) -> Record:
    """A broker has started under this name."""
    return 2, at, BrokerStarted(at, name, 0)


NAME, KNOWN = "every_broker_is_asked_for_members", (answered(), took())
ONE, FEW = (*KNOWN, *(asks(),) * MANY), (asks(),) * (MANY - 1)
DREW = tuple(one for _ in range(MANY - UNDER_WAY) for one in (drew(), asks()))
AMONG_THREE = (answered(THREE), took(THREE), *(asks(),) * (MORE - 2), asks(B))
HISTORIES = (
    Written(NAME, ONE, (*KNOWN, *FEW), causes=(), says=f"has asked {MANY} times for members, and {B} never"),
    Written(NAME, (*KNOWN, *(asks(B),) * MANY), (*KNOWN, *FEW, asks(B)), says=f"{A} never"),
    *(Written(NAME, ONE, kept) for kept in (
        (*KNOWN, asks(B), *FEW), (*KNOWN, *FEW, answered(THREE), answered(), asks()),
        (*KNOWN, *FEW, took(THREE), took(), asks()), (answered(), *FEW, asks()), (took(), *FEW, asks()),
        (answered(THREE), took(), *FEW, asks()), (answered(BOTH - {B}), took(BOTH - {B}), *FEW, asks()),
        (*KNOWN, *FEW, asks("")), (*KNOWN, *FEW, (2, C, ProcessKilled(1, power_loss=False)), *KNOWN, asks()),
        (*KNOWN, *FEW, asks(client_id="c1@2")), (*KNOWN, took(client_id="c1@2"), *FEW, asks(client_id="c1@2")),
        (*KNOWN, answered(client=OTHER), took(at=OTHER), *FEW, asks(at=OTHER)),
        (*KNOWN, *FEW, asks(topic="bills")), (*KNOWN, *FEW, started("broker-a2"), asks(), started(A), asks()))),
    Written(NAME, (*KNOWN, answered(topic="bills"), took(topic="bills"), *FEW, asks(topic="bills")),
            (*KNOWN, answered(topic="bills"), took(topic="bills"), *FEW, asks(B, "bills"))),
    Written(NAME, (*KNOWN, *FEW, answered(), took(), asks()),
            (*KNOWN, answered(THREE, "bills"), took(THREE, "bills"), *FEW, asks(topic="bills"))),
    Written(NAME, (*KNOWN, *FEW, answered(THREE, client=OTHER), took(THREE, at=OTHER), asks())),
    Written(NAME, (*AMONG_THREE, asks(B)), (*AMONG_THREE, asks("broker-c")), says="broker-c never"),
    Written(NAME, (*AMONG_THREE, asks(B)), AMONG_THREE),
    Written(NAME, (*ONE, *FEW, asks()), (*KNOWN, asks(B), *FEW, *FEW)),
    # What chance has to do with it: who does not ask it, or not each time, or does not follow it, is told of.
    Written(NAME, (*KNOWN, asks(), *DREW[2:], asks(), asks()), (*KNOWN, asks(), *DREW, asks())),
    Written(NAME, (*KNOWN, asks(), *DREW[:-2], drew(1), asks(), asks()), (*KNOWN, asks(), *DREW, asks())),
    Written(NAME, (*KNOWN, asks(), drew(where="elsewhere"), asks(), *DREW[2:], asks()),
            (*KNOWN, asks(), drew(1, "elsewhere"), *DREW, asks())),
    Written(NAME, (*KNOWN, asks(), drew(at=OTHER), asks(), *DREW[2:], asks()),
            (*KNOWN, asks(), drew(1, at=OTHER), *DREW, asks())),
)
