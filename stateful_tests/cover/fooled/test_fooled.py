"""Concepts that were made to fool the judges do not: each file says what must be answered, and why."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from invariants.exploring import explore_own
from invariants.verdict import Outcome, Verdict
from model.language.own import OwnFile, load
from proofs.prove import Prover

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


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_property_of_a_file_is_expected_by_some_judge(path: Path) -> None:
    named = {*getattr(module(path), "PROVE", {}), *getattr(module(path), "EXPLORE", {})}
    assert named >= {name for concept in loaded(path).concepts for name in concept.properties}


def test_there_are_many_ideas() -> None:
    assert len(FILES) > 40
