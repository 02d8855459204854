"""What campaigns make of the cores and the time that they are given, beside the same units under multiprocessing.

A campaign over worlds is run for so many minutes, start and end of Spark included, in a folder that is thrown away; the
archive of Spark's classes, which is made once on a machine (`spark_fuzz.archive`), is made before. Then plain
multiprocessing does the units that it did; the digests of both must be the same. One JSON object a line:

    subject, runner, cores, minutes      what is measured
    seconds, start_seconds               wall time of all; until the first unit could be given
    runs, units                          of the search
    in_runs                              share of cores x seconds that is CPU time of units of the search
    in_looks                             the same of units that look again at failures, and make them simpler
    occupied                             share of cores x the time after the start in which a core had a unit at all,
                                         by the clock: what other programs take from the cores does not count against it
    cpu_seconds                          of all processes of the campaign, its own too, until Spark is told to end
    of_cpu                               shares of that: `runs`, `looks`, `workers` (outside of units), `jvm`, `driver`;
                                         a machine that does other things meanwhile changes them hardly
    runs_per_second                      of `seconds`
    overrun                              seconds / (60 x minutes) - 1

    python -m bench.campaign --json -
    python -m bench.campaign --minutes 0.5 --subject repaired
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from spark_fuzz import runs, simulation
from spark_fuzz.campaign import run
from spark_fuzz.cluster import open_cluster, prepare
from spark_fuzz.commands import SPARK_ENDS_S, of_worlds
from spark_fuzz.ledger import open_ledger
from spark_fuzz.work import Row, Unit, attempt


@dataclass
class Measured:
    """What one runner did. rows -- by unit.

    cpu_s -- CPU seconds of all processes, by kind. unit_s -- wall time in units, None where it was not measured.
    """

    start_s: float
    seconds: float = 0.0
    cpu_s: Mapping[str, float] = field(default_factory=dict)
    unit_s: float | None = None
    rows: dict[str, list[Row]] = field(default_factory=dict)

    def cpu_in_s(self, *, again: bool) -> float:
        """CPU seconds of units that look again, or of the others."""
        cpu_us = (rows[0]["cpu_us"] for name, rows in self.rows.items() if simulation.is_again(name) is again)
        return sum(map(float, cpu_us)) / 1e6

    @property
    def searched(self) -> dict[str, list[Row]]:
        """The rows of the search."""
        return {name: rows for name, rows in self.rows.items() if not simulation.is_again(name)}

    def digests(self) -> dict[str, str]:
        """By unit and property what its runs were."""
        return {f"{row['unit']} {row['property']}": row["digest"].hex()
                for rows in self.searched.values() for row in rows if row["kind"] == "judged"}

    def to_json(self, runner: str, subject: str, cores: int, minutes: float) -> dict[str, Any]:
        """A line of the report."""
        given_s = cores * self.seconds
        lived = sum(row["runs"] for rows in self.searched.values() for row in rows if row["kind"] == "states")
        worked_s = cores * (self.seconds - self.start_s)
        return {
            "subject": subject, "runner": runner, "cores": cores, "minutes": minutes,
            "seconds": round(self.seconds, 3), "start_seconds": round(self.start_s, 3),
            "runs": lived, "units": len(self.searched),
            "in_runs": round(self.cpu_in_s(again=False) / given_s, 3),
            "in_looks": round(self.cpu_in_s(again=True) / given_s, 3),
            "occupied": None if self.unit_s is None else round(self.unit_s / worked_s, 3),
            "cpu_seconds": round(sum(self.cpu_s.values()), 3), "of_cpu": self._of_cpu(),
            "runs_per_second": round(lived / self.seconds, 2),
            "overrun": round(self.seconds / (60 * minutes) - 1, 3),
        }

    def _of_cpu(self) -> dict[str, float]:
        """The share of each kind of work in the CPU time of all processes."""
        in_s = {"runs": self.cpu_in_s(again=False), "looks": self.cpu_in_s(again=True)}
        in_s["workers"] = self.cpu_s["workers"] - sum(in_s.values())
        in_s |= {kind: self.cpu_s[kind] for kind in ("jvm", "driver")}
        return {kind: round(spent_s / sum(self.cpu_s.values()), 3) for kind, spent_s in in_s.items()}


def cpu_seconds() -> dict[str, float]:
    """CPU time of this process (`driver`), and of what it and its children have started: `jvm`, `workers`.

    That of a process that has ended counts for the one that waited for it. Linux tells it, in /proc.
    """
    kinds = {"driver": 0.0, "jvm": 0.0, "workers": 0.0}
    for process, name in ours().items():
        with suppress(OSError):  # it has ended meanwhile
            fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            kind = "driver" if process == os.getpid() else "jvm" if name == "java" else "workers"
            kinds[kind] += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return kinds


def ours() -> dict[int, str]:
    """This process, and what it and its children have started: numbers and names."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            before, _, after = stat.read_text(encoding="utf-8").rpartition(")")
            process = int(stat.parent.name)
            parents[process], names[process] = int(after.split()[1]), before.partition("(")[2]
    found = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in found} - found:
        found |= more
    return {process: names[process] for process in sorted(found)}


def spent_since(before: Mapping[str, float]) -> dict[str, float]:
    """What has been added to `cpu_seconds`."""
    return {kind: after_s - before[kind] for kind, after_s in cpu_seconds().items()}


def campaigned(subject: str, minutes: float, cores: int) -> tuple[Measured, list[Unit]]:
    """What a campaign did, and the units of its search."""
    began, before = time.perf_counter(), cpu_seconds()
    given: list[Unit] = []

    def noted(units: Iterable[Unit | int]) -> Iterator[Unit | int]:
        for unit in units:
            given.extend([unit] if isinstance(unit, Unit) else [])
            yield unit

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        campaign = of_worlds(simulation.Aim((subject,)).checked(), folder)
        campaign = replace(campaign, units=noted(campaign.units))
        with open_ledger(folder, campaign.header, campaign.columns) as ledger:
            with runs.collecting_seldom(), open_cluster(f"local[{cores}]", 60 * minutes) as cluster:
                measured = Measured(time.perf_counter() - began)
                *_, last = run(campaign, cluster, ledger, 60 * minutes - measured.start_s - SPARK_ENDS_S)
                measured.cpu_s = spent_since(before)
            measured.seconds = time.perf_counter() - began
            measured.unit_s = sum(last.worked_s.values())
        with open_ledger(folder, campaign.header, campaign.columns) as ledger:
            measured.rows = ledger.rows()
    return measured, [unit for unit in given if unit.id in measured.rows]


def pooled(units: list[Unit], cores: int) -> Measured:
    """What plain multiprocessing makes of the units."""
    began, before = time.perf_counter(), cpu_seconds()
    with multiprocessing.get_context("spawn").Pool(cores, initializer=runs.warm_up) as pool:
        pool.map(_started, range(cores), chunksize=1)
        measured = Measured(time.perf_counter() - began)
        measured.rows = {rows[0]["unit"]: rows for rows in pool.imap_unordered(_attempted, units)}
        measured.cpu_s = spent_since(before)
    measured.seconds = time.perf_counter() - began
    return measured


def _attempted(unit: Unit) -> list[Row]:
    return attempt(runs.work, unit)


def _started(_number: int) -> None:
    """Nothing: whoever does it is ready."""


def compare(subject: str, minutes: float, cores: int) -> Iterator[dict[str, Any]]:
    """A line for each of both, and one that compares them."""
    spark, units = campaigned(subject, minutes, cores)
    yield spark.to_json("spark", subject, cores, minutes)
    plain = pooled(units, cores)
    yield plain.to_json("multiprocessing", subject, cores, minutes)
    cpu_s, plain_s = spark.cpu_in_s(again=False), plain.cpu_in_s(again=False)
    yield {"subject": subject, "runner": "spark / multiprocessing",
           "cpu_seconds_of_units": round(cpu_s / plain_s, 3) if plain_s else None,
           "same_digests": spark.digests() == plain.digests()}


def main(
    subject: Annotated[list[str] | None, typer.Option(help="What is run; may be repeated.")] = None,
    minutes: Annotated[float, typer.Option(help="Wall time of each campaign.")] = 2.0,
    cores: Annotated[int, typer.Option(help="Cores that each uses.")] = os.cpu_count() or 1,
    json_file: Annotated[str | None, typer.Option("--json", help="Write the lines to a file; - for stdout.")] = None,
) -> None:
    """How much of cores x time campaigns spend in runs, one JSON object a line."""
    lines = []
    prepare()
    for one in subject or ["repaired", "shipped"]:
        for line in compare(one, minutes, cores):
            lines.append(line)
            print(json.dumps(line), flush=True)
    if json_file not in {None, "-"}:
        Path(str(json_file)).write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    if not all(line.get("same_digests", True) for line in lines):
        print("bench: the two did not give the same rows", file=sys.stderr)
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
