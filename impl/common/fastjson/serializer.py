"""JSON#toJSONString: fields in the order of their names, null fields left out, keys of maps as they are.

A key that is no string is not quoted, a bean as key is an object; strict readers refuse that.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from impl.common.fastjson.beans import Bean
from impl.common.fastjson.types import JavaType
from impl.common.fastjson.untyped import JavaDate, ObjectKey
from impl.decisions.java_doubles import shortest_double_text
from impl.decisions.java_text import joined_text, utf16_units
from impl.hash_map import HashMap

_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def to_json(value: Any, *, pretty: bool = False) -> str:
    """The text of a bean, map, list or plain value."""
    return "".join(_Writer(pretty=pretty).value(value, 0))


def quoted(text: str) -> str:
    """SerializeWriter#writeStringWithDoubleQuote."""
    units = "".join(map(_unit, utf16_units(text)))
    return f'"{joined_text(units)}"'


def _unit(unit: int) -> str:
    one = chr(unit)
    if one in _SHORT:
        return _SHORT[one]
    escaped = unit < 0x20 or 0x7F <= unit < 0xA0 or unit in {0x2028, 0x2029}  # noqa: PLR2004  as in Java
    return f"\\u{unit:04X}" if escaped else one


class _Writer:
    """pretty -- each entry on a line of its own; but not the entries of sets and of maps with other keys.

    The methods take the type of a value where there is one: our lists stand for lists and sets.
    """

    def __init__(self, *, pretty: bool) -> None:
        self._pretty = pretty

    def value(self, value: Any, depth: int, kind: JavaType | None = None) -> Iterator[str]:
        if isinstance(value, Bean):
            yield from self._bean(value, depth)
        elif isinstance(value, HashMap):
            yield from self._map(value, depth, kind)
        elif isinstance(value, list | tuple):
            yield from self._list(value, depth, kind)
        elif isinstance(value, str):
            yield quoted(value)
        else:
            yield _plain(value)

    def _line(self, depth: int) -> str:
        return "\n" + "\t" * depth if self._pretty else ""

    def _bean(self, value: Bean, depth: int) -> Iterator[str]:
        """ASMSerializerFactory, JavaBeanSerializer#write."""
        shown = [(field, value.values[field.name]) for field in value.bean_class.fields
                 if field.written and value.values[field.name] is not None]
        yield "{" + self._line(depth + 1)
        for place, (field, one) in enumerate(shown):
            yield ("," + self._line(depth + 1) if place else "") + f'"{field.name}":'
            yield from self.value(one, depth + 1, field.type)
        yield self._line(depth) + "}"

    def _map(self, value: HashMap[Any, Any], depth: int, kind: JavaType | None) -> Iterator[str]:
        """MapSerializer#write: a value that is null goes unless the key says otherwise."""
        item = kind.arguments[1] if kind is not None and kind.is_map else None
        yield "{"
        first = True
        for key, one in value.entries():
            if one is None:
                continue
            comma = "" if first else ","
            if isinstance(key, str):
                yield comma + self._line(depth + 1) + (key if isinstance(key, ObjectKey) else quoted(key))
            else:
                yield comma
                yield from self.value(key, depth + 1)
            yield ":"
            yield from self.value(one, depth + 1, item)
            first = False
        yield (self._line(depth) if len(value) else "") + "}"

    def _list(self, value: list[Any] | tuple[Any, ...], depth: int, kind: JavaType | None) -> Iterator[str]:
        """CollectionCodec#write; of a list ListSerializer#write."""
        lines = kind is not None and kind.name == "List"
        yield "["
        for place, one in enumerate(value):
            yield "," * (place > 0) + (self._line(depth + 1) if lines else "")
            yield from self.value(one, depth + 1 if lines else depth)
        yield (self._line(depth) if lines and value else "") + "]"


def number_text(value: int | Decimal) -> str:
    """A number as text. Python refuses to write whole numbers that are very long, but not as a Decimal."""
    return str(Decimal(value))


def _plain(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return number_text(value)
    if isinstance(value, JavaDate):
        return str(value.time_ms)
    if isinstance(value, bytes):
        return f'"{b64encode(value).decode("ascii")}"'
    return shortest_double_text(value) if math.isfinite(value) else "null"
