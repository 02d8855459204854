"""The reading with a few named elements and all naturals: a model that Z3 finds in it is one without bounds, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import z3

from model.language import Concept
from model.language.nodes import BOOL, CHOICE, FREE, MAYBE, NAT, SortInfo, Variable
from model.language.tracing import VariableInfo
from proofs import terms
from proofs.reading import Env, Expr
from proofs.unbounded import Unbounded, enumeration


class Few(Unbounded):
    """Free sorts have so many elements, naturals have no bound.

    What speaks of elements, sets and Maybes is written out, so that only naturals are left for Z3 to quantify over.
    """

    def __init__(self, concept: Concept, size: int) -> None:
        """Give every free sort this number of elements."""
        super().__init__(concept)
        self._size = size

    def _enumerated(self, info: SortInfo) -> tuple[Any, list[Expr]]:
        """Z3's sort and values of a free sort or a choice."""
        return enumeration(self._counted(info))

    def _counted(self, info: SortInfo) -> SortInfo:
        """The sort with its elements."""
        if info.kind != FREE:
            return info
        return SortInfo(FREE, info.name, members=tuple(map(str, range(self._size))))

    def named(self, info: SortInfo) -> str:
        """As without bounds; a free sort has as many names as sizes."""
        return super().named(self._counted(info))

    def _declare(self, info: SortInfo) -> Any:
        return self._enumerated(info)[0] if info.kind == FREE else super()._declare(info)

    def _values(self, info: SortInfo) -> list[Expr]:
        """All values of a sort that has finitely many."""
        if info.kind == BOOL:
            return [terms.truth(value, self.context) for value in (False, True)]
        if info.kind in (FREE, CHOICE):
            return self._enumerated(info)[1]
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
        """Tables of naturals hold naturals; keys that are no naturals are written out."""
        result = []
        for info in self.concept.variables.values():
            if info.value.kind == NAT:
                keys = tuple(Variable(sort, "k") for sort in info.keys)
                inside = self._inside("rigid" if info.rigid else name, info, keys)
                result.append(self.quantifier("forall", keys, inside))
        return result

    def _inside(self, prefix: str, info: VariableInfo, keys: Sequence[Variable]) -> Callable[[Env], Expr]:
        return lambda env: self.domain(info.value, self._value(prefix, info, [env[key] for key in keys]))
