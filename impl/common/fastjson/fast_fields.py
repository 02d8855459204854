"""The fast readings of whole fields: name, value, and what ends it, in one go (JSONScanner#scanFieldInt and its kin).

Each sets match_stat: NOT_MATCH_NAME -- another field stands there; NOT_MATCH -- the name fits, the value does not;
VALUE -- a comma follows; END -- the object is over, and the token says what follows it. Some go back to the beginning
when they fail, some stay where they are: what is read next depends on it.
"""

from __future__ import annotations

from typing import NamedTuple

from impl.common.fastjson.lexer import EOI, ESCAPES, WHITESPACE, JSONError, Lexer, hexadecimal
from impl.common.fastjson.tokens import Token
from impl.decisions.java_arithmetic import wrap32, wrap64
from impl.decisions.java_errors import NegativeArraySizeError, StringIndexOutOfBoundsError
from impl.decisions.java_text import utf16_text

NOT_MATCH, NOT_MATCH_NAME, UNKNOWN, VALUE, END, VALUE_NULL = -1, -2, 0, 3, 4, 5
_ENDS = {",": Token.COMMA, "]": Token.RBRACKET, "}": Token.RBRACE}
_DIGITS = frozenset("0123456789")


def match_field(lexer: Lexer, name: str) -> bool:
    """JSONLexerBase#matchField: read name and colon, and the first token of the value."""
    while not lexer.text.startswith(name, lexer.bp):
        if lexer.ch not in WHITESPACE:
            return False
        lexer.next()
    lexer.go(lexer.bp + len(name))
    if lexer.ch in "{[":
        lexer.token = Token.LBRACE if lexer.ch == "{" else Token.LBRACKET
        lexer.next()
    elif lexer.text.startswith("Set[", lexer.bp):
        lexer.go(lexer.bp + 3)
        lexer.token = Token.SET
    else:
        lexer.next_token()
    return True


class _Digits(NamedTuple):
    """A number as text: after -- behind ch, the first character that is no digit any more (or the closing quote)."""

    quote: bool
    negative: bool
    digits: str
    ch: str
    after: int


def _named(lexer: Lexer, name: str) -> bool:
    """Whether the field stands where the lexer stands; match_stat is set for both cases."""
    found = lexer.text.startswith(name, lexer.bp)
    lexer.match_stat = UNKNOWN if found else NOT_MATCH_NAME
    return found


def _digits(lexer: Lexer, index: int) -> _Digits:
    ch = lexer.char_at(index)
    quote = ch == '"'
    if quote:
        index += 1
        ch = lexer.char_at(index)
    negative = ch == "-"
    if negative:
        index += 1
    start = index
    while lexer.char_at(index) in _DIGITS:
        index += 1
    return _Digits(quote, negative, lexer.text[start:index], lexer.char_at(index), index + 1)


def scan_field_int(lexer: Lexer, name: str) -> int:
    """JSONScanner#scanFieldInt."""
    if not _named(lexer, name):
        return 0
    start, start_ch = lexer.bp, lexer.ch
    lexer.match_stat = NOT_MATCH
    number = _digits(lexer, lexer.bp + len(name))
    value = _int(number.digits)
    ch, index = number.ch, number.after
    if value is None or ch == "." or (number.quote and ch != '"'):
        return 0
    if number.quote:
        ch, index = lexer.char_at(index), index + 1
    while ch in WHITESPACE:
        ch, index = lexer.char_at(index), index + 1
    if ch not in {",", "}"}:
        return 0
    lexer.bp = index - 1
    if ch == ",":
        _comma(lexer)
    elif not _ended(lexer, spaces=True):
        lexer.bp, lexer.ch = start, start_ch
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
    return value if digits and value >= 0 else None


def scan_field_long(lexer: Lexer, name: str) -> int:
    """JSONScanner#scanFieldLong: it overflows unnoticed if the sign comes out right."""
    if not _named(lexer, name):
        return 0
    start, start_ch = lexer.bp, lexer.ch
    lexer.match_stat = NOT_MATCH
    number = _digits(lexer, lexer.bp + len(name))
    ch, index = number.ch, number.after
    if not number.digits or ch == "." or (number.quote and ch != '"'):
        return 0
    value = wrap64(int(number.digits))
    if number.quote:
        ch, index = lexer.char_at(index), index + 1
    if ch in {",", "}"}:
        lexer.bp = index - 1
    if value < 0 and not (value == -(1 << 63) and number.negative):
        lexer.bp = start
        return 0
    while ch in WHITESPACE:
        lexer.bp, ch, index = index, lexer.char_at(index), index + 1
    if ch == ",":
        _comma(lexer)
    elif ch == "}" and not _ended(lexer, spaces=True):
        lexer.bp, lexer.ch = start, start_ch
    return wrap64(-value) if number.negative else value


def scan_field_boolean(lexer: Lexer, name: str) -> bool:
    """JSONScanner#scanFieldBoolean: where something stands behind the closing brace, it stays there and fails."""
    if not _named(lexer, name):
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
        _comma(lexer)
    elif ch != "}":
        lexer.bp = start
    else:
        _ended(lexer, spaces=True)
    return lexer.match_stat != NOT_MATCH and word in {"true", "1"}


def _comma(lexer: Lexer) -> None:
    lexer.go(lexer.bp + 1)
    lexer.match_stat, lexer.token = VALUE, Token.COMMA


def _ended(lexer: Lexer, *, spaces: bool) -> bool:
    """Read what follows the closing brace, on which the lexer is. At the end of the text ch stays what it was."""
    lexer.bp += 1
    ch = lexer.char_at(lexer.bp)
    while spaces and ch in WHITESPACE:
        lexer.bp += 1
        ch = lexer.char_at(lexer.bp)
    if ch in _ENDS:
        lexer.token = _ENDS[ch]
        lexer.go(lexer.bp + 1)
    elif ch == EOI:
        lexer.token = Token.EOF
    else:
        lexer.match_stat = NOT_MATCH
        return False
    lexer.match_stat = END
    return True


def scan_field_string(lexer: Lexer, name: str) -> str | None:
    """JSONScanner#scanFieldString: the only one that skips white space before the name."""
    start, start_ch = lexer.bp, lexer.ch
    while not lexer.text.startswith(name, lexer.bp):
        if lexer.ch not in WHITESPACE:
            lexer.match_stat = NOT_MATCH_NAME
            return None
        while lexer.ch in WHITESPACE:
            lexer.next()
    lexer.match_stat = NOT_MATCH
    index = lexer.bp + len(name)
    while lexer.char_at(index) in WHITESPACE:
        index += 1
    if lexer.char_at(index) != '"':
        return None
    value, index = _string(lexer, index + 1)
    while lexer.char_at(index) in WHITESPACE:
        index += 1
    ch = lexer.char_at(index)
    if ch not in {",", "}"}:
        return None
    lexer.bp, lexer.ch = index, ch
    if ch == ",":
        lexer.go(index + 1)
        lexer.match_stat = VALUE
    elif not _ended(lexer, spaces=False):
        lexer.bp, lexer.ch = start, start_ch
        return None
    return value


def _string(lexer: Lexer, start: int) -> tuple[str, int]:
    """The string that begins there, and the index behind its closing quote."""
    end = lexer.text.find('"', start)
    if end < 0:
        raise JSONError("unclosed str")
    if "\\" not in lexer.text[start:end]:
        return utf16_text(lexer.text[start:end]), end + 1
    while _escaped(lexer.text, end):
        end = lexer.text.find('"', end + 1)
        if end < 0:
            raise NegativeArraySizeError(str(-1 - start))  # Java goes on with index -1
    return utf16_text(read_string(lexer.text[start:end])), end + 1


def _escaped(text: str, place: int) -> bool:
    before = text[:place]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def read_string(text: str) -> str:
    """JSONLexerBase#readString: escapes resolved; raises JSONError."""
    found, rest = [], iter(text)
    for one in rest:
        if one != "\\":
            found.append(one)
            continue
        escape = next(rest, "")
        if escape in {"x", "u"}:
            length = 2 if escape == "x" else 4
            found.append(hexadecimal("".join(next(rest, "") for _ in range(length)), length))
        elif escape in ESCAPES:
            found.append(ESCAPES[escape])
        else:
            raise JSONError("unclosed.str.lit")
    return "".join(found)


def scan_field_strings(lexer: Lexer, name: str) -> list[str | None] | None:
    """JSONScanner#scanFieldStringArray, for lists and sets."""
    while lexer.ch in {"\n", " "}:
        lexer.next()
    if not _named(lexer, name):
        return None
    start, start_ch = lexer.bp, lexer.ch
    lexer.match_stat = NOT_MATCH
    index = start + len(name)
    ch = lexer.char_at(index)
    index += 1
    found: list[str | None] | None = []
    if ch == "[":
        read = _strings(lexer, index)
        if read is None:
            return None
        found, ch, index = read
    elif lexer.text.startswith("ull", index):
        found, ch, index = None, lexer.char_at(index + 3), index + 4
    else:
        return None
    lexer.bp = index
    if ch == ",":
        lexer.ch = lexer.char_at(index)
        lexer.match_stat = VALUE
    elif ch != "}":
        lexer.bp, lexer.ch = start, start_ch
        return None
    elif not _array_ended(lexer, index):
        return None
    return found


def _array_ended(lexer: Lexer, index: int) -> bool:
    """As `_ended`; the index that skips white space is not where the lexer stands."""
    ch = lexer.char_at(lexer.bp)
    while ch in WHITESPACE:
        while ch in WHITESPACE:
            ch = lexer.char_at(index)
            index += 1
            lexer.bp = index
    if ch in _ENDS:
        lexer.token = _ENDS[ch]
        lexer.go(lexer.bp + 1)
    elif ch == EOI:
        lexer.token, lexer.ch = Token.EOF, ch
    else:
        return False
    lexer.match_stat = END
    return True


def _strings(lexer: Lexer, index: int) -> tuple[list[str | None], str, int] | None:
    """The items from the one at index on, the character behind the bracket, and the index behind that."""
    found: list[str | None] = []
    while True:
        ch = lexer.char_at(index)
        index += 1
        if ch == '"':
            value, index = _string(lexer, index)
            found.append(value)
        elif ch == "n" and lexer.text.startswith("ull", index):
            index += 3
            found.append(None)
        elif ch == "]" and not found:
            return found, lexer.char_at(index), index + 1
        else:
            return None
        ch = lexer.char_at(index)
        index += 1
        if ch == "]":
            while lexer.char_at(index) in WHITESPACE:
                index += 1
            return found, lexer.char_at(index), index + 1
        if ch != ",":
            return None


def scan_field_enum(lexer: Lexer, name: str) -> str | None:
    """JSONLexerBase#scanEnumSymbol: the name of a constant, whose case does not matter."""
    if not _named(lexer, name):
        return None
    lexer.match_stat = NOT_MATCH
    begin = lexer.bp + len(name)
    if lexer.char_at(begin) != '"':
        return None
    end = lexer.text.find('"', begin + 1)
    backslash = lexer.text.find("\\", begin + 1)
    if backslash >= 0 and (end < 0 or backslash < end):
        return None
    if end < 0:  # Java runs on until the index overflows
        raise StringIndexOutOfBoundsError(f"index {-(1 << 31)}, length {len(lexer.text)}")
    return lexer.text[begin + 1 : end] if _next_or_end(lexer, end + 1) else None


def _next_or_end(lexer: Lexer, index: int) -> bool:
    """A comma, or a closing brace and what follows it without white space; the lexer moves only if it fits."""
    ch = lexer.char_at(index)
    if ch == ",":
        lexer.go(index + 1)
        lexer.match_stat = VALUE
        return True
    after = lexer.char_at(index + 1)
    if ch != "}" or (after not in _ENDS and after != EOI):
        return False
    lexer.token = _ENDS.get(after, Token.EOF)
    lexer.go(index + 2 if after in _ENDS else index + 1)
    lexer.ch = lexer.ch if after in _ENDS else EOI
    lexer.match_stat = END
    return True


def scan_field_double(lexer: Lexer, name: str) -> float | None:
    """JSONLexerBase#scanFieldDouble; None for null."""
    if not _named(lexer, name):
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
    if not _next_or_end(lexer, end + quote):
        return 0.0
    if lexer.match_stat == VALUE:
        lexer.token = Token.COMMA
    return _double(lexer.text[begin:end])


def _double(text: str) -> float:
    """Short numbers are divided, long ones parsed."""
    if len(text) >= 17 or "e" in text or "E" in text:  # noqa: PLR2004  as in scanFieldDouble
        return float(text)
    whole, _, fraction = text.removeprefix("-").partition(".")
    value = float(int(whole + fraction)) / float(10 ** len(fraction))
    return -value if text.startswith("-") else value


def _number_end(lexer: Lexer, index: int) -> int | None:
    index += lexer.char_at(index) == "-"
    if lexer.char_at(index) not in _DIGITS:
        return None
    index = _behind_digits(lexer, index)
    if lexer.char_at(index) == ".":
        if lexer.char_at(index + 1) not in _DIGITS:
            return None
        index = _behind_digits(lexer, index + 1)
    if lexer.char_at(index) in {"e", "E"}:
        index += 1
        index += lexer.char_at(index) in {"+", "-"}
        index = _behind_digits(lexer, index)
    return index


def _behind_digits(lexer: Lexer, index: int) -> int:
    while lexer.char_at(index) in _DIGITS:
        index += 1
    return index


def _null(lexer: Lexer, index: int) -> None:
    while lexer.char_at(index) in WHITESPACE:
        index += 1
    ch = lexer.char_at(index)
    if ch in {",", "}"}:
        lexer.token = _ENDS[ch]
        lexer.go(index + 1)
        lexer.match_stat = VALUE_NULL

