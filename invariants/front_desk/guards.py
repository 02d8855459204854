"""The guards of a concept's actions as people read them: what each says, and why an action happens only there."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from invariants.concepts import CONCEPTS
from invariants.verdict import BadInputError, nearest
from model.language import Action, Concept, Promise, text
from model.language.nodes import negation
from model.language.tracing import PROMISED, PRUNING, TESTED, Ground
from model.scopes import SCOPES

ALL = {named.scope.concept.name: named.scope.concept for named in SCOPES}
"""Every concept of the models, by name."""
_WHY = {TESTED: "tested by", PROMISED: "promised as", PRUNING: "prunes searches"}


def guards(name: str) -> Iterator[str]:
    """The guards of a concept (Routes), or of all concepts of a module or folder (route_info), line by line.

    Raises BadInputError for a name that is neither.
    """
    for concept in _concepts(name):
        yield f"{concept.name}: {concept.sentence}"
        for action in concept.actions.values():
            yield from ("", f"  {text.heading(action)}")
            for ground, formula in grounded(action):
                yield f"    {formula}"
                case = "" if ground.by else other_case(concept, action, formula)
                yield f"        else it is {case}" if case else f"        {_WHY[ground.kind]} {ground.by}".rstrip()
        yield from _promises(concept)


def grounded(action: Action) -> Iterator[tuple[Ground, str]]:
    """Each guard of an action, what only prunes included: why it is one, and the formula."""
    yield from zip(action.grounds, map(text.formula, action.guards), strict=True)
    for node in action.search_only:
        yield Ground(PRUNING), text.formula(node)


def other_case(concept: Concept, action: Action, formula: str) -> str:
    """The action that is the same step where this guard is false, or "": two such guards keep nothing away."""
    rest = _without(action, formula)
    for other in concept.actions.values():
        for node in other.guards:
            if text.formula(negation(node)) == formula and _without(other, text.formula(node)) == rest:
                return other.name
    return ""


def _without(action: Action, formula: str) -> tuple[object, ...]:
    """A step as it reads, but for one guard and its name."""
    guards = [shown for shown in map(text.formula, action.guards) if shown != formula]
    written = [(one.variable, [*map(text.formula, one.keys)], one.value and text.formula(one.value))
               for one in action.assignments]
    return action.cite, [*map(repr, action.parameters)], guards, written


def promises(concept: Concept) -> list[Promise[...]]:
    """The promises that actions of a concept assume, by name."""
    assumed = frozenset[str]().union(*(action.promises for action in concept.actions.values()))
    declared = vars(sys.modules[concept.module]).values()
    found = [one for one in declared if isinstance(one, Promise) and one.name in assumed]
    return sorted(found, key=lambda one: one.name)


def _promises(concept: Concept) -> Iterator[str]:
    found = promises(concept)
    if found:
        yield from ("", f"promises of {concept.name}")
    for promise in found:
        users = [p.name for p in concept.properties.values() if promise in p.given]
        yield f"  {promise.name}: {promise.sentence}"
        yield "      " + (f'premise of {", ".join(users)}' if users else "no proof rests on it")
    yield ""


def _concepts(name: str) -> list[Concept]:
    modules = {one.name: [c for c in ALL.values() if c.home == one.name] for one in CONCEPTS}
    found = modules.get(name) or [concept for concept in ALL.values() if concept.name == name]
    if not found:
        known = [*modules, *ALL]
        raise BadInputError(f"no concept {name!r}; {nearest(name, known) or 'they are ' + ', '.join(known)}")
    return found
