"""The reading without bounds: free sorts are uninterpreted, naturals are the integers from 0 on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import z3

from model.language import Concept
from model.language.nodes import BOOL, CHOICE, FREE, MAYBE, NAT, SET, SortInfo, Variable
from model.language.tracing import Assignment, VariableInfo
from proofs import terms
from proofs.reading import Env, Expr, Reader, Reading


@cache
def enumeration(info: SortInfo) -> tuple[Any, list[Expr]]:
    """Sort and elements of a choice; Z3 takes each name once per process."""
    name = named(info)
    sort, elements = z3.EnumSort(name, [f"{name} is {member}" for member in info.members])
    return sort, elements


def named(info: SortInfo) -> str:
    """Z3's name of a sort without an element: two sorts that differ have different names."""
    return f"{info.kind} {(info.name, *info.members)}"


class Unbounded(Reading):
    """Sorts have any number of elements: free sorts are uninterpreted, naturals are integers from 0 on."""

    def __init__(self, concept: Concept) -> None:
        """Declare the sorts."""
        super().__init__(concept)
        self._sorts: dict[str, Any] = {BOOL: z3.BoolSort()}
        self._functions: dict[tuple[str, str], tuple[Any, type]] = {}

    def sort(self, info: SortInfo) -> Any:
        """Uninterpreted sort, integers, enumeration, array of Booleans, or datatype."""
        if info.kind == BOOL:
            return self._sorts[BOOL]
        if info.name not in self._sorts:
            self._sorts[info.name] = self._declare(info)
        return self._sorts[info.name]

    def named(self, info: SortInfo) -> str:
        """Z3's name of a sort: of a Maybe, that of its elements is a part, for readings differ in them."""
        return named(info) if info.element is None else f"{info.kind} of {self.named(info.element)}"

    def _declare(self, info: SortInfo) -> Any:
        if info.kind == FREE:
            return z3.DeclareSort(self.named(info))
        if info.kind == NAT:
            return z3.IntSort()
        if info.kind == CHOICE:
            return enumeration(info)[0]
        assert info.element is not None  # noqa: S101 - narrows for mypy
        element = self.sort(info.element)
        if info.kind == SET:
            return z3.ArraySort(element, z3.BoolSort())
        maybe = z3.Datatype(self.named(info))
        inner = self.named(info.element)  # constructors of two sorts may not have one name in SMT-LIB
        maybe.declare(f"nothing of {inner}")
        maybe.declare(f"just of {inner}", (f"held of {inner}", element))
        return maybe.create()

    def constant(self, info: SortInfo, number: int) -> Expr:
        """Numbers, choices, the empty set and nothing; elements of free sorts have no numbers here."""
        sort = self.sort(info)
        if info.kind == BOOL:
            return terms.truth(bool(number), self.context)
        if info.kind == NAT:
            return terms.number(number, self.context)
        if info.kind == CHOICE:
            return enumeration(info)[1][number]
        if info.kind in (SET, MAYBE) and number == 0:
            return z3.K(sort.domain(), z3.BoolVal(False)) if info.kind == SET else sort.constructor(0)()
        raise AssertionError(f"{info.name}#{number} has no unbounded reading")

    def domain(self, info: SortInfo, value: Expr) -> Expr:
        """Naturals are not negative."""
        if info.kind == NAT:
            return terms.at_most(terms.number(0, self.context), value)
        return terms.truth(True, self.context)

    def quantifier(self, op: str, variables: Sequence[Variable], body: Callable[[Env], Expr]) -> Expr:
        """Quantify over the sort; over naturals, over the integers from 0 on."""
        bound = {v: self.fresh(v.name or "x", v.sort) for v in variables}
        inside = [self.domain(v.sort, x) for v, x in bound.items() if v.sort.kind == NAT]
        inner = body(bound)
        if op == "exists":
            return z3.Exists(list(bound.values()), terms.conjunction([*inside, inner], self.context))
        if inside:
            inner = terms.implication(terms.conjunction(inside, self.context), inner)
        return z3.ForAll(list(bound.values()), inner)

    def setof(self, variable: Variable, body: Callable[[Env], Expr]) -> Expr:
        """Lambda."""
        x = self.fresh(variable.name or "x", variable.sort)
        return z3.Lambda([x], body({variable: x}))

    def member(self, collection: Expr, element: Expr) -> Expr:
        """Select."""
        return z3.Select(collection, element)

    def changed(self, collection: Expr, element: Expr, present: bool) -> Expr:
        """Store."""
        return z3.Store(collection, element, z3.BoolVal(present))

    def some(self, info: SortInfo, element: Expr) -> Expr:
        """Constructor."""
        return self.sort(info).constructor(1)(element)

    def _value(self, prefix: str, info: VariableInfo, keys: Sequence[Expr]) -> Expr:
        """Value of an uninterpreted function; one for each prefix and variable.

        A prefix is one or more words of ours and a number, a name is all behind them: no two pairs read alike.
        """
        found = self._functions.get((prefix, info.name))
        if found is None:
            result = self.sort(info.value)
            function = z3.Function(f"{prefix} {info.name}", *(self.sort(k) for k in info.keys), result)
            found = self._functions[prefix, info.name] = function, terms.kind_of(result)
        return terms.applied(*found, keys)

    def state(self, name: str) -> Reader:
        """One uninterpreted function per variable."""
        variables = self.concept.variables
        return lambda variable, keys: self._value(name, variables[variable], keys)

    def rigid(self, info: VariableInfo, keys: Sequence[Expr]) -> Expr:
        """One uninterpreted function per rigid function."""
        return self._value("rigid", info, keys)

    def well_formed(self, name: str) -> list[Expr]:
        """Tables of naturals hold naturals."""
        result = []
        for info in self.concept.variables.values():
            if info.value.kind == NAT:
                keys = [self.fresh("k", k) for k in info.keys]
                inside = self.domain(info.value, self._value("rigid" if info.rigid else name, info, keys))
                result.append(z3.ForAll(keys, inside) if keys else inside)
        return result

    def forgotten(self, assignment: Assignment, keys: Sequence[Expr], place: str) -> Expr:
        """Give any value at all: a function of the cell that nothing else constrains."""
        info = self.concept.variables[assignment.variable]
        value = self._value(f"forgotten {place}", info, keys)
        if info.value.kind != NAT:
            return value
        return terms.choice(self.domain(info.value, value), value, terms.number(0, self.context))
