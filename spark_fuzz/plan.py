"""The plan: which units make the next round, so that cores stay busy and the time is kept.

Units come from an iterator in a fixed order, the cheap and telling ones first; what is already stored is left out. A
round is at most twelve units for each core, so that the tail of its last unit stays below a tenth of it, and near the
end of the time no more than what still fits. The first units may be marked as done in any case, time or not.

A plan may decide what comes next by the rows of what came before: it then gives None, and no unit behind that is taken
before all units that stand in front of it are done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

from spark_fuzz.work import Unit

UNITS_PER_CORE = 12


class Rounds:
    """Cuts units into rounds until they or the time run out.

    units -- in order; may be endless. None ends a round.
    cores -- how many units run at the same time.
    seconds -- wall time from now on; a round is begun only within it, or for the first units.
    least -- how many first units are done however long they take.
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
        self._until = now() + seconds

    def __iter__(self) -> Iterator[list[Unit]]:
        """The rounds; the time between two of them is taken as the time that the first one worked."""
        per_core, given = 1, 0
        while (units := self._next(per_core * self._cores)):
            began = self._now()
            yield units
            ended = self._now()
            given += len(units)
            if ended >= self._until and given >= self._least:
                return
            unit_s = max((ended - began) * self._cores / len(units), 1e-6)
            per_core = min(UNITS_PER_CORE, max(1, int((self._until - ended) / unit_s)))

    def _next(self, most: int) -> list[Unit]:
        """The next units, at most so many, and none from behind a None; empty when there are no more."""
        units: list[Unit] = []
        for unit in self._units:
            if unit is not None:
                units.append(unit)
            if len(units) == most or (unit is None and units):
                break
        return units
