"""Binders: forall, exists, setof, and the `for` loops of actions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, TypeVar, get_args, get_origin, overload

from model.language import nodes
from model.language.misuse import Misuse, misuse
from model.language.nodes import SortInfo, Variable
from model.language.values import Bool, Maybe, Set, Term, describe, element_sort, maybe_of, set_of, spelled

S = TypeVar("S", bound=Term)
T = TypeVar("T", bound=Term)
U = TypeVar("U", bound=Term)
V = TypeVar("V", bound=Term)
W = TypeVar("W", bound=Term)


class _Quantifier:
    """A quantifier whose body is being traced: the frame of its comprehension, and what that has bound so far."""

    __slots__ = ("frame", "variables")

    def __init__(self, frame: FrameType) -> None:
        self.frame = frame
        self.variables: list[Variable] = []


class Loops:
    """The `for` loops of an action that is being traced.

    variables -- of those that are open now, outermost first. left_early -- the error when one was left by `break`.
    """

    __slots__ = ("left_early", "variables")

    def __init__(self) -> None:
        """Start outside all loops."""
        self.variables: list[Variable] = []
        self.left_early: Misuse | None = None


quantifiers: list[_Quantifier] = []
actions: list[Loops] = []  # one per action that is being traced


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
    if not sorts:
        raise misuse("every() over nothing", "give sorts: every(Member, Queue)")
    return _every([_ranged(sort) for sort in sorts])


def _ranged(sort: Any) -> tuple[type[Term], SortInfo]:
    """Class and sort of what every() ranges over; Set[Member] ranges over all sets of members, Maybe[Member] too."""
    if get_origin(sort) is Set:
        return Set, set_of(element_sort(get_args(sort)[0], "every Set"))
    if get_origin(sort) is Maybe:
        return Maybe, maybe_of(element_sort(get_args(sort)[0], "every Maybe"))
    if not (isinstance(sort, type) and issubclass(sort, Term) and hasattr(sort, "info")):
        raise misuse(f"every over {spelled(sort)}", "give sorts that were declared: every(Member, Queue)")
    return sort, sort.info


def _every(sorts: list[tuple[type[Term], SortInfo]]) -> Iterator[Any]:
    variables = [Variable(info) for _, info in sorts]
    terms = [sort(nodes.make("var", v.sort, payload=v)) for (sort, _), v in zip(sorts, variables, strict=True)]
    bound = terms[0] if len(terms) == 1 else tuple(terms)
    frame = sys._getframe(1)  # noqa: SLF001 - tells a loop from a comprehension, and knows the author's names
    if quantifiers and frame is quantifiers[-1].frame:
        quantifiers[-1].variables.extend(variables)
        yield bound
        return
    if not actions or quantifiers:
        where = "a quantifier" if quantifiers else "a formula"
        raise misuse(f"a loop inside {where}", "write forall(... for x in every(Sort)) or exists(...)")
    loops = actions[-1]
    loops.variables.extend(variables)
    try:
        yield bound
        _name(variables, frame.f_locals)
    except GeneratorExit:
        loops.left_early = loops.left_early or misuse(
            "a loop over every(...) is left early", "it stands for all elements at once: assign ite(condition, a, b)")
        raise
    finally:
        del loops.variables[len(loops.variables) - len(variables):]


def _quantify(op: str, formulas: Iterator[Bool]) -> Bool:
    variables, body = bound(op, formulas)
    if not isinstance(body, Bool):
        raise misuse(f"the body of {op} is {describe(body)}", "give a formula")
    return Bool(nodes.quantified(op, variables, body.node))


def bound(op: str, terms: Iterator[T]) -> tuple[tuple[Variable, ...], T]:
    """Give the variables that a comprehension ranges over, and its body; op -- how the author calls it."""
    if isinstance(terms, Term) or not hasattr(terms, "gi_frame"):
        raise misuse(f"{op} over {describe(terms)}", f"write {op}(formula for x in every(Sort))")
    quantifier = _Quantifier(terms.gi_frame)
    quantifiers.append(quantifier)
    try:
        body = next(terms)
    except StopIteration:
        raise misuse(f"{op} over nothing", "range over every(Sort)") from None
    finally:
        quantifiers.pop()
    if not quantifier.variables:
        raise misuse(f"{op} does not range over every(...)", f"write {op}(formula for x in every(Sort))")
    _name(quantifier.variables, quantifier.frame.f_locals)
    terms.close()  # type: ignore[attr-defined]
    return tuple(quantifier.variables), body


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
    info = element_sort(sort, "setof")
    variable = Variable(info, names[0] if names else "x")
    body = condition(sort(nodes.make("var", info, payload=variable)))
    if not isinstance(body, Bool):
        raise misuse(f"the condition of setof is {describe(body)}", "give a formula")
    return Set(nodes.make("setof", set_of(info), body.node, payload=variable))
