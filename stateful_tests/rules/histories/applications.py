"""Written histories of applications: what they send, what they are told of it, and what others are given."""

from __future__ import annotations

from typing import Any

import invariants.rules.applications  # noqa: F401  # declares the rules
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import CLIENT_INNER_PRODUCER_GROUP
from impl.events import (
    BrokerStarted,
    ClockJumped,
    MessageAppended,
    MessagesGiven,
    MessagesPolled,
    ProducerStarted,
    PublishInfoUpdated,
    RequestTold,
    SendAnswered,
    SendAsked,
    SendAttempted,
    SendTold,
    TransactionAsked,
)
from invariants.rules.bounds import Bounds
from stateful_tests.rules.written import Written

P, ID, C, G, A = "producer1", "producer1@1", "c1", "P", "broker-a"
QUEUES = tuple(MessageQueue("orders", A, queue_id) for queue_id in range(2))
CALM, PLACES = Bounds(), "result_names_each_place"
Told = tuple[int, str, Any]


def asked(ms: int, key: str = "k", *contents: int, attempts: int = 3, later: bool = False) -> Told:
    """The application sends."""
    return ms, P, SendAsked(G, key, "orders", attempts, 3_000, contents or (7,), later)


def set_by(by_ms: int, at: str = P) -> Told:
    """The clock of a machine is set by so much."""
    return 11, at, ClockJumped(by_ms)


def told(ms: int, status: str = "", key: str = "k", offset: int = 4, **more: Any) -> Told:
    """It is told what became of that."""
    event = SendTold(G, key, status, key, QUEUES[0], offset) if status else SendTold(G, key)
    return ms, P, event._replace(**more)


def shown(content: int | None, key: str = "k") -> Told:
    """Who has sent it is asked what became of its transaction."""
    return 5, P, TransactionAsked(G, key, True, None, content)


def given(content: int, key: str = "k") -> Told:
    """A listener is given a message."""
    return 5, C, MessagesGiven("G", QUEUES[0], (4,), (key,), (0,), 16, False, (content,))


def wants(now_ms: int, key: str = "k", *, later: bool = False) -> Told:
    """The application sends, when its clock says this."""
    ms, at, event = asked(1, key, *range(len(key.split(","))), later=later)
    return ms, at, event._replace(now_ms=now_ms)


def born(born_ms: int, attempts: int = 0, key: str = "k") -> Told:
    """A listener is given a message that says when it was sent."""
    ms, at, event = given(7, key)
    return ms, at, event._replace(born_ms=(born_ms,), attempts=(attempts,))


def tries(ms: int, key: str = "k", *, group: str = G) -> Told:
    """A request is about to be sent that names the message."""
    return ms, P, SendAttempted(ID, group, key, 1, QUEUES[0])


def names(*log_offsets: int, key: str = "k") -> Told:
    """The application is told where the log has its messages."""
    return told(4, "SEND_OK", key, offset_msg_id=",".join(f"0A2E14010000{10911:04X}{one:016X}" for one in log_offsets))


def replied(replied_to: str) -> Told:
    """The application is told of a request."""
    return 5, P, RequestTold(G, "k", replied_to)


def polled(content: int, *, keys: tuple[str, ...] = ("k",)) -> Told:
    """An application polls it."""
    return 5, C, MessagesPolled("G", QUEUES[0], (4,), keys, (content,))


def tried(attempt: int = 1, mq: MessageQueue = QUEUES[0], key: str = "k", **more: Any) -> Told:
    """The producer sends it."""
    return 2, P, SendAttempted(ID, G, key, attempt, mq, **{"listed": frozenset(QUEUES), **more})


def answered(code: int, key: str = "k") -> Told:
    """A broker has answered."""
    return 3, P, SendAnswered(A, "orders", 0, 4, 0, key, code)


def appended(offset: int = 4, topic: str = "orders", key: str = "k", at: str = A) -> Told:
    """A broker has put it."""
    return 2, at, MessageAppended(at, topic, 0, offset, 100 * offset, 100, key)


def at(ms: int) -> Told:
    """Time passes."""
    return ms, A, BrokerStarted(A, A, 0)


HALF = appended(topic="RMQ_SYS_TRANS_HALF_TOPIC")
LISTED = (0, P, PublishInfoUpdated(ID, G, "orders", QUEUES))
NOTHING_LISTED = (0, P, PublishInfoUpdated(ID, G, "orders", ()))
MANY = (tried(),) * 50
AWARE = (0, P, ProducerStarted(ID, G, send_latency_fault_enable=True))
COPY = (5, C, born(104)[2]._replace(mq=MessageQueue("%RETRY%G", A, 0)))
PLAIN = (0, P, ProducerStarted(ID, G))
NAMED = (0, A, BrokerStarted(A, A, 0))
RENAMED = (0, A, BrokerStarted(A, "broker-x", 0))

HISTORIES = (
    Written("message_comes_as_it_was_sent", (asked(1), given(8)), (asked(1), given(7)), says="not what was sent"),
    Written("message_comes_as_it_was_sent", (asked(1), polled(8)), (asked(1), polled(7), given(8, "other"))),
    Written("message_comes_as_it_was_sent", (asked(1, "j,k", 6, 7), given(6)), (asked(1, "j,k", 6, 7), given(6, "j"))),
    Written("message_comes_as_it_was_sent", (asked(1), HALF, appended(5, HALF[2].topic), given(8)), causes=("T5",)),
    Written("message_comes_as_it_was_sent", (asked(1), HALF, HALF, appended(5), given(8)), causes=()),
    Written("message_comes_as_it_was_sent", (asked(1), shown(8)), (asked(1), shown(7), shown(8, "other"), shown(None)),
            says="is asked for the transaction of k, and given what was not sent"),
    Written("message_is_born_when_it_is_sent", (wants(100), born(99)), (wants(100), born(100))),
    Written("message_is_born_when_it_is_sent", (wants(100), tries(4), born(104)), (wants(100), tries(4), born(103)),
            says="k was born 4 ms after it was sent, and was tried until 3 ms after that"),
    Written("message_is_born_when_it_is_sent", (wants(100), tries(4), tries(2), born(102)),
            (wants(100), tries(2), tries(4), born(102))),
    Written("message_is_born_when_it_is_sent", (wants(100), tries(2), tries(4, group=CLIENT_INNER_PRODUCER_GROUP),
                                                born(102)), (wants(100), born(104))),
    Written("message_is_born_when_it_is_sent", (wants(100, "j,k"), tries(2, "j,k"), born(102)),
            (wants(100, "j,k"), tries(2, "j,k"), born(101))),
    Written("message_is_born_when_it_is_sent", (wants(100), born(99)), (asked(1), born(99), born(99, key="other"))),
    Written("message_is_born_when_it_is_sent", (wants(100, "j,k"), born(99)), (wants(100, "j,k"), born(99, 1))),
    Written("message_is_born_when_it_is_sent", (wants(100), tries(2), born(99)), (tries(2), born(99))),
    Written("message_is_born_when_it_is_sent", (wants(100), tries(4), born(104)), (wants(100), tries(4), COPY)),
    Written("message_is_left_as_it_was", (asked(1), told(4, "SEND_OK", contents=(8,))),
            (asked(1), told(4, "SEND_OK", contents=(7,)), told(5, "SEND_OK", "other", contents=(8,)), told(6))),
    Written("outcome_is_told_once", (told(4), told(5, "SEND_OK")), (told(4), told(5, key="other")), causes=()),
    Written("outcome_is_told_once", (replied(""), replied("k")), (replied(""),), causes=("P14",)),
    Written("outcome_is_told_once", (replied("k"), replied("k")), (replied("k"),), causes=()),
    Written("result_is_what_the_broker_says", (answered(10), told(4, "SEND_OK")),
            (answered(10), told(4, "FLUSH_DISK_TIMEOUT")), says="SEND_OK of k, which no broker has answered"),
    Written("result_is_what_the_broker_says", (answered(1), told(4, "SEND_OK")), (answered(1), told(4))),
    Written("result_is_what_the_broker_says", (answered(0), answered(12), told(4, "SLAVE_NOT_AVAILABLE")),
            (answered(0), answered(11), told(4, "SEND_OK"), told(4, "SLAVE_NOT_AVAILABLE"))),
    Written("result_is_what_the_broker_says", (answered(0), told(4, "SEND_OK", msg_id="j")),
            (answered(0), told(4, "SEND_OK")), says="told of j"),
    Written("result_is_what_the_broker_says", (answered(0, "j"), told(4, "SEND_OK", "j,k", msg_id="j")),
            (answered(0, "j"), told(4, "SEND_OK", "j,k"))),
    Written("result_is_what_the_broker_says", (appended(5), answered(0), told(4, "SEND_OK")),
            (appended(5), appended(), answered(0), told(4, "SEND_OK")), says="is at 4 of"),
    Written("result_is_what_the_broker_says", (appended(5), answered(0), told(4, "SEND_OK")),
            (appended(5, "SCHEDULE_TOPIC_XXXX"), answered(0), told(4, "SEND_OK"))),
    Written("result_is_what_the_broker_says", (appended(at="broker-b"), answered(0), told(4, "SEND_OK")),
            (appended(at="broker-b"), appended(), answered(0), told(4, "SEND_OK")), says="is at 4 of"),
    Written("result_is_what_the_broker_says", (RENAMED, appended(), answered(0), told(4, "SEND_OK")),
            (NAMED, RENAMED, appended(), answered(0), told(4, "SEND_OK"))),
    Written("result_is_what_the_broker_says", (appended(5), answered(0), told(4, "SEND_OK")),
            (appended(4, HALF[2].topic), appended(5), answered(0), told(4, "SEND_OK"))),
    Written(PLACES, (appended(), names(400 + 1)), (appended(), names(400)), says="told that broker-a has k at 0A"),
    Written(PLACES, (appended(), appended(5, key="j"), names(400, key="k,j")),
            (appended(), appended(5, key="j"), names(400, 500, key="k,j")), says="sent 2 messages, and is told 1 ids"),
    Written(PLACES, (appended(), appended(5, key="j"), names(400, 400, key="k,j")),
            (appended(), appended(5, key="j"), names(400, 500, key="k,j")), says="has j at"),
    Written(PLACES, (appended(at="broker-b"), names(400)), (appended(5), appended(4, HALF[2].topic), names(400))),
    Written(PLACES, (appended(), told(4, "SEND_OK", offset_msg_id="")), (appended(), told(4, "SEND_OK"))),
    Written(PLACES, (appended(), told(4, "SEND_OK", offset_msg_id=f"{400:016x}")),
            (appended(), told(4, offset_msg_id=""))),
    Written(PLACES, (appended(), told(4, "SEND_OK", offset_msg_id="0x" + 16 * "z")), (appended(), names(400))),
    Written("attempts_are_no_more_than_asked", (asked(1), tried(4)), (asked(1), tried(3), tried(4, key="other")),
            says="4 times, and is to try 3 times"),
    Written("send_is_over_in_its_time", (LISTED, asked(10)), (NOTHING_LISTED, asked(10)), bounds=CALM),
    Written("send_is_over_in_its_time", (LISTED, asked(10)), (LISTED, asked(10, later=True)), bounds=CALM),
    Written("send_is_over_in_its_time", (LISTED, asked(10), at(8_011), told(8_011)),
            (LISTED, asked(10), at(8_010), told(8_010)), bounds=CALM, says="not been told of its send of k"),
    Written("callback_comes_in_its_time", (LISTED, asked(10, later=True)), (LISTED, asked(10)), bounds=CALM),
    Written("callback_comes_in_its_time", (LISTED, asked(10, later=True), at(13_011), told(13_011)),
            (LISTED, asked(10, later=True), at(13_010), told(13_010)), bounds=CALM),
    Written("callback_comes_in_its_time", (LISTED, asked(10, later=True), set_by(-5_000), at(18_011), told(18_011)),
            (LISTED, asked(10, later=True), set_by(-5_000), at(18_010), told(18_010)), bounds=CALM),
    Written("callback_comes_in_its_time", (LISTED, asked(10, later=True), set_by(-5_000, C), at(13_011), told(13_011)),
            (LISTED, asked(10, later=True), set_by(9_000), at(13_010), told(13_010)), bounds=CALM),
    Written("send_is_over_in_its_time", (LISTED, asked(10), set_by(-5_000), at(8_011), told(8_011)), bounds=CALM),
    Written("queues_take_turns", MANY, MANY[1:], causes=(), says="sent 50 messages, and none to"),
    Written("queues_take_turns", MANY, (*MANY[1:], tried(mq=QUEUES[1]))),
    Written("queues_take_turns", MANY, (*MANY[:-1], tried(2), MANY[-1])),
    Written("queues_take_turns", MANY, (tried(2),) * 50),
    Written("queues_take_turns", MANY, (tried(2), *MANY[1:])),
    Written("queues_take_turns", MANY, (tried(listed=frozenset()),) * 50),
    Written("queues_take_turns", MANY, (tried(hashed="red"),) * 50),
    Written("queues_take_turns", MANY, (*MANY[1:], tried(listed=frozenset(QUEUES[:1])))),
    Written("queues_take_turns", (PLAIN, *MANY), (AWARE, *MANY)),
)
