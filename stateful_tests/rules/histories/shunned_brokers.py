"""Written histories of producers that are aware of latency."""

from __future__ import annotations

from typing import Any

import invariants.rules.shunned_brokers  # noqa: F401  # declares the rules
from impl.decisions.message_queue import MessageQueue
from impl.events import ProducerStarted, SendAnswered, SendAsked, SendAttempted, SendFailed, SendTold
from invariants.rules.bounds import Bounds
from stateful_tests.rules.written import Tables, Written

P, ID, G, A, B = "producer1", "producer1@1", "P", "broker-a", "broker-b"
QUEUES = frozenset(MessageQueue("orders", broker, 0) for broker in (A, B))
AWARE = (0, P, ProducerStarted(ID, G, send_latency_fault_enable=True))
CALM, PAUSING = Bounds(), Bounds(thread_pause_ms=40_000)
Told = tuple[int, str, Any]


def asked(ms: int, key: str = "k", *, later: bool = False) -> Told:
    """The application sends."""
    return ms, P, SendAsked(G, key, "orders", 3, 3_000, (7,), later)


def tried(ms: int, broker: str = A, key: str = "k", attempt: int = 1, listed: frozenset[MessageQueue] = QUEUES) -> Told:
    """The producer sends."""
    return ms, P, SendAttempted(ID, G, key, attempt, MessageQueue("orders", broker, 0), listed)


def answered(ms: int, key: str = "k", code: int = 0) -> Told:
    """A broker has answered."""
    return ms, P, SendAnswered(A, "orders", 0, 0, 0, key, code)


def failed(ms: int, key: str = "k", attempts: int = 1) -> Told:
    """The send has failed."""
    return ms, P, SendFailed(ID, G, key, "orders", -1, attempts, 3, 5, 3_000)


def told(ms: int, key: str = "k") -> Told:
    """The application is told nothing."""
    return ms, P, SendTold(G, key)


def sends(ms: int, broker: str, takes_ms: int, key: str, *, later: bool = False) -> tuple[Told, ...]:
    """A whole send."""
    return asked(ms, key, later=later), tried(ms, broker, key), answered(ms + takes_ms, key)


def again(ms: int, broker: str = A) -> tuple[Told, ...]:
    """Another send."""
    return asked(ms, "n"), tried(ms, broker, "n")


def later(ms: int, *records: Told) -> tuple[Told, ...]:
    """The same, so much later."""
    return tuple((ms + own_ms, at, event) for own_ms, at, event in records)


SLOW = (AWARE, *sends(10, A, 600, "k"))
FAILS = (AWARE, asked(10), tried(10), failed(20))
LATER = (AWARE, asked(10, later=True), tried(10), failed(20))
BOTH = (*FAILS, *sends(30, B, 600, "l"))
TURNS = tuple(one for number in range(50) for one in (asked(number, f"k{number}"), tried(number, A, f"k{number}")))
ONE = frozenset({MessageQueue("orders", B, 0)})
RULE, OTHER, BACK = "slow_broker_is_shunned", "available_queues_take_turns", "only_slow_brokers_are_shunned"
ENDS = "shunning_ends"


def shuns(ms: int) -> Tables:
    """For how long the producer shuns a broker."""
    return Tables(shunned_ms=lambda machine: {B: ms} if machine == P else {})


WAITS = (*SLOW, asked(700, "l"), tried(700, B, "l"))
"""And the broker that it is to send to has not answered it yet, for which it waits 3 s."""

HISTORIES = (
    *(Written(RULE, broken=broken, kept=(*WAITS, *again(3_700)), bounds=CALM, says="not to broker-b") for broken in (
        (*WAITS, *again(3_699)), (*SLOW, *sends(700, B, 5, "l"), *again(3_700)),
        (*SLOW, asked(700, "l"), tried(700, "broker-c", "l", listed=ONE), *again(3_700)))),
    Written(RULE, (*SLOW, *again(30_609)), (*SLOW, *again(30_610)), bounds=CALM, causes=(), says="1 ms more, and not"),
    Written(RULE, (*SLOW, *again(700)), (*SLOW, *again(700, B)), bounds=CALM),
    Written(RULE, (*SLOW, *again(700)), (AWARE, *sends(10, A, 500, "k"), *again(700)), bounds=CALM),
    Written(RULE, (*SLOW, *again(700)), (*SLOW[1:], *again(700)), bounds=CALM),
    Written(RULE, (*SLOW, *again(700)), (*SLOW, asked(600, "n"), tried(700, A, "n")), bounds=CALM),
    Written(RULE, (*SLOW, *again(700)), (*SLOW, tried(700, A, "n")), bounds=CALM),
    Written(RULE, (*SLOW, *again(700)), (*SLOW, asked(700, "n"), tried(700, A, "n", listed=frozenset())), bounds=CALM),
    Written(RULE, (*SLOW, *again(700)), (AWARE, *sends(10, A, 600, "k", later=True), *again(700)), bounds=CALM),
    Written(RULE, (*FAILS, *again(600_019)), (*FAILS, *again(600_020)), bounds=CALM, causes=()),
    # What changes in the millisecond of a send, or is over then.
    Written(RULE, (AWARE, *sends(10, A, 550, "k"), *again(700)), (*SLOW, asked(610, "n"), tried(700, A, "n")),
            bounds=CALM),
    Written(RULE, (AWARE, *sends(10, A, 1_000, "k"), *sends(1_100, B, 600, "l"), *again(31_700)),
            (*SLOW, *sends(690, B, 10, "l"), *again(700)), bounds=CALM),
    Written(RULE, (AWARE, asked(10), tried(10), failed(710), *sends(720, B, 600, "l"), *again(1_400)),
            (AWARE, asked(10), tried(10), asked(600, "n"), answered(610), tried(610, A, "n")), bounds=CALM),
    *(Written(RULE, (*FAILS, *again(30)), (AWARE, *kept), bounds=CALM) for kept in (
        (*sends(10, B, 600, "l"), asked(700), tried(700), failed(720), *again(720, B)),
        (*sends(10, A, 560, "k"), *sends(700, B, 1_000, "l"), asked(30_569, "n"), tried(30_570, B, "n")),
        (*sends(5, A, 5, "l"), *FAILS[1:], *again(30)), (*FAILS[1:], told(25, "m")),
        (*FAILS[1:], asked(30, "l"), tried(30, B, "l"), told(700, "l"), *again(800)),
        (*sends(10, A, 10, "k"), failed(30), *again(40)))),
    # Nobody was asked: that says nothing of a broker.
    Written(RULE, (*FAILS, failed(25, "m", attempts=0), *again(30)), (*FAILS, *again(30, B)), bounds=CALM),
    Written(RULE, (*LATER, *again(30)), (*LATER, *again(30, B)), bounds=CALM, causes=("P15",)),
    Written(RULE, (*FAILS, *again(30)), (AWARE, asked(10), tried(10), failed(20, attempts=2), *again(30)), bounds=CALM),
    Written(RULE, (*FAILS, *again(30)), (
        AWARE, asked(5, "l"), tried(5, A, "l"), *FAILS[1:], answered(25, "l"), *again(30)), bounds=CALM),
    Written(RULE, (AWARE, asked(10), tried(10), answered(20, code=1), *again(30)),
            (AWARE, asked(10), tried(10), answered(20), *again(30)), bounds=CALM),
    Written(RULE, (AWARE, asked(10), tried(10), tried(20, A, attempt=2)),
            (AWARE, asked(10), tried(10), tried(20, B, attempt=2)), bounds=CALM),
    Written(RULE, (AWARE, asked(10), tried(10), tried(20, A, attempt=2)),
            (AWARE, asked(10), tried(20, A, attempt=2)), bounds=CALM),
    Written(RULE, (AWARE, asked(10), tried(10), tried(20, B, attempt=2), *again(30)),
            (AWARE, asked(10), tried(10), told(20), *again(30)), bounds=CALM),
    Written(RULE, (AWARE, asked(5, "l"), asked(10), tried(10), tried(20, B, attempt=2), *again(30)),
            (AWARE, asked(5, "l"), tried(5, A, "l"), asked(10), tried(10), answered(15, "l"), tried(20, B, attempt=2),
             *again(30)), bounds=CALM),
    # It shuns all that are listed, and may have picked one that is not.
    Written(RULE, (*FAILS, *sends(30, B, 10, "l"), asked(50, "m"), tried(50, B, "m", listed=ONE), *again(90)),
            (*FAILS, *sends(30, B, 600, "l"), asked(700, "m"), tried(700, B, "m", listed=ONE), *again(40_000)),
            bounds=CALM),
    Written(RULE, (*BOTH, *again(700, B)), (*BOTH, *again(700)), bounds=CALM, says="others were less so"),
    Written(RULE, (*BOTH, *again(700, B)), (*FAILS, *sends(30, B, 10, "l"), *again(700, B)), bounds=CALM),
    Written(OTHER, (AWARE, *TURNS), (AWARE, *TURNS[:-2], asked(60, "n"), tried(60, B, "n")), bounds=CALM, causes=(),
            says="sent 50 messages, and none to queue 0 of orders at broker-b"),
    Written(OTHER, (AWARE, *TURNS), TURNS, bounds=CALM),
    Written(OTHER, (AWARE, *TURNS), (*SLOW, *later(700, *TURNS)), bounds=CALM),
    Written(OTHER, (AWARE, *TURNS), (AWARE, *TURNS[:-1], tried(49, A, "k49", 2)), bounds=CALM),
    Written(OTHER, (AWARE, *TURNS), (AWARE, *TURNS[2:], asked(60, "n"), tried(60, A, "n", listed=QUEUES | {
        MessageQueue("orders", B, 1)})), bounds=CALM),
    # What is to be shunned counts from when its time is over; half of the queues are the other broker's.
    Written(BACK, (AWARE, *TURNS), (AWARE, *TURNS[:-2], *again(60, B)), bounds=CALM, causes=(),
            says="producer1 has sent nothing to broker-b while others got what 25 turns"),
    Written(BACK, (AWARE, *TURNS), TURNS, bounds=CALM),
    Written(BACK, (AWARE, *sends(10, B, 600, "k"), *later(30_610, *TURNS)),
            (AWARE, *sends(10, B, 600, "k"), *later(30_609, *TURNS)), bounds=CALM),
    Written(BACK, (AWARE, *sends(10, B, 600, "k"), *later(70_610, *TURNS)),
            (AWARE, *sends(10, B, 600, "k"), *later(70_609, *TURNS)), bounds=PAUSING),
    Written(BACK, (AWARE, *TURNS), (AWARE, *TURNS[:-1], tried(49, A, "k49", 2)), bounds=CALM),
    Written(BACK, (AWARE, *TURNS, *later(100, *TURNS[:-2])), (AWARE, *TURNS[:60], *again(70, B), *TURNS[40:]),
            bounds=CALM),
    Written(ENDS, (tried(1),), (tried(1),), views=shuns(600_001), kept_views=shuns(600_000), says="for 600001 ms more"),
    Written(ENDS, (told(1),), ((1, B, told(1)[2]),), views=shuns(600_001)),
)
