"""Written histories of what a broker answers to a put."""

from __future__ import annotations

from typing import Any

import invariants.rules.store_answers  # noqa: F401  # declares the rules
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import CLIENT_INNER_PRODUCER_GROUP, RMQ_SYS_SCHEDULE_TOPIC as DELAYED
from impl.decisions.route_queues import QueueData
from impl.events import (
    ClockDrifts,
    ClockJumped,
    ForceFailed,
    LogExpired,
    LogFlushed,
    MessageAppended,
    ProcessKilled,
    ReplicaReported,
    SendAnswered,
    SendAttempted,
    StoreLoaded,
    ThreadsHeld,
    WorldHealed,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from stateful_tests.rules.written import Tables, Written

B, P, OTHER = "broker-a", "producer1", "broker-b"
DISK, SLAVE = 10, 12
DISK_MS, SLAVE_MS = 5_000, 3_000
BUSY, AGAIN, HEALED = 2, "busy_broker_takes_messages_again", (5, "world", WorldHealed())
AGAIN_MS = deadlines.unbusied(Bounds())
Told = tuple[int, str, Any]


def loaded(how: str = "SYNC_FLUSH") -> Told:
    """The store has recovered."""
    return 0, B, StoreLoaded(B, 0, 0, how)


def held(pool: str = "send") -> Told:
    """All threads of a pool are busy until a moment after the last fault."""
    return 6, B, ThreadsHeld(B, pool, 9)


def answered(ms: int, code: int = 0, offset: int = 0, key: str = "k1") -> Told:
    """The producer is answered."""
    return ms, P, SendAnswered(B, "orders", 0, 0, offset, key, code)


def failed(ms: int, at: str = B) -> Told:
    """A force has failed."""
    return ms, at, ForceFailed("store/commitlog/0", lost=True)


def flushed(offset: int, at: str = B) -> Told:
    """The log counts as flushed up to an offset."""
    return 0, at, LogFlushed(at, offset)


def forced(ms: int, offset: int) -> Told:
    """The log counts as flushed up to an offset."""
    return ms, B, LogFlushed(B, offset)


def reported(ms: int, offset: int, at: str = B) -> Told:
    """A slave has the log of a master up to an offset."""
    return ms, at, ReplicaReported(at, "slave", offset, offset)


def expired(least: int, at: str = B) -> Told:
    """The log begins there now."""
    return 0, at, LogExpired(at, least)


def sent(*, waits: bool, group: str = CLIENT_INNER_PRODUCER_GROUP) -> Told:
    """A client sends it itself; waits -- and says that it is to be waited for."""
    return 0, P, SendAttempted(f"{P}@1", group, "k1", 1, MessageQueue("orders", B, 0), waits=waits)


def named(queue_id: int, key: str = "k1") -> Told:
    """The producer sends a message to a queue."""
    return 0, P, SendAttempted(f"{P}@1", "P", key, 1, MessageQueue("orders", B, queue_id))


def with_queues(read: int, write: int) -> Tables:
    """So many queues of the topic may be read, and written."""
    return Tables(topics={"orders": QueueData(B, read, write, 6, 0)})


def put_as(topic: str, key: str = "k1", *, waits: bool = False) -> Told:
    """A broker appends a copy."""
    return 0, B, MessageAppended(B, topic, 0, 0, 0, 100, key, waits)


FAILED = ForceFailed("store/commitlog/0", lost=True)
PUT = (1, B, MessageAppended(B, "orders", 0, 0, 0, 100, "k1"))
ON_DISK, CACHED = Tables(is_forced=True), Tables(is_forced=False)
SHORT = Tables(is_forced=lambda _, offset, size: (offset, size) != (0, 100))

HISTORIES = (
    Written("broker_takes_messages", (answered(1, 1),), (answered(1, 1),), says="SYSTEM_ERROR",
            kept_views=Tables(calm=False)),
    Written("broker_takes_messages", (answered(1, 2),), (answered(1), answered(1, 14)), says="SYSTEM_BUSY"),
    Written("broker_takes_messages", (answered(1, 1),), (
        (1, P, SendAnswered(B, "DefaultCluster_REPLY_TOPIC", -1, -1, -1, "k", 1)),)),
    # The topic has fewer queues now.
    Written("broker_takes_messages", (named(3), answered(1, 1)), (named(4), answered(1, 1)), views=with_queues(4, 2),
            kept_views=with_queues(4, 2)),
    Written("broker_takes_messages", (named(3), answered(1, 1)), (named(4), answered(1, 1)), views=with_queues(2, 4),
            kept_views=with_queues(2, 4)),
    Written("broker_takes_messages", (named(4), answered(1, 2)), (named(4), answered(1, 1)), views=with_queues(4, 4),
            kept_views=with_queues(4, 4)),
    Written("broker_takes_messages", (named(4, "k2"), answered(1, 1)), (named(4), answered(1, 1)),
            views=with_queues(4, 4), kept_views=with_queues(4, 4)),
    Written("broker_takes_messages", (named(4), answered(1, 1)), views=Tables(topics={})),
    Written("acknowledged_is_on_the_disk", broken=(loaded(), PUT, answered(2)), views=CACHED, causes=(),
            says="a loss of power may take it", kept=(loaded(), PUT, answered(2)), kept_views=ON_DISK),
    Written("acknowledged_is_on_the_disk", broken=(loaded(), PUT, answered(2)), views=SHORT,
            kept=(loaded("ASYNC_FLUSH"), PUT, answered(2)), kept_views=CACHED),
    Written("acknowledged_is_on_the_disk", broken=(loaded(), PUT, answered(2)), views=CACHED,
            kept=(loaded(), PUT, answered(2, DISK)), kept_views=CACHED),
    Written("acknowledged_is_on_the_disk", broken=(loaded(), PUT, answered(2)), views=CACHED,
            kept=(loaded(), PUT, answered(2, offset=100)), kept_views=CACHED),
    Written("acknowledged_is_on_the_disk", broken=(loaded(), sent(waits=True), PUT, answered(2)), views=CACHED,
            kept=(loaded(), sent(waits=False), PUT, answered(2)), kept_views=CACHED),
    Written("acknowledged_is_on_the_disk", broken=(loaded(), PUT, failed(2), answered(3)), views=CACHED,
            kept=(loaded(), PUT, failed(2), answered(3)), kept_views=ON_DISK, causes=("V6",)),
    Written("acknowledged_is_on_the_disk", broken=(loaded(), failed(0), PUT, answered(3)), views=CACHED, causes=()),
    Written("acknowledged_is_on_the_disk", broken=(loaded(), PUT, failed(2, OTHER), answered(3)), views=CACHED,
            kept=(loaded(), answered(3)), kept_views=CACHED, causes=()),

    Written("sender_is_waited_for", broken=(sent(waits=False),), kept=(sent(waits=True),),
            says="nobody is to wait for it"),
    Written("sender_is_waited_for", broken=(put_as(DELAYED, "k2"), sent(waits=False)),
            kept=(put_as(DELAYED), sent(waits=False))),
    Written("sender_is_waited_for", broken=(put_as(DELAYED, waits=True), sent(waits=False)), kept=(sent(waits=True),)),
    Written("sender_is_waited_for", broken=(put_as("orders"), sent(waits=False)), kept=(sent(waits=True),)),

    Written("time_outs_are_waited", broken=(PUT, answered(DISK_MS, DISK)), kept=(PUT, answered(DISK_MS + 1, DISK)),
            says="its disk was too slow"),
    Written("time_outs_are_waited", broken=(PUT, answered(SLAVE_MS, SLAVE)), kept=(PUT, answered(SLAVE_MS + 1, SLAVE)),
            says="each slave was too slow"),
    Written("time_outs_are_waited", broken=(PUT, answered(2, DISK)), kept=(PUT, answered(2))),
    Written("time_outs_are_waited", broken=(PUT, answered(2, DISK)), kept=(PUT, answered(2, DISK, key="k2"))),
    Written("time_outs_are_waited", broken=(failed(0, OTHER), PUT, answered(2, DISK)),
            kept=(PUT, failed(1), answered(2, DISK))),
    Written("time_outs_are_waited", broken=(PUT, answered(2, SLAVE)),
            kept=(PUT, (1, B, ClockJumped(9_000)), answered(2, SLAVE))),
    # What ends at 100 was put at 1, and the disk, or a slave, had it before the time was over.
    *(Written("time_outs_are_true", (PUT, had(6, 100), answered(9_000, code)), kept, says="had after 5 ms",
              bounds=Bounds())
      for had, code, kept in (
          (reported, SLAVE, (PUT, reported(6, 99), answered(9_000, SLAVE))),
          (forced, DISK, (PUT, forced(6, 99), answered(9_000, DISK))),
          (reported, SLAVE, (PUT, reported(6, 100), answered(9_000))),
          (reported, SLAVE, (PUT, reported(6, 100), answered(9_000, DISK))),
          (reported, SLAVE, (PUT, reported(6, 100, OTHER), answered(9_000, SLAVE))),
          (reported, SLAVE, (PUT, reported(6, 100), answered(9_000, SLAVE, key="k2"))),
          (reported, SLAVE, (PUT, reported(6, 100), (7, B, ProcessKilled(1, power_loss=False)),
                             answered(9_000, SLAVE))))),
    *(Written("time_outs_are_true", (PUT, had(ms, 100), answered(9_000, code)),
              (PUT, had(ms + 1, 100), answered(9_000, code)), bounds=Bounds())
      for code, had, ms in ((SLAVE, reported, SLAVE_MS - deadlines.SOON_MS),
                            (DISK, forced, DISK_MS - deadlines.SOON_MS))),
    # Who tells may be in a force of its own, while another thread forces; of slaves it hears without one.
    Written("time_outs_are_true", (PUT, forced(DISK_MS - deadlines.SOON_MS - 1_000, 100), answered(9_000, DISK)),
            (PUT, forced(DISK_MS - deadlines.SOON_MS - 999, 100), answered(9_000, DISK)), bounds=Bounds(force_ms=500)),
    Written("time_outs_are_true", (PUT, reported(SLAVE_MS - deadlines.SOON_MS, 100), answered(9_000, SLAVE)),
            (PUT, reported(SLAVE_MS - deadlines.SOON_MS + 1, 100), answered(9_000, SLAVE)),
            bounds=Bounds(force_ms=500)),
    *(Written("time_outs_are_true", (PUT, reported(6, 100), no_reason, answered(9_000, SLAVE)),
              (PUT, reported(6, 100), (8_999, B, reason), answered(9_000, SLAVE)), bounds=Bounds())
      for reason, no_reason in (
          (FAILED, (8_999, OTHER, FAILED)), (ClockJumped(1), (8_999, OTHER, ClockJumped(1))),
          (ClockDrifts(1), (8_999, B, ClockDrifts(-1))))),
    # V44: its flush has come to an end before the first file.
    *(Written("time_outs_are_waited", broken=(*told, PUT, answered(2, code)), causes=causes) for told, code, causes in (
        ((flushed(50), expired(60)), DISK, ("V44",)), ((flushed(50), expired(60)), SLAVE, ()),
        ((flushed(50), expired(50)), DISK, ()), ((expired(60),), DISK, ()), ((flushed(50),), DISK, ()),
        ((flushed(50), expired(60), flushed(70)), DISK, ()), ((flushed(50), expired(60, OTHER)), DISK, ()),
        ((flushed(50, OTHER), expired(60)), DISK, ()), ((flushed(50), expired(60), loaded()), DISK, ()),
        (((0, B, StoreLoaded(B, 0, 40, "SYNC_FLUSH")), expired(60)), DISK, ("V44",)))),
    *(Written("time_outs_are_waited", broken=((0, B, ClockDrifts(ppm)), PUT, answered(2, SLAVE)),
              kept=((0, B, ClockDrifts(100)), PUT, answered(2, SLAVE))) for ppm in (0, -100)),
    Written(AGAIN, (HEALED, answered(AGAIN_MS + 6, BUSY)), (HEALED, answered(AGAIN_MS + 5, BUSY)), bounds=Bounds(),
            says="broker-a is too busy for k1 of producer1"),
    Written(AGAIN, (HEALED, answered(AGAIN_MS + 6, BUSY)), (answered(AGAIN_MS + 6, BUSY),), bounds=Bounds()),
    Written(AGAIN, (HEALED, answered(AGAIN_MS + 6, BUSY)), (HEALED, answered(AGAIN_MS + 6, 1)), bounds=Bounds()),
    Written(AGAIN, (HEALED, held("pull"), answered(AGAIN_MS + 6, BUSY)), (HEALED, held(), answered(AGAIN_MS + 6, BUSY)),
            bounds=Bounds()),
    Written(AGAIN, (HEALED, held(), answered(AGAIN_MS + 16, BUSY)), (HEALED, held(), answered(AGAIN_MS + 15, BUSY)),
            bounds=Bounds()),
)
