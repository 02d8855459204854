"""The fast readings of numbers and truth values; what they return and leave is in `field_scans`."""

from __future__ import annotations

from typing import NamedTuple

from impl.common.fastjson.characters import DIGITS, WHITESPACE
from impl.common.fastjson.field_scans import (
    ENDS,
    NOT_MATCH,
    VALUE,
    VALUE_NULL,
    comma,
    ended,
    named,
    next_or_end,
)
from impl.common.fastjson.lexer import Lexer
from impl.common.fastjson.literals import whole
from impl.common.fastjson.tokens import Token
from impl.decisions.java_arithmetic import wrap32, wrap64
from impl.decisions.java_doubles import parse_double


class _Digits(NamedTuple):
    """A whole number as text. ch -- what stands behind it and its closing quote; after -- the place behind ch."""

    negative: bool
    digits: str
    ch: str
    after: int


def _digits(lexer: Lexer, name: str) -> _Digits | None:
    """The number that the field has; None: another field stands there, or another value."""
    if not named(lexer, name):
        return None
    lexer.match_stat = NOT_MATCH
    start = lexer.bp + len(name)
    quote = lexer.char_at(start) == '"'
    negative = lexer.char_at(start + quote) == "-"
    begin = start + quote + negative
    end = _behind_digits(lexer, begin)
    if begin == end or lexer.char_at(end) == "." or (quote and lexer.char_at(end) != '"'):
        return None
    return _Digits(negative, lexer.text[begin:end], lexer.char_at(end + quote), end + quote + 1)


def scan_field_int(lexer: Lexer, name: str) -> int:
    """JSONScanner#scanFieldInt."""
    number = _digits(lexer, name)
    value = None if number is None else _int(number.digits)
    if number is None or value is None:
        return 0
    ch, index = number.ch, number.after
    while ch in WHITESPACE:
        ch, index = lexer.char_at(index), index + 1
    if ch not in {",", "}"}:
        return 0
    start, lexer.bp = lexer.bp, index - 1
    if ch == ",":
        comma(lexer)
    elif not ended(lexer, spaces=True):
        lexer.go(start)
        return 0
    return wrap32(-value) if number.negative else value


def _int(digits: str) -> int | None:
    """The number; None for what Java takes for an overflow: it looks at ten times the number only."""
    value = 0
    for place, digit in enumerate(digits):
        tenfold = wrap32(value * 10)
        if place and tenfold < value:
            return None
        value = wrap32(tenfold + int(digit)) if place else int(digit)
    return value if value >= 0 else None


def scan_field_long(lexer: Lexer, name: str) -> int:
    """JSONScanner#scanFieldLong: it overflows unnoticed if the sign comes out right."""
    number = _digits(lexer, name)
    if number is None:
        return 0
    start, ch, index = lexer.bp, number.ch, number.after
    value = wrap64(whole(number.digits))
    if value < 0 and not (value == -(1 << 63) and number.negative):
        return 0
    if ch in {",", "}"}:
        lexer.bp = index - 1
    while ch in WHITESPACE:
        lexer.bp, ch, index = index, lexer.char_at(index), index + 1
    if ch == ",":
        comma(lexer)
    elif ch == "}" and not ended(lexer, spaces=True):
        lexer.go(start)
    return wrap64(-value) if number.negative else value


def scan_field_boolean(lexer: Lexer, name: str) -> bool:
    """JSONScanner#scanFieldBoolean: where something stands behind the closing brace, it stays there and fails."""
    if not named(lexer, name):
        return False
    start = lexer.bp
    lexer.match_stat = NOT_MATCH
    index = start + len(name)
    quote = lexer.char_at(index) == '"'
    index += quote
    word = next((word for word in ("true", "false", "1", "0") if lexer.text.startswith(word, index)), None)
    if word is None or (quote and lexer.char_at(index + len(word)) != '"'):
        return False
    lexer.bp = index + len(word) + quote
    ch = lexer.char_at(lexer.bp)
    while ch in WHITESPACE:
        lexer.bp += 1
        ch = lexer.char_at(lexer.bp)
    if ch == ",":
        comma(lexer)
    elif ch != "}":
        lexer.bp = start
    else:
        ended(lexer, spaces=True)
    return lexer.match_stat != NOT_MATCH and word in {"true", "1"}


def scan_field_double(lexer: Lexer, name: str) -> float | None:
    """JSONLexerBase#scanFieldDouble; None for null."""
    if not named(lexer, name):
        return 0.0
    lexer.match_stat = NOT_MATCH
    index = lexer.bp + len(name)
    quote = lexer.char_at(index) == '"'
    index += quote
    if lexer.text.startswith("null", index):
        _null(lexer, index + 4 + (quote and lexer.char_at(index + 4) == '"'))
        return None
    begin = index
    end = _number_end(lexer, index)
    if end is None or (quote and lexer.char_at(end) != '"'):
        return 0.0
    value = _double(lexer.text[begin:end])
    if next_or_end(lexer, end + quote) and lexer.match_stat == VALUE:
        lexer.token = Token.COMMA
    return value


def _double(text: str) -> float:
    """Short numbers are divided, long ones parsed."""
    if len(text) >= 17 or "e" in text or "E" in text:  # noqa: PLR2004  as in scanFieldDouble
        return parse_double(text)
    whole, _, fraction = text.removeprefix("-").partition(".")
    value = float(int(whole + fraction)) / float(10 ** len(fraction))
    return -value if text.startswith("-") else value


def _number_end(lexer: Lexer, index: int) -> int | None:
    index += lexer.char_at(index) == "-"
    if lexer.char_at(index) not in DIGITS:
        return None
    index = _behind_digits(lexer, index)
    if lexer.char_at(index) == ".":
        if lexer.char_at(index + 1) not in DIGITS:
            return None
        index = _behind_digits(lexer, index + 1)
    if lexer.char_at(index) in {"e", "E"}:
        index += 1
        index += lexer.char_at(index) in {"+", "-"}
        index = _behind_digits(lexer, index)
    return index


def _behind_digits(lexer: Lexer, index: int) -> int:
    while lexer.char_at(index) in DIGITS:
        index += 1
    return index


def _null(lexer: Lexer, index: int) -> None:
    while lexer.char_at(index) in WHITESPACE:
        index += 1
    ch = lexer.char_at(index)
    if ch in {",", "}"}:
        lexer.token = ENDS[ch]
        lexer.go(index + 1)
        lexer.match_stat = VALUE_NULL
