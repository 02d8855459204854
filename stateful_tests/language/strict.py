"""A walk that stops where a term is not defined: below zero, or outside a table. It judges `model.language.defined`."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from model.language.actions import Action
from model.language.nodes import NAT, Node, Variable, conjunction
from model.language.walk import Sized, Values, span, value


class _Undefined(Exception):  # noqa: N818 - it is what the walk looks for
    """A subtraction went below zero, or an index outside its table."""


def well_defined(node: Node, scope: Sized, now: Values, after: Values | None = None) -> int:
    """Whether a walk over the term, left to right and no further than needed, meets nothing undefined."""
    try:
        _walk(node, scope, now, {}, after)
    except _Undefined:
        return 0
    return 1


def owes(action: Action, arguments: tuple[int, ...], scope: Sized, now: Values) -> int:
    """Whether the guards, and under them what prunes a search and what is assigned, are defined in a state."""
    env = dict(zip(action.parameters, arguments, strict=True))
    try:
        if not _walk(action.tested, scope, now, env, None):
            return 1
        _walk(conjunction(*action.search_only), scope, now, env, None)
        for assignment in action.assignments:
            for elements in product(*(range(span(v.sort, scope)) for v in assignment.loops)):
                inner = {**env, **dict(zip(assignment.loops, elements, strict=True))}
                for part in (*assignment.keys, *(() if assignment.value is None else (assignment.value,))):
                    _walk(part, scope, now, inner, None)
    except _Undefined:
        return 0
    return 1


def _walk(  # noqa: C901, PLR0912 - one case per operator
    node: Node, scope: Sized, now: Values, env: Mapping[Variable, int], after: Values | None,
) -> int:
    """The value of a term whose parts are defined as far as they matter."""
    def go(arg: Node) -> int:
        return _walk(arg, scope, now, env, after)

    match node.op:
        case "and":
            return int(all(go(arg) for arg in node.args))
        case "or":
            return int(any(go(arg) for arg in node.args))
        case "implies":
            return int(not go(node.args[0]) or bool(go(node.args[1])))
        case "ite":
            return go(node.args[1] if go(node.args[0]) else node.args[2])
        case "forall" | "exists" | "setof":
            variables = (node.payload,) if node.op == "setof" else node.payload
            for elements in product(*(range(span(v.sort, scope)) for v in variables)):
                _walk(node.args[0], scope, now, {**env, **dict(zip(variables, elements, strict=True))}, after)
        case "sub":
            if go(node.args[1]) > go(node.args[0]):
                raise _Undefined
        case "read" | "rigid":
            for key in node.args:
                if go(key) >= scope.size(key.sort) and key.sort.kind == NAT:
                    raise _Undefined
        case _:
            for arg in node.args:
                go(arg)
    return value(node, scope, now, env, after)
