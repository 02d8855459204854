"""Liveness without bounds: what a ranking owes, so that its leads_to property holds of every fair run.

The rule. While the goal is waited for (the property has demanded it, and it was not reached since),

* starts, waits: `pending` is true at first, and every action keeps it, or reaches the goal;
* helps: some helper's condition is true, for some elements;
* enables: a helper's action can happen, whichever promises are kept, as long as its condition is true;
* rises: no action makes the measure greater;
* falls: a helper's own action makes it smaller;
* stays: a helper's condition stays true, whatever happens, until the measure is smaller.

"Or reaches the goal" belongs to each of the last three. All of it is owed under the lemmas, which are proved by
induction, and under the premises; actions that cease (`until_quiet`) owe only "waits", for they happen finitely often.

Why that is sound. Suppose that a fair run waits for ever. Measures are compared part by part, the first that differs
decides. A part is a natural number, or a sum of them over all elements of a sort: there it counts as smaller only if no
summand is greater and one is smaller. A sort has finitely many elements in every run, however many, so the sum is a
natural number, too; it need not be known, nor computed. No sequence of such tuples falls for ever. So from some state
on the measure stays, and what ceases has ceased. There a helper helps, with some elements; it goes on to, and its
action can always happen. The action is fair and its arguments do not change, so at some time it happens, and the
measure falls: a contradiction.

A strongly fair action that cannot always happen has a `way` of its own: another measure, with the same rule, whose goal
is that the action can happen. It may rise where the action can. So the action can happen again and again, and happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from model.language import Property
from model.language.actions import Action
from model.language.defined import defined
from model.language.nodes import BOOL, TRUE, Node, Variable, conjunction, disjunction, negation, quantified, substitute
from model.language.properties import LEADS_TO
from model.language.rankings import Help, Measure, Way
from proofs import terms
from proofs.obligations import Induction, Obligation
from proofs.reading import Env, Expr, Reader

Reached = Callable[[Reader], Expr]
"""Says of the state after a step that what is waited for is reached."""

MEANING = {
    "starts": "its ranking says something of what is pending that need not be true at first",
    "waits": "its ranking says something of what is pending that does not stay true",
    "helps": "nothing helps in some state in which the goal is waited for",
    "enables": "a helper's action cannot always happen while it helps",
    "rises": "the measure may rise",
    "falls": "a helper does not make the measure fall",
    "stays": "a helper may stop to help before its action has happened",
}
"""What a part of the rule means that is not proved."""


def owed(induction: Induction, declared: Property) -> Iterator[Obligation]:
    """Give the obligations of one property, the lemmas being true of every reachable state."""
    return Ranked(induction, declared).obligations() if declared.kind == LEADS_TO else induction.of(declared)


@dataclass(frozen=True, slots=True)
class _Level:
    """A way that is gone.

    hypotheses -- of the state before a step. reached -- what ends the way. env -- elements that are fixed.
    """

    way: Way
    hypotheses: tuple[Expr, ...]
    reached: Reached
    env: Env


class Ranked:
    """The obligations of a leads_to property with a ranking."""

    def __init__(self, induction: Induction, declared: Property) -> None:
        """Read the ranking that the concept declares for the property."""
        self.induction, self.reading, self.now = induction, induction.reading, induction.now
        self.declared, self.way = declared, declared.concept.rankings[declared.name].way
        self.lemmas = induction.states(induction.lemmas)
        self.going_on = [action for action in induction.actions if action.name not in declared.until_quiet]
        self.by_name = {action.name: action for action in self.going_on}

    def obligations(self) -> Iterator[Obligation]:
        """Give all of them: those about what is pending, then the rule."""
        env = self._elements(self.declared.parameters)
        goal = self.declared.condition
        waiting = conjunction(negation(goal), self.way.pending)
        yield from self._defined(conjunction(defined(self.declared.when), defined(goal)), self._inside(env), env)
        asked = (*self._inside(env), self._read(conjunction(self.declared.when, negation(goal)), env))
        yield self._owes("starts", "", asked, self._read(self.way.pending, env))
        before = (*self._inside(env), self._read(waiting, env))
        for action in self.induction.actions:
            hypotheses, after = self._step(action)
            stays = self.reading.formula(disjunction(goal, self.way.pending), after, env)
            yield self._owes("waits", action.name, (*before, *hypotheses), stays)
        yield from self._level(_Level(self.way, before, lambda after: self.reading.formula(goal, after, env), env))

    def _level(self, level: _Level) -> Iterator[Obligation]:
        yield from self._defined(self._terms(level.way), level.hypotheses, level.env)
        someone = disjunction(*(quantified("exists", one.elements, one.when) for one in level.way.helpers))
        yield self._owes("helps", "", level.hypotheses, self._read(someone, level.env))
        helping = [(one, {**level.env, **self._elements(one.elements)}) for one in level.way.helpers]
        for action in self.going_on:
            step, after = self._step(action)
            yield self._owes("rises", action.name, (*level.hypotheses, *step), self._either(
                level.reached(after), self._at_most(level, after)))
            for one, env in helping:
                yield self._owes("stays", action.name, (*self._helps(level, one, env), *step), self._either(
                    self._progress(level, after), self.reading.formula(one.when, after, env)))
        for one, env in helping:
            if not self._fair(one):
                yield self._owes("falls", one.action, (), terms.truth(False, self.reading.context))
            elif one.action in self.by_name:
                yield from self._helper(level, one, env)

    def _fair(self, one: Help) -> bool:
        """Whether no fair run puts the helper's action off for ever; a way needs strong fairness."""
        declared = self.declared
        fair = declared.strongly_fair if one.way else (*declared.fair, *declared.strongly_fair)
        ceases = {*declared.until_quiet, *(name for premise in declared.given for name in premise.never)}
        return one.action in fair and one.action not in ceases

    def _helper(self, level: _Level, one: Help, env: Env) -> Iterator[Obligation]:
        """Its action makes the measure fall, and can happen, now or, by its own way, again and again."""
        action, helps = self.by_name[one.action], self._helps(level, one, env)
        arguments = {v: self._read(node, env) for v, node in zip(action.parameters, one.arguments, strict=True)}
        after = self.reading.after(action, self.now, arguments)
        possible = self.reading.enabled(action, self.now, arguments)
        yield self._owes("falls", action.name, (*helps, possible), self._progress(level, after))
        yield from self._defined(conjunction(*map(defined, one.arguments)), helps, env)
        able = [*self._inside(arguments), *([self._whole(one, arguments)] if one.way is None else [])]
        yield self._owes("enables", action.name, helps, terms.conjunction(able, self.reading.context))
        if one.way is not None:
            yield from self._enabled_at_last(level, one, env)

    def _whole(self, one: Help, arguments: Env) -> Expr:
        """Its action can happen, whichever promises are kept."""
        return self.reading.enabled(self.induction.concept.actions[one.action], self.now, arguments)

    def _enabled_at_last(self, level: _Level, one: Help, env: Env) -> Iterator[Obligation]:
        """What its own way owes."""
        assert one.way is not None  # noqa: S101 - narrows for mypy
        action, helps = self.induction.concept.actions[one.action], self._helps(level, one, env)
        tested = substitute(action.tested, dict(zip(action.parameters, one.arguments, strict=True)))

        def reached(then: Reader) -> Expr:
            return self._either(self._progress(level, then), self.reading.formula(tested, then, env))

        waiting = (*helps, self._read(negation(tested), env))
        yield from self._level(_Level(one.way, waiting, reached, env))

    def _progress(self, level: _Level, after: Reader) -> Expr:
        return self._either(level.reached(after), self._less(level, after))

    # -- measures ----------------------------------------------------------------------------------------------------
    def _less(self, level: _Level, after: Reader) -> Expr:
        """The measure is smaller after the step: some part is, and none before it is greater."""
        return self._compared(level, after, terms.truth(False, self.reading.context))

    def _at_most(self, level: _Level, after: Reader) -> Expr:
        """The measure is not greater after the step."""
        return self._compared(level, after, terms.truth(True, self.reading.context))

    def _compared(self, level: _Level, after: Reader, otherwise: Expr) -> Expr:
        result = otherwise
        for part in reversed(level.way.measure):
            not_greater, less = self._part(part, level.env, after)
            result = terms.conjunction(
                [not_greater, self._either(less, result)], self.reading.context)
        return result

    def _part(self, part: Measure, env: Env, after: Reader) -> tuple[Expr, Expr]:
        """Whether no summand is greater after the step; whether some is smaller."""
        def before_and_after(bound: Env) -> tuple[Expr, Expr]:
            return self._read(part.term, {**env, **bound}), self.reading.formula(part.term, after, {**env, **bound})

        def not_greater(bound: Env) -> Expr:
            before, then = before_and_after(bound)
            return terms.implication(then, before) if part.term.sort.kind == BOOL else terms.at_most(then, before)

        def less(bound: Env) -> Expr:
            before, then = before_and_after(bound)
            if part.term.sort.kind == BOOL:
                return terms.conjunction([before, terms.negation(then)], self.reading.context)
            return terms.less(then, before)

        if not part.variables:
            return not_greater({}), less({})
        return (self.reading.quantifier("forall", part.variables, not_greater),
                self.reading.quantifier("exists", part.variables, less))

    # -- small parts -------------------------------------------------------------------------------------------------
    def _terms(self, way: Way) -> Node:
        """Says that the terms of a way mean something."""
        parts = (quantified("forall", part.variables, defined(part.term)) for part in way.measure)
        helps = (quantified("forall", one.elements, defined(one.when)) for one in way.helpers)
        return conjunction(defined(way.pending), *parts, *helps)

    def _helps(self, level: _Level, one: Help, env: Env) -> tuple[Expr, ...]:
        own = {variable: env[variable] for variable in one.elements}
        return (*level.hypotheses, *self._inside(own), self._read(one.when, env))

    def _step(self, action: Action) -> tuple[tuple[Expr, ...], Reader]:
        env = self.reading.arguments(action)
        possible = self.reading.guards(action, self.now, env)
        return (*self._inside(env), *possible), self.reading.after(action, self.now, env)

    def _defined(self, sound: Node, hypotheses: Sequence[Expr], env: Env) -> Iterator[Obligation]:
        if sound is not TRUE:
            yield self._owes("defined", "", hypotheses, self._read(sound, env))

    def _owes(self, part: str, action: str, hypotheses: Sequence[Expr], goal: Expr) -> Obligation:
        return Obligation(part, self.declared.name, action, self.lemmas, tuple(hypotheses), goal)

    def _elements(self, variables: Sequence[Variable]) -> dict[Variable, Expr]:
        return {variable: self.reading.fresh(variable.name, variable.sort) for variable in variables}

    def _inside(self, env: Mapping[Variable, Expr]) -> tuple[Expr, ...]:
        return tuple(self.reading.domain(variable.sort, value) for variable, value in env.items())

    def _read(self, node: Node, env: Env) -> Expr:
        return self.reading.formula(node, self.now, env)

    def _either(self, *formulas: Expr) -> Expr:
        return terms.disjunction(formulas, self.reading.context)
