"""Which SQL92 texts SqlFilter#compile accepts.

The grammar is that of `filter.parser.SelectorParser`. It does not ask for the end of the text: what follows a complete
expression is only looked at for one token, so `a > 1 garbage` is accepted, and `a LIKE 'x%'` is the property `a`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from enum import Enum
from typing import Final

from impl.decisions.java_arithmetic import LONG_MAX
from impl.decisions.java_errors import JavaError, NullPointerError


class MQFilterError(JavaError):
    """A text that is no filter."""

    java_class = "org.apache.rocketmq.filter.expression.MQFilterException"

    def __init__(self) -> None:
        """SelectorParser#parse has one text for it; the reason is the cause."""
        super().__init__("Invalid MessageSelector. ")


class _Syntax(Exception):  # noqa: N818  # never leaves this module
    """ParseException, TokenMgrError or RuntimeException of the parser: the reason."""


class Kind(Enum):
    """The classes of expressions that the parser tells apart."""

    PROPERTY = "PropertyExpression"
    BOOLEAN = "BooleanExpression"
    NUMBER = "ConstantExpression of a Number"
    STRING = "ConstantExpression of a String"
    TRUTH = "BooleanConstantExpression TRUE or FALSE"
    NULL = "BooleanConstantExpression NULL"
    NEGATIVE = "UnaryExpression"


_CONSTANT: Final = frozenset({Kind.NUMBER, Kind.STRING, Kind.TRUTH, Kind.NULL})
_BOOLEAN: Final = frozenset({Kind.BOOLEAN, Kind.TRUTH, Kind.NULL})
_KEYWORDS: Final = frozenset({"NOT", "AND", "OR", "BETWEEN", "IN", "TRUE", "FALSE", "NULL", "IS"})
_TOKEN: Final = re.compile(
    r"""(?P<skipped>[ \t\n\r\f]|--[^\n\r]*(?:\r\n|\n|\r)|/\*[^*]*\*(?:\*|[^*/][^*]*\*)*/)
    |(?P<FLOAT>[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)
    |(?P<DECIMAL>0|[1-9][0-9]*[lL]?)
    |(?P<STRING>'(?:''|[^'])*')
    |(?P<ID>[A-Za-z_$][A-Za-z0-9_$]*)
    |(?P<symbol><>|>=|<=|[=<>(),+-])""",
    re.VERBOSE,
)
_END: Final = ("<EOF>", "")


def compile_sql92(expression: str | None) -> None:
    """SqlFilter#compile, as far as its refusals: raises MQFilterError; NullPointerError for null."""
    if expression is None:
        raise NullPointerError
    try:
        _as_boolean(_Parser(expression).or_expression()[0])
    except (_Syntax, RecursionError) as reason:  # RecursionError stands for StackOverflowError
        raise MQFilterError from reason


def _as_boolean(kind: Kind) -> Kind:
    """SelectorParser#asBooleanExpression: a property is cast."""
    if kind not in _BOOLEAN and kind is not Kind.PROPERTY:
        raise _Syntax("Expression will not result in a boolean value")
    return Kind.BOOLEAN


def _check_less_than_operand(kind: Kind) -> None:
    """ComparisonExpression#checkLessThanOperand."""
    if kind in _BOOLEAN or kind is Kind.STRING:
        raise _Syntax("Value cannot be compared.")


def _check_equal_operands(left: Kind, right: Kind) -> None:
    """ComparisonExpression#checkEqualOperand of both, #checkEqualOperandCompatability."""
    if Kind.NULL in (left, right):
        raise _Syntax("NULL cannot be compared.")
    if left is Kind.TRUTH and right in _CONSTANT and right is not Kind.TRUTH:
        raise _Syntax("cannot be compared with")


class _Parser:
    """SelectorParser: reads tokens as it needs them, one ahead; an operand is its kind and, for a number, its value."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._ahead: list[tuple[str, str]] = []

    def _peek(self, distance: int = 0) -> str:
        """The kind of a token ahead: a keyword, FLOAT, DECIMAL, STRING, ID, a symbol or <EOF>."""
        while len(self._ahead) <= distance:
            self._ahead.append(self._scan())
        return self._ahead[distance][0]

    def _scan(self) -> tuple[str, str]:
        while self._place < len(self._text):
            match = _TOKEN.match(self._text, self._place)
            if match is None:
                raise _Syntax("Lexical error")
            self._place = match.end()
            name, image = str(match.lastgroup), match.group()
            if name == "symbol":
                return image, image
            if name == "ID" and image.upper() in _KEYWORDS:
                return image.upper(), image
            if name != "skipped":
                return name, image
        return _END

    def _take(self, *kinds: str) -> str:
        """Consume tokens of these kinds; the image of the last one."""
        image = ""
        for kind in kinds:
            if self._peek() != kind:
                raise _Syntax(f"Encountered {self._peek()}")
            image = self._ahead.pop(0)[1]
        return image

    def or_expression(self) -> tuple[Kind, float]:
        return self._chain("OR", lambda: self._chain("AND", self._equality))

    def _chain(self, word: str, operand: Callable[[], tuple[Kind, float]]) -> tuple[Kind, float]:
        left = operand()
        while self._peek() == word:
            self._take(word)
            right = operand()
            _as_boolean(left[0])
            left = _as_boolean(right[0]), 0
        return left

    def _equality(self) -> tuple[Kind, float]:
        left = self._comparison()
        while self._peek() in ("=", "<>", "IS"):
            if self._peek() == "IS":
                self._take("IS", "NULL") if self._peek(1) == "NULL" else self._take("IS", "NOT", "NULL")
            else:
                self._take(self._peek())
                _check_equal_operands(left[0], self._comparison()[0])
            left = Kind.BOOLEAN, 0
        return left

    def _comparison(self) -> tuple[Kind, float]:
        left = self._unary()
        while self._peek() in (">", ">=", "<", "<=", "BETWEEN", "NOT", "IN"):
            if negated := self._peek() == "NOT":
                self._take("NOT")
            if self._peek() == "BETWEEN":
                self._between(left[0], negated=negated)
            elif self._peek() == "IN":
                self._in_list(left[0])
            elif negated:
                raise _Syntax("Encountered NOT")
            else:
                self._take(self._peek())
                right = self._unary()
                _check_less_than_operand(left[0])
                _check_less_than_operand(right[0])
            left = Kind.BOOLEAN, 0
        return left

    def _between(self, value: Kind, *, negated: bool) -> None:
        """Bounds that are both constants must be in order, except after NOT."""
        self._take("BETWEEN")
        low, low_number = self._unary()
        self._take("AND")
        high, high_number = self._unary()
        for operand in (value, low, high):
            _check_less_than_operand(operand)
        if not negated and low is high is Kind.NUMBER and high_number < low_number:
            raise _Syntax("Illegal values of between")

    def _in_list(self, left: Kind) -> None:
        self._take("IN", "(", "STRING")
        while self._peek() == ",":
            self._take(",", "STRING")
        self._take(")")
        if left is not Kind.PROPERTY:
            raise _Syntax("Expected a property for In expression")

    def _unary(self) -> tuple[Kind, float]:
        if self._peek() == "+":
            self._take("+")
            return self._unary()
        if self._peek() == "-":
            self._take("-")
            self._unary()
            return Kind.NEGATIVE, 0
        if self._peek() == "NOT":
            self._take("NOT")
            return _as_boolean(self._unary()[0]), 0
        return self._primary()

    def _primary(self) -> tuple[Kind, float]:
        ahead = self._peek()
        if ahead == "(":
            self._take("(")
            inside = self.or_expression()
            self._take(")")
            return inside
        if ahead == "DECIMAL":
            return Kind.NUMBER, _decimal(self._take(ahead))
        if ahead == "FLOAT":
            return Kind.NUMBER, _floating(self._take(ahead))
        kinds = {
            "ID": Kind.PROPERTY, "STRING": Kind.STRING, "TRUE": Kind.TRUTH, "FALSE": Kind.TRUTH, "NULL": Kind.NULL,
        }
        if ahead not in kinds:
            raise _Syntax(f"Encountered {ahead}")
        self._take(ahead)
        return kinds[ahead], 0


def _decimal(image: str) -> float:
    """ConstantExpression#createFromDecimal: a long."""
    digits = image.rstrip("lL")
    if len(digits) > len(str(LONG_MAX)) or int(digits) > LONG_MAX:
        raise _Syntax("NumberFormatException")
    return int(digits)


def _floating(image: str) -> float:
    """ConstantExpression#createFloat: positive and finite; even 0.0 is refused."""
    value = float(image)
    if value == 0 or math.isinf(value):
        raise _Syntax("out of range")
    return value
