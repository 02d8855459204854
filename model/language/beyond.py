"""What a formula says whatever numbers lie beyond a scope.

A scope has a greatest number, the naturals have none: "some number is greater" is false at the end of every scope, and
true. So what ranges over naturals is sure only if the numbers beyond say the same. They are tried one after the other
up to a number that is greater than whatever the formula compares them with. A table has no cell there: what is read of
one is sure only if it is known what all of its cells beyond hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from math import prod

from model.language.actions import Action
from model.language.defined import defined
from model.language.nodes import (
    BOOL,
    FALSE,
    NAT,
    TRUE,
    Node,
    Variable,
    conjunction,
    const,
    disjunction,
    negation,
    quantified,
    rebuild,
    substitute,
)
from model.language.scope import Scope
from model.language.state import Concept
from model.language.tracing import Assignment

MOST = 4_096  # choices of numbers for one quantifier; what would need more is not sure


def endless(variable: Variable) -> bool:
    """Whether a variable ranges over numbers of which a scope has some; of ages, the greatest stands for the others."""
    return variable.sort.kind == NAT and not variable.sort.saturates


@cache
def ranges(node: Node) -> bool:
    """Whether a formula ranges over such numbers."""
    own = node.op in ("forall", "exists") and any(map(endless, node.payload))
    return own or any(map(ranges, node.args))


def sees_the_end(concept: Concept) -> bool:
    """Whether the start or an action ranges over such numbers."""
    terms = (node for action in concept.actions.values() for one in action.assignments for node in _terms(one))
    return ranges(concept.initial) or any(ranges(action.guard) for action in concept.actions.values()) or any(
        map(ranges, terms))


class Beyond:
    """Formulas about a scope's states that say whether a formula is sure there."""

    def __init__(self, scope: Scope, tails: Mapping[str, int]) -> None:
        """Read the sizes of the scope; tails -- of tables of which it is known what their cells beyond hold: that."""
        self._scope, self._tails = scope, tails
        self._possible: dict[str, tuple[Node, ...]] = {}

    def surely(self, node: Node, value: bool) -> Node:
        """The formula has this truth value, whatever numbers lie beyond."""
        if not ranges(node):
            return node if value else negation(node)
        if node.op in ("forall", "exists"):
            return self._quantified(node, value)
        return self._joined(node, value)

    def _joined(self, node: Node, value: bool) -> Node:
        """The same of a connective; of others that contain a quantifier nothing is sure."""
        match node.op:
            case "not":
                return self.surely(node.args[0], not value)
            case "and" | "or":
                join = conjunction if (node.op == "and") == value else disjunction
                return join(*(self.surely(arg, value) for arg in node.args))
            case "implies":
                return self.surely(disjunction(negation(node.args[0]), node.args[1]), value)
            case "iff":
                pairs = ((True, value), (False, not value))
                return disjunction(*(conjunction(*map(self.surely, node.args, pair)) for pair in pairs))
        return FALSE

    def step(self, action: Action) -> Node:
        """The action surely may happen, and surely assigns what it assigns."""
        values = (quantified("forall", one.loops, conjunction(*map(self._decided, _terms(one))))
                  for one in action.assignments)
        return conjunction(self.surely(action.tested, True), *values)

    def _decided(self, node: Node) -> Node:
        """The term surely has the value that it seems to have."""
        if not ranges(node):
            return TRUE
        if node.sort.kind == BOOL:
            return disjunction(self.surely(node, True), self.surely(node, False))
        if node.op == "setof":
            return quantified("forall", (node.payload,), self._decided(node.args[0]))
        return conjunction(*map(self._decided, node.args))

    def _quantified(self, node: Node, value: bool) -> Node:
        """One number that shows it is enough, or all are asked, those beyond, too."""
        inside = self.surely(node.args[0], value)
        if (node.op == "exists") == value:
            return quantified("exists", node.payload, inside)
        return conjunction(quantified("forall", node.payload, inside), *self._outside(node, value))

    def possible(self, action: Action) -> tuple[Node, ...]:
        """For each choice of numbers of which one lies beyond: that some instance of the action may happen with it."""
        if action.name not in self._possible:
            self._possible[action.name] = tuple(self._each_possible(action))
        return self._possible[action.name]

    def _each_possible(self, action: Action) -> Iterator[Node]:
        numbers = [variable for variable in action.parameters if endless(variable)]
        rest = tuple(variable for variable in action.parameters if variable not in numbers)
        if self._many(numbers, action.tested):
            yield TRUE
            return
        for chosen in self._beyond(numbers, action.tested):
            one = self._known(substitute(action.tested, chosen))
            may = disjunction(negation(defined(one)), negation(self.surely(one, False)))
            yield quantified("exists", rest, may)

    def _known(self, node: Node) -> Node:
        """The same with what the cells beyond hold."""
        if node.op == "read" and node.payload[1] in self._tails and any(map(self._is_beyond, node.args)):
            return const(node.sort, self._tails[node.payload[1]])
        return rebuild(node, *map(self._known, node.args)) if node.args else node

    def _is_beyond(self, key: Node) -> bool:
        return key.op == "const" and key.sort.kind == NAT and key.payload >= self._scope.size(key.sort)

    def _outside(self, node: Node, value: bool) -> Iterator[Node]:
        """Says of each choice of numbers of which one lies beyond that it has the same value."""
        numbers = [variable for variable in node.payload if endless(variable)]
        rest = tuple(variable for variable in node.payload if variable not in numbers)
        if self._many(numbers, node.args[0]):
            yield FALSE
            return
        for chosen in self._beyond(numbers, node.args[0]):
            one = self._known(substitute(node.args[0], chosen))
            yield quantified("forall", rest, conjunction(defined(one), self.surely(one, value)))

    def _many(self, numbers: list[Variable], body: Node) -> bool:
        return prod(self._horizon(variable, body) for variable in numbers) > MOST

    def _beyond(self, numbers: list[Variable], body: Node) -> Iterator[dict[Variable, Node]]:
        """Choices of numbers, one of them beyond the scope."""
        for chosen in product(*(range(self._horizon(variable, body)) for variable in numbers)):
            if any(number >= self._scope.size(v.sort) for v, number in zip(numbers, chosen, strict=True)):
                yield {v: const(v.sort, number) for v, number in zip(numbers, chosen, strict=True)}

    def _horizon(self, variable: Variable, body: Node) -> int:
        """A number that is greater than any sum of the body: from there on all numbers are compared alike."""
        return self._scope.size(variable.sort) + self._reach(body) + 1

    def _reach(self, node: Node) -> int:
        """The sum of what the numbers of a formula may be."""
        own = 0
        if node.sort.kind == NAT:
            match node.op:
                case "const":
                    own = node.payload
                case "rigid":
                    own = max(self._scope.tables[node.payload])
                case "read" | "var":
                    own = self._scope.size(node.sort) - 1
        return own + sum(map(self._reach, node.args))


def _terms(assignment: Assignment) -> tuple[Node, ...]:
    return assignment.keys if assignment.value is None else (*assignment.keys, assignment.value)
