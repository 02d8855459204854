"""TypeUtils: what becomes of a value that is not of the type that a field has."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from impl.common.fastjson.characters import JSONError
from impl.common.fastjson.serializer import number_text, to_json
from impl.common.fastjson.untyped import JavaDate, JavaSet, JSONObject
from impl.decisions.java_arithmetic import wrap8, wrap32, wrap64
from impl.decisions.java_doubles import double_text, parse_double
from impl.decisions.java_text import parse_integer

_TRAILING_ZEROS = re.compile(r"\.0*$")
_NONE = frozenset({"", "null", "NULL"})
_MOST_PLACES = 100  # TypeUtils#intValue: beyond, the value has to be exact
_LONGEST = 19  # digits of a long


def decimal_as_int(value: Decimal, bits: int) -> int:
    """TypeUtils#intValue, #longValue of a BigDecimal: cut, and wrapped around; raises JSONError."""
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and -_MOST_PLACES <= exponent <= _MOST_PLACES:
        return _wrapped(int(value), bits)
    return _exactly(value, bits) if value else 0


def _exactly(value: Decimal, bits: int) -> int:
    """BigDecimal#intValueExact, #longValueExact: its length is looked at first, for it may have a billion digits."""
    digits = value.adjusted() + 1
    if digits > _LONGEST:
        raise JSONError("Overflow")
    whole = int(value)
    if Decimal(whole) != value:
        raise JSONError("Rounding necessary")
    if _wrapped(whole, bits) != whole:
        raise JSONError("Overflow")
    return whole


def _wrapped(whole: int, bits: int) -> int:
    return wrap32(whole) if bits == 32 else wrap64(whole)  # noqa: PLR2004  an int or a long


def _nearest(value: float, bits: int) -> int:
    """Double#intValue, #longValue: without its fraction, and not beyond the greatest."""
    if math.isnan(value):
        return 0
    greatest = (1 << bits - 1) - 1
    if math.isinf(value):
        return greatest if value > 0 else -greatest - 1
    return max(-greatest - 1, min(greatest, int(value)))


def cast_to_int(value: Any) -> int | None:
    """TypeUtils#castToInt; raises JavaError."""
    if isinstance(value, str):
        text = value.replace(",", "")
        return None if value in _NONE else parse_integer(_TRAILING_ZEROS.sub("", text), 32)
    return _number(value, 32, "int")


def cast_to_long(value: Any) -> int | None:
    """TypeUtils#castToLong; raises JavaError. A text that is a date is not understood here."""
    if isinstance(value, str):
        return None if value in _NONE else parse_integer(value.replace(",", ""), 64)
    return _number(value, 64, "long")


def _number(value: Any, bits: int, name: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool | int):
        return _wrapped(int(value), bits)
    if isinstance(value, Decimal):
        return decimal_as_int(value, bits)
    if isinstance(value, float):
        return _nearest(value, bits)
    if isinstance(value, JSONObject) and set(value.keys_in_order) == {"andIncrement", "andDecrement"}:
        return _number(value.get(value.keys_in_order[1]), bits, name)
    raise JSONError(f"can not cast to {name}, value : {to_text(value)}")


def cast_to_byte(value: Any) -> int | None:
    """TypeUtils#castToByte; raises JavaError."""
    if isinstance(value, str):
        return None if value in _NONE else parse_integer(value, 8)
    if isinstance(value, JSONObject):
        raise JSONError(f"can not cast to byte, value : {to_text(value)}")
    whole = _number(value, 32, "byte")
    return None if whole is None else wrap8(whole)


def cast_to_double(value: Any) -> float | None:
    """TypeUtils#castToDouble; raises JavaError."""
    if value is None or (isinstance(value, str) and value in _NONE):
        return None
    if isinstance(value, str):
        return parse_double(value.replace(",", ""))
    if isinstance(value, int | float | Decimal):
        return float(value)
    raise JSONError(f"can not cast to double, value : {to_text(value)}")


_BOOLEANS = {"1": True, "T": True, "0": False, "N": False}
_BOOLEANS_OF_ANY_CASE = {"true": True, "y": True, "false": False, "f": False}


def cast_to_boolean(value: Any) -> bool | None:
    """TypeUtils#castToBoolean; raises JSONError."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Decimal | int | float):
        return _number(value, 32, "int") == 1
    if isinstance(value, str):
        if value in _NONE:
            return None
        found = _BOOLEANS.get(value, _BOOLEANS_OF_ANY_CASE.get(value.lower()))
        if found is not None:
            return found
    raise JSONError(f"can not cast to boolean, value : {to_text(value)}")


def to_text(value: Any) -> str | None:
    """Object#toString of what the parser makes; None for null."""
    if value is None or isinstance(value, str):
        return value
    text = next((text for kind, text in _TEXTS.items() if isinstance(value, kind)), to_json)
    return text(value)


def _items(value: JavaSet) -> str:
    """AbstractCollection#toString."""
    return "[" + ", ".join(str(to_text(one) or "null") for one in value) + "]"


_TEXTS: Mapping[type, Callable[[Any], str]] = {
    bool: lambda value: "true" if value else "false", float: double_text, int: number_text, Decimal: number_text,
    JavaSet: _items, JavaDate: str,
    bytes: lambda _: "[B@0",  # and in Java a number that says nothing
}
