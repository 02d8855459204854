"""Where a term is well defined: every subtraction stays at 0 or above, every index stays inside its table.

All readings are total, so an ill-defined term has a value like any other; that it never matters is an obligation of
each guard, assignment and property, proved by Z3 and asserted by the explorer (as the side conditions of Event-B, read
left to right: in `a & b` and `a.implies(b)` the second part may rely on the first).
"""

from __future__ import annotations

from collections.abc import Sequence

from model.language.actions import Action
from model.language.nodes import (
    BOOLEAN,
    FALSE,
    NAT,
    TRUE,
    Node,
    conjunction,
    disjunction,
    implication,
    make,
    negation,
    quantified,
)
from model.language.tracing import Assignment


def defined(node: Node) -> Node:
    """The formula that says that the node is well defined; TRUE when nothing can go wrong."""
    return _defined(node, {})


def _defined(node: Node, memo: dict[Node, Node]) -> Node:
    if node not in memo:
        memo[node] = _compute(node, memo)
    return memo[node]


def _compute(node: Node, memo: dict[Node, Node]) -> Node:  # noqa: PLR0911 - one case per operator
    parts = [_defined(arg, memo) for arg in node.args]
    if all(part is TRUE for part in parts) and node.op not in ("sub", "read", "rigid"):
        return TRUE
    match node.op:
        case "and":
            return _left_to_right(node.args, parts, TRUE)
        case "or":
            return _left_to_right(node.args, parts, FALSE)
        case "implies":
            return conjunction(parts[0], implication(node.args[0], parts[1]))
        case "ite":
            condition = node.args[0]
            return conjunction(parts[0], implication(condition, parts[1]),
                               implication(negation(condition), parts[2]))
        case "forall" | "exists":
            return quantified("forall", node.payload, parts[0])
        case "setof":
            return quantified("forall", (node.payload,), parts[0])
        case "sub":
            return conjunction(*parts, make("le", BOOLEAN, node.args[1], node.args[0]))
        case "read" | "rigid":
            computed = (key for key in node.args if key.sort.kind == NAT and key.op not in ("var", "read"))
            return conjunction(*parts, *(make("inside", BOOLEAN, key) for key in computed))
        case _:
            return conjunction(*parts)


def _left_to_right(args: Sequence[Node], parts: Sequence[Node], goes_on: Node) -> Node:
    """Each part must be defined if those before it did not already decide."""
    needed = []
    for i, part in enumerate(parts):
        before = conjunction(*args[:i]) if goes_on is TRUE else negation(disjunction(*args[:i]))
        needed.append(implication(before, part))
    return conjunction(*needed)


def obligations(action: Action) -> Node:
    """What the action owes, over its parameters: its guards are defined in order, and under them what it assigns.

    What only prunes a search is owed like an assignment: it may be false, and then nothing is searched, but RocketMQ
    would do the step.
    """
    tested = action.tested
    values = (quantified("forall", a.loops, conjunction(*map(defined, _assigned(a)))) for a in action.assignments)
    return conjunction(defined(tested), implication(
        tested, conjunction(defined(conjunction(*action.search_only)), *values)))


def _assigned(assignment: Assignment) -> tuple[Node, ...]:
    return assignment.keys if assignment.value is None else (*assignment.keys, assignment.value)
