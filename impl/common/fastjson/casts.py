"""TypeUtils: what becomes of a value that is not of the type that a field has."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from impl.common.fastjson.lexer import JSONError
from impl.common.fastjson.serializer import to_json
from impl.decisions.java_arithmetic import wrap32, wrap64
from impl.decisions.java_text import parse_integer
from impl.hash_map import HashMap

_TRAILING_ZEROS = re.compile(r"\.0*$")
_NONE = frozenset({"", "null", "NULL"})
_MOST_PLACES = 100  # TypeUtils#intValue: beyond, the value has to be exact


def decimal_as_int(value: Decimal, bits: int) -> int:
    """TypeUtils#intValue, #longValue of a BigDecimal: cut, and wrapped around."""
    exponent = value.as_tuple().exponent
    whole = int(value)
    wrapped = wrap32(whole) if bits == 32 else wrap64(whole)  # noqa: PLR2004  an int or a long
    exact = isinstance(exponent, int) and not -_MOST_PLACES <= exponent <= _MOST_PLACES
    if exact and (Decimal(whole) != value or wrapped != whole):
        raise JSONError("Rounding necessary" if Decimal(whole) != value else "Overflow")
    return wrapped


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
        return wrap32(int(value)) if bits == 32 else wrap64(int(value))  # noqa: PLR2004  an int or a long
    if isinstance(value, Decimal):
        return decimal_as_int(value, bits)
    if isinstance(value, HashMap) and set(value.key_set()) == {"andIncrement", "andDecrement"}:
        return _number(value.values()[1], bits, name)
    raise JSONError(f"can not cast to {name}, value : {to_text(value)}")


_BOOLEANS = {"1": True, "T": True, "0": False, "N": False}
_BOOLEANS_OF_ANY_CASE = {"true": True, "y": True, "false": False, "f": False}


def cast_to_boolean(value: Any) -> bool | None:
    """TypeUtils#castToBoolean; raises JSONError."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Decimal | int):
        return (decimal_as_int(value, 32) if isinstance(value, Decimal) else wrap32(value)) == 1
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
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return str(value)
    return to_json(value)
