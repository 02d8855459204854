"""How long a campaign waits for a worker that was killed, and which units are begun again.

A campaign of units that take a fifth of a second each is disturbed once, by a kill -9 of a Python worker, of the daemon
that workers are forked from together with a worker, or of an executor of a stand-alone Spark. One JSON object a line:

    lost            worker, daemon or executor
    again_seconds   from the kill until all units that were lost with it have been begun again, by whomever
    new_seconds     from the kill until a new process begins a unit; null if none has until the end
    lost_units      begun more than once
    units           done in all
    stored_once     whether the rows of each unit are in the folder, and once

    python -m bench.losses --json -
    python -m bench.losses --lost worker
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import pyarrow.parquet as pq
import typer

from invariants.verdict import Verdict
from spark_fuzz.campaign import Campaign, run
from spark_fuzz.cluster import Cluster, open_cluster
from spark_fuzz.ledger import open_ledger
from spark_fuzz.work import Row, Unit
from stateful_tests.spark import toys
from stateful_tests.spark.processes import running, standalone

KILLED_S, AFTER_S = 4.0, 14.0
"""When the kill comes, and how long the campaign goes on after it."""
COLUMNS = {"property": "string", "runs": "long", "total": "long", "digest": "binary"}
Victims = Callable[[int], Iterable[int]]
"""The processes to kill, from a worker that has begun a unit."""


class Nothing:
    """A book of a campaign that is about nothing."""

    def add(self, rows: Iterable[Row]) -> None:
        """Rows are only stored."""

    def inputs(self) -> int:
        """None."""
        return 0

    def verdicts(self) -> list[Verdict]:
        """None."""
        return []

    def evidence(self) -> Mapping[str, Mapping[str, Any]]:
        """None."""
        return {}


@dataclass(frozen=True)
class Begun:
    """A unit that a process has begun, at a time in seconds."""

    unit: str
    process: int
    at_s: float


def begun(file: Path) -> list[Begun]:
    """What workers have noted; the last line may be half written."""
    lines = file.read_text(encoding="utf-8").split("\n")[:-1] if file.exists() else []
    return [Begun(unit, int(process), float(at_s)) for unit, process, at_s in map(str.split, lines)]


def disturbed(cluster: Cluster, folder: Path, victims: Victims, after_s: float = AFTER_S) -> dict[str, Any]:
    """A campaign in a folder, disturbed by a kill -9; see above what is told."""
    file, killed_at_s, began_s = folder / "begun", 0.0, time.monotonic()
    units = (Unit(f"unit-{number}", {"n": number, "file": str(file)}) for number in count())

    def watch(_units: int) -> None:
        nonlocal killed_at_s
        known = begun(file)
        if not killed_at_s and known and time.monotonic() - began_s > KILLED_S:
            for process in victims(known[-1].process):
                os.kill(process, signal.SIGKILL)
            killed_at_s = time.monotonic()

    toy = Campaign({}, COLUMNS, (), units, toys.noted, Nothing())
    with open_ledger(folder / "out", {}, COLUMNS) as ledger:
        list(run(toy, cluster, ledger, KILLED_S + after_s, watch=watch))
        done = set(ledger.done)
    return told(begun(file), killed_at_s, done, folder / "out")


def told(noted: list[Begun], killed_at_s: float, done: set[str], folder: Path) -> dict[str, Any]:
    """What came of a kill."""
    times = Counter(one.unit for one in noted)
    old = {one.process for one in noted if one.at_s < killed_at_s}
    after = [one for one in noted if one.at_s >= killed_at_s]
    again = {one.unit: one.at_s for one in reversed(after) if times[one.unit] > 1}
    new = [one.at_s for one in after if one.process not in old]
    files = [pq.read_table(file) for file in folder.glob("units-*.parquet")]
    stored = Counter(name for table in files for name in table["unit"].to_pylist())
    return {
        "again_seconds": round(max(again.values()) - killed_at_s, 2) if again else None,
        "new_seconds": round(min(new) - killed_at_s, 2) if new else None,
        "lost_units": len(again), "units": len(done),
        "stored_once": set(stored) == done and set(stored.values()) == {1},
    }


def with_daemon(worker: int) -> list[int]:
    """A worker, and before it the daemon that has forked it."""
    return [running("-m spark_fuzz.early")[worker], worker]


def of_executor(folder: Path) -> dict[str, Any]:
    """An executor is lost of a stand-alone Spark with two."""
    with standalone(folder, workers=2) as master, open_cluster(master.address) as cluster:
        return disturbed(cluster, folder, lambda _: master.executors()[:1], 2 * AFTER_S)


def of_process(folder: Path, victims: Victims) -> dict[str, Any]:
    """A process of a Spark in this process is lost."""
    with open_cluster("local[2]") as cluster:
        return disturbed(cluster, folder, victims)


LOST: Mapping[str, Callable[[Path], dict[str, Any]]] = {
    "worker": lambda folder: of_process(folder, lambda worker: [worker]),
    "daemon": lambda folder: of_process(folder, with_daemon),
    "executor": of_executor,
}


def main(
    lost: Annotated[list[str] | None, typer.Option(help="worker, daemon or executor; may be repeated.")] = None,
    json_file: Annotated[str | None, typer.Option("--json", help="Write the lines to a file; - for stdout.")] = None,
) -> None:
    """How long a campaign waits for what was killed, one JSON object a line."""
    lines = []
    for one in lost or LOST:
        with tempfile.TemporaryDirectory() as scratch:
            lines.append({"lost": one, **LOST[one](Path(scratch))})
        print(json.dumps(lines[-1]), flush=True)
    if json_file not in {None, "-"}:
        Path(str(json_file)).write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    if not all(line["stored_once"] for line in lines):
        print("bench: a unit is missing, or was stored twice", file=sys.stderr)
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
