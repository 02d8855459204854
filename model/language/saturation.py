"""Which comparisons saturation keeps.

In a scope the greatest value of a saturating sort stands for itself and everything above it. So a term has an exact
value, or only a lower bound of one. "Less than 3" is decided by the bound 4; "equal to 4" is not, and neither is one
bound beside another. A formula is read with three values: surely true, surely false, not kept. Where everything that
a search asks is kept, its states stand for the states without saturation, step by step, and its verdicts are theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from model.language.actions import Action
from model.language.nodes import (
    BOOL,
    BOOLEAN,
    TRUE,
    Node,
    SortInfo,
    conjunction,
    const,
    disjunction,
    implication,
    make,
    negation,
    quantified,
)
from model.language.scope import Scope


@cache
def bounded(node: Node) -> bool:
    """Whether a node depends on a term of a saturating sort."""
    return node.sort.saturates or any(map(bounded, node.args))


class Kept:
    """Formulas about a scope's states that say whether saturation keeps what a term says there."""

    def __init__(self, scope: Scope) -> None:
        """Read the sizes of the scope."""
        self._scope = scope
        self._memo: dict[tuple[str, Node], Node] = {}

    def decided(self, formula: Node) -> Node:
        """The formula is surely true or surely false."""
        if not bounded(formula):
            return TRUE
        return disjunction(self._surely(formula), self._surely_not(formula))

    def step(self, action: Action) -> Node:
        """An action surely happens or surely does not, and if it happens, it surely assigns what it assigns."""
        parts = [self.decided(action.tested), *map(self.decided, action.search_only)]
        for assignment in action.assignments:
            known = [self._certain(key) for key in assignment.keys]
            if assignment.value is not None:
                known.append(self._assigned(assignment.value))
            parts.append(implication(action.tested, quantified("forall", assignment.loops, conjunction(*known))))
        return conjunction(*parts)

    def start(self, initial: Node) -> bool:
        """Whether no initial state is missed: what saturates is compared with smaller numbers only."""
        if initial.op in ("lt", "le", "eq") and initial.args[0].sort.saturates:
            sides = [self._number(arg) for arg in initial.args]
            return any(number is not None and number < self._top(initial.args[0].sort).payload for number in sides)
        return not bounded(initial) or (initial.sort.kind == BOOL and all(map(self.start, initial.args)))

    def _number(self, node: Node) -> int | None:
        """The number that a constant means here."""
        if node.op == "rigid" and not node.args:
            return self._scope.rigid(node.payload, ())
        return node.payload if node.op == "const" else None

    def _top(self, sort: SortInfo) -> Node:
        return const(sort, self._scope.size(sort) - 1)

    def _assigned(self, value: Node) -> Node:
        """The value is kept, or surely so great that it saturates."""
        if not value.sort.saturates:
            return self._certain(value)
        great = make("le", BOOLEAN, self._top(value.sort), value)
        return conjunction(self._bound(value), disjunction(self._exact(value), great))

    def _certain(self, node: Node) -> Node:
        """The term has the value that it seems to have."""
        if not bounded(node):
            return TRUE
        if node.sort.kind == BOOL:
            return self.decided(node)
        if node.sort.saturates:
            return conjunction(self._bound(node), self._exact(node))
        if node.op == "ite":
            return self._branches(node, self._certain)
        if node.op == "setof":
            return quantified("forall", (node.payload,), self.decided(node.args[0]))
        return conjunction(*map(self._certain, node.args))

    def _branches(self, node: Node, say: Callable[[Node], Node]) -> Node:
        condition, then, otherwise = node.args
        return conjunction(self.decided(condition), implication(condition, say(then)),
                           implication(negation(condition), say(otherwise)))

    def _exact(self, node: Node) -> Node:
        """A number that is no mere bound."""
        match node.op:
            case "read" | "var":
                return make("lt", BOOLEAN, node, self._top(node.sort))
            case "add" | "sub":
                return conjunction(*map(self._exact, node.args))
            case "ite":
                condition, then, otherwise = node.args
                return conjunction(implication(condition, self._exact(then)),
                                   implication(negation(condition), self._exact(otherwise)))
        return TRUE

    def _bound(self, node: Node) -> Node:
        """A number that is surely at least what it seems to be."""
        match node.op:
            case "read" | "rigid":
                return conjunction(*map(self._certain, node.args))
            case "add":
                return conjunction(*map(self._bound, node.args))
            case "sub":
                return conjunction(*map(self._bound, node.args), self._exact(node.args[1]))
            case "ite":
                return self._branches(node, self._bound)
        return TRUE

    def _surely(self, node: Node) -> Node:
        return self._remembered("surely", node)

    def _surely_not(self, node: Node) -> Node:
        return self._remembered("surely not", node)

    def _remembered(self, which: str, node: Node) -> Node:
        key = which, node
        if key not in self._memo:
            if not bounded(node):
                self._memo[key] = node if which == "surely" else negation(node)
            else:
                self._memo[key] = self._true(node) if which == "surely" else self._false(node)
        return self._memo[key]

    def _true(self, node: Node) -> Node:  # noqa: PLR0911 - one case per operator
        args = node.args
        match node.op:
            case "not":
                return self._surely_not(args[0])
            case "and":
                return conjunction(*map(self._surely, args))
            case "or":
                return disjunction(*map(self._surely, args))
            case "implies":
                return disjunction(self._surely_not(args[0]), self._surely(args[1]))
            case "iff":
                return disjunction(conjunction(*map(self._surely, args)), conjunction(*map(self._surely_not, args)))
            case "forall" | "exists":
                return quantified(node.op, node.payload, self._surely(args[0]))
            case "lt" | "le" if args[0].sort.saturates:
                return conjunction(self._bound(args[0]), self._bound(args[1]), node, self._exact(args[0]))
        return conjunction(node, *map(self._certain, args))

    def _false(self, node: Node) -> Node:  # noqa: PLR0911 - one case per operator
        args = node.args
        match node.op:
            case "not":
                return self._surely(args[0])
            case "and":
                return disjunction(*map(self._surely_not, args))
            case "or":
                return conjunction(*map(self._surely_not, args))
            case "implies":
                return conjunction(self._surely(args[0]), self._surely_not(args[1]))
            case "iff":
                first, second = args
                return disjunction(conjunction(self._surely(first), self._surely_not(second)),
                                   conjunction(self._surely_not(first), self._surely(second)))
            case "forall" | "exists":
                dual = {"forall": "exists", "exists": "forall"}[node.op]
                return quantified(dual, node.payload, self._surely_not(args[0]))
            case "lt" | "le" if args[0].sort.saturates:
                return conjunction(self._bound(args[0]), self._bound(args[1]), negation(node), self._exact(args[1]))
            case "eq" if args[0].sort.saturates:
                return disjunction(*(self._true(make("lt", BOOLEAN, *pair)) for pair in (args, args[::-1])))
        return conjunction(negation(node), *map(self._certain, args))

