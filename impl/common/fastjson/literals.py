"""The literals of JSON: numbers, texts in quotes, words without any, bytes (JSONLexerBase)."""

from __future__ import annotations

import re
from decimal import Decimal

from impl.common.fastjson.base64 import decode_base64
from impl.common.fastjson.characters import DIGITS, EOI, Characters, JSONError
from impl.common.fastjson.tokens import Token
from impl.decisions.java_arithmetic import wrap8, wrap16, wrap32
from impl.decisions.java_doubles import parse_double
from impl.decisions.java_errors import ArrayIndexOutOfBoundsError, NumberFormatError, not_null
from impl.decisions.java_text import joined_text

_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
_UPPER_HEX_DIGITS = frozenset("0123456789ABCDEF")
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_FIRST_OF_IDENTIFIER = _LETTERS | frozenset("_$")
_IN_IDENTIFIER = _LETTERS | DIGITS | {"_"}
ESCAPES = {
    "0": "\0", "1": "\1", "2": "\2", "3": "\3", "4": "\4", "5": "\5", "6": "\6", "7": "\7", "b": "\b", "t": "\t",
    "n": "\n", "v": "\v", "f": "\f", "F": "\f", "r": "\r", '"': '"', "'": "'", "/": "/", "\\": "\\",
}
_WORDS = {
    "new": Token.NEW, "true": Token.TRUE, "false": Token.FALSE, "undefined": Token.UNDEFINED, "Set": Token.SET,
    "TreeSet": Token.TREE_SET,
}
_LONGEST, _LONGEST_EXPONENT = 65535, 10
_NUMBER = re.compile(r"(-?[0-9]*(?:\.[0-9]*)?)(?:[LSBFD]|[eE][+-]?[0-9]*[DF]?)?")


class Literals(Characters):
    """Reads literals; np, sp -- begin and length of the last one. token -- what the last one was."""

    def __init__(self, text: str) -> None:
        """Stand on the first character."""
        super().__init__(text)
        self.np, self.sp = 0, 0
        self.token = Token.ERROR
        self._special: str | None = None

    def scan_number(self) -> None:
        """JSONLexerBase#scanNumber: digits, or none at all."""
        self.np = self.bp
        match = not_null(_NUMBER.match(self.text, self.bp))
        text = match.group()
        self.sp += len(text)
        self.go(self.bp + len(text))
        if len(match.group(1)) > _LONGEST:
            raise JSONError("scanNumber overflow")
        exact = not set(text) & set(".FDeE")
        self.token = Token.LITERAL_INT if exact else Token.LITERAL_FLOAT

    def number_string(self) -> str:
        """JSONScanner#numberString: the last number without its suffix."""
        end = self.np + self.sp
        return self.text[self.np : end - (self.char_at(end - 1) in {"L", "S", "B", "F", "D"})]

    def integer(self, bits: int | None) -> int:
        """JSONLexerBase#intValue, #longValue; None: #integerValue, which has no limit. Raises NumberFormatError."""
        text = self.number_string()
        if text == "-":
            return self._lone_sign(bits)
        value = whole(text) if text else 0
        if bits is None:
            return _shortened(value, self.char_at(self.np + self.sp - 1))
        if not -(1 << bits - 1) <= value < 1 << bits - 1:
            raise NumberFormatError(text)
        return value

    def _lone_sign(self, bits: int | None) -> int:
        """A minus without digits: a suffix behind it counts as a digit, but not in #integerValue."""
        if bits is None:
            raise JSONError("illegal number format : -")
        if self.sp == 1:
            raise NumberFormatError("-")
        return ord("0") - ord(self.char_at(self.np + 1))

    def decimal_value(self) -> Decimal:
        """JSONScanner#decimalValue: a BigDecimal, whose scale is an int; raises NumberFormatError."""
        text = self.number_string()
        mantissa, mark, exponent = text.replace("E", "e").partition("e")
        if mark and not exponent.lstrip("+-"):
            raise NumberFormatError("No exponent digits.")
        if not mantissa.strip("-."):
            raise NumberFormatError("No digits found.")
        if len(exponent.lstrip("+-").lstrip("0")) > _LONGEST_EXPONENT:
            raise NumberFormatError("Too many nonzero exponent digits.")
        if wrap32(int(exponent or 0)) != int(exponent or 0):
            raise NumberFormatError("Exponent overflow.")
        scale = len(mantissa.partition(".")[2]) - int(exponent or 0)
        if wrap32(scale) != scale:
            raise NumberFormatError("Scale out of range.")
        return Decimal(text)

    def decimal_number(self) -> Decimal | float:
        """JSONLexerBase#decimalValue(true): D makes a double, and F one where Java has a float; raises JSONError."""
        is_double = self.char_at(self.np + self.sp - 1) in {"F", "D"}
        try:
            return parse_double(self.number_string()) if is_double else self.decimal_value()
        except NumberFormatError as error:
            raise JSONError(f"{error.message}, {self.info()}") from error

    def string_val(self) -> str:
        """JSONScanner#stringVal: the last literal."""
        if self._special is not None:
            return joined_text(self._special)
        return joined_text(self.text[self.np + 1 : self.np + 1 + self.sp])

    def scan_string(self) -> None:
        """JSONLexerBase#scanString, scanStringSingleQuote: the lexer stands on the quote."""
        message = "unclosed string : {}" if self.ch == '"' else "unclosed single-quote string"
        self.np = self.bp
        self._special = None
        raw = self._quoted(self.ch, message, message, last=True)
        if "\\" in self.text[self.np + 1 : self.bp]:
            self._special = raw
        else:
            self.sp += self.bp - self.np - 1
        self.token = Token.LITERAL_STRING
        self.next()

    def scan_symbol(self, quote: str) -> str:
        """JSONLexerBase#scanSymbol with a quote, on which the lexer stands."""
        self.np = self.bp
        value = self._quoted(quote, "unclosed.str", "unclosed.str.lit", last=False)
        self.token, self.sp = Token.LITERAL_STRING, 0
        self.next()
        return joined_text(value)

    def _quoted(self, quote: str, open_end: str, wrong_escape: str, *, last: bool) -> str:
        """What stands up to the quote; last -- only the end of the text ends it, not every EOI."""
        found = []
        while (one := self.next()) != quote:
            if one == EOI and not (last and not self.is_eof()):
                raise JSONError(open_end.format(one))
            found.append(self._escaped(wrong_escape, strict=last) if one == "\\" else one)
        return "".join(found)

    def _byte(self, *, strict: bool) -> str:
        first, second = self.next(), self.next()
        if strict and not {first, second} <= _HEX_DIGITS:
            raise JSONError(f"invalid escape character \\x{first}{second}")
        return byte_escape(first, second)

    def _escaped(self, wrong: str, *, strict: bool) -> str:
        one = self.next()
        if one in ESCAPES:
            return ESCAPES[one]
        if one == "x":
            return self._byte(strict=strict)
        if one == "u":
            return unicode_escape("".join(self.next() for _ in range(4)))
        raise JSONError(wrong.format(one))

    def scan_unquoted(self) -> str | None:
        """JSONLexerBase#scanSymbolUnQuoted; None for the word null."""
        if self.ch < "\u0100" and self.ch not in _FIRST_OF_IDENTIFIER:
            raise JSONError(f"illegal identifier : {self.ch}{self.info()}")
        self.np = self.bp
        while self.next() in _IN_IDENTIFIER or self.ch >= "\u0100":
            pass
        self.token, self.sp = Token.IDENTIFIER, self.bp - self.np
        word = self.text[self.np : self.bp]
        return None if word == "null" else joined_text(word)

    def scan_ident(self) -> None:
        """JSONLexerBase#scanIdent: a word; np and sp say which."""
        self.np, self._special, self.sp = self.bp - 1, None, self.sp + 1
        while self.next().isalnum():
            self.sp += 1
        ident = self.string_val()
        self.token = Token.NULL if ident.lower() == "null" else _WORDS.get(ident, Token.IDENTIFIER)

    def scan_hex(self) -> None:
        """JSONLexerBase#scanHex: bytes, as in x'00FF'; nobody looks at the first digit."""
        if self.next() != "'":
            raise JSONError(f"illegal state. {self.ch}")
        self.np = self.bp
        one = self.next()
        while one != "'":
            one = self.next()
            if one not in _UPPER_HEX_DIGITS and one != "'":
                raise JSONError(f"illegal state. {one}")
            self.sp += 1
        self.next()
        self.token = Token.HEX

    def bytes_value(self) -> bytes:
        """JSONScanner#bytesValue of the last text or hexadecimal literal; raises JavaError."""
        if self.token != Token.HEX:
            return self._base64_value()
        if self.sp % 2:
            raise JSONError(f"illegal state. {self.sp}")
        digits = [ord(one) - (48 if one <= "9" else 55) for one in self.text[self.np + 1 : self.np + 1 + self.sp]]
        return bytes((high << 4 | low) & 0xFF for high, low in zip(digits[::2], digits[1::2], strict=True))

    def _base64_value(self) -> bytes:
        if self._special is not None:
            return decode_base64(self._special, 0, len(self._special), own=True)
        return decode_base64(self.text, self.np + 1, self.sp, own=False)


def _shortened(value: int, suffix: str) -> int:
    """A number that fits into an int is cut to a short or a byte if its suffix says so."""
    cut = {"S": wrap16, "B": wrap8}.get(suffix)
    return value if cut is None or wrap32(value) != value else cut(value)


def whole(digits: str) -> int:
    """A whole number. Python refuses to read very long ones, but not by way of a Decimal."""
    return int(Decimal(digits))


def byte_escape(first: str, second: str) -> str:
    r"""What \x and two characters stand for, where nobody looks whether they are digits (JSONLexerBase.digits)."""
    for one in (first, second):
        if one > "f":
            raise ArrayIndexOutOfBoundsError(f"Index {ord(one)} out of bounds for length {ord('f') + 1}")
    high, low = (int(one, 16) if one in _HEX_DIGITS else 0 for one in (first, second))
    return chr(high * 16 + low)


def unicode_escape(digits: str) -> str:
    r"""What \u and four characters stand for (Integer#parseInt with the radix 16, which takes a sign as well)."""
    unsigned = digits[1:] if digits[:1] in {"+", "-"} else digits
    if not unsigned or not set(unsigned) <= _HEX_DIGITS:
        raise NumberFormatError(f'For input string: "{digits}" under radix 16')
    return chr(int(digits, 16) & 0xFFFF)
