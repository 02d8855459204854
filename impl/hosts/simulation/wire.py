"""What a connection does to an object: the receiver gets another one, as if it had been encoded and decoded.

Without this, a table of one simulated process could be changed through a message that another process keeps. What a
type declares is believed: a frozen dataclass or named tuple all of whose fields are declared as numbers, texts, enums,
or tuples of such values, cannot change, and is sent as it is. This is found out once for each type.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from operator import is_
from types import EllipsisType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

_ATOMS = frozenset((NoneType, EllipsisType, bool, int, str, bytes, float))
_Copier = Callable[[Any], Any]

FIXED: set[type] = {NoneType, bool, int, str, bytes, float}
"""Types of which no value can change; it grows as types are met. `copied` gives back such a value itself."""


def copied(value: Any) -> Any:
    """An equal value that shares nothing changeable with this one; the value itself if nothing in it can change."""
    return _COPIERS[value.__class__](value)


class _Copiers(dict[type, _Copier]):
    """Type to how its values are copied: found out at the first value that is met."""

    def __missing__(self, kind: type) -> _Copier:
        copier = self[kind] = _copier_of(kind)
        if copier is _itself:
            FIXED.add(kind)
        return copier


def _copier_of(kind: type) -> _Copier:
    if _is_fixed(kind):
        return _itself
    if issubclass(kind, tuple | frozenset):
        return _rebuilt
    return _dataclass_copier(kind) if is_dataclass(kind) else copy.deepcopy


def _is_fixed(declared: Any, above: tuple[type, ...] = ()) -> bool:
    """Whether no value that is declared so can change; above -- types that contain it, for one that contains itself."""
    origin, inner = get_origin(declared), get_args(declared)
    if origin in {Union, UnionType, tuple, frozenset}:
        return all(_is_fixed(one, above) for one in inner)
    if not isinstance(declared, type) or declared in above:
        return origin is Literal
    if declared in _ATOMS or issubclass(declared, Enum):
        return True
    frozen = is_dataclass(declared) and declared.__dataclass_params__.frozen  # type: ignore[attr-defined]  # private
    named = issubclass(declared, tuple) and hasattr(declared, "_fields")
    return (frozen or named) and all(_is_fixed(hint, (*above, declared)) for hint in get_type_hints(declared).values())


def _itself(value: Any) -> Any:
    return value


def _list(value: list[Any]) -> list[Any]:
    return [item if item.__class__ in FIXED else _COPIERS[item.__class__](item) for item in value]


def _set(value: set[Any]) -> set[Any]:
    return {item if item.__class__ in FIXED else copied(item) for item in value}


def _dict(value: dict[Any, Any]) -> dict[Any, Any]:
    return {
        key if key.__class__ in FIXED else copied(key):
        item if item.__class__ in FIXED else _COPIERS[item.__class__](item)
        for key, item in value.items()
    }


def _rebuilt(value: Any) -> Any:
    """A copy of a tuple or frozen set, unless all its items can be shared."""
    items = [item if item.__class__ in FIXED else _COPIERS[item.__class__](item) for item in value]
    if all(map(is_, items, value)):
        return value
    if value.__class__ is tuple:
        return tuple(items)
    make = getattr(value, "_make", value.__class__)  # a named tuple takes its items one by one
    return make(items)


def _dataclass_copier(kind: Any) -> _Copier:
    """Copies field by field, without looking at those that are declared as what cannot change.

    It is written as a function of its own for each class, as `dataclasses` writes constructors: for the fields a, b, of
    which b can change, of a frozen class it is

        def copier(value):
            b = copied(value.b)
            return value if b is value.b else make(value.a, b)
    """
    hints, frozen = get_type_hints(kind), kind.__dataclass_params__.frozen
    names = [field.name for field in fields(kind)]
    loose = [name for name in names if not _is_fixed(hints[name])]
    values = ", ".join(f"_{name}" if name in loose else f"value.{name}" for name in names)
    shared = " and ".join(f"_{name} is value.{name}" for name in loose)
    source = "\n    ".join([
        "def copier(value):",
        *(f"_{name} = copiers[value.{name}.__class__](value.{name})" for name in loose),
        f"return value if {shared} else make({values})" if frozen else f"return make({values})",
    ])
    scope: dict[str, Any] = {"copiers": _COPIERS, "make": _maker(kind, names)}
    exec(source, scope)  # noqa: S102  # the names of fields are all that comes from outside
    copier: _Copier = scope["copier"]
    return copier


def _maker(kind: Any, names: list[str]) -> Callable[..., Any]:
    """From the values of the fields to an object: its own constructor where that does nothing else."""
    if all(field.init and not field.kw_only for field in fields(kind)) and not hasattr(kind, "__post_init__"):
        constructor: Callable[..., Any] = kind
        return constructor

    def make(*items: Any) -> Any:
        twin = object.__new__(kind)
        for name, item in zip(names, items, strict=True):
            object.__setattr__(twin, name, item)
        return twin

    return make


_COPIERS = _Copiers({
    **dict.fromkeys(FIXED, _itself), list: _list, set: _set, dict: _dict, tuple: _rebuilt, frozenset: _rebuilt,
})
