"""The fast readings of texts, lists of texts and constants; what they return and leave is in `field_scans`."""

from __future__ import annotations

from impl.common.fastjson.base64 import char_at
from impl.common.fastjson.characters import EOI, WHITESPACE, JSONError
from impl.common.fastjson.field_scans import END, ENDS, NOT_MATCH, NOT_MATCH_NAME, VALUE, ended, named, next_or_end
from impl.common.fastjson.lexer import Lexer
from impl.common.fastjson.literals import ESCAPES, byte_escape, unicode_escape
from impl.common.fastjson.tokens import Token
from impl.decisions.java_errors import ArrayIndexOutOfBoundsError, NegativeArraySizeError
from impl.decisions.java_text import joined_text


def scan_field_string(lexer: Lexer, name: str) -> str | None:
    """JSONScanner#scanFieldString: it skips white space before the name, and around the value."""
    start = lexer.bp
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
    lexer.go(index)
    if ch == ",":
        lexer.go(index + 1)
        lexer.match_stat = VALUE
    elif not ended(lexer, spaces=False):
        lexer.go(start)
        return None
    return value


def _string(lexer: Lexer, start: int) -> tuple[str, int]:
    """The string that begins there, and the index behind its closing quote."""
    end = lexer.text.find('"', start)
    if end < 0:
        raise JSONError("unclosed str")
    if "\\" not in lexer.text[start:end]:
        return joined_text(lexer.text[start:end]), end + 1
    while _escaped(lexer.text, end):
        end = lexer.text.find('"', end + 1)
        if end < 0:
            raise NegativeArraySizeError(str(-1 - start))  # Java goes on with index -1
    return joined_text(_read_string(lexer.text[start:end])), end + 1


def _escaped(text: str, place: int) -> bool:
    begin = place
    while text[begin - 1] == "\\":
        begin -= 1
    return (place - begin) % 2 == 1


def _read_string(text: str) -> str:
    """JSONLexerBase#readString: escapes resolved; raises JSONError."""
    found, place = [], 0
    while place < len(text):
        escape = text[place + 1] if text[place] == "\\" else ""
        length = {"": 1, "x": 4, "u": 6}.get(escape, 2)
        if place + length > len(text):
            raise ArrayIndexOutOfBoundsError(f"Index {len(text)} out of bounds for length {len(text)}")
        if escape == "u":
            found.append(unicode_escape(text[place + 2 : place + 6]))
        elif escape == "x":
            found.append(byte_escape(text[place + 2], text[place + 3]))
        elif escape and escape not in ESCAPES:
            raise JSONError("unclosed.str.lit")
        else:
            found.append(ESCAPES[escape] if escape else text[place])
        place += length
    return "".join(found)


def scan_field_strings(lexer: Lexer, name: str) -> list[str | None] | None:
    """JSONScanner#scanFieldStringArray, for lists and sets."""
    while lexer.ch in {"\n", " "}:
        lexer.next()
    if not named(lexer, name):
        return None
    start = lexer.bp
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
        lexer.go(start)
        return None
    elif not _array_ended(lexer, index):
        return None
    return found


def _array_ended(lexer: Lexer, index: int) -> bool:
    """As `ended`; the index that skips white space is not where the lexer stands."""
    ch = lexer.char_at(lexer.bp)
    while ch in WHITESPACE:
        while ch in WHITESPACE:
            ch = lexer.char_at(index)
            index += 1
            lexer.bp = index
    if ch in ENDS:
        lexer.token = ENDS[ch]
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
    if not named(lexer, name):
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
        char_at(lexer.text, -(1 << 31))
    return lexer.text[begin + 1 : end] if next_or_end(lexer, end + 1) else None
