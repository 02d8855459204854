"""Numbers that tell sparse states apart, kept up to date cell by cell; the same in every process."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from model.language.open.states import Cell, States


class Fingerprints:
    """Of states that go on: each cell has a mark, and a state the exclusive or of the marks of its cells.

    variables -- the names of those that count. changed -- cells of the base that have changed since it was asked last.
    """

    def __init__(self, variables: AbstractSet[str]) -> None:
        """Nothing was asked."""
        self.variables = frozenset(variables)
        self.changed: dict[Cell, Any] = {}
        self._known: dict[Cell, int] | None = None
        self._base = 0

    def forget(self) -> None:
        """Any cell may have changed."""
        self._known = None

    def of(self, states: States) -> list[int]:
        """A number for each of the states; 0 for one in which no cell that counts is written."""
        known = self._known
        if known is None:
            self._base, self._known, self.changed = 0, {}, dict.fromkeys(states.base)
            known = self._known
        for cell in self.changed:
            if cell[0] in self.variables:
                mark = self._mark(states, cell, states.base.get(cell, states.defaults[cell[0]]))
                self._base ^= mark ^ known.get(cell, 0)
                known[cell] = mark
        self.changed = {}
        if len(states) == 1:
            return [self._base]
        found = []
        for own in states.overlays:
            number = self._base
            for cell, value in own.items():
                if cell[0] in self.variables:
                    number ^= known.get(cell, 0) ^ self._mark(states, cell, value)
            found.append(number)
        return found

    def _mark(self, states: States, cell: Cell, value: Any) -> int:
        return 0 if value == states.defaults[cell[0]] else _mark(cell, value)


@lru_cache(maxsize=1 << 16)
def _mark(cell: Cell, value: Any) -> int:
    """A number for a value of a cell."""
    return int.from_bytes(blake2b(_text((cell, value)).encode(), digest_size=8).digest(), "big")


def _text(value: Any) -> str:
    """The value as a text that no hash decides: sets are sorted, also inside of tuples."""
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_text, value)))}}}"
    if value.__class__ is tuple:
        return f"({', '.join(map(_text, value))})"
    return repr(value)
