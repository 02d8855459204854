"""How fast histories are judged on Spark, beside a plain Spark aggregation: `python -m bench.histories`.

A history is made, judged on all cores of this machine, and aggregated by the same Spark: the greatest offset of each
message. One JSON object a line:

    operations        of the history, and what is planted in it
    found             how many findings there are
    judge_seconds     facts, shuffle and checks, without the start of Spark
    floor_seconds     the aggregation
    per_second        operations a second that are judged
    times_floor       how many times as long as the floor
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from invariants.histories.checks import Finding
from invariants.histories.verdicts import Tally
from spark_fuzz.cluster import open_cluster
from spark_fuzz.histories.generate import written
from spark_fuzz.histories.made import FAULTS
from spark_fuzz.histories.on_spark import aggregated, judged

SIZES = (1_000_000, 10_000_000)


def measured(spark_context: Any, operations: int, seed: int, folder: Path) -> dict[str, Any]:
    """One line."""
    file = folder / f"{operations}.parquet"
    rows, planted = written(file, operations, tuple(FAULTS), seed)
    began, tally = time.perf_counter(), Tally()
    found = sum(isinstance(one, Finding) for one in judged(spark_context, [str(file)], None, tally, lambda _: None))
    judge_s, began = time.perf_counter() - began, time.perf_counter()
    aggregated(spark_context, file)
    floor_s = time.perf_counter() - began
    file.unlink()
    return {"operations": rows, "planted": len(planted), "found": found, "judge_seconds": round(judge_s, 1),
            "floor_seconds": round(floor_s, 1), "per_second": round(rows / judge_s),
            "times_floor": round(judge_s / floor_s, 1)}


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
