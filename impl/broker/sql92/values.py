"""Values of expressions as Java types them, and how it compares them.

A str is a String, a bool a Boolean, a float a Double, a Long a Long, any other int an Integer.
"""

from __future__ import annotations

from impl.decisions.java_doubles import compare_doubles, double_text, parse_double
from impl.decisions.java_errors import ClassCastError, JavaRuntimeError, NumberFormatError
from impl.decisions.java_text import compare_text, parse_boolean, parse_integer

Value = str | bool | int | float


class Long(int):
    """A java.lang.Long, which equals no Integer."""

    __slots__ = ()


def same(left: Value, right: Value) -> bool:
    """Object#equals: never between two classes."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float) and isinstance(right, float):
        return compare_doubles(left, right) == 0
    return left == right


def compare(left: Value, right: Value) -> int:
    """ComparisonExpression#__compare with texts converted; raises JavaError. -1 for what cannot be compared."""
    if type(left) is not type(right):
        try:
            pair = _converted(left, right)
        except NumberFormatError as error:
            raise JavaRuntimeError(f"{error.java_class}: {error.message}") from error
        if pair is None:
            return -1
        left, right = pair
    return _compare_same(left, right)


def _converted(left: Value, right: Value) -> tuple[Value, Value] | None:
    if isinstance(left, bool):
        if isinstance(right, str):
            _cast_to_string(left)
        return None
    if isinstance(left, str):
        return _from_text(left, right), right
    if isinstance(right, str):
        return left, _from_text(right, left)
    if isinstance(right, bool):
        return None
    if isinstance(left, float) or isinstance(right, float):
        return float(left), float(right)
    return int(left), int(right)  # an Integer and a Long


def _cast_to_string(value: bool) -> None:
    """4.9.3 casts the truth value, not the text; raises ClassCastError."""
    del value
    raise ClassCastError(
        "class java.lang.Boolean cannot be cast to class java.lang.String (java.lang.Boolean and java.lang.String are "
        "in module java.base of loader 'bootstrap')")


def _from_text(text: str, like: Value) -> Value:
    """What valueOf of the other's class makes of a text; raises NumberFormatError."""
    if isinstance(like, bool):
        return parse_boolean(text)
    if isinstance(like, float):
        return parse_double(text)
    return Long(parse_integer(text, 64)) if isinstance(like, Long) else parse_integer(text, 32)


def _compare_same(left: Value, right: Value) -> int:
    if isinstance(left, str) and isinstance(right, str):
        return compare_text(left, right)
    if isinstance(left, float) and isinstance(right, float):
        return compare_doubles(left, right)
    return (left > right) - (left < right)  # type: ignore[operator]  # both are of one class, and no texts


def text_of(value: Value | None) -> str:
    """String#valueOf."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return double_text(value) if isinstance(value, float) else str(value)
