"""Written histories of listeners: one at a time, what comes of what they answer, and what expires under them."""

from __future__ import annotations

from typing import Any

import invariants.rules.listening  # noqa: F401  # declares its rules
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    ClockJumped,
    ConsumerRemoved,
    ConsumerStarted,
    ListenerEnded,
    ListenerStarted,
    MessageAppended,
    MessagesAnswered,
    MessagesExpired,
    MessagesFound,
    MessagesGiven,
    MessagesSettled,
    OffsetSent,
    ProcessKilled,
    QueueDropped,
    QueueTaken,
)
from invariants.rules.bounds import Bounds
from stateful_tests.rules.written import Tables, Written

MQ, MQ2 = (MessageQueue("orders", "broker-a", queue_id) for queue_id in range(2))
B, C, ID, G = "broker-a", "c1", "c1@1", "G"
MOST, MINUTE_MS = 3, 60_000

Told = tuple[int, str, Any]

BEGINS, ENDS = (1, C, ListenerStarted(ID, G, MQ)), (2, C, ListenerEnded(ID, G, MQ))
DROPPED, TAKEN = (3, C, QueueDropped(ID, G, MQ)), (4, C, QueueTaken(ID, G, MQ, 9))
SETTLED = (6, C, MessagesSettled(ID, G, MQ, (5,)))
KILLED = (4, C, ProcessKilled(1, power_loss=False))
IN_ORDER = (0, C, ConsumerStarted(ID, G, "CLUSTERING", orderly=True))
SENT = (5, C, OffsetSent(ID, G, MQ, 5))
SENT_MORE, SENT_OF_ANOTHER = (5, C, OffsetSent(ID, G, MQ, 6)), (5, C, OffsetSent(ID, "H", MQ, 6))
PUT_OFF, DEAD, SENT_ONLY = (
    (3, B, MessageAppended(B, topic, 0, 0, 0, 100, "k")) for topic in ("SCHEDULE_TOPIC_XXXX", "%DLQ%G", "orders"))
OTHER_PUT_OFF = (3, B, MessageAppended(B, "SCHEDULE_TOPIC_XXXX", 0, 0, 0, 100, "j"))
TO_ALL = (0, C, ConsumerStarted(ID, G, "BROADCASTING", orderly=False))
NO_KEY = (2, C, MessagesAnswered(G, MQ, (5,), ("",), ("LATER",)))
BEGUN = (0, C, QueueTaken(ID, G, MQ, 0))
CALM = Bounds()
MINUTE = Tables(consume_timeout_ms=MINUTE_MS)


def given(attempt: int, ms: int = 1, mq: MessageQueue = MQ, at: str = C) -> Told:
    """A listener is given message 5."""
    return ms, at, MessagesGiven(G, mq, (5,), ("k",), (attempt,), MOST, orderly=False)


def answered(answer: str = "LATER", ms: int = 2) -> Told:
    """It says what it makes of it."""
    return ms, C, MessagesAnswered(G, MQ, (5,), ("k",), (answer,))


def expired(ms: int) -> Told:
    """Its consumer sends it back."""
    return ms, C, MessagesExpired(ID, G, MQ, (5,))


def retaken(ms: int) -> Told:
    """Its consumer takes the queue."""
    return ms, C, QueueTaken(ID, G, MQ, 5)


def says_goodbye(why: str = "unregistered", machine: str = C, client_id: str = ID) -> Told:
    """A broker has no such member any more."""
    return 4, B, ConsumerRemoved(B, G, client_id, f"{machine}:1", why, attached=True)


ROW = "ordered_queue_rests_after_a_minute"


def batch(ms: int, until_ms: int, mq: MessageQueue = MQ) -> tuple[Told, Told]:
    """A listener works for so long."""
    return (ms, C, ListenerStarted(ID, G, mq)), (until_ms, C, ListenerEnded(ID, G, mq))


def found(ms: int, mq: MessageQueue = MQ) -> Told:
    """A pull finds a message."""
    return ms, C, MessagesFound(ID, G, mq, (7,))


HISTORIES = (
    Written(ROW, (*batch(0, 30_000), *batch(30_009, 60_000), *batch(60_001, 60_002)),
            (*batch(0, 30_000), *batch(30_010, 60_000), *batch(60_009, 60_010)), says="for 60001 ms"),
    Written(ROW, (*batch(0, 60_000), *batch(60_001, 60_002)), (*batch(0, 59_999), *batch(60_000, 60_002))),
    Written(ROW, (*batch(0, 60_000), *batch(60_001, 60_002)), (*batch(0, 60_000), *batch(60_001, 60_002, MQ2))),
    Written(ROW, (*batch(0, 60_000), *batch(60_001, 60_002)),
            (*batch(0, 60_000), (60_000, *DROPPED[1:]), *batch(60_001, 60_002))),
    Written(ROW, (*batch(0, 60_000), found(60_000, MQ2), *batch(60_001, 60_002)),
            (*batch(0, 60_000), found(60_000), *batch(60_001, 60_002))),
    Written(ROW, (batch(0, 60_000)[0], found(50_000), batch(0, 60_000)[1], *batch(60_001, 60_002)),
            (*batch(0, 60_000), *batch(60_001, 60_002)), kept_views=Tables(calm=False)),
    Written("queue_has_one_thread", (BEGINS, BEGINS), (BEGINS, ENDS, BEGINS), says="a second listener"),
    Written("queue_has_one_thread", (BEGINS, DROPPED, TAKEN, BEGINS), (BEGINS, KILLED, BEGINS)),
    Written("queue_has_one_thread", (BEGINS, BEGINS), (BEGINS, (1, C, ListenerStarted(ID, G, MQ2)),
                                                       (1, "c2", ListenerStarted(ID, G, MQ)))),
    Written("given_up_is_not_settled", (DROPPED, answered(ms=4), SETTLED), (answered(ms=2), DROPPED, SETTLED)),
    Written("given_up_is_not_settled", (DROPPED, answered(ms=4), SETTLED), (DROPPED, TAKEN, answered(ms=5), SETTLED)),
    Written("given_up_is_not_settled", (DROPPED, answered(ms=4), SETTLED),
            (IN_ORDER, DROPPED, answered(ms=4), SETTLED)),
    Written("given_up_is_not_settled", (DROPPED, answered(ms=4), SETTLED), (answered(ms=3), DROPPED, SETTLED)),
    Written("failed_is_settled_when_it_is_kept", (given(0), answered(), SETTLED),
            (given(0), answered(), PUT_OFF, SETTLED), says="with which a listener has failed"),
    Written("failed_is_settled_when_it_is_kept", (PUT_OFF, given(0, 4), answered(ms=5), SETTLED),
            (given(0), answered(), DEAD, SETTLED)),
    Written("failed_is_settled_when_it_is_kept", (given(0), answered("NULL"), SETTLED),
            (given(0), answered("SUCCESS"), SETTLED)),
    Written("failed_is_settled_when_it_is_kept", (given(0), answered(), SENT_ONLY, SETTLED),
            (given(0), answered(), given(1, 3), answered("SUCCESS", 4), SETTLED)),
    Written("failed_is_settled_when_it_is_kept", (given(0), answered(), OTHER_PUT_OFF, SETTLED),
            (given(0), answered(), TAKEN, SETTLED)),
    Written("failed_is_settled_when_it_is_kept", (given(0), answered(), SETTLED),
            (TO_ALL, given(0), answered(), SETTLED)),
    Written("failed_is_settled_when_it_is_kept", (given(0), answered(), SETTLED), (given(0), NO_KEY, SETTLED)),
    *(Written("broadcast_is_over_when_it_is_answered", (TO_ALL, BEGUN, given(0), answered(answer)),
              (TO_ALL, BEGUN, given(0), answered(answer), SETTLED), bounds=CALM, says="has not settled 5 of queue 0")
      for answer in ("LATER", "NULL", "SUCCESS")),
    *(Written("broadcast_is_over_when_it_is_answered",
              (TO_ALL, BEGUN, given(0), answered(), (6, C, MessagesSettled(ID, G, MQ, (6,)))), kept, bounds=CALM)
      for kept in ((BEGUN, given(0), answered()), (TO_ALL, given(0), answered()), (TO_ALL, BEGUN, answered("NEVER")),
                   (TO_ALL, BEGUN, DROPPED, answered(ms=4)))),
    Written("attempts_count_up", (given(0), answered(), given(0, 3)), (given(0), answered(), given(1, 3)), causes=(),
            says="at attempt 1 again"),
    *(Written("attempts_count_up", (given(0), answered(), given(0, 3)), (given(0), answered(unfailed), given(0, 3)))
      for unfailed in ("HELD", "ROLLBACK")),
    Written("attempts_count_up", (given(1), answered("NULL"), given(0, 3)),
            (given(0), answered("SUCCESS"), given(0, 3))),
    Written("attempts_count_up", (given(0), answered(), given(0, 3)), (given(0), answered(), TAKEN, given(0, 5))),
    Written("attempts_count_up", (given(0), answered(), given(0, 3)), (given(0), answered(), given(0, 3, MQ2))),
    Written("attempts_count_up", (given(0), answered(), given(0, 3)), (answered(), given(0, 3), KILLED, given(0, 5))),
    Written("attempts_count_up", (given(MOST), answered(), given(MOST, 3)), causes=("X26",)),
    Written("attempts_count_up", (given(MOST - 1), answered(), given(MOST - 1, 3)), causes=()),
    Written("expired_was_had_too_long", (given(0), expired(MINUTE_MS)), (given(0), expired(MINUTE_MS + 1)), MINUTE),
    Written("expired_was_had_too_long", (given(0), expired(MINUTE_MS)), (
        (0, C, ClockJumped(5)), given(0), expired(MINUTE_MS)), MINUTE),
    Written("expired_was_had_too_long", (given(0), expired(9)), (given(0), expired(9)), MINUTE, kept_views=Tables()),
    # It was given anew while it was sent back from under a listener of a former holding; that may have answered.
    *(Written("expired_was_had_too_long", broken, (
        given(0), answered("NEVER"), given(0, MINUTE_MS), expired(MINUTE_MS + 1)), MINUTE, causes=()) for broken in (
            (given(0), answered("LATER"), given(0, MINUTE_MS), expired(MINUTE_MS + 1)),
            (given(0), answered("SUCCESS"), given(0, MINUTE_MS), expired(MINUTE_MS + 1)),
            (given(0, 2), answered("NEVER"), given(0, MINUTE_MS), expired(MINUTE_MS + 1)),
            (given(0, mq=MQ._replace(queue_id=7)), answered("NEVER"), given(0, MINUTE_MS), expired(MINUTE_MS + 1)))),
    Written("expired_was_had_too_long", (given(0), retaken(MINUTE_MS), given(0, MINUTE_MS), expired(2 * MINUTE_MS - 1)),
            (given(0), retaken(MINUTE_MS + 1), given(0, MINUTE_MS + 1), expired(MINUTE_MS + 2)), MINUTE),
    Written("expired_was_had_too_long", (retaken(1), given(0), expired(MINUTE_MS)),
            (retaken(1), given(0), expired(MINUTE_MS + 1)), MINUTE),
    Written("expired_was_had_too_long", (
        given(0), expired(MINUTE_MS + 1), given(0, MINUTE_MS + 2), expired(MINUTE_MS + 3)),
            (given(0), expired(MINUTE_MS + 1)), MINUTE),
    Written("expired_was_had_too_long", (given(0), given(0, 9), answered(ms=10), expired(MINUTE_MS + 1)),
            (given(0), given(0, 9), answered(ms=10), expired(MINUTE_MS + 9)), MINUTE),
    Written("leaver_commits_before_it_leaves", (says_goodbye(), SENT), (SENT, says_goodbye())),
    Written("leaver_commits_before_it_leaves", (says_goodbye(), SENT), (says_goodbye("closed"), SENT)),
    Written("leaver_commits_before_it_leaves", (says_goodbye(), SENT), (says_goodbye(machine="c9"), SENT)),
    Written("leaver_commits_before_it_leaves", (says_goodbye(), SENT), (says_goodbye(client_id="c1@2"), SENT)),
    Written("leaver_commits_before_it_leaves", (says_goodbye(), SENT), (says_goodbye(), IN_ORDER, SENT)),
    Written("leaver_commits_before_it_leaves", (SENT, says_goodbye(), SENT_MORE), (SENT, says_goodbye(), SENT)),
    Written("leaver_commits_before_it_leaves", (SENT, SENT_OF_ANOTHER, says_goodbye(), SENT_MORE),
            (SENT_MORE, SENT, says_goodbye(), SENT_MORE)),
    Written("leaver_commits_before_it_leaves", (says_goodbye(), SENT), (says_goodbye(), SENT),
            kept_views=Tables(calm=False)),
)
