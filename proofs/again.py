"""Runs of a scope, taken again with all naturals.

A scope has a greatest number, and what ranges over numbers may see it: a run that a search finds there need not be one
without bounds. Z3 takes it again, with as many elements of the free sorts and without a greatest number: first with the
arguments of the search, then with any. What no scope shows, because it needs numbers without end, Z3 looks for by
itself, a few steps far.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import z3

from model.explorer.trace import Document
from model.language import Action, Concept, Premise
from model.language.nodes import BOOL, BOOLEAN, NAT, Node, Variable, make, quantified
from model.language.properties import Property
from model.language.scope import Scope
from model.language.tracing import VariableInfo
from proofs import terms
from proofs.few import Few
from proofs.obligations import Induction, actions
from proofs.reading import Env, Expr, Reader
from proofs.solve import Answer, Questions

STEPS = 2  # of a run that no scope shows
ELEMENTS = 2  # of a free sort in such a run
EFFORT = 50_000  # Z3's resource units for a question; runs that are some take a tenth, what takes all is none


def sees_the_greatest(concept: Concept, given: Sequence[Premise], *others: Action) -> bool:
    """Whether the start, a premise, or an action of the concept or of these ranges over naturals."""
    stated = (concept.initial, *(premise.condition for premise in given))
    return any(map(_over_naturals, stated)) or any(
        _over_naturals(node) for action in (*concept.actions.values(), *others) for node in _terms(action))


def is_run(scope: Scope, given: Sequence[Premise], found: Document, last: Action, timeout_ms: int) -> bool:
    """Whether a run takes the steps of a trace, and makes an action possible; timeout_ms bounds each question."""
    return any(_satisfiable(run.to(last), timeout_ms) for run in _taken(scope, given, found))


def is_fair_run(scope: Scope, declared: Property, found: Document, timeout_ms: int) -> bool:
    """Whether a run goes round as a trace does, from where the goal is asked for, and is fair to all arguments."""
    return any(_satisfiable(run.round(declared, found["loop"]), timeout_ms)
               for run in _taken(scope, declared.given, found))


def some_run(concept: Concept, given: Sequence[Premise], last: Action, timeout_ms: int) -> bool:
    """Whether Z3 finds a run of a few steps that makes an action possible."""
    names = [action.name for action in actions(concept, given)]
    runs = (_Again(Few(concept, ELEMENTS), given, [(name, {}) for name in chosen])
            for steps in range(STEPS + 1) for chosen in product(names, repeat=steps))
    return any(_satisfiable(run.to(last), timeout_ms) for run in runs)


def _taken(scope: Scope, given: Sequence[Premise], found: Document) -> Iterator[_Again]:
    """The run of a trace with the very arguments, then with any."""
    for exact in (True, False):
        steps = [(step["action"], step["arguments"] if exact else {}) for step in found["steps"]]
        yield _Again(Few(scope.concept, scope.sizes), given, steps, scope)


def _satisfiable(formulas: Sequence[Expr], timeout_ms: int) -> bool:
    """Whether Z3 finds a model; where it gives up, it eliminates quantifiers first."""
    answer = Questions((0,), timeout_ms, EFFORT).satisfiable((), formulas).answer
    if answer is not Answer.UNKNOWN:
        return answer is Answer.REFUTED
    context = terms.fresh_context()
    solver = z3.Then(*(z3.Tactic(name, ctx=context) for name in ("simplify", "qe", "smt"))).solver()
    terms.configure(solver, timeout=timeout_ms, rlimit=EFFORT)
    terms.assume(solver, [terms.copied(formula, context) for formula in formulas])
    return bool(solver.check() == z3.sat)


@dataclass(frozen=True, slots=True)
class _Step:
    """An action, and the arguments by parameter."""

    action: Action
    arguments: Env


class _Again:
    """The formulas of one run: its steps, and the states between them."""

    def __init__(self, reading: Few, given: Sequence[Premise], steps: Sequence[tuple[str, Mapping[str, str]]],
                 scope: Scope | None = None) -> None:
        """Take steps by name, with the arguments that are shown as texts of the scope; {}: any."""
        self.reading, self.scope = reading, scope
        induction = Induction(reading, given)
        self.actions = {action.name: action for action in induction.actions}
        self.states: list[Reader] = [induction.now]
        self.formulas: list[Expr] = [*induction.of_initial()]
        self.steps = [self._step(self.actions[name], shown) for name, shown in steps]

    def to(self, last: Action) -> list[Expr]:
        """The run, and that an action is possible at its end."""
        return [*self.formulas, *self._possible(last, self.states[-1], self.reading.arguments(last))]

    def round(self, declared: Property, loop: int) -> list[Expr]:
        """The run, that it asks for the goal, and that what begins at a step may be repeated and is fair."""
        context = self.reading.context
        asked = quantified("exists", declared.parameters, declared.when)
        rigid = [info for info in self.reading.concept.variables.values() if not info.rigid]
        return [*self.formulas, terms.disjunction([self.reading.formula(asked, one) for one in self.states], context),
                *(self._same(info, self.states[loop], self.states[-1]) for info in rigid),
                *(self._fair(declared, name, loop) for name in (*declared.fair, *declared.strongly_fair)
                  if name in self.actions)]

    def _step(self, action: Action, shown: Mapping[str, str]) -> _Step:
        state, arguments = self.states[-1], self.reading.arguments(action)
        self.formulas += self._possible(action, state, arguments)
        self.formulas += [terms.equality(value, self._value(variable, shown[variable.name]))
                          for variable, value in arguments.items() if variable.name in shown]
        self.states.append(self.reading.after(action, state, arguments))
        return _Step(action, arguments)

    def _possible(self, action: Action, state: Reader, arguments: Env) -> list[Expr]:
        inside = [self.reading.domain(variable.sort, value) for variable, value in arguments.items()]
        return [*inside, *self.reading.guards(action, state, arguments)]

    def _value(self, variable: Variable, shown: str) -> Expr:
        """The value that a trace shows so."""
        assert self.scope is not None  # noqa: S101 - narrows for mypy: what is shown is of a scope
        number = next(number for number in range(self.scope.size(variable.sort))
                      if self.scope.text(variable.sort, number) == shown)
        return self.reading.value(variable.sort, number)

    def _same(self, info: VariableInfo, before: Reader, after: Reader) -> Expr:
        """Every cell of a variable has the same value in two states."""
        keys = tuple(Variable(sort, "k") for sort in info.keys)
        places = [make("var", key.sort, payload=key) for key in keys]
        cells = [make("read", info.value, *places, payload=(phase, info.name)) for phase in ("before", "after")]
        same = quantified("forall", keys, make("iff" if info.value.kind == BOOL else "eq", BOOLEAN, *cells))
        return self.reading.formula(same, before, after=after)

    def _fair(self, declared: Property, name: str, loop: int) -> Expr:
        """Each instance of a fair action is taken in the round or cannot happen: somewhere; if strongly, anywhere."""
        action, context = self.actions[name], self.reading.context
        cannot = terms.conjunction if name in declared.strongly_fair else terms.disjunction
        states = self.states[loop:-1] or self.states[-1:]

        def fair(env: Env) -> Expr:
            taken = [terms.conjunction([terms.equality(env[v], value) for v, value in step.arguments.items()], context)
                     for step in self.steps[loop:] if step.action is action]
            idle = [terms.negation(self.reading.enabled(action, state, env)) for state in states]
            return terms.disjunction([*taken, cannot(idle, context)], context)

        return self.reading.quantifier("forall", action.parameters, fair)


def _terms(action: Action) -> Iterator[Node]:
    yield action.tested
    for assignment in action.assignments:
        yield from assignment.keys
        if assignment.value is not None:
            yield assignment.value


def _over_naturals(node: Node) -> bool:
    """Whether a formula quantifies over naturals."""
    own = node.op in ("forall", "exists") and any(variable.sort.kind == NAT for variable in node.payload)
    return own or any(map(_over_naturals, node.args))
