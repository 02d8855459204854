"""The reading with a few named elements and all naturals: a model that Z3 finds in it is one without bounds, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import z3

from model.language import Concept
from model.language.nodes import BOOL, CHOICE, FREE, MAYBE, NAT, SortInfo, Variable
from model.language.tracing import VariableInfo
from proofs import terms
from proofs.reading import Env, Expr
from proofs.unbounded import Unbounded, enumeration

SIZES = (1, 2, 3, 4)
"""Numbers of elements of a free sort with which a state is looked for."""


class Few(Unbounded):
    """Free sorts have so many elements, naturals have no bound.

    What speaks of elements, sets and Maybes is written out, so that only naturals are left for Z3 to quantify over.
    """

    def __init__(self, concept: Concept, size: int | Mapping[str, int]) -> None:
        """Give every free sort this number of elements, or each its own by its name."""
        super().__init__(concept)
        self._size = size

    def _elements(self, info: SortInfo) -> list[Expr]:
        """Constants for the elements of a free sort; `well_formed` says that there are no others."""
        size = self._size if isinstance(self._size, int) else self._size[info.name]
        return [z3.Const(f"element {i} of {info.name}", self.sort(info)) for i in range(size)]

    def value(self, info: SortInfo, number: int) -> Expr:
        """A number, or a value of a sort that has finitely many, by its place among them."""
        return self.constant(info, number) if info.kind == NAT else self._values(info)[number]

    def _values(self, info: SortInfo) -> list[Expr]:
        """All values of a sort that has finitely many."""
        if info.kind == BOOL:
            return [terms.truth(value, self.context) for value in (False, True)]
        if info.kind == CHOICE:
            return enumeration(info)[1]
        if info.kind == FREE:
            return self._elements(info)
        assert info.element is not None  # noqa: S101 - narrows for mypy
        inner = self._values(info.element)
        if info.kind == MAYBE:
            return [self.constant(info, 0), *(self.some(info, value) for value in inner)]
        return [self._set(info, inner, chosen) for chosen in product((False, True), repeat=len(inner))]

    def _set(self, info: SortInfo, elements: Sequence[Expr], chosen: Sequence[bool]) -> Expr:
        made = self.constant(info, 0)
        for element, inside in zip(elements, chosen, strict=True):
            made = z3.Store(made, element, terms.truth(True, self.context)) if inside else made
        return made

    def quantifier(self, op: str, variables: Sequence[Variable], body: Callable[[Env], Expr]) -> Expr:
        """Write out what ranges over finitely many values; quantify over the naturals inside."""
        written = [v for v in variables if v.sort.kind != NAT]
        naturals = [v for v in variables if v.sort.kind == NAT]

        def instance(values: Sequence[Expr]) -> Expr:
            bound = dict(zip(written, values, strict=True))
            if not naturals:
                return body(bound)
            return super(Few, self).quantifier(op, naturals, lambda env: body({**bound, **env}))

        instances = [instance(values) for values in product(*(self._values(v.sort) for v in written))]
        join = terms.conjunction if op == "forall" else terms.disjunction
        return join(instances, self.context)

    def setof(self, variable: Variable, body: Callable[[Env], Expr]) -> Expr:
        """Put in the elements for which the body holds, one by one."""
        made = z3.K(self.sort(variable.sort), terms.truth(False, self.context))
        for element in self._values(variable.sort):
            made = z3.Store(made, element, body({variable: element}))
        return made

    def well_formed(self, name: str) -> list[Expr]:
        """Free sorts have their elements only; tables of naturals hold naturals."""
        result = [fact for info in self.concept.sorts.values() if info.kind == FREE for fact in self._closed(info)]
        for info in self.concept.variables.values():
            if info.value.kind == NAT:
                keys = tuple(Variable(sort, "k") for sort in info.keys)
                inside = self._inside("rigid" if info.rigid else name, info, keys)
                result.append(self.quantifier("forall", keys, inside))
        return result

    def _inside(self, prefix: str, info: VariableInfo, keys: Sequence[Variable]) -> Callable[[Env], Expr]:
        return lambda env: self.domain(info.value, self._value(prefix, info, [env[key] for key in keys]))

    def _closed(self, info: SortInfo) -> list[Expr]:
        elements, any_element = self._elements(info), self.fresh("any", info)
        different = [z3.Distinct(*elements)] if len(elements) > 1 else []
        return [*different, z3.ForAll([any_element], z3.Or(*(any_element == one for one in elements)))]
