"""How fast the two readings of single states are: `python -m bench.open [--json FILE]`, one JSON object a line.

    commit_log       records are appended, dispatched, flushed and acknowledged, at a log of so many records; `packed`
                     at so many positions (its states have a place for each, and beyond 128 it recurses too deeply)
    consumer_group   so many members and queues at two brokers: members start, are listed, fetch lists, apply them and
                     crash at random. The packed reading has code for each argument, which is compiled before, and a
                     table of all shares; the open one has the same code for all

`steps` evaluates guards and effects and goes on from the state after; `judged` judges all properties of the concept
after each step as well (as the refinement monitor does). Steps for each second of CPU time, the best of REPEATS.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from random import Random
from typing import Any

from invariants import consumer_group  # noqa: F401  # declares the properties
from model.consumer_group import Group
from model.language.open.judging import Judge
from model.language.open.reading import OpenReading
from model.language.open.states import Cell, States, Writes
from model.language.properties import ALWAYS
from model.language.scalar import StepReading
from model.language.scope import Scope
from model.scopes import averagely
from stateful_tests.language.concepts.commit_log import Store

REPEATS = 5
STEPS = 30_000
RECORDS = (50, 50_000)
POSITIONS = (8, 64)
QUEUES = 4
MEMBERS = (2, 8)
WAY = 2_000
Step = tuple[str, tuple[Any, ...]]
Take = Callable[[str, tuple[Any, ...]], None]


class Open:
    """A state that goes on by steps; judged -- whether the properties are judged after each."""

    def __init__(self, reading: OpenReading, initial: Writes, *, judged: bool) -> None:
        """Begin."""
        self.reading, self.states = reading, States(reading.defaults, initial)
        properties = [one for one in reading.concept.properties.values() if one.kind == ALWAYS]
        self.judge = Judge(reading, properties, self.states) if judged else None

    def take(self, action: str, arguments: tuple[Any, ...]) -> None:
        """Take a step, which must be enabled."""
        base = self.states.base
        writes = self.reading.step(action, arguments, base)
        if writes is None:
            raise ValueError(f"{action} is not enabled")
        if self.judge is None:
            base.update(writes)
            return
        changes: dict[Cell, tuple[Any, Any]] = {}
        for cell, new in writes.items():
            old = base.get(cell, self.states.defaults[cell[0]])
            if old != new:
                changes[cell] = old, new
        base.update(writes)
        self.judge.judge(changes, self.states)


class Packed:
    """The same with the packed reading; what a step has not touched is not judged."""

    def __init__(self, reading: StepReading, initial: int, *, judged: bool) -> None:
        """Begin."""
        self.reading, self.state, self.judged = reading, initial, judged
        self.properties = [one for one in reading.ground.scope.concept.properties.values() if one.kind == ALWAYS]

    def take(self, action: str, arguments: tuple[Any, ...]) -> None:
        """Take a step, which must be enabled."""
        before, after = self.state, self.reading.step(action, arguments, self.state)
        if after is None:
            raise ValueError(f"{action} is not enabled")
        self.state = after
        if self.judged:
            for one in self.properties:
                if (before ^ after) & self.reading.ground.term(one.condition).support:
                    self.reading.holds(one, after)


def log_steps(queues: Sequence[Any]) -> Iterator[Step]:
    """One record more, again and again."""
    number = 0
    while True:
        queue = queues[number % len(queues)]
        yield "append", (queue,)
        yield "dispatch", ()
        yield "flush", ()
        yield "acknowledge", ()
        yield "flush_queue", (queue,)
        number += 1


def per_second(take: Take, steps: Sequence[Step]) -> int:
    """Steps for each second."""
    gc.collect()
    began = time.process_time()
    for action, arguments in steps:
        take(action, arguments)
    return round(len(steps) / (time.process_time() - began))


def open_log(records: int, *, judged: bool) -> int:
    """Steps at a log of so many records."""
    log = Open(OpenReading(Store.concept), {("up",): True, ("scanned",): True}, judged=False)
    steps = log_steps([f"queue{number}" for number in range(QUEUES)])
    for _ in range(5 * records):
        log.take(*next(steps))
    longer = Open(log.reading, log.states.base, judged=judged)
    return per_second(longer.take, [next(steps) for _ in range(STEPS)])


def packed_log(positions: int, *, judged: bool) -> int:
    """Steps at a log that is filled, as far as the scope has positions, and begun anew."""
    scope = Scope(Store, {"Queue": QUEUES, "LogPosition": positions, "QueueOffset": positions})
    reading = StepReading(scope, pruned=False)
    start = reading.layout.pack({("up",): 1, ("scanned",): 1})
    ways = log_steps(range(QUEUES))
    steps = [next(ways) for _ in range(5 * (positions - 1))]
    log = Packed(reading, start, judged=judged)

    for action, arguments in steps:  # compiles
        log.take(action, arguments)
    rounds = max(1, STEPS // len(steps) // 4)
    began = time.process_time()
    for _ in range(rounds):
        log.state = start
        for action, arguments in steps:
            log.take(action, arguments)
    return round(rounds * len(steps) / (time.process_time() - began))


def group_scope(size: int) -> Scope:
    """Two brokers, so many members and queues; what is rigid is computed once, as far as it is asked for."""
    rigid: dict[str, Any] = {"share": lru_cache(maxsize=None)(averagely(size)), "subscribes": lambda _: True,
                             "leader": lambda m: m}
    return Scope(Group, {"Broker": 2, "Member": size, "Queue": size}, rigid)


def group_way(reading: StepReading) -> list[Step]:
    """A random way from the first state; elements are numbers."""
    chance = Random(0)  # noqa: S311 - a way, not a secret
    state, way = 0, list[Step]()
    while len(way) < WAY:
        steps = list(reading.successors(state))
        instance, state = steps[chance.randrange(len(steps))]
        way.append((instance.action.name, instance.arguments))
    return way


def group(name: str, size: int, *, judged: bool) -> int:
    """Steps of a consumer group in a reading, the same way again and again."""
    scope = group_scope(size)
    packed = StepReading(scope, pruned=False)
    way = group_way(packed)
    share = averagely(size)
    opened = OpenReading(Group.concept, {
        "share": lru_cache(maxsize=None)(share), "subscribes": lambda _: True, "leader": lambda m: m})
    for sort, count in scope.sizes.items():
        opened.given.name(Group.concept.sorts[sort], range(count))

    def begin() -> Open | Packed:
        return Packed(packed, 0, judged=judged) if name == "packed" else Open(opened, {}, judged=judged)

    per_second(begin().take, way)  # compiles
    return per_second(begin().take, way)


def lines() -> Iterator[dict[str, Any]]:
    """All that is measured."""
    for judged in (False, True):
        what = "judged" if judged else "steps"
        for positions in POSITIONS:
            yield _line("commit_log", what, "packed", positions, partial(packed_log, positions, judged=judged))
        for records in RECORDS:
            yield _line("commit_log", what, "open", records, partial(open_log, records, judged=judged))
        for size in MEMBERS:
            for name in ("packed", "open"):
                yield _line("consumer_group", what, name, size, partial(group, name, size, judged=judged))


def _line(concept: str, what: str, reading: str, size: int, run: Callable[[], int]) -> dict[str, Any]:
    rates = sorted(run() for _ in range(REPEATS))
    return {"concept": concept, "what": what, "reading": reading, "size": size,
            "per_second": rates[-1], "median": rates[REPEATS // 2]}


def main() -> None:
    """One JSON object a line."""
    parser = argparse.ArgumentParser(description="Steps per second of the packed and of the open reading.")
    parser.add_argument("--json", metavar="FILE", help="write the lines to a file as well; - for stdout alone")
    given = parser.parse_args()
    told = []
    for line in lines():
        told.append(json.dumps(line))
        print(told[-1], flush=True)
    if given.json not in {None, "-"}:
        Path(str(given.json)).write_text("\n".join(told) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
