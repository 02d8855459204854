from __future__ import annotations

from pathlib import Path

from bench.losses import COLUMNS, Begun, disturbed, told
from spark_fuzz.cluster import Cluster
from spark_fuzz.ledger import open_ledger
from spark_fuzz.work import Unit, attempt
from stateful_tests.spark import toys

AT_MOST_S = 10.0
NOTED = [Begun("a", 1, 0.0), Begun("b", 2, 0.1), Begun("c", 1, 0.4), Begun("b", 3, 1.5), Begun("d", 3, 1.9)]


def test_a_lost_worker_costs_no_more_than_ten_seconds_and_no_unit(cluster: Cluster, tmp_path: Path) -> None:
    found = disturbed(cluster, tmp_path, lambda worker: [worker], AT_MOST_S)
    assert found["again_seconds"] < AT_MOST_S
    assert found["new_seconds"] < AT_MOST_S
    assert (found["stored_once"], found["lost_units"] > 0) == (True, True)


def kept(folder: Path, *names: str) -> None:
    with open_ledger(folder, {}, COLUMNS) as ledger:
        ledger.done.clear()
        ledger.add([row for name in names for row in attempt(toys.squares, Unit(name, {"n": 2}))])


def test_what_was_lost_is_told_from_what_was_begun_and_stored(tmp_path: Path) -> None:
    kept(tmp_path, "a", "b", "c", "d")
    found = told(NOTED, 0.2, {"a", "b", "c", "d"}, tmp_path)
    assert found == {"again_seconds": 1.3, "new_seconds": 1.3, "lost_units": 1, "units": 4, "stored_once": True}
    assert told(NOTED[:3], 0.2, {"a", "b", "c"}, tmp_path)["again_seconds"] is None


def test_a_unit_that_is_missing_or_stored_twice_is_told(tmp_path: Path) -> None:
    kept(tmp_path, "a", "b")
    assert not told(NOTED, 0.2, {"a", "b", "c"}, tmp_path)["stored_once"]
    kept(tmp_path, "b")
    assert not told(NOTED, 0.2, {"a", "b"}, tmp_path)["stored_once"]
