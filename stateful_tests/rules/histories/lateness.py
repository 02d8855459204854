"""Written histories of what is done at once, and of what comes too late."""

from __future__ import annotations

from typing import Any

import invariants.rules.lateness  # noqa: F401  # declares the rules
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC, RMQ_SYS_TRANS_HALF_TOPIC
from impl.events import (
    BrokerStarted,
    BrokerStopping,
    LogCopied,
    MessageAppended,
    MessageDispatched,
    ProcessKilled,
    ProducerForgotten,
    ProducerRegistered,
    ProducerShutDown,
    ReplicaAnswered,
    ReplicaReported,
    SendAnswered,
    SlaveConnected,
    SlaveDisconnected,
    StoreLoaded,
    TransactionAsked,
)
from stateful_tests.rules.written import Tables, Written

M, M2, S, S2, P = "broker-a-1", "broker-b-1", "broker-a-s", "broker-a-t", "producer1"
ANSWERS, COPIES, WAITS = "put_is_answered_at_once", "put_is_copied_at_once", "slave_is_waited_for_no_longer"
DELIVERS, CHECKS = "delayed_message_comes_at_once", "checks_have_their_interval"
STORM = Tables(calm=False)
Told = tuple[int, str, Any]

NAMED = tuple((0, at, BrokerStarted(at, name, number)) for at, name, number in (
    (M, "broker-a", 0), (S, "broker-a", 1), (S2, "broker-a", 2), (M2, "broker-b", 0)))
DIES = ProcessKilled(1, power_loss=False)


def put(ms: int, offset: int = 100, topic: str = "orders", at: str = M, key: str = "k", queue_id: int = 0) -> Told:
    """A broker has a record of 100 bytes."""
    return ms, at, MessageAppended(at, topic, queue_id, 0, offset, 100, key, True)


def answered(ms: int, broker: str = M, offset: int = 100) -> Told:
    """A producer is answered."""
    return ms, P, SendAnswered(broker, "orders", 0, 0, offset, "k", 0)


def loaded(role: str, at: str = M) -> Told:
    """A broker comes up."""
    return 0, at, StoreLoaded(at, 0, 0, "SYNC_FLUSH", broker_role=role)


def reported(ms: int = 1, slave: str = S) -> Told:
    """A slave says where its log ends."""
    return ms, M, ReplicaReported(M, slave, 0, 0)


def copied(ms: int, offset: int = 100, size: int = 100, at: str = S) -> Told:
    """A slave has copied bytes."""
    return ms, at, LogCopied(at, offset, 5, size)


def replicated(ms: int, end: int = 200, at: str = M, status: str = "FLUSH_SLAVE_TIMEOUT") -> Told:
    """Who waits for a slave is answered."""
    return ms, at, ReplicaAnswered(at, end, status)


def put_off(ms: int = 0, level: int = 1, at: str = M, key: str = "k") -> Told:
    """A message waits for its delay."""
    return put(ms, topic=RMQ_SYS_SCHEDULE_TOPIC, at=at, key=key, queue_id=level - 1)


def dispatched(ms: int = 1, at: str = M, offset: int = 100, topic: str = RMQ_SYS_SCHEDULE_TOPIC) -> Told:
    """A message is in its queue."""
    return ms, at, MessageDispatched(at, topic, 0, 0, offset, True)


def half(ms: int = 1, at: str = M, key: str = "k") -> Told:
    """A half message is put."""
    return put(ms, topic=RMQ_SYS_TRANS_HALF_TOPIC, at=at, key=key)


def asked(ms: int, key: str = "k", group: str = "P", *, checked: bool = True) -> Told:
    """A producer is asked what became of it."""
    return ms, P, TransactionAsked(group, key, checked)


def registered(ms: int, at: str = M, group: str = "P") -> Told:
    """A broker knows a producer."""
    return ms, at, ProducerRegistered(at, group, "p@1", "p:1")


def forgotten(ms: int, group: str = "P") -> Told:
    """A broker has lost the connection of a producer."""
    return ms, M, ProducerForgotten(M, group, "p@1", "p:1")


EVERY_10_S, NO_BROKER = Tables(transaction_check_interval_ms=lambda _: 10_000), Tables(
    transaction_check_interval_ms=lambda _: None)
PUT_OFF = put_off(), dispatched()
FROM, OLD_MS = (*NAMED, reported()), 1 + 6_000 + 20_000 + 300
ASKED_TWICE = half(), asked(9_000), asked(18_699)

HISTORIES = (
    Written(ANSWERS, (put(1), answered(302)), (put(1), answered(301)), says="answers producer1 301 ms after"),
    Written(ANSWERS, (put(1), answered(302)), (put(1), answered(302)), kept_views=STORM),
    *(Written(ANSWERS, (put(1), answered(302)), (put(1), kept)) for kept in (
        answered(302, M2), answered(302, offset=200))),
    Written(ANSWERS, (put(1), answered(302)), (put(1), (2, M, DIES), answered(302))),
    Written(ANSWERS, (put(1), (2, M2, DIES), answered(302)), (put(1), put(2), answered(302))),
    *(Written(ANSWERS, (broken, put(1), answered(302)), (loaded("SYNC_MASTER"), put(1), answered(302)))
      for broken in (loaded("ASYNC_MASTER"), loaded("SYNC_MASTER", M2))),
    # A slave that has reported is sent what is put; of two frames each is looked at.
    Written(COPIES, (*FROM, put(2), copied(303)), (*FROM, put(2), copied(302)), says="broker-a-s has a message 301 ms"),
    Written(COPIES, (*FROM, put(2), copied(303)), (*FROM, put(2), copied(303)), kept_views=STORM),
    Written(COPIES, (*FROM, put(2), copied(303)), (*NAMED, put(1), reported(), copied(303))),
    Written(COPIES, (*FROM, put(2), copied(303)), (*NAMED, reported(slave=S2), put(2), copied(303))),
    Written(COPIES, (*FROM, put(2), copied(303)), (*FROM, put(2, at=M2), copied(303))),
    *(Written(COPIES, (*FROM, put(2), copied(303, *broken)), (*FROM, put(2), copied(303, *kept)))
      for broken, kept in (((100, 100), (200, 100)), ((199, 1), (199, 0)), ((100, 100), (0, 199)))),
    Written(COPIES, (*FROM, put(2), reported(3), copied(303)),
            (*FROM, (1, M, SlaveDisconnected(M, S)), put(2), reported(3), copied(303))),
    *(Written(COPIES, (*FROM, (1, M, SlaveConnected(M, slave)), put(2), reported(3), copied(303)),
              (*FROM, (1, M, SlaveConnected(M, S)), put(2), reported(3), copied(303))) for slave in (S2, "other")),
    Written(COPIES, (*FROM, (1, M, SlaveDisconnected(M, S2)), put(2), reported(3), copied(303)),
            (*FROM, put(2), copied(302), put(400, 200), copied(700, 200))),
    Written(COPIES, (*FROM, put(2), put(10_002, 300), copied(10_003)),
            (*FROM, put(2), put(10_003, 300), copied(10_003))),
    # Three seconds, a round, and what takes no time.
    Written(WAITS, (put(1), replicated(4_302)), (put(1), replicated(4_301)), says="has waited 4301 ms for a slave"),
    Written(WAITS, (put(1), replicated(4_302)), (put(1), replicated(4_302)), kept_views=STORM),
    *(Written(WAITS, (put(1), replicated(4_302)), (put(1), kept)) for kept in (
        replicated(4_302, 199), replicated(4_302, at=M2))),
    Written(WAITS, (put(1), (2, M2, DIES), replicated(4_302, status="PUT_OK")),
            (put(1), (2, M, DIES), replicated(4_302))),
    # A delay of a second, and the time of a look; its unit may come later.
    Written(DELIVERS, (*PUT_OFF, put(1_301)), (*PUT_OFF, put(1_300)), says="has delivered k of delay level 1 301 ms"),
    Written(DELIVERS, (*PUT_OFF, put(1_301)), (*PUT_OFF, put(1_301)), kept_views=STORM),
    Written(DELIVERS, (put_off(level=2), dispatched(), put(5_301)), (put_off(level=2), dispatched(), put(5_300)),
            says="of delay level 2 301 ms late"),
    Written(DELIVERS, (put_off(), dispatched(1_500), put(1_801)), (put_off(), dispatched(1_500), put(1_800))),
    *(Written(DELIVERS, (*PUT_OFF, put(1_301)), (put_off(), other, put(1_301))) for other in (
        dispatched(at=M2), dispatched(offset=200), dispatched(topic="orders"), dispatched(1_001))),
    *(Written(DELIVERS, (*PUT_OFF, put(1_301)), (*PUT_OFF, kept)) for kept in (
        put(1_301, at=M2), put(1_301, key="k2"), put_off(1_301))),
    Written(DELIVERS, (*PUT_OFF, (2, M2, DIES), put(1_301)), (*PUT_OFF, (2, M, DIES), put(1_301))),
    Written(DELIVERS, (*PUT_OFF, put(1_301)), (*PUT_OFF, put(1_300), put(1_301))),
    # An interval lies between two questions, and the first is asked in the second one.
    Written(CHECKS, ASKED_TWICE, (*ASKED_TWICE[:2], asked(18_700)), views=EVERY_10_S, kept_views=EVERY_10_S,
            says="broker-a-1 asks about k again after 9699 ms, and is to do so every 10000 ms"),
    Written(CHECKS, ASKED_TWICE, ASKED_TWICE, views=EVERY_10_S, kept_views=NO_BROKER),
    Written(CHECKS, ASKED_TWICE, ASKED_TWICE, views=EVERY_10_S, kept_views=Tables(
        calm=False, transaction_check_interval_ms=lambda _: 10_000)),
    *(Written(CHECKS, ASKED_TWICE, (*ASKED_TWICE[:2], kept), views=EVERY_10_S, kept_views=EVERY_10_S)
      for kept in (asked(18_699, "k2"), asked(18_699, group="Q"), asked(18_699, checked=False))),
    Written(CHECKS, (half(), half(5), asked(9_000), asked(18_699)), (half(), half(5, M2), *ASKED_TWICE[1:]),
            views=EVERY_10_S, kept_views=EVERY_10_S),
    Written(CHECKS, ASKED_TWICE, (half(key="k2"), *ASKED_TWICE[1:]), views=EVERY_10_S, kept_views=EVERY_10_S),
    Written(CHECKS, ASKED_TWICE, (put(1), *ASKED_TWICE[1:]), views=EVERY_10_S, kept_views=EVERY_10_S),
    Written(CHECKS, (half(), asked(OLD_MS + 1)), (half(), asked(OLD_MS)), views=EVERY_10_S, kept_views=EVERY_10_S,
            says="broker-a-1 asks about k for the first time 26301 ms after its put"),
    Written(CHECKS, (half(), half(500), asked(OLD_MS + 1)), (half(), asked(9_000), asked(50_000)), views=EVERY_10_S,
            kept_views=EVERY_10_S),
    # A broker that has begun anew knows no producer before a heartbeat, nor does who has lost the connection.
    *(Written(CHECKS, (half(), *known, asked(OLD_MS + 101)), (half(), *known, asked(OLD_MS + 100)), views=EVERY_10_S,
              kept_views=EVERY_10_S) for known in (
        (registered(101), registered(9_000)), (registered(0), forgotten(50), registered(101)))),
    Written(CHECKS, (registered(0), (0, M, DIES), half(), registered(101), asked(OLD_MS + 101)),
            (registered(0), (0, M, DIES), half(), registered(101), asked(OLD_MS + 100)), views=EVERY_10_S,
            kept_views=EVERY_10_S),
    Written(CHECKS, (registered(0), half(101), asked(OLD_MS + 101)), (registered(0), half(101), asked(OLD_MS + 100)),
            views=EVERY_10_S, kept_views=EVERY_10_S),
    *(Written(CHECKS, (half(), registered(101, *other), asked(OLD_MS + 100)),
              (half(), registered(101), asked(OLD_MS + 100)), views=EVERY_10_S, kept_views=EVERY_10_S)
      for other in ((M2,), (M, "Q"))),
    Written(CHECKS, (registered(0), half(100), forgotten(101, "Q"), registered(102), asked(OLD_MS + 100)),
            (registered(0), half(100), forgotten(101), registered(102), asked(OLD_MS + 100)), views=EVERY_10_S,
            kept_views=EVERY_10_S),
    *(Written(CHECKS, ((0, at, what), half(), asked(OLD_MS + 1)), (half(), (1, at, what), asked(OLD_MS + 1)),
              views=EVERY_10_S, kept_views=EVERY_10_S) for at, what in (
        (M2, DIES), (M2, BrokerStopping(M2)), (P, ProducerShutDown("p@1", "Q")))),
)
