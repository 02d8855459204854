"""What a search checks in every state: properties, step properties as what each action does, and what they rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from model.explorer.expand import Expander
from model.explorer.tables import TABLE_BITS, spread
from model.explorer.trace import UNBOUNDED
from model.language.batch import Batch
from model.language.beyond import Beyond, ranges
from model.language.defined import defined, obligations
from model.language.ground import Ground
from model.language.instantiate import Instance, Instantiation
from model.language.nodes import Node, conjunction, disjunction, negation, quantified
from model.language.properties import LEADS_TO, SOMETIMES, STEP, WELL_DEFINED, Property
from model.language.saturation import Kept
from model.language.scalar import compiled
from model.language.tracing import names_read

EVERYTHING = ""  # what a doubt is about that concerns all properties
BEYOND = "*"  # … that is none: an action may happen with a number beyond the scope
UNDEFINED = "it is not well defined in a state that is reached"
UNKEPT = "it compares what saturation does not keep: give the sort more values"
UNKEPT_STEPS = "steps depend on what saturation does not keep: give the sort more values"


@dataclass(frozen=True, slots=True)
class Check:
    """A formula over one state.

    name -- of the property. term -- what must hold in every state (of a `sometimes` property: its negation). reach --
    whether it is one. parts -- for what is said about actions: the same, one instance at a time. doubt -- why the
    property (all of them, if the name is EVERYTHING) is not decided where the term is false; "" when it is violated.
    """

    name: str
    term: Ground
    reach: bool = False
    parts: tuple[tuple[Instance, Ground], ...] = ()
    doubt: str = ""

    def blame(self, state: int) -> Instance | None:
        """The first instance that breaks the check in a state."""
        return next((instance for instance, term in self.parts if not compiled(term)(state)), None)


def checks(
    ground: Instantiation, expander: Expander, properties: Sequence[Property], beyond: Beyond, *, whole: bool = True,
) -> list[Check]:
    """All checks of a search; raises ValueError for a property of another concept.

    whole -- also of what may happen beyond the scope, which decides what is said of that which is not found.
    """
    for wanted in properties:
        foreign = (names_read(wanted.condition) | names_read(wanted.when)) - set(ground.scope.concept.variables)
        if foreign:
            raise ValueError(f"{wanted.name} is about {min(foreign)}, which {ground.scope.concept.name} does not have; "
                             f"search a scope of {wanted.concept.name}")
    checking = _Checks(ground, expander, beyond)
    made = [*checking.all(properties), *(checking.of_beyond() if whole else ())]
    return [check for check in made if check.term is not ground.terms.true]


def going_on(ground: Instantiation, expander: Expander, beyond: Beyond) -> Ground:
    """That a step may be possible which the scope does not have: with a number beyond it, or one that is pruned."""
    steps = [ground.term(node) for action in expander.actions for node in beyond.possible(action)]
    for instance in expander.instances:
        arguments, action = dict(zip(instance.action.parameters, instance.arguments, strict=True)), instance.action
        if ranges(action.tested):
            steps.append(ground.term(negation(beyond.surely(action.tested, False)), arguments))
        if action.search_only:
            steps.append(ground.term(conjunction(action.tested, negation(conjunction(*action.search_only))), arguments))
    return expander.tables.rewrite(ground.terms.disjoin(steps))


class _Checks:
    """Makes the checks of one search."""

    def __init__(self, ground: Instantiation, expander: Expander, beyond: Beyond) -> None:
        self.ground, self.terms, self.expander = ground, ground.terms, expander
        self.kept, self.beyond = Kept(ground.scope), beyond

    def all(self, properties: Sequence[Property]) -> Iterator[Check]:
        """Checks of the properties, of what actions owe, and of what saturation keeps."""
        for wanted in properties:
            yield from self._property(wanted)
        owed = {action.name: obligations(action) for action in self.expander.actions}
        surely = {action.name: conjunction(self.kept.step(action), self.kept.decided(owed[action.name]))
                  for action in self.expander.actions}
        yield self._over(WELL_DEFINED, lambda i: self._of(i, owed[i.action.name]))
        yield self._over(EVERYTHING, lambda i: self._of(i, surely[i.action.name]), UNKEPT_STEPS)
        if not self.kept.start(self.ground.scope.concept.initial):
            yield Check(EVERYTHING, self.terms.false, doubt=UNKEPT_STEPS)

    def of_beyond(self) -> Iterator[Check]:
        """For each action: it may not happen with a number that lies beyond the scope."""
        for action in self.expander.actions:
            may = self.terms.disjoin(map(self.ground.term, self.beyond.possible(action)))
            yield Check(BEYOND, self.expander.tables.rewrite(self.terms.negate(may)), doubt=action.name)

    def _property(self, wanted: Property) -> Iterator[Check]:
        conditions = (wanted.condition, wanted.when) if wanted.kind == LEADS_TO else (wanted.condition,)
        sound = quantified("forall", wanted.parameters, conjunction(*map(defined, conditions)))
        kept = quantified("forall", wanted.parameters, conjunction(
            *(self.kept.decided(node) for one in conditions for node in (one, defined(one)))))
        sure = quantified("forall", wanted.parameters, self._sure(wanted))
        for node, doubt in ((sound, UNDEFINED), (kept, UNKEPT), (sure, UNBOUNDED)):
            yield self._judged(wanted, node, doubt)
        if wanted.kind == SOMETIMES:
            reached = self.ground.term(conjunction(wanted.condition, sound, kept, sure))
            yield Check(wanted.name, self.expander.tables.rewrite(self.terms.negate(reached)), reach=True)
        elif wanted.kind != LEADS_TO:
            yield self._judged(wanted, disjunction(wanted.condition, negation(conjunction(sound, kept, sure))), "")

    def _sure(self, wanted: Property) -> Node:
        """What is found does not depend on numbers beyond the scope: whether it is true, and what waits."""
        condition, when = wanted.condition, wanted.when
        parts = [disjunction(self.beyond.surely(condition, True), self.beyond.surely(condition, False))
                 ] if ranges(condition) else []
        if ranges(when):
            parts.append(disjunction(negation(when), self.beyond.surely(when, True)))
        return conjunction(*parts)

    def _judged(self, wanted: Property, node: Node, doubt: str) -> Check:
        """A formula that must hold in every state; of a step property, of every step."""
        if wanted.kind == STEP:
            return self._over(wanted.name, lambda i: self.terms.disjoin(
                (self.terms.negate(i.guard), i.cut, self.ground.term(node, None, i.effect))), doubt)
        return Check(wanted.name, self.expander.tables.rewrite(self._simple(self.ground.term(node))), doubt=doubt)

    def _of(self, instance: Instance, node: Node) -> Ground:
        return self.ground.term(node, dict(zip(instance.action.parameters, instance.arguments, strict=True)))

    def _over(self, name: str, term: Callable[[Instance], Ground], doubt: str = "") -> Check:
        parts = tuple((instance, made) for instance in self.expander.instances
                      if (made := self._simple(term(instance))) is not self.terms.true)
        joined = self.terms.conjoin(made for _, made in parts)
        return Check(name, self.expander.tables.rewrite(joined), parts=parts, doubt=doubt)

    def _simple(self, term: Ground) -> Ground:
        """The term without conjuncts that hold whatever the few bits are on which they depend."""
        parts = term.args if term.op == "and" else (term,)
        return self.terms.conjoin(part for part in parts if not self._always(part))

    def _always(self, term: Ground) -> bool:
        few = not term.support >> 64 * self.ground.layout.words and term.support.bit_count() < TABLE_BITS
        return few and bool(Batch(spread(term.support, self.ground.layout.words)).truth(term).all())
