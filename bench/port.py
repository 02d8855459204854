"""Calls a second of a strategy that a program answers for: `python -m bench.port [--calls N] [--exec CMD]`.

One JSON object a line: how the calls are sent, and calls a second of wall time (best of REPEATS).
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from itertools import islice

from invariants.allocation.answers import GROUP, asked
from invariants.allocation.cases import Case
from invariants.allocation.inputs import EQUAL_LISTS
from stateful_tests.conformance.port.examples import ADAPTERS
from stateful_tests.conformance.port.strategy import ALLOCATE, Call, PortStrategy
from stateful_tests.decisions.strategies import ANNOUNCED

REPEATS = 3


def calls_of(cases: list[Case]) -> list[Call]:
    """What a judge asks about cases."""
    return [(GROUP, view.me, list(view.queues), list(view.members)) for case in cases for view in asked(case)]


def together(strategy: PortStrategy, blocks: list[list[Call]]) -> float:
    """Seconds for all calls, announced in blocks as the judge announces them."""
    began = time.perf_counter()
    for block in blocks:
        strategy.ahead(block)
        for call in block:
            strategy(*call)
    return time.perf_counter() - began


def alone(strategy: PortStrategy, blocks: list[list[Call]]) -> float:
    """Seconds for a tenth of the calls, each a request of its own."""
    began = time.perf_counter()
    for call in [call for block in blocks for call in block][::10]:
        strategy(*call)
    return time.perf_counter() - began


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--exec", dest="program", default=shlex.join([sys.executable, str(ADAPTERS / "adapter.py")]))
    parser.add_argument("--function", default=ALLOCATE)
    given = parser.parse_args()
    cases, blocks = EQUAL_LISTS.up_to(12, 6, joins=False), list[list[Call]]()
    while sum(map(len, blocks)) < given.calls:
        block = list(islice(cases, ANNOUNCED))
        if not block:
            cases = EQUAL_LISTS.up_to(12, 6, joins=False)
        blocks.append(calls_of(block))
    many = sum(map(len, blocks))
    with PortStrategy(given.program, given.function) as strategy:
        for name, work, share in (("in batches", together, 1), ("one by one", alone, 10)):
            best = min(work(strategy, blocks) for _ in range(REPEATS))
            print(json.dumps({"calls": name, "per_second": round(many / share / best), "program": given.program}))


if __name__ == "__main__":
    main()
