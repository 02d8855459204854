"""Which events concern which keys: they agree in the fields that both have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from operator import attrgetter, itemgetter
from typing import Any

Read = Callable[[str, Any], tuple[Any, ...]]
"""Takes values from a record: is given its machine and its event."""
AT = "at"
"""The field of a key that holds the machine of a record."""
MACHINE = ".machine"
"""Stands behind the name of a field that holds "host:port", and means the host."""


class Match:
    """Events of some classes, and the fields in which they have to agree with a key.

    kinds -- the classes. of -- names of fields, separated by blanks; "field=other" where the event calls it otherwise,
    "field=other.machine" for the host of an address. Without `of`: all fields that both have, and the machine of the
    record. having -- only events of which this is true.
    """

    def __init__(self, *kinds: type, of: str | None = None, having: Callable[[Any], bool] | None = None) -> None:
        """Declare it."""
        self.kinds, self.of, self.having = kinds, None if of is None else tuple(of.split()), having
        self._bound: dict[tuple[str, ...], Bound] = {}

    def bound(self, about: tuple[str, ...]) -> Bound:
        """The same for keys of these fields; raises ValueError for a field that is none."""
        if about not in self._bound:
            self._bound[about] = Bound(self, about)
        return self._bound[about]

    def pairs(self, kind: type, about: Sequence[str]) -> tuple[tuple[int, str], ...]:
        """Where a key has what an event of a class has, and what the event calls it."""
        fields = {AT, *getattr(kind, "_fields", ())}
        named = self.of if self.of is not None else tuple(one for one in about if one in fields)
        found = []
        for one in named:
            mine, _, theirs = one.partition("=")
            if mine not in about or (theirs or mine).removesuffix(MACHINE) not in fields:
                raise ValueError(f"{kind.__name__} and ({', '.join(about)}) do not both have {one!r}")
            found.append((about.index(mine), theirs or mine))
        return tuple(found)


class Bound:
    """A Match for keys of known fields.

    kinds -- the classes of its events. having -- see Match. whole -- the classes that say the whole key. reads -- how
    the values in which keys have to agree are taken from an event of a class.
    """

    def __init__(self, match: Match, about: Sequence[str]) -> None:
        """See Match#bound."""
        self.kinds, self.having = match.kinds, match.having
        pairs = {kind: match.pairs(kind, about) for kind in match.kinds}
        self.whole = frozenset(kind for kind in pairs if [place for place, _ in pairs[kind]] == [*range(len(about))])
        self._takes = {kind: _taker([place for place, _ in pairs[kind]]) for kind in pairs}
        self.reads = {kind: _reader([name for _, name in pairs[kind]]) for kind in pairs}

    def of_event(self, at: str, event: Any) -> tuple[Any, ...] | None:
        """The values in which keys have to agree with an event; None: this event is not meant."""
        if self.having is not None and not self.having(event):
            return None
        return self.reads[event.__class__](at, event)

    def of_key(self, kind: type, key: Sequence[Any]) -> tuple[Any, ...]:
        """The values of a key in which an event of a class has to agree with it."""
        return self._takes[kind](key)

    def gives_keys(self) -> None:
        """Raise ValueError unless the values of an event are a whole key."""
        for kind in self.kinds:
            if kind not in self.whole:
                raise ValueError(f"{kind.__name__} does not have all fields of a key, in their order")

    def met(self, keys: Collection[tuple[Any, ...]], at: str, event: Any) -> list[Any]:
        """The keys that agree with an event."""
        values = self.of_event(at, event)
        if values is None:
            return []
        if event.__class__ in self.whole:
            return [values] if values in keys else []  # no need to look through them
        take = self._takes[event.__class__]
        return [key for key in keys if take(key) == values]


def matching(one: type | Match) -> Match:
    """A class alone means all its events."""
    return one if isinstance(one, Match) else _all_of(one)


@cache
def _all_of(kind: Any) -> Match:
    return Match(kind)


def _taker(places: Sequence[int]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """How the values at these places are taken from a key."""
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1) if places else slice(0))


def _reader(names: Sequence[str]) -> Read:
    """How these fields are taken from a record."""
    if any(name.endswith(MACHINE) for name in names) or AT in names[1:]:
        return lambda at, event: tuple([_value(name, at, event) for name in names])
    own = [name for name in names if name != AT]
    if not own:
        return (lambda at, _: (at,)) if names else lambda _, __: ()
    get = attrgetter(*own)
    if len(own) == 1:
        return (lambda at, event: (at, get(event))) if AT in names else lambda _, event: (get(event),)
    return (lambda at, event: (at, *get(event))) if AT in names else lambda _, event: get(event)


def _value(name: str, at: str, event: Any) -> Any:
    if name == AT:
        return at
    field = name.removesuffix(MACHINE)
    value = getattr(event, field)
    return value if field == name else machine_of(value or "")


def machine_of(address: str) -> str:
    """The machine of "machine:port"."""
    return address.rpartition(":")[0]
