"""Trails: ways through a model that somebody took with elements of his own, kept so that they can be gone again.

A trail has the steps and, of the elements that take part, what the rigid functions say: numbers in place of elements,
so that it fits into a line of JSON. It is a proposal, no more. Whoever goes it takes each step by the model, from a
first state that is initial, and stops where a guard is false. So each state that is met is reachable, whatever was
written down, and in every concept that has the actions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from model.language.nodes import BOOL, CHOICE, FREE, MAYBE, NAT, SET, Node, SortInfo
from model.language.open.reading import OpenReading, subsets
from model.language.open.states import Cell
from model.language.state import Concept

Step = tuple[str, tuple[Any, ...]]
VISITED = "visited.jsonl"
"""The file of trails in a folder, one a line."""
MOST = 5
"""Elements of a sort that a trail may have: tables of functions over sets grow with their power."""


@dataclass(frozen=True, slots=True)
class Trail:
    """A way that can be gone again.

    of -- where it comes from, in words. elements -- how many there are, by sort. rigid -- by name: the values of a
    constant or function, for its keys in order. steps -- actions and arguments. An element is its number.
    """

    of: str
    elements: Mapping[str, int]
    rigid: Mapping[str, Sequence[Any]]
    steps: Sequence[Step]

    def line(self) -> str:
        """The trail as JSON; `trail` reads it."""
        return json.dumps(asdict(self), separators=(",", ":"))

    def fits(self, concept: Concept) -> bool:
        """Whether it can be gone in a concept: it has the actions and says what is rigid there."""
        rigid = {name for name, info in concept.variables.items() if info.rigid}
        free = {name for name, sort in concept.sorts.items() if sort.kind == FREE}
        return rigid <= set(self.rigid) and free <= set(self.elements) and all(
            name in concept.actions and len(arguments) == len(concept.actions[name].parameters)
            for name, arguments in self.steps)


def trail(line: str) -> Trail:
    """Read a line; raises ValueError for one that is no trail."""
    try:
        found = json.loads(line)
        steps = [(str(name), tuple(arguments)) for name, arguments in found["steps"]]
        return Trail(str(found["of"]), dict(found["elements"]), dict(found["rigid"]), steps)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"no trail: {error!r}") from None


class Going:
    """Goes a trail in a concept that it fits."""

    def __init__(self, concept: Concept, gone: Trail) -> None:
        """Begin; raises ValueError where the trail's values are none of the concept's sorts."""
        elements = {name: tuple(range(gone.elements[name])) for name, sort in concept.sorts.items()
                    if sort.kind == FREE}
        rigid = {name: _function(info.keys, info.value, gone.rigid[name], elements)
                 for name, info in concept.variables.items() if info.rigid}
        self.steps = [(name, tuple(_spoken(v.sort, one, elements) for v, one in zip(
            concept.actions[name].parameters, arguments, strict=True))) for name, arguments in gone.steps]
        self.reading = OpenReading(concept, rigid)
        for name, numbers in elements.items():
            self.reading.given.name(concept.sorts[name], numbers)
            setattr(self.reading.given, f"F_{name}", 0)
        self.reading.defaults = {
            name: 0 if info.value.kind == FREE else default
            for (name, default), info in zip(self.reading.defaults.items(), concept.variables.values(), strict=True)}

    def states(self, never: Iterable[str] = ()) -> Iterator[dict[Cell, Any]]:
        """All states in order, each the former one plus what a step assigns; none if the first is not initial.

        never -- actions that end the way.
        """
        state: dict[Cell, Any] = {}
        if not self.reading.holds(self.reading.concept.initial, state):
            return
        yield state
        ends = set(never)
        for name, arguments in self.steps:
            writes = None if name in ends else self.reading.step(name, arguments, state)
            if writes is None:
                return
            state = {**state, **writes}
            yield state

    def holds(self, formula: Node, state: Mapping[Cell, Any], after: Mapping[Cell, Any] | None = None) -> bool:
        """Tell whether a formula holds; raises UnboundedError where it ranges over all naturals."""
        return self.reading.holds(formula, state, after)


def _function(
    keys: Sequence[SortInfo], value: SortInfo, numbers: Sequence[Any], elements: Mapping[str, Sequence[int]],
) -> Any:
    """What the open reading takes for a rigid function, or the value of a constant."""
    places = list(product(*(_values(sort, elements) for sort in keys)))
    table = dict(zip(places, (_spoken(value, number, elements) for number in numbers), strict=True))
    return (lambda *at: table[at]) if keys else table[()]


def _spoken(sort: SortInfo, value: Any, elements: Mapping[str, Sequence[int]]) -> Any:
    """A value as readings have it; raises ValueError for what is none of the sort."""
    spoken = frozenset(value) if sort.kind == SET and isinstance(value, list | tuple | frozenset) else value
    natural = isinstance(spoken, int) and not isinstance(spoken, bool) and spoken >= 0
    if not (natural if sort.kind == NAT else spoken in _values(sort, elements)):
        raise ValueError(f"{value!r} is no {sort.name}")
    return spoken


def _values(sort: SortInfo, elements: Mapping[str, Sequence[Any]]) -> Iterable[Any]:
    """All values of a sort of which there are finitely many; raises ValueError for naturals."""
    if sort.kind == NAT:
        raise ValueError(f"a function of all {sort.name} has no table")
    if sort.kind == BOOL:
        return False, True
    if sort.kind == CHOICE:
        return sort.members
    if sort.kind == FREE:
        return elements[sort.name]
    assert sort.element is not None  # noqa: S101 - narrows for mypy
    inner = _values(sort.element, elements)
    return list(subsets(inner)) if sort.kind == SET else [None, *inner]


# Writing down ---------------------------------------------------------------------------------------------------------


def written(reading: OpenReading, steps: Sequence[Step], of: str) -> Trail:
    """The trail of steps that somebody took with a reading, as far as there are few elements.

    Raises ValueError where a rigid function has no table.
    """
    concept, numbers = reading.concept, dict[str, dict[Hashable, int]]()
    for name, sort in concept.sorts.items():
        if sort.kind == FREE:
            numbers[name] = {}
    taken: list[Step] = []
    for name, arguments in steps:
        sorts = [v.sort for v in concept.actions[name].parameters]
        new = {(sort.name, one) for sort, one in zip(sorts, arguments, strict=True)
               if sort.kind == FREE and one not in numbers[sort.name]}
        if any(len(numbers[sort]) + sum(other == sort for other, _ in new) > MOST for sort, _ in new):
            break
        for sort, one in zip(sorts, arguments, strict=True):
            if sort.kind == FREE:
                numbers[sort.name].setdefault(one, len(numbers[sort.name]))
        taken.append((name, tuple(_number(sort, one, numbers) for sort, one in zip(sorts, arguments, strict=True))))
    there = {name: [*known] or [_STRANGER] for name, known in numbers.items()}
    rigid = {name: list(_table(reading, name, there, numbers)) for name, info in concept.variables.items()
             if info.rigid}
    return Trail(of, {name: len(known) for name, known in there.items()}, rigid, taken)


_STRANGER = object()
"""The element of a sort of which none took part: rigid functions say of it what they say of nobody."""


def _table(
    reading: OpenReading, name: str, there: Mapping[str, Sequence[Any]], numbers: Mapping[str, Mapping[Hashable, int]],
) -> Iterator[Any]:
    info, meaning = reading.concept.variables[name], getattr(reading.given, f"R_{name}")
    for keys in product(*(_values(sort, there) for sort in info.keys)):
        strange = any(key is _STRANGER or (isinstance(key, frozenset) and _STRANGER in key) for key in keys)
        said = _UNSAID[info.value.kind] if strange else meaning(*keys) if info.keys else meaning
        yield _number(info.value, said, numbers)


_UNSAID: Mapping[str, Any] = {BOOL: False, NAT: 0, FREE: None, MAYBE: None, SET: frozenset(), CHOICE: None}


def _number(sort: SortInfo, value: Any, numbers: Mapping[str, Mapping[Hashable, int]]) -> Any:
    """A value with numbers for elements; of one that takes no part, that of the first."""
    number: Callable[[Any], int] = lambda one: numbers[(sort.element or sort).name].get(one, 0)  # noqa: E731 - one line
    if sort.kind == FREE:
        return number(value)
    if sort.kind == SET and sort.element is not None and sort.element.kind == FREE:
        return sorted({number(one) for one in value})
    if sort.kind == MAYBE and sort.element is not None and sort.element.kind == FREE and value is not None:
        return number(value)
    if sort.kind == CHOICE and value is None:
        return sort.members[0]
    return sorted(value) if sort.kind == SET else value
