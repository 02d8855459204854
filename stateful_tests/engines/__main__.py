"""Compares the engines on random concepts: `python -m stateful_tests.engines --concepts 10000 --seed 0 --tlc`.

Exit status: 0 no contradiction, 1 some judge says what another one refutes, or TLC gave no answer; each is a line with
its seed. 2 no Java, or no TLC. 3 the solver has crashed: some concepts were not compared.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator

from invariants.verdict import BadInputError, ExitStatus
from proofs.apart import apart
from stateful_tests.engines.by_tlc import Searched, contradictions
from stateful_tests.engines.compare import compared

BATCH = 100  # concepts in a run of TLC
UNKNOWN = "unknown, for the solver ended its process: "


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
    unknown = any(what.startswith(UNKNOWN) for what in tally)
    return ExitStatus.DIFFERENT if wrong else ExitStatus.UNKNOWN if unknown else ExitStatus.AS_EXPECTED


def found(seeds: range, tally: Counter[str], *, tlc: bool) -> Iterator[str]:
    """Contradictions about the concepts of these seeds; tlc -- ask TLC, too, some concepts at a time.

    A batch is judged in a process apart, which Z3 may end: then the tally says how many of its concepts are unknown.
    """
    def judged(batch: range) -> tuple[list[str], Counter[str]]:
        told: Counter[str] = Counter()
        searched: list[Searched] = []
        lines = [line for seed in batch for line in compared(seed, told, searched)]
        return lines + (list(contradictions(searched, told)) if tlc else []), told

    def lost(batch: range, how: str) -> tuple[list[str], Counter[str]]:
        return [], Counter({f"{UNKNOWN}{how}": len(batch)})

    for lines, told in apart((seeds[first:first + BATCH] for first in range(0, len(seeds), BATCH)), judged, lost):
        tally.update(told)
        yield from lines


if __name__ == "__main__":
    sys.exit(main())
