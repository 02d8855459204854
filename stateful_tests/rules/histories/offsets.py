"""Written histories of offsets: what brokers keep of them."""

from __future__ import annotations

from typing import Any

import invariants.rules.offsets  # noqa: F401  # declares its rules
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    BrokerShutDown,
    BrokerStarted,
    ConsumerStarted,
    DiskFilled,
    GroupOffsetsRemoved,
    OffsetAnswered,
    OffsetCommitted,
    OffsetCorrected,
    OffsetReset,
    OffsetSent,
    OrderGiven,
    ProcessKilled,
    ProcessPaused,
    PullSuspended,
    QueueTaken,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from stateful_tests.rules.written import STORMY, Tables, Written

MQ = MessageQueue("orders", "broker-a", 0)
B, C, G, AT = "broker-a", "c1", "G", "c1:32768"
START = (0, B, BrokerStarted(B, B, 0))
SLAVE = (0, B, BrokerStarted(B, B, 1))
DIES = (200_000, B, ProcessKilled(1, power_loss=False))
AGAIN = (200_010, B, BrokerStarted(B, B, 0))
DIES_SOON_AGAIN = (300_000, B, ProcessKilled(2, power_loss=False))
"""While it starts."""
MUCH_LATER = (300_010, B, BrokerStarted(B, B, 0))
RESET = (2, C, OffsetReset(C, G, MQ, 4))
ASKED = (1, C, PullSuspended(C, G, MQ, 5))
ASKED_BEFORE_ALL = (1, C, PullSuspended(C, G, MQ, -1))
WITH_A_PULL = (1, C, ASKED[2]._replace(commits=True))
BY_A_TIMER = (1, C, OffsetSent(C, G, MQ, 5))
BROADCASTS, BROADCASTS_TOO = (
    (0, C, ConsumerStarted(C, group, "BROADCASTING", orderly=False)) for group in (G, "H"))
CORRECTED = (2, C, OffsetCorrected(C, G, MQ, 4))
LATE = (4, B, OffsetCommitted(B, G, "orders", 0, 9, AT)), (5, B, OffsetCommitted(B, G, "orders", 0, 4, AT))
TOO_LATE = tuple((ms + 5_000, at, event) for ms, at, event in LATE)
REMOVED = (2, B, GroupOffsetsRemoved(B, G))

Told = tuple[int, str, Any]


def committed(ms: int, offset: int, connection: str = AT) -> Told:
    """A commit comes."""
    return ms, B, OffsetCommitted(B, G, "orders", 0, offset, connection)


def answered(ms: int, offset: int) -> Told:
    """A client is told an offset."""
    return ms, B, OffsetAnswered(B, G, "orders", 0, AT, offset)


def sent(ms: int, at: str, offset: int) -> Told:
    """A client commits."""
    return ms, at, OffsetSent(at, G, MQ, offset)


def ordered(ms: int, offset: int | None, client: str = C, server: str = B, name: str = "G orders 0") -> Told:
    """Somebody says by hand what an offset is to be."""
    return ms, client, OrderGiven(server, "offset", name, None if offset is None else (offset,))


def taken(ms: int, offset: int, client: str = "c2") -> Told:
    """A client begins the queue."""
    return ms, client, QueueTaken(client, G, MQ, offset)


def lower(*records: Told, causes: tuple[str, ...] = ("B-19",)) -> Written:
    """Another client commits less than what has come, because of this."""
    return Written("commits_go_down_by_resets_only", (START, committed(3, 5), *records, committed(9, 4, "c2:1")),
                   causes=causes)


def late_reset(
    *records: Told, reset_to: int = 9, connection: str = AT, kept: tuple[int, int] = (3, 1),
    causes: tuple[str, ...] = (),
) -> Written:
    """The commit of a reset comes late, and then a lower one.

    records -- what is told of. kept -- when its sender has begun the queue again, and at which offset: it is not told.
    """
    reset, came = (2, C, OffsetReset(C, G, MQ, reset_to)), (committed(4, 9, connection), committed(6, 1))
    kept_reset, kept_came = (2, C, OffsetReset(C, G, MQ, 9)), (committed(4, 9), committed(6, 1))
    return Written(
        "commits_go_down_by_resets_only", tuple(sorted((START, reset, *records, *came), key=lambda one: one[0])),
        (START, kept_reset, taken(*kept, C), *kept_came), causes=causes)


HAS_5 = Tables(committed_of={0: 5})
HAS_NONE = Tables(committed_of={})
HAS_4 = Tables(committed_of={0: 4})
WRITES_MS = deadlines.written(STORMY)


def full(ms: int, percent: int = 100) -> Told:
    """The disk of the broker is so full."""
    return ms, B, DiskFilled(percent)


def paused(ms: int, pause_ms: int, at: str = B) -> Told:
    """A broker stands still."""
    return ms, at, ProcessPaused(pause_ms)


HISTORIES = (
    Written("broker_keeps_what_was_committed", (START, committed(1, 5), answered(2, 0)),
            (START, committed(1, 5), answered(2, 5)), views=HAS_5),
    Written("broker_keeps_what_was_committed", (START, committed(1, 5)), (SLAVE, committed(1, 5)), views=HAS_NONE),
    Written("broker_keeps_what_was_committed", (START, committed(1, 5), answered(2, 0)),
            (START, committed(1, 5), REMOVED, answered(3, 0)), views=HAS_5),
    Written("commits_go_down_by_resets_only", (START, committed(1, 5), committed(2, 4)),
            (START, committed(1, 5), RESET, committed(3, 4))),
    Written("commits_go_down_by_resets_only", (START, committed(1, 5), committed(2, 4, "c2:1")),
            (START, committed(1, 5), REMOVED, committed(3, 4))),
    Written("commits_go_down_by_resets_only", (START, committed(1, 5), committed(2, 4, "c1:32769")),
            (START, RESET, committed(3, 5), committed(4, 4))),
    Written("commits_go_down_by_resets_only", (START, committed(1, 5), ASKED, CORRECTED, committed(3, 3)),
            (START, committed(1, 5), ASKED, CORRECTED, committed(3, 4))),
    Written("commits_go_down_by_resets_only", (START, committed(1, 5, "c2:1"), ASKED, CORRECTED, committed(3, 4)),
            (START, committed(1, 5), ASKED, CORRECTED, committed(3, 4, "c1:32769"))),
    Written("commits_go_down_by_resets_only", (START, committed(1, 5), ASKED, CORRECTED, committed(3, 4, "c2:1")),
            causes=("B-19",)),
    Written("commits_go_down_by_resets_only", (START, committed(1, 5), ASKED_BEFORE_ALL, CORRECTED, committed(3, 4)),
            (START, committed(1, 5), ASKED, CORRECTED, committed(3, 4))),
    Written("commits_go_down_by_resets_only",
            (START, committed(1, 5), (1, C, PullSuspended(C, G, MQ, 4)), CORRECTED, committed(3, 4)),
            (START, committed(1, 5), ASKED, CORRECTED, committed(3, 4))),
    Written("group_offsets_go_with_the_group", (REMOVED,), (REMOVED,),
            views=Tables(groups_with_offsets={(G, "orders")}),
            kept_views=Tables(groups_with_offsets={("H", "orders")})),
    Written("committed_offset_survives_its_broker", (START, committed(1, 5), DIES, AGAIN),
            (START, committed(1, 5), DIES, AGAIN), views=HAS_NONE, kept_views=HAS_5),
    Written("committed_offset_survives_its_broker", (START, committed(1, 5), committed(2, 6), DIES, AGAIN),
            (START, committed(1, 4), committed(199_000, 5), committed(199_001, 6), DIES, AGAIN), views=HAS_5),
    Written("committed_offset_survives_its_broker",
            (START, committed(199_000, 6), (199_999, B, BrokerShutDown(B)), DIES, AGAIN),
            (START, committed(199_000, 6), DIES, AGAIN), views=HAS_5),
    Written("commits_go_down_by_resets_only", (START, committed(1, 5), RESET, committed(3, 3)), causes=()),
    Written("commits_go_down_by_resets_only", (START, committed(1, 5), RESET, committed(3, 3, "c2:1")),
            causes=("B-19",)),
    Written("commits_go_down_by_resets_only", (START, committed(1, 5), RESET, committed(3, 3, "c1:32769")),
            causes=("B-32",)),
    Written("commits_go_down_by_resets_only", (START, committed(1, 5, "c2:1"), RESET, committed(3, 3)), causes=()),
    late_reset(taken(1, 1, C)), late_reset(taken(5, 1, C)), late_reset(taken(3, 2, C)), late_reset(taken(3, 1)),
    late_reset(taken(3, 1, C), reset_to=8), late_reset(taken(3, 1, C), connection="c2:1", causes=("B-19",)),
    late_reset(kept=(2, 1)), late_reset(kept=(4, 1)), late_reset(kept=(3, 0)),
    Written("commits_go_down_by_resets_only", (START, sent(1, C, 9), RESET, sent(3, C, 9), *LATE), (
        START, sent(1, C, 9), RESET, sent(3, "c2", 9), *LATE), causes=()),
    Written("commits_go_down_by_resets_only",
            (START, RESET, committed(4, 9, "c2:1"), committed(5, 4)),
            (START, RESET, (3, C, ProcessKilled(1, power_loss=False)), *LATE), causes=("B-19",)),
    Written("commits_go_down_by_resets_only", (START, RESET, sent(3, C, 4), sent(3, C, 9), *TOO_LATE),
            (START, RESET, sent(4, C, 4), sent(4, C, 9), *TOO_LATE), bounds=Bounds(), causes=()),
    # The broker stands still while it is under way.
    Written("commits_go_down_by_resets_only",
            (START, RESET, sent(3, C, 4), sent(3, C, 9), (3, C, ProcessPaused(1)), *TOO_LATE),
            (START, RESET, sent(3, C, 4), sent(3, C, 9), (3, B, ProcessPaused(1)), *TOO_LATE),
            bounds=Bounds(), causes=()),
    # A commit comes when its sender has begun the queue anew below it.
    *(Written("commits_go_down_by_resets_only", (START, *broken, committed(5, 9), committed(6, 4, connection)),
              (START, sent(1, C, 9), taken(2, 4, C), committed(5, 9), committed(6, 4)), causes=causes)
      for broken, connection, causes in (
          ((taken(2, 4, C),), AT, ()), ((sent(1, C, 9),), AT, ()), ((sent(3, C, 9), taken(2, 4, C)), AT, ()),
          ((sent(1, C, 9), taken(2, 4, C), sent(3, C, 9)), AT, ()), ((sent(1, C, 9), taken(2, 5, C)), AT, ()),
          ((sent(1, C, 9), taken(6, 4, C)), AT, ()), ((sent(1, C, 8), taken(2, 4, C)), AT, ()),
          ((sent(1, "c2", 9), taken(2, 4)), "c2:1", ("B-19",)))),
    # Somebody sets the offset by hand.
    *(Written("commits_go_down_by_resets_only", (START, *broken, committed(3, 5), committed(4, 4)),
              (START, *kept, committed(3, 5), committed(4, 4)), causes=()) for kept in (
        (ordered(1, 4),), (ordered(1, 5), ordered(2, 4)), (ordered(0, 4), ordered(1, 5), ordered(2, 4)))
      for broken in ((ordered(1, 4), ordered(2, 5)), (ordered(1, 4, "c2"),), (ordered(1, 4, server="broker-b"),),
                     (ordered(1, 4, name="G orders 1"),), (ordered(1, 4, name="H orders 0"),), (ordered(1, None),),
                     (ordered(1, 3),))),
    lower((4, "c2", OffsetReset("c2", G, MQ, 5))), lower((4, "c2", OffsetReset("c2", G, MQ, 6))),
    lower(), lower(taken(2, 4)), lower(taken(3, 5)), lower(taken(4, 4)),
    lower(taken(4, 5), causes=()), lower(taken(4, 5), sent(4, "c2", 4), causes=()),
    lower(sent(3, "c2", 4), taken(4, 5)),
    lower(sent(3, "c2", 4), taken(4, 5), sent(5, C, 4), sent(6, "c2", 4), causes=()),
    Written("committed_offset_survives_its_broker",
            (START, committed(1, 5), (2, B, DiskFilled(100)), (3, B, DiskFilled(95)), DIES, AGAIN),
            (START, committed(1, 5), (2, B, DiskFilled(100)), DIES, (200_000, B, DiskFilled(0)), AGAIN),
            views=HAS_NONE, kept_views=HAS_NONE),
    Written("committed_offset_survives_its_broker", (START, committed(123_000, 5), DIES, AGAIN),
            (START, committed(123_001, 5), DIES, AGAIN), views=HAS_NONE, kept_views=HAS_NONE),
    Written("committed_offset_survives_its_broker", (START, committed(123_000, 5), DIES, DIES_SOON_AGAIN, MUCH_LATER),
            (START, committed(123_001, 5), DIES, DIES_SOON_AGAIN, MUCH_LATER), views=HAS_NONE, kept_views=HAS_NONE),
    # Nothing is written while the disk is full, or the broker stands still: what was written before is kept.
    *(Written("committed_offset_survives_its_broker", (START, *between, committed(ms, 5), *late, DIES, AGAIN),
              (START, *between, committed(ms + 1, 5), *late, DIES, AGAIN), views=HAS_NONE, kept_views=HAS_NONE)
      for ms, between, late in (
        (150_000 - WRITES_MS, (), (full(150_000),)), (150_000 - WRITES_MS, (), (paused(150_000, 50_000),)),
        (150_000 - WRITES_MS, (), (paused(150_000, 50_000 - WRITES_MS),)),
        (DIES[0] - WRITES_MS, (), (paused(130_000, 69_999 - WRITES_MS),)),
        (DIES[0] - WRITES_MS, (), (paused(150_000, 50_000, "broker-b"),)),
        (90_000 - WRITES_MS, (), (paused(90_000, 60_000 - WRITES_MS), full(150_000))),
        (90_000 - WRITES_MS, (), (full(90_000), full(DIES[0] - WRITES_MS, 0))),
        (DIES[0] - WRITES_MS, (full(10), full(20, 0)), ()),
        (150_000 - WRITES_MS, (), (full(150_000), (199_999, B, BrokerShutDown(B)))),
        (199_999, (full(10), full(199_998 - WRITES_MS, 0)), ((199_999, B, BrokerShutDown(B)),)))),
    Written("committed_offset_survives_its_broker",
            (START, committed(1, 4), committed(2, 5), full(199_000), DIES, AGAIN),
            (START, committed(1, 4), committed(199_001, 5), full(199_001), DIES, AGAIN), views=HAS_4, kept_views=HAS_4),
    *(Written("broadcaster_commits_nowhere", (BROADCASTS, broken), kept, says="c1 broadcasts, and commits")
      for broken, kept in ((WITH_A_PULL, (WITH_A_PULL,)), (WITH_A_PULL, (BROADCASTS, ASKED)),
                           (BY_A_TIMER, (BY_A_TIMER,)), (BY_A_TIMER, (BROADCASTS_TOO, BY_A_TIMER)))),
    Written("offset_is_taken_once", (BY_A_TIMER, committed(3, 5), committed(4, 5)),
            (BY_A_TIMER, BY_A_TIMER, committed(3, 5), committed(4, 5)), bounds=Bounds(),
            says="for c1, which has not sent it again"),
    Written("offset_is_taken_once", (BY_A_TIMER, committed(3, 5), committed(4, 5)),
            (BY_A_TIMER, committed(3, 5), committed(4, 5, "operator:1")), bounds=Bounds()),
)
