"""The reading without bounds as plain SMT-LIB: a set that a formula describes is a function with an axiom."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import z3

from model.language import Concept
from model.language.nodes import SET as SET_KIND, SortInfo, Variable
from proofs import terms
from proofs.reading import Env, Expr
from proofs.unbounded import Unbounded

SET = "set"  # the first word of the name of each set that a formula describes


class Written(Unbounded):
    """What Z3 is asked in formulas that any solver reads.

    definitions -- an axiom for the name of each set that a formula describes; they say no more than the name means.
    """

    def __init__(self, concept: Concept) -> None:
        """Declare the sorts."""
        super().__init__(concept)
        self.definitions: dict[str, Expr] = {}
        self._sets: dict[int, tuple[str, Expr]] = {}  # by the identity of the description, which is held with it
        self._open: list[Expr] = []  # what is bound around the term that is read

    def quantifier(self, op: str, variables: Sequence[Variable], body: Callable[[Env], Expr]) -> Expr:
        """Quantify, and know in the body what is bound."""
        def inner(bound: Env) -> Expr:
            return self._inside([*bound.values()], lambda: body(bound))

        return super().quantifier(op, variables, inner)

    def setof(self, variable: Variable, body: Callable[[Env], Expr]) -> Expr:
        """Name the set, a function of what its description has from around it."""
        x = self.fresh(variable.name or "x", variable.sort)
        return self._named(variable.sort, x, self._inside([x], lambda: body({variable: x})))

    def constant(self, info: SortInfo, number: int) -> Expr:
        """Numbers, choices, the empty set and nothing: the empty set is the one that is described by "false"."""
        if info.kind != SET_KIND or number != 0:
            return super().constant(info, number)
        assert info.element is not None  # noqa: S101 - narrows for mypy
        return self._named(info.element, self.fresh("x", info.element), terms.truth(False, self.context))

    def _inside(self, bound: list[Expr], body: Callable[[], Expr]) -> Expr:
        self._open += bound
        try:
            return body()
        finally:
            del self._open[len(self._open) - len(bound):]

    def _named(self, element: SortInfo, x: Expr, inside: Expr) -> Expr:
        """The set of all x that are inside: equal descriptions have one name, whatever their variables are called."""
        outer = [one for one in self._open if _occurs(one, inside)]
        places = [z3.Const(f"place {number} {one.sort()}", one.sort()) for number, one in enumerate([x, *outer])]
        described = z3.Lambda(places[:1], z3.substitute(inside, *zip([x, *outer], places, strict=True)))
        sorts = *(one.sort() for one in outer), z3.ArraySort(x.sort(), z3.BoolSort())
        if described.get_id() not in self._sets:
            name = f"{SET} {self._number_of_symbol()} {element.name}"
            self._sets[described.get_id()] = name, described
            made = z3.Function(name, *sorts)(*outer)
            self.definitions[name] = z3.ForAll([*outer, x], terms.equality(z3.Select(made, x), inside))
        return z3.Function(self._sets[described.get_id()][0], *sorts)(*outer)


def _occurs(constant: Expr, term: Expr) -> bool:
    other = z3.Const("another", constant.sort())  # a constant that Z3 numbers would number what it makes later
    return bool(z3.substitute(term, (constant, other)).get_id() != term.get_id())
