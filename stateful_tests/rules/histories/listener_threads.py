"""Written histories of the threads of listeners, and of messages that they keep."""

from __future__ import annotations

from typing import Any

import invariants.rules.listener_threads  # noqa: F401  # declares its rules
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    BrokerStarted,
    ConsumerStarted,
    MessagesAnswered,
    MessagesExpired,
    MessagesGiven,
    OffsetReset,
    ProcessKilled,
    ProcessStarted,
    QueueDropped,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from invariants.views.values import Cache
from stateful_tests.rules.written import Tables, Written

MQ, MQ2 = (MessageQueue("orders", "broker-a", queue_id) for queue_id in range(2))
B, C, ID, G = "broker-a", "c1", "c1@1", "G"
MINUTE_MS = 60_000
RULE = "message_expires_under_its_listener"
CALM = Bounds()
OVER_MS = deadlines.taken_from_listener(MINUTE_MS)(CALM)

Told = tuple[int, str, Any]


def given(*offsets: int, at: str = C, group: str = G, mq: MessageQueue = MQ, orderly: bool = False) -> Told:
    """A listener is given messages."""
    keys = tuple(map(str, offsets))
    return 1, at, MessagesGiven(group, mq, offsets, keys, (0,) * len(offsets), 16, orderly)


def answered(*offsets: int, answer: str = "SUCCESS", at: str = C, group: str = G, mq: MessageQueue = MQ) -> Told:
    """It says what it makes of them."""
    return 2, at, MessagesAnswered(group, mq, offsets, tuple(map(str, offsets)), (answer,) * len(offsets))


def looks(ms: int) -> Told:
    """It is time to look."""
    return ms, "world", ProcessStarted(1)


LATE = looks(OVER_MS + 2)


def caching(first: int | None, timeout_ms: int | None = MINUTE_MS) -> Tables:
    """The first message that waits in a cache."""
    return Tables(consume_timeout_ms=timeout_ms, cache=Cache(C, ID, G, MQ, 2, 20, 2, 20, 1, first))


def keeps(*records: Told, kept: tuple[Told, ...] = ()) -> Written:
    """A listener has had message 5 for too long; kept -- what makes this no matter."""
    over = (*kept, LATE) if kept else (looks(OVER_MS + 1),)
    return Written(RULE, (*records, given(5), LATE, answered(5)), (given(5), *over, answered(5)), views=caching(5),
                   kept_views=caching(5), bounds=CALM, says=f"has had 5 of queue 0 of orders at {B} for")


STARTED = (1, C, ConsumerStarted(ID, G, "CLUSTERING", orderly=False))
KILLED = (1, C, ProcessKilled(1, power_loss=False))
TWO = Tables(consume_threads=2)
HISTORIES = (
    *(Written("listeners_have_their_threads", (given(1), given(2), given(3)), (given(1), given(2), *between, given(3)),
              views=TWO, kept_views=TWO, says="3 listeners of G are at work at c1, which has 2 threads")
      for between in ((answered(1),), (answered(2, answer="LATER"),), (STARTED,), (KILLED,))),
    *(Written("listeners_have_their_threads", (given(1), given(2), *between, given(3)), (given(1), given(2), other),
              views=TWO, kept_views=TWO)
      for between, other in (((answered(1, answer="NEVER"),), given(3, at="c2")),
                             ((answered(2, 3),), given(3, group="H")), ((answered(1, mq=MQ2),), answered(3)))),
    Written("listeners_have_their_threads", (given(1), given(2), given(3, mq=MQ2, orderly=True)),
            (given(1), given(2, orderly=True), given(3, orderly=True)), views=TWO, kept_views=TWO),
    # A listener that commits itself may answer for more than it was given last.
    Written("listeners_have_their_threads", (given(1), given(2), given(2, 3)),
            (given(2, orderly=True), answered(2, 3), given(4, mq=MQ2), given(5, mq=MQ2)), views=TWO, kept_views=TWO),
    Written("listeners_have_their_threads", (given(1), given(2), given(3)), (given(1), given(2), given(3)), views=TWO,
            kept_views=Tables(consume_threads=None)),
    keeps(),
    keeps(answered(5, answer="NEVER"), kept=(answered(5),)),
    *(keeps(kept=(one,)) for one in (
        (1, C, MessagesExpired(ID, G, MQ, (5,))), (1, C, QueueDropped(ID, G, MQ)), (1, C, OffsetReset(ID, G, MQ, 0)),
        STARTED, KILLED, (0, B, BrokerStarted(B, B, 0)))),
    keeps((0, C, MessagesExpired(ID, G, MQ, (5,)))),
    *(Written(RULE, (given(5), LATE, answered(5)), (given(5), LATE, answered(5)), views=caching(5), kept_views=one,
              bounds=CALM)
      for one in (caching(4), caching(None), caching(5, None), Tables(**caching(5).answers, calm=False))),
    Written(RULE, (given(5), answered(5, answer="NEVER")), (given(5, orderly=True), LATE), views=caching(5),
            kept_views=caching(5), bounds=CALM),
)
