"""What was reported until now: whoever has found something looks back in it for the cause."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from invariants.finding import Finding


class Reported(NamedTuple):
    """A record that one looks back at; place -- its number, which orders records of one millisecond."""

    place: int
    ms: int
    at: str
    event: Any


class Past:
    """All records in their order. They are sorted by class when somebody looks back, for most runs find little."""

    def __init__(self) -> None:
        """Nothing has happened."""
        self.records: list[tuple[int, str, Any]] = []
        self._sorted = 0
        self._of: defaultdict[type, list[Reported]] = defaultdict(list)

    def of(self, *kinds: type, since: int = -1, **fields: Any) -> list[Reported]:
        """The records of some classes, class by class in their order, whose fields have these values.

        since -- a place: only later ones. fields -- of the events; "at" is the machine of the record. A value None
        fits everything.
        """
        self._sort()
        wanted = [(name, value) for name, value in fields.items() if value is not None]
        return [one for kind in kinds for one in self._of[kind]
                if one.place > since and all(_value(one, name) == value for name, value in wanted)]

    def last(self, *kinds: type, since: int = -1, **fields: Any) -> Reported | None:
        """The last of these; see `of`."""
        return max(self.of(*kinds, since=since, **fields), default=None)

    def _sort(self) -> None:
        for place in range(self._sorted, len(self.records)):
            ms, at, event = self.records[place]
            self._of[event.__class__].append(Reported(place, ms, at, event))
        self._sorted = len(self.records)


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
