"""Layouts: where each cell of a state lies in its machine words.

Every element of a table gets consecutive bits, table after table in order of declaration; no element crosses a 64-bit
word, and a table that fits into a word stays in one word, so that an index which is itself state is a variable shift.
A state as a Python int is its words, the first lowest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from model.language.nodes import SortInfo
from model.language.scope import Scope

WORD = 64
USED = WORD - 1  # the top bit of each word stays free: tables of states mark their entries with it


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its variable, keys (encoded), sort, and place: `position` is 64 · word + shift, `width` in bits."""

    number: int
    variable: str
    keys: tuple[int, ...]
    sort: SortInfo
    position: int
    width: int

    @property
    def mask(self) -> int:
        """The cell's bits in a state."""
        return ((1 << self.width) - 1) << self.position


class Layout:
    """The cells of a scope.

    cells -- in order of declaration, tables row by row. first -- number of a variable's first cell. words -- number
    of 64-bit words. bits -- number of bits that are used. top -- number of bits up to the last that is used.
    """

    def __init__(self, scope: Scope, used: int = USED) -> None:
        """Pack the variables of the scope's concept, so many bits a word; raises ValueError when a value has more."""
        self.scope, self._used = scope, used
        self.cells: list[Cell] = []
        self.first: dict[str, int] = {}
        self._free = [used]
        for info in scope.concept.variables.values():
            if not info.rigid:
                self._add(info.name, info.keys, info.value)
        self.words = len(self._free)
        self.bits = sum(cell.width for cell in self.cells)
        self.top = WORD * (self.words - 1) + used - self._free[-1]

    def _add(self, name: str, keys: tuple[SortInfo, ...], sort: SortInfo) -> None:
        width = (self.scope.size(sort) - 1).bit_length()
        if width > self._used:
            raise ValueError(f"{name}: a {sort.name} needs {width} bits in the scope {self.scope.name}; "
                             f"at most {self._used} fit, take a smaller scope")
        sizes = [self.scope.size(key) for key in keys]
        self.first[name] = len(self.cells)
        whole = self._room(prod(sizes) * width)
        for elements in product(*map(range, sizes)):
            word = whole if whole is not None else self._word(width)
            position = WORD * word + self._used - self._free[word]
            self.cells.append(Cell(len(self.cells), name, elements, sort, position, width))
            self._free[word] -= width

    def _room(self, width: int) -> int | None:
        """A word with room for a whole table, or None when it needs several."""
        return self._word(width) if width <= self._used else None

    def _word(self, width: int) -> int:
        for word, free in enumerate(self._free):
            if width <= free:
                return word
        self._free.append(self._used)
        return len(self._free) - 1

    def table(self, name: str) -> list[Cell]:
        """All cells of a variable, row by row."""
        first = self.first[name]
        count = prod(self.scope.size(key) for key in self.scope.concept.variables[name].keys)
        return self.cells[first:first + count]

    def cell(self, name: str, *keys: int) -> Cell:
        """The cell of a variable for encoded keys; raises KeyError when there is none."""
        place = self.scope.place(self.scope.concept.variables[name].keys, keys)
        if place < 0:
            raise KeyError((name, *keys))
        return self.cells[self.first[name] + place]

    def pack(self, values: Mapping[tuple[str | int, ...], int]) -> int:
        """The state with these encoded values by (variable, key, …); what is not given is 0."""
        state = 0
        for (name, *keys), value in values.items():
            cell = self.cell(str(name), *map(int, keys))
            if not 0 <= value < self.scope.size(cell.sort):
                raise ValueError(f"{value} is no {cell.sort.name} of the scope {self.scope.name}")
            state = state & ~cell.mask | value << cell.position
        return state

    def read(self, state: int, cell: Cell) -> int:
        """The encoded value of a cell."""
        return (state & cell.mask) >> cell.position

    def unpack(self, state: int) -> dict[tuple[str | int, ...], int]:
        """The encoded values of all cells by (variable, key, …)."""
        return {(cell.variable, *cell.keys): self.read(state, cell) for cell in self.cells}

    def label(self, cell: Cell) -> str:
        """A cell as people write it: listed[broker0, member1]."""
        sorts = self.scope.concept.variables[cell.variable].keys
        keys = ", ".join(self.scope.text(sort, key) for sort, key in zip(sorts, cell.keys, strict=True))
        return f"{cell.variable}[{keys}]" if keys else cell.variable

    def text(self, state: int, cells: Iterable[Cell] | None = None) -> dict[str, str]:
        """The cells of a state (all, or those given) as people read them."""
        chosen = self.cells if cells is None else cells
        return {self.label(cell): self.scope.text(cell.sort, self.read(state, cell)) for cell in chosen}
