"""Coverage: which abstract states a campaign has visited, and where new ones still come from.

States are fingerprints of 64 bits; a set of ten million of them has a collision with a probability of 3 in a million.
They are merged in the order of the plan, so that what counts as new depends on no clock and no number of executors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

FLAT = 0.01
"""The curve of an arm is flat when less than this share of the states that it visits is new."""

_Sorted = NDArray[np.uint64]


class StateSet:
    """A growing set of fingerprints, in sorted arrays each of which is at least twice as long as the next one."""

    def __init__(self) -> None:
        """Empty."""
        self._parts: list[_Sorted] = []

    def __len__(self) -> int:
        """How many different states there are."""
        return sum(len(part) for part in self._parts)

    def add(self, states: bytes) -> int:
        """Take fingerprints (sorted, 8 bytes each, the low byte first); how many of them are new."""
        new = np.frombuffer(states, "<u8").astype(np.uint64)
        for part in self._parts:
            new = new[~_within(part, new)]
        if len(new):
            self._parts.append(new)
            while len(self._parts) > 1 and len(self._parts[-2]) < 2 * len(self._parts[-1]):
                last = self._parts.pop()
                self._parts[-1] = np.sort(np.concatenate([self._parts[-1], last]))
        return len(new)


def _within(part: _Sorted, states: _Sorted) -> NDArray[np.bool_]:
    places = np.searchsorted(part, states)
    places[places == len(part)] = 0
    found: NDArray[np.bool_] = part[places] == states
    return found


class Coverage:
    """What the units of a campaign have visited.

    runs -- so far. curve -- (runs, states) after 1, 2, 3, 4, 6, 8, 12, … units: two points for each doubling.
    """

    def __init__(self) -> None:
        """Nothing is visited yet."""
        self.runs = 0
        self.curve: list[tuple[int, int]] = []
        self._states = StateSet()
        self._units, self._next = 0, 1
        self._visited: Counter[tuple[Hashable, int]] = Counter()
        self._new: Counter[tuple[Hashable, int]] = Counter()

    @property
    def states(self) -> int:
        """How many different states were visited."""
        return len(self._states)

    def add(self, arm: Hashable, turn: int, runs: int, states: bytes) -> None:
        """Take a unit of an arm of the plan, which was given in this turn; units come in the order of the plan."""
        self.runs += runs
        self._units += 1
        self._visited[arm, turn] += len(states) // 8
        self._new[arm, turn] += self._states.add(states)
        if self._units == self._next:
            self.curve.append((self.runs, self.states))
            self._next = _after(self._next)

    def new(self, arm: Hashable) -> int:
        """How many states this arm was the first to visit."""
        return sum(new for (one, _), new in self._new.items() if one == arm)

    def flat(self, arm: Hashable, turn: int) -> bool:
        """Whether the arm's units of that turn visited hardly anything new."""
        return self._new[arm, turn] < FLAT * self._visited[arm, turn] or not self._visited[arm, turn]

    def points(self) -> list[tuple[int, int]]:
        """The curve up to now."""
        now = (self.runs, self.states)
        return self.curve if not self.runs or self.curve[-1:] == [now] else [*self.curve, now]


def _after(number: int) -> int:
    """The next of 1, 2, 3, 4, 6, 8, 12, 16, …."""
    power = 1 << (number.bit_length() - 1)
    return number + max(1, power // 2)
