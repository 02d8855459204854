"""The batch and the step reading agree with the reference on random declarations and states, garbage included."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from model.language import walk
from model.language.batch import Batch, words
from model.language.layout import Layout
from model.language.properties import STEP
from model.language.scalar import LeavesScope, StepReading
from stateful_tests import random_concepts

SEEDS = range(250)
STATES = 6


def _states(layout: Layout, seed: int) -> list[dict[walk.Cell, int]]:
    chance = Random(seed)  # noqa: S311 - a test's choices
    return [{(cell.variable, *cell.keys): chance.randrange(layout.scope.size(cell.sort)) for cell in layout.cells}
            for _ in range(STATES)]


@pytest.mark.parametrize("part", range(5))
def test_formulas_have_one_meaning(part: int) -> None:
    compared = 0
    for seed in SEEDS[part::5]:
        concept = random_concepts.concept(seed, 40)
        scope = random_concepts.scope(concept, seed)
        step = StepReading(scope)
        values = _states(step.layout, seed)
        packed = [step.layout.pack(state) for state in values]
        assert [step.layout.unpack(state) for state in packed] == values
        now = Batch(words(packed, step.layout.words))
        both = Batch(words(packed[:-1], step.layout.words), words(packed[1:], step.layout.words))
        for wanted in concept.properties.values():
            term, condition = step.ground.term(wanted.condition), wanted.condition
            if wanted.kind == STEP:
                expected = [walk.value(condition, scope, a, {}, b) for a, b in pairwise(values)]
                assert both.truth(term).tolist() == expected
                assert [step.holds(wanted, a, b) for a, b in pairwise(packed)] == expected
            else:
                expected = [walk.value(condition, scope, state, {}) for state in values]
                assert now.truth(term).tolist() == expected
                assert [step.holds(wanted, state) for state in packed] == expected
            compared += len(expected)
    assert compared > 1_000


@pytest.mark.parametrize("part", range(5))
def test_actions_have_one_meaning(part: int) -> None:
    taken = left = 0
    for seed in SEEDS[part::5]:
        concept = random_concepts.concept(seed, 40)
        scope = random_concepts.scope(concept, seed)
        step = StepReading(scope)
        values = _states(step.layout, seed)
        packed = [step.layout.pack(state) for state in values]
        batch = Batch(words(packed, step.layout.words))
        for action in concept.actions.values():
            for env in step.ground.environments(action.parameters):
                arguments = tuple(env.values())
                instance = step.instance(action.name, arguments)
                guard, cut = batch.truth(instance.guard), batch.truth(instance.cut)
                effect = {number: np.broadcast_to(batch.value(term), STATES)
                          for number, term in instance.effect.items()}
                for row, (state, before) in enumerate(zip(packed, values, strict=True)):
                    expected = walk.apply(action, arguments, scope, before)
                    assert step.enabled(action.name, arguments, state) == (expected is not None) == guard[row]
                    if expected is None:
                        assert step.step(action.name, arguments, state) is None
                        continue
                    assert cut[row] == expected.cut
                    if expected.cut:
                        left += 1
                        with pytest.raises(LeavesScope):
                            step.apply(action.name, arguments, state)
                        continue
                    taken += 1
                    assert step.layout.unpack(step.apply(action.name, arguments, state)) == expected.values
                    after = {number: int(column[row]) for number, column in effect.items()}
                    cells = step.layout.cells
                    assert all(expected.values[cells[n].variable, *cells[n].keys] == after[n] for n in after)
    assert taken > 1_000
    assert left > 10


def test_first_false_conjunct_is_the_one_that_was_declared() -> None:
    found = 0
    for seed in SEEDS[:60]:
        concept = random_concepts.concept(seed, 40)
        scope = random_concepts.scope(concept, seed)
        step = StepReading(scope)
        for values in _states(step.layout, seed):
            state = step.layout.pack(values)
            for action in concept.actions.values():
                for env in step.ground.environments(action.parameters):
                    false = [guard for guard in (*action.guards, *action.search_only)
                             if not walk.value(guard, scope, values, env)]
                    reported = step.first_false_conjunct(action.name, tuple(env.values()), state)
                    assert reported is (false[0] if false else None)
                    found += bool(false)
    assert found > 500


def test_a_wrong_reading_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "minimum", lambda a, _: a * 0)  # a subtraction below zero wraps around
    with pytest.raises(AssertionError):
        all(map(test_formulas_have_one_meaning, range(5)))
