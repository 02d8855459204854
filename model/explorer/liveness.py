"""Liveness under fairness: where a run can stay for ever without reaching the goal.

A fair run does not put off for ever an instance of a fair action that stays enabled (weak fairness), or that is enabled
again and again (strong fairness). Nothing else has to happen: a run may rest in any state where no fair instance is
enabled, dead ends included. Actions that become quiet happen finitely often: what is reached with them is still a
start, but a run that goes on for ever uses none of them. An instance that leaves the scope counts as enabled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from model.explorer.expand import Expander
from model.explorer.seen import Levels
from model.explorer.tails import at_first, lasting
from model.explorer.trace import UNBOUNDED, Document, Step, document, leans_on_the_end, path
from model.language.batch import Batch, Word, Words, states
from model.language.beyond import Beyond, endless
from model.language.instantiate import Instantiation
from model.language.nodes import FALSE, Variable, conjunction, const, negation, substitute
from model.language.properties import Property

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

VACUOUS = "about nothing: no run waits for the goal"

_BATCH = 1 << 13
_EDGE_BYTES = 60  # an edge, its copy in a sparse matrix, and what scipy makes of it


def judge(
    ground: Instantiation, expander: Expander, levels: Levels, wanted: Property, memory_bytes: int,
) -> Document | str | None:
    """Judge a leads_to property over all reachable states.

    Returns None when it holds; the trace of a run that never reaches the goal, its `loop` (the number of the step at
    which the part that repeats begins, or of all steps when the run rests), and the `elements` that it is about, if the
    property has parameters; or why it could not be judged.
    """
    for name in (*wanted.fair, *wanted.strongly_fair):
        if any(i.action.search_only for i in expander.instances if i.action.name == name):
            return f"{name} is fair and pruned (search_only): where it would go on is not known"
    unknown: str | None = None
    waits = False
    for elements in ground.environments(wanted.parameters):
        graph = Avoiding(ground, expander, levels, _about(wanted, elements), memory_bytes)
        verdict = graph.verdict(levels)
        if isinstance(verdict, dict):
            chosen = {v.name: ground.scope.text(v.sort, number) for v, number in elements.items()}
            return {**verdict, "elements": chosen} if chosen else verdict
        unknown, waits = unknown or verdict, waits or graph.waits
    return unknown or (_unfair(ground, expander, levels, wanted, memory_bytes) if waits else VACUOUS)


def _unfair(
    ground: Instantiation, expander: Expander, levels: Levels, wanted: Property, memory_bytes: int,
) -> str | None:
    """Say so if an action is fair and ceases, and that leaves no run at all that waits and is fair; or None."""
    both = [name for name in (*wanted.fair, *wanted.strongly_fair) if name in wanted.until_quiet]
    if not both:
        return None
    for elements in ground.environments(wanted.parameters):
        waiting = conjunction(wanted.when, negation(wanted.condition))
        endless = _about(replace(wanted, when=waiting, condition=FALSE), elements)
        found = Avoiding(ground, expander, levels, endless, memory_bytes).verdict(levels)
        if found is not None:
            return found if isinstance(found, str) else None
    return f"about nothing: {both[0]} is fair and ceases, and no run is both"


def _about(wanted: Property, elements: Mapping[Variable, int]) -> Property:
    """What the property says of these elements."""
    by = {variable: const(variable.sort, number) for variable, number in elements.items()}
    return replace(wanted, when=substitute(wanted.when, by), condition=substitute(wanted.condition, by), parameters=())


class StateIndex:
    """Numbers of states, whatever their words: those of the set in ascending order."""

    def __init__(self, words: Words) -> None:
        """Number these states; each occurs once."""
        self._ranks: list[tuple[Word, Word]] = []
        key = words[0]
        for word in words[1:]:
            low, high = np.unique(key), np.unique(word)
            self._ranks.append((low, high))
            key = (np.searchsorted(low, key) * len(high) + np.searchsorted(high, word)).astype(np.uint64)
        self._order = np.argsort(key, kind="stable")
        self._keys = key[self._order]

    def find(self, words: Words) -> Ints:
        """The number of each state, -1 when it is not in the set."""
        key, inside = words[0], np.ones(len(words[0]), np.bool_)
        for (low, high), word in zip(self._ranks, words[1:], strict=True):
            first, second = _at(low, key), _at(high, word)
            inside &= (low[first] == key) & (high[second] == word)
            key = (first * len(high) + second).astype(np.uint64)
        place = _at(self._keys, key)
        return np.where(inside & (self._keys[place] == key), self._order[place], -1)


def _at(ordered: Word, wanted: Word) -> Ints:
    return np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)


class Avoiding:
    """The reachable states outside the goal, and the steps between them.

    source, target, instance -- one entry per step: numbers of states and of the instance. too_large -- there are more
    steps than the memory allows. waits -- whether some state demands the goal and is outside it, once that was asked.
    """

    def __init__(
        self, ground: Instantiation, expander: Expander, levels: Levels, wanted: Property, memory_bytes: int,
    ) -> None:
        """Collect states and steps."""
        self.ground, self.expander = ground, expander
        goal = expander.tables.rewrite(ground.term(wanted.condition))
        kept = [[word[outside] for word in level] for level in levels if (outside := ~_truth(level, goal)).any()]
        self.states = [np.concatenate(parts) for parts in zip(*kept, strict=True)] if kept else [
            np.zeros(0, np.uint64) for _ in range(expander.words)]
        self.wanted, self.memory_bytes = wanted, memory_bytes
        self.count, self.too_large, self.waits = len(self.states[0]), False, False
        fair = (*wanted.fair, *wanted.strongly_fair)
        self.fair = [i for i in expander.instances if i.action.name in fair]
        self.strong = np.array([i.action.name in wanted.strongly_fair for i in self.fair], np.bool_)
        self.quiet = np.array([i.action.name in wanted.until_quiet for i in expander.instances], np.bool_)
        guards = [expander.tables.rewrite(i.guard) for i in self.fair]
        self.enabled = np.array([_truth(self.states, guard) for guard in guards]).reshape(len(guards), self.count)
        self.source, self.target, self.instance = self._steps(memory_bytes)

    def _steps(self, memory_bytes: int) -> tuple[Ints, Ints, Ints]:
        found: list[tuple[Ints, Ints, Ints]] = [(np.zeros(0, np.int32),) * 3]  # type: ignore[list-item]
        total = 0
        index = StateIndex(self.states) if self.count else None
        for start in range(0, self.count, _BATCH):
            batch = Batch([word[start:start + _BATCH] for word in self.states])
            for edges in self.expander.edges(batch):
                assert index is not None  # noqa: S101 - narrows for mypy: there are states
                target = index.find(edges.after)
                inside = np.flatnonzero(target >= 0)
                total += len(inside)
                found.append(tuple(part[inside].astype(np.int32)  # type: ignore[arg-type]
                                   for part in (edges.rows + start, target, edges.instances)))
            if total * _EDGE_BYTES > memory_bytes:
                self.too_large = True
                break
        source, target, instance = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return source, target, instance

    def verdict(self, levels: Levels) -> Document | str | None:
        """None when every fair run reaches the goal; a run that does not; or why it could not be judged."""
        if self.too_large:
            steps, most = len(self.source), self.memory_bytes
            return f"{self.wanted.name}: {steps} steps avoid the goal and more than {most} bytes are needed"
        self.start()
        trap = self.trap()
        return self.leaving() if trap is None else self.unbounded(trap, levels[0]) or self.lasso(levels, trap)

    def start(self) -> None:
        """Keep what is reached, outside the goal, from a state where the property demands the goal."""
        starts = np.flatnonzero(_truth(self.states, self.ground.term(self.wanted.when)))
        self.waits = len(starts) > 0
        everything = np.append(self.source, np.full(len(starts), self.count)), np.append(self.target, starts)
        order, self.parent = breadth_first_order(_matrix(*everything, self.count + 1), self.count)
        self.order = order[1:]
        self.active = np.zeros(self.count, np.bool_)
        self.active[self.order] = True

    def leaving(self) -> str | None:
        """Say which fair action leaves what was searched before it reaches the goal, or None."""
        for column, instance in enumerate(self.fair):
            if _truth(self.states, instance.cut)[self.active & self.enabled[column]].any():
                return f"{instance.action.name} is fair and leaves the scope: what lies behind is not known"
        return None

    def unbounded(self, trap: Bools, first: Words) -> str | None:
        """Say which fair action may leave the trap with a number that the scope does not have, or None."""
        if not any(endless(parameter) for i in self.fair for parameter in i.action.parameters):
            return None
        trapped = [word[trap] for word in self.states]
        beyond = Beyond(self.ground.scope, lasting(self.ground, at_first(self.ground, first)))
        for action in {i.action.name: i.action for i in self.fair}.values():
            able = any if action.name in self.wanted.strongly_fair else all
            if any(able(_truth(trapped, self.ground.term(one))) for one in beyond.possible(action)):
                return f"{action.name} is fair, and may happen with a number beyond the scope"
        return None

    def trap(self) -> Bools | None:
        """The states of one trap: one state where a run rests, or a component that a fair run need not leave."""
        rests = self.active & ~self.enabled.any(axis=0)
        if rests.any():
            first = self.order[rests[self.order]][0]
            only: Bools = np.arange(self.count) == first
            return only
        active = self.active.copy()
        while active.any():
            inner = np.flatnonzero(active[self.source] & active[self.target] & ~self.quiet[self.instance])
            label = connected_components(
                _matrix(self.source[inner], self.target[inner], self.count), connection="strong")[1].astype(np.int64)
            inner = inner[label[self.source[inner]] == label[self.target[inner]]]
            cycles = np.bincount(label[self.source[inner]], minlength=self.count) > 0
            left, trapped = self._fair(active, label, inner, cycles)
            hold: Bools = trapped & cycles[label] & active
            if hold.any():
                first = self.order[hold[self.order]][0]
                hold &= label == label[first]
                return hold
            active = left & cycles[label] & active
        return None

    def _fair(self, active: Bools, label: Ints, inner: Ints, cycles: Bools) -> tuple[Bools, Bools]:
        """Per state: whether it may still belong to a trap, and whether its component is one."""
        left, trapped = active.copy(), active.copy()
        size = np.bincount(label[active], minlength=self.count)
        for column, instance in enumerate(self.fair):
            taken = np.zeros(self.count, np.bool_)
            taken[label[self.source[inner[self.instance[inner] == instance.number]]]] = True
            able = np.bincount(label[active & self.enabled[column]], minlength=self.count)
            unfair = cycles & ~taken & ((able > 0) if self.strong[column] else (able == size))
            trapped &= ~unfair[label]
            left &= ~(unfair[label] & (self.enabled[column] if self.strong[column] else True))
        return left, trapped

    def lasso(self, levels: Levels, trap: Bools) -> Document | str:
        """A run that never reaches the goal: to a start, into the trap, and round in it; or why it may be none."""
        entry = int(self.order[trap[self.order]][0])
        way = [entry]
        while self.parent[way[-1]] != self.count:
            way.append(int(self.parent[way[-1]]))
        way.reverse()
        start = self._state(way[0])
        depth = next(d for d, level in enumerate(levels) if _has(level, [word[way[0]] for word in self.states]))
        initial, steps = path(self.expander, levels, depth, start)
        steps += [self._step(before, after) for before, after in pairwise(way)]
        loop = len(steps)
        for before, after, number in self._round(trap, entry):
            steps.append((self.expander.instances[number], self._state(after)) if number >= 0
                         else self._step(before, after))
        if leans_on_the_end(self.ground, initial, steps):
            return UNBOUNDED
        return {**document(self.ground, initial, steps), "loop": loop}

    def _round(self, trap: Bools, entry: int) -> list[tuple[int, int, int]]:
        """A closed walk in the trap that is fair: (before, after, instance or -1 for any)."""
        inner = np.flatnonzero(trap[self.source] & trap[self.target] & ~self.quiet[self.instance])
        walk: list[tuple[int, int, int]] = []
        here = entry
        for column, instance in enumerate(self.fair):
            taken = inner[self.instance[inner] == instance.number]
            if len(taken):
                before, after = int(self.source[taken[0]]), int(self.target[taken[0]])
                walk += self._walk(inner, here, before)
                walk.append((before, after, instance.number))
                here = after
            elif self.enabled[column, entry]:
                rest = int(np.flatnonzero(trap & ~self.enabled[column])[0])
                walk += self._walk(inner, here, rest)
                here = rest
        if not walk and len(inner):
            here = int(self.target[inner[self.source[inner] == entry][0]])
            walk = [(entry, here, -1)]
        return walk + self._walk(inner, here, entry)

    def _walk(self, inner: Ints, here: int, there: int) -> list[tuple[int, int, int]]:
        """The shortest way inside the trap."""
        if here == there:
            return []
        parent = breadth_first_order(_matrix(self.source[inner], self.target[inner], self.count), here)[1]
        way = [there]
        while way[-1] != here:
            way.append(int(parent[way[-1]]))
        way.reverse()
        return [(before, after, -1) for before, after in pairwise(way)]

    def _step(self, before: int, after: int) -> Step:
        """The first instance that steps between two states."""
        place = np.flatnonzero((self.source == before) & (self.target == after))
        quiet = self.quiet[self.instance[place]]
        best = place[~quiet] if (~quiet).any() else place
        return self.expander.instances[int(self.instance[best].min())], self._state(after)

    def _state(self, number: int) -> int:
        return states([word[number:number + 1] for word in self.states])[0]


def _truth(level: Words, term: Any) -> Bools:
    parts = [Batch([word[start:start + _BATCH] for word in level]).truth(term)
             for start in range(0, len(level[0]), _BATCH)]
    return np.concatenate(parts) if parts else np.zeros(0, np.bool_)


def _matrix(source: Ints, target: Ints, count: int) -> Any:
    return csr_array((np.ones(len(source), np.int8), (source, target)), shape=(count, count))


def _has(level: Words, state: Sequence[np.uint64]) -> bool:
    return bool(np.logical_and.reduce([word == value for word, value in zip(level, state, strict=True)]).any())
