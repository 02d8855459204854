"""Binders: forall, exists, setof, and the `for` loops of actions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, get_args, get_origin, overload

from model.language import nodes
from model.language.misuse import misuse
from model.language.nodes import SortInfo, Variable
from model.language.values import Bool, Set, Term, describe, set_of

S = TypeVar("S", bound=Term)
T = TypeVar("T", bound=Term)
U = TypeVar("U", bound=Term)
V = TypeVar("V", bound=Term)
W = TypeVar("W", bound=Term)


class _Frame:
    """What one quantifier or one loop of an action binds."""

    __slots__ = ("variables",)

    def __init__(self) -> None:
        self.variables: list[Variable] = []


_quantifiers: list[_Frame] = []
loops: list[Variable] = []  # the variables of the action's `for` loops that are open now, outermost first


@overload
def every(first: type[S], /) -> Iterator[S]: ...
@overload
def every(first: type[S], second: type[T], /) -> Iterator[tuple[S, T]]: ...
@overload
def every(first: type[S], second: type[T], third: type[U], /) -> Iterator[tuple[S, T, U]]: ...
@overload
def every(first: type[S], second: type[T], third: type[U], fourth: type[V], /) -> Iterator[tuple[S, T, U, V]]: ...
@overload
def every(
    first: type[S], second: type[T], third: type[U], fourth: type[V], fifth: type[W], /,
) -> Iterator[tuple[S, T, U, V, W]]: ...
def every(*sorts: type[Term]) -> Iterator[Any]:
    """Range over all elements of the sorts: inside forall and exists, or as a `for` loop of an action."""
    return _every([_ranged(sort) for sort in sorts])


def _ranged(sort: Any) -> tuple[type[Term], SortInfo]:
    """Class and sort of what every() ranges over; Set[Member] ranges over all sets of members."""
    if get_origin(sort) is Set:
        return Set, set_of(_ranged(get_args(sort)[0])[1])
    if not (isinstance(sort, type) and issubclass(sort, Term) and hasattr(sort, "info")):
        raise misuse(f"every({sort!r})", "give sorts: every(Member, Queue)")
    return sort, sort.info


def _every(sorts: list[tuple[type[Term], SortInfo]]) -> Iterator[Any]:
    variables = [Variable(info) for _, info in sorts]
    terms = [sort(nodes.make("var", v.sort, payload=v)) for (sort, _), v in zip(sorts, variables, strict=True)]
    bound = terms[0] if len(terms) == 1 else tuple(terms)
    if _quantifiers:
        _quantifiers[-1].variables.extend(variables)
        yield bound
        return
    loops.extend(variables)
    try:
        yield bound
        _name(variables, sys._getframe(1).f_locals)  # noqa: SLF001 - the body that loops knows its names
    finally:
        del loops[len(loops) - len(variables):]


def _quantify(op: str, formulas: Iterator[Bool]) -> Bool:
    if isinstance(formulas, Bool) or not hasattr(formulas, "gi_frame"):
        raise misuse(f"{op} over {describe(formulas)}", f"write {op}(formula for x in every(Sort))")
    frame = _Frame()
    _quantifiers.append(frame)
    try:
        body = next(formulas)
    except StopIteration:
        raise misuse(f"{op} over nothing", "range over every(Sort)") from None
    finally:
        _quantifiers.pop()
    if not frame.variables:
        raise misuse(f"{op} does not range over every(...)", f"write {op}(formula for x in every(Sort))")
    if not isinstance(body, Bool):
        raise misuse(f"the body of {op} is {describe(body)}", "give a formula")
    _name(frame.variables, formulas.gi_frame.f_locals if formulas.gi_frame else {})
    formulas.close()  # type: ignore[attr-defined]
    return Bool(nodes.quantified(op, tuple(frame.variables), body.node))


def _name(variables: list[Variable], scope: dict[str, Any]) -> None:
    """Give the bound variables the names that the author gave them."""
    for name, value in scope.items():
        if isinstance(value, Term) and value.node.op == "var" and value.node.payload in variables:
            value.node.payload.name = value.node.payload.name or name


def forall(formulas: Iterator[Bool]) -> Bool:
    """For all elements: `forall(formula for a, b in every(A, B))`."""
    return _quantify("forall", formulas)


def exists(formulas: Iterator[Bool]) -> Bool:
    """For some element: `exists(formula for a in every(A))`."""
    return _quantify("exists", formulas)


def setof(sort: type[S], condition: Callable[[S], Bool]) -> Set[S]:
    """Return the set of the elements that satisfy the condition."""
    names = condition.__code__.co_varnames if hasattr(condition, "__code__") else ()
    variable = Variable(sort.info, names[0] if names else "x")
    body = condition(sort(nodes.make("var", sort.info, payload=variable)))
    if not isinstance(body, Bool):
        raise misuse(f"the condition of setof is {describe(body)}", "give a formula")
    return Set(nodes.make("setof", set_of(sort.info), body.node, payload=variable))
