"""Sets of states that only grow: maps of the whole layout while it is small, open addressing else. All are exact."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from model.language.batch import Word, Words

Places = NDArray[np.int64]


class Seen(Protocol):
    """A set of packed states.

    strict -- whether a state that occurs twice among those that are added is new only once.
    """

    strict: bool

    def add(self, states: Words) -> Places:
        """Add states and return the places of those that are new."""

    def contains(self, states: Words) -> NDArray[np.bool_]:
        """Tell which states are in the set."""

    @property
    def bytes(self) -> int:
        """Memory in use."""


class FlatMap:
    """One bit for every state of a small layout."""

    strict = False

    def __init__(self, bits: int) -> None:
        """Make room for states of so many bits."""
        self._map = np.zeros(max(1, 1 << bits >> 3), np.uint8)

    @property
    def bytes(self) -> int:
        """Memory in use."""
        return self._map.nbytes

    def contains(self, states: Words) -> NDArray[np.bool_]:
        """Tell which states are in the set."""
        held = self._map.take((states[0] >> _THREE).view(np.int64))
        held >>= states[0].astype(np.uint8) & _SEVEN
        held &= _ONE
        return held.view(np.bool_)

    def add(self, states: Words) -> Places:
        """Add states and return the places of those that are new; a state that occurs twice may be new twice."""
        places = np.flatnonzero(np.logical_not(self.contains(states)))
        if len(places):
            new = states[0].take(places)
            bit = _ONE << (new.astype(np.uint8) & _SEVEN)
            np.bitwise_or.at(self._map, (new >> _THREE).view(np.int64), bit)
        return places


class PagedMap:
    """One byte for every state of a larger layout, in pages that are made when they are needed.

    Fast as long as the states that occur lie close together; a search gives it up when they do not.
    """

    strict = False

    def __init__(self, bits: int, page_bits: int = 12) -> None:
        """Make room for states of so many bits."""
        self._page_bits = np.uint64(min(bits, page_bits))
        self._low = np.uint64((1 << int(self._page_bits)) - 1)
        self._page = np.zeros(1 << (bits - int(self._page_bits)), np.uint64)  # first byte of its page; 0 is nobody's
        self._map = np.zeros(2 << int(self._page_bits), np.uint8)
        self._pages = 1

    @property
    def bytes(self) -> int:
        """Memory in use."""
        return self._map.nbytes + self._pages * 16

    def _address(self, states: Word) -> NDArray[np.int64]:
        address = self._page.take((states >> self._page_bits).view(np.int64))
        address |= states & self._low
        return address.view(np.int64)

    def contains(self, states: Words) -> NDArray[np.bool_]:
        """Tell which states are in the set."""
        return self._map.take(self._address(states[0])).view(np.bool_)

    def add(self, states: Words) -> Places:
        """Add states and return the places of those that are new; a state that occurs twice may be new twice."""
        places = np.flatnonzero(np.logical_not(self.contains(states)))
        if len(places):
            new = states[0].take(places)
            self._make_pages(new >> self._page_bits)
            self._map[self._address(new)] = 1
        return places

    def _make_pages(self, numbers: Word) -> None:
        missing = np.flatnonzero(self._page.take(numbers.view(np.int64)) == 0)
        if not len(missing):
            return
        wanted = distinct([numbers.take(missing)])[0]
        needed = (self._pages + len(wanted)) << int(self._page_bits)
        if needed > len(self._map):
            larger = np.zeros(max(needed, 2 * len(self._map)), np.uint8)
            larger[:len(self._map)] = self._map
            self._map = larger
        first = np.arange(self._pages, self._pages + len(wanted), dtype=np.uint64)
        self._page[wanted.view(np.int64)] = first << self._page_bits
        self._pages += len(wanted)


class HashSet:
    """Open addressing with whole keys, by whole arrays: all candidates not yet placed advance one probe a round.

    Of several candidates for one empty slot, one wins by writing its number into a claim array and reading it back;
    then it writes its key. The top bit of the first word, which layouts leave free, marks a slot that is taken.
    """

    strict = True

    def __init__(self, words: int, slots: int = 1 << 12) -> None:
        """Start with so many slots (a power of two)."""
        self._columns = [np.zeros(slots, np.uint64) for _ in range(words)]
        self._claims = np.zeros(slots, np.int32)
        self._last = np.int64(slots - 1)
        self._count = 0

    @property
    def bytes(self) -> int:
        """Memory in use."""
        return sum(column.nbytes for column in self._columns) + self._claims.nbytes

    def _slots(self, keys: Words) -> NDArray[np.int64]:
        mixed = keys[0] * _GOLDEN
        for key in keys[1:]:
            mixed ^= mixed >> np.uint64(29)
            mixed = (mixed ^ key) * _GOLDEN
        mixed ^= mixed >> np.uint64(32)
        mixed *= _GOLDEN
        return (mixed >> np.uint64(65 - len(self._claims).bit_length())).view(np.int64)

    def contains(self, states: Words) -> NDArray[np.bool_]:
        """Tell which states are in the set."""
        keys = _marked(states)
        found = np.ones(len(keys[0]), np.bool_)
        slots, waiting = self._slots(keys), np.arange(len(found))
        while len(waiting):
            on, empty = self._differing(keys, waiting, slots)
            found[waiting.take(on[empty])] = False
            on = on[~empty]
            waiting, slots = waiting.take(on), slots.take(on) + 1 & self._last
        return found

    def _differing(self, keys: Words, waiting: Places, slots: Places) -> tuple[Places, NDArray[np.bool_]]:
        """Which of the waiting do not find themselves in their slots, and whether they find these empty."""
        held = self._columns[0].take(slots)
        differ = held != (keys[0] if len(waiting) == len(keys[0]) else keys[0].take(waiting))
        for column, key in zip(self._columns[1:], keys[1:], strict=True):
            differ |= column.take(slots) != key.take(waiting)
        on = np.flatnonzero(differ)
        empty: NDArray[np.bool_] = held.take(on) == 0
        return on, empty

    def add(self, states: Words) -> Places:
        """Add states and return the places of those that are new, each state once."""
        keys = _marked(states)
        self._reserve(self._count + len(keys[0]))
        slots, waiting = self._slots(keys), np.arange(len(keys[0]))
        new = [waiting[:0]]
        while len(waiting):
            on, empty = self._differing(keys, waiting, slots)
            waiting, slots = waiting.take(on), slots.take(on)
            won = np.zeros(len(on), np.bool_)
            won[empty] = self._claim(slots[empty], waiting[empty].astype(np.int32))
            winners, place = waiting[won], slots[won]
            for column, key in zip(self._columns, keys, strict=True):
                column[place] = key.take(winners)
            new.append(winners)
            slots += ~empty  # who lost an empty slot looks again: its own state may have won it
            slots &= self._last
            waiting, slots = waiting[~won], slots[~won]
        found = np.sort(np.concatenate(new))
        self._count += len(found)
        return found

    def _claim(self, slots: Places, numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell which of several candidates for a slot gets it: whose number is read back."""
        self._claims[slots] = numbers
        won: NDArray[np.bool_] = self._claims.take(slots) == numbers
        return won

    def _reserve(self, count: int) -> None:
        """Make room for so many states, all candidates that are about to come included."""
        slots = len(self._claims)
        while count > slots * 0.6:
            slots *= 2
        if slots > len(self._claims):
            taken = np.flatnonzero(self._columns[0])
            old = [column.take(taken) for column in self._columns]
            self.__init__(len(self._columns), slots)  # type: ignore[misc]
            old[0] &= ~_MARK
            self.add(old)


_ONE, _SEVEN, _THREE = np.uint8(1), np.uint8(7), np.uint64(3)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MARK = np.uint64(1 << 63)


def _marked(states: Words) -> list[Word]:
    return [states[0] | _MARK, *states[1:]]


def distinct(states: Words) -> list[Word]:
    """The states in ascending order, each once (the first word decides first)."""
    if len(states) == 1:
        ordered = [np.sort(states[0])]
    else:
        order = np.lexsort(tuple(reversed(states)))
        ordered = [word.take(order) for word in states]
    if not len(ordered[0]):
        return ordered
    keep = np.ones(len(ordered[0]), np.bool_)
    same = ordered[0][1:] == ordered[0][:-1]
    for word in ordered[1:]:
        same &= word[1:] == word[:-1]
    np.logical_not(same, out=keep[1:])
    return [word[keep] for word in ordered]
