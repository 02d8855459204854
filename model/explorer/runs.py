"""Sorted states: without what occurs twice, without what is known, and in few bytes.

States are in ascending order if their first words are, then their second words, and so on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.explorer.buffers import Buffers
from model.language.batch import Word, Words, dtype

_WIDTHS = (np.uint8, np.uint16, np.uint32, np.uint64)
_THINNEST = 16  # bytes of a window that one state may cost: above that, sorting is cheaper
_WIDEST = 1 << 27  # bytes of a window
_ONE = np.uint64(1)


@dataclass(frozen=True, slots=True)
class Shape:
    """How encoded states are to be read.

    count -- of states. gap, escapes -- bytes of a difference of first words, and how many differences need more. rest
    -- bytes of each further word.
    """

    count: int
    gap: int
    escapes: int
    rest: tuple[int, ...] = ()


def encoded(states: Words) -> tuple[Shape, bytes]:
    """Ascending states as the differences of their first words; what is too large for its bytes stands behind them."""
    gaps = states[0].copy()
    gaps[1:] -= states[0][:-1]
    sizes = [len(gaps) * kind().itemsize + 8 * int(np.count_nonzero(gaps >= _most(kind))) for kind in _WIDTHS]
    kind = _WIDTHS[int(np.argmin(sizes))]
    large = gaps[gaps >= _most(kind)]
    parts = [np.minimum(gaps, _most(kind)).astype(kind), large]
    parts += [word.astype(dtype(int(word.max(initial=0)))) for word in states[1:]]
    shape = Shape(len(gaps), kind().itemsize, len(large), tuple(part.itemsize for part in parts[2:]))
    return shape, b"".join(part.tobytes() for part in parts)


def decoded(shape: Shape, data: bytes | memoryview) -> list[Word]:
    """The states again."""
    kind = _kind(shape.gap)
    small = np.frombuffer(data, kind, shape.count)
    first = small.astype(np.uint64)
    place = small.nbytes
    if shape.escapes:
        first[np.flatnonzero(small == _most(kind))] = np.frombuffer(data, np.uint64, shape.escapes, place)
    states, place = [np.cumsum(first)], place + 8 * shape.escapes  # in place it would keep other threads waiting
    for size in shape.rest:
        states.append(np.frombuffer(data, _kind(size), shape.count, place).astype(np.uint64))
        place += size * shape.count
    return states


def _kind(size: int) -> type[np.unsignedinteger]:
    return next(kind for kind in _WIDTHS if kind().itemsize == size)


def _most(kind: type[np.unsignedinteger]) -> np.uint64:
    return np.uint64(np.iinfo(kind).max)


def distinct(states: Words) -> list[Word]:
    """The states in ascending order, each once (the first word decides first)."""
    if len(states) == 1:
        ordered = [np.sort(states[0])]
    else:
        order = np.lexsort(tuple(reversed(states)))
        ordered = [word.take(order) for word in states]
    if not len(ordered[0]):
        return ordered
    return _taken(ordered, _changes(ordered))


def _changes(ordered: Words) -> NDArray[np.bool_]:
    """Which states differ from the one before."""
    changes = np.ones(len(ordered[0]), np.bool_)
    np.not_equal(ordered[0][1:], ordered[0][:-1], out=changes[1:])
    for word in ordered[1:]:
        changes[1:] |= word[1:] != word[:-1]
    return changes


def _taken(states: Words, keep: NDArray[np.bool_]) -> list[Word]:
    places = np.flatnonzero(keep)  # several times as fast as an index of truth values
    return [word.take(places) for word in states]


def joined(parts: Sequence[Words]) -> list[Word]:
    """All states, part after part."""
    return [np.concatenate(words) for words in zip(*parts, strict=True)]


class Gathered:
    """States that are collected in borrowed memory, and sorted there."""

    def __init__(self, rooms: list[Word]) -> None:
        """Start without any; rooms -- one for each word."""
        self._rooms, self._count = rooms, 0

    def add(self, states: Words, places: NDArray[np.int64] | None = None) -> None:
        """Copy all states, or those at some places."""
        end = self._count + len(states[0] if places is None else places)
        for room, word in zip(self._rooms, states, strict=True):
            part = room[self._count:end]
            if places is None:
                part[:] = word
            else:
                np.take(word, places, out=part, mode="clip")  # any other mode takes through a copy
        self._count = end

    def distinct(self) -> list[Word]:
        """All in ascending order, each once."""
        states = [room[:self._count] for room in self._rooms]
        if len(states) > 1:
            return distinct(states)
        states[0].sort()
        return _taken(states, _changes(states)) if self._count else [states[0].copy()]


@contextmanager
def gathering(words: int, most: int, buffers: Buffers) -> Iterator[Gathered]:
    """Collect at most so many states, of so many words."""
    with ExitStack() as borrowed:
        yield Gathered([borrowed.enter_context(buffers.lent(8 * most)).view(np.uint64) for _ in range(words)])


def merged(parts: Sequence[Words], buffers: Buffers) -> list[Word]:
    """All states in ascending order, each once."""
    with gathering(len(parts[0]), sum(len(part[0]) for part in parts), buffers) as gathered:
        for part in parts:
            gathered.add(part)
        return gathered.distinct()


def fresh(known: Iterable[Words], count: int, candidates: Sequence[Words], buffers: Buffers) -> list[Word]:
    """The candidates that are not known, in ascending order, each once; every part is in ascending order.

    count -- of what is known. Where states lie close together a window of one byte for every possible state is marked;
    else all are sorted.
    """
    total = count + sum(len(part[0]) for part in candidates)
    if len(candidates[0]) == 1:
        low = min(int(part[0][0]) for part in candidates)
        span = max(int(part[0][-1]) for part in candidates) - low + 1
        if span <= min(_WIDEST, _THINNEST * total):
            with buffers.zeros(span) as window:
                return [_in_window(low, window, (part[0] for part in known), [part[0] for part in candidates])]
        with buffers.lent(8 * total) as room:
            return _by_sorting(room.view(np.uint64), (part[0] for part in known), [part[0] for part in candidates])
    return _by_ordering(known, candidates)


def _in_window(low: int, window: NDArray[np.uint8], known: Iterable[Word], candidates: Sequence[Word]) -> Word:
    """What is marked at the end; the window is 0 everywhere, and is left so."""
    base, end = np.uint64(low), low + len(window)
    for part in candidates:
        window[(part - base).view(np.int64)] = 1
    for part in known:
        if part[0] < low or part[-1] >= end:
            part = part[slice(*np.searchsorted(part, np.array([low, end], np.uint64)))]  # noqa: PLW2901 - its inside
        window[(part - base).view(np.int64)] = 0
    places = np.flatnonzero(window.view(np.bool_))
    window[places] = 0
    return np.add(places.view(np.uint64), base)


def _by_sorting(room: Word, known: Iterable[Word], candidates: Sequence[Word]) -> list[Word]:
    """Sort all, what is known before its like, and keep the candidates that differ from what is before them."""
    place = 0
    for mark, parts in ((0, known), (1, candidates)):
        for part in parts:
            marked = room[place:place + len(part)]
            np.left_shift(part, _ONE, out=marked)
            if mark:
                marked |= _ONE
            place += len(part)
    room.sort()
    candidate = room.astype(np.uint8)  # the lowest byte
    candidate &= np.uint8(1)
    room >>= _ONE
    return _taken([room], _changes([room]) & candidate.view(np.bool_))


def _by_ordering(known: Iterable[Words], candidates: Sequence[Words]) -> list[Word]:
    """The same for states of several words."""
    last = len(candidates[0]) - 1
    marked = [[*part[:last], part[last] << _ONE] for part in known]
    marked += [[*part[:last], part[last] << _ONE | _ONE] for part in candidates]
    ordered = joined(marked)
    order = np.lexsort(tuple(reversed(ordered)))
    ordered = [word.take(order) for word in ordered]
    candidate = (ordered[last] & _ONE).astype(np.bool_)
    ordered[last] >>= _ONE
    return _taken(ordered, _changes(ordered) & candidate)
