"""java.util.HashMap and ConcurrentHashMap, as far as RocketMQ lets anyone observe which they are.

Observable are the order of iteration (several operations take *the first* entry that fits, or report entry by entry),
the refusal of null keys, and the fail-fast iterators of HashMap, one of which kills the expiry scan of the name server.

Not modelled: bins of eight entries and more (Java makes trees of them), and the order inside a bin that a
ConcurrentHashMap has moved while it grew (Java reverses part of it).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import lru_cache
from operator import attrgetter
from typing import Generic, Protocol, TypeVar, overload

from impl.decisions.java_arithmetic import long_hash, string_hash
from impl.decisions.java_errors import JavaException, NullPointerError

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")

_DEFAULT_CAPACITY = 16


class _Hashed(Hashable, Protocol):
    def java_hash(self) -> int: ...


class ConcurrentModificationError(JavaException):
    """A fail-fast iterator noticed that entries came or went behind its back."""

    java_class = "java.util.ConcurrentModificationException"


class NoSuchElementError(JavaException):
    """An element was asked of something empty."""

    java_class = "java.util.NoSuchElementException"


class IllegalStateError(JavaException):
    """A call at the wrong moment."""

    java_class = "java.lang.IllegalStateException"


def spread(key: object) -> int:
    """HashMap#hash: the 32 bits that choose the bin; their upper half is folded onto the lower one.

    A number is taken for a Long (an Integer has the same bin from 0 up); other keys have a method java_hash. A key
    without one (a connection: its identity hash differs from run to run) falls into bin 0, so that such keys are
    iterated in the order of their arrival, one of the orders that Java may take.
    """
    if isinstance(key, str):
        return _spread_text(key)
    if isinstance(key, int):
        return _folded(long_hash(key))
    return _spread_object(key) if hasattr(key, "java_hash") else 0


@lru_cache(maxsize=1 << 16)
def _spread_text(text: str) -> int:
    return _folded(string_hash(text))


@lru_cache(maxsize=1 << 16)
def _spread_object(key: _Hashed) -> int:
    return _folded(key.java_hash())


def _folded(code: int) -> int:
    unsigned = code & 0xFFFFFFFF
    return unsigned ^ (unsigned >> 16)


def _table_size_for(capacity: int) -> int:
    """HashMap#tableSizeFor: the power of two that is not below `capacity`, at least 1."""
    return 1 << max(0, capacity - 1).bit_length()


class Entry(Generic[K, V]):
    """HashMap.Node: who holds it sees a value that is put later, until the entry is removed.

    hash -- of the key, as `spread` gives it.
    """

    __slots__ = ("hash", "key", "value")

    def __init__(self, key: K, value: V) -> None:
        """Pair them."""
        self.key = key
        self.value = value
        self.hash = spread(key)


_KEY, _VALUE, _PAIR = attrgetter("key"), attrgetter("value"), attrgetter("key", "value")


class HashMap(Generic[K, V]):
    """java.util.HashMap: entries lie in bins by hash, in a bin by arrival; the bins double when it is over 3/4 full.

    initial_capacity -- as in the Java constructor.
    """

    __slots__ = ("_capacity", "_entries", "_order", "mod_count")

    def __init__(self, initial_capacity: int = _DEFAULT_CAPACITY) -> None:
        """Start empty."""
        self._capacity = _table_size_for(initial_capacity)
        self._entries: dict[K, Entry[K, V]] = {}
        self._order: tuple[Entry[K, V], ...] | None = ()
        self.mod_count = 0

    @overload
    def get(self, key: K) -> V | None: ...
    @overload
    def get(self, key: K, default: D) -> V | D: ...
    def get(self, key: K, default: D | None = None) -> V | D | None:
        """Map#get, #getOrDefault."""
        entry = self._entries.get(key)
        return default if entry is None else entry.value

    def put(self, key: K, value: V) -> V | None:
        """Map#put: the value that was there, or None."""
        entry = self._entries.get(key)
        if entry is not None:
            previous, entry.value = entry.value, value
            return previous
        self._entries[key] = Entry(key, value)
        self.mod_count += 1
        self._order = None
        while self._is_too_full():
            self._capacity *= 2
        return None

    def remove(self, key: K) -> V | None:
        """Map#remove by key, whatever its value is: the value that was there, or None."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        self._structure_changed()
        return entry.value

    def clear(self) -> None:
        """Map#clear; the bins stay as many as they are."""
        self._entries.clear()
        self._structure_changed()

    def contains_key(self, key: K) -> bool:
        """Map#containsKey."""
        return key in self._entries

    def is_empty(self) -> bool:
        """Map#isEmpty."""
        return not self._entries

    def __len__(self) -> int:
        """Map#size."""
        return len(self._entries)

    def nodes(self) -> tuple[Entry[K, V], ...]:
        """The entries themselves, as they are now, in Java's order."""
        if self._order is None:
            entries = self._entries.values()
            if len(entries) > 1:
                mask = self._capacity - 1
                self._order = tuple(sorted(entries, key=lambda entry: entry.hash & mask))
            else:
                self._order = tuple(entries)
        return self._order

    def key_set(self) -> tuple[K, ...]:
        """The keys as they are now, in Java's order."""
        return tuple(map(_KEY, self._order if self._order is not None else self.nodes()))

    def values(self) -> tuple[V, ...]:
        """The values as they are now, in Java's order."""
        return tuple(map(_VALUE, self._order if self._order is not None else self.nodes()))

    def entries(self) -> tuple[tuple[K, V], ...]:
        """Keys and values as they are now, in Java's order."""
        return tuple(map(_PAIR, self._order if self._order is not None else self.nodes()))

    def iterator(self) -> FailFastIterator[K, V]:
        """Map#entrySet#iterator."""
        return FailFastIterator(self)

    def clone(self) -> HashMap[K, V]:
        """HashMap#clone: a map of its own with the same keys and values, and no more bins than they need."""
        twin: HashMap[K, V] = HashMap(4 * len(self._entries) // 3 + 1)
        twin._entries = {entry.key: Entry(entry.key, entry.value) for entry in self.nodes()}
        twin._order = None
        return twin

    def __eq__(self, other: object) -> bool:
        """AbstractMap#equals: the same keys with equal values."""
        return isinstance(other, HashMap) and dict(self.entries()) == dict(other.entries())

    __hash__ = None  # type: ignore[assignment]  # mutable, as in Java

    def __repr__(self) -> str:
        """Its entries, in Java's order."""
        return f"{type(self).__name__}({dict(self.entries())!r})"

    def _structure_changed(self) -> None:
        self.mod_count += 1
        self._order = None

    def _is_too_full(self) -> bool:
        return 4 * len(self._entries) > 3 * self._capacity


class FailFastIterator(Generic[K, V]):
    """HashMap.HashIterator: it knows its next entry in advance, and only `next` looks whether the map has changed.

    So a change behind its back goes unnoticed when no next entry was known.
    """

    __slots__ = ("_current", "_expected_mod_count", "_map", "_upcoming")

    def __init__(self, hash_map: HashMap[K, V]) -> None:
        """Stand before the first entry."""
        self._map = hash_map
        self._expected_mod_count = hash_map.mod_count
        self._upcoming = list(reversed(hash_map.nodes()))
        self._current: Entry[K, V] | None = None

    def has_next(self) -> bool:
        """Whether another entry was known when the iterator moved last."""
        return bool(self._upcoming)

    def next(self) -> Entry[K, V]:
        """Move; raises ConcurrentModificationError if entries came or went since, except by `remove`."""
        if self._map.mod_count != self._expected_mod_count:
            raise ConcurrentModificationError
        if not self._upcoming:
            raise NoSuchElementError
        self._current = self._upcoming.pop()
        return self._current

    def remove(self) -> None:
        """Remove the current entry; raises ConcurrentModificationError as `next` does."""
        if self._current is None:
            raise IllegalStateError
        if self._map.mod_count != self._expected_mod_count:
            raise ConcurrentModificationError
        self._map.remove(self._current.key)
        self._current = None
        self._expected_mod_count = self._map.mod_count


class ConcurrentHashMap(HashMap[K, V]):
    """java.util.concurrent.ConcurrentHashMap: no null keys, and iterators that never fail.

    Its iterators are weakly consistent: they may or may not show what comes or goes meanwhile. `traverse` is one of the
    runs that Java allows. An iterator's `remove` removes by key, also a value that was put after it had passed.
    """

    __slots__ = ()

    def __init__(self, initial_capacity: int | None = None, entries: Iterable[tuple[K, V]] = ()) -> None:
        """Start with bins for one and a half times the capacity asked for, and some entries."""
        capacity = _DEFAULT_CAPACITY if initial_capacity is None else initial_capacity + (initial_capacity >> 1) + 1
        super().__init__(capacity)
        for key, value in entries:
            self.put(key, value)

    @overload
    def get(self, key: K) -> V | None: ...
    @overload
    def get(self, key: K, default: D) -> V | D: ...
    def get(self, key: K, default: D | None = None) -> V | D | None:
        """Map#get; raises NullPointerError for null."""
        entry = self._entries.get(key)
        if entry is None:
            _refuse_null(key)
            return default
        return entry.value

    def put(self, key: K, value: V) -> V | None:
        """Map#put; raises NullPointerError for null."""
        entry = self._entries.get(key)
        if entry is None:
            _refuse_null(key)
            return super().put(key, value)
        previous, entry.value = entry.value, value
        return previous

    def put_if_absent(self, key: K, value: V) -> V | None:
        """ConcurrentMap#putIfAbsent, atomic: the value that was there and stays, or None."""
        previous = self.get(key)
        if previous is None:
            super().put(key, value)
        return previous

    def remove(self, key: K) -> V | None:
        """Map#remove; raises NullPointerError for null."""
        _refuse_null(key)
        return super().remove(key)

    def contains_key(self, key: K) -> bool:
        """Map#containsKey; raises NullPointerError for null."""
        _refuse_null(key)
        return key in self._entries

    def traverse(self) -> Iterator[tuple[K, V]]:
        """What was there at the beginning and still is when the loop gets to it, with the value that it has then."""
        mod_count = self.mod_count
        for entry in self._order if self._order is not None else self.nodes():
            if self.mod_count == mod_count:
                yield entry.key, entry.value
                continue
            current = self._entries.get(entry.key)
            if current is not None:
                yield current.key, current.value

    def _is_too_full(self) -> bool:
        return 4 * len(self._entries) >= 3 * self._capacity


def _refuse_null(key: object) -> None:
    if key is None:
        raise NullPointerError
