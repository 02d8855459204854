"""Written histories of transactions: what listeners say, and what brokers hear."""

from __future__ import annotations

from typing import Any

import invariants.rules.transactions  # noqa: F401  # declares the rules
from impl.events import (
    BrokerStopping,
    ConnectionMade,
    EndTransactionTaken,
    HalfMessageEnded,
    MessageAppended,
    ProcessKilled,
    SendAnswered,
    SendAsked,
    SendTold,
    TransactionAnswered,
    TransactionAsked,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from stateful_tests.rules.written import Tables, Written

A, B, P, G = "broker-a", "broker-b", "producer1", "P"
HALF, DELAYED = "RMQ_SYS_TRANS_HALF_TOPIC", "SCHEDULE_TOPIC_XXXX"
COMMIT, ROLLBACK, UNKNOW = "COMMIT_MESSAGE", "ROLLBACK_MESSAGE", "UNKNOW"
Told = tuple[int, str, Any]


def says(answer: str, *, checked: bool = False) -> Told:
    """The listener answers."""
    return 3, P, TransactionAnswered(G, "k", checked, answer)


def ends(state: str, *, checked: bool = False, offset: int = 4) -> Told:
    """A broker is told."""
    return 5, A, EndTransactionTaken(A, G, "k", state, checked, offset, 100 * offset)


def put(topic: str = HALF, offset: int = 4, at: str = A) -> Told:
    """A broker has the message."""
    return 1, at, MessageAppended(at, topic, 0, offset, 100 * offset, 100, "k")


def asked(*, half: bool, group: str = G) -> Told:
    """The application sends."""
    return 0, P, SendAsked(group, "k", "orders", 3, 3_000, (7,), half=half)


def answered(code: int = 0) -> Told:
    """The broker has answered the send."""
    return 2, P, SendAnswered(A, "orders", 0, 4, 400, "k", code)


def told(transaction: str, status: str = "SEND_OK") -> Told:
    """The application is told what became of its send."""
    return 6, P, SendTold(G, "k", status, "k", transaction=transaction)


def given(transaction_id: str | None) -> Told:
    """The listener is to do a transaction."""
    return 3, P, TransactionAsked(G, "k", False, transaction_id)


RESULT = "transaction_result_says_what_became_of_it"
DOES, CHECKS = ((3, P, TransactionAsked(G, "k", checked)) for checked in (False, True))
RULE = "transaction_ends_as_its_listener_says"

GIVEN_UP, CHECK_MAX = "given_up_can_be_found", "TRANS_CHECK_MAX_TIME_TOPIC"
ASKED_TWICE, CALM = Tables(transaction_check_max=2), Bounds()
THRICE, LAST_MS = (put(), put(), put()), deadlines.given_up_at_last(CALM)


def later(ms: int, told: Told) -> Told:
    """The same at another time."""
    return ms, *told[1:]


HEARD = "end_of_transaction_reaches_its_broker"
SAYS = (4, P, HalfMessageEnded(f"{P}@1", G, "k", COMMIT))
STOPS = (4, A, BrokerStopping(A))

HISTORIES = (
    *(Written(GIVEN_UP, THRICE, (*THRICE, ended), views=ASKED_TWICE, bounds=CALM, says="has asked 2 times about k")
      for ended in (put(CHECK_MAX), ends(COMMIT), ends(ROLLBACK, checked=True))),
    Written(GIVEN_UP, (*THRICE, ends(UNKNOW)), THRICE[1:], views=ASKED_TWICE, bounds=CALM),
    Written(GIVEN_UP, (*THRICE, put(CHECK_MAX, at=B)), (put(), put(), put(at=B)), views=ASKED_TWICE, bounds=CALM),
    Written(GIVEN_UP, (*THRICE, put(DELAYED)), (put(), put(), put(DELAYED)), views=ASKED_TWICE, bounds=CALM),
    Written(GIVEN_UP, (*THRICE, later(2 + LAST_MS, DOES), later(3 + LAST_MS, put(CHECK_MAX))),
            (*THRICE, later(1 + LAST_MS, DOES), later(2 + LAST_MS, put(CHECK_MAX))), views=ASKED_TWICE, bounds=CALM),
    Written(GIVEN_UP, THRICE, THRICE, views=ASKED_TWICE, bounds=CALM,
            kept_views=Tables(transaction_check_max=2, calm=False)),
    Written(GIVEN_UP, THRICE, THRICE, views=ASKED_TWICE, bounds=CALM, kept_views=Tables(transaction_check_max=None)),
    Written(RULE, (says(COMMIT), ends(ROLLBACK)), (says(COMMIT), ends(COMMIT)), says="and the listener says COMMIT"),
    Written(RULE, (says("NULL"), ends(COMMIT)), (says("NULL"), ends(UNKNOW)), says="listener says UNKNOW"),
    Written(RULE, (says("EXCEPTION", checked=True), ends(ROLLBACK, checked=True)),
            (says("EXCEPTION", checked=True), ends(UNKNOW, checked=True))),
    Written(RULE, (says(COMMIT, checked=True), ends(COMMIT)), (says(COMMIT, checked=True), ends(COMMIT, checked=True))),
    Written(RULE, (answered(), ends(ROLLBACK)), (answered(11), ends(ROLLBACK)), says="the listener says nothing"),
    Written(RULE, (answered(11), ends(COMMIT)), (answered(), says(COMMIT), ends(COMMIT))),
    Written(RULE, (answered(), ends(ROLLBACK, checked=True)), (ends(ROLLBACK),)),
    Written(RULE, (put(), says(COMMIT), ends(COMMIT, offset=5)), (put(), says(COMMIT), ends(COMMIT)), says="and it is"),
    Written(RULE, (put(), says(COMMIT), ends(COMMIT, offset=5)),
            (put(), put(offset=5), says(COMMIT), ends(COMMIT, offset=5))),
    Written(RULE, (put(), says(COMMIT), ends(COMMIT, offset=5)), (put(at=B), says(COMMIT), ends(COMMIT, offset=5))),
    Written(RULE, (put(), says(COMMIT), ends(COMMIT, offset=5)), (put("orders"), says(COMMIT), ends(COMMIT, offset=5))),
    Written(RESULT, (says(ROLLBACK), told(COMMIT)), (says(ROLLBACK), told(ROLLBACK)), says="k, which is ROLLBACK"),
    Written(RESULT, (says("NULL"), told(COMMIT)), (says("NULL"), told(UNKNOW)), says="k, which is UNKNOW"),
    Written(RESULT, (says("EXCEPTION"), told(ROLLBACK)), (says("EXCEPTION"), told(UNKNOW))),
    Written(RESULT, (told(COMMIT, "FLUSH_DISK_TIMEOUT"),), (told(ROLLBACK, "FLUSH_DISK_TIMEOUT"),)),
    Written(RESULT, (says(ROLLBACK), told(COMMIT)), (says(ROLLBACK, checked=True), told(COMMIT))),
    Written(RESULT, (says(ROLLBACK), told(COMMIT)), (says(ROLLBACK), told(""))),
    Written("transaction_has_the_id_of_its_message", (given(""),), (given("k"),), says="told that this is null"),
    Written("transaction_has_the_id_of_its_message", (given("j"),), (given(None),), says="told that this is j"),
    *(Written("producer_is_asked_of_its_own", (asked(half=True, group="shop%P"), is_asked),
              (asked(half=True), is_asked), says="and shop%P has sent it") for is_asked in (DOES, CHECKS)),
    Written("producer_is_asked_of_its_own", (asked(half=True, group="shop%P"), CHECKS),
            (asked(half=False, group="shop%P"), CHECKS)),
    Written("transaction_is_run_when_its_message_is_safe", (answered(11), DOES), (answered(), DOES)),
    Written("transaction_is_run_when_its_message_is_safe", (DOES,), (CHECKS,)),
    Written("half_message_is_not_delayed", (asked(half=True), put(DELAYED)), (asked(half=False), put(DELAYED))),
    Written("half_message_is_not_delayed", (asked(half=True), put(DELAYED)), (asked(half=True), put())),
    Written("half_message_is_not_delayed", (asked(half=True), put(), put(DELAYED)),
            (asked(half=True), put(), put("orders"), put(DELAYED))),
    Written(HEARD, (put(), SAYS), (put(), SAYS, ends(COMMIT)), bounds=CALM, says="no broker that has it has heard"),
    Written(HEARD, (put(), SAYS), (put(), SAYS), bounds=CALM, kept_views=Tables(calm=False)),
    *(Written(HEARD, (put(), SAYS), kept, bounds=CALM) for kept in (
        (SAYS,), (put("orders"), SAYS), (put(), STOPS, SAYS), (put(), (2, A, ProcessKilled(1, power_loss=False)), SAYS),
        (put(), SAYS, STOPS), (put(), (4, P, SAYS[2]._replace(key="j"))))),
    Written(HEARD, (put(), SAYS, (5, B, ConnectionMade(A, f"{B}:1"))),
            (put(), SAYS, (5, P, ConnectionMade(A, f"{P}:1"))), bounds=CALM),
    # A broker without it has heard it, or it is of another message; one of two that have it has heard it.
    Written(HEARD, (put(), SAYS, (5, B, ends(COMMIT)[2]._replace(broker=B))),
            (put(), put(at=B), SAYS, (5, B, ends(COMMIT)[2]._replace(broker=B))), bounds=CALM),
    Written(HEARD, (put(), SAYS, (5, A, ends(COMMIT)[2]._replace(key="j"))), (put(), SAYS, ends(ROLLBACK)),
            bounds=CALM),
)
