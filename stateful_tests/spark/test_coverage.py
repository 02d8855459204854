from __future__ import annotations

from pathlib import Path

import pytest

from invariants.runs import OF_RUNS, WITHIN
from invariants.verdict import Outcome
from spark_fuzz import runs
from spark_fuzz.coverage import Coverage, StateSet
from spark_fuzz.sightings import Sightings
from spark_fuzz.simulation import Aim, search_unit
from spark_fuzz.work import attempt
from stateful_tests.spark.books import short
from stateful_tests.worlds.subjects import DECLARED
from stateful_tests.worlds.workloads import WORKLOADS
from stateful_tests.worlds.world import World


def test_new_states_are_counted_once_and_the_curve_is_flat_where_nothing_is_new() -> None:
    coverage = Coverage()
    for turn, states in enumerate(([1, 2, 3], [2, 3], [9, 2**61], [1, 9])):
        coverage.add("arm", turn, 4, runs.packed(states))
    assert coverage.points() == [(4, 3), (8, 3), (12, 5), (16, 5)]
    assert [coverage.flat("arm", turn) for turn in range(5)] == [False, True, False, True, True]
    assert coverage.new("arm") == coverage.states == 5


def test_many_states_are_merged_exactly() -> None:
    merged, known = StateSet(), set[int]()
    for number in range(60):
        states = {(number * 7919 * k) % 10_007 for k in range(1, 80)}
        assert merged.add(runs.packed(states)) == len(states - known)
        known |= states
    assert len(merged) == len(known)


def test_what_was_visited_of_a_scope_is_merged_in_any_order() -> None:
    aim = Aim(("repaired",), ("smallest",), ("storm",), ("uniform",)).checked()
    found = [attempt(runs.work, short(search_unit(aim.arms()[0], 0, number, 0), 1)) for number in range(3)]
    books = [Sightings(aim, Path("out")) for _ in range(2)]
    books[0].add(row for rows in found for row in rows)
    for rows in reversed(found):
        books[1].add(rows)
    told = [next(one for one in book.verdicts() if one.property == WITHIN) for book in books]
    assert told[0] == told[1]
    assert told[0].outcome is Outcome.HOLDS
    kept = [row for rows in found for row in rows if row["kind"] == "scope"]
    visited = [runs.visited_of(row) for row in kept]
    assert told[0].cost["states"] == len(set().union(*(one.states for one in visited)))
    assert told[0].cost["steps"] == len(set().union(*(one.steps for one in visited)))
    assert [runs.scope_row(one.scope, [one]) for one in visited] == [
        {name: row[name] for name in ("kind", "scope", "states", "moments", "moves", "outside")} for row in kept]


def test_a_scope_that_no_run_has_entered_is_unknown() -> None:
    book = Sightings(Aim(("repaired",), ("smallest",), ("storm",), ("uniform",)).checked(), Path("out"))
    told, = (one for one in book.verdicts() if one.property == WITHIN)
    assert (told.outcome, told.note) == (Outcome.UNKNOWN, "not reached in the time given")


@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_workload_names_what_it_is_judged_by(workload: str) -> None:
    names = runs.judged(workload)
    assert set(WORKLOADS[workload].promises) < set(names)
    assert {one.name for one in WORKLOADS[workload].followers(World())} <= set(names)
    assert all(name in DECLARED or name in OF_RUNS for name in names)
