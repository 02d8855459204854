"""Traces: how a state is reached, as people and evidence files have it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from model.explorer.expand import Expander
from model.explorer.seen import Levels
from model.explorer.tails import after_step, at_first
from model.language.batch import Batch, Words, words
from model.language.beyond import Beyond, sees_the_end
from model.language.instantiate import Instance, Instantiation
from model.language.nodes import FREE
from model.language.scalar import compiled

Step = tuple[Instance, int]  # an instance, and the state after it
Document = dict[str, Any]

_BATCH = 1 << 13
UNBOUNDED = "what ranges over numbers decides it, and those beyond the scope may say otherwise"


def path(expander: Expander, levels: Levels, depth: int, target: int) -> tuple[int, list[Step]]:
    """A shortest path to a state of the level `depth`: the initial state, and the steps.

    No parents were stored: each level is expanded again until it yields the state.
    """
    steps: list[Step] = []
    for number in reversed(range(depth)):
        before, instance = predecessor(expander, levels.parts(number, _BATCH), target)
        steps.append((instance, target))
        target = before
    return target, steps[::-1]


def predecessor(expander: Expander, level: Iterable[Words], target: int) -> tuple[int, Instance]:
    """The first state of a level with a step to the target; raises LookupError when there is none."""
    wanted = [word[0] for word in words([target], expander.words)]
    for part in level:
        batch = Batch(part)
        best: tuple[int, int] | None = None
        for edges in expander.edges(batch):
            hit = np.logical_and.reduce([after == word for after, word in zip(edges.after, wanted, strict=True)])
            found = np.flatnonzero(hit)
            if len(found):
                first = (int(edges.rows[found[0]]), int(edges.instances[found[0]]))
                best = first if best is None else min(best, first)
        if best is not None:
            row, number = best
            state = sum(int(word[row]) << 64 * i for i, word in enumerate(batch.words[0]))
            return state, expander.instances[number]
    raise LookupError("no state of the level has a step to the target")


def leans_on_the_end(ground: Instantiation, initial: int, steps: Sequence[Step]) -> bool:
    """Whether a run may be one of the scope alone: what ranges over numbers sees that the scope has a greatest."""
    if not sees_the_end(ground.scope.concept):
        return False
    known, state = at_first(ground, words([initial], ground.layout.words)), initial
    if not compiled(ground.term(Beyond(ground.scope, known).surely(ground.scope.concept.initial, True)))(initial):
        return True
    for instance, after in steps:
        arguments = dict(zip(instance.action.parameters, instance.arguments, strict=True))
        if not compiled(ground.term(Beyond(ground.scope, known).step(instance.action), arguments))(state):
            return True
        known, state = after_step(instance.action, known), after
    return False


def document(ground: Instantiation, initial: int, steps: Sequence[Step]) -> Document:
    """The trace as evidence files hold it: {initial, steps, lifelines}."""
    state, shown = initial, []
    for instance, after in steps:
        shown.append(_step(ground, instance, state, after))
        state = after
    return {"initial": ground.layout.text(initial), "steps": shown, "lifelines": _lifelines(ground, steps)}


def _step(ground: Instantiation, instance: Instance, before: int, after: int) -> Document:
    action, layout = instance.action, ground.layout
    arguments = {parameter.name: ground.scope.text(parameter.sort, number)
                 for parameter, number in zip(action.parameters, instance.arguments, strict=True)}
    changed = [cell for cell in layout.cells if layout.read(before, cell) != layout.read(after, cell)]
    old, new = layout.text(before, changed), layout.text(after, changed)
    return {
        "action": action.name, "arguments": arguments, "cite": action.cite,
        "flow": [arguments[end] for end in action.flow] if action.flow else None, "environment": action.environment,
        "changes": [{"cell": cell, "before": old[cell], "after": new[cell]} for cell in old],
    }


def _lifelines(ground: Instantiation, steps: Sequence[Step]) -> list[str]:
    """The elements of free sorts that take part, sort by sort in the order in which the sorts appear."""
    taking: dict[str, set[int]] = {}
    for instance, _ in steps:
        for parameter, number in zip(instance.action.parameters, instance.arguments, strict=True):
            if parameter.sort.kind == FREE:
                taking.setdefault(parameter.sort.name, set()).add(number)
    name: Callable[[str, int], str] = lambda sort, number: ground.scope.elements[sort][number]  # noqa: E731 - one line, used once
    return [name(sort, number) for sort, numbers in taking.items() for number in sorted(numbers)]
