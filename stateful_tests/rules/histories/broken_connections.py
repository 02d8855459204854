"""Written histories of connections that break while a broker holds pulls on them."""

from __future__ import annotations

from typing import Any

import invariants.rules.broken_connections  # noqa: F401  # declares the rule
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullCode
from impl.events import (
    BrokerStarted,
    BrokerStopping,
    ConnectionMade,
    ConnectionSevered,
    ConsumerStopping,
    HeldPullAnswered,
    ProcessKilled,
    ProcessStarted,
    PullAnswered,
    PullFailed,
    PullHeld,
    PullSuspended,
    QueueDropped,
    QueuesHeld,
    ResetReceived,
    WorldHealed,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from stateful_tests.rules.written import Written

MQ, MQ2 = (MessageQueue("orders", "broker-a", queue_id) for queue_id in range(2))
B, C, G = "broker-a", "c1", "G"
RULE, CALM = "pull_fails_with_its_connection", Bounds()
FAILED_MS = deadlines.failed_at_once(CALM)
Told = tuple[int, str, Any]


def connects(ms: int = 1, at: str = C, server: str = B, connection: str = "c1:1") -> Told:
    """A client connects to a broker."""
    return ms, at, ConnectionMade(server, connection)


def held(connection: str = "c1:1") -> Told:
    """The broker holds a pull of the queue."""
    return 2, B, PullHeld(B, G, "orders", 0, 7, connection, 5, "*", 15_000)


def answered(connection: str = "c1:1", opaque: int = 5) -> Told:
    """The broker holds it no longer."""
    return 3, B, HeldPullAnswered(B, connection, opaque)


def severed(at: str = C, other: str = B, after_ms: int | None = 60_000) -> Told:
    """A connection breaks, and the other end sees it later, or never."""
    return 4, at, ConnectionSevered(other, after_ms)


def looked(ms: int) -> tuple[Told, ...]:
    """It is time to look, and the client ends later."""
    return (ms, "world", WorldHealed()), (ms + 1, C, ProcessKilled(1, power_loss=False))


STARTED = 0, B, BrokerStarted(B, B, 0)
FAILS = 5, C, PullFailed(C, G, MQ)
PULLS = 1, C, PullSuspended(C, G, MQ, 7)
BEGUN = STARTED, connects(), PULLS, held()
BROKEN = *BEGUN, severed()

HISTORIES = (
    Written(RULE, BROKEN, (*BROKEN, FAILS), says="has not given up the pull of queue 0 of orders at broker-a"),
    *(Written(RULE, (*BROKEN, other), (*BROKEN, FAILS)) for other in (
        (5, C, PullFailed(C, G, MQ2)), (5, C, PullFailed(C, "H", MQ)), (5, "c2", PullFailed("c2", G, MQ)))),
    *(Written(RULE, BROKEN, (*BROKEN, paid)) for paid in (
        (5, C, PullAnswered(C, G, MQ, PullCode.PULL_NOT_FOUND, 7)), (5, C, QueueDropped(C, G, MQ)),
        (5, C, ProcessKilled(1, power_loss=False)), (5, C, ConsumerStopping(C, G)))),
    Written(RULE, BROKEN, (*BROKEN[:2], (3, C, ResetReceived(C, G, frozenset())), *BROKEN[2:])),
    # What the broker does not hold any more, or holds on another connection, is not waited for there.
    *(Written(RULE, (*BEGUN, other, severed()), (*BEGUN, answered(), severed())) for other in (
        answered("c1:2"), answered(opaque=6))),
    *(Written(RULE, BROKEN, (STARTED, PULLS, *kept, severed())) for kept in (
        (connects(),), (held(),), (connects(), held("c1:2")), (connects(), connects(connection="c1:2"), held("c1:2")),
        (connects(), connects(connection="c1:2"), held()))),
    *(Written(RULE, (STARTED, other, *BEGUN[1:], severed()),
              (STARTED, connects(connection="c1:0"), *BEGUN[1:], severed()))
      for other in (connects(at="c2", connection="c2:0"), connects(server="broker-b", connection="c1:0"))),
    Written(RULE, (STARTED, connects(connection="c1:0"), (1, C, ProcessStarted(2)), *BEGUN[1:], severed()),
            (STARTED, connects(connection="c1:0"), (1, "c2", ProcessStarted(2)), *BEGUN[1:], severed())),
    # Nor is what has gone with a broker, or what the client does not wait for any more.
    *(Written(RULE, (*BEGUN, (3, "broker-b", event), severed()), (*BEGUN, (3, B, event), severed()))
      for event in (STARTED[2], BrokerStopping(B), ProcessKilled(1, power_loss=False))),
    *(Written(RULE, (*BEGUN, other, severed()), (*BEGUN, FAILS, severed())) for other in (
        (3, C, PullFailed(C, G, MQ2)), (3, C, PullFailed(C, "H", MQ)))),
    *(Written(RULE, BROKEN, (*BEGUN[:2], *kept, held(), severed())) for kept in (
        (), (PULLS, (1, C, QueueDropped(C, G, MQ))), ((1, "c2", PULLS[2]),), ((1, C, PullSuspended(C, G, MQ2, 7)),))),
    *(Written(RULE, BROKEN, (*BEGUN, other)) for other in (severed("c2"), severed(other="broker-b"))),
    Written(RULE, (*BEGUN, severed(B, C)), (*BEGUN, severed(B, C, None))),
    # Who polls is not judged.
    Written(RULE, (*BEGUN, (3, C, QueuesHeld(C, "H", frozenset({MQ}))), severed()),
            (*BEGUN, (3, C, QueuesHeld(C, G, frozenset({MQ}))), severed())),
    # How long messages are on their way does not matter.
    *(Written(RULE, (*BROKEN, *looked(FAILED_MS + 5)), (*BROKEN, *looked(FAILED_MS + 4)), bounds=bounds)
      for bounds in (CALM, Bounds(delay_ms=1_000))),
    # It begins when the client sees it.
    Written(RULE, (*BEGUN, severed(B, C), *looked(60_000 + FAILED_MS + 5)),
            (*BEGUN, severed(B, C), *looked(60_000 + FAILED_MS + 4)), bounds=CALM),
)
