"""The threads behind a picture: where one stands still while others act, goes on, and has begun."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from impl import events as e
from impl.hosts.simulation.trail import Halt
from invariants.finding import Finding
from invariants.pictures.picture import picture
from stateful_tests.cover.pictures.told import NoTrail
from stateful_tests.stories.scenes import FIRST

TAKEN, GIVEN_UP = e.QueueTaken("c1@D", "G", FIRST, 0), e.QueueDropped("c1@D", "G", FIRST, by_rebalance=True)
LATER_MS = 3_000


class OfThreads(NoTrail):
    """Records of known threads, some of which have stood still."""

    def __init__(
        self, threads: Sequence[int], halts: Sequence[Halt] = (), begun: Mapping[int, Any] | None = None,
    ) -> None:
        self.threads, self.halts, self.begun = threads, halts, begun or {}

    def thread_of(self, at: int, machine: str) -> int:
        """As they were given."""
        del machine
        return self.threads[at]

    def began(self, thread: int) -> tuple[int, int]:
        """As they were given; else just now."""
        begun: tuple[int, int] = self.begun.get(thread, (LATER_MS, len(self.threads)))
        return begun


def told(events: Sequence[tuple[int, Any]], trail: OfThreads) -> list[tuple[int, str]]:
    """What the picture of the last event says of threads, with the times."""
    records = [(ms, "c1", event) for ms, event in events]
    found = Finding("a_property", records[-1][2], "It is so.", (), position=len(records), time_ms=records[-1][0],
                    earlier=records[1])
    return [(row.time_ms, row.text) for row in picture(records, trail, found).rows if "thread" in row.text]


def halt(ms: int, paused_ms: int, at: int) -> Halt:
    """The first thread stands still."""
    return Halt(ms, "c1", 1, "the queue is dropped", paused_ms, at)


@pytest.mark.parametrize(("threads", "paused_ms", "rows"), [
    ((1, 2, 3), 1_000, ["a thread of c1 stands still for 1 s (the queue is dropped)",
                        "the thread of c1 goes on with what it knew then"]),
    ((1, 2, 1), 1_000, ["a thread of c1 stands still for 1 s (the queue is dropped)"]),
    ((1, 2, 3), 20, []),
])
def test_a_thread_that_stands_still_while_others_act_is_shown_and_goes_on_unless_its_records_say_so(
    threads: tuple[int, ...], paused_ms: int, rows: list[str],
) -> None:
    events = [(10, GIVEN_UP), (90, TAKEN), (LATER_MS, TAKEN)]
    found = told(events, OfThreads(threads, [halt(11, paused_ms, 1)]))
    assert [text for _, text in found] == rows
    assert [ms for ms, _ in found] == [11, 1_011][:len(rows)]


def test_a_thread_that_goes_on_behind_the_finding_is_not_said_to_go_on() -> None:
    found = told([(10, GIVEN_UP), (90, TAKEN), (500, TAKEN)], OfThreads((1, 2, 3), [halt(11, 1_000, 1)]))
    assert [text for _, text in found] == ["a thread of c1 stands still for 1 s (the queue is dropped)"]


@pytest.mark.parametrize(("threads", "begun", "rows"), [
    ((2, 3, 1), {1: (5, 0)}, [(5, "a thread of c1 begins the job that breaks the promise 2.995 s later")]),
    ((2, 3, 1), {1: (2_500, 2)}, []), ((1, 3, 1), {1: (5, 0)}, []),
])
def test_a_finding_of_a_job_that_began_before_others_acted_says_so(
    threads: tuple[int, ...], begun: Mapping[int, Any], rows: list[tuple[int, str]],
) -> None:
    assert told([(10, TAKEN), (90, GIVEN_UP), (LATER_MS, TAKEN)], OfThreads(threads, begun=begun)) == rows
