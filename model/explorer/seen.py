"""Where a search keeps its states: a map of the whole layout while that is small, else sorted shards (`shards`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from model.explorer.expand import Moves
from model.explorer.runs import Shape, decoded, distinct, encoded, joined
from model.explorer.workers import Workers
from model.language.batch import Word, Words

Places = NDArray[np.int64]

_SORTED_ALONE = 1 << 14  # so many states are sorted by one core: to divide them would cost more
_SAMPLED_BITS = 12


class Levels(ABC):
    """The states by depth, those of each level in ascending order."""

    def __iter__(self) -> Iterator[list[Word]]:
        """Level by level."""
        return (self[depth] for depth in range(len(self)))

    @abstractmethod
    def __len__(self) -> int:
        """How many levels there are."""

    @abstractmethod
    def __getitem__(self, depth: int) -> list[Word]:
        """All states of a level."""

    @abstractmethod
    def parts(self, depth: int, size: int, skip: int = 0) -> Iterator[list[Word]]:
        """The states of a level, at most so many at a time, without the first ones."""


class Store(Protocol):
    """The states that were seen, exactly, and their levels.

    batch -- states that are best expanded at once, if the memory allows.
    """

    batch: ClassVar[int]

    @property
    def full(self) -> bool:
        """Whether `settle` is due."""

    @property
    def levels(self) -> Levels:
        """Those that have begun."""

    def candidates(self, moves: Iterable[Moves], most: int) -> list[list[Word]]:
        """Which successors, at most so many, may be new; changes nothing, so that several threads may ask."""

    def take(self, candidates: list[list[Word]]) -> None:
        """Add such candidates to the next level."""

    def settle(self, workers: Workers) -> None:
        """Tell new states from old ones among all that were taken."""

    def close(self, workers: Workers) -> int:
        """Settle; return the number of states of the next level."""

    def begin(self) -> None:
        """Let the next level be the last one of `levels`."""

    @property
    def bytes(self) -> int:
        """Memory in use."""


class FlatMap:
    """One bit for every state of a layout."""

    def __init__(self, bits: int) -> None:
        """Make room for states of so many bits."""
        self._map = np.zeros(max(1, 1 << bits >> 3), np.uint8)

    @property
    def bytes(self) -> int:
        """Memory in use, at most: what is never touched costs nothing."""
        return self._map.nbytes

    def contains(self, states: Word) -> NDArray[np.bool_]:
        """Tell which states are in the set."""
        held = self._map.take((states >> _THREE).view(np.int64))
        held >>= states.astype(np.uint8) & _SEVEN
        held &= _ONE
        return held.view(np.bool_)

    def missing(self, states: Word) -> Places:
        """The places of states that are not in the set."""
        return np.flatnonzero(np.logical_not(self.contains(states)))

    def add(self, states: Word) -> None:
        """Add states."""
        bit = _ONE << (states.astype(np.uint8) & _SEVEN)
        np.bitwise_or.at(self._map, (states >> _THREE).view(np.int64), bit)


class Dense:
    """A store for states of one word: a map of the whole layout, and encoded levels."""

    batch: ClassVar[int] = 1 << 13  # a map is best filled from the second-level cache
    full = False

    def __init__(self, bits: int) -> None:
        """Make room for states of so many bits."""
        self.seen = FlatMap(bits)
        self.levels = Encoded()
        self._new: list[Word] = []
        self._next: list[Word] = [np.zeros(0, np.uint64)]
        self._fresh = 0

    @property
    def bytes(self) -> int:
        """Memory in use, copies that are made to sort a level included."""
        return self.seen.bytes + self.levels.bytes + 8 * (3 * self._fresh + 2 * self.levels.last)

    def candidates(self, moves: Iterable[Moves], most: int) -> list[list[Word]]:  # noqa: ARG002 - of the protocol
        """What is not in the map; the states from which the candidates come are."""
        return [[one.after[0].take(places)] for one in moves if len(places := self.seen.missing(one.after[0]))]

    def take(self, candidates: list[list[Word]]) -> None:
        """Put them into the map; a state that was found twice counts once when the level is closed."""
        for (states,) in candidates:
            self.seen.add(states)
            self._new.append(states)
            self._fresh += len(states)

    def settle(self, workers: Workers) -> None:
        """Nothing is left to do."""

    def close(self, workers: Workers) -> int:
        """Sort the next level, a range of states on each core."""
        found = np.concatenate(self._new) if self._new else np.zeros(0, np.uint64)
        self._new = []
        parts = workers.cores if len(found) > _SORTED_ALONE else 1
        self._next = joined([*workers.map(partial(_sorted_between, found), pairwise(_bounds(found, parts)))])
        self._fresh = len(self._next[0])
        return self._fresh

    def begin(self) -> None:
        """Keep the level."""
        self.levels.append(self._next)
        self._next, self._fresh = [np.zeros(0, np.uint64)], 0


class Encoded(Levels):
    """Levels in memory: the last one as it is, the others encoded."""

    def __init__(self) -> None:
        """Start without any."""
        self._older: list[tuple[Shape, bytes]] = []
        self._last: Words = []

    @property
    def bytes(self) -> int:
        """Memory of all but the last."""
        return sum(len(data) for _, data in self._older)

    @property
    def last(self) -> int:
        """Number of states of the last level."""
        return len(self._last[0]) if self._last else 0

    def append(self, level: Words) -> None:
        """Add a level."""
        if self._last:
            self._older.append(encoded(self._last))
        self._last = level

    def __len__(self) -> int:
        """How many levels there are."""
        return len(self._older) + bool(self._last)

    def __getitem__(self, depth: int) -> list[Word]:
        """All states of a level."""
        depth = range(len(self))[depth]
        return list(self._last) if depth == len(self._older) else decoded(*self._older[depth])

    def parts(self, depth: int, size: int, skip: int = 0) -> Iterator[list[Word]]:
        """The states of a level, at most so many at a time, without the first ones."""
        return cut(self[depth], size, skip)


def cut(level: Words, size: int, skip: int = 0) -> Iterator[list[Word]]:
    """States, at most so many at a time, without the first ones."""
    for start in range(skip, len(level[0]), size):
        yield [word[start:start + size] for word in level]


def _bounds(states: Word, parts: int) -> list[int]:
    """Bounds between which about equally many states lie; the first and the last are those of all states."""
    sample = np.sort(states[::max(1, len(states) >> _SAMPLED_BITS)])
    inner = [int(sample[len(sample) * part // parts]) for part in range(1, parts)]
    return [0, *inner, 1 << 64]


def _sorted_between(states: Word, bounds: tuple[int, int]) -> list[Word]:
    """The states from the first bound on, below the second, in ascending order, each once."""
    low, high = bounds
    if low:
        states = states[states >= np.uint64(low)]
    if high < 1 << 64:
        states = states[states < np.uint64(high)]
    return distinct([states])


_ONE, _SEVEN, _THREE = np.uint8(1), np.uint8(7), np.uint64(3)
