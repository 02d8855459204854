from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from invariants.hazards import HAZARDS
from invariants.verdict import BadInputError
from spark_fuzz.cluster import Cluster, _settings, _zip_rooms, open_cluster
from spark_fuzz.crew import ClusterLostError, Crew, Task, one_line
from spark_fuzz.work import Row, Unit, Work, attempt
from stateful_tests.spark import toys

UNITS = [Unit(f"unit-{n}", {"n": n}) for n in range(12)]


def compared(rows: list[Row]) -> list[Row]:
    return sorted(({**row, "cpu_us": 0} for row in rows), key=lambda row: str(row["unit"]))


def here(units: list[Unit]) -> list[Row]:
    return compared([row for unit in units for row in attempt(toys.squares, unit)])


def here_of(work: Work, units: list[Unit]) -> list[Row]:
    return compared([row for unit in units for row in attempt(work, unit)])


def marked(number: int, marker: object) -> list[Unit]:
    return [Unit(unit.id, {**unit.body, "marker": marker if k == number else None}) for k, unit in enumerate(UNITS)]


def test_rows_from_workers_are_the_rows_of_this_process(cluster: Cluster) -> None:
    assert compared(cluster.run_units(UNITS, toys.squares)) == here(UNITS)


def test_a_task_does_its_units_in_order_and_gives_back_those_for_which_there_is_no_time(cluster: Cluster) -> None:
    with cluster.crew(toys.sleeps) as crew:
        crew.give(Task(tuple(UNITS), 0.5))
        (done,) = crew.take(60)
    assert 1 < len(done.attempted) < len(UNITS)
    assert [*(one.unit for one in done.attempted), *done.left] == UNITS
    assert here_of(toys.sleeps, [one.unit for one in done.attempted]) == compared(
        [row for one in done.attempted for row in one.rows])
    assert sum(one.seconds for one in done.attempted) < 0.5 + 0.2 * 2


def test_the_first_unit_of_a_task_is_done_in_any_case(cluster: Cluster) -> None:
    with cluster.crew(toys.squares) as crew:
        crew.give(Task(tuple(UNITS), 0.0))
        (done,) = crew.take(60)
    assert [one.unit for one in done.attempted] == UNITS[:1]


def test_a_task_that_was_given_in_advance_waits_for_no_other_to_be_taken_back(cluster: Cluster) -> None:
    with cluster.crew(toys.sleeps) as crew:
        for unit in UNITS[:6]:
            crew.give(Task((unit,)))
        time.sleep(6 * 0.2 + 5)
        done = crew.take()
    assert sorted(one.unit.id for each in done for one in each.attempted) == sorted(unit.id for unit in UNITS[:6])


def test_what_is_not_done_at_the_end_is_cancelled(cluster: Cluster) -> None:
    began = time.monotonic()
    with cluster.crew(toys.sleeps) as crew:
        crew.give(Task(tuple(UNITS * 100)))
        time.sleep(0.5)
    assert time.monotonic() - began < 0.2 * len(UNITS * 100) / 2  # of what all of them take
    assert compared(cluster.run_units(UNITS[:2], toys.squares)) == here(UNITS[:2])


def test_the_cores_of_a_spark_that_is_gone_are_those_that_it_had(cluster: Cluster) -> None:
    assert cluster.cores == 2
    gone = Cluster(object())
    assert gone.cores == 1


def test_a_spark_that_is_gone_is_told_by_who_takes() -> None:
    crew = Crew(object(), toys.squares)
    crew._back.put(ClusterLostError("gone"))
    with pytest.raises(ClusterLostError):
        crew.take()


def test_no_units_are_no_rows(cluster: Cluster) -> None:
    assert cluster.run_units([], toys.squares) == []


def test_a_worker_killed_in_the_middle_changes_no_row(cluster: Cluster, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    rows = cluster.run_units(marked(5, str(marker)), toys.dies_once)
    assert marker.exists()
    assert compared(rows) == here(UNITS)


def test_a_unit_that_always_kills_its_worker_fails_alone(cluster: Cluster) -> None:
    rows = compared(cluster.run_units(marked(5, True), toys.dies_always))
    assert [(row["unit"], row["error"]) for row in rows if row["error"]] == [
        ("unit-5", "its worker ended 4 times, with signal 9 (SIGKILL)")]
    assert [row for row in rows if not row["error"]] == [row for row in here(UNITS) if row["unit"] != "unit-5"]


def test_a_unit_whose_workers_exit_says_with_which_status(cluster: Cluster) -> None:
    rows = cluster.run_units(marked(5, 7), toys.exits)
    assert [row["error"] for row in rows if row["error"]] == ["its worker ended 4 times, with exit status 7"]
    assert len(rows) == len(UNITS)


def test_a_unit_that_raises_is_one_failed_row_without_its_other_rows(cluster: Cluster) -> None:
    rows = compared(cluster.run_units(marked(5, True), toys.raises))
    failed = [row for row in rows if row["error"]]
    assert failed == [{"unit": "unit-5", "cpu_us": 0, "error": "ValueError: planted"}]
    assert len(rows) == len(UNITS)


def test_our_java_home_is_not_left_in_the_environment(cluster: Cluster) -> None:
    assert cluster.context is not None
    assert "rocketproof" not in os.environ.get("JAVA_HOME", "")


@pytest.mark.parametrize(("given", "used"), [
    ("local", "local[1,5]"), ("local[*]", "local[*,5]"), ("local[3]", "local[3,5]"), ("local[3,1]", "local[3,1]"),
    ("spark://10.0.0.1:7077", "spark://10.0.0.1:7077"),
])
def test_local_masters_get_retries_and_others_pass_unchanged(given: str, used: str, tmp_path: Path) -> None:
    assert _settings(given, tmp_path)["spark.master"] == used


@pytest.mark.parametrize("master", ["lokal", "spark://", "spark://host", "local[x]", "local[*]; rm"])
def test_what_is_no_master_is_refused(master: str) -> None:
    with pytest.raises(BadInputError, match="give "), open_cluster(master):
        pass


def test_a_master_that_does_not_answer_is_refused_in_seconds() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    began = time.monotonic()
    with pytest.raises(BadInputError, match="nothing answers there"), open_cluster(f"spark://127.0.0.1:{port}"):
        pass
    assert time.monotonic() - began < 30


def test_a_second_spark_in_one_process_is_refused_and_the_first_goes_on(cluster: Cluster) -> None:
    with pytest.raises(RuntimeError, match="has a Spark already"), open_cluster():
        pass
    assert len(cluster.run_units(UNITS, toys.squares)) == len(UNITS)


def test_modules_that_a_cluster_is_sent_find_their_files_there(tmp_path: Path) -> None:
    asked = "import spark_fuzz.runs; from invariants.hazards import HAZARDS; print(*HAZARDS)"
    told = subprocess.run([sys.executable, "-P", "-c", asked], check=True, cwd=tmp_path, text=True,  # noqa: S603
                          stdout=subprocess.PIPE, env={"PYTHONPATH": str(_zip_rooms(tmp_path / "rooms.zip"))})
    assert told.stdout.split() == [*HAZARDS]


def test_the_line_of_a_failed_job_names_the_cause_and_not_a_line_of_a_stack() -> None:
    failure = RuntimeError("""Job aborted due to stage failure: org.apache.spark.SparkException:
Error from python worker:
  NotADirectoryError: [Errno 20] Not a directory: 'rocketproof.zip/a.toml'
PYTHONPATH was:
  rocketproof.zip
org.apache.spark.SparkException: EOFException occurred while reading the port number.
\tat org.apache.spark.util.SparkErrorUtils.tryWithSafeFinally$(SparkErrorUtils.scala:83)""")
    assert one_line(failure) == "NotADirectoryError: [Errno 20] Not a directory: 'rocketproof.zip/a.toml'"
