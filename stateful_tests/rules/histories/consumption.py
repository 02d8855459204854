"""Written histories of messages: from where they are pulled, and whether listeners are given them."""

from __future__ import annotations

from typing import Any

import invariants.rules.consumption  # noqa: F401  # declares its rules
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    BrokerStarted,
    BrokerStopping,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    MessageAppended,
    MessagesAnswered,
    MessagesFound,
    MessagesSettled,
    OffsetAnswered,
    ProcessKilled,
    PullAnswered,
    PullFailed,
    PullSuspended,
    QueueDropped,
    QueueTaken,
    WorldHealed,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from invariants.views import Cache
from stateful_tests.rules.histories.promises import MEMBER
from stateful_tests.rules.written import Tables, Written

MQ, MQ2 = (MessageQueue("orders", "broker-a", queue_id) for queue_id in range(2))
B, C, ID, G = "broker-a", "c1", "c1@1", "G"
BROKER = (0, B, BrokerStarted(B, B, 0))
STARTED = (0, C, ConsumerStarted(ID, G, "CLUSTERING", orderly=False))
IN_ORDER = (0, C, ConsumerStarted(ID, G, "CLUSTERING", orderly=True))
DROPPED, STOPPING = (4, C, QueueDropped(ID, G, MQ)), (4, C, ConsumerStopping(ID, G))
WORKS = Bounds(listener_ms=7_000)
LIMIT_MS, BEGUN_MS = deadlines.settled(WORKS), deadlines.begun(WORKS)
FAILS = Tables(calm=False)
LOOKED_TO = (3, C, PullAnswered(ID, G, MQ, 0, 110))
TAKEN_AGAIN = (5, C, QueueTaken(ID, G, MQ, 0))
NOTHING, DELETED = ((6, C, PullAnswered(ID, G, MQ, 19, offset)) for offset in (100, 110))
ANSWERED = MessagesAnswered(G, MQ, (100,), ("k",), ("LATER",))

Told = tuple[int, str, Any]


def taken(mq: MessageQueue = MQ, ms: int = 1) -> Told:
    """A client begins a queue."""
    return ms, C, QueueTaken(ID, G, mq, 100)


def pulled(offset: int, ms: int = 3) -> Told:
    """A broker holds a pull."""
    return ms, C, PullSuspended(ID, G, MQ, offset)


def found(*offsets: int, mq: MessageQueue = MQ, ms: int = 2) -> Told:
    """A client has messages."""
    return ms, C, MessagesFound(ID, G, mq, offsets)


def put(key: str = "k", at: str = B) -> Told:
    """A broker puts a message."""
    return 0, at, MessageAppended(at, "orders", 0, 101, 0, 100, key)


def settled(*offsets: int, ms: int = 3, mq: MessageQueue = MQ) -> Told:
    """A client has read messages."""
    return ms, C, MessagesSettled(ID, G, mq, offsets)


def answered(offset: int, queue_id: int = 0) -> Told:
    """A client is told an offset."""
    return 2, B, OffsetAnswered(B, G, "orders", queue_id, f"{C}:1", offset)


def looks(ms: int) -> Told:
    """It is time to look."""
    return ms, "world", WorldHealed()


DIES_LATER = (2 * LIMIT_MS, C, ProcessKilled(1, power_loss=False))
READ = (STARTED, taken(), found(100, 101), settled(100, 101))

def counting(messages: int, size_bytes: int) -> Tables:
    """A client counts one message of 10 bytes, and has these."""
    return Tables(consumers=[MEMBER], caches=[Cache(C, ID, G, MQ, 1, 10, messages, size_bytes)])


GOES_ON = "pull_goes_on_where_it_is_told"
TOLD = (STARTED, taken(), pulled(100), (3, C, PullAnswered(ID, G, MQ, 0, 110)))
LATE = (STARTED, taken(), pulled(100), DROPPED, taken(ms=5))
STALE = (6, C, PullAnswered(ID, G, MQ, 0, 110))

HISTORIES = (
    *(Written("cache_is_counted", (), views=wrong, kept=(), kept_views=counting(1, 10), says="counts 1 messages of 10")
      for wrong in (counting(0, 0), counting(1, 9), counting(2, 10))),
    *(Written("cache_is_counted", broken, (put(), put("j"), taken(), found(100, 101), found(101)),
              views=counting(1, 9), kept_views=counting(1, 9))
      for broken in ((put(), put("j"), taken(), found(100, 101)), (put(), put(), taken(), found(100, 101), found(101)),
                     (put(), put("j"), found(101), taken(), found(101)),
                     (put(), put("j"), taken(), found(101), found(101, mq=MQ2)),
                     (put(), put("j", at="broker-b"), taken(), found(101), found(101)))),
    Written("pulls_follow_one_another", (taken(), pulled(101)), (taken(), pulled(100))),
    Written("pulls_follow_one_another", (taken(), pulled(100), found(100, 101), pulled(103)),
            (taken(), pulled(100), found(100, 101), pulled(102), pulled(102))),
    Written("pulls_follow_one_another", (taken(), pulled(100), found(100, 101), pulled(100)), (found(100), pulled(7))),
    Written("pulls_follow_one_another", (taken(), pulled(7)), (taken(), DROPPED, pulled(7))),
    Written("pulls_follow_one_another", (BROKER, STARTED, taken(), answered(7), pulled(7)),
            (BROKER, IN_ORDER, taken(), answered(7), pulled(7))),
    Written("pulls_follow_one_another", (BROKER, IN_ORDER, taken(), answered(6), pulled(7)),
            (BROKER, IN_ORDER, taken(), answered(-1), pulled(7))),
    Written("pulls_follow_one_another", (BROKER, IN_ORDER, taken(), answered(7, 1), pulled(7)),
            (BROKER, IN_ORDER, taken(), answered(7), pulled(7), pulled(7), found(7), pulled(8))),
    Written("pulls_follow_one_another", (BROKER, IN_ORDER, taken(), answered(7), pulled(7, BEGUN_MS + 3)),
            (BROKER, IN_ORDER, taken(), answered(7), pulled(7, BEGUN_MS + 2)), bounds=WORKS),
    Written("pulls_follow_one_another", (taken(), pulled(100), LOOKED_TO, found(100, 101), pulled(103)),
            (taken(), pulled(100), LOOKED_TO, found(100, 101), pulled(110), found(110), pulled(111))),
    Written("pulls_follow_one_another", (taken(), pulled(100), LOOKED_TO, pulled(110), pulled(120)),
            (taken(), pulled(100), LOOKED_TO, pulled(110), pulled(110))),
    Written("pulls_follow_one_another", (taken(), pulled(100), LOOKED_TO, DROPPED, taken(ms=5), pulled(110, 6)),
            (taken(), pulled(100), (3, C, PullAnswered(ID, G, MQ, 19, 90)), pulled(100))),
    Written("pulls_follow_one_another", (taken(), pulled(100), DROPPED, TAKEN_AGAIN, NOTHING, pulled(100, 7)),
            (taken(), pulled(100), DELETED, pulled(110, 7))),
    Written("pulls_follow_one_another", (taken(), pulled(100), DROPPED, TAKEN_AGAIN, NOTHING, pulled(100, 7)),
            (taken(), pulled(100), DROPPED, TAKEN_AGAIN, (6, C, PullAnswered(ID, G, MQ, 20, 100)), pulled(100, 7))),
    Written("found_is_settled", (STARTED, taken(), found(100, 101), (3, C, ANSWERED._replace(answers=("SUCCESS",)))),
            (STARTED, taken(), found(100, 101), (3, C, ANSWERED))),
    Written("found_is_settled", (STARTED, taken(), (3, "c2", ANSWERED), found(100, 101)),
            (STARTED, taken(), (3, C, ANSWERED), found(100, 101))),
    Written("found_is_settled", (STARTED, taken(), (3, C, ANSWERED._replace(group="H")), found(100, 101))),
    Written("found_is_settled", (STARTED, taken(), found(100, 101)), READ),
    Written("found_is_settled", (STARTED, taken(), found(100, 101), settled(101)), (*READ, found(102), settled(102))),
    Written("found_is_settled", (STARTED, taken(), taken(MQ2), found(100), found(100, mq=MQ2), settled(100)),
            (STARTED, taken(), taken(MQ2), found(100), found(100, mq=MQ2), settled(100), settled(100, mq=MQ2))),
    Written("found_is_settled", (STARTED, taken(), taken(MQ2), found(100, mq=MQ2), DROPPED),
            (STARTED, taken(), found(100, 101), DROPPED)),
    Written("found_is_settled", (STARTED, taken(), found(100)), (STARTED, STOPPING, taken(ms=5), found(100, ms=6))),
    Written("found_is_settled", (STARTED, taken(), found(100)), (STARTED, found(100))),
    Written("found_is_settled", (IN_ORDER, taken(), found(100)), (IN_ORDER, taken(), found(100)), kept_views=FAILS),
    Written("found_is_settled", (STARTED, taken(), found(100)), views=FAILS),
    Written("found_is_settled", (BROKER, STARTED, taken(), found(100), (3, B, BrokerStopping(B))),
            (BROKER, IN_ORDER, taken(), found(100), (3, B, BrokerStopping(B)))),
    Written("found_is_settled", (STARTED, taken(), found(100, 101), looks(LIMIT_MS + 3), DIES_LATER),
            (STARTED, taken(), found(100, 101), looks(LIMIT_MS + 2), DIES_LATER), bounds=WORKS,
            says="message 100 of queue 0 of orders at broker-a"),
    Written("found_is_settled",
            (STARTED, taken(), found(100, 101), settled(100, ms=9), looks(LIMIT_MS + 10), DIES_LATER),
            (STARTED, taken(), found(100, 101), settled(100, ms=9), looks(LIMIT_MS + 9), DIES_LATER), bounds=WORKS),
    Written(GOES_ON, (*TOLD, pulled(102)), (*TOLD, pulled(110), pulled(102)),
            says="from 102, and was told to go on at 110"),
    Written(GOES_ON, (*TOLD, pulled(102)), (*TOLD, pulled(102)), kept_views=FAILS),
    Written(GOES_ON, (*TOLD, pulled(102)), (STARTED, taken(), pulled(100), (3, C, PullFailed(ID, G, MQ)), pulled(102))),
    *(Written(GOES_ON, (*TOLD, pulled(102)), (*TOLD, *ended, pulled(102))) for ended in (
        (DROPPED,), (taken(ms=4),), ((4, C, ConsumerShutDown(ID, G)),))),
    # One pull of two is answered, and nobody knows which.
    Written(GOES_ON, (STARTED, taken(), pulled(90), pulled(100), STALE, STALE, pulled(102)),
            (STARTED, taken(), pulled(90), pulled(100), STALE, pulled(102))),
    # The answer to a pull of the former holding.
    Written(GOES_ON, (*LATE, STALE, pulled(100), STALE, pulled(102)), (*LATE, STALE, pulled(100))),
    Written(GOES_ON, (*LATE, pulled(100), STALE, STALE, pulled(100), STALE, pulled(102)),
            (*LATE, pulled(100), STALE, STALE, pulled(102))),
    Written(GOES_ON, (*TOLD, pulled(102)), (*TOLD[1:], pulled(102))),
    Written(GOES_ON, (*TOLD, pulled(102)), (STARTED, *TOLD[2:], pulled(102))),
)
