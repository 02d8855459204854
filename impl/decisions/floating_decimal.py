"""The digits that Java 17 writes of a double (jdk.internal.math.FloatingDecimal): sometimes more than needed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from impl.decisions.java_arithmetic import wrap32, wrap64

_SIGNIFICAND_BITS = 52
_BIAS = 1023
_LEAST_SMALL_EXPONENT, _GREATEST_SMALL_EXPONENT = -21, 62
_INT_BITS, _LONG_BITS = 32, 64
_KNOWN_POWERS = 27  # of 5 that a long holds; beyond them three bits are counted for each
_FORMAT_FROM, _FORMAT_BELOW = -3, 8  # decimal exponents of numbers that may have one digit alone


class _Binary(NamedTuple):
    """A double above 0. fraction -- 53 bits, the highest one set; exponent -- of that bit.

    significant -- so many bits of the fraction count: fewer in subnormal numbers.
    """

    fraction: int
    exponent: int
    significant: int


def decimal_digits(value: float) -> tuple[str, int]:
    """The digits of a finite double above 0, and where the point stands behind their beginning."""
    number = _binary(value)
    whole = _whole_digits(number)
    return _stripped(*whole) if whole is not None else _developed(number)


def _binary(value: float) -> _Binary:
    """FloatingDecimal#getBinaryToASCIIConverter(double, boolean)."""
    mantissa, exponent = math.frexp(value)
    fraction = int(mantissa * (1 << (_SIGNIFICAND_BITS + 1)))
    exponent -= 1
    lost = max(0, 1 - _BIAS - exponent)
    return _Binary(fraction, exponent, _SIGNIFICAND_BITS + 1 - lost)


def _power_bits(power: int) -> int:
    """N_5_BITS: how many bits a power of 5 has; Java counts none for 1."""
    return 0 if power == 0 else (5**power).bit_length() if power < _KNOWN_POWERS else power * 3


def _whole_digits(number: _Binary) -> tuple[int, int] | None:
    """The easy case: a whole number that a long holds, and the digits that are left out at its end."""
    fraction_bits = _SIGNIFICAND_BITS + 1 - _tail_zeros(number.fraction)
    small = _LEAST_SMALL_EXPONENT <= number.exponent <= _GREATEST_SMALL_EXPONENT
    if not small or fraction_bits > number.exponent + 1:
        return None
    beyond = number.exponent - number.significant - 1
    left_out = int(beyond * math.log10(2)) if beyond > 1 else 0
    shift = number.exponent - _SIGNIFICAND_BITS
    whole = number.fraction << shift if shift >= 0 else number.fraction >> -shift
    rounded, rest = divmod(whole, 10**left_out)
    return rounded + (left_out > 0 and rest >= 10**left_out // 2), left_out


def _stripped(whole: int, left_out: int) -> tuple[str, int]:
    """FloatingDecimal.BinaryToASCIIBuffer#developLongDigits."""
    text = str(whole)
    return text.rstrip("0"), len(text) + left_out


def _tail_zeros(number: int) -> int:
    return (number & -number).bit_length() - 1


def _estimate(number: _Binary) -> int:
    """FloatingDecimal.BinaryToASCIIBuffer#estimateDecExp."""
    mantissa = number.fraction / (1 << _SIGNIFICAND_BITS)
    return math.floor((mantissa - 1.5) * 0.289529654 + 0.176091259 + number.exponent * 0.301029995663981)


def _developed(number: _Binary) -> tuple[str, int]:
    """FloatingDecimal.BinaryToASCIIBuffer#dtoa, the hard case: the number is b / s times a power of 10.

    m -- half of how far the next number is away. Digits end where what is left cannot be told from 0 or from 1.
    """
    exponent = _estimate(number)
    b, s, m, wrap = _scaled(number, exponent)
    tens, digits = 10 * s, ""

    def next_digit() -> tuple[int, bool, bool]:
        nonlocal b, m
        digit, rest = divmod(b, s)
        b = 10 * rest
        if wrap is None:
            m *= 10
            return digit, b < m, b + m >= tens
        m = wrap(10 * m)
        return (digit, b < m, wrap(b + m) > tens) if m > 0 else (digit, True, True)

    digit, low, high = next_digit()
    if digit == 0 and not high:
        exponent -= 1
    else:
        digits = str(digit)
    if not _FORMAT_FROM <= exponent < _FORMAT_BELOW:
        low = high = False
    while not low and not high:
        digit, low, high = next_digit()
        digits += str(digit)
    if high and (not low or 2 * b > tens or (2 * b == tens and digit % 2 == 1)):
        return _rounded_up(digits, exponent + 1)
    return digits, exponent + 1


def _scaled(number: _Binary, exponent: int) -> tuple[int, int, int, Callable[[int], int] | None]:
    """B, S and M of #dtoa, and how they overflow where Java has them as ints or longs."""
    tail = _tail_zeros(number.fraction)
    fraction_bits = _SIGNIFICAND_BITS + 1 - tail
    tiny_bits = max(0, fraction_bits - number.exponent - 1)
    b5, s5 = max(0, -exponent), max(0, exponent)
    b2, s2 = b5 + tiny_bits + number.exponent, s5 + tiny_bits
    m2 = b2 - number.significant
    b2 -= fraction_bits - 1
    common = min(b2, s2)
    b2, s2, m2 = b2 - common, s2 - common, m2 - common
    m2 -= fraction_bits == 1  # below a power of 2 the next number is half as far away
    if m2 < 0:
        b2, s2, m2 = b2 - m2, s2 - m2, 0
    b_bits = fraction_bits + b2 + _power_bits(b5)
    tens_bits = s2 + 1 + _power_bits(s5 + 1)
    bits = max(b_bits, tens_bits)
    wrap = wrap32 if bits < _INT_BITS else wrap64 if bits < _LONG_BITS else None
    return (number.fraction >> tail) * 5**b5 << b2, 5**s5 << s2, 5**b5 << m2, wrap


def _rounded_up(digits: str, point: int) -> tuple[str, int]:
    """FloatingDecimal.BinaryToASCIIBuffer#roundup."""
    raised = str(int(digits) + 1).rjust(len(digits), "0")
    return (raised, point) if len(raised) == len(digits) else (raised[:-1], point + 1)
