"""Which worlds break which property of RocketMQ 4.9.3 as shipped, so that `compare` begins with those that may tell.

Every arm (workload, profile, strategy) is lived through RUNS times. The table says in which share of their runs the
arms of a workload, and those of a profile and strategy, have broken each property, and how many segments a run of the
workload has. It bears on where a comparison looks first, and on nothing that it says.

    python -m bench.arms > spark_fuzz/arms.json     # some ten minutes of a core
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from spark_fuzz.runs import warm_up
from spark_fuzz.simulation import SEEDS, Aim
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, RunRecord, run

RUNS = 2
FIRST = SEEDS - RUNS
"""No campaign and no comparison has these seeds."""


def table(lived: Iterator[tuple[Plan, RunRecord]]) -> dict[str, Any]:
    """The table, from all runs."""
    runs, segments = Counter[str](), Counter[str]()
    broken = defaultdict[str, Counter[str]](Counter)
    for plan, record in lived:
        parts = ("", plan.workload, f"{plan.profile} {plan.strategy}")
        segments[plan.workload] += record.segments
        for part in parts:
            runs[part] += 1
            broken[part].update({one.property for one in record.seen})
    shares = {part: {name: round(count / runs[part], 3) for name, count in sorted(found.items())}
              for part, found in sorted(broken.items())}
    return {"segments": {name: count // runs[name] for name, count in sorted(segments.items())}, "broken": shares}


def lived() -> Iterator[tuple[Plan, RunRecord]]:
    """All runs."""
    warm_up()
    arms = Aim(("shipped",)).checked().arms()
    for seed in range(FIRST, FIRST + RUNS):
        for number, plan in enumerate(arms):
            print(f"\r{number} of {len(arms)}, seed {seed}", end="", file=sys.stderr)
            yield plan, run(plan, STRATEGIES[plan.strategy](seed))


if __name__ == "__main__":
    print(json.dumps(table(lived()), indent=1))
