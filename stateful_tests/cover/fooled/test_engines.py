"""Judges on random concepts: none says what another one refutes, and faults in an engine are noticed."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from invariants.verdict import ExitStatus
from model.language.actions import Action
from model.language.nodes import TRUE
from model.language.saturation import Kept
from proofs.engine import z3
from proofs.obligations import Induction, Obligation
from proofs.ranking import Ranked
from proofs.unbounded import Unbounded
from stateful_tests.engines import __main__ as engines
from stateful_tests.engines.__main__ import found, main
from stateful_tests.engines.concepts import Drawn

CONCEPTS = 40


def test_no_judge_says_what_another_refutes() -> None:
    tally: Counter[str] = Counter()
    assert [*found(range(CONCEPTS), tally, tlc=False)] == []
    assert tally["prove: holds"] > 5
    assert tally["proved, vacuous or not"] > 40
    assert tally["prove: violated"] > 10
    assert tally["explore: violated"] > tally["explore: holds"] / 3
    assert tally["compared with older ages"] > 500
    assert tally["leads_to proved and searched"] > 20, "none of them about nothing"


def test_the_same_seed_gives_the_same_concept() -> None:
    first, second = Drawn(7), Drawn(7)
    assert first.declared == second.declared
    assert [str(one.condition) for one in first.concept.properties.values()] == [
        str(one.condition) for one in second.concept.properties.values()]


def _prunings_are_assumed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Action, "tested", Action.guard)


def _forgotten_cells_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    def stays(self: Unbounded, assignment: Any, keys: Any, place: str) -> Any:
        del place
        return self._value("now", self.concept.variables[assignment.variable], keys)

    monkeypatch.setattr(Unbounded, "forgotten", stays)


def _saturation_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, kept in (("decided", TRUE), ("step", TRUE), ("start", True)):
        monkeypatch.setattr(Kept, name, lambda *_, kept=kept: kept)


def _lemmas_are_believed_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Induction.inductive

    def believing(self: Induction, goals: Any, assumed: Any) -> Iterator[Obligation]:
        for one in plain(self, goals, assumed):
            if one.part != "initially" or not one.invariant.startswith("lemma"):
                yield one

    monkeypatch.setattr(Induction, "inductive", believing)


def _unproved(part: str) -> Callable[[pytest.MonkeyPatch], None]:
    """Nobody owes this part of the rule of rankings."""
    plain = Ranked._owes

    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        def owes(self: Ranked, owed: str, action: str, hypotheses: Any, goal: Any) -> Obligation:
            return plain(self, owed, action, hypotheses, z3.BoolVal(True) if owed == part else goal)

        monkeypatch.setattr(Ranked, "_owes", owes)

    return plant


@pytest.mark.parametrize(("plant", "seed"), [
    (_prunings_are_assumed, 175), (_forgotten_cells_stay, 54), (_saturation_is_trusted, 148),
    (_lemmas_are_believed_at_first, 3), (_unproved("enables"), 17), (_unproved("waits"), 45),
])
def test_a_fault_in_an_engine_is_noticed(
    plant: Callable[[pytest.MonkeyPatch], None], seed: int, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--concepts", "1", "--seed", str(seed)]
    assert main(words) == 0
    plant(monkeypatch)
    assert main(words) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any("prove says true" in line or "otherwise with" in line for line in lines), lines
    assert any(line.startswith((f"{seed} ", f"{seed}w ")) for line in lines), lines


def test_concepts_that_end_the_solver_are_unknown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(engines, "compared", lambda *_: os.kill(os.getpid(), signal.SIGSEGV))
    assert main(["--concepts", "3"]) == ExitStatus.UNKNOWN
    assert "unknown, for the solver ended its process: signal SIGSEGV 3" in capsys.readouterr().out
