"""Tasks on Spark: a few units each, given one by one, so that a core that becomes free finds the next one waiting.

Each task is a Spark job of one partition, submitted from a thread of its own. Spark's own scheduler gives the jobs to
cores in the order in which they came. A task whose worker is lost is begun again as a whole, up to four times; units
are deterministic, so that another attempt gives the same rows.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any

from spark_fuzz.deaths import DEATHS
from spark_fuzz.work import Row, Unit, Work, attempt

ATTEMPTS = 4
"""How often a unit is begun whose worker is lost each time; one attempt more tells how they ended."""

CANCELLED_S, POLL_S = 10.0, 0.1

_GROUPS = count()


class ClusterLostError(Exception):
    """Spark itself is gone (not one unit's worker); the message is one line that says what to do."""


@dataclass(frozen=True)
class Task:
    """What one core does next.

    units -- one after another; the first in any case. seconds -- of wall time after which none is begun.
    kind -- of the giver's choice.
    """

    units: tuple[Unit, ...]
    seconds: float = math.inf
    kind: str = ""


@dataclass(frozen=True)
class Attempted:
    """A unit that was done: its rows, and the wall time in seconds."""

    unit: Unit
    rows: list[Row]
    seconds: float


@dataclass(frozen=True)
class Done:
    """What became of a task: its units that were attempted, in order; for the others there was no time."""

    task: Task
    attempted: tuple[Attempted, ...]

    @property
    def left(self) -> tuple[Unit, ...]:
        """The units that were not begun."""
        return self.task.units[len(self.attempted):]


class Crew:
    """Tasks that a Spark works on, all of one work function.

    context -- the SparkContext. inside -- how many tasks were given and not taken back.
    """

    def __init__(self, context: Any, work: Work) -> None:
        """Nothing is given yet."""
        self.inside = 0
        self._context, self._work = context, work
        self._group = f"crew-{next(_GROUPS)}"
        self._given: SimpleQueue[Task | None] = SimpleQueue()
        self._back: SimpleQueue[Done | Exception] = SimpleQueue()
        self._threads: list[Any] = []
        self._ended = False

    def give(self, task: Task) -> None:
        """Let Spark do a task as soon as a core is free and all earlier tasks have one."""
        from pyspark import InheritableThread  # noqa: PLC0415 - pyspark is an extra, and slow to import

        self.inside += 1
        if self.inside > len(self._threads):
            thread = InheritableThread(target=self._submit, daemon=True)
            self._threads.append(thread)
            thread.start()
        self._given.put(task)

    def take(self, wait_s: float = POLL_S) -> list[Done]:
        """The tasks that have ended; waits so long for the first one.

        Raises ClusterLostError.
        """
        taken: list[Done] = []
        with suppress(Empty):
            while True:
                back = self._back.get(timeout=wait_s) if wait_s and not taken else self._back.get_nowait()
                self.inside -= 1
                if isinstance(back, Exception):
                    raise back
                taken.append(back)
        return taken

    def end(self) -> None:
        """Cancel what is not done, and let the threads go."""
        self._ended = True
        for _ in self._threads:
            self._given.put(None)
        until = time.monotonic() + CANCELLED_S
        while any(thread.is_alive() for thread in self._threads) and time.monotonic() < until:
            with suppress(Exception):  # a JVM that is gone has nothing to cancel
                self._context.cancelJobGroup(self._group)
            for thread in self._threads:
                thread.join(POLL_S / len(self._threads))

    # Threads ------------------------------------------------------------------------------------------------------

    def _submit(self) -> None:
        while (task := self._given.get()) is not None and not self._ended:
            try:
                self._back.put(self._done(task))
            except Exception as failure:  # noqa: BLE001 - told to whoever takes
                self._back.put(failure)

    def _done(self, task: Task) -> Done:
        """A unit that ends its worker each time takes the task with it; then each unit has a job of its own."""
        try:
            return self._job(task)
        except _JobError:
            return Done(task, tuple(self._alone(unit) for unit in task.units if not self._ended))

    def _alone(self, unit: Unit) -> Attempted:
        try:
            attempted, = self._job(Task((unit,))).attempted
        except _JobError as failure:
            return Attempted(unit, [{"unit": unit.id, "cpu_us": 0, "error": str(failure)}], 0.0)
        return attempted

    def _job(self, task: Task) -> Done:
        work = self._work

        def partition(tasks: Iterator[Task]) -> Iterator[Attempted]:
            for one in tasks:
                yield from _attempted(work, one)

        try:
            self._context.setJobGroup(self._group, self._group)
            attempted = self._context.parallelize([task], 1).mapPartitions(partition).collect()
        except Exception as failure:  # noqa: BLE001 - py4j raises what it likes
            if is_stopped(self._context):
                raise ClusterLostError("Spark ended while it worked; give the same command again to go on") from None
            raise _JobError(one_line(failure)) from None
        return Done(task, tuple(attempted))


class _JobError(Exception):
    """A job failed because a unit's worker died at each attempt."""


def _attempted(work: Work, task: Task) -> Iterator[Attempted]:
    """Each unit of a task in a worker, as long as there is time."""
    began = time.monotonic()
    for number, unit in enumerate(task.units):
        before = time.monotonic()
        if number and before - began > task.seconds:
            return
        rows = _ended_by(unit)
        if rows is None:
            DEATHS.began(unit.id)
            rows = attempt(work, unit)
        yield Attempted(unit, rows, time.monotonic() - before)


def _ended_by(unit: Unit) -> list[Row] | None:
    """The rows of a unit that has ended its worker at each attempt; the last attempt only tells how."""
    from pyspark import TaskContext  # noqa: PLC0415 - pyspark is an extra, and slow to import

    context = TaskContext.get()
    if context is None or context.attemptNumber() < ATTEMPTS or not (ends := DEATHS.of(unit.id)[-ATTEMPTS:]):
        return None
    how = " and ".join(dict.fromkeys(ends))
    return [{"unit": unit.id, "cpu_us": 0, "error": f"its worker ended {len(ends)} times, with {how}"}]


def is_stopped(context: Any) -> bool:
    """Whether a SparkContext, or its JVM, is gone."""
    try:
        return bool(context._jsc.sc().isStopped())  # noqa: SLF001 - pyspark's own flag knows only of its own stop
    except Exception:  # noqa: BLE001 - a JVM that cannot be asked is gone
        return True


def one_line(failure: BaseException) -> str:
    """The line of a failure that names its cause."""
    java = getattr(failure, "java_exception", None)
    text = str(failure) if java is None else str(java.getMessage())
    text = re.sub(r"\n\s+at [^\n]*", "", text.partition("\nPYTHONPATH was:")[0])  # then the JVM says how it noticed
    causes = re.findall(r"(?:\w*Error|\w*Exception|crashed)\b[^\n]*", text)
    lines = causes[-1:] or text.strip().splitlines()[:1] or [type(failure).__name__]
    return lines[0].strip()[:300]
