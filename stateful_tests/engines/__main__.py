"""Compares the engines on random concepts: `python -m stateful_tests.engines --concepts 10000 --seed 0 --tlc`.

Exit status: 0 no contradiction, 1 some judge says what another one refutes, or TLC gave no answer; each is a line with
its seed. 2 no Java, or no TLC.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator

from invariants.verdict import BadInputError, ExitStatus
from stateful_tests.engines.by_tlc import Searched, contradictions
from stateful_tests.engines.compare import compared

BATCH = 100  # concepts in a run of TLC


def main(arguments: list[str] | None = None) -> int:
    """Compare; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m stateful_tests.engines", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--concepts", type=int, default=1000, help="how many; default 1000")
    parser.add_argument("--seed", type=int, default=0, help="of the first; each concept has its own")
    parser.add_argument("--tlc", action="store_true", help="also ask TLC; needs Java")
    chosen = parser.parse_args(arguments)
    tally: Counter[str] = Counter()
    wrong = 0
    try:
        for line in found(range(chosen.seed, chosen.seed + chosen.concepts), tally, tlc=chosen.tlc):
            wrong += 1
            print(line, flush=True)
    except BadInputError as error:
        print(error, file=sys.stderr)
        return ExitStatus.BAD_INPUT
    print(f"{chosen.concepts} concepts, {wrong} contradictions; "
          + ", ".join(f"{what} {count}" for what, count in sorted(tally.items())))
    return int(wrong > 0)


def found(seeds: range, tally: Counter[str], *, tlc: bool) -> Iterator[str]:
    """Contradictions about the concepts of these seeds; tlc -- ask TLC, too, some concepts at a time."""
    for first in seeds[::BATCH]:
        searched: list[Searched] = []
        for seed in range(first, min(first + BATCH, seeds.stop)):
            yield from compared(seed, tally, searched)
        if tlc:
            yield from contradictions(searched, tally)


if __name__ == "__main__":
    sys.exit(main())
