"""The digest of a run: sixteen bytes that are equal exactly if two runs recorded the same.

It is the same on every machine, in every worker and under every PYTHONHASHSEED, so that a difference proves
nondeterminism. Compare digests of one Python version only.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from hashlib import blake2b
from typing import Any

_PLAIN = frozenset((int, str, bool, bytes, type(None)))
_MARSHAL_VERSION = 2  # later versions write back references, so that equal values give different bytes


def digest(lines: Iterable[Any]) -> str:
    """32 hexadecimal digits over the lines of a run; raises TypeError for a value whose text could differ by run."""
    return blake2b(marshal.dumps([plain(line) for line in lines], _MARSHAL_VERSION), digest_size=16).hexdigest()


def plain(value: Any) -> Any:  # noqa: PLR0911  # a table: one line for each kind of value
    """The value as ints, strings, bytes and tuples of them; a set is sorted, an object gives its class and fields."""
    kind = value.__class__
    if kind in _PLAIN:
        return value
    if kind is tuple or kind is list:
        return tuple([item if item.__class__ in _PLAIN else plain(item) for item in value])
    if isinstance(value, Enum):
        return f"{kind.__name__}.{value.name}"
    if isinstance(value, tuple):
        return (kind.__name__, *map(plain, value))
    if is_dataclass(value):
        return (kind.__name__, *(plain(getattr(value, field.name)) for field in fields(value)))
    if isinstance(value, AbstractSet):
        return ("set", *sorted(map(plain, value), key=lambda item: marshal.dumps(item, _MARSHAL_VERSION)))
    if isinstance(value, Mapping):
        return ("map", *(pair for pair in plain(list(value.items()))))
    raise TypeError(f"{kind.__name__} has no stable digest: trace ints, strings, tuples, dataclasses or named tuples")
