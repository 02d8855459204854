"""The reference reading: walks the term, slow and obvious. The other readings are tested against it.

Values are ints as in `nodes.const`: a set is a bit set, a Maybe is 0 or element + 1. A state is a mapping from cells
(name, key, …) to values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Protocol

from model.language.actions import Action
from model.language.nodes import BOOL, MAYBE, NAT, SET, Node, SortInfo, Variable
from model.language.state import Concept

Cell = tuple[str | int, ...]
Values = Mapping[Cell, int]


class Sized(Protocol):
    """What the reading needs to know of a scope."""

    def size(self, sort: SortInfo) -> int:
        """Number of elements of a free sort, a choice or a natural."""

    def rigid(self, name: str, keys: tuple[int, ...]) -> int:
        """Value of a rigid function."""


@dataclass(frozen=True, slots=True)
class Step:
    """A successor: its values, and whether a natural left the scope (it is then clipped to the greatest value)."""

    values: dict[Cell, int]
    cut: bool


def cells(concept: Concept, scope: Sized) -> Iterator[tuple[Cell, SortInfo]]:
    """All cells of a state in order of declaration, with the sorts of their values."""
    for info in concept.variables.values():
        if not info.rigid:
            for keys in product(*(range(scope.size(sort)) for sort in info.keys)):
                yield (info.name, *keys), info.value


def span(sort: SortInfo, scope: Sized) -> int:
    """Number of values of a sort in a scope."""
    if sort.kind == BOOL:
        return 2
    if sort.kind == SET:
        assert sort.element is not None  # noqa: S101 - narrows for mypy
        return int(2 ** scope.size(sort.element))
    if sort.kind == MAYBE:
        assert sort.element is not None  # noqa: S101 - narrows for mypy
        return scope.size(sort.element) + 1
    return scope.size(sort)


def value(  # noqa: C901, PLR0911, PLR0912 - one case per operator
    node: Node, scope: Sized, now: Values, env: Mapping[Variable, int], after: Values | None = None,
) -> int:
    """Value of a term in a state (for a step property: `now` is the state before) under values of its variables."""
    def go(arg: Node) -> int:
        return value(arg, scope, now, env, after)

    def instances(variables: tuple[Variable, ...], body: Node) -> Iterator[int]:
        for elements in product(*(range(span(v.sort, scope)) for v in variables)):
            yield value(body, scope, now, {**env, **dict(zip(variables, elements, strict=True))}, after)

    args = node.args
    match node.op:
        case "const":
            return int(node.payload)
        case "var":
            return env[node.payload]
        case "read":
            phase, name = node.payload
            state = after if phase == "after" else now
            assert state is not None  # noqa: S101 - narrows for mypy
            return state.get((name, *map(go, args)), 0)
        case "rigid":
            keys = tuple(map(go, args))
            inside = all(k < span(a.sort, scope) for k, a in zip(keys, args, strict=True))
            return scope.rigid(node.payload, keys) if inside else 0
        case "not":
            return 1 - go(args[0])
        case "and":
            return int(all(go(arg) for arg in args))
        case "or":
            return int(any(go(arg) for arg in args))
        case "implies":
            return int(not go(args[0]) or bool(go(args[1])))
        case "iff" | "eq":
            return int(go(args[0]) == go(args[1]))
        case "lt":
            return int(go(args[0]) < go(args[1]))
        case "le":
            return int(go(args[0]) <= go(args[1]))
        case "add":
            return go(args[0]) + go(args[1])
        case "sub":
            return max(0, go(args[0]) - go(args[1]))
        case "ite":
            return go(args[1]) if go(args[0]) else go(args[2])
        case "forall":
            return int(all(instances(node.payload, args[0])))
        case "exists":
            return int(any(instances(node.payload, args[0])))
        case "setof":
            return sum(bit << i for i, bit in enumerate(instances((node.payload,), args[0])))
        case "has":
            return go(args[0]) >> go(args[1]) & 1
        case "plus":
            return go(args[0]) | 1 << go(args[1])
        case "minus":
            return go(args[0]) & ~(1 << go(args[1]))
        case "some":
            return go(args[0]) + 1
        case "holds":
            return int(go(args[0]) == go(args[1]) + 1)
        case "absent":
            return int(go(args[0]) == 0)
        case "inside":
            return int(go(args[0]) < scope.size(args[0].sort))
    raise AssertionError(node.op)


def apply(action: Action, arguments: tuple[int, ...], scope: Sized, now: Values) -> Step | None:
    """The state after the action with these arguments, or None when it is not enabled."""
    env = dict(zip(action.parameters, arguments, strict=True))
    if not value(action.guard, scope, now, env):
        return None
    values, cut = dict(now), False
    for assignment in action.assignments:
        for elements in product(*(range(scope.size(v.sort)) for v in assignment.loops)):
            inner = {**env, **dict(zip(assignment.loops, elements, strict=True))}
            keys = [value(key, scope, now, inner) for key in assignment.keys]
            cell: Cell = (assignment.variable, *keys)
            new = 0 if assignment.value is None else value(assignment.value, scope, now, inner)
            if cell not in values:
                cut = True
                continue
            sort = None if assignment.value is None else assignment.value.sort
            if sort is not None and sort.kind == NAT and new >= scope.size(sort):
                cut, new = cut or not sort.saturates, scope.size(sort) - 1
            values[cell] = new
    return Step(values, cut)
