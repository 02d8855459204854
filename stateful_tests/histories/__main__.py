"""The checker of histories beside its reference, or on what clients of simulated worlds observe.

`python -m stateful_tests.histories --histories 1000000` compares;
`python -m stateful_tests.histories --worlds 1000 --subject repaired --workload stored_sync` judges runs.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from stateful_tests.histories.compare import differences
from stateful_tests.histories.worlds import findings
from stateful_tests.worlds.run import Plan


def main() -> None:
    """Compare, or judge worlds, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=1_000_000)
    parser.add_argument("--worlds", type=int, default=0, help="so many runs instead")
    parser.add_argument("--subject", default="repaired")
    parser.add_argument("--workload", default="stored_sync")
    parser.add_argument("--profile", default="storm")
    parser.add_argument("--seed", type=int, default=0, help="of the first one")
    given = parser.parse_args()
    if given.worlds:
        _worlds(Plan(given.subject, given.workload, given.profile), range(given.seed, given.seed + given.worlds))
    else:
        _compare(range(given.seed, given.seed + given.histories))


def _compare(seeds: range) -> None:
    found = 0
    for seed, differs, speaks in differences(seeds):
        found += speaks
        if differs:
            print(f"seed {seed}: {sorted(differs)}")
            sys.exit(1)
    print(f"{len(seeds)} histories, something found in {found}: checker and reference say the same")


def _worlds(plan: Plan, seeds: range) -> None:
    found: Counter[str] = Counter()
    for seed, one in findings(plan, seeds):
        found[one.check] += 1
        if found[one.check] == 1:
            print(f"seed {seed}: {one.check}: {one.sentence}")
    print(f"{len(seeds)} runs of {plan.subject} in {plan.workload} under {plan.profile}: "
          f"{', '.join(f'{name} {times} times' for name, times in sorted(found.items())) or 'nothing is found'}")


if __name__ == "__main__":
    main()
