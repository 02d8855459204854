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


ROOM = "pull_finds_as_many_as_fit"
KIB, DEEP = 1024, 1_000_000
_Place = tuple[int, int]


def has(*sizes: int, memory: Any = 0) -> Tables:
    """The sizes of the messages of a queue, one behind the other in the log, and where memory begins there."""
    places = [(sum(sizes[:number]), size) for number, size in enumerate(sizes)]

    def readable(_: str, __: str, ___: int, index: int, most: int) -> tuple[_Place, ...]:
        return tuple(places[index:index + most])

    return Tables(readable=readable, memory_begin=memory)


def gives(messages: int, *, since: int = 0, end: int = 90, most: int = 64, going_on: int | None = None) -> list[Told]:
    """A pull finds so many messages."""
    return [asks(since, most), told(FOUND, since + messages if going_on is None else going_on, 0, end, messages)]


SHORT, LONG, ON_DISK = has(*[KIB] * 90), has(*[9 * KIB] * 90), has(*[KIB] * 90, memory=DEEP)
LONG_ON_DISK, MOVES = has(*[9 * KIB] * 90, memory=DEEP), has(*[KIB] * 90, memory=Turns(0, DEEP))
GONE = Tables(readable=(), memory_begin=DEEP)
ONE_IS_LONG = has(300 * KIB, KIB, KIB)

HISTORIES = (
    # How much: by number and by bytes, of the disk and of memory.
    Written(ROOM, (START, *gives(9)), (START, *gives(8)), views=ON_DISK, says="with 9 messages: number 9 is too much"),
    Written(ROOM, (START, *gives(7)), (START, *gives(8)), views=ON_DISK, says="7 messages: there is room for the next"),
    Written(ROOM, (START, *gives(8)), (START, *gives(7)), views=LONG_ON_DISK),
    Written(ROOM, (START, *gives(6)), (START, *gives(7)), views=LONG_ON_DISK),
    Written(ROOM, (START, *gives(33)), (START, *gives(32)), views=SHORT),
    Written(ROOM, (START, *gives(31)), (START, *gives(32)), views=SHORT),
    Written(ROOM, (START, *gives(29)), (START, *gives(28)), views=LONG),
    Written(ROOM, (START, *gives(27)), (START, *gives(28)), views=LONG),
    # Exactly as many bytes as may be: it is not too much.
    Written(ROOM, (START, *gives(3)), (START, *gives(4)), views=has(*[16 * KIB] * 9, memory=DEEP)),
    Written(ROOM, (START, *gives(5)), (START, *gives(4)), views=has(*[16 * KIB] * 9, memory=DEEP)),
    # The first message is given however long it is.
    Written(ROOM, (START, *gives(2)), (START, *gives(1)), views=ONE_IS_LONG),
    # Where memory begins counts for each message by itself.
    Written(ROOM, (START, *gives(9, since=20)), (START, *gives(9, since=24)), views=has(*[KIB] * 33, memory=32 * KIB),
            kept_views=has(*[KIB] * 33, memory=32 * KIB)),
    # Less is left, or wanted; what is there goes to the disk, or has gone.
    Written(ROOM, (START, *gives(3)), (START, *gives(3, end=3)), views=ON_DISK),
    Written(ROOM, (START, *gives(3)), (START, *gives(3, most=3)), views=ON_DISK),
    Written(ROOM, (START, *gives(3)), (START, *gives(3)), views=ON_DISK, kept_views=has(KIB, KIB, KIB, memory=DEEP)),
    Written(ROOM, (START, *gives(9)), (START, *gives(9)), views=ON_DISK, kept_views=MOVES),
    Written(ROOM, (START, *gives(7)), (START, *gives(8)), views=MOVES),
    Written(ROOM, (START, *gives(33)), (START, *gives(32)), views=MOVES),
    Written(ROOM, (START, *gives(9)), (START, *gives(9)), views=ON_DISK, kept_views=GONE),
    # Something was passed over, nothing found, or nobody knows which pull it is.
    Written(ROOM, (START, *gives(3)), (START, *gives(3, going_on=4)), views=ON_DISK),
    Written(ROOM, (START, *gives(3)), (START, *gives(0)), views=ON_DISK),
    Written(ROOM, (START, *gives(3)), (SLAVE, *gives(3)), views=ON_DISK),
    Written(ROOM, (START, *gives(3)), (START, *gives(8), gives(3)[1]), views=ON_DISK),
    Written(ROOM, (START, *gives(3)), (START, asks(0, 64), GIVES_UP, *gives(3)), views=ON_DISK),
    *(Written(ROOM, (START, *gives(3)), (START, asks(0, 64), one, gives(3)[1]), views=ON_DISK)
      for one in (GIVES_UP, DIES, AGAIN, DELETED, (2, C, PullFailed(C, G, MQ)))),
    Written(ROOM, (START, asks(0, 64), (1, "broker-b", DIES[2]), gives(3)[1]), (START, gives(3)[1]), views=ON_DISK),
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
