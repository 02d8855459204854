"""Concepts that were made to fool the judges do not: each file says what must be answered, and why."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from invariants.exploring import explore_own
from invariants.verdict import BadInputError, Outcome, Verdict
from model.language.own import OwnFile, load
from proofs.engine import z3
from proofs.obligations import Obligation
from proofs.prove import Prover
from proofs.ranking import MEANING, Ranked

CONCEPTS = Path(__file__).parent / "concepts"
FILES = sorted(path for path in CONCEPTS.glob("*.py") if path.stem != "__init__")


@cache
def loaded(path: Path) -> OwnFile:
    return load(path)


@cache
def rows(path: Path, judge: str) -> list[Verdict]:
    own = loaded(path)
    if judge == "explore":
        return list(explore_own(own.scopes, file=path))
    prover = Prover(seeds=(0, 1), timeout_ms=2_000, scopes=own.scopes)
    return [row for concept in own.concepts for row in prover.judge(concept.properties.values())]


def module(path: Path) -> ModuleType:
    return loaded(path).module


def wanted() -> Iterator[Any]:
    """File, judge, property, outcome and a part of the note, from the files themselves."""
    for path in FILES:
        for judge in ("prove", "explore"):
            for name, text in getattr(module(path), judge.upper(), {}).items():
                outcome, _, note = text.partition(": ")
                yield pytest.param(path, judge, name, Outcome(outcome), note, id=f"{path.stem}-{judge}-{name}")


@pytest.mark.parametrize(("path", "judge", "name", "outcome", "note"), [*wanted()])
def test_the_judge_is_not_fooled(path: Path, judge: str, name: str, outcome: Outcome, note: str) -> None:
    judged = [row for row in rows(path, judge) if row.property == name]
    assert judged, [row.property for row in rows(path, judge)]
    for row in judged:
        assert row.outcome is outcome, row.note
        assert note in row.note


def test_what_a_machine_word_does_not_hold_is_not_searched() -> None:
    path = CONCEPTS / "sums_beyond_a_word.py"
    with pytest.raises(BadInputError, match=module(path).UNSEARCHED):
        rows(path, "explore")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_property_of_a_file_is_expected_by_some_judge(path: Path) -> None:
    named = {*getattr(module(path), "PROVE", {}), *getattr(module(path), "EXPLORE", {})}
    assert named >= {name for concept in loaded(path).concepts for name in concept.properties}


NEEDED = {
    "starts": ("ranked_from_nowhere", "the_door_opens"), "waits": ("ranked_from_nowhere", "a_key_is_found"),
    "helps": ("ranked_by_many", "the_other_eats_up"), "enables": ("ranked_by_the_disabled", "weak_does_not_suffice"),
    "rises": ("ranked_by_many", "somebody_stays_asked"), "falls": ("ranked_wrongly", "without_a_measure"),
    "stays": ("ranked_by_many", "the_turn_comes"),
}
"""Of each part of the rule of rankings, a file and a false property that nothing else keeps from being proved."""


def test_every_part_of_the_rule_has_a_concept_that_would_fool_it_otherwise() -> None:
    assert set(NEEDED) == set(MEANING)


@pytest.mark.parametrize(("part", "file", "name"), [(part, *where) for part, where in NEEDED.items()])
def test_without_one_part_the_rule_is_fooled(
    part: str, file: str, name: str, monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = Ranked._owes

    def owes(self: Ranked, owed: str, action: str, hypotheses: Any, goal: Any) -> Obligation:
        return plain(self, owed, action, hypotheses, z3.BoolVal(True) if owed == part else goal)

    monkeypatch.setattr(Ranked, "_owes", owes)
    own = loaded(CONCEPTS / f"{file}.py")
    (declared,) = (concept.properties[name] for concept in own.concepts if name in concept.properties)
    assert Prover(seeds=(0,), timeout_ms=2_000, scopes=own.scopes).verdict(declared).outcome is Outcome.HOLDS


def test_there_are_many_ideas() -> None:
    assert len(FILES) > 40
