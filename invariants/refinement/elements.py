"""Models whose elements come and go: pools of elements, scopes that grow, states that are renamed.

A world has any number of connections, topics and versions; a scope has few elements of each sort. What the
implementation names is given an element when it is first needed, and the element is taken back when nothing of it is
set any more. When a pool is exhausted the scope is made larger and the states are packed anew.

States are rewritten only where no guard and no property can tell the difference (names of elements, versions of which
only the order or the equality counts), and for what the model has no step for; each follower says what that is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from invariants.finding import Finding
from invariants.refinement.monitor import Alternatives, Monitor, Reading
from model.language import Property
from model.language.properties import ALWAYS, STEP
from model.language.scope import Scope


class Sized(Reading):
    """The reading of a scope, shared by all monitors of its size; cells are read and written by name."""

    def __init__(self, scope: Scope) -> None:
        """Read a scope."""
        super().__init__(scope)
        self._at: dict[tuple[str | int, ...], tuple[int, int]] = {}
        self._whole: dict[tuple[str | int, ...], int] = {}

    def at(self, *cell: str | int) -> tuple[int, int]:
        """Position and mask of a cell (variable, key, …): `state >> position & mask` is its value."""
        found = self._at.get(cell)
        if found is None:
            there = self.layout.cell(str(cell[0]), *map(int, cell[1:]))
            found = self._at[cell] = there.position, (1 << there.width) - 1
        return found

    def get(self, state: int, *cell: str | int) -> int:
        """The encoded value of a cell."""
        position, mask = self.at(*cell)
        return state >> position & mask

    def put(self, state: int, value: int, *cell: str | int) -> int:
        """The state with another value in a cell."""
        position, mask = self.at(*cell)
        return state & ~(mask << position) | value << position

    def whole(self, *cell: str | int) -> int:
        """All bits of a variable, or of one cell of it."""
        found = self._whole.get(cell)
        if found is None:
            there = [one for one in self.layout.table(str(cell[0])) if len(cell) == 1 or one.keys == cell[1:]]
            found = self._whole[cell] = sum(one.mask for one in there)
        return found

    def moved(self, state: int, larger: Sized) -> int:
        """The same state in a larger scope of the same concept; what is new there is 0."""
        if larger.layout is self.layout:
            return state
        return larger.layout.pack({(cell.variable, *cell.keys): self.layout.read(state, cell)
                                   for cell in self.layout.cells})


class Followed:
    """A monitor that can move to another scope of its concept.

    visible -- names of the variables that are compared. reading, states -- as they are now.
    """

    def __init__(self, reading: Sized, visible: Sequence[str], initial: int, properties: Sequence[Property]) -> None:
        """Begin in a packed state."""
        self.reading, self.visible, self.properties = reading, visible, properties
        self.monitor = Monitor(reading, _nothing, visible, initial, properties)

    @property
    def states(self) -> tuple[int, ...]:
        """The states that fit."""
        return self.monitor.states

    def take(self, event: Any, alternatives: Alternatives | Callable[[int], Alternatives]) -> list[Finding]:
        """Take the steps that an event stands for; a function says for each state what it may stand for there."""
        if callable(alternatives):
            states = self.monitor.states
            given = alternatives(states[0])
            alternatives = given if len(states) == 1 else list(dict.fromkeys(
                tuple(steps) for state in states for steps in alternatives(state)))
        return self.monitor.follow(event, alternatives)

    def compare(self, seen: int, visible: int = -1) -> list[Finding]:
        """See Monitor."""
        return self.monitor.compare(seen, visible)

    def fingerprint(self, without: int = 0) -> int:
        """A number for the first of the states, the same in every process; without -- bits that are left out."""
        return hash((self.reading.layout.bits, self.monitor.states[0] & ~without))

    def rewrite(self, change: Callable[[int], int]) -> None:
        """Put another state in the place of each; nothing is judged."""
        states = self.monitor.states
        self.monitor.states = (change(states[0]),) if len(states) == 1 else tuple(sorted(set(map(change, states))))

    def keep(self, fits: Callable[[int], bool]) -> None:
        """Drop the states that do not fit, if there is one that does; nothing is judged."""
        self.monitor.states = tuple(filter(fits, self.monitor.states)) or self.monitor.states

    def move(self, reading: Sized) -> None:
        """Go on in another scope, whose sorts have at least as many elements."""
        states = sorted({self.reading.moved(state, reading) for state in self.monitor.states})
        self.reading = reading
        self.monitor = Monitor(reading, _nothing, self.visible, states[0], self.properties)
        self.monitor.states = tuple(states)


class Pool:
    """Elements of one sort, given to identities.

    size -- how many there are. given -- identity to element.
    """

    def __init__(self, size: int) -> None:
        """None is given."""
        self.size = size
        self.given: dict[Hashable, int] = {}
        self._asked: set[int] = set()

    def get(self, identity: Hashable) -> int | None:
        """The element of an identity."""
        return self.given.get(identity)

    def known(self, identity: Hashable) -> int | None:
        """The element of an identity, if it has one, as `give` gives it."""
        found = self.given.get(identity)
        if found is not None:
            self._asked.add(found)
        return found

    def give(self, identity: Hashable, needed: Callable[[int], bool], new: Callable[[int], None]) -> int:
        """The element of an identity; a new one is one that nobody has, or that is not needed any more.

        What was given since `settle` is needed. new -- told of an element that was given anew. If there is none, the
        pool gets twice as large: the caller finds the new size.
        """
        found = self.given.get(identity)
        if found is None:
            found = self._free(needed)
            self.given[identity] = found
            new(found)
        self._asked.add(found)
        return found

    def settle(self) -> None:
        """What is needed can be seen from the states again."""
        self._asked.clear()

    def _free(self, needed: Callable[[int], bool]) -> int:
        taken = {number: identity for identity, number in self.given.items()}
        for number in range(self.size):
            if number not in taken:
                return number
        for number in range(self.size):
            if number not in self._asked and not needed(number):
                del self.given[taken[number]]
                return number
        self.size *= 2
        return self.size // 2


def judged(properties: Sequence[Property], without: Sequence[str] = ()) -> tuple[Property, ...]:
    """What is promised: no lemmas, which support proofs under premises, and nothing that must only be reachable."""
    return tuple(declared for declared in properties
                 if declared.kind in (ALWAYS, STEP) and declared.name not in without)


def _nothing(_: Any) -> Alternatives:
    return ()
