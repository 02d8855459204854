"""A table that says what is written to it, in the segment that writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from impl.hash_map import ConcurrentHashMap, HashMap

K = TypeVar("K")
V = TypeVar("V")
Report = Callable[[K, V], None]


class ReportedMap(ConcurrentHashMap[K, V]):
    """A ConcurrentHashMap; on_put -- is given key and value after each put, on_remove -- after each removal."""

    __slots__ = ("_on_put", "_on_remove")

    def __init__(
        self, initial_capacity: int, on_put: Report[K, V], on_remove: Report[K, V], entries: Iterable[tuple[K, V]] = (),
    ) -> None:
        """Start with some entries, which are not reported."""
        self._on_put: Report[K, V] = _silent
        self._on_remove: Report[K, V] = _silent
        super().__init__(initial_capacity, entries)
        self._on_put, self._on_remove = on_put, on_remove

    def put(self, key: K, value: V) -> V | None:
        """Map#put."""
        previous = super().put(key, value)
        self._on_put(key, value)
        return previous

    def put_if_absent(self, key: K, value: V) -> V | None:
        """ConcurrentMap#putIfAbsent; what changes nothing is not reported."""
        previous = super().put_if_absent(key, value)
        if previous is None:
            self._on_put(key, value)
        return previous

    def remove(self, key: K) -> V | None:
        """Map#remove; what changes nothing is not reported."""
        previous = super().remove(key)
        if previous is not None:
            self._on_remove(key, previous)
        return previous


class ReportedHashMap(HashMap[K, V]):
    """A plain HashMap that reports removals; on_remove -- is given key and value after each."""

    __slots__ = ("_on_remove",)

    def __init__(self, initial_capacity: int, on_remove: Report[K, V]) -> None:
        """Start empty."""
        super().__init__(initial_capacity)
        self._on_remove = on_remove

    def remove(self, key: K) -> V | None:
        """Map#remove; what changes nothing is not reported."""
        previous = super().remove(key)
        if previous is not None:
            self._on_remove(key, previous)
        return previous


def _silent(key: object, value: object) -> None:
    """Report nothing."""
