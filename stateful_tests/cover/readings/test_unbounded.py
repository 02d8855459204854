"""The reading without bounds agrees with the reference, when facts leave it only the elements of a scope."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import product
from typing import Any

import pytest

from model.language.nodes import FREE, MAYBE, SET, SortInfo
from model.language.tracing import VariableInfo
from proofs.engine import z3
from proofs.unbounded import Unbounded
from stateful_tests.language.agreement import Answers, Case, corpus
from stateful_tests.language.faults import CHANGES, backwards
from stateful_tests.language.z3_reader import z3_changed, z3_step

Expr = Any


class Few:
    """The unbounded reading of a case, with facts that leave it only the elements of the scope and one state."""

    def __init__(self, given: Case, row: int) -> None:
        self.given, self.reading = given, Unbounded(given.concept)
        self.now, self.then = self.reading.state("now"), self.reading.state("then")
        self.states = ((self.now, given.states[row]), (self.then, given.after(row)))
        self._elements: dict[str, list[Expr]] = {}
        self.facts = [fact for sort in given.concept.sorts.values() if sort.kind == FREE for fact in self._close(sort)]
        for info in given.concept.variables.values():
            for keys in product(*(range(given.scope.size(sort)) for sort in info.keys)):
                self.facts += [self.same(info.value, expr, number) for expr, number in self._cell(info, keys)]

    def _cell(self, info: VariableInfo, keys: tuple[int, ...]) -> list[tuple[Expr, int]]:
        at = self._keys(info, keys)
        if info.rigid:
            return [(self.reading.rigid(info, at), self.given.scope.rigid(info.name, keys))]
        return [(state(info.name, at), values[info.name, *keys]) for state, values in self.states]

    def _close(self, sort: SortInfo) -> list[Expr]:
        own = self.reading.sort(sort)
        elements = [z3.Const(f"{sort.name}{i}", own) for i in range(self.given.scope.size(sort))]
        self._elements[sort.name] = elements
        any_element = z3.Const("any", own)
        return [z3.Distinct(*elements), z3.ForAll(any_element, z3.Or(*(any_element == e for e in elements)))]

    def _keys(self, info: VariableInfo, keys: Iterable[Any]) -> list[Expr]:
        return [self.value(sort, key) for sort, key in zip(info.keys, keys, strict=True)]

    def value(self, sort: SortInfo, number: int) -> Expr:
        """A value of the scope."""
        if sort.kind == FREE:
            return self._elements[sort.name][number]
        if sort.kind in (SET, MAYBE) and number:
            assert sort.element is not None
            if sort.kind == MAYBE:
                return self.reading.some(sort, self.value(sort.element, number - 1))
            found = self.reading.constant(sort, 0)
            for i in range(number.bit_length()):
                found = z3.Store(found, self.value(sort.element, i), z3.BoolVal(bool(number >> i & 1)))
            return found
        return self.reading.constant(sort, number)

    def same(self, sort: SortInfo, expr: Expr, number: int) -> Expr:
        """The expression has the value; of a set, element by element."""
        if sort.kind != SET:
            return expr == self.value(sort, number)
        assert sort.element is not None
        return z3.And(*(z3.Select(expr, self.value(sort.element, i)) == bool(number >> i & 1)
                        for i in range(self.given.scope.size(sort.element))))

    def claims(self, row: int, expected: Answers) -> Iterator[Expr]:
        """What must follow."""
        for name, node, _ in self.given.formulas():
            yield self.same(node.sort, self.reading.formula(node, self.now, None, self.then), expected[name, ()][row])
        for name, arguments in self.given.instances():
            action, after = self.given.concept.actions[name], expected[name, arguments][row]
            env = {v: self.value(v.sort, number) for v, number in zip(action.parameters, arguments, strict=True)}
            yield self.reading.formula(action.guard, self.now, env) == (after is not None)
            free = {a.variable for a in action.assignments if a.value is None or a.value.sort.saturates}
            read = self.reading.after(action, self.now, env)
            for (variable, *keys), number in after.items() if isinstance(after, dict) else ():
                info = self.given.concept.variables[str(variable)]
                if info.name not in free:  # a forgotten cell is anything here, and nothing saturates
                    yield self.same(info.value, read(info.name, self._keys(info, keys)), number)


@cache
def elementary() -> list[tuple[Case, Answers]]:
    """Cases whose keys and bound variables are elements: there, no bound of a natural matters."""
    return corpus(50, 3, elementary=True)


def disagreements() -> Iterator[str]:
    """Declarations for which what the reference says does not follow."""
    for made, expected in elementary():
        for row in range(1 + len(made.concept.actions) % 2):
            few = Few(made, row)
            solver = z3.Solver()
            solver.set("timeout", 10_000)
            solver.add(few.facts)
            assert solver.check() == z3.sat, made.declared.source
            solver.add(z3.Not(z3.And(*few.claims(row, expected))))
            if solver.check() != z3.unsat:
                yield made.declared.source


def test_what_the_reference_says_follows() -> None:
    assert list(disagreements()) == []


def test_there_is_enough_to_follow() -> None:
    made = [(Few(one, 0), expected) for one, expected in elementary()[:20]]
    assert sum(len(list(few.claims(0, expected))) for few, expected in made) > 80


@pytest.mark.parametrize("plant", [*(partial(z3_changed, change) for change in CHANGES.values()),
                                   partial(z3_step, backwards)], ids=[*CHANGES, "an earlier assignment wins"])
def test_a_fault_is_noticed(plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    elementary()
    plant(monkeypatch)
    assert next(disagreements(), None) is not None
