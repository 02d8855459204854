"""SelectorParserTokenManager: a text cut into tokens, with their places."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from impl.decisions.java_errors import JavaError
from impl.decisions.java_text import joined_text, utf16_units

EOF, NOT, AND, OR, BETWEEN, IN, TRUE, FALSE, NULL, IS, DECIMAL, FLOAT, STRING, ID = (
    0, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 21)
EQUAL, NOT_EQUAL, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, OPEN, COMMA, CLOSE, PLUS, MINUS = range(22, 33)
IMAGES: Final = (
    "<EOF>", '" "', '"\\t"', '"\\n"', '"\\r"', '"\\f"', "<LINE_COMMENT>", "<BLOCK_COMMENT>", '"NOT"', '"AND"', '"OR"',
    '"BETWEEN"', '"IN"', '"TRUE"', '"FALSE"', '"NULL"', '"IS"', "<DECIMAL_LITERAL>", "<FLOATING_POINT_LITERAL>",
    "<EXPONENT>", "<STRING_LITERAL>", "<ID>", '"="', '"<>"', '">"', '">="', '"<"', '"<="', '"("', '","', '")"', '"+"',
    '"-"')
"""SelectorParserConstants.TOKEN_IMAGE."""

_KINDS: Final = {image.strip('"'): kind for kind, image in enumerate(IMAGES) if kind >= NOT and image[0] == '"'}
_TOKEN: Final = re.compile(
    r"""(?P<skipped>[ \t\n\r\f]|--[^\n\r]*(?:\r\n|\n|\r)|/\*[^*]*\*(?:\*|[^*/][^*]*\*)*/)
    |(?P<FLOAT>[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)
    |(?P<DECIMAL>0|[1-9][0-9]*[lL]?)
    |(?P<STRING>'(?:''|[^'])*')
    |(?P<ID>[A-Za-z_$][A-Za-z0-9_$]*)
    |(?P<symbol><>|>=|<=|[=<>(),+-])""",
    re.VERBOSE,
)
_NAMED: Final = {"FLOAT": FLOAT, "DECIMAL": DECIMAL, "STRING": STRING}
_TAB: Final = 8
_ESCAPES: Final = {
    "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "'": "\\'", "\\": "\\\\", "\0": ""}


class TokenError(JavaError):
    """A character that begins no token."""

    java_class = "org.apache.rocketmq.filter.parser.TokenMgrError"


@dataclass(slots=True, eq=False)
class Token:
    """`parser.Token`: kind, text, place, and the next one if it has been read."""

    kind: int
    image: str = ""
    line: int = 0
    column: int = 0
    next: Token | None = None


class Tokens:
    """A source of tokens."""

    def __init__(self, text: str) -> None:
        """Stand before the text, whose units are those of UTF-16."""
        self._text = "".join(map(chr, utf16_units(text)))
        self._place = 0
        self._read, self._line, self._column = 0, 1, 0

    def next_token(self) -> Token:
        """SelectorParserTokenManager#getNextToken; raises TokenError."""
        while self._place < len(self._text):
            match = _TOKEN.match(self._text, self._place)
            if match is None:
                raise TokenError(self._message(self._place))
            start, self._place = self._place, match.end()
            if match.lastgroup != "skipped":
                return Token(_kind(str(match.lastgroup), match.group()), joined_text(match.group()), *self._at(start))
        return Token(EOF, "", *(self._at(len(self._text) - 1) if self._text else (0, 0)))

    def _at(self, place: int) -> tuple[int, int]:
        """SimpleCharStream#UpdateLineColumn: line and column of a character, none before one that was asked for."""
        while self._read <= place:
            one, before = self._text[self._read], self._text[self._read - 1 : self._read]
            self._column += 1
            if before == "\n" or (before == "\r" and one != "\n"):
                self._line, self._column = self._line + 1, 1
            if one == "\t":
                self._column += _TAB - 1 - (self._column - 1) % _TAB
            self._read += 1
        return self._line, self._column

    def _message(self, start: int) -> str:
        """TokenMgrError#LexicalError: how far a token might have gone on, and what then stood there."""
        stop = self._stop(start)
        last = min(stop, len(self._text) - 1)
        line, column = self._at(last)
        one = self._text[last]
        if stop + 1 >= len(self._text):  # the character that stops it is the last one, or there is none
            line, column = (line + 1, 0) if one in "\n\r" else (line, column + 1)
            found = "<EOF> "
            after = self._text[start:] if stop > start + (stop == len(self._text)) else ""
        else:
            found = f'"{add_escapes(one)}" ({ord(one)}), '
            after = self._text[start:stop]
        return f'Lexical error at line {line}, column {column}.  Encountered: {found}after : "{add_escapes(after)}"'

    def _stop(self, start: int) -> int:
        """The place of the character that no token can have there."""
        rest = self._text[start:]
        if rest[0] == "'" or rest.startswith("/*"):
            return len(self._text)
        return start + 1 if rest[0] in "./" else start


def _kind(name: str, image: str) -> int:
    if name == "ID":
        return _KINDS.get(image.upper(), ID)
    return _NAMED[name] if name in _NAMED else _KINDS[image]


def add_escapes(text: str) -> str:
    """TokenMgrError#addEscapes, ParseException#add_escapes."""
    units = map(chr, utf16_units(text))
    return "".join(_ESCAPES[one] if one in _ESCAPES else _printable(one) for one in units)


def _printable(one: str) -> str:
    return one if " " <= one <= "~" else f"\\u{ord(one):04x}"
