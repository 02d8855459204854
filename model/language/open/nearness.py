"""How near the state of a follower is to a state that somebody wants to see: the number of cells that differ.

The wanted state has numbers for elements, the follower has whatever its implementation names; of all ways to take
different elements of the follower for the numbers, the best one counts. An element that the follower does
not know (yet) is one of which nothing was ever written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from model.language.nodes import FREE, MAYBE, SET, SortInfo
from model.language.open.states import Cell
from model.language.state import Concept


@dataclass(frozen=True, slots=True)
class Wanted:
    """A state that somebody wants to see.

    property -- what fails after it, and after which action. concept -- of the state. elements -- how many, by sort.
    cells -- variable and keys, and the value; elements are numbers, sets lists of them. known -- what a search says.
    """

    property: str
    after: str
    concept: str
    elements: Mapping[str, int]
    cells: Sequence[tuple[Sequence[Any], Any]]
    known: str = ""

    def text(self) -> str:
        """As JSON; `wanted` reads it."""
        return json.dumps(asdict(self), indent=1) + "\n"


def wanted(text: str) -> Wanted:
    """Read a text; raises ValueError for one that is none."""
    try:
        found = json.loads(text)
        cells = [(tuple(cell), value) for cell, value in found["cells"]]
        return Wanted(**{**found, "cells": cells})
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"no state that is wanted: {error!r}") from None


@dataclass(frozen=True, slots=True)
class Near:
    """How near a state is: cells that differ, as (variable, keys, …, wanted value); elements are those of the state."""

    differing: tuple[tuple[Any, ...], ...]

    @property
    def distance(self) -> int:
        """How many cells differ."""
        return len(self.differing)


class _Nobody:
    """An element that the follower does not know."""

    def __repr__(self) -> str:
        return "somebody else"


class Nearness:
    """Compares states of a concept with one that is wanted, in the variables that both have."""

    def __init__(self, goal: Wanted, concept: Concept) -> None:
        """Know which elements are to be named, in which order, and which cells can be compared after each."""
        self.concept = concept
        sorts = [name for name, sort in concept.sorts.items() if sort.kind == FREE]
        self.order = [(name, number) for name in sorts for number in range(goal.elements.get(name, 0))]
        self.after: dict[int, list[tuple[tuple[Any, ...], Any]]] = {}
        for cell, value in goal.cells:
            info = concept.variables.get(cell[0])
            if info is not None and len(info.keys) == len(cell) - 1:
                used = {one for sort, part in zip((*info.keys, info.value), (*cell[1:], value), strict=True)
                        for one in _elements(sort, part)}
                last = max((place for place, one in enumerate(self.order) if one in used), default=-1)
                self.after.setdefault(last, []).append((tuple(cell), value))

    def to(
        self, state: Mapping[Cell, Any], named: Mapping[str, Iterable[Any]], defaults: Mapping[str, Any],
        less_than: int = 1 << 30,
    ) -> Near | None:
        """The nearest reading of a state; None if it is not nearer than that.

        named -- the state's elements by sort. defaults -- values of cells that were never written.
        """
        best: Near | None = None
        there = {name: [*known] for name, known in named.items()}

        def go(place: int, ways: dict[str, list[Any]], differing: tuple[tuple[Any, ...], ...]) -> None:
            nonlocal best
            differing += tuple(self._differing(self.after.get(place - 1, ()), state, ways, defaults))
            if len(differing) >= (less_than if best is None else best.distance):
                return
            if place == len(self.order):
                best = Near(differing)
                return
            sort, _ = self.order[place]
            used = ways.get(sort, [])
            for one in [*(one for one in there.get(sort, ()) if one not in used), _Nobody()]:
                go(place + 1, {**ways, sort: [*used, one]}, differing)

        go(0, {}, ())
        return best

    def _differing(
        self, cells: Sequence[tuple[tuple[Any, ...], Any]], state: Mapping[Cell, Any],
        ways: Mapping[str, Sequence[Any]], defaults: Mapping[str, Any],
    ) -> Iterator[tuple[Any, ...]]:
        for (name, *keys), value in cells:
            info = self.concept.variables[name]
            place = (name, *(_named(sort, key, ways) for sort, key in zip(info.keys, keys, strict=True)))
            want = _named(info.value, value, ways)
            if state.get(place, defaults[name]) != want:
                yield (*place, want)


def _elements(sort: SortInfo, value: Any) -> Iterator[tuple[str, int]]:
    """The elements, by sort and number, that a value speaks of."""
    inner = sort.element or sort
    if inner.kind == FREE and value is not None:
        for number in value if sort.kind == SET else (value,):
            yield inner.name, number


def _named(sort: SortInfo, value: Any, ways: Mapping[str, Sequence[Any]]) -> Any:
    """A value with elements for their numbers."""
    inner = sort.element or sort
    if inner.kind != FREE or inner.name not in ways or value is None:
        return frozenset(value) if sort.kind == SET else value
    if sort.kind == SET:
        return frozenset(ways[inner.name][number] for number in value)
    return ways[inner.name][value] if sort.kind in (FREE, MAYBE) else value
