"""Which units are given, for how long, and in which order their rows come back; no Spark is needed."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from random import Random

import pytest

from spark_fuzz.crew import Attempted, Done, Task
from spark_fuzz.feed import Feed
from spark_fuzz.flow import LATE, LATE_S, PLANNED, QUESTION, SHARE, WISH, Flow
from spark_fuzz.work import Row, Unit

CORES = 4


def named(name: str) -> Iterator[Unit]:
    return (Unit(f"{name}-{number}") for number in count())


class Cores:
    """Plays cores that do tasks, on a clock of its own.

    takes -- seconds of a unit. seconds -- in units, by kind. done -- their ids, by kind, as they ended.
    """

    def __init__(self, takes: Callable[[Unit], float]) -> None:
        self.now = 0.0
        self.done: dict[str, list[str]] = {PLANNED: [], QUESTION: [], WISH: []}
        self.seconds = dict.fromkeys(self.done, 0.0)
        self.tasks: list[Task] = []
        self._takes, self._free = takes, [0.0] * CORES
        self._working: list[tuple[float, int, Done]] = []

    def play(self, flow: Flow, feed: Feed) -> None:
        """Until nothing is left to do, or time is over."""
        while True:
            for task in flow.tasks():
                self._begin(task)
            if not self._working or flow.over:
                return
            self.now, _, done = heapq.heappop(self._working)
            flow.took(done)
            for one in done.attempted:
                self.done[done.task.kind].append(one.unit.id)
                self.seconds[done.task.kind] += one.seconds
                if done.task.kind == PLANNED:
                    feed.done(one.unit, [])

    def _begin(self, task: Task) -> None:
        begins = max(self.now, heapq.heappop(self._free))
        ends, attempted = begins, list[Attempted]()
        for unit in task.units:
            if attempted and ends - begins > task.seconds:
                break
            attempted.append(Attempted(unit, [], self._takes(unit)))
            ends += attempted[-1].seconds
        heapq.heappush(self._free, ends)
        self.tasks.append(task)
        heapq.heappush(self._working, (ends, len(self.tasks), Done(task, tuple(attempted))))


def played(seconds: float, takes: Callable[[Unit], float], **more: object) -> Cores:
    """What becomes of an endless plan, or of the units given, in so many seconds."""
    cores = Cores(takes)
    feed = Feed(more.pop("units", named("unit")), ignored)  # type: ignore[arg-type]
    cores.play(Flow(feed, lambda: CORES, seconds, now=lambda: cores.now, **more), feed)  # type: ignore[arg-type]
    return cores


def ignored(_rows: Sequence[Row]) -> None:
    """Nothing."""


def uneven(unit: Unit) -> float:
    """From 0.1 to 0.9 seconds, by the unit's name."""
    return 0.1 + Random(unit.id).random() * 0.8  # noqa: S311 - a test's dice


# Tasks ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [18.0, 60.0, 120.0])
def test_cores_are_busy_until_the_end_and_the_time_is_kept(seconds: float) -> None:
    cores = played(seconds, uneven)
    assert seconds * 0.95 < cores.now < seconds * 1.03
    assert cores.seconds[PLANNED] > (0.95 if seconds < 20 else 0.98) * CORES * seconds


@pytest.mark.parametrize(("takes", "units"), [(0.01, 600), (0.5, 12), (10.0, 1)])
def test_a_task_is_as_long_as_it_should_be_whatever_a_unit_takes(takes: float, units: int) -> None:
    sizes = [len(task.units) for task in played(60.0, lambda _: takes).tasks]
    assert sizes[:CORES] == [1] * CORES
    assert units * 0.6 <= sorted(sizes)[len(sizes) // 2] <= units * 1.1


def test_tasks_become_short_when_units_become_slow_and_none_is_lost() -> None:
    def takes(unit: Unit) -> float:
        return 0.05 if int(unit.id[5:]) < 800 else 1.0

    cores = played(60.0, takes)
    assert len(set(cores.done[PLANNED])) == len(cores.done[PLANNED]) > 900
    assert cores.now < 62.0


def test_a_unit_that_takes_longer_than_what_is_left_is_not_begun() -> None:
    cores = played(25.0, lambda _: 10.0)
    assert (len(cores.done[PLANNED]), cores.now) == (2 * CORES, 20.0)


def test_so_many_units_are_done_in_any_case() -> None:
    cores = played(1.0, lambda _: 3.0, least=10)
    assert sorted(cores.done[PLANNED])[:10] == sorted(islice((unit.id for unit in named("unit")), 10))
    assert len(cores.done[PLANNED]) <= 10 + CORES


def given_up_after_two(seconds: float, questions: int = 0) -> Cores:
    """What becomes of a plan that is given up when two of its units are known, which each take 2 s.

    questions -- so many are asked then.
    """
    cores, known = Cores(lambda _: 2.0), list[Sequence[Row]]()
    feed = Feed(named("unit"), known.append, given_up=lambda: len(known) >= 2)
    flow = Flow(feed, lambda: CORES, seconds, least=40, now=lambda: cores.now,
                questions=lambda: islice(named("question"), questions if feed.given_up() else 0))
    cores.play(flow, feed)
    return cores


def test_of_a_plan_that_is_given_up_no_unit_is_given_more() -> None:
    cores = given_up_after_two(60.0)
    assert len(cores.done[PLANNED]) <= 2 * CORES + 2
    assert cores.now <= 4 * 2.0


def test_a_plan_that_is_given_up_keeps_its_time() -> None:
    cores = given_up_after_two(10.0, questions=100)
    assert cores.done[QUESTION]
    assert cores.now < 10.0 * (1 + LATE) + 2.0


# Questions and wishes -------------------------------------------------------------------------------------------------


def test_questions_come_first_and_each_is_asked_once() -> None:
    units = list(islice(named("question"), 7))
    cores = played(30.0, uneven, questions=lambda: units)
    assert sorted(cores.done[QUESTION]) == [unit.id for unit in units]
    assert [task.kind for task in cores.tasks[:5]] == [QUESTION] * 5


def test_what_was_asked_in_a_former_run_is_not_asked_again() -> None:
    units = list(islice(named("question"), 7))
    cores = played(30.0, uneven, questions=lambda: units, stored={unit.id for unit in units[:5]})
    assert sorted(cores.done[QUESTION]) == [unit.id for unit in units[5:]]


@pytest.mark.parametrize("takes", [0.3, 4.0])
def test_wishes_get_a_share_of_the_time_however_many_there_are(takes: float) -> None:
    cores = played(120.0, lambda unit: takes if "wish" in unit.id else uneven(unit), wishes=lambda: named("wish"))
    assert SHARE * 0.7 < cores.seconds[WISH] / (CORES * 120.0) < SHARE * 1.05
    assert cores.now < 123.0
    assert sum(cores.seconds.values()) > 0.95 * CORES * 120.0


def test_when_the_plan_is_done_wishes_have_their_whole_share_at_once() -> None:
    cores = played(120.0, lambda _: 1.0, units=iter(islice(named("unit"), 4)), wishes=lambda: named("wish"))
    assert len(cores.done[PLANNED]) == 4
    assert SHARE * 0.9 * CORES * 120 < cores.seconds[WISH] <= SHARE * CORES * 120.0 + 0.1
    assert cores.now < 120.0 * SHARE * 1.2


def test_wishes_have_their_share_also_when_all_that_was_given_comes_back_at_once() -> None:
    wanted: list[Unit] = []
    feed, cores = Feed(named("unit"), ignored, limit=CORES + 2), Cores(lambda _: 1.0)
    flow = Flow(feed, lambda: CORES, 120.0, wishes=lambda: wanted, now=lambda: cores.now)
    given = list(flow.tasks())  # as many as are given in advance
    assert not feed.over
    for task in given:
        flow.took(Done(task, tuple(Attempted(unit, [], 1.0) for unit in task.units)))
    wanted += islice(named("wish"), 1)
    assert [task.units for task in flow.tasks()] == [tuple(wanted)]


def test_questions_are_asked_a_little_longer_but_not_for_ever() -> None:
    cores = played(100.0, lambda _: 0.5, questions=lambda: named("question"))
    assert 100.0 < cores.now < 100.0 * (1 + LATE) + 1.0
    assert not cores.done[PLANNED]


def test_after_units_that_had_to_be_done_there_is_time_for_questions() -> None:
    asked: list[Unit] = []
    feed, cores = Feed(named("unit"), ignored), Cores(lambda unit: 3.0 if "unit" in unit.id else 1.0)
    flow = Flow(feed, lambda: CORES, 0.1, least=CORES, questions=lambda: asked, now=lambda: cores.now)
    for task in flow.tasks():
        cores._begin(task)
    asked += islice(named("question"), 3)
    cores.play(flow, feed)
    assert sorted(cores.done[QUESTION]) == [unit.id for unit in asked]
    assert cores.now < 3.0 + LATE_S


# The order of the plan ------------------------------------------------------------------------------------------------


def rows_of(unit: Unit) -> list[Row]:
    return [{"unit": unit.id, "place": place} for place in range(2)]


def given(feed: Feed) -> Unit:
    unit = feed.next()
    assert unit is not None
    return unit


@pytest.mark.parametrize("stored", [0, 15])
def test_rows_come_back_in_the_order_of_the_plan_whoever_is_first(stored: int) -> None:
    units = list(islice(named("unit"), 40))
    for seed in range(20):
        draw, working, told = Random(seed), list[Unit](), list[Row]()  # noqa: S311 - a test's dice
        feed = Feed(iter(units), told.extend, stored={unit.id: rows_of(unit) for unit in draw.sample(units, stored)})
        while len(told) < 80:
            if (unit := feed.next() if len(working) < 5 else None) is not None:
                working.append(unit)
                continue
            unit = working.pop(draw.randrange(len(working)))
            if draw.random() < 0.2:
                feed.back([unit])
            else:
                feed.done(unit, rows_of(unit))
        assert told == [row for unit in units for row in rows_of(unit)]


def test_units_that_were_given_back_are_the_next_ones() -> None:
    feed = Feed(named("unit"), ignored)
    _, second, third = given(feed), given(feed), given(feed)
    feed.back([second, third])
    assert [feed.next(), feed.next()] == [second, third]


def test_a_plan_that_waits_goes_on_when_the_rows_are_known() -> None:
    known: list[int] = []

    def plan() -> Iterator[Unit | int]:
        yield from islice(named("a"), 3)
        yield 2
        known.append(feed.known)
        yield from islice(named("b"), 1)

    told: list[Row] = []
    feed = Feed(plan(), told.extend, stored={"a-0": [{"unit": "a-0"}]})
    first, second = given(feed), given(feed)
    assert (first.id, second.id, feed.next(), known) == ("a-1", "a-2", None, [])
    feed.done(second, rows_of(second))
    assert (told, feed.next(), feed.over) == ([{"unit": "a-0"}], None, False)
    feed.done(first, rows_of(first))
    assert len(told) == 1 + 4
    assert (given(feed).id, known) == ("b-0", [3])
    assert (feed.next(), feed.over) == (None, True)


def test_a_plan_that_would_wait_for_ever_is_an_error() -> None:
    with pytest.raises(ValueError, match="waits for 3 units and has given 0"):
        Feed(iter([3]), ignored).next()


def test_rows_behind_a_unit_that_was_given_up_are_not_lost() -> None:
    told: list[Row] = []
    feed = Feed(named("unit"), told.extend)
    _, second = given(feed), given(feed)
    feed.done(second, rows_of(second))
    assert told == []
    feed.end()
    assert told == rows_of(second)


def test_units_that_were_given_back_are_not_given_again_when_the_plan_is_given_up() -> None:
    is_given_up = False
    feed = Feed(named("unit"), ignored, given_up=lambda: is_given_up)
    feed.back([given(feed)])
    is_given_up = True
    assert (feed.next(), feed.over) == (None, True)


def test_a_limit_counts_what_is_given_and_not_what_is_stored() -> None:
    feed = Feed(named("unit"), ignored, stored={"unit-0": [], "unit-2": []}, limit=2)
    assert [given(feed).id, given(feed).id] == ["unit-1", "unit-3"]
    assert (feed.next(), feed.over) == (None, True)
