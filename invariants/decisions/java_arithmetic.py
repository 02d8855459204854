"""What is promised of Java's arithmetic."""

from __future__ import annotations

from impl.decisions import (
    java_arithmetic,
)
from invariants.claim import assume, decision
from invariants.domains import INT_MAX, INT_MIN, LONG_MAX, Long


@decision(of=(java_arithmetic.quotient, java_arithmetic.remainder), promises="java_arithmetic_follows_the_language")
def java_division_is_exact(dividend: Long, divisor: Long) -> bool:
    """Quotient times divisor plus remainder is the dividend; the remainder is smaller and has the dividend's sign."""
    assume(divisor != 0)
    quotient = java_arithmetic.quotient(dividend, divisor)
    remainder = java_arithmetic.remainder(dividend, divisor)
    small = abs(remainder) < abs(divisor)
    signed = remainder == 0 or (remainder > 0) == (dividend > 0)
    return small and signed and quotient * divisor + remainder == dividend


@decision(of=(java_arithmetic.wrap32, java_arithmetic.absolute32), promises="java_arithmetic_follows_the_language",
          few={"number": (0, 1, -1, INT_MAX, INT_MAX + 1, INT_MIN, INT_MIN - 1, 2**32, 3 * 2**31 + 5, LONG_MAX)})
def java_int_wraps(number: Long) -> bool:
    """A wrapped number is an int that differs by a multiple of 2³²; only the least int has no positive absolute."""
    wrapped = java_arithmetic.wrap32(number)
    absolute = java_arithmetic.absolute32(wrapped)
    return (INT_MIN <= wrapped <= INT_MAX and (number - wrapped) % 2**32 == 0
            and (absolute >= 0) == (wrapped != INT_MIN) and absolute in (wrapped, -wrapped))
