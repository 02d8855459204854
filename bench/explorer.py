"""Measures the state explorer on the group model: `python -m bench.explorer "3,3" "3,3 locked" --json -`.

Each scope runs in a process of its own, with one property evaluated. One JSON object a line:

    scope, states, transitions, depth       what was counted
    violated                                properties that do not hold
    cpu_seconds                             of the search alone, first state to last
    transitions_per_cpu_second
    bytes_per_state                         growth of the process's greatest resident memory during the search
    seconds_to_first_state                  CPU seconds from the start of Python to the first state, imports included
    wall_seconds                            of the search, for machines that are shared
    cores, memory_bytes, resident_share     the threads, the bound, and the greatest resident memory in parts of it
    serial_share                            of cpu_seconds: what only one thread can do. It depends hardly on what else
                                            the machine does. With n cores a search cannot be faster than
                                            1 / (serial_share + (1 - serial_share) / n) times

With --cores N, and without --disk, it is also searched by one core alone, and by N processes of one core each:

    one_core_wall_seconds                   of the search by one core
    speedup                                 of N cores: how many times faster they were than one
    ceiling                                 … and how many times faster the machine lets them be: N times the seconds of
                                            one core, divided by those of N such searches side by side, which share
                                            nothing but memory and caches

With --times T everything is done T times, and the least seconds count: other work on the machine only adds to them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import Any

Row = dict[str, Any]

DEFAULT = ("2,2 locked", "3,2", "3,3", "3,3 locked", "3,4", "4,2")
_STATUS = Path("/proc/self/status")


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; exit status 0, 1 when a count differs from the pinned one, 2 for bad input."""
    parser = argparse.ArgumentParser(prog="python -m bench.explorer", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scopes", nargs="*", default=list(DEFAULT), metavar="SCOPE",
                        help='"CONSUMERS,QUEUES" or "CONSUMERS,QUEUES locked"')
    parser.add_argument("--json", metavar="FILE", help="write the lines to a file; - for standard output only")
    parser.add_argument("--cores", type=int, default=1, help="threads that search")
    parser.add_argument("--memory-bytes", type=int, default=4 << 30, help="bound for states and their tables")
    parser.add_argument("--times", type=int, default=1, help="measurements of each; the quickest counts")
    parser.add_argument("--disk", type=Path, metavar="DIR", help="keep the states there")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)  # one scope, in this process
    options = parser.parse_args(arguments)
    if options.here:
        print(json.dumps(measure(options.scopes[0], options.cores, options.memory_bytes, options.disk)))
        return 0
    rows = []
    for scope in options.scopes:
        try:
            row = _row(scope, options)
        except subprocess.CalledProcessError as error:
            print((error.stderr.strip().splitlines() or ["the measurement ended without a word"])[-1], file=sys.stderr)
            return 2
        rows.append(row)
        print(json.dumps(row) if options.json == "-" else _line(row), flush=True)
    if options.json and options.json != "-":
        Path(options.json).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return 0 if all(row["as_pinned"] is not False for row in rows) else 1


def _row(scope: str, options: argparse.Namespace) -> Row:
    """The quickest of some measurements, and what other searches of the scope say of it.

    They take turns: a machine that becomes slower meanwhile does so for all of them.
    """
    rows: list[Row] = []
    alone: list[float] = []
    beside: list[float] = []
    is_compared = options.cores > 1 and not options.disk
    for _ in range(options.times):
        rows += _apart(scope, options, options.cores)
        if is_compared:
            alone += [one["wall_seconds"] for one in _apart(scope, options, 1)]
            beside.append(fmean(one["wall_seconds"] for one in _apart(scope, options, 1, options.cores)))
    row = min(rows, key=lambda one: one["wall_seconds"])
    if not is_compared:
        return row
    return {**row, "one_core_wall_seconds": min(alone), "speedup": round(min(alone) / row["wall_seconds"], 3),
            "ceiling": round(options.cores * min(alone) / min(beside), 3)}


def _apart(scope: str, options: argparse.Namespace, cores: int, processes: int = 1) -> list[Row]:
    """Measure in fresh processes, side by side, so that memory and imports are their own."""
    command = [sys.executable, "-m", "bench.explorer", scope, "--here", "--cores", str(cores),
               "--memory-bytes", str(options.memory_bytes)]
    if options.disk:
        command += ["--disk", str(options.disk / scope.replace(" ", "-"))]
    with ThreadPoolExecutor(processes) as pool:
        begun = [pool.submit(subprocess.run, command, capture_output=True, text=True, check=True)
                 for _ in range(processes)]
    return [json.loads(one.result().stdout) for one in begun]


def measure(name: str, cores: int = 1, memory_bytes: int = 4 << 30, disk: Path | None = None) -> Row:
    """Search one scope in this process; raises ValueError for a scope that does not exist."""
    from bench.group import PINNED, scope  # noqa: PLC0415 - imports belong to what is measured
    from model.explorer.search import Search  # noqa: PLC0415 - same

    chosen = scope(name)
    one = [wanted for wanted in chosen.concept.properties.values() if wanted.name.startswith("one_owner")]
    search = Search(chosen, one)
    first, memory, wall = time.process_time(), _resident("VmRSS"), time.perf_counter()
    found = search.run(memory_bytes, cores=cores, disk=disk)
    cpu, wall = time.process_time() - first, time.perf_counter() - wall
    grown = _resident("VmHWM") - memory
    counts = (found.states, found.transitions, found.depth)
    return {
        "scope": name, "states": found.states, "transitions": found.transitions, "depth": found.depth,
        "violated": sorted(found.violations), "cpu_seconds": round(cpu, 4),
        "transitions_per_cpu_second": round(found.transitions / cpu), "bytes_per_state": round(grown / found.states, 1),
        "seconds_to_first_state": round(first, 4), "wall_seconds": round(wall, 4),
        "cores": cores, "memory_bytes": memory_bytes, "resident_share": round(_resident("VmHWM") / memory_bytes, 3),
        "serial_share": round(1 - search.workers.busy_s / cpu, 3),
        "as_pinned": counts == PINNED[name] if name in PINNED else None,
    }


def _resident(field: str) -> int:
    """Resident memory in bytes, now (VmRSS) or at its greatest (VmHWM); 0 where the system does not say."""
    if not _STATUS.exists():
        return 0
    line = next(line for line in _STATUS.read_text(encoding="ascii").splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def _line(row: dict[str, Any]) -> str:
    return (f"{row['scope']:12} {row['states']:>12,} states {row['transitions']:>13,} transitions "
            f"depth {row['depth']:>3} {row['cpu_seconds']:>8.3f} s {row['transitions_per_cpu_second'] / 1e6:>6.1f} M/s "
            f"{row['bytes_per_state']:>6.1f} B/state first {row['seconds_to_first_state']:.2f} s"
            + (f" {row['speedup']:.2f} x of {row['ceiling']:.2f} x" if "speedup" in row else ""))


if __name__ == "__main__":
    sys.exit(main())
