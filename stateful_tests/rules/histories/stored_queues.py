"""Written histories of the queues of brokers: offsets, units, and records that are missed."""

from __future__ import annotations

from typing import Any

import invariants.rules.stored_queues  # noqa: F401  # declares the rules
from impl.events import (
    ClockJumped,
    DiskFilled,
    LogExpired,
    LogFlushed,
    MessageAppended,
    MessageDispatched,
    ProcessKilled,
    ProcessStarted,
    QueuesDeleted,
    StoreLoaded,
    ThreadDied,
)
from invariants.rules import deadlines
from invariants.rules.delays import DISPATCHER
from invariants.views import Replicated, StoredRecord
from stateful_tests.rules.written import STORMY, Tables, Turns, Written

B = "broker-a"
Told = tuple[int, str, Any]
DISPATCHED_MS = deadlines.dispatched(STORMY)


def record(offset: int, queue_offset: int) -> StoredRecord:
    """A record of the queue."""
    return StoredRecord(offset, "orders", 0, queue_offset, 100, "k")


def appended(ms: int, offset: int = 0, queue_offset: int = 0) -> Told:
    """The broker appends it."""
    return ms, B, MessageAppended(B, "orders", 0, queue_offset, offset, 100, "k")


def dispatched(ms: int, offset: int = 0, queue_offset: int = 0) -> Told:
    """The queue has it."""
    return ms, B, MessageDispatched(B, "orders", 0, queue_offset, offset)


def expired(ms: int, at: str = B) -> Told:
    """A broker has deleted the first file of its log."""
    return ms, at, LogExpired(at, 100)


def flushed(ms: int, at: str = B) -> Told:
    """A broker has flushed its log."""
    return ms, at, LogFlushed(at, 100)


def died(thread: str = DISPATCHER, at: str = B) -> Told:
    """A thread of a broker has ended."""
    return 1, at, ThreadDied(thread, "java.lang.InternalError", None)


def started(ms: int, at: str = B) -> Told:
    """A process is started."""
    return ms, at, ProcessStarted(2)


def loaded(ms: int, least: int = 0) -> Told:
    """The store has recovered."""
    return ms, B, StoreLoaded(B, least, 1_000, "SYNC_FLUSH")


def filled(ms: int, percent: int) -> Told:
    """The disk is so full."""
    return ms, B, DiskFilled(percent)


def store(*records: StoredRecord, units: tuple[int | None, ...] = (), least: int = 0) -> Tables:
    """What a log has, and its queue: the offsets that the units name."""
    return Tables(
        log_records=records, queue_units={("orders", 0): (least, least + len(units))} if units else {},
        queue_unit=lambda _, __, ___, index: units[index - least] if 0 <= index - least < len(units) else None)


def deleted(ms: int, topic: str = "orders", queue_ids: tuple[int, ...] = (0,), at: str = B) -> Told:
    """A broker deletes queues of a topic."""
    return ms, at, QueuesDeleted(at, topic, queue_ids)


def ended(end: int, *records: StoredRecord, units: tuple[int | None, ...], topics: tuple[str, ...] = ()) -> Tables:
    """The same of a log that ends there, of a broker that knows these topics."""
    return Tables(**store(*records, units=units).answers, replicated=Replicated(0, end, 0, 0, (), ()), topics=topics)


def cleaned(*units: int | None, topics: tuple[str, ...] = ()) -> Tables:
    """What is found of a unit each time, at a broker that knows these topics."""
    return Tables(queue_unit=Turns(*units), topics=topics)


ZERO, ONE = record(0, 0), record(100, 1)
TWICE = (appended(1), appended(2, 100, 1))

BACK, FORWARD = ((0, B, ClockJumped(ms)) for ms in (-5, 5))

EXPIRED = dispatched(1, 100, 1), (2, B, LogExpired(B, 100))

HISTORIES = (
    Written("clean_up_keeps_the_units_of_records", broken=EXPIRED, kept=EXPIRED, views=cleaned(100, None),
            kept_views=cleaned(100, 100), says="message 1 of queue 0 of orders"),
    Written("clean_up_keeps_the_units_of_records", broken=EXPIRED, kept=(EXPIRED[0], (2, B, LogExpired(B, 101))),
            views=cleaned(100, 7), kept_views=cleaned(100, None)),
    Written("clean_up_keeps_the_units_of_records", broken=(*EXPIRED, (3, B, LogExpired(B, 100))), kept=EXPIRED,
            views=cleaned(100, 100, None), kept_views=cleaned(None, None)),
    Written("clean_up_keeps_the_units_of_records", broken=EXPIRED, views=cleaned(100, None),
            kept=(EXPIRED[0], (2, B, ProcessKilled(1, power_loss=False)), (3, B, LogExpired(B, 100))),
            kept_views=cleaned(100, None)),
    Written("clean_up_keeps_the_units_of_records", broken=(EXPIRED[0], deleted(2, "invoices"), EXPIRED[1]),
            kept=(EXPIRED[0], deleted(2), EXPIRED[1]), views=cleaned(100, None)),
    Written("clean_up_keeps_the_units_of_records", broken=(EXPIRED[0], deleted(2), EXPIRED[1]),
            views=cleaned(100, None, topics=("orders",))),
    Written("queues_begin_where_the_log_does", broken=(EXPIRED[1],), views=store(units=(99, 100)),
            kept=(EXPIRED[1],), kept_views=store(units=(100, 200)), says="queue 0 of orders at a record at 99"),
    Written("queues_begin_where_the_log_does", broken=(EXPIRED[1],), views=store(units=(99, 100)),
            kept=(EXPIRED[1],), kept_views=store(units=(100, 99), least=1)),
    Written("queues_begin_where_the_log_does", broken=(EXPIRED[1],), views=store(units=(99, 100)),
            kept=(EXPIRED[1],), kept_views=Tables(queue_units={("orders", 0): (1, 1)}, queue_unit=99)),
    Written("queues_begin_where_the_log_does", broken=(EXPIRED[1],), views=store(units=(50, 99)), causes=("V18",)),
    Written("queues_begin_where_the_log_does", broken=(EXPIRED[1],), views=store(units=(50, 100)), causes=()),
    Written("queues_begin_where_the_log_does", broken=(EXPIRED[1],), views=store(units=(50, None)), causes=()),
    Written("appended_offsets_are_consecutive", broken=(appended(1), appended(2, 100, 2)), kept=TWICE,
            says="offset 2, and 1"),
    Written("appended_offsets_are_consecutive", broken=(*TWICE, loaded(3), appended(4, 100, 2)), views=store(ZERO),
            kept=(*TWICE, loaded(3), appended(4, 100, 1)), kept_views=store(ZERO)),
    Written("appended_offsets_are_consecutive", broken=(*TWICE, loaded(3), appended(4, 200, 1)), views=store(ZERO, ONE),
            kept=(*TWICE, loaded(3, least=100), appended(4, 100, 7)), kept_views=store()),
    Written("appended_offsets_are_consecutive", broken=(loaded(0), appended(1, 0, 1)), kept=(loaded(0), appended(1))),
    # Queues that were deleted begin at 0, and no others.
    Written("appended_offsets_are_consecutive", broken=(*TWICE, deleted(3), appended(4, 200, 2)), says="0 comes next",
            kept=(*TWICE, deleted(3), appended(4, 200, 0), appended(5, 300, 1))),
    *(Written("appended_offsets_are_consecutive", broken=(*TWICE, other, appended(4, 200, 0)), says="2 comes next",
              kept=(*TWICE, other, appended(4, 200, 2)))
      for other in (deleted(3, "invoices"), deleted(3, queue_ids=(1,)), deleted(3, at="broker-b"))),
    Written("appended_offsets_are_consecutive", broken=(*TWICE, deleted(3), appended(4, 200, 0)),
            views=Tables(topics=("orders",))),

    Written("units_name_their_records", broken=(dispatched(1, 100, 1),), views=store(units=(0, 50)),
            kept=(dispatched(1, 100, 1),), kept_views=store(units=(0, 100)), says="unit 1 of queue 0"),
    Written("units_name_their_records", broken=(loaded(1),), views=store(ZERO, ONE, units=(0, 0)),
            kept=(loaded(1),), kept_views=store(ZERO, ONE, units=(0, 100)), says="is at 100"),
    Written("units_name_their_records", broken=(loaded(1, least=100),), views=store(ONE, units=(0, 100, 100)),
            kept=(loaded(1, least=100),), kept_views=store(ONE, units=(0, 100)), says="is nowhere"),
    Written("units_name_their_records", broken=(loaded(1, least=50),), views=store(ONE, units=(50, 100)),
            kept=(loaded(1),), kept_views=store(ONE, units=(None, 100))),

    Written("dispatch_comes_in_time", broken=(appended(1),), kept=(appended(1), dispatched(2)), says="in no queue"),
    Written("dispatch_comes_in_time", broken=((0, B, ClockJumped(0)), appended(1))),
    Written("dispatch_comes_in_time", broken=((0, B, ClockJumped(5)), appended(1)),
            kept=((0, B, ClockJumped(-5)), appended(1))),
    Written("dispatch_comes_in_time", broken=(BACK, appended(DISPATCHED_MS + 6)),
            kept=(BACK, appended(DISPATCHED_MS + 5))),
    Written("dispatch_comes_in_time", broken=(BACK, FORWARD, BACK, appended(DISPATCHED_MS + 11)),
            kept=(BACK, FORWARD, BACK, appended(DISPATCHED_MS + 10))),
    Written("dispatch_comes_in_time", broken=((0, "broker-b", ClockJumped(-5)), appended(1))),
    Written("dispatch_comes_in_time", broken=(appended(1), dispatched(2, 100)),
            kept=(appended(1), dispatched(DISPATCHED_MS + 1))),
    Written("dispatch_comes_in_time", broken=(deleted(0), appended(1, 100)), kept=(appended(1), deleted(2)),
            views=Tables(replicated=Replicated(0, 100, 0, 0, (), ()))),
    Written("dispatch_comes_in_time", broken=(deleted(0, "invoices"), appended(1)), kept=(deleted(0), appended(1))),
    # V38: its log waits in buffers, and nothing was flushed since files of it were deleted.
    *(Written("dispatch_comes_in_time", broken=(*records, appended(3)), views=Tables(buffers_log=buffered),
              causes=causes)
      for records, buffered, causes in (
          ((expired(1),), True, ("V38",)), ((expired(1),), False, ()), ((flushed(1), expired(2)), True, ("V38",)),
          ((expired(1), flushed(2)), True, ()), ((expired(1, "broker-b"),), True, ()),
          ((expired(1), flushed(2, "broker-b")), True, ("V38",)))),
    # V40: the thread that dispatches has ended, and the broker was not started since.
    *(Written("dispatch_comes_in_time", broken=(*records, appended(3)), causes=causes)
      for records, causes in (
          ((died(),), ("V40",)), ((died("FlushRealTimeService"),), ()), ((died(at="broker-b"),), ()),
          ((died(), started(2)), ()), ((started(0), died(), started(2, "broker-b")), ("V40",)))),
    Written("dispatch_comes_in_time", broken=(deleted(0), loaded(1)), views=ended(100, ZERO, ONE, units=()),
            kept=(deleted(0), loaded(1)), kept_views=ended(101, ZERO, ONE, units=()), says="message 1"),
    # Queues of a topic that the broker knows are not to be deleted.
    Written("dispatch_comes_in_time", broken=(deleted(0), loaded(1)), says="message 0",
            views=ended(101, ZERO, ONE, units=(), topics=("orders",))),
    Written("dispatch_comes_in_time", broken=(loaded(1),), views=store(ZERO, ONE, units=(0,)),
            kept=(loaded(1),), kept_views=store(ZERO, ONE, units=(0, 100)), says="message 1"),

    Written("dispatch_goes_forward", broken=(dispatched(1, 0), dispatched(2, 0)), says="behind the one at 0",
            kept=(dispatched(1, 0), dispatched(2, 100, 1))),
    Written("dispatch_goes_forward", broken=(dispatched(1, 100, 1), dispatched(2, 200, 2), dispatched(3, 100, 1)),
            kept=(dispatched(1, 100, 1), (2, B, ProcessKilled(1, False)), dispatched(3, 100, 1))),
    Written("dispatch_goes_forward", broken=(dispatched(1, 100, 1), dispatched(2, 0)),
            kept=(dispatched(1, 100, 1), (2, "broker-b", MessageDispatched("broker-b", "orders", 0, 0, 0)))),
)
