"""Which worlds break which property of RocketMQ 4.9.3 as shipped, so that `compare` begins with those that may tell.

Every arm (workload, profile, strategy) is lived through RUNS times. The table says in which share of their runs the
arms of a workload, and those of a profile and strategy, have broken each property, and how many segments a run of the
workload has. It bears on where a comparison looks first, and on nothing that it says.

    python -m bench.arms > spark_fuzz/arms.jsonl     # some ten minutes of a core
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from spark_fuzz.runs import warm_up
from spark_fuzz.simulation import SEEDS, Aim
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, RunRecord, run

RUNS = 2
FIRST = SEEDS - RUNS
"""So late seeds no campaign and no comparison reaches."""


def lines(lived: Iterable[tuple[Plan, RunRecord]]) -> Iterator[dict[str, Any]]:
    """The table, from all runs: see `spark_fuzz.likely`."""
    runs, segments = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    broken = defaultdict[tuple[str, ...], Counter[str]](Counter)
    for plan, record in lived:
        parts: tuple[tuple[str, ...], ...] = ((), (plan.workload,), (plan.profile, plan.strategy))
        for part in parts:
            runs[part] += 1
            segments[part] += record.segments
            broken[part].update({one.property for one in record.seen})
    for part, found in sorted(broken.items()):
        shares = {name: round(count / runs[part], 3) for name, count in sorted(found.items())}
        long = {"segments": segments[part] // runs[part]} if len(part) <= 1 else {}
        yield {"part": part, **long, "broken": shares}


def lived() -> Iterator[tuple[Plan, RunRecord]]:
    """All runs."""
    warm_up()
    arms = Aim(("shipped",)).checked().arms()
    for seed in range(FIRST, FIRST + RUNS):
        for number, plan in enumerate(arms):
            print(f"\r{number} of {len(arms)}, seed {seed}", end="", file=sys.stderr)
            yield plan, run(plan, STRATEGIES[plan.strategy](seed))


if __name__ == "__main__":
    for line in lines(lived()):
        print(json.dumps(line))
