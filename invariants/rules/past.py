"""What was reported until now: whoever has found something looks back in it for the cause."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import Any, NamedTuple

from impl import events
from invariants.finding import Finding


class Reported(NamedTuple):
    """A record that one looks back at; place -- its number, which orders records of one millisecond."""

    place: int
    ms: int
    at: str
    event: Any


class Past:
    """All records in their order.

    They are sorted when somebody looks back, for most runs find little; each question about a class and the same fields
    goes on where the last one has ended, so that many findings cost no more than one.
    """

    def __init__(self) -> None:
        """Nothing has happened."""
        self.records: list[tuple[int, str, Any]] = []
        self._sorted = 0
        self._of: defaultdict[type, list[Reported]] = defaultdict(list)
        self._by: dict[tuple[type, tuple[str, ...]], _Index] = {}

    def of(self, *kinds: type, since: int = -1, **fields: Any) -> list[Reported]:
        """The records of some classes, class by class in their order, whose fields have these values.

        since -- a place: only later ones. fields -- of the events; "at" is the machine of the record. A value None
        fits everything.
        """
        found = [self._with(kind, fields) for kind in kinds]
        return [one for these in found for one in these[bisect_right(these, since, key=place_of):]]

    def last(self, *kinds: type, since: int = -1, **fields: Any) -> Reported | None:
        """The last of these; see `of`."""
        last = max((these[-1] for kind in kinds if (these := self._with(kind, fields))), default=None)
        return None if place_of(last) <= since else last

    def lives(self, one: Reported) -> bool:
        """Whether a record is of the process that its machine still has."""
        return not self.of(events.ProcessStarted, since=one.place, at=one.at)

    def _with(self, kind: type, fields: dict[str, Any]) -> list[Reported]:
        """The records of a class whose fields have these values, in their order."""
        self._sort()
        names = tuple(name for name, value in fields.items() if value is not None)
        if not names:
            return self._of[kind]
        index = self._by.setdefault((kind, names), _Index(names))
        return index.of(self._of[kind], tuple(fields[name] for name in names))

    def _sort(self) -> None:
        for place in range(self._sorted, len(self.records)):
            ms, at, event = self.records[place]
            self._of[event.__class__].append(Reported(place, ms, at, event))
        self._sorted = len(self.records)


class _Index:
    """The records of a class by the values of some of their fields."""

    def __init__(self, names: tuple[str, ...]) -> None:
        """Nothing has happened; names -- of these fields."""
        self._names, self._read = names, 0
        self._of: defaultdict[tuple[Any, ...], list[Reported]] = defaultdict(list)

    def of(self, records: list[Reported], values: tuple[Any, ...]) -> list[Reported]:
        """Those that have these values; records -- all of the class, of which it may have read the first ones."""
        for one in records[self._read:]:
            self._of[tuple(_value(one, name) for name in self._names)].append(one)
        self._read = len(records)
        return self._of.get(values, [])


def _value(one: Reported, name: str) -> Any:
    return one.at if name == "at" else getattr(one.event, name)


def place_of(one: Reported | None) -> int:
    """The place of a record; that before all others if there is none."""
    return -1 if one is None else one.place


def going_on(begun: list[Reported], ended: list[Reported]) -> list[Reported]:
    """What has begun on a connection, and not ended there; of one connection the first ends first."""
    starts = {one.place for one in begun}
    on: dict[str, list[Reported]] = {}
    for one in sorted((*begun, *ended)):
        here = on.setdefault(one.event.connection, [])
        if one.place in starts:
            here.append(one)
        elif here:
            here.pop(0)
    return [one for here in on.values() for one in here]


def said(found: Finding, name: str) -> Any:
    """The value of a field of what a finding is about, or of the event that showed it; None if neither has it."""
    return dict(found.about).get(name, getattr(found.event, name, None))
