"""Expressions: what SelectorParser makes of a text. Each has its text, and a value for the properties of a message.

None is null: what an absent property is, and what most operators make of null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from impl.broker.sql92.values import Long, Value, compare, same, text_of
from impl.decisions.java_arithmetic import wrap32, wrap64
from impl.decisions.java_doubles import parse_double
from impl.decisions.java_errors import JavaError, JavaException, JavaRuntimeError
from impl.hash_map import HashMap

Properties = Mapping[str, str] | None
_FEW = 5  # UnaryExpression#createInExpression: from here on the elements go into a HashSet


class ParseError(JavaException):
    """A text that the grammar refuses."""

    java_class = "org.apache.rocketmq.filter.parser.ParseException"


class Expression(Protocol):
    """`filter.expression.Expression`. is_boolean -- it implements BooleanExpression."""

    is_boolean: bool

    def evaluate(self, properties: Properties) -> Value | None:
        """Expression#evaluate; raises JavaError."""
        ...


class Constant:
    """ConstantExpression, BooleanConstantExpression (TRUE, FALSE and NULL)."""

    def __init__(self, value: Value | None) -> None:
        """Have one value for all messages."""
        self.value = value
        self.is_boolean = value is None or isinstance(value, bool)

    def evaluate(self, properties: Properties) -> Value | None:  # noqa: ARG002  an Expression
        """The value."""
        return self.value

    def __str__(self) -> str:
        """ConstantExpression#toString."""
        if self.value is None:
            return "NULL"
        if isinstance(self.value, bool):
            return str(self.value).upper()
        if isinstance(self.value, str):
            return "'" + self.value.replace("'", "''") + "'"
        return text_of(self.value)


class Property:
    """PropertyExpression."""

    is_boolean = False

    def __init__(self, name: str) -> None:
        """Stand for the property of that name."""
        self.name = name

    def evaluate(self, properties: Properties) -> str | None:
        """Its text, or null."""
        return None if properties is None else properties.get(self.name)

    def __str__(self) -> str:
        """Its name."""
        return self.name


class Unary:
    """UnaryExpression: minus, NOT, and the cast of a property to a truth value, which has no symbol."""

    def __init__(self, symbol: str, right: Expression) -> None:
        """Apply an operator."""
        self.symbol, self.right = symbol, right
        self.is_boolean = symbol != "-"

    def evaluate(self, properties: Properties) -> Value | None:
        """UnaryExpression#createNegate, #createNOT, #createBooleanCast."""
        value = self.right.evaluate(properties)
        if value is None:
            return None
        if self.symbol == "-":
            return _negative(value)
        if self.symbol == "":
            return value if isinstance(value, bool) else False
        return not value

    def __str__(self) -> str:
        """UnaryExpression#toString."""
        return f"({self.symbol} {self.right})" if self.symbol else str(self.right)


def _negative(value: Value) -> Value | None:
    """UnaryExpression#negate; null for what is no number."""
    if isinstance(value, str | bool):
        return None
    if isinstance(value, float):
        return -value
    return Long(wrap64(-value)) if isinstance(value, Long) else wrap32(-value)


class In:
    """UnaryInExpression."""

    is_boolean = True

    def __init__(self, right: Property, elements: Sequence[str], *, negated: bool) -> None:
        """Look for the property among some texts."""
        self.right, self.negated = right, negated
        self.elements = tuple(elements) if len(elements) < _FEW else _hash_set(elements)

    def evaluate(self, properties: Properties) -> bool | None:
        """Whether the text is among them, or is not."""
        value = self.right.evaluate(properties)
        return None if value is None else (value in self.elements) != self.negated

    def __str__(self) -> str:
        """The elements without quotes."""
        return f"{self.right} {'NOT IN' if self.negated else 'IN'} ( {', '.join(self.elements)} )"


def _hash_set(elements: Sequence[str]) -> tuple[str, ...]:
    """HashSet(Collection), in its order."""
    found: HashMap[str, None] = HashMap(max(int(len(elements) / 0.75) + 1, 16))
    for element in elements:
        found.put(element, None)
    return found.key_set()


class Logic:
    """LogicExpression: one side that decides is enough, whatever the other is; else null is stronger."""

    is_boolean = True

    def __init__(self, symbol: str, left: Expression, right: Expression) -> None:
        """Symbol -- && or ||."""
        self.symbol, self.left, self.right = symbol, left, right

    def evaluate(self, properties: Properties) -> Value | None:
        """LogicExpression#createAND, #createOR."""
        first, chain = self._chain()
        value = first.evaluate(properties)
        for logic in chain:
            value = logic.joined(value, properties)
        return value

    def joined(self, left: Value | None, properties: Properties) -> bool | None:
        """The value, once that of the left side is known."""
        decides = self.symbol == "||"
        if left is decides:
            return decides
        right = self.right.evaluate(properties)
        if right is decides:
            return decides
        return None if left is None or right is None else not decides

    def _chain(self) -> tuple[Expression, list[Logic]]:
        """The innermost left side, and what it is joined with, from the inside out: chains can be long."""
        first: Expression = self
        chain = []
        while isinstance(first, Logic):
            chain.append(first)
            first = first.left
        return first, chain[::-1]

    def __str__(self) -> str:
        """BinaryExpression#toString."""
        first, chain = self._chain()
        joined = "".join(f" {logic.symbol} {logic.right})" for logic in chain)
        return "(" * len(chain) + str(first) + joined


class Equal:
    """ComparisonExpression#doCreateEqual. A null on the right is FALSE, on the left null, on both sides TRUE."""

    is_boolean = True

    def __init__(self, left: Expression, right: Expression) -> None:
        """Compare two operands."""
        self.left, self.right = left, right

    def evaluate(self, properties: Properties) -> bool | None:
        """Whether they are equal, texts taken for what the other side is."""
        left, right = self.left.evaluate(properties), self.right.evaluate(properties)
        if left is None:
            return True if right is None else None
        return right is not None and (same(left, right) or compare(left, right) == 0)

    def __str__(self) -> str:
        """BinaryExpression#toString."""
        return f"({self.left} == {self.right})"


_ANSWERS: Mapping[str, Callable[[int], bool]] = {
    ">": lambda answer: answer > 0, ">=": lambda answer: answer >= 0,
    "<": lambda answer: answer < 0, "<=": lambda answer: answer <= 0,
}


class Comparison:
    """ComparisonExpression of >, >=, < and <=."""

    is_boolean = True

    def __init__(self, symbol: str, left: Expression, right: Expression) -> None:
        """Raises JavaRuntimeError for operands that have no order."""
        for operand in (left, right):
            _check_less_than_operand(operand)
        self.symbol, self.left, self.right = symbol, left, right

    def evaluate(self, properties: Properties) -> bool | None:
        """ComparisonExpression#evaluate; raises JavaError."""
        left = self.left.evaluate(properties)
        if left is None:
            return None
        right = self.right.evaluate(properties)
        if right is None:
            return None
        if isinstance(left, str) and isinstance(right, str):
            left, right = _numbers(left, right)
        return _ANSWERS[self.symbol](compare(left, right))

    def __str__(self) -> str:
        """BinaryExpression#toString."""
        return f"({self.left} {self.symbol} {self.right})"


def _numbers(left: str, right: str) -> tuple[float, float]:
    try:
        return parse_double(left), parse_double(right)
    except JavaError as error:
        raise JavaRuntimeError(
            f"It's illegal to compare string by '>=', '>', '<', '<='. lv={left}, rv={right}") from error


def _check_less_than_operand(operand: Expression) -> None:
    """ComparisonExpression#checkLessThanOperand."""
    number = isinstance(operand, Constant) and isinstance(operand.value, int | float)
    if operand.is_boolean or (isinstance(operand, Constant) and not number):
        raise JavaRuntimeError(f"Value '{operand}' cannot be compared.")


def as_boolean(value: Expression) -> Expression:
    """SelectorParser#asBooleanExpression; raises ParseError."""
    if value.is_boolean:
        return value
    if isinstance(value, Property):
        return Unary("", value)
    raise ParseError(f"Expression will not result in a boolean value: {value}")


def equal(left: Expression, right: Expression) -> Expression:
    """ComparisonExpression#createEqual; raises JavaRuntimeError."""
    for operand in (left, right):
        if isinstance(operand, Constant) and operand.value is None:
            raise JavaRuntimeError(f"'{operand}' cannot be compared.")
    if isinstance(left, Constant) and isinstance(right, Constant) and left.is_boolean and not right.is_boolean:
        raise JavaRuntimeError(f"'{left}' cannot be compared with '{right}'")
    return Equal(left, right)


def between(value: Expression, low: Expression, high: Expression) -> Expression:
    """ComparisonExpression#createBetween: bounds that are both constants must be in order. Raises JavaError."""
    if isinstance(low, Constant) and isinstance(high, Constant):
        if low.value is None or high.value is None:
            raise JavaRuntimeError("Illegal values of between, values can not be null!")
        if compare(high.value, low.value) < 0:
            raise JavaRuntimeError(
                f"Illegal values of between, left value({text_of(low.value)}) must less than or equal to right "
                f"value({text_of(high.value)})")
    return Logic("&&", Comparison(">=", value, low), Comparison("<=", value, high))


def in_filter(left: Expression, elements: Sequence[str], *, negated: bool) -> Expression:
    """ComparisonExpression#createInFilter, #createNotInFilter; raises JavaRuntimeError."""
    if not isinstance(left, Property):
        raise JavaRuntimeError(f"Expected a property for In expression, got: {left}")
    return In(left, elements, negated=negated)


class Compiled:
    """A whole filter, as the broker keeps it."""

    def __init__(self, expression: Expression) -> None:
        """Keep it."""
        self.expression = expression

    def evaluate(self, properties: Properties) -> Value | None:
        """Expression#evaluate; raises JavaError."""
        return self.expression.evaluate(properties)

    def __str__(self) -> str:
        """Its text."""
        return str(self.expression)
