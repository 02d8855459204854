"""The guards of a concept's actions as people read them: what each says, and why an action happens only there."""

from __future__ import annotations

from collections.abc import Iterator

from invariants.concepts import CONCEPTS
from invariants.verdict import BadInputError, nearest
from model import consumer_group, order_lock, registration, subscription
from model.language import Action, Concept, Promise, State, text
from model.language.tracing import PROMISED, PRUNING, TESTED, Ground
from model.route_info import cache, routes, servers, topics

_MODELS = (consumer_group, registration, subscription, order_lock, routes, topics, servers, cache)
ALL = {owner.concept.name: owner.concept
       for module in _MODELS for owner in vars(module).values()
       if isinstance(owner, type) and issubclass(owner, State) and owner is not State and owner.concept.actions}
"""Every concept of the models that has an action, by name."""
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
                yield f"        {_WHY[ground.kind]} {ground.by}".rstrip()
        yield from _promises(concept)


def grounded(action: Action) -> Iterator[tuple[Ground, str]]:
    """Each guard of an action, what only prunes included: why it is one, and the formula."""
    yield from zip(action.grounds, map(text.formula, action.guards), strict=True)
    for node in action.search_only:
        yield Ground(PRUNING), text.formula(node)


def promises(concept: Concept) -> list[Promise[...]]:
    """The promises that actions of a concept assume, by name."""
    assumed = frozenset[str]().union(*(action.promises for action in concept.actions.values()))
    declared = (one for module in _MODELS if module.__name__ == concept.module for one in vars(module).values())
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
