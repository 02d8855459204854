"""What a rule contradicts when it tells something: the record that made the entry by which it judged.

A rule compares what it hears with its tables. While it hears, tables remember which of their entries are read and which
record made each of them. It costs time, and is done on replay only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from copy import copy
from typing import Any

from invariants.rules.rule import Hear, Hears, Kept, Told

Record = tuple[int, str, Any]
"""True time in ms, machine, event."""
THINGS = ("mq", "topic", "queue_id", "key", "group")
"""Fields that say what a rule tells about, not about whom."""
_FEW = 4
"""So many records of one entry are remembered: the first one and the last ones."""


class Reading:
    """What is heard now, and the entries that were read since a rule began to hear it."""

    def __init__(self) -> None:
        """Nothing."""
        self.record: Record | None = None
        self.read: list[tuple[Remembered, Any]] = []

    def hearing(self, hear: Hear, about: tuple[str, ...]) -> Hear:
        """The same, but what is told names the record that it contradicts; about -- fields of what is told."""

        def hears(ms: int, at: str, event: Any) -> Iterable[Told] | None:
            self.record = (ms, at, event)
            self.read.clear()
            tells = hear(ms, at, event)
            return None if tells is None else self.explained(tells, about)

        return hears

    def looking(self, tells: Iterable[Told], about: tuple[str, ...]) -> Iterator[Told]:
        """The same for what a rule tells without having heard anything."""
        self.record = None
        self.read.clear()
        yield from self.explained(tells, about)

    def explained(self, tells: Iterable[Told], about: tuple[str, ...]) -> Iterator[Told]:
        """What is told, each with the record that it contradicts, if an entry that was read has one."""
        for told in tells:
            read = len(self.read)
            yield told if told.earlier is not None else told._replace(earlier=self._earlier(told, about))
            del self.read[read:]  # what excuses have read since

    def _earlier(self, told: Told, about: tuple[str, ...]) -> Record | None:
        """Of the entries that were read about the same things, that which concerns it most, and is the last one."""
        concerned = {*zip(about, told.about, strict=False)}
        things = {one for one in concerned if one[0] in THINGS}
        best: tuple[tuple[bool, int, int], Record] | None = None
        for table, key in self.read:
            entry = {*zip(table.about, key, strict=False)}
            for record in table.origins.get(key, ()) if things <= entry else ():
                rank = (record[0] == told.since_ms, len(concerned & entry), record[0])
                told_of = not self._is_now(record) and (told.since_ms is None or record[0] <= told.since_ms)
                if told_of and (best is None or rank >= best[0]):
                    best = rank, record
        return None if best is None else best[1]

    def _is_now(self, record: Record) -> bool:
        return self.record is not None and self.record[2] is record[2]


class Remembered(Kept):
    """A Kept that remembers which records made an entry, and tells a Reading when it is read."""

    origins: dict[Hashable, list[Record]]
    reading: Reading

    def _made(self, key: Hashable) -> None:
        record, known = self.reading.record, self.origins[key]
        if record is not None and (not known or known[-1] is not record):
            del known[1:len(known) - _FEW + 2]
            known.append(record)

    def _found(self, key: Hashable) -> None:
        if super().__contains__(key):
            self.reading.read.append((self, key))

    def _all_found(self) -> None:
        keys = super().keys()
        self.reading.read.extend((self, key) for key in keys)

    def __setitem__(self, key: Any, value: Any) -> None:
        """See dict."""
        self._made(key)
        super().__setitem__(key, value)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """See dict."""
        self._found(key)
        if not super().__contains__(key):
            self._made(key)
        return super().setdefault(key, default)

    def __getitem__(self, key: Any) -> Any:
        """See dict."""
        self._found(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        """See dict."""
        self._found(key)
        return super().__contains__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        """See dict."""
        self._found(key)
        return super().get(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        """See dict."""
        self._found(key)
        return super().pop(key, *default)

    def items(self) -> Any:
        """See dict: each entry counts as read."""
        self._all_found()
        return super().items()

    def __iter__(self) -> Iterator[Any]:
        """See dict: each entry counts as read."""
        self._all_found()
        return super().__iter__()


def remember(hears: Hears, reading: Reading) -> None:
    """Let the tables of a rule, or of the facts, remember; before anything has happened."""
    for name, table in [*vars(hears).items()]:
        if isinstance(table, Kept):
            made = copy(table)
            made.__class__ = Remembered
            made.__dict__.update(origins=defaultdict(list), reading=reading)
            setattr(hears, name, made)
