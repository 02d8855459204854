"""The domains of a claim's arguments: which values there are, which of them are small, how they are written down."""

from __future__ import annotations

import math
import typing
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Integers:
    """Integers between two bounds, both included; None: no bound.

    few -- the values for the exhaustive search; by default the first ones from the bound (or around 0).
    """

    low: int | None = None
    high: int | None = None
    few: tuple[int, ...] = ()

    def smallest(self) -> Sequence[int]:
        """The values that an exhaustive search tries: the few, or five next to the lower bound, or to 0."""
        if self.few:
            return self.few
        if self.low is not None:
            return range(self.low, self.low + 5 if self.high is None else min(self.high, self.low + 4) + 1)
        return range(-2, 3)

    def size(self, value: int) -> int:
        """How large a value is in the order "smallest counterexample first": its distance from 0."""
        return abs(value)

    def of_size(self, size: int) -> Iterable[int]:
        """Every value of that size: the number and its negative, as far as they are in the domain."""
        return filter(self.contains, (size, -size) if size else (0,))

    def largest(self) -> float:
        """The greatest size of a value; infinite when there is none."""
        return math.inf if self.low is None or self.high is None else max(abs(self.low), abs(self.high))

    def contains(self, value: Any) -> bool:
        """Whether it is an integer within the bounds."""
        return (isinstance(value, int) and not isinstance(value, bool)
                and (self.low is None or value >= self.low) and (self.high is None or value <= self.high))

    def from_json(self, data: Any) -> int:
        """The value that evidence means; ValueError when it is none of the domain."""
        if not self.contains(data):
            raise ValueError(f"{data!r} is no integer of this domain")
        return int(data)


@dataclass(frozen=True, slots=True)
class Members:
    """The members of an enumeration, or False and True: a closed list of values, the first one the smallest."""

    values: tuple[Any, ...]

    def smallest(self) -> Sequence[Any]:
        """All of them."""
        return self.values

    def size(self, value: Any) -> int:
        """The position in the list."""
        return self.values.index(value)

    def of_size(self, size: int) -> Iterable[Any]:
        """The value at that position."""
        return self.values[size:size + 1]

    def largest(self) -> float:
        """The position of the last value."""
        return len(self.values) - 1

    def contains(self, value: Any) -> bool:
        """Whether it is one of them."""
        return value in self.values

    def from_json(self, data: Any) -> Any:
        """The member of that name; ValueError when there is none."""
        found = [value for value in self.values if written(value) == data]
        if not found:
            raise ValueError(f"{data!r} is none of {[written(value) for value in self.values]}")
        return found[0]


Domain: TypeAlias = Integers | Members

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1
_NEAR = (0, 1, -1, 2, -2, 3, -3, 4, -4)

Count = Annotated[int, Integers(low=0)]
Positive = Annotated[int, Integers(low=1)]
Int32 = Annotated[int, Integers(INT_MIN, INT_MAX, (*_NEAR, INT_MAX - 1, INT_MAX, INT_MIN + 1, INT_MIN))]
Long = Annotated[int, Integers(LONG_MIN, LONG_MAX, (*_NEAR, LONG_MAX, LONG_MIN))]
NotNegativeLong = Annotated[int, Integers(0, LONG_MAX, (0, 1, 2, 3, 4, LONG_MAX - 1, LONG_MAX))]


def written(value: Any) -> Any:
    """A value of a domain as evidence writes it: of a member its name; numbers and truth values stay as they are."""
    return value.name if isinstance(value, Enum) else value


def domain_of(annotation: Any) -> Domain:
    """The domain that an annotation names; TypeError for an annotation that names none."""
    if typing.get_origin(annotation) is Annotated:
        named = [extra for extra in typing.get_args(annotation)[1:] if isinstance(extra, Integers)]
        if named:
            return named[0]
    if annotation is bool:
        return Members((False, True))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return Members(tuple(annotation))
    raise TypeError(f"{annotation!r} names no domain: write Count, Int32, Annotated[int, Integers(…)], bool or an enum")


def rows_of_size(domains: Sequence[Domain], size: int) -> Iterator[tuple[Any, ...]]:
    """Every row of one value per domain whose sizes add up to the size; small values in the first columns first."""
    if not domains:
        yield from [()] if size == 0 else []
        return
    first, rest = domains[0], domains[1:]
    least = max(0, size - sum(domain.largest() for domain in rest))
    for own in range(int(least), int(min(size, first.largest())) + 1):
        values = tuple(first.of_size(own))
        if values:
            yield from ((value, *row) for row in rows_of_size(rest, size - own) for value in values)
