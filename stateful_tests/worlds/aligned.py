"""Tapes for two subjects that live through the same world: a choice is drawn by what it is about, and when.

Of two runs with the same seed and another `RandomTape` each, the first one that draws once more moves all choices that
follow, and nothing that happens later can be compared. Here a choice depends on its seed, its place in the code, the
true time, and on how many choices that place has made at that time. So whatever the two runs do alike has the same
choices, also after they have differed. For each run by itself the choices are as random as those of `RandomTape`.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

from impl.hosts.simulation.tape import RandomTape, Where
from stateful_tests.worlds.profiles import DEPTH, FOCUSED, HORIZON, FocusTape, PriorityTape

_BITS = (1 << 64) - 1
_Place = tuple[int, int]


class Draws:
    """Numbers from 0 to below 1, by place and time.

    clock -- true time of the world in ms.
    """

    def __init__(self, seed: int) -> None:
        """The same seed gives the same numbers in every process."""
        self.clock: Callable[[], int] = lambda: 0
        self._seed = seed
        self._places: dict[tuple[str, tuple[int, ...]], int] = {}
        self._met: dict[_Place, int] = {}

    def draw(self, where: Where, *kind: int) -> float:
        """The next number of a place at this time; where -- as of `Tape.pick`; kind -- of choice."""
        place = self.of(where, *kind), self.clock()
        met = self._met[place] = self._met.get(place, 0) + 1
        return _mixed(place[0] + place[1] * 0x9E3779B97F4A7C15 + met * 0xD1B54A32D192ED03)

    def of(self, where: Where, *kind: int) -> int:
        """A number for a place in the code; functions that make a text stand for the line that defines them."""
        named = where if isinstance(where, str) else where.__qualname__, kind
        number = self._places.get(named)
        if number is None:
            digest = blake2b(f"{self._seed} {named}".encode(), digest_size=8).digest()
            number = self._places[named] = int.from_bytes(digest, "big")
        return number


def _mixed(number: int) -> float:
    """The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), as a fraction."""
    number &= _BITS
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & _BITS
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & _BITS
    return (number ^ (number >> 31)) / (1 << 64)


class _Aligned(RandomTape):
    """A tape whose chance comes from `Draws`."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.draws = Draws(seed)
        self._where: Where = ""
        self._kind = (0, 0)
        self._random = lambda: self.draws.draw(self._where, *self._kind)

    @property
    def clock(self) -> Callable[[], int]:
        return self.draws.clock

    @clock.setter
    def clock(self, clock: Callable[[], int]) -> None:
        self.draws.clock = clock

    def pick(self, n: int, where: Where = "", one_in: int = 1) -> int:
        self._where, self._kind = where, (n, one_in)
        return super().pick(n, where, one_in)


class _Focused(_Aligned, FocusTape):
    """Whether a place is in focus depends on the place alone."""

    def in_focus(self, where: str) -> bool:
        return self.draws.of(where) % FOCUSED == 0


class _Few(_Aligned, PriorityTape):
    """At most DEPTH choices, each as likely as at a place that is drawn among HORIZON."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._left = DEPTH

    def at_drawn_place(self) -> bool:
        drawn = self._left > 0 and self.draws.draw("place") * HORIZON < DEPTH
        self._left -= drawn
        return drawn


_TAPES: dict[str, type[_Aligned]] = {"uniform": _Aligned, "swarm": _Aligned, "priority": _Few, "focus": _Focused}


def aligned(strategy: str, seed: int) -> RandomTape:
    """The tape of a strategy of `profiles.STRATEGIES` with choices by place and time."""
    return _TAPES[strategy](seed)
