"""Numbers and truth values that stand for every value at once: plain Python runs on them, one path at a time.

A decision is an ordinary function. Called with a SymbolicInteger it computes a term instead of a number; where it asks
"is this so?" (`if`, `and`, `while`, `min`, `in`, …) Python calls __bool__, and the run in progress (proofs/paths.py)
answers for one of the feasible sides and remembers the other.

What is exact here, and what is refused:

    + - * == < <= …        the integers of Python, unbounded, as Z3 terms
    // % divmod            floor division as in Python; by a symbolic divisor through a named quotient and remainder
    << >> & | ^            shifts and masks by a constant; anything else is refused
    == < … with a float    exact: an integer is compared with the floor or the ceiling of the float
    [x] range(x) int(x) hash(x) x / y f"{x}"      the value is made concrete: one path per feasible value

A refusal is UnsupportedError: the verdict is then `unknown`, never a silent wrong answer.
"""

# ruff: noqa: D105 -- these are Python's own operators; the table above says what each group of them means



from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

import z3

from proofs import terms
from proofs.terms import Context, Term


class UnsupportedError(BaseException):
    """The code does something that has no symbolic meaning; not an Exception, so that no code under test catches it."""


class Run(Protocol):
    """The path that is being executed; all terms belong to its context."""

    context: Context

    def decide(self, condition: Term) -> bool:
        """Take one feasible side of a condition."""

    def concrete(self, term: Term) -> int:
        """Take one feasible value of an integer term."""

    def quotient(self, dividend: Term, divisor: Term) -> tuple[Term, Term]:
        """Names for the floored quotient and remainder by a divisor that is not 0."""


class SymbolicBool:
    """A truth value that stands for both."""

    __slots__ = ("run", "term")

    def __init__(self, run: Run, term: Term) -> None:
        """Wrap a Z3 formula that belongs to a run."""
        self.run, self.term = run, term

    def __bool__(self) -> bool:
        return self.run.decide(self.term)

    def __index__(self) -> int:
        return int(bool(self))

    def __hash__(self) -> int:
        return hash(bool(self))

    def __repr__(self) -> str:
        return f"⟦{self.term}⟧"

    def __str__(self) -> str:
        return str(bool(self))

    def __format__(self, spec: str) -> str:
        return format(bool(self), spec)

    def __eq__(self, other: object) -> Any:
        return self._join(other, terms.equality)

    def __ne__(self, other: object) -> Any:
        return self._join(other, _differ)

    def __and__(self, other: object) -> Any:
        return self._join(other, _both)

    def __or__(self, other: object) -> Any:
        return self._join(other, _either)

    def __xor__(self, other: object) -> Any:
        return self._join(other, _differ)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __add__(self, other: object) -> Any:
        return self._as_integer() + other

    __radd__ = __add__

    def __invert__(self) -> NoReturn:
        _refuse("~ of a truth value (in Python ~True is -2)")

    def _as_integer(self) -> SymbolicInteger:
        return SymbolicInteger(self.run, _as_number(self.term))

    def _join(self, other: object, connective: Callable[[Term, Term], Term]) -> Any:
        if isinstance(other, SymbolicBool):
            return SymbolicBool(self.run, connective(self.term, other.term))
        if isinstance(other, bool):
            return SymbolicBool(self.run, connective(self.term, terms.truth(other, self.run.context)))
        return NotImplemented


class SymbolicInteger:
    """An integer that stands for every integer of its domain."""

    __slots__ = ("run", "term")

    def __init__(self, run: Run, term: Term) -> None:
        """Wrap a Z3 integer term that belongs to a run."""
        self.run, self.term = run, term

    # -- one path per value -------------------------------------------------------------------------------------

    def __index__(self) -> int:
        return self.run.concrete(self.term)

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.run.concrete(self.term))

    def __hash__(self) -> int:
        return hash(self.run.concrete(self.term))

    def __truediv__(self, other: Any) -> float:
        return float(self.run.concrete(self.term) / other)

    def __rtruediv__(self, other: Any) -> float:
        return float(other / self.run.concrete(self.term))

    # -- text: a message or a key is as concrete as a number; only repr, which debuggers use, shows the term ---------

    def __repr__(self) -> str:
        return f"⟦{self.term}⟧"

    def __str__(self) -> str:
        return str(self.run.concrete(self.term))

    def __format__(self, spec: str) -> str:
        return format(self.run.concrete(self.term), spec)

    # -- comparison ---------------------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        return self.run.decide(_differ(self.term, terms.number(0, self.run.context)))

    def __eq__(self, other: object) -> Any:
        if isinstance(other, float):
            return self == int(other) if other.is_integer() else False
        return self._compare(other, terms.equality)

    def __ne__(self, other: object) -> Any:
        if isinstance(other, float):
            return self != int(other) if other.is_integer() else True
        return self._compare(other, _differ)

    def __lt__(self, other: object) -> Any:
        return self._compare(math.ceil(other) if isinstance(other, float) else other, terms.less)

    def __le__(self, other: object) -> Any:
        return self._compare(math.floor(other) if isinstance(other, float) else other, terms.at_most)

    def __gt__(self, other: object) -> Any:
        return self._compare(math.floor(other) if isinstance(other, float) else other, lambda a, b: terms.less(b, a))

    def __ge__(self, other: object) -> Any:
        return self._compare(math.ceil(other) if isinstance(other, float) else other, lambda a, b: terms.at_most(b, a))

    def _compare(self, other: object, relation: Callable[[Term, Term], Term]) -> Any:
        right = _integer_term(other, self.run.context)
        return NotImplemented if right is None else SymbolicBool(self.run, relation(self.term, right))

    # -- arithmetic ---------------------------------------------------------------------------------------------

    def __add__(self, other: object) -> Any:
        return self._compute(other, terms.total)

    def __sub__(self, other: object) -> Any:
        return self._compute(other, terms.difference)

    def __rsub__(self, other: object) -> Any:
        return self._compute(other, lambda a, b: terms.difference(b, a))

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, float):
            return self.run.concrete(self.term) * other
        return self._compute(other, terms.product)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> SymbolicInteger:
        return SymbolicInteger(self.run, terms.negative(self.term))

    def __pos__(self) -> SymbolicInteger:
        return self

    def __abs__(self) -> SymbolicInteger:
        return -self if self < 0 else self

    def __invert__(self) -> SymbolicInteger:
        return SymbolicInteger(self.run, -self.term - 1)

    def __divmod__(self, other: object) -> Any:
        divisor = _integer_term(other, self.run.context)
        return NotImplemented if divisor is None else _divide(self.run, self.term, divisor)

    def __rdivmod__(self, other: object) -> Any:
        dividend = _integer_term(other, self.run.context)
        return NotImplemented if dividend is None else _divide(self.run, dividend, self.term)

    def __floordiv__(self, other: object) -> Any:
        pair = self.__divmod__(other)
        return pair if pair is NotImplemented else pair[0]

    def __rfloordiv__(self, other: object) -> Any:
        pair = self.__rdivmod__(other)
        return pair if pair is NotImplemented else pair[0]

    def __mod__(self, other: object) -> Any:
        pair = self.__divmod__(other)
        return pair if pair is NotImplemented else pair[1]

    def __rmod__(self, other: object) -> Any:
        pair = self.__rdivmod__(other)
        return pair if pair is NotImplemented else pair[1]

    def _compute(self, other: object, operation: Callable[[Term, Term], Term]) -> Any:
        right = _integer_term(other, self.run.context)
        return NotImplemented if right is None else SymbolicInteger(self.run, operation(self.term, right))

    # -- bits, by constants -------------------------------------------------------------------------------------

    def __lshift__(self, other: object) -> SymbolicInteger:
        return self * (1 << _constant(other, "a shift"))  # type: ignore[no-any-return]  # __mul__ serves floats too

    def __rshift__(self, other: object) -> SymbolicInteger:
        return self // (1 << _constant(other, "a shift"))  # type: ignore[no-any-return]  # may be NotImplemented

    def __and__(self, other: object) -> SymbolicInteger:
        return SymbolicInteger(self.run, _masked(self.term, _constant(other, "a mask")))

    def __or__(self, other: object) -> SymbolicInteger:
        mask = _constant(other, "a mask")
        return SymbolicInteger(self.run, self.term + mask - _masked(self.term, mask))

    def __xor__(self, other: object) -> SymbolicInteger:
        mask = _constant(other, "a mask")
        return SymbolicInteger(self.run, self.term + mask - 2 * _masked(self.term, mask))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__


_WORD = 2**31


def _refuse(what: str) -> NoReturn:
    raise UnsupportedError(f"{what} has no symbolic meaning here")


def _constant(value: object, what: str) -> int:
    if isinstance(value, int):
        return int(value)
    return _refuse(f"{what} that is not a constant")


def _integer_term(value: object, context: Context) -> Term | None:
    if isinstance(value, SymbolicInteger):
        return value.term
    if isinstance(value, SymbolicBool):
        return _as_number(value.term)
    return terms.number(int(value), context) if isinstance(value, int) else None


def _as_number(formula: Term) -> Term:
    return terms.choice(formula, terms.number(1, formula.ctx), terms.number(0, formula.ctx))


def _both(left: Term, right: Term) -> Term:
    return terms.conjunction((left, right), left.ctx)


def _either(left: Term, right: Term) -> Term:
    return terms.disjunction((left, right), left.ctx)


def _differ(left: Term, right: Term) -> Term:
    return terms.negation(terms.equality(left, right))


def _divide(run: Run, dividend: Term, divisor: Term) -> tuple[SymbolicInteger, SymbolicInteger]:
    """Floor division. Z3's own div and mod are Euclidean, which is the same for a positive constant divisor only.

    By a machine word the usual case, nothing wraps, is a path of its own: its terms stay linear.
    """
    nothing = terms.number(0, run.context)
    if isinstance(divisor, z3.IntNumRef) and divisor.as_long() > 0:
        fits = terms.at_most(nothing, dividend), terms.less(dividend, divisor)
        if divisor.as_long() >= _WORD and run.decide(_both(*fits)):
            return SymbolicInteger(run, nothing), SymbolicInteger(run, dividend)
        quotient, remainder = dividend / divisor, dividend % divisor
    elif run.decide(terms.equality(divisor, nothing)):
        raise ZeroDivisionError("integer division or modulo by zero")
    else:
        quotient, remainder = run.quotient(dividend, divisor)
    return SymbolicInteger(run, quotient), SymbolicInteger(run, remainder)


def _masked(term: Term, mask: int) -> Term:
    """The term & mask, as a sum over the runs of one-bits of the mask (two's complement, as Python's integers)."""
    if mask < 0:
        return term - _masked(term, ~mask)
    total, low = terms.number(0, term.ctx), 0
    while mask >> low:
        if not mask >> low & 1:
            low += 1
            continue
        width = ((mask >> low) ^ ((mask >> low) + 1)).bit_length() - 1
        total = total + (term / (1 << low)) % (1 << width) * (1 << low)
        low += width
    return total
