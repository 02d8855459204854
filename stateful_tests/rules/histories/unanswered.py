"""Written histories of messages whose senders wait for an answer."""

from __future__ import annotations

from typing import Any

import invariants.rules.unanswered  # noqa: F401  # declares the rule
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    BrokerStarted,
    BrokerStopping,
    ConnectionSevered,
    ConsumerShutDown,
    GroupCommitted,
    MessageAppended,
    PartitionBegan,
    ProcessKilled,
    ProcessPaused,
    ProducerShutDown,
    ReplicaReported,
    SendAnswered,
    SendAttempted,
    SendFailed,
    SendTold,
    StoreLoaded,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from stateful_tests.rules.written import Written

B, OTHER, P, C2, NAME = "broker-a-1", "broker-b-1", "producer1", "producer2", "broker-a"
RULE, CALM = "stored_message_is_answered", Bounds()
LATE_MS = 5 + deadlines.answer_heard(CALM)
Told = tuple[int, str, Any]

NAMED = (0, B, BrokerStarted(B, NAME, 0))
ASYNC = (0, B, StoreLoaded(B, 0, 0, "ASYNC_FLUSH"))
SYNC = (0, B, StoreLoaded(B, 0, 0, "SYNC_FLUSH"))
ASYNC_COPIED = (0, B, StoreLoaded(B, 0, 0, "ASYNC_FLUSH", broker_role="SYNC_MASTER"))
SYNC_COPIED = (0, B, StoreLoaded(B, 0, 0, "SYNC_FLUSH", broker_role="SYNC_MASTER"))


def sends(ms: int = 1, key: str = "k", to: str = NAME, attempt: int = 1, *, oneway: bool = False) -> Told:
    """A producer sends a message, or a batch."""
    return ms, P, SendAttempted(f"{P}@1", "P", key, attempt, MessageQueue("orders", to, 0), oneway=oneway)


def put(ms: int = 5, key: str | None = "k", at: str = B, *, waits: bool = True) -> Told:
    """A broker has a record that ends at 300."""
    return ms, at, MessageAppended(at, "orders", 0, 0, 200, 100, key, waits)


def forced(ms: int = 5, offset: int = 300, at: str = B) -> Told:
    """A round of a broker has forced its log."""
    return ms, at, GroupCommitted(at, offset)


def copied(ms: int = 5, offset: int = 300, at: str = B) -> Told:
    """A slave has the log up to there."""
    return ms, at, ReplicaReported(at, "slave", offset, offset)


def answered(ms: int = LATE_MS, key: str = "k", broker: str = B, to: str = P) -> Told:
    """A producer is answered."""
    return ms, to, SendAnswered(broker, "orders", 0, 0, 200, key, 0)


def fails(ms: int = 6, key: str = "k") -> Told:
    """It is told of a failure."""
    return ms, P, SendFailed(f"{P}@1", "P", key, "orders", -1, 1, 1, 3_000, 3_000)


def told(ms: int = 6, key: str = "k") -> Told:
    """Its application is told something."""
    return ms, P, SendTold("P", key, "SLAVE_NOT_AVAILABLE")


SENT = (NAMED, ASYNC, sends(), put())
SAFE = (NAMED, SYNC, sends(), put(), forced(), forced())

HISTORIES = (
    Written(RULE, SENT, (*SENT, answered()), bounds=CALM, says="broker-a-1 has stored k of producer1 as safely"),
    # Another one, from another one, or to another one.
    *(Written(RULE, (*SENT, other), (*SENT, answered()), bounds=CALM) for other in (
        answered(6, "k2"), answered(6, broker=OTHER), answered(6, to=C2))),
    # Nobody waits.
    *(Written(RULE, SENT, (NAMED, ASYNC, *kept), bounds=CALM) for kept in (
        (put(),), (sends(oneway=True), put()), (sends(key="k2"), put()), (sends(to="broker-b"), put()),
        (sends(), (2, P, ProcessKilled(1, power_loss=False)), put()),
        (sends(), put(key=None)), (sends(), put(at=OTHER)), (sends(), answered(2), put()), (sends(), fails(2), put()))),
    *(Written(RULE, (NAMED, ASYNC, sends(), other, put()), (NAMED, ASYNC, sends(), answered(2), put()), bounds=CALM)
      for other in (answered(2, "k2"), answered(2, broker=OTHER), answered(2, to=C2))),
    Written(RULE, (NAMED, ASYNC, sends(), sends(2, attempt=2), put()),
            (NAMED, ASYNC, sends(), put(), sends(6, to="broker-b", attempt=2)), bounds=CALM),
    # A batch is answered for all its messages at once.
    Written(RULE, (NAMED, ASYNC, sends(key="k1,k"), put()), (NAMED, ASYNC, sends(key="k,k1"), put()), bounds=CALM),
    Written(RULE, (NAMED, ASYNC, sends(key="k1,k"), put(), fails(key="k2")),
            (NAMED, ASYNC, sends(key="k1,k"), put(), fails(key="k1,k")), bounds=CALM),
    # The last attempt has no time left, and the application is told of an earlier one.
    *(Written(RULE, (*SENT, told(key="k2")), (NAMED, ASYNC, *kept), bounds=CALM)
      for kept in ((sends(), told(2), put()), (sends(), put(), told()))),
    Written(RULE, (NAMED, SYNC, sends(), put(waits=False)), (NAMED, SYNC, sends(), put(), put(waits=False)),
            bounds=CALM),
    # What is to be forced is answered by the round that begins behind the put.
    *(Written(RULE, SAFE, (NAMED, SYNC, *kept), bounds=CALM) for kept in (
        (sends(), put()), (sends(), put(), forced()), (sends(), put(), forced(), forced(offset=299)),
        (sends(), put(), forced(), forced(at=OTHER)), (sends(), put(), forced(), copied()),
        (sends(), forced(), put(), forced()))),
    Written(RULE, (NAMED, SYNC, sends(), put(waits=False)), (*SAFE[:4], forced()), bounds=CALM),
    Written(RULE, SAFE, (*SAFE, answered()), bounds=CALM),
    Written(RULE, (NAMED, ASYNC_COPIED, sends(), put(), copied()),
            (NAMED, ASYNC_COPIED, sends(), put(), forced(), forced()), bounds=CALM),
    Written(RULE, (NAMED, SYNC_COPIED, sends(), put(), forced(), copied(), forced()),
            (NAMED, SYNC_COPIED, sends(), put(), forced(), forced()), bounds=CALM),
    Written(RULE, (NAMED, SYNC_COPIED, sends(), put(), forced(), copied(), forced()),
            (NAMED, SYNC_COPIED, sends(), put(), forced(), copied(), copied()), bounds=CALM),
    Written(RULE, (NAMED, SYNC_COPIED, sends(), put(), forced(), copied(), forced()),
            (NAMED, SYNC_COPIED, sends(), put(), forced(), fails(), copied(), forced()), bounds=CALM),
    Written(RULE, (NAMED, SYNC_COPIED, sends(), put(), forced(), forced(), forced(), copied()), bounds=CALM),
    # Who ends, or whose broker ends, hears no answer, whether the message is safe or not.
    *(Written(RULE, (*SAFE[:4], broken, *SAFE[4:]), (*SAFE[:4], kept, *SAFE[4:]), bounds=CALM) for broken, kept in (
        (answered(5, "k2"), answered(5)),
        ((5, OTHER, BrokerStopping(OTHER)), (5, B, BrokerStopping(B))),
        ((5, C2, ProducerShutDown(f"{C2}@1", "P")), (5, P, ProducerShutDown(f"{P}@1", "P"))),
        ((5, C2, ConsumerShutDown(f"{C2}@1", "P")), (5, P, ConsumerShutDown(f"{P}@1", "P"))),
        ((5, C2, ProcessKilled(1, power_loss=False)), (5, P, ProcessKilled(1, power_loss=False))))),
    # Who has ended, who stands still, and what may not pass.
    *(Written(RULE, (*SENT, broken), (*SENT, kept), bounds=CALM) for broken, kept in (
        ((6, OTHER, BrokerStopping(OTHER)), (6, B, BrokerStopping(B))),
        ((6, C2, ProducerShutDown(f"{C2}@1", "P")), (6, P, ProducerShutDown(f"{P}@1", "P"))),
        ((6, C2, ConsumerShutDown(f"{C2}@1", "P")), (6, P, ConsumerShutDown(f"{P}@1", "P"))),
        ((6, C2, ProcessKilled(1, power_loss=False)), (6, P, ProcessKilled(1, power_loss=False))),
        ((6, OTHER, ProcessKilled(1, power_loss=False)), (6, B, ProcessKilled(1, power_loss=False))),
        ((6, C2, ProcessPaused(9_000)), (6, P, ProcessPaused(9_000))))),
    *(Written(RULE, SENT, (*SENT, (6, OTHER, what)), bounds=CALM) for what in (
        ConnectionSevered("x", None), PartitionBegan("x"))),
)
