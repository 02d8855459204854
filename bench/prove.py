"""Measures the proofs: `python -m bench.prove --json -`; with names, those of these properties and claims alone.

One JSON object a line for each group, a model or a module of decisions, and one for all together:

    group, kind         model, decisions, or all
    verdicts            rows
    unknown             of these
    as_expected         of these; the exit status is 1 unless it is all of them
    obligations         proved, as the rows count them: a lemma counts for each property that stands on it
    solver, seeds       who proves, under how many seeds each obligation
    cpu_seconds         of one core: of a group as its rows count them, without the faults that must spoil a proof; of
                        all together what every process has spent, with these and, in the first such line, the imports
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from invariants.verdict import BadInputError, Verdict

SEEDS = 5
SOLVERS = ("z3", "cvc5")


@dataclass(slots=True)
class Group:
    """The sums of one group."""

    name: str
    kind: str
    seeds: int
    solver: str = "z3"
    verdicts: int = 0
    unknown: int = 0
    as_expected: int = 0
    obligations: float = 0.0
    cpu_seconds: float = 0.0

    def add(self, row: Verdict) -> None:
        """One row more."""
        self.verdicts += 1
        self.unknown += row.outcome.is_unknown
        self.as_expected += row.as_expected
        self.obligations += row.cost.get("obligations", 0)
        self.cpu_seconds += row.cost.get("seconds", 0)

    def to_json(self) -> dict[str, Any]:
        """As the line is written."""
        return {"group": self.name, "kind": self.kind, "verdicts": self.verdicts, "unknown": self.unknown,
                "as_expected": self.as_expected, "obligations": round(self.obligations), "solver": self.solver,
                "seeds": self.seeds, "cpu_seconds": round(self.cpu_seconds, 3)}


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; exit status 0, 1 when a verdict is not as expected, 2 for bad input."""
    parser = argparse.ArgumentParser(prog="python -m bench.prove", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a property or a claim; all by default")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="solver seeds for each obligation")
    parser.add_argument("--solver", choices=(*SOLVERS, "both"), default="z3", help="who proves; default z3")
    parser.add_argument("--json", metavar="FILE", help="write the lines to a file; - for standard output only")
    options = parser.parse_args(arguments)
    lines: list[dict[str, Any]] = []
    try:
        for solver in SOLVERS if options.solver == "both" else (options.solver,):
            for group in measured(options.names, options.seeds, solver, _spent_s() if lines else 0.0):
                lines.append(group.to_json())
                print(json.dumps(lines[-1]) if options.json == "-" else _line(lines[-1]), flush=True)
    except BadInputError as error:
        print(error, file=sys.stderr)
        return 2
    if options.json and options.json != "-":
        Path(options.json).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return 0 if all(line["verdicts"] == line["as_expected"] for line in lines) else 1


def measured(names: Sequence[str], seeds: int, solver: str = "z3", before_s: float = 0.0) -> Iterator[Group]:
    """Each group in the order of the catalogue, then all; raises BadInputError for an unknown name.

    before_s -- CPU seconds that were spent on something else.
    """
    from invariants.front_desk import catalogue  # noqa: PLC0415 - imports belong to what is measured
    from proofs.__main__ import proved  # noqa: PLC0415 - same

    groups: dict[str, Group] = {}
    everything = Group("all", "all", seeds, solver)
    for row in proved(catalogue.chosen(list(names)), range(seeds), solver=solver):
        name, kind = _group(row)
        for one in (groups.setdefault(name, Group(name, kind, seeds, solver)), everything):
            one.add(row)
    yield from groups.values()
    everything.cpu_seconds = _spent_s() - before_s
    yield everything


def _spent_s() -> float:
    """CPU seconds of this process, and of those that it has begun and that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _group(row: Verdict) -> tuple[str, str]:
    if row.subject.kind == "model":
        return row.subject.name, "model"
    return row.subject.name.partition(".")[0], "decisions"


def _line(line: dict[str, Any]) -> str:
    return (f"{line['group']:28} {line['verdicts']:>4} verdicts, {line['unknown']} unknown {line['obligations']:>6,} "
            f"obligations {line['solver']:4} {line['seeds']} seeds {line['cpu_seconds']:>8.3f} s")


if __name__ == "__main__":
    sys.exit(main())
