"""Compares the engines on random concepts: `python -m stateful_tests.engines --concepts 10000 --seed 0`.

Exit status: 0 no contradiction, 1 some judge says what another one refutes; each is a line with its seed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from stateful_tests.engines.compare import compared


def main(arguments: list[str] | None = None) -> int:
    """Compare; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m stateful_tests.engines", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--concepts", type=int, default=1000, help="how many; default 1000")
    parser.add_argument("--seed", type=int, default=0, help="of the first; each concept has its own")
    chosen = parser.parse_args(arguments)
    tally: Counter[str] = Counter()
    wrong = 0
    for seed in range(chosen.seed, chosen.seed + chosen.concepts):
        for line in compared(seed, tally):
            wrong += 1
            print(line, flush=True)
    print(f"{chosen.concepts} concepts, {wrong} contradictions; "
          + ", ".join(f"{what} {count}" for what, count in sorted(tally.items())))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
