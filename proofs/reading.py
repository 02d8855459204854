"""The Z3 reading: terms of the specification language as Z3 expressions, without bounds or over a few named elements.

A state is read through a function (name, keys) -> expression. The state after an action is such a function too: it asks
the assignments first and the state before last, so there are no primed relations and no frame axioms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import z3

from model.language import Action, Concept, text
from model.language.nodes import TRUE, Node, SortInfo, Variable
from model.language.tracing import Assignment, VariableInfo
from proofs import terms

Expr = Any  # a z3.ExprRef; z3 publishes no types


class Called(NamedTuple):
    """What a formula is for people: "premise leases_fit", "guard grant 1" with the guard as it is written."""

    kind: str
    name: str
    text: str = ""


Reader = Callable[[str, Sequence[Expr]], Expr]
Env = Mapping[Variable, Expr]


class Reading:
    """What both readings share: the walk over a term. Subclasses say what sorts, elements and quantifiers are."""

    def __init__(self, concept: Concept) -> None:
        """Read a concept; the context of Z3 is the main one."""
        self.concept = concept
        self.context = z3.main_ctx()
        self._fresh = 0
        self._called: dict[int, tuple[Called, Expr]] = {}  # by the identity of the formula, which is held with it

    # -- names for people --------------------------------------------------------------------------------------------
    def called(self, formula: Expr, kind: str, name: str, text: str = "") -> Expr:
        """Return the formula, which has this name from now on; one that has a name keeps it."""
        self._called.setdefault(formula.get_id(), (Called(kind, name, text), formula))
        return formula

    def name_of(self, formula: Expr) -> Called | None:
        """Say what a formula of an obligation is called, if it has a name."""
        found = self._called.get(formula.get_id())
        return None if found is None else found[0]

    # -- for subclasses ----------------------------------------------------------------------------------------------
    def sort(self, info: SortInfo) -> Any:
        """Z3 sort of the values of a sort."""
        raise NotImplementedError

    def constant(self, info: SortInfo, number: int) -> Expr:
        """Value by its number, as in `nodes.const`."""
        raise NotImplementedError

    def domain(self, info: SortInfo, value: Expr) -> Expr:
        """Formula that says that the expression is a value of the sort."""
        raise NotImplementedError

    def quantifier(self, op: str, variables: Sequence[Variable], body: Callable[[Env], Expr]) -> Expr:
        """Forall or exists over all elements of the variables' sorts."""
        raise NotImplementedError

    def setof(self, variable: Variable, body: Callable[[Env], Expr]) -> Expr:
        """Set of the elements that satisfy the body."""
        raise NotImplementedError

    def member(self, collection: Expr, element: Expr) -> Expr:
        """Formula that says that the element is in the set."""
        raise NotImplementedError

    def changed(self, collection: Expr, element: Expr, present: bool) -> Expr:
        """Set with or without the element."""
        raise NotImplementedError

    def some(self, info: SortInfo, element: Expr) -> Expr:
        """Maybe (of that sort) that holds the element."""
        raise NotImplementedError

    def state(self, name: str) -> Reader:
        """Fresh arbitrary state; its variables carry the name as a prefix."""
        raise NotImplementedError

    def well_formed(self, name: str) -> list[Expr]:
        """Formulas that say that the state of that name has values of its sorts only."""
        raise NotImplementedError

    def rigid(self, info: VariableInfo, keys: Sequence[Expr]) -> Expr:
        """Value of a constant or rigid function."""
        raise NotImplementedError

    # -- the walk ----------------------------------------------------------------------------------------------------
    def formula(self, node: Node, state: Reader, env: Env | None = None, after: Reader | None = None) -> Expr:
        """Expression of a term in a state, under values of its free variables; `after` is the state after a step."""
        return self._read(node, state, after, env or {}, {})

    def _read(
        self, node: Node, state: Reader, after: Reader | None, env: Env, memo: dict[Node, Expr],
    ) -> Expr:
        if node in memo:
            return memo[node]

        def under(bound: Env) -> Expr:
            return self._read(node.args[0], state, after, {**env, **bound}, {})

        match node.op:
            case "forall" | "exists":
                return self.quantifier(node.op, node.payload, under)
            case "setof":
                return self.setof(node.payload, under)
        args = [self._read(arg, state, after, env, memo) for arg in node.args]
        memo[node] = result = self._combine(node, args, state, after, env)
        return result

    def _combine(  # noqa: C901, PLR0911, PLR0912 - one case per operator
        self, node: Node, args: list[Expr], state: Reader, after: Reader | None, env: Env,
    ) -> Expr:
        match node.op:
            case "const":
                return self.constant(node.sort, node.payload)
            case "var":
                return env[node.payload]
            case "read":
                phase, name = node.payload
                return (after if phase == "after" and after is not None else state)(name, args)
            case "rigid":
                return self.rigid(self.concept.variables[node.payload], args)
            case "not":
                return terms.negation(args[0])
            case "and":
                return terms.conjunction(args, self.context)
            case "or":
                return terms.disjunction(args, self.context)
            case "implies":
                return terms.implication(args[0], args[1])
            case "iff" | "eq":
                return terms.equality(args[0], args[1])
            case "lt":
                return terms.less(args[0], args[1])
            case "le":
                return terms.at_most(args[0], args[1])
            case "add":
                return terms.total(args[0], args[1])
            case "sub":
                nothing = terms.number(0, self.context)
                return terms.choice(terms.at_most(args[1], args[0]), terms.difference(args[0], args[1]), nothing)
            case "ite":
                return terms.choice(args[0], args[1], args[2])
            case "has":
                return self.member(args[0], args[1])
            case "plus" | "minus":
                return self.changed(args[0], args[1], node.op == "plus")
            case "some":
                return self.some(node.sort, args[0])
            case "holds":
                return terms.equality(args[0], self.some(node.args[0].sort, args[1]))
            case "absent":
                return terms.equality(args[0], self.constant(node.args[0].sort, 0))
            case "inside":
                return self.domain(node.args[0].sort, args[0])
        raise AssertionError(node.op)

    # -- steps -------------------------------------------------------------------------------------------------------
    def arguments(self, action: Action) -> dict[Variable, Expr]:
        """Fresh constants for the parameters of an action."""
        return {v: self.fresh(v.name, v.sort) for v in action.parameters}

    def fresh(self, name: str, info: SortInfo) -> Expr:
        """Make a constant that nothing else uses: its number is its own, whatever the name."""
        return z3.Const(f"fresh {self._number_of_symbol()} {name}", self.sort(info))

    def _number_of_symbol(self) -> int:
        """Count the symbols that this reading has made."""
        self._fresh += 1
        return self._fresh

    def after(self, action: Action, state: Reader, env: Env) -> Reader:
        """State after the action: later assignments of a cell win, what is not assigned keeps its value.

        What one step forgets has nothing to do with what another forgets, of the same action or not.
        """
        step = self._number_of_symbol()
        written: dict[str, list[tuple[Assignment, str]]] = {}
        for number, assignment in enumerate(action.assignments):
            written.setdefault(assignment.variable, []).append((assignment, f"{step} {number}"))

        def read(name: str, keys: Sequence[Expr]) -> Expr:
            result = state(name, keys)
            for assignment, place in written.get(name, ()):
                result = self._assigned(assignment, place, keys, result, state, env)
            return result

        return read

    def _assigned(
        self, a: Assignment, place: str, keys: Sequence[Expr], before: Expr, state: Reader, env: Env,
    ) -> Expr:
        bound: dict[Variable, Expr] = dict(env)
        hits = []
        for pattern, key in zip(a.keys, keys, strict=True):
            if pattern.op == "var" and pattern.payload in a.loops and pattern.payload not in bound:
                bound[pattern.payload] = key
        for pattern, key in zip(a.keys, keys, strict=True):
            if not (pattern.op == "var" and bound.get(pattern.payload) is key):
                hits.append(terms.equality(self.formula(pattern, state, bound), key))
        new = (self.forgotten(a, keys, place) if a.value is None
               else self.assigned(a.value, self.formula(a.value, state, bound)))
        return terms.choice(terms.conjunction(hits, self.context), new, before) if hits else new

    def assigned(self, node: Node, value: Expr) -> Expr:  # noqa: ARG002 - bounded readings look at the sort
        """What a cell takes when a term of that value is assigned to it."""
        return value

    def guards(self, action: Action, state: Reader, env: Env) -> list[Expr]:
        """Formulas that say together that the action can happen, and leads to a state of this reading.

        What only prunes a search is left out: RocketMQ does not test it, so no proof may rest on it.
        """
        parts = action.tested.args if action.tested.op == "and" else (action.tested,)
        return [self.called(self.formula(part, state, env), "guard", f"{action.name} {number}", text.formula(part))
                for number, part in enumerate(parts, 1) if part is not TRUE]

    def enabled(self, action: Action, state: Reader, env: Env) -> Expr:
        """Formula that says all of it."""
        return terms.conjunction(self.guards(action, state, env), self.context)

    def forgotten(self, assignment: Assignment, keys: Sequence[Expr], place: str) -> Expr:
        """Arbitrary value of a forgotten cell; place -- of the assignment among all steps that were read."""
        raise NotImplementedError
