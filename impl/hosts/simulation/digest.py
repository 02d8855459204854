"""The digest of a run: sixteen bytes that are equal exactly if two runs recorded the same.

It is the same on every machine, in every worker and under every PYTHONHASHSEED, so that a difference proves
nondeterminism. Compare digests of one Python version only.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from hashlib import blake2b
from typing import Any

_PLAIN = frozenset((int, str, bool, bytes, type(None)))
_MARSHAL_VERSION = 2  # later versions write back references, so that equal values give different bytes
PART = 128
"""Lines; after each so many there is a digest of what was recorded until then."""


def digest(lines: Sequence[Any]) -> str:
    """32 hexadecimal digits over the lines of a run; raises TypeError for a value whose text could differ by run."""
    *_, whole = digests(lines, ())
    return whole


def digests(lines: Sequence[Any], end: Iterable[Any]) -> Iterator[str]:
    """After each PART lines the digest of all until then; at last, with the lines of the end, that of the whole run."""
    so_far = blake2b(digest_size=16)
    full = len(lines) - len(lines) % PART
    for start in range(0, full, PART):
        so_far.update(_written(lines[start:start + PART]))
        yield so_far.hexdigest()
    so_far.update(_written([*lines[full:], *end]))
    yield so_far.hexdigest()


def _written(lines: Iterable[Any]) -> bytes:
    return marshal.dumps([plain(line) for line in lines], _MARSHAL_VERSION)


def plain(value: Any) -> Any:
    """The value as ints, strings, bytes and tuples of them; a set is sorted, an object gives its class and fields."""
    return value if value.__class__ in _PLAIN else _MAKERS[value.__class__](value)


def _maker(kind: type) -> Callable[[Any], Any]:
    """How to make plain what has this class: found out once."""
    name = kind.__name__
    if kind is tuple or kind is list:
        return _items
    if issubclass(kind, Enum):
        return lambda value: f"{name}.{value.name}"
    if issubclass(kind, tuple):
        return lambda value: (name, *(value if _PLAIN.issuperset(map(type, value)) else _items(value)))
    if is_dataclass(kind):
        names = [field.name for field in fields(kind)]
        return lambda value: (name, *_items([getattr(value, field) for field in names]))
    if issubclass(kind, AbstractSet):
        return lambda value: ("set", *sorted(_items(value), key=lambda item: marshal.dumps(item, _MARSHAL_VERSION)))
    if issubclass(kind, Mapping):
        return lambda value: ("map", *_items(value.items()))
    raise TypeError(f"{name} has no stable digest: trace ints, strings, tuples, dataclasses or named tuples")


def _items(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple([item if item.__class__ in _PLAIN else _MAKERS[item.__class__](item) for item in values])


class _Makers(dict[type, Callable[[Any], Any]]):
    """By class: how to make plain what has it."""

    def __missing__(self, kind: type) -> Callable[[Any], Any]:
        """Find it out, once."""
        self[kind] = made = _maker(kind)
        return made


_MAKERS = _Makers()
