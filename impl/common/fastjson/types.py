"""Java types of fields, as texts: `int`, `String`, `Set<ProducerData>`, `ConcurrentMap<String,TopicConfig>`."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple


class JavaType(NamedTuple):
    """A type. name -- simple name; arguments -- of a generic type."""

    name: str
    arguments: tuple[JavaType, ...] = ()

    @property
    def is_map(self) -> bool:
        """Whether it is one of the maps that bodies have."""
        return self.name in {"Map", "HashMap", "ConcurrentMap"}

    @property
    def is_collection(self) -> bool:
        """Whether it is one of the lists or sets that bodies have."""
        return self.name in {"List", "Set", "HashSet"}


@cache
def java_type(text: str) -> JavaType:
    """The type that a text names."""
    name, angle, rest = text.partition("<")
    if not angle:
        return JavaType(name)
    return JavaType(name, tuple(map(java_type, _arguments(rest.removesuffix(">")))))


def _arguments(text: str) -> list[str]:
    found, depth, start = [], 0, 0
    for place, one in enumerate(text):
        depth += (one == "<") - (one == ">")
        if one == "," and depth == 0:
            found.append(text[start:place])
            start = place + 1
    return [*found, text[start:]]
