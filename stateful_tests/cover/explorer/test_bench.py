"""The benchmark of the explorer."""

from __future__ import annotations

import json
import subprocess
import sys

from bench import group
from stateful_tests.standard_error import beside_progress


def test_the_benchmark_prints_json_lines() -> None:
    done = subprocess.run([sys.executable, "-m", "bench.explorer", "2,2", "2,1 locked", "--json", "-"],
                          capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["states"], row["transitions"], row["depth"]) for row in rows] == [
        group.PINNED["2,2"], group.PINNED["2,1 locked"]]
    assert all(0 < row["serial_share"] < 1 for row in rows)
    assert all(row["cpu_seconds"] > 0 and row["seconds_to_first_state"] > 0 for row in rows)
    refused = subprocess.run([sys.executable, "-m", "bench.explorer", "7"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "no scope of the group" in refused.stderr
    assert len(beside_progress(refused.stderr)) == 1


def test_cores_are_compared_with_one_and_with_searches_side_by_side() -> None:
    command = [sys.executable, "-m", "bench.explorer", "2,2", "--cores", "2", "--times", "2", "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own module
    row = json.loads(done.stdout)
    assert row["speedup"] == round(row["one_core_wall_seconds"] / row["wall_seconds"], 3)
    assert 0 < row["ceiling"] < 4, "two searches side by side take longer than half of one"
