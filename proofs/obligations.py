"""What there is to prove: that a property is true at first, that every action keeps it, that all terms are defined.

A property is proved together with the lemmas of its concept that need no more premises than it does; those are proved
once per set of premises.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import combinations

from model.language import Action, Concept, Mutation, Premise, Property, Run
from model.language.defined import defined, obligations
from model.language.nodes import TRUE, Node, negation
from model.language.properties import LEMMA, STEP
from proofs.reading import Expr, Reading


@dataclass(frozen=True, slots=True)
class Obligation:
    """Something to prove: the hypotheses imply the goal.

    part -- "initially", "keeps", "step", "follows", "defined", "possible" or "violates".
    action -- the action that must keep it, or "".
    invariant -- name of the property or lemma that the goal is.
    assumed -- hypotheses about the state before, the same for many obligations.
    hypotheses -- the others.
    """

    part: str
    invariant: str
    action: str
    assumed: tuple[Expr, ...] = field(repr=False)
    hypotheses: tuple[Expr, ...] = field(repr=False)
    goal: Expr = field(repr=False)

    def __str__(self) -> str:
        """As reports say it."""
        return f"{self.part} {self.invariant}" + (f" under {self.action}" if self.action else "")


def support(concept: Concept, given: Sequence[Premise]) -> list[Property]:
    """Lemmas of the concept that may be used under the premises."""
    return [p for p in concept.properties.values() if p.kind == LEMMA and set(p.given) <= set(given)]


def actions(concept: Concept, given: Sequence[Premise]) -> list[Action]:
    """Actions that happen under the premises."""
    excluded = {name for premise in given for name in premise.never}
    return [action for name, action in concept.actions.items() if name not in excluded]


def of_run(reading: Reading, run: Run) -> Iterator[Obligation]:
    """Give the obligations of a run: each step can be taken, and the last state violates the property."""
    concept, state = reading.concept, reading.state("now")
    env = {variable: reading.fresh(variable.name, variable.sort) for variable in run.elements}
    same_sort = [(a, b) for a, b in combinations(run.elements, 2) if a.sort == b.sort]
    assumed = (
        *reading.well_formed("now"), reading.formula(concept.initial, state),
        *(reading.formula(premise.condition, state) for premise in run.where),
        reading.formula(negation(run.premise.condition), state), *(env[a] != env[b] for a, b in same_sort))
    for name, arguments in run.steps:
        action = concept.actions[name]
        given = {v: reading.formula(node, state, env) for v, node in zip(action.parameters, arguments, strict=True)}
        yield Obligation("possible", run.name, name, assumed, (), reading.formula(action.guard, state, given))
        state = reading.after(action, state, given)
    broken = negation(concept.properties[run.property].condition)
    yield Obligation("violates", run.property, "", assumed, (), reading.formula(broken, state))


class Induction:
    """Obligations of one concept under one set of premises, in one reading."""

    def __init__(self, reading: Reading, given: Sequence[Premise]) -> None:
        """Read the concept of the reading."""
        self.reading, self.concept = reading, reading.concept
        self.actions = actions(self.concept, given)
        self.lemmas = support(self.concept, given)
        self.now = reading.state("now")
        premises = [reading.formula(premise.condition, self.now) for premise in given if premise.condition is not TRUE]
        self.base = (*reading.well_formed("now"), *premises)
        self._known: dict[Node, Expr] = {}  # formulas about the state now

    def mutated(self, mutation: Mutation) -> Induction:
        """The same with the mutated action alone: no other obligation changes."""
        changed = copy(self)
        changed.actions = [mutation.applied(action) for action in self.actions if action.name == mutation.action]
        return changed

    def of_lemmas(self, lemmas: Sequence[Property]) -> Iterator[Obligation]:
        """Give the obligations of some of the lemmas, all being true before a step."""
        yield from self._inductive(lemmas, self.lemmas)

    def of(self, declared: Property) -> Iterator[Obligation]:
        """Give the obligations of one property, the lemmas being true of every reachable state."""
        if declared.kind == STEP:
            yield from self._steps(declared)
        else:
            yield from self._inductive([declared], [*self.lemmas, declared])
        condition = defined(declared.condition)
        if condition is not TRUE and declared.kind != STEP:
            yield Obligation("defined", declared.name, "", self._assume(self.lemmas), (), self._now(condition))

    def at_once(self, declared: Property) -> Obligation:
        """Give the one obligation that replaces the others where the lemmas alone imply the property."""
        return Obligation("follows", declared.name, "", self._assume(self.lemmas), (), self._now(declared.condition))

    def of_actions(self) -> Iterator[Obligation]:
        """Give the obligations that guards and assignments are well defined, under the lemmas."""
        for action in self.actions:
            owed = obligations(action)
            if owed is not TRUE:
                env = self.reading.arguments(action)
                yield Obligation("defined", "well_defined", action.name, self._assume(self.lemmas), self._inside(env),
                                 self.reading.formula(owed, self.now, env))

    def states(self, assumed: Sequence[Property]) -> tuple[Expr, ...]:
        """Give formulas that say that the state has these invariants."""
        return self._assume(assumed)

    def enabled(self, action: Action) -> tuple[Expr, ...]:
        """Give formulas that say that the action can happen: satisfiable in some state, or all about it is vacuous."""
        env = self.reading.arguments(action)
        return (*self._inside(env), self.reading.enabled(action, self.now, env))

    def _now(self, node: Node) -> Expr:
        if node not in self._known:
            self._known[node] = self.reading.formula(node, self.now)
        return self._known[node]

    def _assume(self, assumed: Sequence[Property]) -> tuple[Expr, ...]:
        return (*self.base, *(self._now(p.condition) for p in assumed))

    def _inside(self, env: dict) -> tuple[Expr, ...]:  # type: ignore[type-arg]
        return tuple(self.reading.domain(variable.sort, value) for variable, value in env.items())

    def _inductive(self, goals: Sequence[Property], assumed: Sequence[Property]) -> Iterator[Obligation]:
        initial = (*self.base, self._now(self.concept.initial))
        for goal in goals:
            yield Obligation("initially", goal.name, "", initial, (), self._now(goal.condition))
        hypotheses = self._assume(assumed)
        for action in self.actions:
            env = self.reading.arguments(action)
            guard = self.reading.enabled(action, self.now, env)
            after = self.reading.after(action, self.now, env)
            for goal in goals:
                yield Obligation("keeps", goal.name, action.name, hypotheses, (*self._inside(env), guard),
                                 self.reading.formula(goal.condition, after))

    def _steps(self, declared: Property) -> Iterator[Obligation]:
        hypotheses = self._assume(self.lemmas)
        for action in self.actions:
            env = self.reading.arguments(action)
            guard = self.reading.enabled(action, self.now, env)
            after = self.reading.after(action, self.now, env)
            yield Obligation("step", declared.name, action.name, hypotheses, (*self._inside(env), guard),
                             self.reading.formula(declared.condition, self.now, after=after))
