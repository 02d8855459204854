"""SQL92 filters where 4.9.3 is odd."""

from __future__ import annotations

import pytest

from impl.broker.sql_filter import MQFilterError, compile_sql92
from impl.decisions.java_doubles import double_text, parse_double
from impl.decisions.java_errors import JavaError, NumberFormatError


@pytest.mark.parametrize(("text", "properties", "value"), [
    ("a = 1", {}, None),
    ("a IS NULL", {}, True),
    ("a IS NOT NULL", None, False),
    ("a = 1 OR b = 1", {"b": "1"}, True),
    ("a = 1 AND b = 2", {"b": "1"}, False),
    ("a > b", {"a": "10", "b": "9"}, True),
    ("a = b", {"a": "1", "b": "1.0"}, False),
    ("a = 1.0", {"a": "1"}, True),
    ("a", {"a": "true"}, False),
    ("NOT a", {"a": "true"}, True),
    ("-a = 1", {"a": "1"}, None),
    ("a BETWEEN 2147483648 AND 2147483649", {"a": "2147483648"}, True),
    ("a NOT IN ('x', 'it''s')", {"a": "it's"}, False),
    ("1 = 1.0", {}, True),
    ("1 = 1 = TRUE", {}, True),
])
def test_what_an_expression_makes_of_properties(
    text: str, properties: dict[str, str] | None, value: object,
) -> None:
    assert compile_sql92(text).evaluate(properties) is value


@pytest.mark.parametrize(("text", "properties", "message"), [
    ("a > 1", {"a": "1.5"}, 'java.lang.NumberFormatException: For input string: "1.5"'),
    ("a > b", {"a": "x", "b": "1"}, "It's illegal to compare string by '>=', '>', '<', '<='. lv=x, rv=1"),
])
def test_what_cannot_be_compared_is_an_error(text: str, properties: dict[str, str], message: str) -> None:
    with pytest.raises(JavaError) as found:
        compile_sql92(text).evaluate(properties)
    assert found.value.message == message


@pytest.mark.parametrize(("text", "message"), [
    ("a\n= !", 'Lexical error at line 2, column 4.  Encountered: <EOF> after : ""'),
    ("\ta ! b", 'Lexical error at line 1, column 11.  Encountered: "!" (33), after : ""'),
    ("a IS 1", 'Encountered " <DECIMAL_LITERAL> "1 "" at line 1, column 6.\nWas expecting:\n    "NOT" ...\n    '),
])
def test_a_refusal_says_where(text: str, message: str) -> None:
    with pytest.raises(MQFilterError) as refused:
        compile_sql92(text)
    assert refused.value.cause.message == message


def test_a_long_filter_takes_time_in_proportion_to_its_length() -> None:
    many = " OR ".join(f"a = {number}" for number in range(3000))
    assert compile_sql92(many).evaluate({"a": "7"}) is True


@pytest.mark.parametrize(("text", "value"), [
    ("1d", 1.0), (" .5 ", 0.5), ("0x1.8p1", 3.0), ("-Infinity", float("-inf")), ("1e400", float("inf")),
])
def test_doubles_are_read_as_java_reads_them(text: str, value: float) -> None:
    assert parse_double(text) == value


@pytest.mark.parametrize("text", ["", "0x1", "1_0", "inf", "nan", "１"])
def test_what_java_does_not_read_is_no_double(text: str) -> None:
    with pytest.raises(NumberFormatError):
        parse_double(text)


def test_doubles_are_written_as_java_writes_them() -> None:
    assert [double_text(one) for one in (0.0, -0.0, 100.0, 1e7, 0.0001, 1.5e300, float("nan"))] == [
        "0.0", "-0.0", "100.0", "1.0E7", "1.0E-4", "1.5E300", "NaN"]
