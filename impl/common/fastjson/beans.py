"""Java beans: which fields a class has, and what a new object holds.

A bean is a Python object with the Java class and its field values; lists and sets are lists, maps HashMap or
ConcurrentHashMap, constants of enums their names, an AtomicLong its number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from impl.common.fastjson.types import JavaType, java_type
from impl.decisions.java_arithmetic import string_hash
from impl.hash_map import ConcurrentHashMap, HashMap


class BeanField(NamedTuple):
    """A field. written -- False: it is read but never written (@JSONField(serialize = false))."""

    name: str
    type: JavaType
    written: bool = True


@dataclass(frozen=True, eq=False)
class BeanClass:
    """A Java class. name -- with its package; fields -- by name; initial -- what a new object has, else null or 0.

    An initial value can be a function of the time at which the object is made. compared -- the fields by which its
    objects are equal; without any an object equals nothing but itself.
    """

    name: str
    fields: tuple[BeanField, ...]
    initial: Mapping[str, Any]
    compared: tuple[str, ...] = ()

    def new(self, now_ms: int) -> Bean:
        """A new object."""
        return Bean(self, {field.name: self._initial(field, now_ms) for field in self.fields})

    def _initial(self, field: BeanField, now_ms: int) -> Any:
        value = self.initial.get(field.name, _ZERO.get(field.type.name))
        return value(now_ms) if callable(value) else value


_ZERO: Mapping[str, Any] = {"int": 0, "long": 0, "boolean": False, "double": 0.0}


class Bean:
    """An object: its class and its field values by Java name."""

    __slots__ = ("bean_class", "values")

    def __init__(self, bean_class: BeanClass, values: dict[str, Any]) -> None:
        """Take values by Java name."""
        self.bean_class, self.values = bean_class, values

    def put(self, field: BeanField, value: Any) -> None:
        """Set a field; a primitive one takes no null."""
        if value is not None or field.type.name not in _ZERO:
            self.values[field.name] = value

    def equals(self, other: object) -> bool:
        """Object#equals; sets that it compares have no order."""
        if self is other or not isinstance(other, Bean) or self.bean_class is not other.bean_class:
            return self is other
        pairs = [(self.values[name], other.values[name]) for name in self.bean_class.compared]
        return bool(pairs) and all(_equal(one, another) for one, another in pairs)

    def __eq__(self, other: object) -> bool:
        """The same class and equal values: what equals does in the classes that are keys of maps."""
        return isinstance(other, Bean) and (self.bean_class, self.values) == (other.bean_class, other.values)

    def __hash__(self) -> int:
        """As `java_hash`."""
        return self.java_hash()

    def java_hash(self) -> int:
        """MessageQueue#hashCode, for the one bean that is a key of maps; others: 1."""
        values = self.values
        if not self.bean_class.name.endswith(".MessageQueue"):
            return 1
        queue_id: int = values["queueId"]
        code = 31 * (31 + _hash(values["brokerName"])) + queue_id
        return (31 * code + _hash(values["topic"])) & 0xFFFFFFFF

    def __repr__(self) -> str:
        """Its class and values."""
        return f"{self.bean_class.name.rpartition('.')[2]}({self.values})"

    def __str__(self) -> str:
        """Object#toString of a MessageQueue, which is in messages about keys of maps."""
        values = {name: "null" if value is None else value for name, value in self.values.items()}
        if not self.bean_class.name.endswith(".MessageQueue"):
            return repr(self)
        return "MessageQueue [topic={topic}, brokerName={brokerName}, queueId={queueId}]".format(**values)


def _equal(one: Any, another: Any) -> bool:
    if isinstance(one, list) and isinstance(another, list):
        return len(one) == len(another) and all(item in another for item in one)
    return bool(one == another)


def _hash(text: str | None) -> int:
    return 0 if text is None else string_hash(text)


ENUMS: dict[str, tuple[str, tuple[str, ...]]] = {}
"""Enums by simple name: their full name and their constants in order."""
BEANS: dict[str, BeanClass] = {}
"""Bean classes by simple name."""


def enum(name: str, constants: str) -> None:
    """Declare an enum."""
    ENUMS[name.rpartition(".")[2]] = (name, tuple(constants.split()))


def bean(
    name: str, fields: str, *, unwritten: Sequence[str] = (), compared: Sequence[str] = (), **initial: Any,
) -> BeanClass:
    """Declare a class below org.apache.rocketmq: its fields as `name:type`, and what new objects have.

    compared -- as in `BeanClass`, for the classes whose objects are members of sets.
    initial -- by Java name a value, or what makes one at a time.
    """
    pairs = sorted(word.split(":") for word in fields.split())
    declared = BeanClass(
        f"org.apache.rocketmq.{name}",
        tuple(BeanField(field, java_type(text), field not in unwritten) for field, text in pairs), initial,
        tuple(compared))
    BEANS[name.rpartition(".")[2]] = declared
    return declared


def new_map(kind: JavaType) -> HashMap[Any, Any]:
    """MapDeserializer#createMap."""
    return ConcurrentHashMap() if kind.name == "ConcurrentMap" else HashMap()


def now(now_ms: int) -> int:
    """Of fields that begin with System.currentTimeMillis()."""
    return now_ms


def empty_list(now_ms: int) -> list[Any]:  # noqa: ARG001  as all of them
    """Of fields that begin with an empty list or set."""
    return []


def empty_map(now_ms: int) -> HashMap[Any, Any]:  # noqa: ARG001  as all of them
    """Of fields that begin with an empty HashMap."""
    return HashMap()


def empty_table(now_ms: int) -> ConcurrentHashMap[Any, Any]:  # noqa: ARG001  as all of them
    """Of fields that begin with an empty ConcurrentHashMap."""
    return ConcurrentHashMap()
