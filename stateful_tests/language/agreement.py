"""Do all readings give one meaning to a random declaration? Each answers the same questions; the answers are compared.

The questions about one declaration and some states: the value of each property and of what it owes (is it well
defined?), and for each action with some arguments: enabled or not, the state after, or that this is none of the scope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from model.language import walk
from model.language.batch import Batch, words
from model.language.defined import defined, obligations
from model.language.nodes import Node
from model.language.open.reading import ScopedReading
from model.language.open.states import Writes
from model.language.properties import STEP
from model.language.scalar import LeavesScope, StepReading
from model.language.scope import Scope
from model.language.state import Concept
from model.language.walk import Cell
from stateful_tests.language.direct import Direct
from stateful_tests.language.random_declarations import Declaration, declaration, drawn, scope, states
from stateful_tests.language.random_terms import Pick
from stateful_tests.language.strict import owes, well_defined

Question = tuple[str, tuple[int, ...]]
Answers = dict[Question, list[Any]]  # one answer per state

CUT = "cut"
_MOST = 2  # argument tuples per action
STATES = 20


@dataclass(frozen=True, slots=True)
class Case:
    """A declaration with a scope, states, and arguments for each action."""

    declared: Declaration
    concept: Concept
    scope: Scope
    states: list[dict[Cell, int]]
    arguments: dict[str, list[tuple[int, ...]]]

    def formulas(self) -> Iterator[tuple[str, Node, bool]]:
        """Name and formula of each property and of what it owes; whether it is about a step to the next state."""
        for name, wanted in self.concept.properties.items():
            yield name, wanted.condition, wanted.kind == STEP
            yield f"{name} is defined", defined(wanted.condition), wanted.kind == STEP

    def steps(self) -> list[tuple[str, Node]]:
        """Names and conditions of the properties of a step."""
        return [(name, wanted.condition) for name, wanted in self.concept.properties.items() if wanted.kind == STEP]

    def after(self, row: int) -> dict[Cell, int]:
        """What is taken for the state after, in formulas about a step."""
        return self.states[(row + 1) % len(self.states)]

    def instances(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Actions with arguments."""
        for name, choices in self.arguments.items():
            for arguments in choices:
                yield name, arguments


def case(pick: Pick, count: int, name: str = "Random", *, elementary: bool = False) -> Case:
    """A random declaration with so many random states."""
    declared = declaration(pick, name, elementary=elementary)
    concept = declared.traced()
    sized = scope(declared, concept, pick)
    arguments = {name: sorted({tuple(pick(sized.size(v.sort)) for v in action.parameters) for _ in range(_MOST)})
                 for name, action in concept.actions.items()}
    return Case(declared, concept, sized, states(concept, sized, pick, count), arguments)


def by_seed(seed: int, count: int, *, elementary: bool = False) -> Case:
    """The case of a seed."""
    return case(drawn(seed), count, f"Random{seed}", elementary=elementary)


def by_walking(given: Case) -> Answers:
    """The reference."""
    answers: Answers = {}
    for name, node, stepping in given.formulas():
        answers[name, ()] = [walk.value(node, given.scope, now, {}, given.after(row) if stepping else None)
                             for row, now in enumerate(given.states)]
    for name, arguments in given.instances():
        action = given.concept.actions[name]
        env, owed = dict(zip(action.parameters, arguments, strict=True)), obligations(action)
        answers[f"{name} owes", arguments] = [walk.value(owed, given.scope, now, env) for now in given.states]
        steps = [walk.apply(action, arguments, given.scope, now) for now in given.states]
        answers[name, arguments] = [None if step is None else CUT if step.cut else step.values for step in steps]
        for wanted, node in given.steps():
            answers[f"{wanted} by {name}", arguments] = [
                None if step is None or step.cut else walk.value(node, given.scope, now, {}, step.values)
                for step, now in zip(steps, given.states, strict=True)]
    return answers


def by_batch(given: Case) -> Answers:
    """All states at once, in numpy."""
    step = StepReading(given.scope)
    layout, ground = step.layout, step.ground
    packed = [layout.pack(state) for state in given.states]
    batch = Batch(words(packed, layout.words), words([*packed[1:], packed[0]], layout.words))
    answers: Answers = {}
    for name, node, _ in given.formulas():
        answers[name, ()] = batch.truth(ground.term(node)).tolist()
    for name, arguments in given.instances():
        action = given.concept.actions[name]
        env = dict(zip(action.parameters, arguments, strict=True))
        answers[f"{name} owes", arguments] = batch.truth(ground.term(obligations(action), env)).tolist()
        instance = ground.instance(action, arguments)
        enabled, cut = batch.truth(instance.guard).tolist(), batch.truth(instance.cut).tolist()
        columns = [(layout.cells[number], batch.value(term)) for number, term in instance.effect.items()]
        answers[name, arguments] = [
            None if not enabled[row] else CUT if cut[row] else {**now, **{
                (cell.variable, *cell.keys): int(column if isinstance(column, int) else column[row])
                for cell, column in columns}}
            for row, now in enumerate(given.states)]
        for wanted, node in given.steps():
            kept = batch.truth(ground.term(node, None, instance.effect)).tolist()
            answers[f"{wanted} by {name}", arguments] = [
                kept[row] if enabled[row] and not cut[row] else None for row in range(len(batch))]
    return answers


def by_steps(given: Case) -> Answers:
    """One state at a time, in generated Python."""
    reading = StepReading(given.scope)
    pack, unpack = reading.layout.pack, reading.layout.unpack
    packed = [pack(state) for state in given.states]
    pairs = list(zip(packed, [*packed[1:], packed[0]], strict=True))
    answers: Answers = {}
    for name, node, _ in given.formulas():
        answers[name, ()] = [reading.value(node, now, after) for now, after in pairs]

    def taken(name: str, arguments: tuple[int, ...], state: int) -> Any:
        try:
            return reading.step(name, arguments, state)
        except LeavesScope:
            return CUT

    for name, arguments in given.instances():
        action = given.concept.actions[name]
        env, owed = dict(zip(action.parameters, arguments, strict=True)), obligations(action)
        answers[f"{name} owes", arguments] = [reading.value(owed, now, env=env) for now in packed]
        steps = [taken(name, arguments, now) for now in packed]
        answers[name, arguments] = [step if step is None or step == CUT else unpack(step) for step in steps]
        for wanted, node in given.steps():
            answers[f"{wanted} by {name}", arguments] = [
                reading.value(node, now, step) if isinstance(step, int) else None
                for step, now in zip(steps, packed, strict=True)]
    return answers


def by_sparse_states(given: Case) -> Answers:
    """One state at a time, as a dict of the cells that are not as they were at first, by names."""
    reading = ScopedReading(given.scope)
    rows = [sparse(reading, state) for state in given.states]
    answers: Answers = {}
    for name, node, _ in given.formulas():
        pairs = zip(rows, [*rows[1:], rows[0]], strict=True)
        answers[name, ()] = [reading.value(node, now, after) for now, after in pairs]

    def taken(name: str, arguments: tuple[Any, ...], now: Writes) -> Any:
        try:
            writes = reading.step(name, arguments, now)
        except LeavesScope:
            return CUT
        return None if writes is None else {**now, **writes}

    for name, numbers in given.instances():
        action = given.concept.actions[name]
        arguments = tuple(reading.decoded(v.sort, n) for v, n in zip(action.parameters, numbers, strict=True))
        env, owed = dict(zip(action.parameters, arguments, strict=True)), obligations(action)
        answers[f"{name} owes", numbers] = [reading.value(owed, now, env=env) for now in rows]
        steps = [taken(name, arguments, now) for now in rows]
        answers[name, numbers] = [step if step is None or step == CUT else _whole(reading, step, given.states[0])
                                  for step in steps]
        for wanted, node in given.steps():
            answers[f"{wanted} by {name}", numbers] = [
                reading.value(node, now, step) if isinstance(step, dict) else None
                for step, now in zip(steps, rows, strict=True)]
    return answers


def sparse(reading: ScopedReading, values: dict[Cell, int]) -> Writes:
    """A state as the open reading has it."""
    found: Writes = {}
    for (name, *keys), number in values.items():
        info = reading.concept.variables[str(name)]
        value = reading.decoded(info.value, number)
        if value != reading.defaults[info.name]:
            found[info.name, *(reading.decoded(s, int(k)) for s, k in zip(info.keys, keys, strict=True))] = value
    return found


def _whole(reading: ScopedReading, state: Writes, cells: Iterable[Cell]) -> dict[Cell, int]:
    """A sparse state with all cells of the scope, by numbers; a cell beyond them is kept, as a difference."""
    variables = reading.concept.variables
    numbers: dict[Cell, int] = dict.fromkeys(cells, 0)
    for (name, *keys), value in state.items():
        info = variables[name]
        cell = name, *(reading.encoded(s, k) for s, k in zip(info.keys, keys, strict=True))
        numbers[cell] = reading.encoded(info.value, value)
    return numbers


def by_running(given: Case) -> Answers:
    """The text of the declaration, run directly; it cannot say what is well defined."""
    direct = Direct(given.declared, given.concept.variables, given.scope)
    answers: Answers = {}
    for name, wanted in given.concept.properties.items():
        answers[name, ()] = [direct.formula(name, now, *([given.after(row)] if wanted.kind == STEP else []))
                             for row, now in enumerate(given.states)]
    for name, arguments in given.instances():
        steps = [direct.step(name, arguments, now) for now in given.states]
        answers[name, arguments] = steps
        for stepping, _ in given.steps():
            answers[f"{stepping} by {name}", arguments] = [
                direct.formula(stepping, now, step) if isinstance(step, dict) else None
                for step, now in zip(steps, given.states, strict=True)]
    return answers


def by_strictness(given: Case) -> Answers:
    """A walk that stops where a term is not defined; it answers only whether it got through."""
    answers: Answers = {}
    for name, wanted in given.concept.properties.items():
        answers[f"{name} is defined", ()] = [
            well_defined(wanted.condition, given.scope, now, given.after(row) if wanted.kind == STEP else None)
            for row, now in enumerate(given.states)]
    for name, arguments in given.instances():
        action = given.concept.actions[name]
        answers[f"{name} owes", arguments] = [owes(action, arguments, given.scope, now) for now in given.states]
    return answers


Reader = Callable[[Case], Answers]
READERS: dict[str, Reader] = {
    "batch": by_batch, "step": by_steps, "open": by_sparse_states, "direct": by_running, "strict": by_strictness,
}


def differences(given: Case, readers: Sequence[Reader], expected: Answers | None = None) -> list[str]:
    """Where the readings give other answers than the reference."""
    reference = by_walking(given) if expected is None else expected
    found = []
    for reader in readers:
        answers = reader(given)
        if not answers or not set(answers) <= set(reference):
            found.append(f"{reader.__name__}: other questions were answered")
            continue
        for (name, arguments), given_answers in answers.items():
            for row, (mine, theirs) in enumerate(zip(given_answers, reference[name, arguments], strict=True)):
                if mine != theirs:
                    found.append(f"{reader.__name__}: {given.declared.name} {name}{arguments} in state {row}: "
                                 f"{mine} instead of {theirs}")
    return found


@cache
def corpus(count: int, states: int = STATES, *, elementary: bool = False) -> list[tuple[Case, Answers]]:
    """The first cases, with the answers of the reference."""
    made = partial(by_seed, count=states, elementary=elementary)
    return [(one, by_walking(one)) for one in map(made, range(count))]
