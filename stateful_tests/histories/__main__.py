"""`python -m stateful_tests.histories --histories 1000000`: the checker of histories beside its reference."""

from __future__ import annotations

import argparse
import sys

from stateful_tests.histories.compare import differences


def main() -> None:
    """Compare, and say what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first one")
    given = parser.parse_args()
    found = 0
    for seed, differs, speaks in differences(range(given.seed, given.seed + given.histories)):
        found += speaks
        if differs:
            print(f"seed {seed}: {sorted(differs)}")
            sys.exit(1)
    print(f"{given.histories} histories, something found in {found}: checker and reference say the same")


if __name__ == "__main__":
    main()
