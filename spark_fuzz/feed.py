"""The units of a plan, given in order to whoever is free, and their rows, taken back in the order of the plan.

So what follows from the rows depends on no clock and no number of cores, and neither does it when rows of a former run
take the place of units. A plan may decide what comes next by the rows of what came before: it then gives a number
instead of a unit, and no unit behind it is given before the rows of so many of the first units are known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from spark_fuzz.work import Row, Unit


@dataclass
class _Slot:
    """A unit on its way. place -- in the plan. rows -- None before they are known."""

    place: int
    rows: Sequence[Row] | None


class Feed:
    """Units on their way out, and rows on their way in.

    units -- in order; may be endless; an int among them as said above. take -- is given the rows of unit after unit.
    stored -- rows of a former run, by unit; such units are not given. limit -- at most so many are given.
    given_up -- whether no unit more makes sense; those that were given back are not given again either.
    over -- whether no unit is left that was not given.
    """

    def __init__(
        self, units: Iterable[Unit | int], take: Callable[[Sequence[Row]], None], *,
        stored: Mapping[str, Sequence[Row]] | None = None, limit: int | None = None,
        given_up: Callable[[], bool] = bool,
    ) -> None:
        """Nothing is given yet."""
        self.over, self.given_up = False, given_up
        self._units, self._take, self._stored, self._limit = iter(units), take, stored or {}, limit
        self._pulled = self._given = self._awaited = 0
        self._slots: dict[str, _Slot] = {}
        self._again: deque[Unit] = deque()

    @property
    def known(self) -> int:
        """The rows of so many of the first units of the plan were taken."""
        return next((slot.place for slot in self._slots.values()), self._pulled)

    def next(self) -> Unit | None:
        """The next unit; None when there is none, or none before more rows are known."""
        if self._again and not self.given_up():
            return self._again.popleft()
        while not self.over and self._awaited <= self.known:
            if self.given_up():
                self.over = True
                return None
            unit = next(self._units, None) if self._limit is None or self._given < self._limit else None
            if unit is None:
                self.over = True
            elif isinstance(unit, int):
                self._await(unit)
            else:
                self._slots[unit.id] = _Slot(self._pulled, self._stored.get(unit.id))
                self._pulled += 1
                if unit.id not in self._stored:
                    self._given += 1
                    return unit
                self._flush()
        return None

    def _await(self, units: int) -> None:
        if units > self._pulled:
            raise ValueError(f"the plan waits for {units} units and has given {self._pulled}: that would never end")
        self._awaited = units

    def back(self, units: Sequence[Unit]) -> None:
        """Take units back that were not begun; they are the next ones."""
        self._again.extendleft(reversed(units))

    def done(self, unit: Unit, rows: Sequence[Row]) -> None:
        """Take the rows of a unit; they are passed on when those of all units before it are."""
        self._slots[unit.id].rows = rows
        self._flush()

    def _flush(self) -> None:
        while self._slots and (rows := next(iter(self._slots.values())).rows) is not None:
            del self._slots[next(iter(self._slots))]
            self._take(rows)

    def end(self) -> None:
        """Pass on the rows that are left, in the order of the plan, when no other unit will be done."""
        for slot in self._slots.values():
            self._take(slot.rows or ())
        self._slots.clear()
