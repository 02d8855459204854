"""What a search checks in every state: properties, step properties as what each action does, and well-definedness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from model.explorer.expand import Expander
from model.language.defined import obligations
from model.language.ground import Ground
from model.language.instantiate import Instance, Instantiation
from model.language.properties import LEADS_TO, SOMETIMES, STEP, Property
from model.language.scalar import compiled
from model.language.tracing import names_read

WELL_DEFINED = "well_defined"


@dataclass(frozen=True, slots=True)
class Check:
    """A formula over one state.

    term -- what must hold in every state (of a `sometimes` property: its negation). reach -- whether it is one.
    parts -- for what is said about actions: the same, one instance at a time.
    """

    name: str
    term: Ground
    reach: bool = False
    parts: tuple[tuple[Instance, Ground], ...] = ()

    def blame(self, state: int) -> Instance | None:
        """The first instance that breaks the check in a state."""
        return next((instance for instance, term in self.parts if not compiled(term)(state)), None)


def checks(ground: Instantiation, expander: Expander, properties: Sequence[Property]) -> list[Check]:
    """All checks of a search; raises ValueError for a property of another concept."""
    for wanted in properties:
        foreign = (names_read(wanted.condition) | names_read(wanted.when)) - set(ground.scope.concept.variables)
        if foreign:
            raise ValueError(f"{wanted.name} is about {min(foreign)}, which {ground.scope.concept.name} does not have; "
                             f"search a scope of {wanted.concept.name}")
    made = [_check(ground, expander, p) for p in properties if p.kind != LEADS_TO]
    owed = _over(expander, WELL_DEFINED, lambda i: ground.term(
        obligations(i.action), dict(zip(i.action.parameters, i.arguments, strict=True))))
    return [check for check in (*made, owed) if check.term is not ground.terms.true]


def _check(ground: Instantiation, expander: Expander, wanted: Property) -> Check:
    terms = ground.terms
    if wanted.kind == STEP:
        return _over(expander, wanted.name, lambda i: terms.disjoin(
            (terms.negate(i.guard), i.cut, ground.term(wanted.condition, None, i.effect))))
    condition = ground.term(wanted.condition)
    if wanted.kind == SOMETIMES:
        return Check(wanted.name, expander.tables.rewrite(terms.negate(condition)), reach=True)
    return Check(wanted.name, expander.tables.rewrite(condition))


def _over(expander: Expander, name: str, term: Callable[[Instance], Ground]) -> Check:
    parts = tuple((instance, made) for instance in expander.instances
                  if (made := term(instance)) is not expander.ground.terms.true)
    joined = expander.ground.terms.conjoin(made for _, made in parts)
    return Check(name, expander.tables.rewrite(joined), parts=parts)
