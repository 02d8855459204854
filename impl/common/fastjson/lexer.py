"""JSONScanner and JSONLexerBase: the token that was read last, and where the last token began.

The fast readings of whole fields begin in `field_scans`.
"""

from __future__ import annotations

from collections.abc import Callable

from impl.common.fastjson.characters import DIGITS, EOI, WHITESPACE, JSONError
from impl.common.fastjson.literals import Literals
from impl.common.fastjson.tokens import Token

_SINGLE = {
    ",": Token.COMMA, "(": Token.LPAREN, ")": Token.RPAREN, "[": Token.LBRACKET, "]": Token.RBRACKET,
    "{": Token.LBRACE, "}": Token.RBRACE, ":": Token.COLON, ";": Token.SEMI, ".": Token.DOT,
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


class Lexer(Literals):
    """`parser.JSONScanner`.

    pos -- where the last token began, as some messages report it; match_stat -- how the last fast reading of a field
    ended.
    """

    def __init__(self, text: str) -> None:
        """Stand on the first character."""
        super().__init__(text)
        self.pos, self.match_stat = 0, 0

    def at(self, *tokens: Token) -> bool:
        """Whether the token that was read last is one of these."""
        return self.token in tokens

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
        elif expected in {Token.LITERAL_INT, Token.LITERAL_STRING} and (self.ch in DIGITS or self.ch == '"'):
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
        if self.ch in {"_", "$"} or self.ch.isalpha():
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

    def scan_positive(self) -> None:
        """A number behind its plus sign."""
        self.next()
        self.scan_number()

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


_STARTS: dict[str, Callable[[Lexer], None]] = {
    **dict.fromkeys('"\'', Lexer.scan_string), **dict.fromkeys("0123456789-", Lexer.scan_number),
    "t": Lexer.scan_true, "f": Lexer.scan_false, "n": Lexer.scan_null_or_new,
    **dict.fromkeys("TNSu", Lexer.scan_ident), "+": Lexer.scan_positive, "x": Lexer.scan_hex,
}
