"""How fast histories are judged on Spark, beside a plain Spark aggregation: `python -m bench.histories`.

A history is made, judged on all cores of this machine, and aggregated by the same Spark: the greatest offset of each
message. One JSON object a line:

    operations, bytes of the history, and of its file; planted: how many faults are in it
    made_seconds      how long it took to write it
    found             how many findings there are
    judge_seconds     facts, shuffle and checks, without the start of Spark
    floor_seconds     the aggregation
    judge_cpu_seconds, floor_cpu_seconds    the same of all processes together: what else the machine does matters less
    worker_mb, jvm_mb, driver_mb   the most memory that a Python worker, the JVM, and this process have had since they
                      began (VmHWM), behind the judgement
    per_second        operations a second that are judged
    times_floor       how many times as long as the floor
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from bench.campaign import cpu_seconds, ours, spent_since
from invariants.histories.checks import Finding
from invariants.histories.verdicts import Tally
from spark_fuzz.cluster import open_cluster
from spark_fuzz.histories.generate import written
from spark_fuzz.histories.made import FAULTS
from spark_fuzz.histories.on_spark import aggregated, judged

SIZES = (1_000_000, 10_000_000)


def measured(spark_context: Any, operations: int, seed: int, folder: Path) -> dict[str, Any]:
    """One line."""
    file, began = folder / f"{operations}.parquet", time.perf_counter()
    rows, planted = written(file, operations, tuple(FAULTS), seed)
    made_s = time.perf_counter() - began
    began, cpu, tally = time.perf_counter(), cpu_seconds(), Tally()
    found = sum(isinstance(one, Finding) for one in judged(spark_context, [str(file)], None, tally, lambda _: None))
    judge_s, judge_cpu_s = time.perf_counter() - began, sum(spent_since(cpu).values())
    memory = most_mb()
    began, cpu = time.perf_counter(), cpu_seconds()
    aggregated(spark_context, file)
    floor_s, floor_cpu_s = time.perf_counter() - began, sum(spent_since(cpu).values())
    size = file.stat().st_size
    file.unlink()
    return {"operations": rows, "bytes": size, "planted": len(planted), "made_seconds": round(made_s, 1),
            "found": found, "judge_seconds": round(judge_s, 1),
            "floor_seconds": round(floor_s, 1), "judge_cpu_seconds": round(judge_cpu_s, 1),
            "floor_cpu_seconds": round(floor_cpu_s, 1), "per_second": round(rows / judge_s),
            "times_floor": round(judge_s / floor_s, 1), **memory}


def most_mb() -> dict[str, int]:
    """The most memory that processes of this benchmark have had since they began; Linux tells it, in /proc."""
    most = {"driver_mb": 0, "jvm_mb": 0, "worker_mb": 0}
    for process, name in ours().items():
        with suppress(OSError, StopIteration):  # it has ended meanwhile
            lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
            peak = int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) >> 10
            kind = "driver_mb" if process == os.getpid() else "jvm_mb" if name == "java" else "worker_mb"
            most[kind] = max(most[kind], peak)
    return most


def main(
    operations: Annotated[list[int] | None, typer.Option(help="Of a history; may be repeated.")] = None,
    master: str = "local[*]", seed: int = 0,
    json_file: Annotated[str | None, typer.Option("--json", help="Write the lines to a file; - for stdout.")] = None,
) -> None:
    """How fast histories are judged, one JSON object a line."""
    lines = []
    with tempfile.TemporaryDirectory(prefix="rocketproof-history-") as scratch, open_cluster(master) as cluster:
        for size in operations or SIZES:
            lines.append(json.dumps(measured(cluster.context, size, seed, Path(scratch))))
            print(lines[-1], flush=True)
    if json_file not in {None, "-"}:
        Path(str(json_file)).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
