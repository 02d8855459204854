"""The benchmark of the store, in its short form."""

from __future__ import annotations

from pathlib import Path

from bench import store


def test_each_part_is_measured(tmp_path: Path) -> None:
    rows = [store.simulated(0.01), store.files(tmp_path, 0.01, lambda _folder, _seconds: 5e6),
            store.sync(tmp_path, 0.02), store.recovery(tmp_path, 0.02), store.inspection(tmp_path, 0.02),
            store.sparse(tmp_path, 1 << 20)]
    assert [row.pop("measured") for row in rows] == ["simulated", "files", "sync", "recovery", "inspection", "sparse"]
    assert all(number > 0 for row in rows for number in row.values())
    assert rows[1]["java_puts_per_second"] == 5_000_000
