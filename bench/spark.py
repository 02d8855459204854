"""Spark beside plain multiprocessing, on the same units in the same run.

Units of a campaign, over worlds or about decisions, are cut into rounds; each round is done by both, in turns first, so
that whatever else the machine does hits both alike. Start-up is reported apart. The digests of both must be the same.

    python -m bench.spark --seconds 120 --json -
    python -m bench.spark --about decisions --seconds 60
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import typer

from spark_fuzz import decisions, runs, simulation
from spark_fuzz.cluster import open_cluster
from spark_fuzz.plan import UNITS_PER_CORE
from spark_fuzz.work import Row, Unit, Work, attempt

Runner = Callable[[list[Unit]], list[Row]]


class About(StrEnum):
    """Which campaign's units are done."""

    WORLDS = "worlds"
    DECISIONS = "decisions"


WORK: dict[About, Work] = {About.WORLDS: runs.work, About.DECISIONS: decisions.work}


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
        self.inputs += sum(map(_inputs, rows))
        self.cpu_s += sum({row["unit"]: row["cpu_us"] for row in rows}.values()) / 1e6
        self.digests |= {f"{row['unit']} {row['property']}": row["digest"].hex() for row in rows if row.get("property")}

    def to_json(self, name: str, cores: int) -> dict[str, Any]:
        """A line of the report."""
        return {
            "runner": name, "cores": cores, "units": self.units, "inputs": self.inputs,
            "start_seconds": round(self.start_s, 3), "seconds": round(self.seconds, 3),
            "cpu_seconds": round(self.cpu_s, 3), "inputs_per_second": round(self.inputs / self.seconds, 1),
        }


def _inputs(row: Row) -> int:
    """Judged cases of a row about decisions; runs of a unit of worlds, which one of its rows tells."""
    return int(row["inputs"] if "inputs" in row else row["runs"] if row["kind"] == "states" else 0)


def rounds(about: About, cores: int) -> Iterator[list[Unit]]:
    """Rounds of units of a second or two from all over a campaign, without end."""
    units = _worlds() if about is About.WORLDS else _decisions()
    while True:
        yield [next(units) for _ in range(UNITS_PER_CORE * cores)]


def _worlds() -> Iterator[Unit]:
    found = simulation.units(simulation.Aim().checked(), lambda *_: False, lambda _: (), lambda: False)
    return (unit for unit in found if unit is not None)


def _decisions() -> Iterator[Unit]:
    grid = [unit for unit in decisions.grid() if unit not in decisions.first()]
    return (grid[place * 37 % len(grid)] for place in count())


def compare(about: About, seconds: float, cores: int) -> Iterator[dict[str, Any]]:
    """A line for each runner, and one that compares them.

    seconds -- wall time for the rounds of both together. cores -- of this machine that each uses.
    """
    began = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(cores, initializer=runs.warm_up) as pool:
        pool.map(_started, range(cores), chunksize=1)
        plain = Measured(time.perf_counter() - began)
        began = time.perf_counter()
        with open_cluster(f"local[{cores}]") as cluster:
            spark = Measured(time.perf_counter() - began)
            _alternate(seconds, rounds(about, cores), (
                (spark, partial(cluster.run_units, work=WORK[about])),
                (plain, lambda units: [row for rows in pool.imap_unordered(partial(_attempt, about), units)
                                       for row in rows]),
            ))
    yield {"about": about, **spark.to_json("spark", cores)}
    yield {"about": about, **plain.to_json("multiprocessing", cores)}
    yield {
        "about": about, "runner": "spark / multiprocessing", "throughput": round(plain.seconds / spark.seconds, 3),
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


def _attempt(about: About, unit: Unit) -> list[Row]:
    return attempt(WORK[about], unit)


def _started(_number: int) -> None:
    """Nothing: whoever does it is ready."""


def main(
    about: Annotated[About, typer.Option(help="Which campaign's units are done.")] = About.WORLDS,
    seconds: Annotated[float, typer.Option(help="Wall time for the rounds of both together.")] = 120.0,
    cores: Annotated[int, typer.Option(help="Cores that each uses.")] = os.cpu_count() or 1,
    json_file: Annotated[str | None, typer.Option("--json", help="Write the lines to a file; - for stdout.")] = None,
) -> None:
    """Inputs (runs of worlds) per second of Spark and of plain multiprocessing, one JSON object a line."""
    lines = [json.dumps(line) for line in compare(about, seconds, cores)]
    print("\n".join(lines))
    if json_file not in {None, "-"}:
        Path(str(json_file)).write_text("\n".join(lines) + "\n", encoding="utf-8")
    if not json.loads(lines[-1])["same_digests"]:
        print("bench: the two did not give the same rows", file=sys.stderr)
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
