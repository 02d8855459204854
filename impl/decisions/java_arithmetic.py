"""Java's integer arithmetic, with Python's operators only.

The functions of numbers use + - * // % comparisons and `if`, nothing else: no conversion, no look at a type, no bit
trick. So the same code runs on Python integers and on symbolic integers that overload these operators and fork where a
comparison is asked for its truth. `//` and `%` round towards minus infinity, as Python's do; Java's round towards zero.
An `int` is a number of -2³¹ … 2³¹-1, a `long` one of -2⁶³ … 2⁶³-1 (Java Language Specification 4.2, 15.17).
"""

from __future__ import annotations

import struct

from impl.decisions.java_errors import DivisionByZeroError

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1


def wrap8(number: int) -> int:
    """The byte that `(byte) number` is."""
    return (number + 2**7) % 2**8 - 2**7


def wrap16(number: int) -> int:
    """The short that `(short) number` is."""
    return (number + 2**15) % 2**16 - 2**15


def wrap32(number: int) -> int:
    """The int that a 32-bit register holds after an exact result `number`."""
    return (number + 2**31) % 2**32 - 2**31


def wrap64(number: int) -> int:
    """The long that a 64-bit register holds after an exact result `number`."""
    return (number + 2**63) % 2**64 - 2**63


def quotient(dividend: int, divisor: int) -> int:
    """Java's `/`: rounded towards zero; raises DivisionByZeroError.

    The one quotient that overflows (the least number by -1) is given exactly: wrap it.
    """
    if divisor == 0:
        raise DivisionByZeroError
    if dividend >= 0:
        if divisor > 0:
            return dividend // divisor
        return -(dividend // -divisor)
    if divisor > 0:
        return -(-dividend // divisor)
    return -dividend // -divisor


def remainder(dividend: int, divisor: int) -> int:
    """Java's `%`: it has the sign of the dividend; raises DivisionByZeroError."""
    if divisor == 0:
        raise DivisionByZeroError
    if divisor < 0:
        divisor = -divisor
    if dividend >= 0:
        return dividend % divisor
    return -(-dividend % divisor)


def cut_product(number: int, factor: float) -> int:
    """`(long) (number * factor)`: the product is rounded to a double, then cut towards zero.

    Domain: numbers below 2⁵³ in amount, which are doubles themselves, and products of that kind.
    """
    if number < 0:
        return -cut_product(-number, factor)
    if factor < 0:
        return -cut_product(number, -factor)
    numerator, denominator = factor.as_integer_ratio()
    exact = number * numerator
    unit = 1  # the last bit of the rounded product's 53
    while exact >= unit * 2**53:
        unit *= 2
    rounded, rest = exact // unit, exact % unit
    if 2 * rest > unit or (2 * rest == unit and rounded % 2 == 1):
        rounded += 1
    return rounded * unit // denominator


def absolute32(number: int) -> int:
    """Math#abs(int): abs of the least int is the least int itself, a negative number."""
    if number == INT_MIN:
        return number
    if number < 0:
        return -number
    return number


def smaller(left: int, right: int) -> int:
    """Math#min, written as a choice."""
    if left <= right:
        return left
    return right


def greater(left: int, right: int) -> int:
    """Math#max, written as a choice."""
    if left >= right:
        return left
    return right


def string_hash(text: str) -> int:
    """String#hashCode: over UTF-16 code units, 32-bit."""
    if text.isascii():
        units: tuple[int, ...] | bytes = text.encode("ascii")
    else:
        encoded = text.encode("utf-16-be", "surrogatepass")
        units = struct.unpack(f">{len(encoded) // 2}H", encoded)
    result = 0
    for unit in units:
        result = (31 * result + unit) & 0xFFFFFFFF
    return wrap32(result)


def nullable_hash(text: str | None) -> int:
    """What generated hashCode methods use for a field: 0 for null."""
    return 0 if text is None else string_hash(text)


def long_hash(number: int) -> int:
    """Long#hashCode: the two halves, exclusive or."""
    unsigned = number % 2**64
    return wrap32(unsigned ^ (unsigned >> 32))


def double_hash(number: float) -> int:
    """Double#hashCode: Long#hashCode of the IEEE bits."""
    return long_hash(struct.unpack(">q", struct.pack(">d", number))[0])


def boolean_hash(*, value: bool) -> int:
    """Boolean#hashCode."""
    return 1231 if value else 1237
