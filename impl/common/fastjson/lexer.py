"""JSONScanner and JSONLexerBase: a text, where the lexer stands in it, and the token that it read last.

Positions count UTF-16 units, as in Java. The fast readings of whole fields are in `fast_fields`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from impl.common.fastjson.tokens import Token
from impl.decisions.java_errors import JavaError, NumberFormatError
from impl.decisions.java_text import utf16_text, utf16_units

EOI = "\x1a"
WHITESPACE = frozenset(" \n\r\t\f\b")
_DIGITS = frozenset("0123456789")
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_FIRST_OF_IDENTIFIER = _LETTERS | frozenset("_$")
_IN_IDENTIFIER = _LETTERS | _DIGITS | {"_"}
ESCAPES = {
    "0": "\0", "1": "\1", "2": "\2", "3": "\3", "4": "\4", "5": "\5", "6": "\6", "7": "\7", "b": "\b", "t": "\t",
    "n": "\n", "v": "\v", "f": "\f", "F": "\f", "r": "\r", '"': '"', "'": "'", "/": "/", "\\": "\\",
}
_SINGLE = {
    ",": Token.COMMA, "(": Token.LPAREN, ")": Token.RPAREN, "[": Token.LBRACKET, "]": Token.RBRACKET,
    "{": Token.LBRACE, "}": Token.RBRACE, ":": Token.COLON, ";": Token.SEMI, ".": Token.DOT,
}
_WORDS = {
    "new": Token.NEW, "true": Token.TRUE, "false": Token.FALSE, "undefined": Token.UNDEFINED, "Set": Token.SET,
    "TreeSet": Token.TREE_SET,
}
_AFTER_NULL = frozenset(" ,}]\n\r\t\f\b" + EOI)
_AFTER_TRUE = _AFTER_NULL | {":", "/"}
_EXPECTED = {
    Token.LBRACE: {"{": Token.LBRACE, "[": Token.LBRACKET},
    Token.COMMA: {",": Token.COMMA, "}": Token.RBRACE, "]": Token.RBRACKET},
    Token.LITERAL_INT: {"[": Token.LBRACKET, "{": Token.LBRACE},
    Token.LITERAL_STRING: {"[": Token.LBRACKET, "{": Token.LBRACE},
    Token.LBRACKET: {"[": Token.LBRACKET, "{": Token.LBRACE},
    Token.RBRACKET: {"]": Token.RBRACKET},
}
_NUMBER = re.compile(r"-?[0-9]*(\.[0-9]*)?(?:[LSBFD]|[eE][+-]?[0-9]*[DF]?)?")


class JSONError(JavaError):
    """`com.alibaba.fastjson.JSONException`."""

    java_class = "com.alibaba.fastjson.JSONException"


class Lexer:
    """`parser.JSONScanner`.

    bp -- position of ch; pos -- where the last token began, as some messages report it; np, sp -- begin and length of
    the last literal. match_stat -- how the last fast reading of a field ended.
    """

    def __init__(self, text: str) -> None:
        """Stand on the first character; a byte order mark is skipped."""
        self.text = "".join(map(chr, utf16_units(text)))
        self.bp, self.pos, self.np, self.sp = -1, 0, 0, 0
        self.token: Token | None = None
        self.match_stat = 0
        self.ch = EOI
        self._special: str | None = None
        self.next()
        if self.ch == "\ufeff":
            self.next()

    # Characters -------------------------------------------------------------------------------------------------------

    def char_at(self, index: int) -> str:
        """The character there; EOI behind the end."""
        return self.text[index] if index < len(self.text) else EOI

    def next(self) -> str:
        """Go to the next character."""
        self.bp += 1
        self.ch = self.char_at(self.bp)
        return self.ch

    def go(self, bp: int) -> None:
        """Stand somewhere."""
        self.bp, self.ch = bp, self.char_at(bp)

    def is_eof(self) -> bool:
        """JSONScanner#isEOF."""
        return self.bp == len(self.text) or (self.ch == EOI and self.bp + 1 >= len(self.text))

    def is_blank_input(self) -> bool:
        """JSONLexerBase#isBlankInput: whether all of the text is white space."""
        for one in self.text:
            if one == EOI:
                return True
            if one not in WHITESPACE:
                return False
        return True

    def info(self) -> str:
        """JSONScanner#info: where it stands, and the text."""
        before = self.text[:self.bp]
        last = before.rfind("\n")
        # Java sets the column to 1 at a line's end and counts on from there.
        column = self.bp + 1 if last < 0 else self.bp - last + 1
        return f"pos {self.bp}, line {before.count(chr(10)) + 1}, column {column}{utf16_text(self.text[:65535])}"

    def skip_whitespace(self) -> None:
        """JSONLexerBase#skipWhitespace: comments as well."""
        while self.ch in WHITESPACE or self.ch == "/":
            if self.ch == "/":
                self._skip_comment()
            else:
                self.next()

    def _skip_comment(self) -> None:
        self.next()
        if self.ch == "/":
            while self.next() not in {"\n", EOI}:
                pass
            if self.ch == "\n":
                self.next()
        elif self.ch == "*":
            self.next()
            while self.ch != EOI:
                if self.ch != "*":
                    self.next()
                elif self.next() == "/":
                    self.next()
                    return
        else:
            raise JSONError("invalid comment")

    def at(self, *tokens: Token) -> bool:
        """Whether the token that was read last is one of these."""
        return self.token in tokens

    # Tokens -----------------------------------------------------------------------------------------------------------

    def next_token(self, expected: Token | None = None) -> None:
        """JSONLexerBase#nextToken, with the shortcuts for what is expected."""
        self.sp = 0
        while expected is not None:
            if self._expected_token(expected):
                return
            if self.ch not in WHITESPACE:
                break
            self.next()
        self._next_token()

    def _expected_token(self, expected: Token) -> bool:
        single = _EXPECTED.get(expected, {}).get(self.ch)
        if single is not None:
            self.token = single
            self.next()
        elif expected in {Token.COMMA, Token.RBRACKET, Token.EOF} and self.ch == EOI:
            self.token = Token.EOF
        elif expected == Token.COMMA and self.ch == "n":
            self.scan_null_or_new(accept_colon=False)
        elif expected in {Token.LITERAL_INT, Token.LITERAL_STRING} and (self.ch in _DIGITS or self.ch == '"'):
            self.pos = self.bp
            self._literal()
        elif expected == Token.IDENTIFIER:
            self._next_ident()
        else:
            return False
        return True

    def _next_ident(self) -> None:
        while self.ch in WHITESPACE:
            self.next()
        if self.ch in "_$" or self.ch.isalpha():
            self.scan_ident()
        else:
            self.next_token()

    def _literal(self) -> None:
        if self.ch == '"':
            self.scan_string()
        else:
            self.scan_number()

    def _next_token(self) -> None:
        self.sp = 0
        while True:
            self.pos = self.bp
            if self.ch == "/":
                self._skip_comment()
            elif self.ch in WHITESPACE or (self.ch not in _STARTS and self.ch not in _SINGLE and self._skipped()):
                self.next()
            else:
                break
        if self.ch in _SINGLE:
            self.token = _SINGLE[self.ch]
            self.next()
        elif self.ch in _STARTS:
            _STARTS[self.ch](self)
        elif self.is_eof():
            self._end_of_text()
        else:
            self.token = Token.ERROR
            self.next()

    def _skipped(self) -> bool:
        return not self.is_eof() and (self.ch <= "\x1f" or self.ch == "\x7f")

    def _end_of_text(self) -> None:
        if self.token == Token.EOF:
            raise JSONError("EOF error")
        self.token, self.pos = Token.EOF, self.bp

    def next_token_with_colon(self) -> None:
        """JSONLexerBase#nextTokenWithColon; raises JSONError where no colon is."""
        self.sp = 0
        while self.ch in WHITESPACE:
            self.next()
        if self.ch != ":":
            raise JSONError(f"not match : - {self.ch}, info : {self.info()}")
        self.next()
        self.next_token()

    def _word(self, word: str, message: str) -> None:
        for one in word:
            if self.ch != one:
                raise JSONError(message)
            self.next()

    def scan_true(self) -> None:
        """JSONLexerBase#scanTrue."""
        self._word("true", "error parse true")
        if self.ch not in _AFTER_TRUE:
            raise JSONError("scan true error")
        self.token = Token.TRUE

    def scan_false(self) -> None:
        """JSONLexerBase#scanFalse."""
        self._word("false", "error parse false")
        if self.ch not in _AFTER_TRUE:
            raise JSONError("scan false error")
        self.token = Token.FALSE

    def scan_null_or_new(self, *, accept_colon: bool = True) -> None:
        """JSONLexerBase#scanNullOrNew. accept_colon -- a colon may follow null."""
        if self.next() == "u":
            self._word("ull", "error parse null")
            if self.ch not in _AFTER_NULL and not (self.ch == ":" and accept_colon):
                raise JSONError("scan null error")
            self.token = Token.NULL
            return
        self._word("ew", "error parse new")
        if self.ch not in _AFTER_NULL:
            raise JSONError("scan new error")
        self.token = Token.NEW

    def scan_ident(self) -> None:
        """JSONLexerBase#scanIdent: a word; np and sp say which."""
        self.np, self._special, self.sp = self.bp - 1, None, self.sp + 1
        while self.next().isalnum():
            self.sp += 1
        ident = self.string_val()
        self.token = Token.NULL if ident.lower() == "null" else _WORDS.get(ident, Token.IDENTIFIER)

    def scan_hex(self) -> None:
        """JSONLexerBase#scanHex: x'…'."""
        if self.next() != "'":
            raise JSONError(f"illegal state. {self.ch}")
        self.np = self.bp
        if self.next() == "'":
            self.next()
            self.token = Token.HEX
            return
        while True:
            one = self.next()
            if one not in "0123456789ABCDEF'":
                raise JSONError(f"illegal state. {one}")
            self.sp += 1
            if one == "'":
                break
        self.next()
        self.token = Token.HEX

    def scan_positive(self) -> None:
        """A number behind its plus sign."""
        self.next()
        self.scan_number()

    # Literals ---------------------------------------------------------------------------------------------------------

    def scan_number(self) -> None:
        """JSONLexerBase#scanNumber: digits, or none at all."""
        self.np = self.bp
        match = _NUMBER.match(self.text, self.bp)
        text = "" if match is None else match.group()
        self.sp += len(text)
        self.go(self.bp + len(text))
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
            if bits is None:
                raise JSONError(f"illegal number format : {text}")
            raise NumberFormatError(text)
        value = int(text) if text else 0
        if bits is not None and not -(1 << bits - 1) <= value < 1 << bits - 1:
            raise NumberFormatError(text)
        return value

    def decimal_value(self) -> Decimal:
        """JSONScanner#decimalValue."""
        try:
            return Decimal(self.number_string())
        except ArithmeticError as error:
            raise NumberFormatError from error

    def string_val(self) -> str:
        """JSONScanner#stringVal: the last literal."""
        if self._special is not None:
            return utf16_text(self._special)
        return utf16_text(self.text[self.np + 1 : self.np + 1 + self.sp])

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
        return utf16_text(value)

    def _quoted(self, quote: str, open_end: str, wrong_escape: str, *, last: bool) -> str:
        """What stands up to the quote; last -- only the end of the text ends it, not every EOI."""
        found = []
        while (one := self.next()) != quote:
            if one == EOI and not (last and not self.is_eof()):
                raise JSONError(open_end.format(one))
            found.append(self._escaped(wrong_escape) if one == "\\" else one)
        return "".join(found)

    def _escaped(self, wrong: str) -> str:
        one = self.next()
        if one in ESCAPES:
            return ESCAPES[one]
        if one == "x":
            return hexadecimal(self.next() + self.next(), 2)
        if one == "u":
            return hexadecimal("".join(self.next() for _ in range(4)), 4)
        raise JSONError(wrong.format(one))

    def scan_key(self) -> str | None:
        """JSONLexerBase#scanSymbol: the name of a field; None: the token says what stands there instead."""
        self.skip_whitespace()
        if self.ch in {'"', "'"}:
            return self.scan_symbol(self.ch)
        if self.ch in {"}", ","}:
            self.token = _SINGLE[self.ch]
            self.next()
            return None
        if self.ch == EOI:
            self.token = Token.EOF
            return None
        return self.scan_unquoted()

    def scan_unquoted(self) -> str | None:
        """JSONLexerBase#scanSymbolUnQuoted; None for the word null."""
        if self.token == Token.ERROR and self.pos == 0 and self.bp == 1:
            self.bp = 0
        if self.ch < "\u0100" and self.ch not in _FIRST_OF_IDENTIFIER:
            raise JSONError(f"illegal identifier : {self.ch}{self.info()}")
        self.np = self.bp
        while self.next() in _IN_IDENTIFIER or self.ch >= "\u0100":
            pass
        self.token, self.sp = Token.IDENTIFIER, self.bp - self.np
        word = self.text[self.np : self.bp]
        return None if word == "null" else utf16_text(word)


def hexadecimal(digits: str, length: int) -> str:
    """The character of an escape; raises as Java does where a digit is none."""
    if len(digits) == length and set(digits) <= _HEX_DIGITS:
        return chr(int(digits, 16))
    if length == 4:  # noqa: PLR2004  \uXXXX
        raise NumberFormatError(f'For input string: "{digits}" under radix 16')
    raise JSONError(f"invalid escape character \\x{digits}")


_STARTS: dict[str, Callable[[Lexer], None]] = {
    **dict.fromkeys('"\'', Lexer.scan_string), **dict.fromkeys("0123456789-", Lexer.scan_number),
    "t": Lexer.scan_true, "f": Lexer.scan_false, "n": Lexer.scan_null_or_new,
    **dict.fromkeys("TNSu", Lexer.scan_ident), "+": Lexer.scan_positive, "x": Lexer.scan_hex,
}
