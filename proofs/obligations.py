"""What there is to prove: that a property is true at first, that every action keeps it, that all terms are defined.

A property is proved together with the lemmas of its concept that need no more premises than it does; those are proved
once per set of premises.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import combinations

from model.language import Action, Concept, Mutation, Premise, Property, Run
from model.language.defined import defined, obligations
from model.language.nodes import NAT, TRUE, Node, Variable, conjunction, negation
from model.language.properties import ALWAYS, LEMMA, STEP
from model.language.tracing import names_read
from proofs import terms
from proofs.reading import Env, Expr, Reader, Reading

FOLLOWS = "follows"  # the part of an obligation that replaces others if it is proved, and is none if it is not


@dataclass(frozen=True, slots=True)
class Obligation:
    """Something to prove: the hypotheses imply the goal.

    part -- "initially", "keeps", "step", "follows", "defined", "excludes", "possible" or "violates"; of a ranking
    those of `proofs.ranking`.
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
    return [kept(action, given) for name, action in concept.actions.items() if name not in excluded]


def kept(action: Action, given: Sequence[Premise]) -> Action:
    """The action under the premises: what others promise does not keep it from happening."""
    return action.keeping({premise.name for premise in given if premise.of_steps})


class Steps:
    """What a run claims: from every start that it assumes, each step can be taken, and the end breaks the property."""

    def __init__(self, reading: Reading, run: Run) -> None:
        """Read a run of the concept of the reading."""
        self.reading, self.run = reading, run
        self.declared = reading.concept.properties[run.property]
        self.state = reading.state("now")
        self.elements = {variable: reading.fresh(variable.name, variable.sort) for variable in run.elements}
        pairs = [(a, b) for a, b in combinations(run.elements, 2) if a.sort == b.sort]
        self.start = (
            *reading.well_formed("now"), self._now(reading.concept.initial),
            *(reading.domain(v.sort, element) for v, element in self.elements.items()),
            *(terms.negation(terms.equality(self.elements[a], self.elements[b])) for a, b in pairs))
        self.where = [reading.called(self._now(premise.condition), "premise", premise.name) for premise in run.where]
        self.negated = reading.called(self._now(negation(run.premise.condition)), "without", run.premise.name)

    def others(self) -> list[Expr]:
        """The other premises of the property."""
        return [self._now(premise.condition) for premise in self.declared.given if premise is not self.run.premise]

    def premise(self) -> Expr:
        """The premise itself."""
        return self._now(self.run.premise.condition)

    def obligations(self) -> Iterator[Obligation]:
        """Give what the run owes, in order."""
        assumed = (*self.start, *self.where, self.negated)
        return (Obligation(part, name, action, assumed, (), goal) for part, name, action, goal in self.goals())

    def goals(self) -> Iterator[tuple[str, str, str, Expr]]:
        """Give what must be true of the run: part, name, action, formula."""
        before = state = self.state
        for name, arguments in self.run.steps:
            action = self.reading.concept.actions[name]
            given = {v: self.reading.formula(node, self.state, self.elements)
                     for v, node in zip(action.parameters, arguments, strict=True)}
            sound = conjunction(*map(defined, arguments))
            if sound is not TRUE:
                yield "defined", self.run.name, name, self.reading.formula(sound, self.state, self.elements)
            yield from self._step(action, state, given)
            before, state = state, self.reading.after(action, state, given)
        condition = self.declared.condition
        first, last = (before, state) if self.declared.kind == STEP else (state, None)
        sound = defined(condition)
        if sound is not TRUE:
            yield "defined", self.declared.name, "", self.reading.formula(sound, first, after=last)
        yield "violates", self.declared.name, "", self.reading.formula(negation(condition), first, after=last)

    def _step(
        self, action: Action, state: Reader, given: Mapping[Variable, Expr],
    ) -> Iterator[tuple[str, str, str, Expr]]:
        for variable, value in given.items():
            if variable.sort.kind == NAT:
                yield "possible", self.run.name, action.name, self.reading.domain(variable.sort, value)
        owed = obligations(action)
        if owed is not TRUE:
            yield "defined", self.run.name, action.name, self.reading.formula(owed, state, given)
        yield "possible", self.run.name, action.name, self.reading.formula(action.tested, state, given)

    def _now(self, node: Node) -> Expr:
        return self.reading.formula(node, self.state)


class Induction:
    """Obligations of one concept under one set of premises, in one reading."""

    def __init__(self, reading: Reading, given: Sequence[Premise]) -> None:
        """Read the concept of the reading."""
        self.reading, self.concept = reading, reading.concept
        self.given = given
        self.actions = actions(self.concept, given)
        self.lemmas = support(self.concept, given)
        self.now = reading.state("now")
        premises = [reading.called(reading.formula(premise.condition, self.now), "premise", premise.name)
                    for premise in given if premise.condition is not TRUE]
        self.base = (*(reading.called(one, "naturals", "") for one in reading.well_formed("now")), *premises)
        self._known: dict[Node, Expr] = {}  # formulas about the state now

    def mutated(self, mutation: Mutation) -> Induction:
        """The same with the mutated action alone: no other obligation changes."""
        changed = copy(self)
        changed.actions = [kept(mutation.applied(self.concept.actions[action.name]), self.given)
                           for action in self.actions if action.name == mutation.action]
        return changed

    def of_lemmas(self, lemmas: Sequence[Property]) -> Iterator[Obligation]:
        """Give the obligations of some of the lemmas, all being true before a step."""
        for one in lemmas:
            yield from self._defined(one)
        yield from self.inductive(lemmas, self.lemmas)

    def of_start(self) -> Iterator[Obligation]:
        """Give the obligations that the premises and the initial condition are well defined where they are true."""
        parts = [(premise.name, premise.condition, self.base) for premise in self.given]
        for name, condition, assumed in (*parts, ("the initial condition", self.concept.initial, self._initial())):
            if (sound := defined(condition)) is not TRUE:
                yield Obligation("defined", name, "", assumed, (), self._now(sound))

    def of(self, declared: Property) -> Iterator[Obligation]:
        """Give the obligations of one property, the lemmas being true of every reachable state."""
        yield from self._defined(declared)
        if declared.kind == STEP:
            yield from self._steps(declared, "step", declared.condition)
        else:
            yield from self.inductive([declared], [*self.lemmas, declared])

    def _defined(self, declared: Property) -> Iterator[Obligation]:
        """Give the obligation that a property means something in every reachable state, and about every step."""
        sound = defined(declared.condition)
        if sound is TRUE:
            return
        if declared.kind == STEP:
            yield from self._steps(declared, "defined", sound)
            return
        own = [] if declared in self.lemmas else [declared]
        yield Obligation("defined", declared.name, "", self._assume([*self.lemmas, *own]), (), self._now(sound))

    def of_meaning(self, declared: Property) -> Iterator[Obligation]:
        """Give what is owed beside the one obligation of `at_once`."""
        yield from self._defined(declared)

    def of_initial(self) -> tuple[Expr, ...]:
        """Give formulas that say that the state is initial."""
        return self._initial()

    def breaks(self, declared: Property) -> tuple[Expr, ...]:
        """Give formulas that say that the state breaks the property, and that it means something there."""
        return self._now(negation(declared.condition)), self._now(defined(declared.condition))

    def excluding(self, declared: Property) -> Iterator[Obligation]:
        """Give the obligations that what the property excludes can never happen."""
        own = [declared] if declared.kind == ALWAYS else []
        for action in self.actions:
            if action.name in declared.excludes:
                env = self.reading.arguments(action)
                yield Obligation("excludes", declared.name, action.name, self._assume([*self.lemmas, *own]),
                                 self._inside(env), self.reading.formula(negation(action.tested), self.now, env))

    def at_once(self, declared: Property) -> Obligation:
        """Give the one obligation that replaces the others where the lemmas alone imply the property."""
        return Obligation(FOLLOWS, declared.name, "", self._assume(self.lemmas), (), self._now(declared.condition))

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
        return (*self._inside(env), *self.reading.guards(action, self.now, env))

    def _now(self, node: Node) -> Expr:
        if node not in self._known:
            self._known[node] = self.reading.formula(node, self.now)
        return self._known[node]

    def _assume(self, assumed: Sequence[Property]) -> tuple[Expr, ...]:
        called = self.reading.called
        return (*self.base, *(called(self._now(p.condition), p.kind, p.name) for p in assumed))

    def _inside(self, env: Env) -> tuple[Expr, ...]:
        return tuple(self.reading.called(self.reading.domain(variable.sort, value), "argument", variable.name)
                     for variable, value in env.items())

    def inductive(self, goals: Sequence[Property], assumed: Sequence[Property]) -> Iterator[Obligation]:
        """Give the obligations that the goals are true at first and after each step from where they are assumed."""
        yield from self.at_first(goals)
        yield from self.keeping(goals, assumed)

    def at_first(self, goals: Sequence[Property]) -> Iterator[Obligation]:
        """Give the obligations that the goals are true at first."""
        for goal in goals:
            yield Obligation("initially", goal.name, "", self._initial(), (), self._now(goal.condition))

    def keeping(self, goals: Sequence[Property], assumed: Sequence[Property]) -> Iterator[Obligation]:
        """Give the obligations that the goals are true after each step from where they are assumed."""
        hypotheses = self._assume(assumed)
        for action in self.actions:
            env = self.reading.arguments(action)
            guards = self.reading.guards(action, self.now, env)
            after = self.reading.after(action, self.now, env)
            written = {assignment.variable for assignment in action.assignments}
            for goal in goals:
                touched = not names_read(goal.condition).isdisjoint(written)
                then = self.reading.formula(goal.condition, after) if touched else self._now(goal.condition)
                yield Obligation("keeps", goal.name, action.name, hypotheses, (*self._inside(env), *guards), then)

    def _initial(self) -> tuple[Expr, ...]:
        return (*self.base, self.reading.called(self._now(self.concept.initial), "initially", ""))

    def _steps(self, declared: Property, part: str, condition: Node) -> Iterator[Obligation]:
        hypotheses = self._assume(self.lemmas)
        for action in self.actions:
            env = self.reading.arguments(action)
            guards = self.reading.guards(action, self.now, env)
            after = self.reading.after(action, self.now, env)
            yield Obligation(part, declared.name, action.name, hypotheses, (*self._inside(env), *guards),
                             self.reading.formula(condition, self.now, after=after))
