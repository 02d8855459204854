"""What is forgotten, or was never said, decides nothing: two runs that differ there alone cannot be told apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

from invariants.concepts import PROPERTIES
from model.language import Bool, Nat, Sort, State, Table, action, always, every, forall, initially, require, walk
from model.language.actions import Action
from model.language.initial import initial_states
from model.language.layout import Cell
from model.language.nodes import TRUE as ALWAYS_TRUE, Node, const, substitute
from model.language.properties import STEP, Property
from model.language.scalar import LeavesScope, StepReading
from model.language.scope import Scope
from model.scopes import SCOPES
from stateful_tests.language.concepts import commit_log, process_queue

assert PROPERTIES  # importing them declares properties
WALKS, STEPS = 10, 20

# What an initial condition leaves open although it matters: a proof takes any value, a search takes 0.
OPEN = {"Abandoned": {"age"}, "Subscriptions": {"stamp"}}


class Pair:
    """Two runs of a scope in step: the second has garbage in every cell that means nothing in the first."""

    def __init__(self, scope: Scope, seed: int) -> None:
        self.scope, self.reading, self.chance = scope, StepReading(scope), Random(seed)  # noqa: S311 - a test's choices
        self.layout, self.concept = self.reading.layout, scope.concept
        self.instances = [(name, arguments) for name, declared in scope.concept.actions.items()
                          if name not in scope.forbid
                          for arguments in product(*(range(scope.size(v.sort)) for v in declared.parameters))]
        self.starts = initial_states(scope, self.layout)
        self.reading.ground.term(scope.concept.initial)
        self.unsaid = [cell for cell in self.layout.cells if cell.number not in self.reading.ground.mentioned
                       and cell.variable not in OPEN.get(scope.concept.name, ())]
        self.filled = 0

    def garbage(self, state: int, cells: list[Cell]) -> int:
        """The state with anything in some cells."""
        for cell in cells:
            state = state & ~cell.mask | self.chance.randrange(self.scope.size(cell.sort)) << cell.position
            self.filled += 1
        return state

    def forgotten(self, declared: Action, arguments: tuple[int, ...], state: int) -> list[Cell]:
        """The cells that a step forgets and does not assign afterwards."""
        env, values = dict(zip(declared.parameters, arguments, strict=True)), self.layout.unpack(state)
        found: dict[int, Cell] = {}
        for assignment in declared.assignments:
            for elements in product(*(range(self.scope.size(v.sort)) for v in assignment.loops)):
                inner = {**env, **dict(zip(assignment.loops, elements, strict=True))}
                keys = tuple(walk.value(key, self.scope, values, inner) for key in assignment.keys)
                cell = self.layout.cell(assignment.variable, *keys)
                found.pop(cell.number, None)
                if assignment.value is None:
                    found[cell.number] = cell
        return list(found.values())

    def differences(self, plain: int, filled: int) -> Iterator[str]:
        """Guards and properties that tell the two states apart."""
        for name, arguments in self.instances:
            if self.reading.enabled(name, arguments, plain) != self.reading.enabled(name, arguments, filled):
                yield f"the guard of {name}{arguments}"
        for declared in self.concept.properties.values():
            for node in self.said(declared) if declared.kind != STEP else ():
                if node is not ALWAYS_TRUE and self.reading.value(node, plain) != self.reading.value(node, filled):
                    yield declared.name

    def said(self, declared: Property) -> Iterator[Node]:
        """What a property says of a state; of one with parameters, for each choice of elements."""
        for elements in product(*(range(self.scope.size(v.sort)) for v in declared.parameters)):
            by = {v: const(v.sort, number) for v, number in zip(declared.parameters, elements, strict=True)}
            yield substitute(declared.condition, by)
            yield substitute(declared.when, by)

    def run(self) -> Iterator[str]:
        """Take the same random steps in both, and yield what differs."""
        plain = self.chance.choice(self.starts)
        filled = self.garbage(plain, self.unsaid)
        for _ in range(STEPS):
            yield from self.differences(plain, filled)
            after = self._step(plain, filled)
            if after is None:
                return
            name, arguments, next_plain, next_filled = after
            for declared in self.concept.properties.values():
                if declared.kind == STEP and self.reading.value(declared.condition, plain, next_plain) != (
                        self.reading.value(declared.condition, filled, next_filled)):
                    yield declared.name
            cells = self.forgotten(self.concept.actions[name], arguments, plain)
            plain, filled = next_plain, self.garbage(next_filled, cells)

    def _step(self, plain: int, filled: int) -> tuple[str, tuple[int, ...], int, int] | None:
        """A step that both can take inside the scope."""
        for name, arguments in self.chance.sample(self.instances, len(self.instances)):
            if self.reading.enabled(name, arguments, plain) and self.reading.enabled(name, arguments, filled):
                try:
                    return (name, arguments, self.reading.apply(name, arguments, plain),
                            self.reading.apply(name, arguments, filled))
                except LeavesScope:
                    continue
        return None


def smallest() -> dict[str, Scope]:
    """For each concept of the project the scope with the fewest states that forbids no more than another."""
    found: dict[str, Scope] = {}
    for named in sorted(SCOPES, key=lambda named: (len(named.scope.forbid), named.states)):
        found.setdefault(named.scope.concept.name, named.scope)
    return found


EXAMPLES = {
    "Store": Scope(commit_log.Store, {"Queue": 2, "LogPosition": 4, "QueueOffset": 4}),
    "Delivery": Scope(process_queue.Delivery, {"Member": 2, "QueueOffset": 3}),
}
CONCEPTS = {**smallest(), **EXAMPLES}


def told_apart(scope: Scope, walks: int = WALKS) -> tuple[set[str], int]:
    """What tells two runs apart, and how many cells were filled."""
    found, filled = set[str](), 0
    for seed in range(walks):
        pair = Pair(scope, seed)
        found |= set(pair.run())
        filled += pair.filled
    return found, filled


@pytest.mark.parametrize("name", OPEN)
def test_what_is_open_at_first_matters(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(OPEN, name)
    assert told_apart(CONCEPTS[name])[0]


@pytest.mark.parametrize("name", CONCEPTS)
def test_garbage_changes_no_guard_and_no_property(name: str) -> None:
    assert told_apart(CONCEPTS[name])[0] == set()


def test_the_project_and_the_examples_have_cells_to_fill() -> None:
    filled = {name: told_apart(scope, 2)[1] for name, scope in CONCEPTS.items()}
    some = {name for name, count in filled.items() if count}
    assert some >= {"Store", "Delivery", "Replicas", "Subscriptions"}, filled


# -- a concept that looks where nothing is -----------------------------------------------------------------------------


class Place(Nat):
    """A place."""


class Thing(Sort):
    """A thing."""


class Careless(State):
    """A log whose end is not respected."""

    end: Place
    log: Table[Place, Thing]


@initially
def empty_log(s: Careless) -> Bool:
    return s.end == 0


@action("Nobody#write")
def write(s: Careless, thing: Thing) -> None:
    s.log[s.end] = thing
    s.end = s.end + 1


@action("Nobody#cut")
def cut(s: Careless) -> None:
    require(s.end > 0)
    s.log.forget(s.end - 1)
    s.end = s.end - 1


@action("Nobody#peek")
def peek(s: Careless, thing: Thing) -> None:
    require(s.log[s.end] == thing)
    s.end = s.end


@always("holds")
def all_things_are_one(s: Careless) -> Bool:
    return forall(s.log[p] == s.log[q] for p, q in every(Place, Place))


@always("holds")
def two_ends_are_one(s: Careless) -> Bool:
    return s.end == s.end


def test_a_guard_and_a_property_that_look_behind_the_end_are_told() -> None:
    found, _ = told_apart(Scope(Careless, {Place: 3, Thing: 2}))
    assert found == {"the guard of peek(0,)", "the guard of peek(1,)", "all_things_are_one"}
