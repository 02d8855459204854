"""Written histories of what comes again, and of pulls that are held."""

from __future__ import annotations

from typing import Any

import invariants.rules.held_pulls
import invariants.rules.retries  # noqa: F401  # both declare their rules
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullCode
from impl.events import (
    BrokerStarted,
    BrokerStopping,
    ClockDrifts,
    ClockJumped,
    ConnectionMade,
    ConsumerRegistered,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    HeldPullAnswered,
    MessageAppended,
    MessageDispatched,
    MessagesAnswered,
    MessagesExpired,
    MessagesFound,
    MessagesGiven,
    ProcessKilled,
    PullAnswered,
    PullHeld,
    PullSuspended,
    QueueDropped,
    QueuesHeld,
    QueueSought,
    QueueTaken,
    SendAttempted,
    StoreLoaded,
    SubscriptionUpdated,
)
from invariants.rules.bounds import Bounds
from invariants.views import Broker
from stateful_tests.rules.written import Tables, Written

A, C, C2, G, ID = "broker-a", "c1", "c2", "G", "c1@1"
MQ, MQ2, RETRY = (MessageQueue(topic, A, number) for topic, number in (("orders", 0), ("orders", 1), ("%RETRY%G", 0)))
CALM = Bounds()
Told = tuple[int, str, Any]


def given(
    ms: int, attempt: int = 0, *, at: str = C, keys: tuple[str, ...] = ("k",), offset: int = 4, **more: Any,
) -> Told:
    """A listener is given messages."""
    offsets = tuple(offset + number for number, _ in enumerate(keys))
    event = MessagesGiven(G, MQ, offsets, keys, (attempt,) * len(keys), 2, False, (), 2, 1_000)
    return ms, at, event._replace(**more)


def answered(
    ms: int, answer: str = "LATER", *, mq: MessageQueue = MQ, at: str = C, offset: int = 4, **asked: int,
) -> Told:
    """It says what becomes of one."""
    return ms, at, MessagesAnswered(G, mq, (offset,), ("k",), (answer,), **asked)


def dead(ms: int, key: str | None = "k", topic: str = "%DLQ%G") -> Told:
    """A broker has a dead letter."""
    return ms, A, MessageAppended(A, topic, 0, 0, 0, 100, key)


ANEW = (2, C, SendAttempted(ID, "CLIENT_INNER_PRODUCER", "k", 1, RETRY))
WAITS = (11, A, MessageAppended(A, "SCHEDULE_TOPIC_XXXX", 2, 0, 100, 100, "k"))
CRASHED = (12, A, StoreLoaded(A, 0, 200, "SYNC_FLUSH"))
JUMPED, DRIFTS = (1, A, ClockJumped(-5_000)), (1, A, ClockDrifts(10))
JUMPED_HERE, DRIFTS_HERE = ((1, C, event) for _, _, event in (JUMPED, DRIFTS))


def subscribed(expression: str) -> Told:
    """A member of the group reads this of the topic."""
    return 0, A, ConsumerRegistered(A, G, ID, "c1:1", True, True, frozenset({("orders", expression, 1)}))


def pulled(ms: int, offset: int = 7, *, mq: MessageQueue = MQ, at: str = C, asked: str = A) -> Told:
    """A client pulls at a machine."""
    return ms, at, PullSuspended(ID, G, mq, offset, f"{asked}:10911")


def pull_answered(ms: int, code: PullCode = PullCode.SUCCESS) -> Told:
    """It is answered."""
    return ms, C, PullAnswered(ID, G, MQ, code, 8)


def arrived(ms: int, offset: int = 7, *, at: str = A, queue_id: int = 0) -> Told:
    """A message is in a queue of a broker."""
    return ms, at, MessageDispatched(at, "orders", queue_id, offset, 0)


def found(ms: int, *offsets: int) -> Told:
    """The client has messages of the queue."""
    return ms, C, MessagesFound(ID, G, MQ, offsets or (7,))


def tick(ms: int) -> Told:
    """Time passes."""
    return ms, "broker-b", BrokerStarted("broker-b", "broker-b", 0)


ANEW_SUBSCRIBED = SubscriptionUpdated(A, G, "orders", "b", 2, attached=True)
ALIVE = Tables(brokers=[Broker(A, A, 0, f"{A}:10911", 0, None)])
SLAVE, PROMOTED = ((0, "slave", BrokerStarted("slave", A, broker_id)) for broker_id in (1, 0))
GONE = (3, C, QueueDropped(ID, G, MQ, False)), (3, C, ConsumerShutDown(ID, G))
TAKEN = (1_200, C, QueueTaken(ID, G, MQ, 4))
STOPS = (3, C, ConsumerStopping(ID, G))
ENDS, BEGINS = (3, A, BrokerStopping(A)), (3, A, BrokerStarted(A, A, 0))
AWAY = (0, A, BrokerStarted(A, A, 0)), (11, A, BrokerStopping(A))
FAILS_AT_C2 = given(20, at=C2), answered(30, at=C2, level=2)
RENAMED = (3, A, BrokerStarted(A, f"{A}-renamed", 0))

NOTHING = PullCode.PULL_NOT_FOUND
NAMED = (0, A, BrokerStarted(A, A, 0))
AS_ANOTHER = (0, A, BrokerStarted(A, "a", 0))
OTHER_STARTS, OTHER_RENAMED = ((0, "broker-b", BrokerStarted("broker-b", name, 0)) for name in ("broker-b", "b"))
HELD = (2, A, PullHeld(A, G, "orders", 0, 7, "c1:1", 5, "*", 15_000))
ANSWERED = (3, A, HeldPullAnswered(A, "c1:1", 5))
SOUGHT, HAS = (3, C, QueueSought(G, MQ, 7)), (3, C, QueuesHeld(ID, G, frozenset({MQ})))
HAS_NONE, HAS_NONE_THERE = ((3, at, QueuesHeld(ID, G, frozenset({MQ2}))) for at in (C, C2))
DIES, DIES_THERE = ((3, at, ProcessKilled(1, power_loss=False)) for at in (C, A))

UNORDERED, IN_ORDER = ((0, C, ConsumerStarted(ID, G, "CLUSTERING", orderly)) for orderly in (False, True))

def put_off(ms: int, level: int, key: str = "k", topic: str = "SCHEDULE_TOPIC_XXXX") -> Told:
    """A broker has a copy that waits for the delay of a level."""
    return ms, A, MessageAppended(A, topic, level - 1, 0, 100, 100, key, False)


def expired(ms: int = 9, offset: int = 4, mq: MessageQueue = MQ, at: str = C, group: str = G) -> Told:
    """A listener has had a message for too long."""
    return ms, at, MessagesExpired(ID, group, mq, (offset,))


EXPIRED = "expired_message_is_put_off"

HISTORIES = (
    Written("given_up_after_all_attempts", (given(1, 1), dead(2)), (given(1, 2), dead(2)), causes=(),
            says="after 2 of 3 attempts"),
    Written("given_up_after_all_attempts", (given(1, 2), given(2, 1, keys=("j",)), dead(3, "j")),
            (given(1, 2), given(2, 1), dead(3)), causes=()),
    Written("given_up_after_all_attempts", (given(1, keys=("j",)), dead(2)), (dead(2), given(3), dead(4, None)),
            causes=(), says="after 0 of 3"),
    Written("given_up_after_all_attempts", (given(1), ANEW, dead(3)), (given(1), dead(3, topic="orders")),
            causes=("X5",)),
    Written("given_up_after_all_attempts", (given(1), answered(2, level=0), dead(3)),
            (given(1), answered(2, level=-1), dead(3)), causes=()),
    Written("given_up_after_all_attempts", (given(1), answered(2, "SUCCESS", level=-1), dead(3)), causes=()),
    Written("retries_wait_longer_each_time", (given(1), answered(10, level=2), given(5_009, 1, mq=RETRY)),
            (given(1), answered(10, level=2), given(5_010, 1, mq=RETRY)), says="it is to wait 5000 ms"),
    Written("retries_wait_longer_each_time", (given(1), answered(10, level=4), given(30_009, 1, mq=RETRY)),
            (given(1), answered(10, level=4), ANEW, given(10_010, 1, mq=RETRY)), says="it is to wait 30000 ms"),
    Written("retries_wait_longer_each_time", (given(1), answered(10, level=4), ANEW, given(10_009, 1, mq=RETRY)),
            (given(1), answered(10, level=1), ANEW, given(1_010, 1, mq=RETRY)), says="it is to wait 10000 ms"),
    Written("retries_wait_longer_each_time",  # of two that have had it one has asked for less
            (given(1), answered(10, level=4), *FAILS_AT_C2, given(5_029, 1, mq=RETRY)),
            (given(1), answered(10, level=4), *FAILS_AT_C2, given(5_030, 1, mq=RETRY)),
            says="4999 ms after attempt 1 has failed, and it is to wait 5000 ms"),
    Written("retries_wait_longer_each_time", (given(1), answered(10), given(10_009, 1, mq=RETRY)),
            (given(1), answered(10), given(10_010, 1, mq=RETRY)), says="9999 ms after attempt 1 has failed"),
    Written("retries_wait_longer_each_time", (given(1, 1), answered(10), given(30_009, 2, mq=RETRY)),
            (given(1, 1), answered(10), given(30_010, 2, mq=RETRY))),
    Written("retries_wait_longer_each_time", (given(1, 2), answered(10), given(60_009, 3, mq=RETRY)),
            (given(1, 2), answered(10), given(60_010, 3, mq=RETRY))),
    Written("retries_wait_longer_each_time", (given(1), answered(10), given(20, 1, mq=RETRY)),
            (given(1), answered(10), given(20, 1), given(30, 0, mq=RETRY), given(40, 2, mq=RETRY))),
    Written("retries_wait_longer_each_time", (given(1), answered(60_000), given(60_010, 1, mq=RETRY)),
            (given(1), answered(60_001), given(60_010, 1, mq=RETRY))),
    Written("retries_wait_longer_each_time", (given(1), answered(10), given(20, 1, mq=RETRY)),
            (given(1), answered(10, "SUCCESS"), given(20, 1, mq=RETRY))),
    *(Written("retries_wait_longer_each_time", (given(1), answered(10), given(20, 1, mq=RETRY)),
              (given(1), answered(10, unfailed), given(20, 1, mq=RETRY))) for unfailed in ("HELD", "ROLLBACK")),
    Written("retries_wait_longer_each_time", (given(1), answered(10), given(20, 1, mq=RETRY)),  # two have had it
            (given(1), answered(10), given(8_000, at=C2), answered(9_000, at=C2), given(10_011, 1, mq=RETRY))),
    Written("retries_wait_longer_each_time", (given(2), answered(10), given(20, 1, mq=RETRY)),
            (JUMPED, given(2), answered(10), given(20, 1, mq=RETRY))),
    Written("retries_wait_longer_each_time", (given(2), answered(10), given(20, 1, mq=RETRY)),
            (DRIFTS, given(2, 3), answered(10), given(20, 4, mq=RETRY))),
    Written("retries_wait_longer_each_time", (given(1), answered(10), WAITS, CRASHED, given(20, 1, mq=RETRY)),
            causes=("V5",)),
    Written("retries_wait_longer_each_time", (given(1), answered(10), WAITS, given(20, 1, mq=RETRY)), causes=()),
    # It is tried again where it is, and its broker counts from what is stored: the second failure has another level.
    Written("retries_wait_longer_each_time",
            (given(1), answered(10, level=4), given(12_000, 1), given(23_000, 1, mq=RETRY)),
            (given(1), answered(10, level=4), given(12_000, 1), answered(12_010), given(23_000, 1, mq=RETRY))),
    Written("retries_wait_longer_each_time",  # it is tried again where it is
            (given(1, 1, mq=RETRY), answered(10, mq=RETRY), given(20, 2, mq=RETRY, offset=5)),
            (given(1, 1, mq=RETRY), answered(10, mq=RETRY), given(20, 2, mq=RETRY))),
    Written("suspended_queue_rests", (answered(10), given(1_009, orderly=True)),
            (answered(10), given(1_010, orderly=True)), says="999 ms after it has failed"),
    Written("suspended_queue_rests", (answered(10), given(20, orderly=True)),
            (answered(10, "SUCCESS"), given(20, orderly=True))),
    Written("suspended_queue_rests", (answered(10, rest_ms=300), given(309, orderly=True)),
            (answered(10, rest_ms=300), given(310, orderly=True)), says="the queue is to rest 300 ms"),
    Written("suspended_queue_rests", (answered(10, rest_ms=0), given(19, orderly=True)),
            (answered(10, rest_ms=0), given(20, orderly=True)), says="the queue is to rest 10 ms"),
    Written("suspended_queue_rests", (answered(10, rest_ms=60_000), given(30_009, orderly=True)),
            (answered(10, rest_ms=60_000), given(30_010, orderly=True)), says="the queue is to rest 30000 ms"),
    Written("rested_queue_goes_on", (given(1, orderly=True), answered(10)), bounds=CALM),
    Written("rested_queue_goes_on", (given(1, orderly=True), answered(10, rest_ms=0), given(5_021, at=C2)),
            (given(1, orderly=True), answered(10, rest_ms=0), given(5_020, orderly=True)), bounds=CALM,
            says="again since 5001 ms"),
    Written("rested_queue_goes_on", (given(1, orderly=True), answered(10, rest_ms=60_000), given(35_011, at=C2)),
            (given(1, orderly=True), answered(10, rest_ms=60_000), given(35_010, at=C2), given(35_010, orderly=True)),
            bounds=CALM),
    Written("rested_queue_goes_on",
            (given(1, orderly=True), answered(10), given(6_011, at=C2), given(7_000, orderly=True)),
            (given(1, orderly=True), answered(10), given(6_010, at=C2), given(6_010, orderly=True)), bounds=CALM,
            says="is to be given queue 0 of orders at broker-a again"),
    Written("rested_queue_goes_on", (given(1, orderly=True), answered(10, "ROLLBACK")),
            (given(1, orderly=True), answered(10, "HELD")), bounds=CALM),
    *(Written("rested_queue_goes_on", (given(1, orderly=True), answered(10)), kept, bounds=CALM) for kept in (
        (given(1), answered(10)), (given(1, 2, orderly=True), answered(10)), (answered(10),),
        (given(1, orderly=True), answered(10, "NEVER")), (given(1, orderly=True), answered(10, "SUCCESS")),
        (given(1, orderly=True), (2, C, QueueDropped(ID, G, MQ, True)), answered(10)),
        (given(1, orderly=True), answered(10, mq=MQ2)))),
    Written("rested_queue_goes_on", (given(1, 2, orderly=True), answered(10, "ROLLBACK")),
            (*AWAY, given(20, orderly=True), answered(30)), bounds=CALM),
    Written("suspended_queue_rests", (answered(10, "ROLLBACK"), given(20, orderly=True)),
            (answered(10, "HELD"), given(20, orderly=True))),
    Written("suspended_queue_rests", (answered(10), given(20, orderly=True)), (answered(10), given(20))),
    Written("suspended_queue_rests", (answered(10), given(20, orderly=True)),
            (answered(10), given(20, orderly=True, mq=MQ2), given(30, orderly=True, at=C2),
             given(40, orderly=True, offset=5))),
    Written("suspended_queue_rests", (answered(10), given(20, orderly=True, rest_ms=11)),
            (answered(10), given(20, orderly=True, rest_ms=10), given(25, orderly=True))),
    Written("suspended_queue_rests", (answered(1_000), given(1_300, orderly=True)),
            (answered(1_000), TAKEN, given(1_300, orderly=True))),
    Written("suspended_queue_rests", (answered(10), given(20, orderly=True)),
            (JUMPED_HERE, answered(10), given(20, orderly=True))),
    Written("suspended_queue_rests", (answered(10), given(20, orderly=True)),
            (DRIFTS_HERE, answered(10), given(20, orderly=True))),
    Written("batch_is_no_larger_than_wished", (given(1, keys=("i", "j", "k")),), (given(1, keys=("j", "k")),),
            says="given 3 messages"),
    Written("batch_is_no_larger_than_wished", (given(1, keys=(), orderly=True),),
            (given(1, keys=("k",), orderly=True),), says="given 0 messages"),
    Written("arriving_message_answers_the_pull", (pulled(1), arrived(102), tick(2_103)),
            (pulled(1), arrived(102), tick(2_102), pull_answered(2_102)), bounds=CALM),
    Written("arriving_message_answers_the_pull", (pulled(1), arrived(2)), (pulled(1), arrived(2, offset=6)),
            bounds=CALM),
    Written("arriving_message_answers_the_pull", (pulled(1), arrived(2)),
            (pulled(1), pulled(2, mq=MQ2), pull_answered(2), arrived(3), arrived(4, at="broker-b"),
             arrived(5, queue_id=2)), bounds=CALM),
    Written("arriving_message_answers_the_pull", (pulled(1), arrived(2)), (pulled(1), arrived(2), pulled(3, 8)),
            bounds=CALM),
    *(Written("arriving_message_answers_the_pull", (pulled(1), arrived(2)), (pulled(1), arrived(2), one),
              bounds=CALM) for one in (*GONE, ENDS, BEGINS)),
    *(Written("arriving_message_answers_the_pull", (pulled(1), arrived(4)), (pulled(1), one, arrived(4)),
              bounds=CALM) for one in (*GONE, ENDS, BEGINS)),
    Written("arriving_message_answers_the_pull", (subscribed("*"), pulled(1), arrived(2)),
            (subscribed("a"), pulled(1), arrived(2)), bounds=CALM),
    Written("arriving_message_answers_the_pull", (SLAVE, pulled(1), arrived(2)),
            (SLAVE, pulled(1), arrived(3, at="slave")), bounds=CALM),
    Written("arriving_message_answers_the_pull", (PROMOTED, pulled(1, asked="slave"), arrived(2, at="slave")),
            (SLAVE, pulled(1, asked="slave"), arrived(2, at="slave")), bounds=CALM),
    Written("arriving_message_answers_the_pull", (SLAVE, pulled(1), arrived(2)),
            (SLAVE, pulled(1), pulled(2, asked="slave"), arrived(3)), bounds=CALM),
    Written("found_message_has_just_come", (NAMED, pulled(1), arrived(2), found(2_003)),
            (NAMED, pulled(1), arrived(2), found(2_002)), bounds=CALM,
            says="is given message 7 of queue 0 of orders at broker-a 2001 ms after it has come"),
    Written("found_message_has_just_come", (NAMED, subscribed("a"), pulled(1), arrived(2), found(5_000)),
            (NAMED, pulled(1), arrived(2), arrived(4_000, 8), found(5_000, 8, 9)), bounds=CALM),
    *(Written("found_message_has_just_come", (NAMED, pulled(1), arrived(2), found(5_000)),
              (NAMED, pulled(1), one, found(5_000)), bounds=CALM)
      for one in (arrived(2, at="broker-b"), arrived(2, queue_id=1),
                  (2, A, MessageDispatched(A, "invoices", 0, 7, 0)))),
    *(Written("found_message_has_just_come", (NAMED, pulled(1), arrived(2), found(5_000)),
              (NAMED, pulled(1), arrived(2), one, found(5_000)), bounds=CALM)
      for one in (*GONE, ENDS, BEGINS, DIES_THERE, pulled(3), (3, A, ANEW_SUBSCRIBED))),
    *(Written("found_message_has_just_come", (NAMED, pulled(1), arrived(2), one, found(5_000)),
              (NAMED, arrived(1), pulled(2), found(5_000)), bounds=CALM)
      for one in ((3, A, ANEW_SUBSCRIBED._replace(topic="invoices")), pulled(3, mq=MQ2),
                  (3, A, ANEW_SUBSCRIBED._replace(group="H")), (3, "broker-b", BrokerStopping("broker-b")))),
    Written("found_message_has_just_come", (PROMOTED, pulled(1, asked="slave"), arrived(2, at="slave"), found(5_000)),
            (SLAVE, pulled(1, asked="slave"), arrived(2, at="slave"), found(5_000)), bounds=CALM),
    Written("found_message_has_just_come", (NAMED, pulled(1), arrived(2), found(5_000)),
            (NAMED, pulled(1), arrived(2), found(3), found(5_000)), bounds=CALM),
    *(Written("held_pull_ends_in_its_time", (pulled(1), other), (pulled(1), HAS_NONE), views=ALIVE, bounds=CALM)
      for other in (HAS, HAS_NONE_THERE, (3, C, QueuesHeld(ID, "H", frozenset())))),
    Written("held_pull_ends_in_its_time", (pulled(1), tick(27_003)),
            (pulled(1), tick(27_001), pull_answered(27_001)), views=ALIVE, bounds=CALM,
            says="is not answered after 27"),
    Written("held_pull_ends_in_its_time", (pulled(1),), (pulled(1),), views=ALIVE, bounds=CALM,
            kept_views=Tables(brokers=[ALIVE.answers["brokers"][0]._replace(machine="broker-b")])),
    *(Written("held_pull_ends_in_its_time", (pulled(1), arrived(2)), (pulled(1), one), views=ALIVE,
              bounds=CALM) for one in (*GONE, STOPS, ENDS, BEGINS, RENAMED)),
    *(Written("held_pull_ends_in_its_time", (pulled(1), (2, *other)), (pulled(1), (2, C, ConnectionMade(A, "c1:2"))),
              views=ALIVE, bounds=CALM)
      for other in ((C, ConnectionMade("broker-b", "c1:2")), ("c2", ConnectionMade(A, "c2:2")))),
    Written("held_pull_ends_in_its_time", (pulled(1), pulled(2, mq=MQ2)),
            (pulled(1), pull_answered(2), pulled(3), pull_answered(4)), views=ALIVE, bounds=CALM),
    Written("empty_answer_has_waited", (pulled(1), pull_answered(15_000, NOTHING)),
            (pulled(1), pull_answered(15_001, NOTHING)), says="is told after 14999 ms"),
    Written("empty_answer_has_waited", (pulled(1), pull_answered(2, NOTHING)), (pulled(1), pull_answered(2))),
    Written("empty_answer_has_waited", (pulled(1), pull_answered(2), pulled(3), pull_answered(4, NOTHING)),
            (pulled(1), pulled(3), pull_answered(4, NOTHING))),
    Written("empty_answer_has_waited", (pulled(1), pull_answered(2), pulled(3), pull_answered(4, NOTHING)),
            (pulled(1), pulled(3), pull_answered(4), pull_answered(5, NOTHING))),
    Written("empty_answer_has_waited", (pulled(1), pull_answered(2, NOTHING)),
            (pulled(1), pull_answered(15_002, NOTHING), pull_answered(15_003, NOTHING))),
    Written("empty_answer_has_waited", (pulled(1), pull_answered(2, NOTHING)), (pulled(1), pull_answered(2, NOTHING)),
            kept_views=Tables(calm=False)),
    Written("held_pull_is_waited_for", (NAMED, pulled(1), HELD, pulled(4)),
            (NAMED, pulled(1), HELD, ANSWERED, pulled(4)), says="while a broker holds its last pull"),
    Written("held_pull_is_waited_for", (NAMED, HELD, pulled(4), pulled(5)), (NAMED, HELD, pulled(4, mq=MQ2))),
    Written("held_pull_is_waited_for", (NAMED, HELD, pulled(4)), (NAMED, HELD, pulled(4, at=C2))),
    Written("held_pull_is_waited_for", (NAMED, HELD, pulled(4)), (NAMED, HELD, pulled(4)),
            kept_views=Tables(calm=False)),
    *(Written("held_pull_is_waited_for", (NAMED, HELD, pulled(4)), (NAMED, HELD, one, pulled(4)))
      for one in (GONE[0], SOUGHT, HAS_NONE, ENDS, BEGINS, DIES, DIES_THERE)),
    Written("held_pull_is_waited_for", (NAMED, OTHER_STARTS, OTHER_RENAMED, HELD, pulled(4)),
            (AS_ANOTHER, NAMED, HELD, pulled(4))),
    Written("held_pull_is_waited_for", (NAMED, NAMED, HELD, pulled(4)),
            (NAMED, RENAMED, HELD, pulled(4, mq=MQ._replace(broker_name=f"{A}-renamed")))),
    Written("held_pull_is_waited_for", (NAMED, GONE[0], (3, *TAKEN[1:]), HELD, pulled(4)),
            (NAMED, GONE[0], HELD, (3, *TAKEN[1:]), pulled(4))),
    Written("held_pull_is_waited_for", (NAMED, HELD, HAS, pulled(4)), (NAMED, HELD, HAS_NONE, pulled(4))),
    Written("held_pull_is_waited_for", (NAMED, HAS_NONE, HAS, HELD, pulled(4)),
            (NAMED, HAS_NONE, HELD, HAS, pulled(4))),
    Written("held_pull_is_waited_for", (NAMED, HELD, HAS_NONE_THERE, pulled(4)),
            (NAMED, HELD, HAS_NONE, HAS_NONE, pulled(4))),
    Written("held_pull_is_waited_for", (NAMED, HELD, (3, "broker-b", BrokerStopping("broker-b")), pulled(4)),
            (NAMED, HELD, ENDS, pulled(4))),
    Written("sent_back_is_taken", (ANEW,), (ANEW,), kept_views=Tables(calm=False),
            says="c1 sends k to %RETRY%G itself: no broker has taken it back"),
    Written("sent_back_is_taken", (UNORDERED, ANEW), (IN_ORDER, ANEW)),
    Written("sent_back_is_taken", (ANEW,), ((2, C, ANEW[2]._replace(group="P")),)),
    Written("sent_back_is_taken", (ANEW,), ((2, C, ANEW[2]._replace(mq=MQ)),)),
    Written(EXPIRED, (given(1), put_off(5, 1), expired()), (given(1), put_off(5, 3), expired()),
            says="k has expired at c1, and is put off with level 1"),
    Written(EXPIRED, (given(1, 1), put_off(5, 5), expired()), (given(1, 1), put_off(5, 4), expired())),
    Written(EXPIRED, (given(1), put_off(1, 1), expired()), (given(1), put_off(0, 1), expired())),
    *(Written(EXPIRED, (given(1), put_off(5, 1), expired()), (given(1), kept, expired())) for kept in (
        put_off(5, 1, "k2"), put_off(5, 1, topic="orders"))),
    *(Written(EXPIRED, (given(1), put_off(5, 1), expired()), (given(1), put_off(5, 1), kept)) for kept in (
        expired(offset=5), expired(mq=MQ2), expired(at=C2), expired(group="H"))),
    Written(EXPIRED, (given(1), put_off(5, 1), expired()),
            (given(1), put_off(5, 1), (6, C, ProcessKilled(1, power_loss=False)), expired())),
    Written(EXPIRED, (given(1), put_off(5, 1), put_off(6, 2), expired()),
            (given(1), put_off(5, 1), put_off(6, 3), expired())),
)
