"""All readings agree on 100,000 random pairs of a declaration and a state; a disagreement shrinks to a few lines."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from functools import partial

import pytest
from hypothesis import HealthCheck, Phase, find, settings, strategies as st

from stateful_tests.language.agreement import (
    READERS,
    Reader,
    by_running,
    by_seed,
    by_strictness,
    by_walking,
    case,
    differences,
)
from stateful_tests.language.faults import CHANGES, walk_changed
from stateful_tests.language.random_declarations import declaration, drawn, tape
from stateful_tests.language.z3_reader import by_z3

PARTS, DECLARATIONS, STATES = 10, 170, 60  # 102,000 pairs
Z3_EVERY, Z3_STATES = 10, 30               # 5,100 of them
IN_PARTS = [0, *(pytest.param(part, marks=pytest.mark.quality) for part in range(1, PARTS))]


@pytest.mark.parametrize("part", IN_PARTS)
def test_readings_agree(part: int) -> None:
    pairs, found = 0, []
    readers: list[Reader] = [reader for reader in READERS.values() if reader is not by_strictness]
    for seed in range(10_000 + part, 10_000 + PARTS * DECLARATIONS, PARTS):
        made = by_seed(seed, STATES)
        found += differences(made, readers if seed % 5 else [*readers, by_strictness])
        pairs += len(made.states)
    assert found == []
    assert pairs == DECLARATIONS * STATES


@pytest.mark.parametrize("part", IN_PARTS)
def test_z3_agrees(part: int) -> None:
    pairs, found = 0, []
    for seed in range(10_000 + part, 10_000 + PARTS * DECLARATIONS, PARTS * Z3_EVERY):
        made = by_seed(seed, Z3_STATES)
        found += differences(made, [by_z3], by_walking(made))
        pairs += len(made.states)
    assert found == []
    assert pairs * PARTS >= 5_000


@pytest.mark.quality
def test_a_disagreement_shrinks(monkeypatch: pytest.MonkeyPatch) -> None:
    walk_changed(CHANGES["plus leaves the element out"], monkeypatch)

    def disagree(choices: bytes) -> bool:
        return bool(differences(case(tape(choices), 2), [by_running]))

    choices = find(st.binary(min_size=200, max_size=400), disagree, settings=settings(
        max_examples=2_000, derandomize=True, database=None, suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink)))
    source = case(tape(choices), 2).declared.source
    smallest = case(tape(b""), 2).declared.source
    assert ".plus(" in source
    assert len(source) < 1.4 * len(smallest), source


def digest() -> str:
    """The text of many declarations in one number."""
    return hashlib.sha256("".join(declaration(drawn(seed)).source for seed in range(100)).encode()).hexdigest()


@pytest.mark.parametrize("seed", ["1", "2"])
def test_a_seed_means_one_declaration_in_every_process(seed: str) -> None:
    code = "from stateful_tests.quality.test_readings_agree_large import digest; print(digest())"
    run = partial(subprocess.run, capture_output=True, text=True, check=True, timeout=120)
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    assert run([sys.executable, "-c", code], env=environment).stdout.strip() == digest()
