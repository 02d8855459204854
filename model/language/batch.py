"""The batch reading: ground terms over many packed states at once, by numpy.

States come as one uint64 array per machine word. Within one batch every term is computed once, whoever asks for it.
Truth values are bool arrays, small numbers small unsigned integers; constants stay Python ints.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.language.ground import AFTER, Ground

Word = NDArray[np.uint64]
Words = Sequence[Word]
Array = NDArray[Any]

_BYTE = 8


def dtype(bound: int) -> type[np.unsignedinteger[Any]]:
    """The smallest type that holds the numbers up to a bound."""
    if bound < 1 << 8:
        return np.uint8
    if bound < 1 << 16:
        return np.uint16
    return np.uint32 if bound < 1 << 32 else np.uint64


class Table:
    """A term that was computed for all values of the few bits it depends on.

    mask -- those bits, per word. values -- its values by the bits, packed together.
    """

    __slots__ = ("mask", "values")

    def __init__(self, mask: int, values: Array) -> None:
        """Keep the table."""
        self.mask, self.values = mask, values


class Batch:
    """One batch of states, or of steps (states before, states after)."""

    def __init__(self, before: Words, after: Words | None = None) -> None:
        """Start without any value."""
        self.words = (before, before if after is None else after)
        self._memo: dict[Ground, Any] = {}
        self._indices: dict[int, NDArray[np.int64]] = {}
        self._bytes: dict[tuple[int, int], NDArray[np.uint8]] = {}

    def __len__(self) -> int:
        """Number of states."""
        return len(self.words[0][0])

    def truth(self, term: Ground) -> NDArray[np.bool_]:
        """A formula as a bool array."""
        value = self.value(term)
        return value if isinstance(value, np.ndarray) else np.full(len(self), bool(value))

    def value(self, term: Ground) -> Any:
        """The values of a term: an array, or an int when it is constant."""
        if term.op == "const":
            return bool(term.data) if term.boolean else term.data
        found = self._memo.get(term)
        if found is None:
            found = self._memo[term] = self._compute(term)
        return found

    def _compute(self, term: Ground) -> Any:  # noqa: C901, PLR0911, PLR0912 - one case per operator
        op = term.op
        if op == "bits":
            return self._bits(term)
        if op == "table":
            return term.data.values.take(self.index(term.data.mask))
        if op == "ite":
            c, a, b = (self.value(arg) for arg in term.args)
            kind = np.bool_ if term.boolean else dtype(term.bound)
            return np.where(c, _as(a, kind), _as(b, kind))
        if op == "pack":
            return self._pack(term)
        args = [self.value(arg) for arg in term.args]
        match op:
            case "not":
                return np.logical_not(args[0])
            case "and" | "or":
                return _junction(np.logical_and if op == "and" else np.logical_or, args)
            case "eq":
                return np.equal(*args)
            case "lt":
                return np.less(*args)
            case "add":
                return _as(args[0], dtype(term.bound)) + _as(args[1], dtype(term.bound))
            case "sub":
                kind = dtype(max(arg.bound for arg in term.args))
                a, b = (_as(arg, kind) for arg in args)
                return a - np.minimum(a, b)
            case "scale":
                return _as(args[0], dtype(term.bound)) * dtype(term.bound)(term.data)
            case "select":
                return self._select(term, args[0])
            case "lookup":
                return self._lookup(term, args[0])
            case "member":
                kind = dtype(term.args[0].bound)
                return (_as(args[0], kind) >> _as(args[1], kind) & kind(1)).astype(np.bool_)
            case "single":
                kind = dtype(term.bound)
                return kind(1) << args[0].astype(kind)
            case "union":
                return _as(args[0], dtype(term.bound)) | _as(args[1], dtype(term.bound))
            case "less":
                kind = dtype(max(arg.bound for arg in term.args))
                return _as(args[0], kind) & ~_as(args[1], kind)
        raise AssertionError(op)

    def _bits(self, term: Ground) -> Array:
        phase, position, width = term.data
        word, shift = divmod(position, 64)
        if shift % _BYTE + width <= _BYTE:
            value: Array = self._byte(phase, position // _BYTE)
            if term.boolean:
                value = (value & np.uint8(1 << shift % _BYTE)) != 0
            else:
                value = value >> np.uint8(shift % _BYTE) & np.uint8((1 << width) - 1)
            return value
        value = self.words[phase][word] >> np.uint64(shift) & np.uint64((1 << width) - 1)
        return value.astype(dtype(term.bound))

    def _byte(self, phase: int, number: int) -> NDArray[np.uint8]:
        """A byte of each state, side by side."""
        found = self._bytes.get((phase, number))
        if found is None:
            column = self.words[phase][number // 8]
            found = self._bytes[phase, number] = (column >> np.uint64(number % 8 * _BYTE)).astype(np.uint8)
        return found

    def _pack(self, term: Ground) -> Array:
        kind = dtype(term.bound)
        result: Any = kind(sum(arg.data << i for i, arg in enumerate(term.args) if arg.op == "const"))
        for i, arg in enumerate(term.args):
            if arg.op != "const":
                result = result | (self.value(arg).astype(kind) << kind(i))
        packed: Array = result
        return packed

    def _select(self, term: Ground, index: Array) -> Array:
        phase, position, width, _ = term.data
        word, shift = divmod(position, 64)
        column = self.words[AFTER if phase == AFTER else 0][word]
        at = index.astype(np.uint64) * np.uint64(width) + np.uint64(shift)
        value: Array = column >> at & np.uint64((1 << width) - 1)
        return value.astype(np.bool_ if term.boolean else dtype(term.bound))

    @staticmethod
    def _lookup(term: Ground, index: Array) -> Array:
        kind = np.bool_ if term.boolean else dtype(term.bound)
        inside = term.args[0].bound < len(term.data)
        values = np.array(term.data if inside else (*term.data, 0), kind)
        return values.take(index, mode="clip")  # tables are made of all bit patterns, also of some that are no values

    def index(self, mask: int) -> NDArray[np.int64]:
        """The bits of each state that the mask names, packed together."""
        found = self._indices.get(mask)
        if found is None:
            result: Any = np.zeros(len(self), np.uint64) if not mask else None
            for word, shift, width, place in pieces(mask):
                part = self.words[0][word] >> np.uint64(shift)
                part &= np.uint64((1 << width) - 1)
                if place:
                    part <<= np.uint64(place)
                result = part if result is None else np.bitwise_or(result, part, out=result)
            found = self._indices[mask] = result.view(np.int64)
        return found


@cache
def pieces(mask: int) -> list[tuple[int, int, int, int]]:
    """The runs of bits of a mask: (word, shift, width, place in the packed number)."""
    found, place = [], 0
    position = 0
    while mask >> position:
        if not mask >> position & 1:
            position += 1
            continue
        width = 1
        while mask >> position + width & 1 and (position + width) % 64:
            width += 1
        found.append((position // 64, position % 64, width, place))
        position, place = position + width, place + width
    return found


def _as(value: Any, kind: type[Any]) -> Any:
    """A value in a wide enough type."""
    return value.astype(kind, copy=False) if isinstance(value, np.ndarray) else kind(value)


def _junction(operation: Any, args: Sequence[Array]) -> Array:
    result: Array = operation(args[0], args[1])
    for arg in args[2:]:
        operation(result, arg, out=result)
    return result


def words(states: Sequence[int], count: int) -> list[Word]:
    """Packed states as one array per word."""
    mask = (1 << 64) - 1
    return [np.array([state >> 64 * word & mask for state in states], np.uint64) for word in range(count)]


def states(batch: Words) -> list[int]:
    """The states of a batch as ints."""
    return [sum(part << 64 * word for word, part in enumerate(parts))
            for parts in zip(*(word.tolist() for word in batch), strict=True)]
