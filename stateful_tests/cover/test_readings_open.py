"""The open reading: equal to the packed one on steps of every concept, states as overlays, properties judged by steps."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from invariants.exploring import scopes
from model.language.initial import initial_states
from model.language.open.judging import Judge
from model.language.open.reading import OpenReading, ScopedReading, UnboundedError
from model.language.open.states import Overlay, States, Writes
from model.language.properties import ALWAYS, LEMMA, STEP
from model.language.scalar import LeavesScope, StepReading
from model.language.scope import Scope
from model.language.walk import Cell
from stateful_tests.cover.test_readings_agree import corpus
from stateful_tests.language.agreement import sparse
from stateful_tests.language.concepts import commit_log

ONE_EACH = {named.scope.concept.name: named.scope for named in reversed(scopes(heavy=True))}
"""A scope of each concept of the catalogue."""
STEPS = 150


def packed_as_sparse(packed: StepReading, reading: ScopedReading, state: int) -> Writes:
    return sparse(reading, packed.layout.unpack(state))


@pytest.mark.parametrize("name", sorted(ONE_EACH))
def test_both_readings_take_the_same_steps_and_judge_alike(name: str) -> None:
    """On a way of random steps, and at each state all actions and properties: guards, effects, conditions."""
    scope, chance = ONE_EACH[name], Random(name)  # noqa: S311 - a way, not a secret
    packed, reading = StepReading(scope, pruned=False), ScopedReading(scope, pruned=False)
    properties = list(scope.concept.properties.values())
    start = initial_states(scope, packed.layout)[0]
    states = States(reading.defaults, packed_as_sparse(packed, reading, start))
    always = [one for one in properties if one.kind in (ALWAYS, LEMMA)]
    judge, state = Judge(reading, always, states), start
    for _ in range(STEPS):
        found: list[tuple[int, Writes]] = []
        for action in scope.concept.actions.values():
            numbers = tuple(chance.randrange(scope.size(v.sort)) for v in action.parameters)
            arguments = tuple(reading.decoded(v.sort, n) for v, n in zip(action.parameters, numbers, strict=True))
            try:
                expected = packed.step(action.name, numbers, state)
            except LeavesScope:
                with pytest.raises(LeavesScope):
                    reading.step(action.name, arguments, states.base)
                continue
            writes = reading.step(action.name, arguments, states.base)
            assert (writes is None) == (expected is None)
            conjunct = packed.first_false_conjunct(action.name, numbers, state)
            assert reading.first_false_conjunct(action.name, arguments, states.base) is conjunct
            if writes is None or expected is None:
                continue
            after = Overlay(states.base, writes)
            for cell, value in packed.layout.unpack(expected).items():
                info = scope.concept.variables[str(cell[0])]
                keys = (reading.decoded(s, int(k)) for s, k in zip(info.keys, cell[1:], strict=True))
                assert reading.encoded(info.value, after.get((info.name, *keys), reading.defaults[info.name])) == value
            for one in properties:
                if one.kind == STEP:
                    assert reading.holds(one, states.base, after) == packed.holds(one, state, expected)
            if expected != state:
                found.append((expected, writes))
        if not found:
            continue
        state, writes = found[chance.randrange(len(found))]
        changes = changed(states, writes)
        states.write(writes)
        told = judge.judge(changes, states)
        false = {number for number, one in enumerate(always) if not packed.holds(one, state)}
        assert judge.false == false
        assert {one.name for one in told} <= {always[number].name for number in false}


def changed(states: States, writes: Writes) -> dict[Any, tuple[Any, Any]]:
    """What a step changes."""
    found = {}
    for cell, new in writes.items():
        old = states.base.get(cell, states.defaults[cell[0]])
        if old != new:
            found[cell] = old, new
    return found


def test_judging_by_changes_is_judging_anew_on_random_declarations() -> None:
    judged = 0
    for made, _ in corpus(120):
        reading = ScopedReading(made.scope)
        properties = [one for one in made.concept.properties.values() if one.kind == ALWAYS]
        first, *rest = (sparse(reading, state) for state in made.states)
        states = States(reading.defaults, first)
        judge = Judge(reading, properties, states)
        for nr, wanted in enumerate((first, *rest, first)):
            for cells in _in_parts(states, wanted, nr):
                changes = changed(states, cells)
                states.write(cells)
                judge.judge(changes, states)
                assert judge.false == {i for i, one in enumerate(properties) if not reading.holds(one, states.base)}
                judged += 1
    assert judged > 10_000


def _in_parts(states: States, wanted: Writes, seed: int) -> list[Writes]:
    """From one state to another, a few cells at a time."""
    cells = sorted({*states.base, *wanted}, key=repr)
    Random(seed).shuffle(cells)  # noqa: S311 - a test's choices
    return [{cell: wanted.get(cell, states.defaults[cell[0]]) for cell in cells[i:i + 2]}
            for i in range(0, len(cells), 2)]
