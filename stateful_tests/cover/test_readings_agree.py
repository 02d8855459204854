"""All readings of a declaration give it one meaning: on random declarations, random states, garbage included."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.language import text
from model.language.defined import obligations
from model.language.nodes import BOOLEAN, Node, SortInfo
from model.language.tracing import VariableInfo
from proofs.engine import z3
from proofs.enumerated import Enumerated
from stateful_tests.language.agreement import (
    CUT,
    READERS,
    Answers,
    Case,
    by_batch,
    by_running,
    by_seed,
    by_sparse_states,
    by_steps,
    by_walking,
    case,
    differences,
)
from stateful_tests.language.random_declarations import tape

STATES = 20
Expr = Any


class _Bundle:
    """Z3 expressions over one state, evaluated together by substituting the state."""

    def __init__(self, reading: Enumerated, exprs: list[Expr]) -> None:
        self._reading = reading
        together = z3.Function(f"bundle_{len(exprs)}", *(expr.sort() for expr in exprs), z3.BoolSort())
        self._expr = together(*exprs)

    def values(self, *given: tuple[Expr, SortInfo, int]) -> list[int]:
        pairs = [(constant, self._reading.constant(sort, number)) for constant, sort, number in given]
        return [_number(expr) for expr in z3.simplify(z3.substitute(self._expr, *pairs)).children()]


def _number(expr: Expr) -> int:
    if z3.is_int_value(expr) or z3.is_bv_value(expr):
        return int(expr.as_long())
    assert z3.is_true(expr) or z3.is_false(expr), f"{expr} has a symbol left"
    return int(z3.is_true(expr))


def by_z3(given: Case) -> Answers:
    """Z3 over a few named elements: formulas once per declaration, states by substitution."""
    concept, scope = given.concept, given.scope
    reading = Enumerated(concept, scope.sizes, scope.rigid)
    cells = [(concept.variables[str(name)], tuple(map(int, keys))) for name, *keys in given.states[0]]

    def state(name: str, row: int) -> list[tuple[Expr, SortInfo, int]]:
        values = given.states[row % len(given.states)]
        return [(reading.cell(name, info, keys), info.value, values[info.name, *keys]) for info, keys in cells]

    now, then = reading.state("now"), reading.state("then")
    formulas = [(name, reading.formula(node, now, None, then)) for name, node, _ in given.formulas()]
    bundle = _Bundle(reading, [expr for _, expr in formulas])
    rows = [bundle.values(*state("now", row), *state("then", row + 1)) for row in range(len(given.states))]
    answers: Answers = {(name, ()): [row[i] for row in rows] for i, (name, _) in enumerate(formulas)}
    for name, choices in given.arguments.items():
        action = concept.actions[name]
        env = reading.arguments(action)
        after = reading.after(action, now, env)
        bundle = _Bundle(reading, [
            reading.formula(obligations(action), now, env), reading.formula(action.guard, now, env),
            reading.enabled(action, now, env), *(reading.formula(node, now, env, after) for _, node in given.steps()),
            *(after(info.name, [reading.constant(s, k) for s, k in zip(info.keys, keys, strict=True)])
              for info, keys in cells)])
        for arguments in choices:
            chosen = [(env[v], v.sort, number) for v, number in zip(action.parameters, arguments, strict=True)]
            found = [bundle.values(*state("now", row), *chosen) for row in range(len(given.states))]
            answers[f"{name} owes", arguments] = [owed for owed, *_ in found]
            answers[name, arguments] = [
                None if not guard else CUT if not inside
                else dict(zip(given.states[0], values[-len(cells):], strict=True))
                for _, guard, inside, *values in found]
            for place, (wanted, _) in enumerate(given.steps()):
                answers[f"{wanted} by {name}", arguments] = [
                    values[place] if inside else None for _, _, inside, *values in found]
    return answers


@cache
def corpus(count: int, states: int = STATES, *, elementary: bool = False) -> list[tuple[Case, Answers]]:
    """The first cases, with the answers of the reference."""
    made = partial(by_seed, count=states, elementary=elementary)
    return [(one, by_walking(one)) for one in map(made, range(count))]


@pytest.mark.parametrize("name", READERS)
def test_a_reading_agrees_with_the_reference(name: str) -> None:
    assert [found for made, expected in corpus(120) for found in differences(made, [READERS[name]], expected)] == []


def test_z3_agrees_with_the_reference() -> None:
    assert [found for made, expected in corpus(30, 6) for found in differences(made, [by_z3], expected)] == []


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(st.binary(max_size=500))
def test_any_tape_is_a_declaration_that_all_readings_agree_on(choices: bytes) -> None:
    assert differences(case(tape(choices), 3), [by_batch, by_steps, by_sparse_states, by_running]) == []


# -- the corpus has something to say -----------------------------------------------------------------------------------


def below(*roots: Node) -> Iterator[Node]:
    seen: dict[Node, None] = {}
    left = list(roots)
    while left:
        node = left.pop()
        if node not in seen:
            seen[node] = None
            left += node.args
    yield from seen


def _nodes(made: Case) -> Iterator[Node]:
    concept = made.concept
    roots = [wanted.condition for wanted in concept.properties.values()]
    for action in concept.actions.values():
        roots += [*action.guards, *action.search_only]
        roots += [node for a in action.assignments for node in (*a.keys, *(() if a.value is None else (a.value,)))]
    yield from below(*roots)


def test_the_corpus_uses_every_operator_on_every_sort() -> None:
    made = [one for one, _ in corpus(120)]
    ops = Counter(node.op for one in made for node in _nodes(one))
    assert set(ops) == {"const", "var", "read", "rigid", "not", "and", "or", "implies", "iff", "eq", "lt", "le", "add",
                        "sub", "ite", "forall", "exists", "setof", "has", "plus", "minus", "some", "holds", "absent"}
    assert min(ops.values()) >= 20
    variables = [info for one in made for info in one.concept.variables.values()]
    assert {info.value.kind for info in variables} == {key.kind for info in variables for key in info.keys}
    assert {len(info.keys) for info in variables if info.rigid} == {len(info.keys) for info in variables} == {0, 1, 2}
    assert any(info.ghost for info in variables)
    assert any(action.search_only for one in made for action in one.concept.actions.values())
    assert any(len(a.loops) == 2 for one in made for action in one.concept.actions.values() for a in action.assignments)


def test_the_corpus_meets_every_outcome() -> None:
    outcomes: Counter[str] = Counter()
    for made, expected in corpus(120):
        for (name, _), answers in expected.items():
            kind = "step" if name in made.arguments else name.rpartition(" ")[2] if " " in name else "formula"
            for answer in answers:
                outcomes[f"{kind} {answer if answer is None or isinstance(answer, int | str) else 'taken'}"] += 1
    wanted = {"step taken": 2000, "step None": 1000, "step cut": 200, "formula 0": 1000, "formula 1": 1000,
              "defined 0": 200, "defined 1": 2000, "owes 0": 200, "owes 1": 2000}
    assert {name: outcomes[name] for name, least in wanted.items() if outcomes[name] < least} == {}


def test_a_tape_of_zeros_is_the_smallest_declaration() -> None:
    small = case(tape([]), 1)
    assert small.declared.source.count("\n") < 30
    assert [len(action.assignments) for action in small.concept.actions.values()] == [1]


def test_the_text_reading_has_a_name_for_everything() -> None:
    for made, _ in corpus(120):
        shown = [text.concept(made.concept), *(text.claim(p) for p in made.concept.properties.values())]
        shown += [text.formula(node) for _, node, _ in made.formulas()]
        assert [line for line in shown if re.search(r"(?<![\w′])_(?![\w′])", line)] == []
        names = {node.payload.name for node in _nodes(made) if node.op == "var"}
        assert names <= made.declared.spoken | {"p0", "p1"}  # m0's own e was replaced by what it was called with


def test_cells_have_names_of_their_own_in_z3() -> None:
    made, _ = corpus(120)[0]
    reading = Enumerated(made.concept, made.scope.sizes, made.scope.rigid)
    one = reading.cell("now", VariableInfo("x", (BOOLEAN, BOOLEAN), BOOLEAN), (0, 1))
    other = reading.cell("now", VariableInfo("x_0", (BOOLEAN,), BOOLEAN), (1,))
    assert not one.eq(other)
