"""Written histories of half messages, and of the check that comes past them."""

from __future__ import annotations

from typing import Any

import invariants.rules.half_messages  # noqa: F401  # declares the rules
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import (
    RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC,
    RMQ_SYS_TRANS_HALF_TOPIC,
    RMQ_SYS_TRANS_OP_HALF_TOPIC,
)
from impl.events import (
    BrokerShutDown,
    ClockJumped,
    DiskFilled,
    EndTransactionTaken,
    HalfMessageEnded,
    LogExpired,
    MessageAppended,
    MessageDispatched,
    OpMessagesRead,
    ProcessKilled,
    SendAttempted,
    StoreLoaded,
    TopicConfigUpdated,
    WorldHealed,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from invariants.views import QueueRange, StoredRecord
from stateful_tests.rules.histories.promises import MASTER
from stateful_tests.rules.written import STORMY, Tables, Written

A, P = "broker-a", "producer1"
CALM, SLOW = Bounds(), Bounds(force_ms=1_000)
ROLLBACK, COMMIT = "ROLLBACK_MESSAGE", "COMMIT_MESSAGE"
HEALED = (9, "", WorldHealed())
KEPT = Tables(brokers=[MASTER], log_records=(
    StoredRecord(0, RMQ_SYS_TRANS_HALF_TOPIC, 0, 0, 100, "k"), StoredRecord(100, "orders", 0, 0, 100, "plain")))
FAILED = Tables(**KEPT.answers, calm=False)
CUT = Tables(brokers=[MASTER], log_records=())

Told = tuple[int, str, Any]


def appended(ms: int, topic: str = "orders", key: str = "k") -> Told:
    """A broker stores it."""
    return ms, A, MessageAppended(A, topic, 0, 0, 0, 100, key)


def ended(ms: int, state: str) -> Told:
    """The producer ends its half message."""
    return ms, P, HalfMessageEnded(f"{P}@shop", "P", "k", state)


def half(ms: int, offset: int, topic: str = RMQ_SYS_TRANS_HALF_TOPIC) -> tuple[int, str, Any]:
    """A broker stores a half message."""
    return ms, A, MessageAppended(A, topic, 0, offset, 100 * offset, 100, f"k{offset}")


def checked(*, upto: int, stored: int = 9, role: int = 0, topic: str = RMQ_SYS_TRANS_HALF_TOPIC) -> Tables:
    """How far the check of the broker has come, and how many messages its queue has now; role -- its id."""
    return Tables(brokers=[MASTER._replace(broker_id=role)], committed={(topic, 0): upto},
                  stored_at=QueueRange(0, stored))


HALF = appended(1, RMQ_SYS_TRANS_HALF_TOPIC)
SET = (2, A, ClockJumped(-60_000))
GIVEN_UP = appended(3, RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC)

TWICE = Tables(transaction_check_max=2)
PUTS = tuple(appended(ms, RMQ_SYS_TRANS_HALF_TOPIC) for ms in (1, 2, 3))
COMMITTED, DIES = appended(10), (11, A, ProcessKilled(1, power_loss=False))
LATE_MS = 900_000
OPS = RMQ_SYS_TRANS_OP_HALF_TOPIC
OP = appended(1, OPS)
PUT_BACK, PUT_BACK_LATE = (appended(ms, RMQ_SYS_TRANS_HALF_TOPIC) for ms in (12, 14))
BEHIND = (2, A, MessageAppended(A, RMQ_SYS_TRANS_HALF_TOPIC, 0, 1, 100, 100, "k"))

NOTED_BEFORE, NOTED = ((ms, A, MessageAppended(A, RMQ_SYS_TRANS_OP_HALF_TOPIC, 0, 0, 500, 100, None)) for ms in (9, 10))
SEEN, SEEN_LATE = ((ms, A, MessageDispatched(A, RMQ_SYS_TRANS_OP_HALF_TOPIC, 0, 0, 500)) for ms in (11, LATE_MS - 1))
SEEN_IN_TIME = (LATE_MS - deadlines.round_ended(STORMY), *SEEN[1:])
NOTED_THERE = tuple((12, "broker-b", one[2]) for one in (NOTED, HALF))
ASKED_FOR, ASKED_AGAIN = (appended(ms, RMQ_SYS_TRANS_HALF_TOPIC) for ms in (LATE_MS, 2 * LATE_MS))


def sent(attempt: int) -> Told:
    """Its producer sends it."""
    return 0, P, SendAttempted(f"{P}@shop", "P", "k", attempt, MessageQueue("orders", A, 0))


def filled(ms: int, at: str = A, percent: int = 100) -> Told:
    """Files of others fill the disk of a broker."""
    return ms, at, DiskFilled(percent)


def asked(ms: int, state: str = "UNKNOW", key: str = "k") -> Told:
    """The producer is asked, and answers."""
    return ms, P, HalfMessageEnded(f"{P}@shop", "P", key, state, from_check=True)


def taken(place: int, state: str = COMMIT) -> Told:
    """The broker is told how it has ended, at a place of the log where it is, or was."""
    return 9, A, EndTransactionTaken(A, "P", "k", state, True, 0, place)


def put_back(ms: int) -> Told:
    """A broker has put it back, to ask about it."""
    return appended(ms, RMQ_SYS_TRANS_HALF_TOPIC)


def dies(*, power_loss: bool) -> Told:
    """The process of the broker ends."""
    return 3, A, ProcessKilled(1, power_loss=power_loss)


def loads(end: int) -> Told:
    """Its log ends here when it comes up."""
    return 3, A, StoreLoaded(A, 0, end, "ASYNC_FLUSH")


def expired(ms: int = 12, at: str = A) -> Told:
    """The oldest files of its log are gone."""
    return ms, at, LogExpired(at, 400)


def read(ms: int, upto: int, at: str = A) -> Told:
    """The check has read op messages."""
    return ms, at, OpMessagesRead(at, upto)


def late(*others: Told, ms: int) -> tuple[Told, ...]:
    """It is asked about so late, though it has ended, with other things that happen before."""
    return (HALF, *(one for one in others if one[0] < COMMITTED[0]), COMMITTED, NOTED, SEEN,
            *(one for one in others if one[0] > SEEN[0]), put_back(ms), asked(ms + 1))


def noted_behind(ms: int) -> tuple[Told, ...]:
    """The end of another one, or its own, is noted then, behind what was noted at once."""
    return ((ms, A, MessageAppended(A, OPS, 0, 1, 600, 100, None)), (ms + 1, A, MessageDispatched(A, OPS, 0, 1, 600)))


def made(ms: int, topic: str = RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC, at: str = A) -> Told:
    """A broker makes a topic."""
    return ms, at, TopicConfigUpdated(at, topic)


REGISTERED_MS = deadlines.registered(CALM)
WRITTEN_MS = deadlines.written(STORMY)
PUT_LATE, READ_LATE = appended(4 + deadlines.space_seen(SLOW)), (SEEN, read(3_000, 1), ASKED_FOR)
ROUND_MS, CALM_MS = (SEEN[0] + deadlines.round_ended(bounds) for bounds in (STORMY, CALM))


def killed(ms: int, at: str = A, *, power_loss: bool = False) -> Told:
    """A process is killed."""
    return ms, at, ProcessKilled(1, power_loss)


HISTORIES = (
    Written("rolled_back_stays_hidden", broken=(ended(1, ROLLBACK), appended(2)),
            kept=(ended(1, COMMIT), appended(2))),
    Written("rolled_back_stays_hidden", broken=(ended(1, ROLLBACK), appended(2)),
            kept=(ended(1, ROLLBACK), appended(2, RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC), appended(3, key="other"))),
    Written("half_message_ends_at_last", broken=(HALF, HEALED), kept=(HALF, appended(2), HEALED), views=KEPT,
            causes=()),
    Written("half_message_ends_at_last", broken=(HALF, ended(2, COMMIT), HEALED), kept=(HALF, HEALED, appended(10)),
            views=KEPT),
    Written("half_message_ends_at_last", broken=(HALF, appended(2, key="other"), HEALED),
            kept=(HALF, ended(2, ROLLBACK), HEALED), views=KEPT),
    Written("half_message_ends_at_last", broken=(HALF, ended(2, "UNKNOW"), HEALED),
            kept=(HEALED, (10, *HALF[1:])), views=KEPT),
    Written("half_message_ends_at_last", broken=(HALF, HEALED), kept=(HALF, HEALED), views=KEPT, kept_views=CUT),
    Written("half_message_ends_at_last", broken=(HALF, GIVEN_UP, HEALED), views=KEPT, causes=()),
    Written("half_message_ends_at_last", broken=(HALF, GIVEN_UP, HEALED), views=FAILED, causes=("T3",)),
    Written("half_message_ends_at_last", broken=(HALF, HEALED), views=FAILED, causes=()),
    Written("half_message_ends_at_last", broken=(HALF, HEALED), kept=(HALF, SET, HEALED), views=KEPT),
    *(Written("half_message_ends_at_last", broken=(HALF, BEHIND, *broken, HEALED), views=KEPT,
              kept=(HALF, BEHIND, dies(power_loss=True), loads(100), HEALED))
      for broken in ((dies(power_loss=True), loads(101)), (dies(power_loss=False), loads(100)),
                     (dies(power_loss=True),))),
    Written("check_passes_every_half_message", broken=(half(1, 4), half(2, 5), HEALED), views=checked(upto=5),
            kept=(half(1, 4), half(2, 5), HEALED, half(10, 6)), kept_views=checked(upto=6),
            says="is at 5 of its half messages, which end at 6"),
    Written("check_passes_every_half_message", broken=(half(1, 4), half(2, 5), HEALED), views=checked(upto=4, stored=5),
            kept=(half(1, 4), half(2, 5), HEALED), kept_views=checked(upto=5, stored=5), says="end at 5"),
    Written("check_passes_every_half_message", broken=(half(1, 0), HEALED), views=checked(upto=0),
            kept=(half(1, 0), HEALED), kept_views=checked(upto=0, role=1)),
    Written("check_passes_every_half_message", broken=(half(1, 0), HEALED), kept=(half(1, 0), SET, HEALED),
            views=checked(upto=0)),
    Written("check_passes_every_half_message", broken=(half(1, 0), HEALED), views=checked(upto=0),
            kept=(half(1, 0, "orders"), HEALED), kept_views=checked(upto=0)),
    Written("check_passes_every_half_message", broken=(half(1, 0), HEALED), views=Tables(
        brokers=[MASTER], committed={}, stored_at=QueueRange(0, 1)),
            kept=(half(1, 0), HEALED), kept_views=Tables(brokers=[MASTER], committed={}, stored_at=None)),
    Written("check_passes_every_op_message", broken=(OP, HEALED), views=checked(upto=0, topic=OPS),
            kept=(OP, HEALED), kept_views=checked(upto=1, topic=OPS),
            says="is at 0 of its op messages, which end at 1"),
    Written("check_passes_every_op_message", broken=(OP, HEALED), views=checked(upto=1),
            kept=(HALF, HEALED, (10, *OP[1:])), kept_views=checked(upto=0, topic=OPS)),
    Written("check_passes_every_op_message", broken=(OP, HEALED), views=checked(upto=0, topic=OPS),
            kept=(OP, SET, HEALED)),
    Written("half_message_is_asked_about_so_often", (HALF, asked(2), asked(3), asked(4)),
            (HALF, ended(2, "UNKNOW"), asked(2), asked(3), asked(4, key="other")), views=TWICE,
            says="asks about k 3 times, and is to ask 2 times"),
    Written("half_message_is_asked_about_so_often", (HALF, asked(2), asked(3), asked(4)),
            (HALF, asked(2), asked(3), asked(4)), views=TWICE, kept_views=Tables(transaction_check_max=None)),
    Written("half_message_is_asked_about_so_often", (*PUTS[:2], GIVEN_UP), (*PUTS, GIVEN_UP), views=TWICE,
            says="put back 1 times, and is to ask 2 times"),
    Written("half_message_is_asked_about_so_often", (*PUTS[:2], GIVEN_UP), (*PUTS[:2], GIVEN_UP), views=TWICE,
            kept_views=Tables(transaction_check_max=None)),
    Written("half_message_is_asked_about_so_often", (*PUTS[:2], GIVEN_UP), (*PUTS[:2], appended(3)), views=TWICE),
    Written("ended_half_message_is_left_alone", broken=(HALF, COMMITTED, asked(2_011)),
            kept=(HALF, COMMITTED, asked(2_010)), bounds=CALM, causes=(),
            says="asked about k 2001 ms after it was committed"),
    # It waits for a force before it notes the end, but not for long.
    *(Written("ended_half_message_is_left_alone", broken=(HALF, COMMITTED, asked(ms + 1)),
              kept=(HALF, COMMITTED, asked(ms)), bounds=Bounds(force_ms=force_ms), causes=())
      for force_ms, ms in ((1_000, 4_010), (6_000, 7_010))),
    Written("ended_half_message_is_left_alone", broken=late(read(12, 1), *noted_behind(2_011), ms=4_011),
            kept=late(read(12, 1), *noted_behind(2_010), ms=4_011), bounds=SLOW, causes=()),
    Written("ended_half_message_is_left_alone", broken=(HALF, COMMITTED, asked(LATE_MS)),
            kept=(COMMITTED, HALF, asked(LATE_MS)), causes=()),
    Written("ended_half_message_is_left_alone", broken=(HALF, COMMITTED, asked(LATE_MS)),
            kept=(HALF, COMMITTED, ended(LATE_MS, COMMIT), asked(LATE_MS, key="other"))),
    Written("ended_half_message_is_left_alone", broken=(HALF, COMMITTED, asked(LATE_MS)),
            kept=(HALF, COMMITTED, DIES, asked(LATE_MS))),
    Written("ended_half_message_is_left_alone", broken=(sent(1), HALF, COMMITTED, asked(LATE_MS)), causes=(),
            kept=(sent(2), HALF, COMMITTED, asked(LATE_MS))),
    # It is put back with a question; without one, before it is committed and behind it; and first without one.
    Written("ended_half_message_is_left_alone", broken=(*PUTS[:2], asked(3), COMMITTED, PUT_BACK, asked(LATE_MS)),
            causes=()),
    Written("ended_half_message_is_left_alone", broken=(*PUTS[:2], COMMITTED, PUT_BACK, asked(LATE_MS)),
            causes=("T6",)),
    Written("ended_half_message_is_left_alone", broken=(HALF, COMMITTED, PUT_BACK, PUT_BACK, asked(LATE_MS)),
            causes=("T6",)),
    Written("ended_half_message_is_left_alone", broken=(*PUTS, asked(3), COMMITTED, PUT_BACK, asked(LATE_MS)),
            causes=("T6",)),
    Written("ended_half_message_is_left_alone", broken=(HALF, COMMITTED, NOTED, SEEN, ASKED_FOR, asked(LATE_MS)),
            kept=(HALF, COMMITTED, NOTED, SEEN_LATE, ASKED_FOR, asked(LATE_MS)), causes=()),
    Written("ended_half_message_is_left_alone", broken=(*PUTS[:2], COMMITTED, NOTED, SEEN, ASKED_FOR, asked(LATE_MS)),
            kept=(*PUTS[:2], COMMITTED, NOTED, SEEN_LATE, ASKED_FOR, asked(LATE_MS)), causes=("T6",)),
    Written("ended_half_message_is_left_alone", broken=(HALF, COMMITTED, NOTED, SEEN, ASKED_FOR, asked(LATE_MS)),
            kept=(HALF, COMMITTED, NOTED, SEEN_LATE, ASKED_FOR, asked(LATE_MS), ASKED_AGAIN, asked(2 * LATE_MS))),
    # Files of the log go between the end and the next check.
    *(Written("ended_half_message_is_left_alone", broken=(HALF, COMMITTED, *broken, asked(LATE_MS)), causes=(),
              kept=(HALF, COMMITTED, NOTED, SEEN, expired(), ASKED_FOR, asked(LATE_MS))) for broken in (
        (expired(NOTED[0]), NOTED, SEEN, ASKED_FOR), (NOTED, SEEN, expired(at="broker-b"), ASKED_FOR),
        (NOTED, SEEN, read(12, 1), expired(), ASKED_FOR), (NOTED, SEEN, ASKED_FOR, expired(ASKED_FOR[0])))),
    # The check makes a topic and registers it, while the half message is committed, and no thread stands still.
    *(Written("ended_half_message_is_left_alone", bounds=CALM, broken=(HALF, *broken, asked(LATE_MS)),
              kept=(HALF, made(0), COMMITTED, NOTED, SEEN, appended(REGISTERED_MS, RMQ_SYS_TRANS_HALF_TOPIC),
                    asked(LATE_MS))) for broken in (
        (made(0), COMMITTED, NOTED, SEEN, appended(REGISTERED_MS + 1, RMQ_SYS_TRANS_HALF_TOPIC)),
        (COMMITTED, NOTED, SEEN, made(SEEN[0] + 1), appended(REGISTERED_MS, RMQ_SYS_TRANS_HALF_TOPIC)),
        (made(0, "orders"), COMMITTED, NOTED, SEEN, appended(REGISTERED_MS, RMQ_SYS_TRANS_HALF_TOPIC)),
        (made(0, at="broker-b"), COMMITTED, NOTED, SEEN, appended(REGISTERED_MS, RMQ_SYS_TRANS_HALF_TOPIC)),
        (made(0), COMMITTED))),
    # It was committed before, and what says so could not be read yet.
    Written("ended_half_message_is_left_alone", bounds=CALM,
            broken=(HALF, COMMITTED, NOTED, SEEN, made(SEEN[0] + 1), put_back(SEEN[0] + REGISTERED_MS), asked(LATE_MS)),
            kept=(HALF, COMMITTED, NOTED, made(SEEN[0]), SEEN, put_back(SEEN[0] + REGISTERED_MS), asked(LATE_MS))),
    Written("ended_half_message_is_left_alone", bounds=CALM, broken=(HALF, COMMITTED, asked(LATE_MS)),
            kept=(HALF, made(0), COMMITTED, NOTED, SEEN, appended(REGISTERED_MS, RMQ_SYS_TRANS_HALF_TOPIC),
                  asked(LATE_MS), ASKED_AGAIN, asked(2 * LATE_MS))),
    Written("ended_half_message_is_left_alone", broken=(HALF, COMMITTED, *NOTED_THERE, asked(LATE_MS)),
            kept=(HALF, COMMITTED, NOTED, SEEN_IN_TIME, ASKED_FOR, asked(LATE_MS))),
    Written("ended_half_message_is_left_alone", broken=(HALF, NOTED_BEFORE, COMMITTED, ASKED_FOR, asked(LATE_MS)),
            kept=(HALF, COMMITTED, NOTED, ASKED_FOR, asked(LATE_MS)), causes=()),
    Written("ended_half_message_is_left_alone", broken=(HALF, COMMITTED, PUT_BACK, asked(LATE_MS)),
            kept=(HALF, COMMITTED, PUT_BACK, asked(13), PUT_BACK_LATE, asked(LATE_MS)), causes=()),
    # A round of checks goes on with what it has read, for a minute by its clock, where threads stand still.
    Written("ended_half_message_is_left_alone", broken=late(ms=ROUND_MS + 1), kept=late(ms=ROUND_MS), causes=()),
    Written("ended_half_message_is_left_alone", broken=late(ms=CALM_MS + 1), kept=late(ms=CALM_MS), bounds=CALM,
            causes=()),
    *(Written("ended_half_message_is_left_alone", broken=late(read(12, 1), *others, ms=ROUND_MS), causes=(),
              kept=late(*others, kept, ms=ROUND_MS))
      for others, kept in (((), read(12, 0)), ((), read(12, 1, "broker-b")), ((read(5, 0),), read(12, 0)))),
    Written("ended_half_message_is_left_alone", broken=late(read(12, 1), ms=ROUND_MS), causes=(),
            kept=(*late(ms=ROUND_MS)[:-1], read(ROUND_MS, 1), asked(ROUND_MS + 1))),
    *(Written("ended_half_message_is_left_alone", broken=late(*broken, ms=ROUND_MS + 5), causes=(),
              kept=late((12, A, ClockJumped(5)), (13, A, ClockJumped(-5)), ms=ROUND_MS + 5))
      for broken in (((12, A, ClockJumped(-4)),), ((12, A, ClockJumped(5)),), ((12, "broker-b", ClockJumped(-5)),),
                     ((9, A, ClockJumped(-5)),), ((12, A, ClockJumped(-5)), read(13, 1)))),
    # A full disk keeps its broker from noting the end; it knows for a while what is over.
    *(Written("ended_half_message_is_left_alone", broken=(HALF, *broken, asked(LATE_MS)), causes=(), bounds=SLOW,
              kept=(HALF, *kept, asked(LATE_MS)))
      for broken, kept in (
          ((COMMITTED,), (filled(9), COMMITTED)),
          ((filled(9, percent=90), COMMITTED), (filled(9, percent=91), COMMITTED)),
          ((filled(9, at="broker-b"), COMMITTED), (filled(9), COMMITTED, NOTED_THERE[0])),
          ((filled(2), filled(3, percent=0), PUT_LATE), (filled(2), PUT_LATE)),
          ((filled(2), filled(3, percent=0), PUT_LATE), (filled(2), filled(4, percent=0), PUT_LATE)),
          ((COMMITTED, filled(2_011)), (COMMITTED, filled(2_010))),
          ((filled(9), COMMITTED, NOTED, *READ_LATE), (filled(9), NOTED_BEFORE, COMMITTED, *READ_LATE)),
          ((filled(9), COMMITTED, *noted_behind(2_010), *READ_LATE[1:]),
           (filled(9), COMMITTED, *noted_behind(2_011), *READ_LATE[1:])))),
    Written("ended_half_message_is_left_alone", bounds=SLOW, broken=(HALF, COMMITTED, asked(LATE_MS)),
            kept=(HALF, filled(9), COMMITTED, asked(LATE_MS), ASKED_AGAIN, asked(2 * LATE_MS))),
    # It is put back with a question, and the answer to a former one names the place before.
    Written("ended_half_message_is_left_alone", broken=(HALF, BEHIND, asked(3), taken(100), COMMITTED, asked(LATE_MS)),
            kept=(HALF, BEHIND, asked(3), taken(0), COMMITTED, asked(LATE_MS)), causes=()),
    Written("ended_half_message_is_left_alone",
            broken=(HALF, BEHIND, asked(3), taken(0, ROLLBACK), COMMITTED, asked(LATE_MS)), causes=()),
    Written("ended_half_message_is_left_alone", broken=(HALF, BEHIND, taken(0), COMMITTED, PUT_BACK, asked(LATE_MS)),
            causes=("T6",)),
    # X1: a broker has put it back, and was killed before it had written how far its check had come.
    *(Written("ended_half_message_is_left_alone", causes=causes, broken=(
        HALF, back, asked(3), *ends, (LATE_MS, A, COMMITTED[2]), asked(2 * LATE_MS))) for back, ends, causes in (
            (BEHIND, (killed(2 + WRITTEN_MS),), ("X1",)), (BEHIND, (killed(3 + WRITTEN_MS),), ()),
            (BEHIND, (killed(3 + WRITTEN_MS, power_loss=True),), ("X1",)),
            (BEHIND, (killed(4, "broker-b"),), ()), (BEHIND, ((3, A, BrokerShutDown(A)), killed(4)), ()),
            (BEHIND, (killed(4), (5, A, BrokerShutDown(A)), killed(6)), ("X1",)), (BEHIND, (), ()),
            (BEHIND, (killed(3 + WRITTEN_MS), killed(4 + WRITTEN_MS)), ()),
            (appended(2, RMQ_SYS_TRANS_HALF_TOPIC, "other"), (killed(4),), ()))),
)
