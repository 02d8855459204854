"""Whether worlds that are chosen by nearness come sooner to wanted states than worlds that are chosen by chance.

The states are drawn from runs with seeds of their own, each from another run, among those that it came to in its second
half. Then each arm (a workload, a fault profile, a strategy) lives through so many runs, all of which are watched for
all states. From these runs both choices are played again and again: each takes one run after another of the arms that
it chooses, until one of them has reached the state. One JSON object a line:

    target            number of the state
    depth             steps of the model in the run that it is from
    runs_that_reach   of all that were watched; 0: the state is left out of what follows
    chance, steered   tries until it is reached, the median of REPEATS plays
    faster            chance / steered

and a last one with the medians over all states that some run has reached.

    python -m bench.steering
    python -m bench.steering --targets 12 --runs 10 --json -
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, product
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
from stateful_tests.worlds.steering import Arms, watched

WORKLOADS = ("smallest", "smallest_ordered")
OWN_SEEDS = 1_000_000
"""From here on runs give targets."""
REPEATS = 201
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


Table = Mapping[Plan, Sequence[Mapping[int, int]]]
"""Of each arm its runs: how near each came to each target."""


def tries(table: Table, target: int, *, steered: bool, seed: int) -> int:
    """How many runs it takes until one has reached the target."""
    draw, arms = random.Random(seed), list(table)  # noqa: S311 - anybody can draw the same
    draw.shuffle(arms)
    known = Arms(arms, 1)
    number = 0
    for turn in count():
        for arm in known.turn(turn) if steered else [draw.choice(arms)]:
            number += 1
            distance = draw.choice(table[arm]).get(target)
            if distance == 0:
                return number
            if distance is not None:
                known.take(arm, turn, 0, distance)
    raise AssertionError


def measured(many: int, runs: int, seed: int) -> Iterator[dict[str, Any]]:
    """A line for each target, and one for all."""
    arms = Aim(("shipped",), WORKLOADS).checked().arms()
    drawn = list(targets(arms, many, seed))
    goals = [goal for goal, _ in drawn]
    table = {arm: [{target: one.distance for target, one in watched(goals, arm, number).nearest.items()}
                   for number in range(runs)] for arm in arms}
    lines = []
    for target, (_, depth) in enumerate(drawn):
        reach = sum(one.get(target) == 0 for of_arm in table.values() for one in of_arm)
        line: dict[str, Any] = {"target": target, "depth": depth, "runs_that_reach": reach}
        if reach:
            for name in ("chance", "steered"):
                line[name] = median(tries(table, target, steered=name == "steered", seed=one) for one in range(REPEATS))
            line["faster"] = round(line["chance"] / line["steered"], 2)
            lines.append(line)
        yield line
    yield {"targets": len(lines), "arms": len(arms), "runs": len(arms) * runs,
           **{name: median(line[name] for line in lines) for name in ("chance", "steered", "faster")}}


def main(
    many: Annotated[int, typer.Option("--targets", help="So many states.")] = 16,
    runs: Annotated[int, typer.Option(help="Runs of each arm.")] = 10,
    seed: Annotated[int, typer.Option(help="Which states are drawn.")] = 0,
    json_file: Annotated[str | None, typer.Option("--json", help="Write the lines to a file; - for stdout.")] = None,
) -> None:
    """Tries until wanted states are reached, one JSON object a line."""
    lines = []
    for line in measured(many, runs, seed):
        lines.append(json.dumps(line))
        print(lines[-1], flush=True)
    if json_file not in {None, "-"}:
        Path(str(json_file)).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
