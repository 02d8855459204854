"""Walks through a scope at random, as traces that can be played."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from random import Random
from typing import Any

from model.language import walk
from model.language.scope import Scope


def walked(scope: Scope, initial: Mapping[str, str], seed: int, steps: int) -> dict[str, Any]:
    """A trace of so many steps, or fewer if nothing more can happen within the scope.

    initial -- the cells of the first state, as texts; others have their first value.
    """
    chosen = Random(seed)  # noqa: S311 - a test's choices, no secret
    state, taken = _state(scope, initial), list[dict[str, Any]]()
    for _ in range(steps):
        possible = [*_possible(scope, state)]
        if not possible:
            break
        actions = sorted({name for name, _, _ in possible})
        action = chosen.choice(actions)  # else actions with many arguments would drown the others
        name, arguments, after = chosen.choice([one for one in possible if one[0] == action])
        taken.append({"action": name, "arguments": arguments, "changes": [*_changes(scope, state, after)]})
        state = after
    return {"initial": dict(initial), "steps": taken}


def _state(scope: Scope, shown: Mapping[str, str]) -> dict[walk.Cell, int]:
    texts = {cell: shown.get(_name(scope, cell)) for cell, _ in walk.cells(scope.concept, scope)}
    return {cell: 0 if (text := texts[cell]) is None else next(
        number for number in range(walk.span(sort, scope)) if scope.text(sort, number) == text)
        for cell, sort in walk.cells(scope.concept, scope)}


def _name(scope: Scope, cell: walk.Cell) -> str:
    sorts = scope.concept.variables[str(cell[0])].keys
    keys = ", ".join(scope.text(sort, int(key)) for sort, key in zip(sorts, cell[1:], strict=True))
    return f"{cell[0]}[{keys}]" if keys else str(cell[0])


def _possible(
    scope: Scope, state: Mapping[walk.Cell, int],
) -> Iterator[tuple[str, dict[str, str], dict[walk.Cell, int]]]:
    """The steps that stay in the scope: action, arguments as texts, and the state after it."""
    for name, whole in scope.concept.actions.items():
        action = whole.breaking(scope.breaks)
        for numbers in product(*(range(walk.span(one.sort, scope)) for one in action.parameters)):
            step = None if name in scope.forbid else walk.apply(action, numbers, scope, state)
            if step is not None and not step.cut:
                arguments = {one.name: scope.text(one.sort, number)
                             for one, number in zip(action.parameters, numbers, strict=True)}
                yield name, arguments, step.values


def _changes(
    scope: Scope, before: Mapping[walk.Cell, int], after: Mapping[walk.Cell, int],
) -> Iterator[dict[str, str]]:
    for cell, sort in walk.cells(scope.concept, scope):
        if before[cell] != after[cell]:
            yield {"cell": _name(scope, cell), "after": scope.text(sort, after[cell])}
