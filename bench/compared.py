"""How much CPU time a comparison needs until it says what a change fixes, in this process and without Spark.

The units of the plan are done one after another, with `--base shipped`, until a property is fixed or LIMIT_S of CPU
time are over. One JSON object a line: the change, pairs, CPU seconds of the pairs, pairs a CPU second, what is said.

    python -m bench.compared examples/changes/compute_subscription.py
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from spark_fuzz import pairing, pairs
from spark_fuzz.comparing import Comparing, aim_of
from spark_fuzz.differences import Effect
from spark_fuzz.runs import warm_up
from spark_fuzz.work import Unit, attempt

LIMIT_S = 90.0


def measured(file: str, folder: Path) -> dict[str, Any]:
    """A comparison until its answer."""
    aim = aim_of(file, "shipped")
    book, spent_s = Comparing(aim, folder), 0.0
    for unit in pairing.units(aim, book.known):
        if not isinstance(unit, Unit) or "arm" not in unit.body:
            if isinstance(unit, Unit):
                book.add(attempt(pairs.work, unit))
            continue
        began_s = time.process_time()
        book.add(attempt(pairs.work, unit))
        spent_s += time.process_time() - began_s
        if spent_s > LIMIT_S or any(book.found.effect(name) is Effect.FIXED for name in book.found.names):
            break
    return {"change": file, "pairs": book.found.pairs, "cpu_s": round(spent_s, 1),
            "pairs_a_cpu_s": round(book.found.pairs / spent_s, 2), "said": book.so_far()}


if __name__ == "__main__":
    warm_up()
    for one in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as empty:
            print(json.dumps(measured(one, Path(empty))), flush=True)
