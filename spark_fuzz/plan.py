"""The plan: which units make the next round, so that cores stay busy and the time is kept.

Units come from an iterator in a fixed order, the cheap and telling ones first; what is already stored is left out. A
round is at most twelve units for each core, so that the tail of its last unit stays below a tenth of it, and near the
end of the time no more than what still fits. A unit that takes longer than what is left is passed over, but for one of
the lightest for each core: estimates are rough. So many of the lightest may be marked as done in any case, time or not.

A plan may decide what comes next by the rows of what came before: it then gives None, and no unit behind that is taken
before all units that stand in front of it are done.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from spark_fuzz.work import Unit

UNITS_PER_CORE = 12


class Rounds:
    """Cuts units into rounds until they or the time run out.

    units -- in order; may be endless. None ends a round.
    cores -- how many units run at the same time.
    seconds -- wall time from now on; a round is begun only within it, or for the first units.
    least -- how many of the first units are done however long they take, heavier ones than others left out.
    now -- a clock in seconds.
    """

    def __init__(
        self, units: Iterable[Unit | None], cores: int, seconds: float, *, least: int = 0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """The time runs from here."""
        self._units = iter(units)
        self._cores, self._least = cores, least
        self._now = now
        self._lightest = math.inf
        self._kept: list[Unit] = []
        self._until = now() + seconds

    def __iter__(self) -> Iterator[list[Unit]]:
        """The rounds; the time between two of them is taken as the time that the first one worked."""
        most, room = self._cores, math.inf
        while (units := self._next(most, room)):
            began = self._now()
            yield units
            ended = self._now()
            self._least -= len(units)
            if ended >= self._until and self._least <= 0:
                return
            weight_s = max((ended - began) * self._cores / sum(unit.weight for unit in units), 1e-6)
            most, room = UNITS_PER_CORE * self._cores, (self._until - ended) / weight_s

    def _next(self, most: int, room: float) -> list[Unit]:
        """The next units, at most so many, and none from behind a None; empty when there are no more that fit.

        room -- how much weight one core can do in what is left of the time.
        """
        units: list[Unit] = []
        passed_over = weight = 0
        kept, self._kept = self._kept, []
        for unit in chain(kept, self._units):
            if unit is None:
                if units:
                    break
                continue
            self._lightest = min(self._lightest, unit.weight)
            any_case = unit.weight == self._lightest and len(units) < max(self._least, self._cores)
            if unit.weight > room and not any_case:
                passed_over += 1
            elif weight + unit.weight > room * self._cores and not any_case:
                self._kept = [unit]
                break
            else:
                units.append(unit)
                weight += unit.weight
            if len(units) + passed_over >= most:
                break
        return units
