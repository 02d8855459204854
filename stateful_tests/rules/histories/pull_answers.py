"""Written histories of what brokers answer to pulls."""

from __future__ import annotations

from typing import Any

import invariants.rules.pull_answers  # noqa: F401  # declares its rules
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    BrokerStarted,
    InquiryAnswered,
    InquiryMade,
    MessageAppended,
    ProcessKilled,
    PullAnswered,
    PullFailed,
    PullHeld,
    PullSuspended,
    QueueDropped,
    QueuesDeleted,
)
from invariants.views import QueueRange
from stateful_tests.rules.written import Tables, Turns, Written

B, C, G, OPERATOR = "broker-a", "c1", "G", "operator"
MQ = MessageQueue("orders", B, 0)
START, SLAVE = (0, B, BrokerStarted(B, B, 0)), (0, B, BrokerStarted(B, B, 1))
FOUND, HELD_ON, RETRY, MOVED = 0, 19, 20, 21
FITS, WAITS = "pull_answer_fits_its_queue", "held_pull_waits_for_what_comes_next"
HAS = Tables(stored_at=QueueRange(10, 20))
ENDS = Tables(queue_end=20)
YOUNG = Tables(stored_at=QueueRange(0, 20))
GROWS = Tables(stored_at=Turns(QueueRange(10, 20), QueueRange(12, 25)))
DELETED = (1, B, QueuesDeleted(B, "orders", (0,)))
GIVES_UP = (1, C, QueueDropped(C, G, MQ))
Told = tuple[int, str, Any]


def asks(offset: int, most: int = 4) -> Told:
    """A consumer pulls."""
    return 1, C, PullSuspended(C, G, MQ, offset, f"{B}:10911", most)


def told(code: int, going_on: int, begin: int = 10, end: int = 20, messages: int = 0) -> Told:
    """It is answered."""
    return 2, C, PullAnswered(C, G, MQ, code, going_on, 0, begin, end, messages)


def tries(offset: int, what: str = "pull", number: int = 1) -> Told:
    """A stranger pulls."""
    return 1, OPERATOR, InquiryMade(B, what, f"orders 0 {offset} 4", number)


def is_told(code: int, going_on: int, what: str = "pull", number: int = 1) -> Told:
    """He is answered."""
    return 2, OPERATOR, InquiryAnswered(B, what, "orders 0 9 4", number, (code, going_on, 10, 20, 0))


def holds(offset: int) -> Told:
    """A broker holds a pull."""
    return 2, B, PullHeld(B, G, "orders", 0, offset, "c1:1", 7, "*", 15_000)


DIES, AGAIN = (1, B, ProcessKilled(1, power_loss=False)), (1, B, BrokerStarted(B, B, 0))
WRONG = asks(9), told(MOVED, 11)

NOTED = "pull_that_is_sent_on_is_noted"
FAILS = (2, C, PullFailed(C, G, MQ))


def puts(topic: str = "OFFSET_MOVED_EVENT", at: str = B) -> Told:
    """A broker appends a message."""
    return 1, at, MessageAppended(at, topic, 0, 0, 0, 100, None)


HISTORIES = (
    # Before the begin.
    Written(FITS, (START, asks(9), told(MOVED, 9)), (START, asks(9), told(MOVED, 10)), views=HAS,
            says="from 9 on, that it is to go on at 9, and its queue is 10 to 20"),
    Written(FITS, (START, asks(9), told(MOVED, 13)), (START, asks(9), told(MOVED, 12)), views=GROWS),
    Written(FITS, (START, asks(9), told(MOVED, 20)), (START, asks(9), told(MOVED, 10)), views=HAS),
    Written(FITS, (START, asks(9), told(FOUND, 13)), (START, asks(10), told(FOUND, 14)), views=HAS,
            says="with code 0, and its queue is 10 to 20"),
    # Behind the end, which may have come to it meanwhile.
    Written(FITS, (START, asks(21), told(MOVED, 10)), (START, asks(21), told(MOVED, 20)), views=HAS),
    Written(FITS, (START, asks(30), told(MOVED, 26)), (START, asks(30), told(MOVED, 25)), views=GROWS),
    Written(FITS, (START, asks(30), told(MOVED, 19)), (START, asks(30), told(MOVED, 20)), views=GROWS),
    Written(FITS, (START, asks(26), told(HELD_ON, 26)), (START, asks(25), told(HELD_ON, 25)), views=GROWS),
    # A queue that begins at 0 is read again.
    Written(FITS, (START, asks(21), told(MOVED, 20, 0)), (START, asks(21), told(MOVED, 0, 0)), views=YOUNG),
    Written(FITS, (START, asks(21), told(MOVED, 0)), (START, asks(21), told(MOVED, 0, 0)), views=HAS, kept_views=YOUNG),
    Written(FITS, (START, asks(5), told(MOVED, 0, 0, 0)), (START, asks(5), told(MOVED, 0, 0, 0)), views=YOUNG,
            kept_views=Tables(stored_at=None)),
    # Within it there is nothing to be corrected.
    Written(FITS, (START, asks(20), told(MOVED, 20)), (START, asks(21), told(MOVED, 20)), views=HAS),
    Written(FITS, (START, asks(10), told(MOVED, 10)), (START, asks(10), told(RETRY, 12)), views=HAS),
    # Where it begins and ends, and how much it gives.
    Written(FITS, (START, asks(10), told(FOUND, 14, 9)), (START, asks(10), told(FOUND, 14)), views=HAS,
            says="that its queue is 9 to 20, and it is 10 to 20"),
    Written(FITS, (START, asks(12), told(FOUND, 14, 13)), (START, asks(12), told(FOUND, 14, 12, 25)), views=GROWS),
    Written(FITS, (START, asks(12), told(FOUND, 14, 10, 19)), (START, asks(12), told(FOUND, 14, 10, 20)), views=GROWS),
    Written(FITS, (START, asks(12), told(FOUND, 14, 10, 26)), (START, asks(12), told(FOUND, 14, 10, 25)), views=GROWS),
    Written(FITS, (START, asks(10), told(FOUND, 15, messages=5)), (START, asks(10), told(FOUND, 14, messages=4)),
            views=HAS, says="with 5 messages, and it wants 4"),
    # Who is not asked for it, or not any more, and who has other queues by now.
    Written(FITS, (START, *WRONG), (SLAVE, *WRONG), views=HAS),
    Written(FITS, (START, *WRONG), (START, told(MOVED, 11)), views=HAS),
    Written(FITS, (START, *WRONG), (START, asks(9), told(MOVED, 10), told(MOVED, 11)), views=HAS),
    Written(FITS, (START, *WRONG), (START, asks(9), (1, C, PullFailed(C, G, MQ)), told(MOVED, 11)), views=HAS),
    Written(FITS, (START, *WRONG), (START, asks(9), GIVES_UP, told(MOVED, 11)), views=HAS),
    # It has given the queue up and asks again: the first answer may be to what it asked before.
    Written(FITS, (START, *WRONG), (START, asks(9), GIVES_UP, *WRONG, told(MOVED, 11)), views=HAS),
    *(Written(FITS, (START, asks(9), GIVES_UP, one, *WRONG), (START, asks(9), GIVES_UP, *WRONG), views=HAS)
      for one in (told(MOVED, 11), (1, C, PullFailed(C, G, MQ)), (1, C, ProcessKilled(1, power_loss=False)))),
    Written(FITS, (START, *WRONG), (START, asks(9), DIES, told(MOVED, 11)), views=HAS),
    Written(FITS, (START, *WRONG), (START, asks(9), AGAIN, told(MOVED, 11)), views=HAS),
    Written(FITS, (START, asks(9), (1, "broker-b", ProcessKilled(1, power_loss=False)), told(MOVED, 11)),
            (START, asks(9), DELETED, told(MOVED, 11)), views=HAS),
    # Strangers.
    Written(FITS, (START, tries(9), is_told(MOVED, 11)), (START, tries(9), is_told(MOVED, 10)), views=HAS,
            says="answers operator"),
    Written(FITS, (START, tries(9), is_told(MOVED, 11)), (SLAVE, tries(9), is_told(MOVED, 11)), views=HAS),
    Written(FITS, (START, tries(9), is_told(MOVED, 11)), (START, tries(9, "busy"), is_told(MOVED, 11, "busy")),
            views=HAS),
    Written(FITS, (START, tries(9), is_told(MOVED, 11)), (START, tries(9), DIES, is_told(MOVED, 11)), views=HAS),
    Written(FITS, (START, tries(9), is_told(MOVED, 11)), (START, tries(9), is_told(MOVED, 11, number=2)), views=HAS),
    Written(FITS, (START, tries(9), (1, "broker-b", DIES[2]), is_told(MOVED, 11)),
            (START, tries(9), AGAIN, is_told(MOVED, 11)), views=HAS),
    Written(WAITS, (START, holds(21)), (START, holds(20)), views=ENDS, says="from 21 on, and queue 0 of orders"),
    Written(WAITS, (START, holds(21)), (START, DELETED, holds(21)), views=ENDS),
    Written(WAITS, (START, holds(21)), (SLAVE, holds(21)), views=ENDS),
    Written(NOTED, (asks(5), told(MOVED, 10)), (asks(5), puts(), told(MOVED, 10)), says="1 pulls on, and put 0"),
    Written(NOTED, (is_told(MOVED, 10),), (puts(), is_told(MOVED, 10), is_told(MOVED, 10, what="another"))),
    Written(NOTED, (asks(5), puts(at="broker-b"), told(MOVED, 10)), (told(MOVED, 10),)),
    Written(NOTED, (asks(5), puts("orders"), told(MOVED, 10)), (asks(5), told(RETRY, 10))),
    Written(NOTED, (asks(5), puts(), told(MOVED, 10), asks(5), told(MOVED, 10)), says="2 pulls on, and put 1",
            kept=(asks(5), puts(), told(MOVED, 10), told(MOVED, 10), FAILS, asks(5), FAILS, told(MOVED, 10))),
    Written(NOTED, (asks(5), told(MOVED, 10)), (asks(5), told(MOVED, 10)), kept_views=Tables(calm=False)),
)
