"""The reading over a few named elements: values are bounded integers, quantifiers are written out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import z3

from model.language import Action, Concept
from model.language.nodes import BOOL, CHOICE, MAYBE, NAT, SET, Node, SortInfo, Variable
from model.language.tracing import Assignment, VariableInfo
from proofs import terms
from proofs.reading import Env, Expr, Reader, Reading


class Enumerated(Reading):
    """Sorts have a few named elements: values are bounded integers, quantifiers are written out.

    sizes -- number of elements per free or natural sort.
    rigid_values -- values of the rigid functions by element numbers; what is missing is symbolic.
    """

    def __init__(
        self, concept: Concept, sizes: Mapping[str, int],
        rigid_values: Callable[[str, tuple[int, ...]], int] | None = None,
    ) -> None:
        """Fix the sizes."""
        super().__init__(concept)
        self.sizes = sizes
        self._rigid_values = rigid_values
        self._numbers: dict[tuple[str, int], Expr] = {}
        self._cells: dict[tuple[str, str, tuple[int, ...]], Expr] = {}

    def count(self, info: SortInfo) -> int:
        """Number of values of a sort."""
        if info.kind == BOOL:
            return 2
        if info.kind == CHOICE:
            return len(info.members)
        if info.kind in (SET, MAYBE):
            assert info.element is not None  # noqa: S101 - narrows for mypy
            elements = self.count(info.element)
            return int(2**elements) if info.kind == SET else elements + 1
        return self.sizes[info.name]

    def sort(self, info: SortInfo) -> Any:
        """Booleans, bit vectors for sets, integers for all else."""
        if info.kind == BOOL:
            return z3.BoolSort()
        if info.kind == SET:
            assert info.element is not None  # noqa: S101 - narrows for mypy
            return z3.BitVecSort(self.count(info.element))
        return z3.IntSort()

    def constant(self, info: SortInfo, number: int) -> Expr:
        """Value by its number."""
        found = self._numbers.get((info.name, number))
        if found is None:
            found = self._numbers[info.name, number] = self._constant(info, number)
        return found

    def _constant(self, info: SortInfo, number: int) -> Expr:
        if info.kind == BOOL:
            return terms.truth(bool(number), self.context)
        return z3.BitVecVal(number, self.sort(info)) if info.kind == SET else terms.number(number, self.context)

    def domain(self, info: SortInfo, value: Expr) -> Expr:
        """Values lie below the size."""
        if info.kind in (BOOL, SET):
            return terms.truth(True, self.context)
        size = terms.number(self.count(info), self.context)
        inside = terms.at_most(self.constant(info, 0), value), terms.less(value, size)
        return terms.conjunction(inside, self.context)

    def elements(self, info: SortInfo) -> list[Expr]:
        """All values of a sort."""
        return [self.constant(info, number) for number in range(self.count(info))]

    def quantifier(self, op: str, variables: Sequence[Variable], body: Callable[[Env], Expr]) -> Expr:
        """Write the quantifier out."""
        instances = [body(dict(zip(variables, values, strict=True)))
                     for values in product(*(self.elements(v.sort) for v in variables))]
        join = terms.conjunction if op == "forall" else terms.disjunction
        return join(instances, self.context)

    def setof(self, variable: Variable, body: Callable[[Env], Expr]) -> Expr:
        """One bit per element."""
        size = self.count(variable.sort)
        bits = [z3.If(body({variable: x}), z3.BitVecVal(1 << i, size), z3.BitVecVal(0, size))
                for i, x in enumerate(self.elements(variable.sort))]
        result = bits[0]
        for bit in bits[1:]:
            result = result | bit
        return result

    def member(self, collection: Expr, element: Expr) -> Expr:
        """Test one bit."""
        return z3.Or(*(z3.And(element == i, z3.Extract(i, i, collection) == 1) for i in range(collection.size())))

    def changed(self, collection: Expr, element: Expr, present: bool) -> Expr:
        """Set or clear one bit."""
        result = collection
        for i in range(collection.size()):
            mask = z3.BitVecVal(1 << i, collection.size())
            result = z3.If(element == i, collection | mask if present else collection & ~mask, result)
        return result

    def some(self, info: SortInfo,  # noqa: ARG002 - one number for every sort
              element: Expr) -> Expr:
        """Element number + 1."""
        return terms.total(element, terms.number(1, self.context))

    def cell(self, prefix: str, info: VariableInfo, keys: tuple[int, ...]) -> Expr:
        """Constant of one cell."""
        found = self._cells.get((prefix, info.name, keys))
        if found is None:
            found = z3.Const(f"{prefix} {info.name}{list(keys)}", self.sort(info.value))
            self._cells[prefix, info.name, keys] = found
        return found

    def _select(self, info: VariableInfo, keys: Sequence[Expr], cell: Callable[[tuple[int, ...]], Expr]) -> Expr:
        """Cell that the keys name: a constant when they are constants, a chain of cases otherwise."""
        numbers = [self._number(key) for key in keys]
        sizes = [self.count(sort) for sort in info.keys]
        if all(number is not None for number in numbers):
            inside = all(number < size for number, size in zip(numbers, sizes, strict=True))  # type: ignore[operator]
            return cell(tuple(numbers)) if inside else self.constant(info.value, 0)  # type: ignore[arg-type]
        result = self.constant(info.value, 0)
        for values in product(*map(range, sizes)):
            same = [terms.equality(key, self.constant(sort, v))
                    for key, sort, v in zip(keys, info.keys, values, strict=True)]
            result = terms.choice(terms.conjunction(same, self.context), cell(values), result)
        return result

    @staticmethod
    def _number(key: Expr) -> int | None:
        if isinstance(key, z3.IntNumRef | z3.BitVecNumRef):
            return int(key.as_long())
        return terms.known(key) if isinstance(key, z3.BoolRef) else None

    def state(self, name: str) -> Reader:
        """One constant per cell."""
        def read(variable: str, keys: Sequence[Expr]) -> Expr:
            info = self.concept.variables[variable]
            return self._select(info, keys, lambda values: self.cell(name, info, values))
        return read

    def rigid(self, info: VariableInfo, keys: Sequence[Expr]) -> Expr:
        """Given value, or one constant per cell."""
        given = self._rigid_values
        if given is None:
            return self._select(info, keys, lambda values: self.cell("rigid", info, values))
        return self._select(info, keys, lambda values: self.constant(info.value, given(info.name, values)))

    def well_formed(self, name: str) -> list[Expr]:
        """Every cell holds a value of its sort."""
        result = []
        for info in self.concept.variables.values():
            if not (info.rigid and self._rigid_values is not None):
                prefix = "rigid" if info.rigid else name
                result += [self.domain(info.value, self.cell(prefix, info, values))
                           for values in product(*(range(self.count(sort)) for sort in info.keys))]
        return result

    def assigned(self, node: Node, value: Expr) -> Expr:
        """Saturate, as a search does; what does not saturate and lies beyond is cut."""
        if not node.sort.saturates:
            return value
        greatest = terms.number(self.count(node.sort) - 1, self.context)
        return terms.choice(self.domain(node.sort, value), value, greatest)

    def guards(self, action: Action, state: Reader, env: Env) -> list[Expr]:
        """Formulas that say that the guards hold and that nothing is assigned that lies beyond the sizes."""
        inside = [self._inside(assignment, state, {**env, **dict(zip(assignment.loops, values, strict=True))})
                  for assignment in action.assignments
                  for values in product(*(self.elements(v.sort) for v in assignment.loops))]
        return [*super().guards(action, state, env), *inside]

    def _inside(self, assignment: Assignment, state: Reader, env: Env) -> Expr:
        value = assignment.value
        bounded = [node for node in (*assignment.keys, *(() if value is None or value.sort.saturates else (value,)))
                   if node.sort.kind == NAT]
        inside = [self.domain(node.sort, self.formula(node, state, env)) for node in bounded]
        return terms.conjunction(inside, self.context)

    def after(self, action: Action, state: Reader, env: Env) -> Reader:
        """State after the action; a cell outside its table reads 0 there too."""
        read = super().after(action, state, env)

        def inside(name: str, keys: Sequence[Expr]) -> Expr:
            info = self.concept.variables[name]
            known = [self.domain(sort, key) for sort, key in zip(info.keys, keys, strict=True) if sort.kind == NAT]
            value = read(name, keys)
            if not known:
                return value
            return terms.choice(terms.conjunction(known, self.context), value, self.constant(info.value, 0))

        return inside

    def forgotten(
        self, assignment: Assignment, keys: Sequence[Expr], place: str,  # noqa: ARG002 - the same for every cell
    ) -> Expr:
        """Return to the value 0, as a search does."""
        return self.constant(self.concept.variables[assignment.variable].value, 0)


def values(
    reading: Enumerated, prefix: str, info: VariableInfo, model: z3.ModelRef,
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Keys and values of a variable's cells in a model; prefix -- of the state, or "rigid"."""
    for keys in product(*(range(reading.count(sort)) for sort in info.keys)):
        value = model.eval(reading.cell(prefix, info, keys).translate(model.ctx), model_completion=True)
        yield keys, int(z3.is_true(value)) if info.value.kind == BOOL else value.as_long()
