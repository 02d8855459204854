"""Spark beside plain multiprocessing, on the same units in the same run.

Units of the campaign about decisions are cut into rounds; each round is done by both, in turns first, so that whatever
else the machine does hits both alike. Start-up is reported apart. The digests of both must be the same.

    python -m bench.spark --seconds 120 --json -
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import typer

from spark_fuzz import decisions
from spark_fuzz.cluster import open_cluster
from spark_fuzz.plan import UNITS_PER_CORE
from spark_fuzz.work import Row, Unit, attempt

Runner = Callable[[list[Unit]], list[Row]]


@dataclass
class Measured:
    """What one runner did.

    start_s -- wall seconds until it could work. seconds -- wall seconds of its rounds. cpu_s -- CPU seconds of units.
    """

    start_s: float
    units: int = 0
    inputs: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    digests: dict[str, str] = field(default_factory=dict)

    def take(self, units: list[Unit], runner: Runner) -> None:
        """Do a round."""
        began = time.perf_counter()
        rows = runner(units)
        self.seconds += time.perf_counter() - began
        self.units += len(units)
        self.inputs += sum(row["inputs"] for row in rows)
        self.cpu_s += sum({row["unit"]: row["cpu_us"] for row in rows}.values()) / 1e6
        self.digests |= {row["unit"]: row["digest"].hex() for row in rows}

    def to_json(self, name: str, cores: int) -> dict[str, Any]:
        """A line of the report."""
        return {
            "runner": name, "cores": cores, "units": self.units, "inputs": self.inputs,
            "start_seconds": round(self.start_s, 3), "seconds": round(self.seconds, 3),
            "cpu_seconds": round(self.cpu_s, 3), "inputs_per_second": round(self.inputs / self.seconds, 1),
        }


def rounds(cores: int) -> Iterator[list[Unit]]:
    """Rounds of units of a second or two from all over the grid, without end."""
    grid = [unit for unit in decisions.grid() if unit not in decisions.first()]
    units = (grid[place * 37 % len(grid)] for place in count())
    while True:
        yield [next(units) for _ in range(UNITS_PER_CORE * cores)]


def compare(seconds: float, cores: int) -> Iterator[dict[str, Any]]:
    """A line for each runner, and one that compares them.

    seconds -- wall time for the rounds of both together. cores -- of this machine that each uses.
    """
    began = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        pool.map(_ready, range(cores), chunksize=1)
        plain = Measured(time.perf_counter() - began)
        began = time.perf_counter()
        with open_cluster(f"local[{cores}]") as cluster:
            spark = Measured(time.perf_counter() - began)
            _alternate(seconds, rounds(cores), (
                (spark, partial(cluster.run_units, work=decisions.work)),
                (plain, lambda units: [row for rows in pool.imap_unordered(_attempt, units) for row in rows]),
            ))
    yield spark.to_json("spark", cores)
    yield plain.to_json("multiprocessing", cores)
    yield {
        "runner": "spark / multiprocessing", "throughput": round(plain.seconds / spark.seconds, 3),
        "same_digests": spark.digests == plain.digests,
    }


def _alternate(seconds: float, batches: Iterator[list[Unit]], runners: tuple[tuple[Measured, Runner], ...]) -> None:
    """Each round to every runner; who is first changes from round to round."""
    until = time.perf_counter() + seconds
    for units in batches:
        for measured, runner in runners:
            measured.take(units, runner)
        runners = runners[::-1]
        if time.perf_counter() > until:
            return


def _attempt(unit: Unit) -> list[Row]:
    return attempt(decisions.work, unit)


def _ready(_number: int) -> bool:
    return bool(decisions.subjects())


def main(
    seconds: Annotated[float, typer.Option(help="Wall time for the rounds of both together.")] = 120.0,
    cores: Annotated[int, typer.Option(help="Cores that each uses.")] = os.cpu_count() or 1,
    json_file: Annotated[str | None, typer.Option("--json", help="Write the lines to a file; - for stdout.")] = None,
) -> None:
    """Runs per second of Spark and of plain multiprocessing, one JSON object a line."""
    lines = [json.dumps(line) for line in compare(seconds, cores)]
    print("\n".join(lines))
    if json_file not in {None, "-"}:
        Path(str(json_file)).write_text("\n".join(lines) + "\n", encoding="utf-8")
    if not json.loads(lines[-1])["same_digests"]:
        print("bench: the two did not give the same rows", file=sys.stderr)
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
