"""Written histories of delayed messages."""

from __future__ import annotations

from typing import Any

import invariants.rules.delays  # noqa: F401  # declares the rule
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from impl.events import (
    BrokerStarted,
    BrokerStopping,
    ClockJumped,
    DelayLevelEnded,
    DiskFilled,
    ForceFailed,
    LogExpired,
    MessageAppended,
    MessageDispatched,
    ProcessKilled,
    ProcessPaused,
    ProcessStarted,
    StoreLoaded,
    ThreadDied,
    WorldHealed,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from invariants.views import StoredRecord
from stateful_tests.rules.histories.promises import MASTER
from stateful_tests.rules.written import STORMY, Tables, Written

B = "broker-a"
HEALED = (9, "", WorldHealed())
OTHER = "broker-b"
FIRST_LOOK_MS, SAVED_MS = deadlines.first_look(STORMY), deadlines.offset_saved(STORMY)
KEPT = Tables(brokers=[MASTER], log_records=(StoredRecord(0, RMQ_SYS_SCHEDULE_TOPIC, 0, 0, 100, "k"),))


def put_off(ms: int) -> tuple[int, str, Any]:
    """A broker keeps a message until its delay is over."""
    return come(ms, topic=RMQ_SYS_SCHEDULE_TOPIC)


def come(ms: int, key: str = "k", topic: str = "orders") -> tuple[int, str, Any]:
    """It puts the message into its topic."""
    return ms, B, MessageAppended(B, topic, 0, 0, 0, 100, key)


def expired(min_offset: int, at: str = B) -> tuple[int, str, Any]:
    """The log of a broker begins there now."""
    return 2, at, LogExpired(at, min_offset)


def ended(level: int = 1, at: str = B) -> tuple[int, str, Any]:
    """The task of a level has ended."""
    return 3, at, DelayLevelEnded(at, level)


def died(thread: str = "ReputMessageService", at: str = B) -> tuple[int, str, Any]:
    """A thread of a broker has ended."""
    return 3, at, ThreadDied(thread, "java.lang.InternalError", None)


def dispatched(ms: int, offset: int = 0) -> tuple[int, str, Any]:
    """The record at this place is in its queue."""
    return ms, B, MessageDispatched(B, RMQ_SYS_SCHEDULE_TOPIC, 0, 0, offset)


def filled(percent: int, at: str = B) -> tuple[int, str, Any]:
    """A disk is so full."""
    return 0, at, DiskFilled(percent)


def put_down(*records: tuple[int, str, Any], causes: tuple[str, ...], unit: int | None = 0) -> Written:
    """A message of level 1 does not come; unit -- where the unit in its place leads."""
    tables = Tables(**KEPT.answers, queue_unit=lambda *_: unit)
    return Written("delayed_message_comes_at_last", broken=(*records, HEALED), views=tables, causes=causes,
                   kept=(*records, come(8), HEALED), kept_views=tables)


def passed_over(
    *before: tuple[int, str, Any], causes: tuple[str, ...], ms: int = FIRST_LOOK_MS,
    then: tuple[tuple[int, str, Any], ...] = (),
) -> Written:
    """The second message of level 1, put when so much time has passed (ms), does not come."""
    waits = ms, B, MessageAppended(B, RMQ_SYS_SCHEDULE_TOPIC, 0, 1, 0, 100, "k")
    healed = 2 * SAVED_MS, "", WorldHealed()
    return Written("delayed_message_comes_at_last", broken=(*before, waits, *then, healed), views=KEPT, causes=causes,
                   kept=(*before, waits, *then, come(2 * SAVED_MS), healed))


def first(topic: str = RMQ_SYS_SCHEDULE_TOPIC, level: int = 1) -> tuple[int, str, Any]:
    """Another message of a level, at first or when it has come."""
    return 1, B, MessageAppended(B, topic, level - 1, 0, 0, 100, "first")


def dies(ms: int, at: str = B) -> tuple[int, str, Any]:
    """A broker dies."""
    return ms, at, ProcessKilled(1, power_loss=False)


def stops(ms: int) -> tuple[int, str, Any]:
    """A broker begins to stop in order."""
    return ms, B, BrokerStopping(B)


def lost(number: int = 1, level: int = 1, topic: str = RMQ_SYS_SCHEDULE_TOPIC, at: str = B) -> tuple[int, str, Any]:
    """A broker appends a message of this number of a level."""
    return 0, at, MessageAppended(at, topic, level - 1, number, 0, 100, "lost")


def loaded(at: str = B) -> tuple[int, str, Any]:
    """A store has come up."""
    return 0, at, StoreLoaded(at, 0, 0, "ASYNC_FLUSH")


def led_by(broker_id: int, name: str = B) -> Tables:
    """Only the slave of the broker is left, and has this id by now."""
    return Tables(**{**KEPT.answers, "brokers": [MASTER._replace(
        machine="broker-a-slave", broker_name=name, broker_id=broker_id)]})


def looks(ms: int) -> tuple[int, str, Any]:
    """It is time to look."""
    return ms, "world", ProcessStarted(1)


def waits(*records: tuple[int, str, Any], causes: tuple[str, ...] = ()) -> Written:
    """A message of level 1 has waited for too long, and for one millisecond less."""
    return Written("delay_is_over_in_time", (put_off(1), *records, looks(OVER_MS + 2), come(OVER_MS + 3)),
                   (put_off(1), *records, looks(OVER_MS + 1), come(OVER_MS + 1)), causes=causes, bounds=CALM)


AGAIN = (4, B, ProcessStarted(2))
SAME = 0, OTHER, BrokerStarted(OTHER, B, 1)
ELSEWHERE = Tables(**KEPT.answers, queue_unit=lambda *_: 100)
KILLED = (0, B, ProcessKilled(1, power_loss=False))
SECOND = (FIRST_LOOK_MS, B, MessageAppended(B, RMQ_SYS_SCHEDULE_TOPIC, 0, 1, 0, 100, "k"))
CALM = Bounds()
OVER_MS = deadlines.delay_over(1)(CALM)
LATE = looks(OVER_MS + 2)
HISTORIES = (
    Written("delayed_message_comes_at_last", broken=(put_off(1), HEALED), kept=(put_off(1), come(2), HEALED),
            views=KEPT, says="k first"),
    Written("delayed_message_comes_at_last", broken=(put_off(1), come(2, "other"), HEALED),
            kept=(HEALED, put_off(10)), views=KEPT),
    Written("delayed_message_comes_at_last", broken=(put_off(1), HEALED), kept=(put_off(1), HEALED), views=KEPT,
            kept_views=Tables(brokers=[MASTER], log_records=())),
    Written("delayed_message_comes_at_last", broken=(put_off(1), expired(0), HEALED), views=KEPT,
            kept=(put_off(1), expired(1), HEALED), says="of delay level 1"),
    Written("delayed_message_comes_at_last", broken=(put_off(1), expired(1, "broker-b"), HEALED), views=KEPT),
    # A slave that is the master by now has it, too.
    Written("delayed_message_comes_at_last", broken=(put_off(1), HEALED), kept=(put_off(1), HEALED), views=led_by(0),
            kept_views=led_by(1), says="broker-a-slave has 1 messages"),
    Written("delayed_message_comes_at_last", broken=(put_off(1), HEALED), kept=(put_off(1), HEALED), views=led_by(0),
            kept_views=led_by(0, "broker-b")),
    # V39: the task of its level has ended.
    put_down(put_off(1), ended(), causes=("V39",)),
    put_down(put_off(1), ended(2), causes=()),
    put_down(put_off(1), ended(at="broker-b"), causes=()),
    put_down(put_off(1), ended(), AGAIN, causes=()),
    put_down((0, B, ProcessStarted(1)), put_off(1), ended(), (4, "broker-b", ProcessStarted(2)), causes=("V39",)),
    # V40: it is not dispatched, for the thread has ended.
    put_down(put_off(1), died(), causes=("V40",)),
    put_down(put_off(1), dispatched(2), died(), causes=()),
    put_down(dispatched(0), put_off(1), dispatched(2, 100), died(), causes=("V40",)),
    put_down(put_off(1), died("FlushConsumeQueueService"), causes=()),
    put_down(put_off(1), died(at="broker-b"), causes=()),
    put_down(put_off(1), died(), AGAIN, causes=()),
    # V33: the disk was full, and its unit leads to another place.
    put_down(put_off(1), filled(95), causes=("V33",), unit=100),
    put_down(put_off(1), filled(95), causes=()),
    put_down(put_off(1), filled(95), causes=(), unit=None),
    put_down(put_off(1), filled(0), causes=(), unit=100),
    put_down(put_off(1), filled(95, "broker-b"), causes=(), unit=100),
    # V42: it was put in the first second after a start, where a lost one was.
    passed_over(lost(), loaded(), causes=("V42",)),
    passed_over(lost(2), loaded(), causes=("V42",)),
    passed_over(lost(), loaded(), causes=(), ms=FIRST_LOOK_MS + 1),
    # Or before its broker ended, where no offset was saved since the start.
    *(passed_over(*before, causes=("V42",), ms=FIRST_LOOK_MS + 1, then=(ends,)) for before, ends in (
        ((lost(), loaded()), dies(2 * SAVED_MS)), ((lost(), loaded(), first()), dies(2 * SAVED_MS)),
        ((lost(), loaded(), first(), first("orders")), dies(SAVED_MS)),
        ((lost(), loaded(), first("orders")), dies(2 * SAVED_MS)),
        ((lost(), loaded(), first(level=2), first("orders")), dies(2 * SAVED_MS)),
        ((lost(), loaded(), first(), (1, OTHER, first("orders")[2])), dies(2 * SAVED_MS)),
        ((lost(), first(), first("orders"), loaded()), dies(2 * SAVED_MS)),
        ((lost(), loaded(), first()), stops(FIRST_LOOK_MS + 1)))),
    *(passed_over(lost(), loaded(), *before, causes=(), ms=FIRST_LOOK_MS + 1, then=then) for before, then in (
        ((first(), first("orders")), (dies(SAVED_MS + 1),)), ((), (dies(FIRST_LOOK_MS + 1, OTHER),)),
        ((first(), first("orders")), (stops(FIRST_LOOK_MS + 1), dies(FIRST_LOOK_MS + 2))))),
    passed_over(KILLED, lost(), loaded(), causes=(), ms=FIRST_LOOK_MS + 1),
    *(passed_over(*before, causes=()) for before in (
        (lost(),), (loaded(),), (loaded(), lost()), (lost(0), loaded()), (lost(level=2), loaded()),
        (lost(topic="orders"), loaded()), (lost(), loaded(OTHER)), (lost(at=OTHER), loaded()))),
    # A slave that is the master by now had copied what its master had delivered.
    passed_over(SAME, lost(at=OTHER), loaded(), causes=("V42",)),
    # Whatever becomes of clocks a delay is over in time.
    waits(),
    waits(come(2, "other")),
    waits((2, OTHER, ClockJumped(-60_000))),
    waits(expired(0)),
    waits(ended(), causes=("V39",)),
    *(Written("delay_is_over_in_time", records, (*records, come(FIRST_LOOK_MS + 2)), views=ELSEWHERE, causes=causes)
      for records, causes in (
          ((put_off(1), died()), ("V40",)), ((filled(95), put_off(1)), ("V33",)),
          ((lost(), KILLED, loaded(), SECOND), ("V42",)))),
    *(Written("delay_is_over_in_time", (put_off(1), LATE), (put_off(1), one, LATE, come(OVER_MS + 3)), bounds=CALM)
      for one in (
        come(2), expired(1), filled(95), (3, B, ForceFailed("commitlog/0", lost=True)),
        (3, B, ProcessKilled(1, power_loss=False)), (3, B, ProcessPaused(5)), (3, B, ClockJumped(-60_000)))),
)
