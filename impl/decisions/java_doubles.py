"""java.lang.Double: its texts, the texts that it reads, and its order.

Java 17 writes some numbers with a digit more than needed, as 9.999999999999999E22 for 1.0E23; so does `double_text`.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

from impl.decisions.floating_decimal import decimal_digits
from impl.decisions.java_errors import NumberFormatError
from impl.decisions.java_text import trim

_DECIMAL = re.compile(r"[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)")
_HEXADECIMAL = re.compile(r"([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?[0-9]+)[fFdD]?")
_PLAIN_FROM, _PLAIN_BELOW = 1e-3, 1e7  # an exponent is written outside
_MOST_WHOLE_DIGITS, _LEAST_POINT = 7, -3  # the same, as places of the point


def parse_double(text: str) -> float:
    """Double#valueOf: decimal or hexadecimal, with blanks around it and a suffix; raises NumberFormatError."""
    trimmed = trim(text)
    if not trimmed:
        raise NumberFormatError("empty String")
    if _DECIMAL.fullmatch(trimmed):
        plain = trimmed if trimmed[-1] in "yN" else trimmed.rstrip("fFdD")
        return float(plain)
    match = _HEXADECIMAL.fullmatch(trimmed)
    if match is None or not match.group(2) + match.group(3):
        raise NumberFormatError(f'For input string: "{text}"')
    sign, whole, fraction, exponent = match.groups()
    try:
        return float.fromhex(f"{sign}0x{whole}.{fraction}p{exponent}")
    except OverflowError:
        return -math.inf if sign == "-" else math.inf


def double_text(value: float) -> str:
    """Double#toString of Java 17 (FloatingDecimal.BinaryToASCIIBuffer#getChars)."""
    special = _special_text(value)
    if special is not None:
        return special
    digits, exponent = decimal_digits(abs(value))
    return ("-" if value < 0 else "") + _written(digits, exponent)


def shortest_double_text(value: float) -> str:
    """RyuDouble#toString of fastjson: the fewest digits, but two where an exponent follows."""
    special = _special_text(value)
    if special is not None:
        return special
    plain = _PLAIN_FROM <= abs(value) < _PLAIN_BELOW
    digits, exponent = _taken_apart(repr(abs(value)))
    if len(digits) == 1 and not plain:
        two, place = _taken_apart(f"{abs(value):.1e}")
        digits = two if place == exponent else digits
    return ("-" if value < 0 else "") + _written(digits, exponent)


def _special_text(value: float) -> str | None:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value) if value == 0 else None


def _taken_apart(text: str) -> tuple[str, int]:
    """The digits of a number, and where its point stands behind their beginning."""
    digits = Decimal(text).normalize().as_tuple()
    return "".join(map(str, digits.digits)), int(digits.exponent) + len(digits.digits)


def _written(digits: str, point: int) -> str:
    if 0 < point <= _MOST_WHOLE_DIGITS:
        whole = digits[:point].ljust(point, "0")
        return f"{whole}.{digits[point:] or '0'}"
    if _LEAST_POINT < point <= 0:
        return f"0.{'0' * -point}{digits}"
    return f"{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def compare_doubles(left: float, right: float) -> int:
    """Double#compare: -0.0 is below 0.0, NaN equals itself and is above all."""
    if left < right:
        return -1
    if left > right:
        return 1
    return _order(left) - _order(right)


def _order(value: float) -> int:
    """Among equal ones, and NaN: by the bits."""
    return 1 if math.isnan(value) else (0 if value != 0 or math.copysign(1, value) > 0 else -1)
