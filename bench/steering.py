"""Whether runs that go on from the nearest ones come sooner to wanted states than runs that begin anew.

The states are drawn from runs with seeds of their own, each from another run, among those that it came to in its second
half. Then so many runs of each arm (a workload, a fault profile, a strategy) are watched for all states. For each state
so many runs go on from the nearest of the first FIRST of them, in an order that chance has drawn; runs that reached it
are left out, as if they had not been there yet. One JSON object a line:

    target      number of the state
    depth       steps of the model in the run that it is from
    anew        share of the runs that began anew and reached it
    led         share of those that went on from the nearest
    faster      led / anew; null if no run has reached it

and a last one with medians over the states that fewer than one run in RARE reaches: there is nothing to gain where
every third run comes by.

    python -m bench.steering
    python -m bench.steering --targets 12 --runs 4 --json -
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, product
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer

from invariants.refinement.monitor import Monitor, Recorder, Step, recorded_by
from model.consumer_group import Rebalancing
from model.language.nodes import FREE, SET, SortInfo
from model.language.open.nearness import Wanted
from spark_fuzz.simulation import Aim
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, run
from stateful_tests.worlds.steering import Nearest, Turns, watched

WORKLOADS = ("smallest", "smallest_ordered")
OWN_SEEDS = 1_000_000
"""From here on runs give targets."""
FIRST, RARE = 40, 3
CONCEPT = Rebalancing.concept


class _Visited(Recorder):
    """The states of the group's follower, each with the number of steps up to it."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[Wanted, int]] = {}
        self._steps = 0

    def stepped(self, monitor: Monitor, steps: Sequence[Step]) -> None:
        """See Recorder."""
        if monitor.reading.concept is CONCEPT and len(monitor.states) == 1:
            self._steps += len(steps)
            state = _state(monitor)
            self.found.setdefault(state.text(), (state, self._steps))


def _state(monitor: Monitor) -> Wanted:
    """All cells of the follower's state, with numbers for elements."""
    named = {name: {one: number for number, one in enumerate(known)}
             for name, known in monitor.reading.given.named.items()}
    cells: list[tuple[tuple[Any, ...], Any]] = []
    for name, info in CONCEPT.variables.items():
        for keys in () if info.rigid else product(*(named[key.name] for key in info.keys)):
            value = monitor.states.base.get((name, *keys), monitor.states.defaults[name])
            numbers = (named[key.name][one] for key, one in zip(info.keys, keys, strict=True))
            cells.append(((name, *numbers), _numbered(info.value, value, named)))
    return Wanted("", "", CONCEPT.name, {name: len(known) for name, known in named.items()}, cells)


def _numbered(sort: SortInfo, value: Any, named: Mapping[str, Mapping[Any, int]]) -> Any:
    element = sort.element or sort
    if element.kind != FREE or value is None:
        return sorted(value) if sort.kind == SET else value
    numbers = named[element.name]
    return sorted(numbers[one] for one in value) if sort.kind == SET else numbers[value]


def targets(arms: Sequence[Plan], many: int, seed: int) -> Iterator[tuple[Wanted, int]]:
    """So many states that runs visit, with the steps up to each."""
    draw = random.Random(seed)  # noqa: S311 - anybody can draw the same
    for number in range(many):
        plan, visited = draw.choice(arms), _Visited()
        with recorded_by(visited):
            run(plan, STRATEGIES[plan.strategy](OWN_SEEDS * (1 + seed) + number))
        found = list(visited.found.values())
        yield draw.choice(found[len(found) // 2:])


Watched = tuple[Plan, Mapping[int, Nearest]]
"""A run, and where it was nearest to each state."""


def led(goal: Wanted, first: Sequence[Watched], target: int, runs: int, seed: int) -> int:
    """How many of so many runs reach a state that go on from the nearest."""
    turns, draw = Turns([plan for plan, _ in first], 1), random.Random(seed)  # noqa: S311 - anybody can draw the same
    for plan, nearest in first:
        if target in nearest and nearest[target].distance:
            turns.take(plan, 0, 0, nearest[target])
    reached = 0
    for number, begun in zip(range(runs), cycle(turns.nearest(0, 1)), strict=False):
        plan, given = begun.before(draw)
        found = watched([goal], plan, OWN_SEEDS * (2 + seed) + number, given).nearest
        reached += 0 in found and not found[0].distance
    return reached


def measured(many: int, runs: int, on: int, seed: int) -> Iterator[dict[str, Any]]:
    """A line for each target, and one for all."""
    arms = Aim(("shipped",), WORKLOADS).checked().arms()
    drawn = list(targets(arms, many, seed))
    goals = [goal for goal, _ in drawn]
    anew: list[Watched] = [(arm, watched(goals, arm, number).nearest) for number in range(runs) for arm in arms]
    random.Random(seed).shuffle(anew)  # noqa: S311 - anybody can draw the same
    lines = []
    for target, (goal, depth) in enumerate(drawn):
        reached = sum(target in nearest and not nearest[target].distance for _, nearest in anew)
        line: dict[str, Any] = {"target": target, "depth": depth, "anew": round(reached / len(anew), 4)}
        if reached * RARE < len(anew):
            line["led"] = round(led(goal, anew[:FIRST], target, on, seed) / on, 4)
            line["faster"] = round(line["led"] / line["anew"], 2) if reached else None
            lines.append(line)
        yield line
    known = [line for line in lines if line["faster"] is not None]
    yield {"targets": len(known), "runs_anew": len(anew), "runs_led": on,
           **{name: median(line[name] for line in known) if known else None for name in ("anew", "led", "faster")}}


def main(
    many: Annotated[int, typer.Option("--targets", help="So many states.")] = 32,
    runs: Annotated[int, typer.Option(help="Runs of each arm that begin anew.")] = 8,
    on: Annotated[int, typer.Option(help="Runs for each state that go on from others.")] = 60,
    seed: Annotated[int, typer.Option(help="Which states are drawn.")] = 0,
    json_file: Annotated[str | None, typer.Option("--json", help="Write the lines to a file; - for stdout.")] = None,
) -> None:
    """Shares of runs that reach wanted states, one JSON object a line."""
    lines = []
    for line in measured(many, runs, on, seed):
        lines.append(json.dumps(line))
        print(lines[-1], flush=True)
    if json_file not in {None, "-"}:
        Path(str(json_file)).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
