"""What a connection does to an object: the receiver gets another one, as if it had been encoded and decoded.

Without this, a table of one simulated process could be changed through a message that another process keeps.
"""

from __future__ import annotations

import copy
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any

_ATOMS = frozenset((type(None), bool, int, str, bytes, float))


def copied(value: Any) -> Any:
    """An equal value that shares nothing changeable with this one; the value itself if nothing in it can change."""
    kind = value.__class__
    if kind in _ATOMS or isinstance(value, Enum):
        return value
    if kind is list or kind is set:
        return kind(copied(item) for item in value)
    if kind is dict:
        return {copied(key): copied(item) for key, item in value.items()}
    if isinstance(value, tuple | frozenset):
        return _rebuilt(value)
    if is_dataclass(value):
        return _dataclass(value)
    return copy.deepcopy(value)


def _rebuilt(value: Any) -> Any:
    items = [copied(item) for item in value]
    if all(new is old for new, old in zip(items, value, strict=True)):
        return value
    make = getattr(value, "_make", value.__class__)  # a named tuple takes its items one by one
    return make(items)


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _dataclass(value: Any) -> Any:
    names = _names(value.__class__)
    old = [getattr(value, name) for name in names]
    new = [copied(item) for item in old]
    if value.__dataclass_params__.frozen and all(one is other for one, other in zip(new, old, strict=True)):
        return value
    twin = object.__new__(value.__class__)
    for name, item in zip(names, new, strict=True):
        object.__setattr__(twin, name, item)
    return twin
