"""Sparse states, and sets of states that share a base and differ in small overlays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

Cell = tuple[Any, ...]
"""A variable's name and the keys."""
Writes = dict[Cell, Any]
"""What a step assigns."""


class State(Protocol):
    """Whatever gives the value of a cell; a dict of cells does."""

    def get(self, cell: Cell, default: Any, /) -> Any:
        """The value of a cell; default -- that of one that was never written."""
        ...


_ABSENT: Any = object()


class Overlay:
    """A state that differs from another one in some cells."""

    __slots__ = ("base", "own")

    def __init__(self, base: State, own: Mapping[Cell, Any]) -> None:
        """Own -- what is different."""
        self.base, self.own = base, own

    def get(self, cell: Cell, default: Any, /) -> Any:
        """See State."""
        value = self.own.get(cell, _ABSENT)
        return self.base.get(cell, default) if value is _ABSENT else value


class States:
    """Some states, in the order in which they were found.

    base -- what they share. overlays -- for each state the cells in which not all are equal, with its values.
    defaults -- by variable: the value of a cell that was never written.
    """

    __slots__ = ("base", "defaults", "overlays")

    def __init__(self, defaults: Mapping[str, Any], base: Mapping[Cell, Any] = {}) -> None:
        """One state."""
        self.defaults = defaults
        self.base: dict[Cell, Any] = dict(base)
        self.overlays: tuple[Writes, ...] = ({},)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.overlays)

    @property
    def views(self) -> Sequence[State]:
        """The states; they are good until something is written."""
        if len(self.overlays) == 1:
            return (self.base,)
        return [Overlay(self.base, own) for own in self.overlays]

    def become(self, overlays: Iterable[Mapping[Cell, Any]]) -> None:
        """Be these states from now on, each given by what differs from the base; equal ones are one."""
        found = list(overlays)
        cells = dict.fromkeys(cell for own in found for cell in own)
        base, defaults, differing = self.base, self.defaults, list[Cell]()
        for cell in cells:
            unset = base.get(cell, defaults[cell[0]])
            values = [own.get(cell, unset) for own in found]
            if all(value == values[0] for value in values):
                base[cell] = values[0]
            else:
                differing.append(cell)
        rows = dict.fromkeys(
            tuple(own.get(cell, base.get(cell, defaults[cell[0]])) for cell in differing) for own in found)
        self.overlays = tuple(dict(zip(differing, row, strict=True)) for row in rows)

    def write(self, writes: Mapping[Cell, Any]) -> None:
        """Give cells of all states a value."""
        if len(self.overlays) == 1:
            self.base.update(writes)
        else:
            self.become([{**own, **writes} for own in self.overlays])

    def keep(self, fits: Callable[[State], bool]) -> bool:
        """Drop the states that do not fit, if there is one that does; tell whether there is."""
        fitting = [own for own, state in zip(self.overlays, self.views, strict=True) if fits(state)]
        if fitting and len(fitting) < len(self.overlays):
            self.become(fitting)
        return bool(fitting)
