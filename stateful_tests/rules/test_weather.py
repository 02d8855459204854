"""How long a broker that was away excuses what is late, to the millisecond."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest

from impl.decisions.message_queue import MessageQueue
from impl.events import BrokerStarted, NameServerChosen, ProcessKilled, ProcessPaused, ProcessStarted
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from invariants.rules.excuse import Excuse
from invariants.rules.rule import RULES, Rule, Told
from invariants.rules.watch import Watch
from invariants.rules.weather import a_broker_was_away, broker_was_away, nobody_tells_the_master
from stateful_tests.rules.written import Tables

MQ, B, NAMESRV = MessageQueue("orders", "broker-a", 0), "broker-a", "nameserver1"
NO_TABLES: Any = Tables()
LASTS_MS = deadlines.handed_over(Bounds())


def told(when: Callable[[Any, Told], bool], since_ms: int, *records: tuple[int, str, Any]) -> bool:
    """Whether a rule speaks of a queue, of something that is wrong since then, after these records."""
    class queue_is_fine(Rule):  # noqa: N801  # a rule's class has a name of its own
        """All is well."""

        cite = "Nothing#is"
        about = "at mq"
        excuses: ClassVar[tuple[Excuse, ...]] = (Excuse("a broker was away", when=when),)

        def look(self, now_ms: int) -> Iterator[Told]:
            del now_ms
            yield self.told("it is not", "c1", MQ, since_ms=since_ms)

    watch = Watch(NO_TABLES, Bounds(), [queue_is_fine])
    for record in records:
        watch.segment(record[1], [record])
    del RULES["queue_is_fine"]
    return bool(watch.late(since_ms + 1))


def started(ms: int) -> tuple[int, str, Any]:
    """The broker has started as a master."""
    return ms, B, BrokerStarted(B, "broker-a", 0)


def killed(ms: int, at: str = B) -> tuple[int, str, Any]:
    """A process has ended."""
    return ms, at, ProcessKilled(1, power_loss=False)


@pytest.mark.parametrize(("rest_ms", "after_ms"), [(0, 0), (70, 70)])
def test_a_pause_of_its_broker_excuses_until_its_queues_are_handed_over(rest_ms: int, after_ms: int) -> None:
    rests = started(0), (100_000, B, ProcessPaused(rest_ms))
    assert not told(broker_was_away, 100_000 + after_ms + LASTS_MS, *rests)
    assert told(broker_was_away, 100_001 + after_ms + LASTS_MS, *rests)


def test_the_start_of_any_broker_excuses_for_as_long() -> None:
    assert not told(a_broker_was_away, 7 + LASTS_MS, started(7))
    assert told(a_broker_was_away, 8 + LASTS_MS, started(7))


def test_a_master_that_starts_in_that_millisecond_is_there() -> None:
    chosen = 300, "c1", NameServerChosen(f"{NAMESRV}:9876", frozenset({f"{NAMESRV}:9876"}))
    away = (0, NAMESRV, ProcessStarted(1)), started(5), killed(6), killed(7, NAMESRV)
    assert not told(nobody_tells_the_master, 200, *away, chosen)
    assert told(nobody_tells_the_master, 200, *away, started(200), chosen)
    assert not told(nobody_tells_the_master, 200, *away, started(201), chosen)
