"""TLC and the explorer on small scopes: faults in the export make them differ, and what TLC leaves open is unknown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from invariants.__main__ import app as rocketproof
from invariants.exploring import scopes
from invariants.verdict import BadInputError, Outcome
from model.explorer import explore
from model.language.initial import initial_states
from model.language.layout import Layout
from model.language.own import load
from model.language.properties import NEVER_STUCK
from model.language.scope import Scope
from model.tla import terms
from model.tla.actions import Actions
from model.tla.module import Module
from stateful_tests.conformance.tlc import tools
from stateful_tests.conformance.tlc.__main__ import app
from stateful_tests.conformance.tlc.compare import COUNTS, Comparison, Judged, compared, compared_scope
from stateful_tests.conformance.tlc.run import Answer, read, run
from stateful_tests.conformance.tlc.verdicts import verdict
from stateful_tests.engines.by_tlc import Searched, contradictions
from stateful_tests.engines.concepts import Drawn

pytestmark = pytest.mark.java
SHELF = Path(__file__).parents[1] / "tla" / "shelf.py"
FOOLED = Path(__file__).parents[1] / "fooled" / "concepts"
STARTED = "@!@!@STARTMSG {0}:0 @!@!@\n{1}\n@!@!@ENDMSG {0} @!@!@\n"


def room() -> Scope:
    """A small scope of a concept that uses everything."""
    return load(SHELF).scopes[0]


def test_both_say_the_same_of_a_concept_that_uses_everything() -> None:
    scope = room()
    comparison = compared_scope(scope, [*scope.concept.properties.values()])
    assert comparison.differing == []
    assert comparison.unknown == ""
    assert {one.name: one.checked for one in comparison.judged} == {
        COUNTS: "(73, 347, 7, 2)", "what_lies_there_is_near": "holds", "the_end_moves_by_one": "holds",
        "it_fills": "holds", "nothing_is_seen": "refuted in 2 steps", "the_shelf_is_full": "refuted",
        "what_is_wanted_is_seen": "refuted"}
    assert set(comparison.skipped) == {"places_are_taken_in_order", NEVER_STUCK}


def test_a_row_says_so_and_its_evidence_is_replayed(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["filters", "--json", str(tmp_path / "rows"), "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    row = json.loads((tmp_path / "rows").read_text("utf-8"))
    assert (row["property"], row["outcome"], row["cost"]["compared"]) == ("agrees_with_tlc", "holds", 4)
    table = json.loads((tmp_path / row["evidence"]).read_text("utf-8"))["table"]["rows"]
    assert ["bad_expression_is_refused", "holds", "holds"] in table
    replayed = CliRunner().invoke(rocketproof, ["replay", str(tmp_path / row["evidence"])])
    assert (replayed.exit_code, "confirmed" in replayed.output) == (0, True)


def test_both_find_a_state_without_a_step() -> None:
    named = scopes(["registration, B-7"])[0]
    comparison = compared_scope(named.scope, [])
    assert [one.name for one in comparison.judged] == [COUNTS, NEVER_STUCK]
    assert comparison.differing == []


@pytest.mark.parametrize(("file", "compared_too"), [("stuck_for_good", True), ("stuck_at_the_end", False)])
def test_a_state_that_only_seems_stuck_is_one_for_tlc(file: str, *, compared_too: bool) -> None:
    """TLC has no numbers beyond the scope, either: what the explorer leaves open is not compared."""
    for scope in load(FOOLED / f"{file}.py").scopes:
        comparison = compared_scope(scope, [])
        names = [one.name for one in comparison.judged]
        assert comparison.differing == []
        assert (NEVER_STUCK in names, NEVER_STUCK in comparison.skipped) == (compared_too, not compared_too)


def test_tlc_counts_the_same_where_tables_go_on_beyond() -> None:
    for scope in load(FOOLED / "cells_beyond.py").scopes[:2]:
        comparison = compared_scope(scope, [*scope.concept.properties.values()])
        assert {one.name for one in comparison.judged if one.agrees} >= {COUNTS}
        assert comparison.differing == []
        assert set(comparison.skipped) >= {p.name for p in scope.concept.properties.values()}
        assert all("beyond the scope" in reason for reason in comparison.skipped.values())


# Faults in the export are noticed -------------------------------------------------------------------------------------


def _an_action_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Module.next
    monkeypatch.setattr(Module, "next", lambda self, name, actions: plain(self, name, [*actions][:-1]))


def _a_guard_is_swapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(terms._BINARY, "lt", ("<=", 4))


def _alternatives_count_as_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "branches", lambda _: False)


@pytest.mark.parametrize("plant", [
    _an_action_is_dropped, _a_guard_is_swapped, _alternatives_count_as_steps])
def test_a_fault_in_the_export_is_noticed(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(monkeypatch)
    assert [one.name for one in compared_scope(room(), []).differing] == [COUNTS]


def test_fairness_that_is_forgotten_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Module, "_fairness", lambda *_: iter(()))
    scope = room()
    comparison = compared_scope(scope, [scope.concept.properties["it_fills"]])
    assert "it_fills" in [one.name for one in comparison.differing]


# Unknown is never success ---------------------------------------------------------------------------------------------


def test_a_module_that_tlc_does_not_read_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Actions, "_conjuncts", lambda *_: [["???"]])
    named = scopes(["abandoned lock"])[0]
    row = verdict(named, compared_scope(named.scope, []))
    assert row.outcome is Outcome.UNKNOWN
    assert "TLC gave no answer" in row.note


def test_a_run_that_takes_too_long_is_unknown() -> None:
    named = scopes(["abandoned lock"])[0]
    row = verdict(named, compared(named, timeout_s=0.01))
    assert row.outcome is Outcome.UNKNOWN
    assert "took longer than 0.01 s" in row.note


@pytest.mark.parametrize(("judged", "outcome"), [
    ([Judged("a", "holds", "holds")], Outcome.HOLDS),
    ([Judged("a", "holds", "holds"), Judged("b", "holds", "TLC gave no answer", known=False)], Outcome.UNKNOWN),
    ([Judged("a", "holds", "refuted"), Judged("b", "holds", "TLC gave no answer", known=False)], Outcome.VIOLATED),
])
def test_a_row_is_only_as_good_as_its_worst_part(judged: list[Judged], outcome: Outcome) -> None:
    assert verdict(scopes(["abandoned lock"])[0], Comparison(judged)).outcome is outcome


@pytest.mark.parametrize(("output", "said"), [
    (STARTED.format(2110, "Invariant P is violated.") + STARTED.format(2217, "3: <b>"), {"refuted": "P", "steps": 2}),
    (STARTED.format(2107, "Invariant P is violated by the initial state:"), {"refuted": "P", "steps": 0}),
    (STARTED.format(2112, "Action property P is violated."), {"refuted": "P"}),
    (STARTED.format(2116, "Temporal properties were violated."), {"refuted": "temporal"}),
    (STARTED.format(2114, "Deadlock reached."), {"refuted": "deadlock"}),
    (STARTED.format(2193, "Model checking completed.") + STARTED.format(2194, "The depth … is 5."),
     {"complete": True, "depth": 4}),
    ("java: no such file", {"problem": "TLC gave no answer: java: no such file"}),
    ("", {"problem": "TLC gave no answer: "}),
])
def test_messages_of_tlc(output: str, said: dict[str, Any]) -> None:
    answer = read(output)
    assert {name: getattr(answer, name) for name in said} == said
    assert bool(answer.problem) == ("problem" in said)


def test_another_jar_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tools.jar.cache_clear()
    monkeypatch.setattr(tools, "JAR_SHA256", "0" * 64)
    with pytest.raises(BadInputError, match="other bytes than published"):
        tools.jar()
    monkeypatch.setenv(tools.OWN_JAR, str(tmp_path / "mine.jar"))
    assert tools.jar() == tmp_path / "mine.jar"
    assert run(tmp_path, "M", "SPECIFICATION Spec\n").problem
    assert Answer().problem == ""
    tools.jar.cache_clear()


# Random concepts ------------------------------------------------------------------------------------------------------


def searched(seeds: range, scopes: int) -> list[Searched]:
    """What the explorer finds in scopes of random concepts; every property is said to be proved."""
    drawn = [(seed, number, scope) for seed in seeds for number, scope in enumerate(Drawn(seed).scopes(scopes))]
    able = [(seed, number, scope) for seed, number, scope in drawn if has_start(scope)]
    return [Searched(f"{seed}.{number}", explore(scope, [*scope.concept.properties.values()]))
            for seed, number, scope in able]


def has_start(scope: Scope) -> bool:
    """Whether some state of the scope is initial."""
    try:
        return bool(initial_states(scope, Layout(scope)))
    except ValueError:
        return False


def test_tlc_agrees_about_random_concepts_in_one_run() -> None:
    tally: Counter[str] = Counter()
    assert list(contradictions(searched(range(30), 2), tally)) == []
    assert tally["tlc: counted"] > 40
    assert tally["tlc: holds"] > 200
    assert tally["tlc: violated"] > 100


def test_a_fault_is_noticed_in_a_random_concept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(terms._BINARY, "lt", ("<=", 4))
    assert list(contradictions(searched(range(58, 59), 1), Counter())) == [
        "58.0: TLC counts (1, 5, 22) initial states, states, transitions; explore (1, 5, 20)"]


def test_what_prove_calls_true_and_tlc_refutes_is_noticed() -> None:
    one = searched(range(58, 59), 1)[0]
    violated = [p.name for p in one.found.properties if one.found.outcome(p.name) == "violated"]
    lines = list(contradictions([Searched("58.0", one.found, frozenset(violated[:1]))], Counter()))
    assert lines == [f"58.0: prove says {violated[0]} true, TLC refutes it"]
