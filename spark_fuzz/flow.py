"""What a free core does next, and for how long: so that cores stay busy, and the time is kept.

A task is as many units as take about TASK_S seconds by the speed that was measured, and begins none after that. First
come questions, without which what was found cannot be believed; then wishes, which take no more than a SHARE of the
time; then the units of the plan. Near the end tasks become short, and a unit that takes longer than what is left is not
begun. So many units of the plan may be done in any case, time or not.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from spark_fuzz.crew import Done, Task
from spark_fuzz.feed import Feed
from spark_fuzz.work import Unit

TASK_S, QUESTIONS_S = 6.0, 1.5
"""Wall time of a task, which is lost with a worker, and of one of questions, whose answers are waited for. A task costs
JVM and driver 20 to 40 ms of CPU time, and its core waits 10 to 40 ms for it."""
SHARE = 0.2
"""Of cores x time wishes get at most this."""
LATE, LATE_S = 0.04, 5.0
"""Questions may still be asked when the time is over, for this share of it; for so many seconds after units that were
done in any case had taken all of it."""
AHEAD_OF_END = 3
"""Tasks are given in advance as long as so many times the time of one is left."""

PLANNED, QUESTION, WISH = "planned", "question", "wish"
"""Kinds of tasks."""


class _Speed:
    """Seconds for each unit of weight, recent ones above all."""

    def __init__(self) -> None:
        self._weight = self._seconds = 0.0

    def take(self, weight: float, seconds: float) -> None:
        fades = 0.98
        self._weight = fades * self._weight + weight
        self._seconds = fades * self._seconds + seconds

    def of(self, weight: float) -> float:
        """How long so much takes; 0 when nothing was measured."""
        return weight * self._seconds / self._weight if self._weight else 0.0


class Flow:
    """Hands out tasks until units or time run out.

    feed -- the units of the plan. questions, wishes -- what is asked and wished for now; those of former calls may be
    among them. cores -- how many tasks run at the same time. seconds -- wall time from now on. least -- how many units
    are done however long they take, unless the plan is given up. now -- a clock in seconds. worked_s -- wall time in
    units, by kind.
    """

    def __init__(  # noqa: PLR0913 - one parameter for each source
        self, feed: Feed, cores: Callable[[], int], seconds: float, *, least: int = 0,
        questions: Callable[[], Iterable[Unit]] = tuple, wishes: Callable[[], Iterable[Unit]] = tuple,
        stored: Iterable[str] = (), now: Callable[[], float] = time.monotonic,
    ) -> None:
        """The time runs from here."""
        self._feed, self._cores, self._seconds = feed, cores, seconds
        self._sources = {QUESTION: questions, WISH: wishes}
        self._now, self._began = now, now()
        self._least, self._least_given, self._attempted = least, 0, 0
        self._asked = set(stored)
        self._speeds = {kind: _Speed() for kind in (PLANNED, QUESTION, WISH)}
        self._inside = Counter[str]()
        self.worked_s = dict.fromkeys(self._speeds, 0.0)
        self._task_s = TASK_S
        self._least_done_s = 0.0 if least <= 0 else None

    # Time ---------------------------------------------------------------------------------------------------------

    @property
    def spent_s(self) -> float:
        """Seconds since the beginning."""
        return self._now() - self._began

    @property
    def left_s(self) -> float:
        """Seconds until the end; below 0 after it."""
        return self._seconds - self.spent_s

    @property
    def over(self) -> bool:
        """Whether whatever still works is to be given up."""
        return self._late_s < 0

    @property
    def _late_s(self) -> float:
        """Seconds until no question is asked any more."""
        if self._least_done_s is None and not self._feed.given_up():
            return LATE_S
        end = self._seconds * (1 + LATE)
        if self._least_done_s is not None and self._least_done_s > self._seconds:
            end = max(end, self._least_done_s + LATE_S)
        return end - self.spent_s

    # Tasks --------------------------------------------------------------------------------------------------------

    def tasks(self) -> Iterator[Task]:
        """What is to be given now."""
        while self._inside.total() < self._places() and (task := self._task()) is not None:
            self._inside[task.kind] += 1
            yield task

    def _places(self) -> int:
        """Some tasks in advance, so that no core waits while this process does a piece of work of its own."""
        cores = self._cores()
        return cores + min(cores, 2 + cores // 8) if self.left_s > AHEAD_OF_END * self._task_s else cores

    def _task(self) -> Task | None:
        """A wish that had no room before the plan was known to be done has it now."""
        before = self._feed.over
        return self._question() or self._wish() or self._planned() or (None if before else self._wish())

    def _question(self) -> Task | None:
        speed, units, cost_s = self._speeds[QUESTION], list[Unit](), 0.0
        for unit in self._new(QUESTION):
            if self._late_s - speed.of(unit.weight) <= 0:
                break
            units.append(unit)
            cost_s += speed.of(unit.weight)
            if not cost_s or cost_s > QUESTIONS_S:
                break
        self._asked |= {unit.id for unit in units}
        return Task(tuple(units), kind=QUESTION) if units else None

    def _wish(self) -> Task | None:
        """Time for wishes comes with the time that has passed; when the plan is done all of it is there."""
        passed_s = self._seconds if self._feed.over else self.spent_s
        room_s = SHARE * self._cores() * passed_s - self.worked_s[WISH]
        for unit in self._new(WISH):
            cost_s = self._speeds[WISH].of(unit.weight) or TASK_S
            if cost_s * (1 + self._inside[WISH]) > room_s or cost_s > self.left_s:
                return None
            self._asked.add(unit.id)
            return Task((unit,), kind=WISH)
        return None

    def _new(self, kind: str) -> Iterator[Unit]:
        return (unit for unit in self._sources[kind]() if unit.id not in self._asked)

    def _planned(self) -> Task | None:
        speed, units, cost_s = self._speeds[PLANNED], list[Unit](), 0.0
        in_any_case = self._least_given < self._least
        room_s = TASK_S if in_any_case else min(TASK_S, self.left_s)
        while (unit := self._feed.next()) is not None:
            one_s = speed.of(unit.weight)
            if cost_s + one_s > (room_s if units else self.left_s) and not (in_any_case and not units):
                self._feed.back([unit])
                break
            units.append(unit)
            cost_s += one_s
            if not cost_s or (in_any_case and len(units) >= self._share_of_least()):
                break
        self._least_given += len(units)
        return Task(tuple(units), max(room_s, 0.0), PLANNED) if units else None

    def _share_of_least(self) -> int:
        """How many units that are done in any case a task has, so that the last of them end together."""
        return (self._least - self._least_given) // (2 * self._cores()) + 1

    def took(self, done: Done) -> None:
        """Learn from what became of a task, and take back what was not begun."""
        kind = done.task.kind
        self._inside[kind] -= 1
        for one in done.attempted:
            self._speeds[kind].take(one.unit.weight, one.seconds)
            self.worked_s[kind] += one.seconds
        self._task_s = max(TASK_S, sum(one.seconds for one in done.attempted))
        if kind == PLANNED:
            self._feed.back(done.left)
            self._least_given -= len(done.left)
            self._attempted += len(done.attempted)
            if self._attempted >= self._least and self._least_done_s is None:
                self._least_done_s = self.spent_s
