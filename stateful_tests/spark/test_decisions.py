from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from itertools import islice

import pytest

from impl.decisions.java_text import utf16_key
from invariants.allocation.cases import Case
from invariants.verdict import BadInputError
from spark_fuzz import decisions
from spark_fuzz.cluster import Cluster
from spark_fuzz.work import Row, Unit, attempt

BROKEN = "stateful_tests.spark.toys:BROKEN"
EXAMPLES = [*decisions.first()[6:9], *islice(decisions.endless(7), 2)]
SMALL = [Unit(unit.id, {**unit.body, **({"runs": (0, 9)} if "runs" in unit.body else {})}) for unit in EXAMPLES]

ELSEWHERE = """
import json, sys
sys.modules["hypothesis"] = sys.modules["z3"] = sys.modules["pyspark"] = sys.modules["numpy"] = None
from spark_fuzz import decisions
from spark_fuzz.work import Unit, attempt
for name, body in json.load(sys.stdin):
    for row in attempt(decisions.work, Unit(name, body)):
        print(json.dumps({**row, "cpu_us": 0, "digest": row["digest"].hex()}))
"""


def plain(rows: list[Row]) -> list[Row]:
    told = [{**row, "cpu_us": 0, "digest": row["digest"].hex()} for row in rows]
    return sorted(told, key=lambda row: (str(row["unit"]), str(row["property"])))


def here() -> list[Row]:
    return plain([row for unit in SMALL for row in attempt(decisions.work, unit)])


def test_the_grid_covers_every_size_once_for_each_subject() -> None:
    covered = Counter(
        (unit.body["subject"], unit.body["joins"], n, m)
        for unit in decisions.grid()
        for n in range(unit.body["queues"][0], unit.body["queues"][1] + 1)
        for m in range(unit.body["members"][0], unit.body["members"][1] + 1)
    )
    judged = [(key, joins) for key, row in decisions.subjects().items() for joins in (False, True)
              if decisions.judged(row, joins=joins)]
    assert set(covered.values()) == {1}
    assert set(covered) == {(*one, n, m) for one in judged for n in range(1, 65) for m in range(1, 25)}


def test_units_have_different_names_that_tell_their_subject() -> None:
    units = [*decisions.grid(), *islice(decisions.endless(3), 200)]
    assert len({unit.id for unit in units}) == len(units)
    assert all(decisions.judged_by(unit.id) == (unit.body["subject"], unit.body["joins"]) for unit in units)
    assert all(unit in units for unit in decisions.first())


def test_the_first_units_hold_every_violation_that_is_expected() -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for unit in decisions.first():
        for row in decisions.work(unit):
            seen[row["subject"], row["property"]] += row["violated"]
    expected = {(key, name): wanted.outcome == "violated"
                for key, row in decisions.subjects().items() for name, wanted in row.expected.items()}
    assert {found: count > 0 for found, count in seen.items()} == expected


@pytest.mark.parametrize("hash_seed", ["0", "1", "2"])
def test_rows_depend_on_nothing_but_the_unit(hash_seed: str) -> None:
    told = subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-c", ELSEWHERE], input=json.dumps([(unit.id, unit.body) for unit in SMALL]),
        env={**os.environ, "PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=True,
    )
    rows = [json.loads(line) for line in told.stdout.splitlines()]
    assert sorted(rows, key=lambda row: (row["unit"], row["property"])) == here()


def test_a_worker_has_the_rows_of_this_process(cluster: Cluster) -> None:
    assert plain(cluster.run_units(SMALL, decisions.work)) == here()


def test_another_seed_gives_other_inputs() -> None:
    one, other = (next(decisions.endless(seed)) for seed in (1, 2))
    assert one.id != other.id
    digests = {decisions.work(Unit(unit.id, {**unit.body, "runs": (0, 9)}))[0]["digest"] for unit in (one, other)}
    assert len(digests) == 2


@pytest.mark.parametrize("key", decisions.subjects())
def test_new_names_keep_orders_and_rooms(key: str) -> None:
    row = decisions.subjects()[key]
    draw = random.Random(key)  # noqa: S311 - a test's dice
    for case in (case for n, m in ((5, 3), (4, 12)) for case in islice(row.inputs.cases(n, m, False), 20)):
        other = decisions.renamed(case, draw)
        assert shape(other) == shape(case)
        assert other != case


def shape(case: Case) -> object:
    """Everything about a case but the names: positions in the sorted lists, and rooms."""
    queues, ids = case.queues(), sorted({one for view in case.views for one in view.members}, key=utf16_key)
    views = [(ids.index(view.me) if view.me in ids else None, [queues.index(one) for one in view.queues],
              [ids.index(one) for one in view.members]) for view in case.views]
    rooms = [one.broker_name.rpartition(mark)[0] for one in queues for mark in "-@"]
    return views, rooms, [one.rpartition("-")[0] for one in ids], len({queue.queue_id for queue in queues})


def test_random_inputs_of_shipped_strategies_are_as_expected() -> None:
    units = [Unit(unit.id, {**unit.body, "runs": (0, 6)}) for unit in islice(decisions.endless(11), 37)]
    found = [row for unit in units for row in decisions.work(unit) if row["violated"]]
    expected = decisions.subjects()
    assert found
    assert [row for row in found if expected[row["subject"]].expected[row["property"]].outcome == "holds"] == []


def test_a_planted_bug_is_found_with_its_smallest_case() -> None:
    rows = [row for unit in decisions.first(BROKEN) for row in decisions.work(unit)]
    found = {(row["subject"], row["property"]): row for row in rows}
    lost = found["loses a queue | equal lists", "allocation_is_total"]
    case = Case.from_json(json.loads(lost["case"]))
    assert (len(case.queues()), len(case.views)) == (5, 3)
    assert lost["sentence"] == "T/b:4 has no owner"
    assert found["loses a queue | equal lists", "allocation_answers"]["violated"] == 0


def test_a_case_without_an_answer_judges_only_that_there_is_none() -> None:
    rows = {(row["subject"], row["property"]): row for unit in decisions.first(BROKEN) for row in decisions.work(unit)}
    answers = rows["raises for four | equal lists", "allocation_answers"]
    total = rows["raises for four | equal lists", "allocation_is_total"]
    assert answers["inputs"] == total["inputs"] + total["silent"]
    assert (answers["violated"], total["violated"]) == (total["silent"], 0)
    assert total["silent"] > 0


def test_a_strategy_that_hangs_fails_its_unit_and_is_no_answer() -> None:
    unit = decisions.first("stateful_tests.spark.toys:HANGING")[0]
    rows = attempt(decisions.work, unit, cpu_limit_s=0.3)
    told = "OverTimeError: 0.3 s of CPU time are over"
    assert [(row["unit"], row["error"]) for row in rows] == [(unit.id, told)]


@pytest.mark.parametrize("table", ["nowhere:TABLE", "spark_fuzz.decisions:NOTHING", "spark_fuzz.decisions:QUEUES", "x"])
def test_a_table_that_is_none_is_one_clear_line(table: str) -> None:
    with pytest.raises(BadInputError, match="give MODULE:NAME") as refused:
        decisions.subjects(table)
    assert "\n" not in str(refused.value)


def test_two_rows_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(BadInputError, match="tell them apart"):
        decisions.subjects("stateful_tests.spark.toys:TWICE")


def test_the_version_stands_for_the_table_too() -> None:
    assert decisions.version() == decisions.version()
    assert decisions.version() != decisions.version(BROKEN)
