"""The open reading: equal to the packed one on steps of every concept; what a step touches is what is judged."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from invariants.exploring import scopes
from model import language
from model.language import Bool, Nat, State, Table, every, exists, initially
from model.language.initial import initial_states
from model.language.open.judging import Judge, StepJudge
from model.language.open.reading import OpenReading, ScopedReading, UnboundedError
from model.language.open.states import Overlay, States, Writes
from model.language.properties import ALWAYS, LEMMA, STEP
from model.language.scalar import LeavesScope, StepReading
from model.language.state import Concept
from model.subscription import Subscriptions
from stateful_tests.language.agreement import corpus, sparse
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
    stepwise = [one for one in properties if one.kind == STEP]
    judge, steps, state = Judge(reading, always, states), StepJudge(reading, stepwise), start
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
            broken = [one for one in stepwise if not packed.holds(one, state, expected)]
            assert [one for one in stepwise if not reading.holds(one, states.base, after)] == broken
            assert steps.judge(states.base, after, changed(states, writes)) == broken
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
        stepwise = [one for one in made.concept.properties.values() if one.kind == STEP]
        steps = StepJudge(reading, stepwise)
        first, *rest = (sparse(reading, state) for state in made.states)
        states = States(reading.defaults, first)
        judge = Judge(reading, properties, states)
        for nr, wanted in enumerate((first, *rest, first)):
            for cells in _in_parts(states, wanted, nr):
                changes, after = changed(states, cells), Overlay(states.base, cells)
                broken = [one for one in stepwise if not reading.holds(one, states.base, after)]
                assert steps.judge(states.base, after, changes) == broken
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


# Quantifiers ----------------------------------------------------------------------------------------------------------


class Count(Nat):
    """Numbers without an end."""


class Numbered(State):
    """Something that is numbered."""

    end: Count
    marked: Table[Count, Bool]
    found: Bool


@initially
def nothing(s: Numbered) -> Bool:
    """Nothing is marked."""
    return s.end == 0


@language.action("nothing")
def look(s: Numbered) -> None:
    """Whether any number is marked."""
    s.found = exists(s.marked[i] for i in every(Count))


@language.action("nothing")
def look_below(s: Numbered) -> None:
    """Whether any number below the end is marked."""
    s.found = exists((i <= s.end) & s.marked[i] for i in every(Count))


@language.action("nothing")
def clear(s: Numbered) -> None:
    """No number is marked."""
    for i in every(Count):
        s.marked[i] = language.FALSE


@language.action("nothing")
def clear_below(s: Numbered) -> None:
    """No number below the end is marked."""
    for i in every(Count):
        s.marked[i] = language.ite(i < s.end, language.FALSE, s.marked[i])


@language.action("nothing")
def mark_from(s: Numbered, first: Count) -> None:
    """All numbers from one to the end are marked."""
    for i in every(Count):
        s.marked[i] = s.marked[i] | ((first <= i) & (i < s.end))


def test_a_loop_over_naturals_goes_as_far_as_it_changes_something() -> None:
    reading = OpenReading(Numbered.concept)
    with pytest.raises(UnboundedError, match="ranges over all of Count; bound it"):
        reading.step("clear", (), {})
    state = {("end",): 2, ("marked", 1): True, ("marked", 4): True}
    assert reading.step("clear_below", (), state) == {("marked", 0): False, ("marked", 1): False}
    assert reading.step("mark_from", (2,), {("end",): 4}) == {("marked", 2): True, ("marked", 3): True}


def test_a_quantifier_over_all_naturals_is_refused_and_a_bounded_one_is_not() -> None:
    reading = OpenReading(Numbered.concept)
    with pytest.raises(UnboundedError, match="ranges over all of Count; bound it"):
        reading.step("look", (), {})
    assert reading.step("look_below", (), {("end",): 3, ("marked", 4): True}) == {("found",): False}
    assert reading.step("look_below", (), {("end",): 4, ("marked", 4): True}) == {("found",): True}


def test_a_rigid_function_that_is_not_given_is_said() -> None:
    with pytest.raises(ValueError, match="it is not said what wants is; give rigid"):
        OpenReading(Subscriptions.concept)


# A long log -----------------------------------------------------------------------------------------------------------


def looked_at(concept: Concept, records: int) -> int:
    """How many cells are read to judge the steps of one more record of a log of so many; its properties hold."""
    reading = OpenReading(concept)
    states = States(reading.defaults, {("up",): True, ("scanned",): True})
    judge = Judge(reading, list(concept.properties.values()), states)

    def take(action: str, *arguments: str) -> None:
        writes = reading.step(action, arguments, states.base)
        assert writes is not None
        changes = changed(states, writes)
        states.base.update(writes)
        assert judge.judge(changes, states) == []

    for number in range(records):
        take("append", f"queue{number % 4}")
        take("dispatch")
    states.base = counting = Counting(states.base)
    for action in ("append", "dispatch", "flush", "acknowledge", "flush_queue"):
        take(action, *(["queue0"] if action in ("append", "flush_queue") else []))
    return counting.reads


class Counting(dict[Any, Any]):
    """A state that counts how often it is read."""

    reads = 0

    def get(self, *cell: Any) -> Any:
        self.reads += 1
        return super().get(*cell)


def test_a_long_log_costs_no_more_than_a_short_one() -> None:
    assert looked_at(commit_log.Store.concept, 5_000) == looked_at(commit_log.Store.concept, 50) < 200


def test_what_is_wrong_in_a_long_log_is_found() -> None:
    reading = OpenReading(commit_log.Store.concept)
    declared = [one for one in commit_log.Store.concept.properties.values() if one.kind == ALWAYS]
    states = States(reading.defaults, {("up",): True, ("scanned",): True})
    judge = Judge(reading, declared, states)
    for number in range(100):
        for step in (("append", (f"queue{number % 4}",)), ("dispatch", ())):
            writes = reading.step(step[0], step[1], states.base) or {}
            changes = changed(states, writes)
            states.write(writes)
            assert judge.judge(changes, states) == []

    def told(writes: Writes) -> list[str]:
        changes = changed(states, writes)
        states.write(writes)
        return [one.name for one in judge.judge(changes, states)]

    assert told({("queue_of", 40): "queue1"}) == ["unit_names_its_record", "no_record_is_missed"]
    assert told({("queue_of", 41): "queue2"}) == []
    assert told({("queue_of", 41): "queue1"}) == []
    assert judge.false == {0, 1}
    assert told({("queue_of", 40): "queue0"}) == []
    assert judge.false == set()
    assert told({("units", "queue3"): 10}) == ["no_record_is_missed"]
    assert told({("up",): False}) == []
    assert judge.false == set()
    assert told({("up",): True}) == ["no_record_is_missed"]
