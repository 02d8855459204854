"""All readings of a declaration give it one meaning: on random declarations, random states, garbage included."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings, strategies as st

from model.language import text
from model.language.nodes import BOOLEAN, Node
from model.language.tracing import VariableInfo
from proofs.enumerated import Enumerated
from stateful_tests.language.agreement import (
    READERS,
    Case,
    by_batch,
    by_running,
    by_sparse_states,
    by_steps,
    case,
    corpus,
    differences,
)
from stateful_tests.language.random_declarations import tape
from stateful_tests.language.z3_reader import by_z3


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
