"""Maps: followers that say method by method which steps of a model the events of a world stand for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

from impl.events import ProcessKilled
from invariants.finding import Finding
from invariants.refinement.follower import Record
from invariants.rules.rule import marked
from invariants.views import Machines, Views
from model.language import Property

_Method = TypeVar("_Method", bound=Callable[..., Any])
_Group = TypeVar("_Group")


def hears(*kinds: type) -> Callable[[_Method], _Method]:
    """Let a method take events of these classes; it gives what is wrong."""
    def mark(method: _Method) -> _Method:
        vars(method)["hears"] = kinds
        return method

    return mark


def takers(owner: Any) -> dict[type, Callable[..., list[Finding]]]:
    """The methods of a class, or of an object, that are marked with `hears`, by the class of the event."""
    marks = marked(owner if isinstance(owner, type) else type(owner), "hears")
    return {kind: getattr(owner, name) for kind, name in marks}


def placed(found: list[Finding], where: str, **thing: Any) -> list[Finding]:
    """What is found, with the place in front of its sentence, and with the one thing that it is about."""
    return [replace(one, sentence=f"{where}: {one.sentence}", about=(*one.about, *thing.items())) for one in found]


class Map:
    """A follower whose methods that are marked with `hears` are given the machine and the event.

    visited -- fingerprints of the states that were seen. ms -- true time of the event that is being taken. found --
    what is wrong with the events of the segment.
    """

    def __init__(self, machines: Machines, name: str, judged: Iterable[Property], part: type | None = None) -> None:
        """Watch from the first segment on; name -- of the property that divergences violate. judged -- the others.

        part -- the class of what a map has many of: its methods that are marked with `hears` are given the event alone.
        """
        self.machines, self.views, self.name = machines, Views(machines), name
        self.properties = (name, *(one.name for one in judged))
        self.visited: set[int] = set()
        self.ms, self.found = -1, list[Finding]()
        self._of_part = {} if part is None else takers(part)
        self.takes = {**dict.fromkeys(self._of_part, self._at_part), **takers(self)}
        self.hears: Collection[type] = self.takes.keys()

    def segment(self, machine: str, records: Sequence[Record], *, whole: bool = False) -> list[Finding]:
        """See Follower."""
        self.found = found = []
        takes = self.takes
        for ms, where, event in records:
            take = takes.get(event.__class__)
            if take is not None:
                self.ms = ms
                found += take(where, event)
        differing = self.compare(machine, whole=whole)
        return [*found, *differing] if differing else found

    def compare(self, machine: str, *, whole: bool) -> list[Finding]:
        """Compare with the tables of a machine what may have changed; whole -- with all that they say."""
        raise NotImplementedError

    def _at_part(self, machine: str, event: Any) -> list[Finding]:
        part = self.concerned(machine, event)
        return [] if part is None else self._of_part[event.__class__](part, event)

    def concerned(self, machine: str, event: Any) -> Any:
        """The part that an event of a machine concerns; None: none that is followed."""
        raise NotImplementedError

    def diverges(self, found: Iterable[Finding]) -> bool:
        """Whether the model was left."""
        return any(one.property == self.name for one in found)

    def unsaid(self, differing: list[Finding]) -> list[Finding]:
        """What differs; what a step of the segment has said already is not said again."""
        return [one for one in differing if one.property != self.name] if self.diverges(self.found) else differing


class GroupMap(Map, Generic[_Group]):
    """A map that has a part for each group at each broker: a model. groups -- broker and group to its part."""

    def __init__(self, machines: Machines, name: str, judged: Iterable[Property], part: type[_Group]) -> None:
        """See Map."""
        super().__init__(machines, name, judged, part)
        self.groups: dict[str, dict[str, _Group]] = {}

    @hears(ProcessKilled)
    def _killed(self, machine: str, _: ProcessKilled) -> list[Finding]:
        self.groups.pop(machine, None)
        return []
