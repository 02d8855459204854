"""The shape of a custom header: what a class that implements CommandCustomHeader declares.

`java_header` stands above the Python class of a header and names the Java class, with its fields in their order.
Several Java classes of one shape can share a Python class. A field reads `name:type`, then `!` for @CFNotNull or `?`
for @CFNullable, then in brackets what a new object has. Its attribute is the name in Python spelling, or what stands
behind `=`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

_ANNOTATIONS = {"!": "CFNotNull", "?": "CFNullable", "": None}
_FIELD = re.compile(r"(\w+):(\w+)([!?]?)(\(\w+\))?(?:=(\w+))?")
_INITIAL: Mapping[str, Any] = {"(0)": 0, "(false)": False}
_ZERO: Mapping[str, Any] = {"int": 0, "long": 0, "boolean": False, "double": 0.0}


class Field(NamedTuple):
    """A declared field. type -- the simple name of its Java type; annotation -- None: neither of the two.

    initial -- its value in a new object.

    No annotation is enforced when a header is decoded (RemotingCommand#decodeCommandCustomHeader logs and goes on).
    """

    name: str
    type: str
    annotation: str | None
    attribute: str
    initial: Any


class Shape(NamedTuple):
    """A Java header class. name -- below the package common.protocol.header; python -- None: nothing here reads it.

    beside -- ext fields that 4.9.3 sends with it although the class does not declare them
    (RemotingCommand#addExtField).
    """

    name: str
    fields: tuple[Field, ...]
    beside: tuple[Field, ...]
    python: Callable[..., object] | None


SHAPES: dict[str, Shape] = {}
"""Every header class, by its name below common.protocol.header."""


def java_header(name: str, fields: str = "", beside: str = "") -> Callable[[type[T]], type[T]]:
    """Declare that the class below stands for this Java class; the arguments are those of Shape, as texts."""

    def declared(python: type[T]) -> type[T]:
        SHAPES[name] = Shape(name, tuple(_fields(fields)), tuple(_fields(beside)), python)
        return python

    return declared


def only_shape(name: str, fields: str = "") -> None:
    """Declare a header that nothing in `impl` reads or writes."""
    SHAPES[name] = Shape(name, tuple(_fields(fields)), (), None)


def _fields(text: str) -> Iterator[Field]:
    for word in text.split():
        match = _FIELD.fullmatch(word)
        if match is None:
            message = f"not a field of a header: {word}"
            raise ValueError(message)
        name, java_type, mark, initial, attribute = match.groups()
        value = _ZERO.get(java_type) if initial is None else _INITIAL[initial]
        yield Field(name, java_type, _ANNOTATIONS[mark], attribute or python_spelling(name), value)


def python_spelling(name: str) -> str:
    """`clientID` is client_id, `bodyCrc32` body_crc32."""
    return re.sub(r"(?<=[a-z0-9])([A-Z]+)", lambda match: "_" + match.group(1).lower(), name)
