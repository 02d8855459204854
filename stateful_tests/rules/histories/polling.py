"""Written histories of applications that poll: what they are given, what is committed, and what rests."""

from __future__ import annotations

from typing import Any

import invariants.rules.polling  # noqa: F401  # declares its rules
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullCode
from impl.events import (
    CommitAsked,
    DiskFilled,
    MessagesPolled,
    OffsetAnswered,
    OffsetSent,
    PollBegan,
    ProcessKilled,
    PullAnswered,
    PullSuspended,
    QueueRested,
    QueuesHeld,
    QueueSought,
    StoreLoaded,
    TimerJobBegan,
    TimerJobEnded,
    TopicLeft,
    TopicTakenAgain,
)
from stateful_tests.rules.written import Written

MQ, MQ2 = (MessageQueue("orders", "broker-a", queue_id) for queue_id in range(2))
B, C, C2, G, H = "broker-a", "c1", "c2", "G", "H"

Told = tuple[int, str, Any]


def has(*mqs: MessageQueue, group: str = G) -> Told:
    """The consumer has these queues from now on."""
    return 1, C, QueuesHeld(C, group, frozenset(mqs))


def polled(*offsets: int, at: str = C, group: str = G, mq: MessageQueue = MQ) -> Told:
    """The application is given messages."""
    return 2, at, MessagesPolled(group, mq, offsets)


def sent(offset: int, group: str = G, mq: MessageQueue = MQ) -> Told:
    """The client commits."""
    return 4, C, OffsetSent(C, group, mq, offset)


def pulled(mq: MessageQueue = MQ, at: str = C) -> Told:
    """The client pulls."""
    return 5, at, PullSuspended(at, G, mq, 5)


def told(offset: int, at: str = C, queue_id: int = 0) -> Told:
    """A broker answers a client with what is committed."""
    return 2, B, OffsetAnswered(B, G, "orders", queue_id, f"{at}:1", offset)


def selected(*offsets: int, tags: tuple[str, ...] = ("a",), subscribed: str = "a || b") -> Told:
    """The same of an application that subscribes some tags."""
    return 2, C, MessagesPolled(G, MQ, offsets, tags=tags, subscribed=subscribed)


def pulls(offset: int, mq: MessageQueue = MQ) -> Told:
    """A pull of the queue begins there."""
    return 3, C, PullSuspended(C, G, mq, offset)


def goes_on(offset: int) -> Told:
    """A broker answers a pull, the next of which is to begin there."""
    return 3, C, PullAnswered(C, G, MQ, PullCode.SUCCESS, offset)


def answered(code: PullCode) -> Told:
    """A broker answers a pull."""
    return 3, C, PullAnswered(C, G, MQ, code, 9)


def powerless(at: str = B, *, power_loss: bool = True) -> Told:
    """The process of a broker ends, with the power of its machine."""
    return 0, at, ProcessKilled(1, power_loss)


def comes_up(*, last_exit_ok: bool, at: str = B) -> Told:
    """Its store is recovered, as after a stop or not."""
    return 0, at, StoreLoaded(at, 0, 0, "SYNC_FLUSH", last_exit_ok)


AGAIN, BY_HAND, ASKED = (3, C, PollBegan(G, auto_commit=True)), (3, C, PollBegan(G, auto_commit=False)), (
    3, C, CommitAsked(G))
SOUGHT = (3, C, QueueSought(G, MQ, 4))
RESTS, GOES_ON = ((3, C, QueueRested(G, MQ, rested=rested)) for rested in (True, False))
LEFT, TAKEN_AGAIN = (1, C, TopicLeft(G, "orders")), (1, C, TopicTakenAgain(G, "orders"))
KILLED, FULL = (3, C, ProcessKilled(1, power_loss=False)), (0, B, DiskFilled(95))
ELSEWHERE = (0, "broker-b", DiskFilled(95))

TIMER, HEARTBEATS = (
    ((3, C, TimerJobBegan(C, job, 5_000)), (3, C, TimerJobEnded(C, job)))
    for job in ("persistAllConsumerOffset", "sendHeartbeatToAllBroker"))

MOVED = answered(PullCode.PULL_OFFSET_MOVED)

HISTORIES = (
    Written("polls_follow_one_another", (polled(5), polled(7)), (polled(5), polled(6, 7)), says="where 6 follows"),
    Written("polls_follow_one_another", (polled(5, 7),), (polled(5, 6),)),
    Written("polls_follow_one_another", (polled(5), polled(5)), (polled(5), polled(5, mq=MQ2))),
    Written("polls_follow_one_another", (selected(5, 7), selected(7)), (selected(5, 7), selected(9, 12))),
    Written("polls_follow_one_another", (selected(7, 5),), (selected(5, 7),)),
    Written("only_the_subscribed_is_polled", (selected(5, tags=("c",)),), (selected(5, 7, tags=("b", "a")),), causes=(),
            says="with the tag c, and subscribes a || b"),
    Written("only_the_subscribed_is_polled", (selected(5, 6, tags=("a", "")),), (
        selected(5, 6, tags=("c", ""), subscribed="*"), polled(5)), says="with the tag (none)"),
    *(Written("refused_offset_is_left", (has(MQ), pulls(5), MOVED, *broken, pulls(5)), (
        has(MQ), pulls(5), MOVED, *kept, pulls(5)), causes=(), says="again from 5 on") for broken, kept in (
            ((), (pulls(9),)), ((has(MQ, MQ2),), (has(MQ2),)), ((pulls(9, MQ2),), (SOUGHT,)), ((), (KILLED,)))),
    Written("refused_offset_is_left", (has(MQ), pulls(5), MOVED, pulls(5)), (
        has(MQ), pulls(5), answered(PullCode.PULL_NOT_FOUND), pulls(5))),
    Written("refused_offset_is_left", (has(MQ), pulls(5), MOVED, pulls(5)), (has(MQ), pulls(9), MOVED, pulls(9))),
    Written("refused_offset_is_left", (has(MQ), pulls(5), MOVED, pulls(5)), (pulls(5), MOVED, pulls(5))),
    Written("polls_follow_one_another", (polled(5), SOUGHT, polled(6)), (polled(5), SOUGHT, polled(4))),
    Written("polls_follow_one_another", (polled(5), has(MQ), polled(7)), (polled(5), has(MQ2), polled(7))),
    Written("polls_follow_one_another", (polled(5), has(group=H), polled(7)), (polled(5), has(), polled(7))),
    Written("polls_follow_one_another", (has(MQ), SOUGHT, has(MQ), polled(7)), (has(), SOUGHT, has(MQ), polled(7))),
    Written("polls_follow_one_another", (has(MQ), SOUGHT, has(MQ, group=H), has(MQ), polled(7)),
            (has(MQ), has(MQ2), SOUGHT, has(MQ, MQ2), polled(7))),
    Written("polls_follow_one_another", (polled(5), polled(7)), (polled(5), KILLED, polled(7))),
    Written("polls_follow_one_another", (polled(5), polled(7)), (polled(5), polled(7, at=C2), polled(9, group=H))),
    Written("polls_follow_one_another", (polled(5), answered(PullCode.PULL_NOT_FOUND), polled(9)),
            (polled(5), answered(PullCode.PULL_OFFSET_MOVED), polled(9))),
    Written("polls_follow_one_another", (ELSEWHERE, polled(5), polled(7)), (FULL, polled(5), polled(7))),
    *(Written("polls_follow_one_another", (*before, polled(5), polled(7)), causes=causes) for before, causes in (
        ((powerless(), comes_up(last_exit_ok=True)), ("V26",)), ((powerless(), comes_up(last_exit_ok=False)), ()),
        ((powerless("broker-b"), comes_up(last_exit_ok=True, at="broker-b")), ()),
        ((comes_up(last_exit_ok=True), powerless()), ()),
        ((powerless(power_loss=False), comes_up(last_exit_ok=True)), ()))),
    # A pull from offset 4, which was sought, is not answered, and the next one begins at 6, as before.
    *(Written("polls_follow_one_another", (polled(5), SOUGHT, *then, polled(6)), causes=causes) for then, causes in (
        ((pulls(4), pulls(6)), ("X30",)), ((pulls(4), pulls(4), pulls(6)), ("X30",)), ((pulls(6),), ()),
        ((pulls(4),), ()), ((pulls(6), pulls(4)), ()), ((pulls(4), goes_on(6), pulls(6)), ()),
        ((pulls(4), goes_on(5), pulls(6)), ("X30",)), ((goes_on(6), pulls(4), pulls(6)), ("X30",)),
        ((pulls(4), goes_on(6), pulls(6), pulls(7)), ()),
        ((pulls(4), goes_on(6), pulls(4), pulls(6)), ()), ((pulls(4), goes_on(6), pulls(6), pulls(4), pulls(7)), ()),
        ((pulls(4), pulls(6), SOUGHT), ()),
        ((pulls(4), SOUGHT, pulls(6)), ()), ((pulls(4), pulls(6, MQ2)), ()), ((pulls(4, MQ2), pulls(6)), ()))),
    Written("only_the_held_is_polled", (has(MQ2), polled(5)), (has(MQ, MQ2), polled(5)), says="which it does not have"),
    Written("only_the_held_is_polled", (has(MQ), has(), polled(5)), (has(), polled(5, at=C2), polled(5, group=H))),
    Written("only_the_held_is_polled", (has(MQ), LEFT, has(), polled(5)), causes=("X27",)),
    Written("only_the_held_is_polled", (has(MQ), TAKEN_AGAIN, has(), polled(5)), causes=()),
    Written("only_what_was_worked_on_is_committed", (polled(5, 6), sent(7)), (polled(5, 6), AGAIN, sent(7)),
            says="done with all below 5"),
    Written("only_what_was_worked_on_is_committed", (polled(5, 6), BY_HAND, sent(7)), (polled(5, 6), ASKED, sent(7))),
    Written("only_what_was_worked_on_is_committed", (polled(5), AGAIN, polled(6), sent(7)),
            (polled(5), AGAIN, polled(6), sent(6))),
    *(Written("only_what_was_worked_on_is_committed", (polled(5, 6), has(*kept), sent(7)), (
        polled(5, 6), ASKED, has(*kept), sent(7))) for kept in ((MQ,), ())),
    Written("only_what_was_worked_on_is_committed", (polled(5, 6), has(), TIMER[0], sent(7)),
            (polled(5, 6), has(), *TIMER, sent(7))),
    Written("only_what_was_worked_on_is_committed", (polled(3), SOUGHT, sent(5)), (polled(3), SOUGHT, sent(4))),
    Written("only_what_was_worked_on_is_committed", (told(4), SOUGHT, sent(5)), (told(5), SOUGHT, sent(5))),
    Written("only_what_was_worked_on_is_committed", (told(5, C2), told(5, queue_id=1), SOUGHT, sent(5)),
            (told(5), told(4), SOUGHT, sent(5))),
    Written("only_what_was_worked_on_is_committed", (told(5), KILLED, SOUGHT, sent(5)), (told(5), sent(6))),
    Written("only_what_was_worked_on_is_committed", (polled(5), sent(6)), (sent(6), sent(9, H), sent(9, mq=MQ2))),
    Written("only_what_was_worked_on_is_committed", (polled(5, group=H), AGAIN, sent(6, H)),
            (polled(5), AGAIN, sent(6))),
    # Of a queue that was given up its client forgets what was done when its timer comes past it.
    *(Written("only_what_was_worked_on_is_committed", (polled(5, 6), ASKED, *broken, SOUGHT, sent(7)),
              (polled(5, 6), ASKED, *kept, SOUGHT, sent(7))) for broken, kept in (
        ((has(), *TIMER, has(MQ)), (has(), has(MQ))),
        ((has(MQ2), *TIMER, has(MQ)), (has(), TIMER[0], has(MQ), TIMER[1])),
        ((has(), TIMER[0], *TIMER, has(MQ)), (TIMER[0], has(), TIMER[1], has(MQ))),
        ((has(), *TIMER), (has(), has(MQ), *TIMER)),
        ((has(), *TIMER, has(MQ)), (has(), TIMER[0], has(MQ), has(), TIMER[1])),
        ((has(), has(MQ), SOUGHT, sent(4)), (has(), has(MQ), SOUGHT, sent(7))),
        ((has(), *TIMER), (has(), *HEARTBEATS)),
        ((has(), *TIMER), (has(), TIMER[0], HEARTBEATS[1])),
        ((has(), *TIMER), (has(), *((3, C2, one[2]) for one in TIMER))),
        ((has(), *TIMER), (has(), TIMER[0], (3, C2, TIMER[1][2]))),
        ((has(), TIMER[0], has(MQ, group=H), TIMER[1]), (has(), TIMER[0], has(MQ, group=H))))),
    Written("only_what_was_worked_on_is_committed", (polled(5, 6), ASKED, has(), TIMER[0], sent(4), TIMER[1], has(MQ),
                                                     SOUGHT, sent(7)), (polled(5, 6), ASKED, has(), TIMER[0], sent(4))),
    Written("only_what_was_worked_on_is_committed", (polled(5, 6), has(), has(MQ), SOUGHT, sent(7)),
            (polled(5, 6), ASKED, has(), has(MQ), SOUGHT, sent(7), sent(7))),
    # What was sent of it stays in memory; a seek in a queue that comes behind it has led nowhere.
    Written("only_what_was_worked_on_is_committed", (polled(5, 6), ASKED, has(), sent(7), sent(9)),
            (polled(5, 6), ASKED, has(), sent(7), sent(7)), says="done with all below 7"),
    Written("only_what_was_worked_on_is_committed", (has(MQ), SOUGHT, has(MQ), sent(5)),
            (has(), SOUGHT, has(MQ), sent(5))),
    # It has committed less than it was done with, and does so again.
    *(Written("only_what_was_worked_on_is_committed", broken, (
        polled(5, 6), ASKED, has(), has(MQ), sent(5), SOUGHT, sent(5))) for broken in (
            (polled(5, 6), ASKED, has(), has(MQ), sent(5), SOUGHT, sent(6)),
            (polled(5, 6), ASKED, has(), has(MQ), sent(5), sent(4), SOUGHT, sent(5)),
            (polled(5, 6), ASKED, has(), has(MQ), sent(5, H), SOUGHT, KILLED, SOUGHT, sent(5)))),
    Written("only_what_was_worked_on_is_committed", (polled(5), ASKED, has(), has(MQ), polled(9), sent(10)),
            (polled(5), ASKED, has(), has(MQ), polled(9), sent(9))),
    Written("only_what_was_worked_on_is_committed", (ELSEWHERE, polled(5), sent(7)), (FULL, polled(5), sent(7))),
    # Who subscribes some tags may commit up to the next message that waits.
    Written("only_what_was_worked_on_is_committed", (selected(5), AGAIN, sent(8), selected(7)), (
        selected(5), AGAIN, sent(8), selected(8)), says="has committed 8 of queue 0"),
    Written("only_what_was_worked_on_is_committed", (selected(5), AGAIN, sent(8), selected(6)), (
        selected(5), AGAIN, sent(8), SOUGHT, selected(6))),
    Written("rested_queue_is_not_pulled", (RESTS, pulled(), pulled()), (RESTS, pulled()), says="application rests"),
    Written("rested_queue_is_not_pulled", (RESTS, pulled(), pulled()), (RESTS, pulled(), GOES_ON, pulled(), pulled())),
    Written("rested_queue_is_not_pulled", (RESTS, pulled(), pulled()), (RESTS, pulled(), pulled(MQ2), pulled(at=C2))),
    Written("rested_queue_is_not_pulled", (RESTS, has(MQ), pulled(), pulled()), (RESTS, has(), pulled(), pulled())),
)
