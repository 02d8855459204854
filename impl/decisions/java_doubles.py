"""java.lang.Double: its text, the texts that it reads, and its order.

Java 17 writes some numbers with a digit more than needed (2.0E-3 is not among them); those are written with the fewest.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

from impl.decisions.java_errors import NumberFormatError
from impl.decisions.java_text import trim

_DECIMAL = re.compile(r"[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)")
_HEXADECIMAL = re.compile(r"([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?[0-9]+)[fFdD]?")
_PLAIN_FROM, _PLAIN_BELOW = 1e-3, 1e7  # Double#toString writes an exponent outside


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
    """Double#toString."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        return repr(value)
    digits = Decimal(repr(value)).normalize().as_tuple()
    text = "".join(map(str, digits.digits))
    exponent = int(digits.exponent) + len(text) - 1
    return f"{'-' * digits.sign}{text[0]}.{text[1:] or '0'}E{exponent}"


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
