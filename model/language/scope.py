"""Scopes: how many elements each sort has in a search, and what the rigid functions are there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

from model.language.nodes import BOOL, CHOICE, FREE, MAYBE, NAT, SET, SortInfo
from model.language.state import Concept, State
from model.language.tracing import VariableInfo
from model.language.values import Term

Element = bool | int | frozenset[int] | None
RigidFunction = Callable[..., object] | Mapping[Any, object] | int | None | frozenset[int]


class Scope:
    """A concept made finite.

    concept -- the State class (or its Concept).
    sizes -- for each free sort and each Nat, by class or by name: its number of elements. A Nat of size n has the
        values 0 … n-1, so a table over it has n cells; an action that would assign more is cut.
    rigid -- for each constant and rigid function, by name: a constant, a function of element numbers or a mapping of
        them. Sets come and go as frozensets of numbers, a Maybe as None or a number.
    name -- as people call it ("3,2 locked"). forbid -- names of actions that do not happen in this scope.
    breaks -- names of promises that are not kept in this scope.
    elements -- by class or by name of the sort: names of its elements for people; otherwise member0, member1, …

    Raises ValueError, one line that says what to give, when a size or a rigid function is missing or does not fit.
    """

    def __init__(
        self, concept: type[State] | Concept, sizes: Mapping[type[Term] | str, int],
        rigid: Mapping[str, RigidFunction] | None = None, *, name: str = "", forbid: Iterable[str] = (),
        elements: Mapping[type[Term] | str, Sequence[str]] | None = None, breaks: Iterable[str] = (),
    ) -> None:
        """Check the sizes and tabulate the rigid functions."""
        self.concept = concept if isinstance(concept, Concept) else concept.concept
        self.sizes = {_name(sort): size for sort, size in sizes.items()}
        self.forbid, self.breaks = tuple(forbid), tuple(breaks)
        self._check_sizes()
        self.elements = {sort: self._names(sort, size) for sort, size in self.sizes.items()}
        for sort, names in (elements or {}).items():
            if len(names) != self.sizes.get(_name(sort)):
                raise ValueError(f"{self.concept.name}: {len(names)} names for {_name(sort)}; give one per element")
            self.elements[_name(sort)] = tuple(names)
        self.name = name or ", ".join(f"{size} {sort}" for sort, size in self.sizes.items())
        self.tables = self._tabulate(rigid or {})

    def _check_sizes(self) -> None:
        concept = self.concept
        for sort, info in concept.sorts.items():
            if info.kind in (FREE, NAT) and self.sizes.get(sort, 0) < 1:
                raise ValueError(f"{concept.name}: the scope has no size for {sort}; give sizes={{{sort}: n}}, n >= 1")
        for sort in self.sizes:
            if sort not in concept.sorts:
                raise ValueError(f"{concept.name} has no sort {sort}; it has {', '.join(concept.sorts)}")
        for action in self.forbid:
            if action not in concept.actions:
                raise ValueError(f"{concept.name} has no action {action}; it has {', '.join(concept.actions)}")
        known = sorted(frozenset[str]().union(*(action.promises for action in concept.actions.values())))
        for promised in self.breaks:
            if promised not in known:
                raise ValueError(f"{concept.name} has no promise {promised}; it has {', '.join(known) or 'none'}")

    def _names(self, sort: str, size: int) -> tuple[str, ...]:
        if self.concept.sorts[sort].kind == NAT:
            return tuple(map(str, range(size)))
        return tuple(f"{sort[0].lower()}{sort[1:]}{number}" for number in range(size))

    def size(self, sort: SortInfo) -> int:
        """Number of values of a sort: 2 for Bool, 2 ** n for a set over n elements, n + 1 for a Maybe."""
        if sort.kind == BOOL:
            return 2
        if sort.kind == CHOICE:
            return len(sort.members)
        if sort.kind in (SET, MAYBE) and sort.element is not None:
            inner = self.size(sort.element)
            return int(2 ** inner) if sort.kind == SET else inner + 1
        if sort.name not in self.sizes:
            raise ValueError(f"{self.concept.name}: the scope has no size for {sort.name}; add it to sizes")
        return self.sizes[sort.name]

    @staticmethod
    def value(sort: SortInfo, number: int) -> Element:
        """Give a value as rigid functions take it: a frozenset of element numbers, None or one, a number."""
        if sort.kind == SET:
            return frozenset(i for i in range(number.bit_length()) if number >> i & 1)
        if sort.kind == MAYBE:
            return number - 1 if number else None
        return bool(number) if sort.kind == BOOL else number

    def number(self, sort: SortInfo, value: object) -> int:
        """Encode a value as terms do (`model.language.nodes.const`); raises ValueError when it is none of the sort."""
        number = -1
        if sort.kind == SET and isinstance(value, Iterable):
            number = sum(1 << element for element in frozenset(value))
        elif sort.kind == MAYBE:
            number = 0 if value is None else value + 1 if isinstance(value, int) else -1
        elif isinstance(value, int):
            number = int(value)
        if number < 0 or (sort.kind != NAT and number >= self.size(sort)):
            raise ValueError(f"{value!r} is no {sort.name} of the scope {self.name}")
        return number

    def text(self, sort: SortInfo, number: int) -> str:
        """Name a value for people: member1, {member0, member1}, none, true, 3."""
        if sort.kind == SET and sort.element is not None:
            inside = (i for i in range(number.bit_length()) if number >> i & 1)
            return "{" + ", ".join(self.text(sort.element, i) for i in inside) + "}"
        if sort.kind == MAYBE and sort.element is not None:
            return self.text(sort.element, number - 1) if number else "none"
        if sort.kind == BOOL:
            return "true" if number else "false"
        if sort.kind == NAT:
            return str(number)
        return (sort.members if sort.kind == CHOICE else self.elements[sort.name])[number]

    def place(self, sorts: tuple[SortInfo, ...], keys: tuple[int, ...]) -> int:
        """Return the place of a key in a table that is enumerated row by row; -1 when it lies outside."""
        place = 0
        for sort, key in zip(sorts, keys, strict=True):
            size = self.size(sort)
            if not 0 <= key < size:
                return -1
            place = place * size + key
        return place

    def rigid(self, name: str, keys: tuple[int, ...]) -> int:
        """Value of a rigid function or constant for encoded keys; 0 outside its table."""
        place = self.place(self.concept.variables[name].keys, keys)
        return self.tables[name][place] if place >= 0 else 0

    def _tabulate(self, given: Mapping[str, RigidFunction]) -> dict[str, tuple[int, ...]]:
        wanted = {name: info for name, info in self.concept.variables.items() if info.rigid}
        for name in given:
            if name not in wanted:
                raise ValueError(f"{self.concept.name} has no constant or rigid function {name}; "
                                 f"it has {', '.join(wanted) or 'none'}")
        for name in wanted:
            if name not in given:
                raise ValueError(f"{self.concept.name}: the scope does not say what {name} is; "
                                 f"give rigid={{{name!r}: …}}")
        return {name: self._table(info, given[name]) for name, info in wanted.items()}

    def _table(self, info: VariableInfo, function: RigidFunction) -> tuple[int, ...]:
        sizes = [self.size(sort) for sort in info.keys]
        if prod(sizes) > 1 << 22:
            raise ValueError(f"{info.name}: a table of {prod(sizes)} values is too large; take a smaller scope")
        return tuple(self._entry(info, function, keys) for keys in product(*map(range, sizes)))

    def _entry(self, info: VariableInfo, function: RigidFunction, keys: tuple[int, ...]) -> int:
        arguments = tuple(self.value(sort, key) for sort, key in zip(info.keys, keys, strict=True))
        try:
            if callable(function):
                return self.number(info.value, function(*arguments))
            if isinstance(function, Mapping):
                return self.number(info.value, function[arguments if len(arguments) != 1 else arguments[0]])
            return self.number(info.value, function)
        except (KeyError, ValueError) as error:
            shown = ", ".join(self.text(sort, key) for sort, key in zip(info.keys, keys, strict=True))
            raise ValueError(f"{info.name}[{shown}]: {error!r}; give a {info.value.name} for every key") from error


def _name(sort: type[Term] | str) -> str:
    return sort if isinstance(sort, str) else sort.info.name
