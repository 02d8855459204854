"""DefaultJSONParser: values of no particular type.

An object is a HashMap, a list a list, a whole number an int, another number a Decimal.
"""

from __future__ import annotations

from typing import Any

from impl.common.fastjson.lexer import EOI, JSONError, Lexer
from impl.common.fastjson.tokens import Token
from impl.hash_map import HashMap

_DEEPEST = 512
_DIGITS = frozenset("0123456789")


class Parser:
    """`parser.DefaultJSONParser`: a lexer that stands on the first token.

    now_ms -- the time that new objects take for their own.
    """

    def __init__(self, text: str, now_ms: int) -> None:
        """Read the first token; a bracket without what stands before it."""
        self.now_ms = now_ms
        self.lexer = lexer = Lexer(text)
        self._level = 0
        if lexer.ch in {"{", "["}:
            lexer.token = Token.LBRACE if lexer.ch == "{" else Token.LBRACKET
            lexer.next()
        else:
            lexer.next_token()

    def parse(self, field_name: Any = None) -> Any:
        """DefaultJSONParser#parse: whatever stands there; raises JSONError."""
        lexer = self.lexer
        token = lexer.token
        if token in {Token.SET, Token.TREE_SET, Token.LBRACKET}:
            return self.parse_array(field_name)
        if token == Token.LBRACE:
            return self.parse_json_object()
        if token in _SIMPLE:
            return self._simple()
        return self._date() if token == Token.NEW else self._nothing()

    def _nothing(self) -> None:
        lexer = self.lexer
        if lexer.at(Token.EOF):
            if not lexer.is_blank_input():
                raise JSONError(f"unterminated json string, {lexer.info()}")
        elif lexer.at(Token.IDENTIFIER) and lexer.string_val() == "NaN":
            lexer.next_token()
        else:
            raise JSONError(f"syntax error, {lexer.info()}")

    def _simple(self) -> Any:
        lexer = self.lexer
        value = simple_value(lexer)
        lexer.next_token(Token.COMMA if lexer.at(Token.LITERAL_STRING) else None)
        return value

    def _date(self) -> int:
        lexer = self.lexer
        lexer.next_token(Token.IDENTIFIER)
        if not lexer.at(Token.IDENTIFIER):
            raise JSONError("syntax error")
        lexer.next_token(Token.LPAREN)
        self._accept(Token.LPAREN)
        time = lexer.integer(None)
        self._accept(Token.LITERAL_INT)
        self._accept(Token.RPAREN)
        return time

    def _accept(self, token: Token) -> None:
        lexer = self.lexer
        if lexer.token != token:
            shown = lexer.token.text if lexer.token is not None else "Unknown"
            raise JSONError(f"syntax error, expect {token.text}, actual {shown}")
        lexer.next_token()

    def parse_array(self, field_name: Any) -> list[Any]:
        """DefaultJSONParser#parseArray(Collection, Object)."""
        lexer = self.lexer
        if lexer.at(Token.SET, Token.TREE_SET):
            lexer.next_token()
        if not lexer.at(Token.LBRACKET):
            shown = lexer.token.text if lexer.token is not None else "Unknown"
            raise JSONError(f"syntax error, expect [, actual {shown}, pos {lexer.pos}, fieldName {field_name}")
        lexer.next_token(Token.LITERAL_STRING)
        self._level += 1
        if self._level > _DEEPEST:
            raise JSONError("array level > 512")
        found: list[Any] = []
        while True:
            while lexer.at(Token.COMMA):
                lexer.next_token()
            if lexer.at(Token.RBRACKET):
                lexer.next_token(Token.COMMA)
                self._level -= 1
                return found
            found.append(self._array_item(len(found)))
            if lexer.at(Token.COMMA):
                lexer.next_token(Token.LITERAL_STRING)

    def _array_item(self, place: int) -> Any:
        lexer = self.lexer
        if lexer.token in _SIMPLE - {Token.HEX}:
            value = simple_value(lexer)
            null = lexer.at(Token.NULL, Token.UNDEFINED)
            lexer.next_token(Token.LITERAL_STRING if null else Token.COMMA)
            return value
        if lexer.at(Token.EOF):
            raise JSONError("unclosed jsonArray")
        return self.parse(place)

    def map_key(self) -> str | None:
        """A name as key, quoted or not, up to its colon; raises JSONError (MapDeserializer#parseMap)."""
        lexer = self.lexer
        quoted = lexer.ch in {'"', "'"}
        key = lexer.scan_symbol(lexer.ch) if quoted else lexer.scan_unquoted()
        lexer.skip_whitespace()
        if lexer.ch != ":":
            raise JSONError(f"expect ':' at {lexer.pos}" + ("" if quoted else f", actual {lexer.ch}"))
        return key

    def parse_json_object(self) -> HashMap[str, Any]:
        """DefaultJSONParser#parseObject(Map, Object) for a JSONObject, behind its opening brace."""
        lexer = self.lexer
        found: HashMap[str, Any] = HashMap()
        more = True
        while more:
            lexer.skip_whitespace()
            while lexer.ch == ",":
                lexer.next()
                lexer.skip_whitespace()
            if lexer.ch == "}":
                self._close()
                break
            more = self._entry(found)
        return found

    def _entry(self, found: HashMap[str, Any]) -> bool:
        """Read a key and its value; whether there may be another."""
        lexer = self.lexer
        key = self._object_key()
        ch = lexer.ch
        if ch == '"' or ch in _DIGITS or ch == "-":
            if ch == '"':
                lexer.scan_string()
            else:
                lexer.scan_number()
            found.put(key, simple_value(lexer))
            return self._after_literal(key)
        lexer.next_token()
        if ch == "[":
            found.put(key, self.parse_array(key))
        else:
            found.put(key, self.parse_json_object() if ch == "{" else self.parse())
        return self._after_value(ch, key)

    def _after_literal(self, key: str) -> bool:
        self.lexer.skip_whitespace()
        if self.lexer.ch == ",":
            self.lexer.next()
            return True
        if self.lexer.ch != "}":
            raise JSONError(f"syntax error, position at {self.lexer.pos}, name {key}")
        self._close()
        return False

    def _after_value(self, ch: str, key: str) -> bool:
        lexer = self.lexer
        if lexer.at(Token.COMMA):
            return True
        if lexer.at(Token.RBRACE):
            lexer.next_token()
            return False
        shown = lexer.token.text if lexer.token is not None else "Unknown"
        messages = {"[": "syntax error", "{": f"syntax error, {shown}"}
        raise JSONError(messages.get(ch, f"syntax error, position at {lexer.pos}, name {key}"))

    def _close(self) -> None:
        self.lexer.next()
        self.lexer.sp = 0
        self.lexer.next_token()

    def _object_key(self) -> str:
        """Up to the value, its first token not read."""
        lexer = self.lexer
        if lexer.ch == EOI:
            raise JSONError("syntax error")
        if lexer.ch in {"{", "["}:
            lexer.next_token()
            key: Any = self.parse()
            lexer.sp = 0
            return str(key)
        if lexer.ch in _DIGITS or lexer.ch == "-":
            key = self._number_key()
        elif lexer.ch == '"':
            key = self._quoted_key()
        else:
            key = self.map_key()
        lexer.next()
        lexer.skip_whitespace()
        lexer.sp = 0
        return "null" if key is None else key

    def _quoted_key(self) -> str:
        lexer = self.lexer
        key = lexer.scan_symbol('"')
        lexer.skip_whitespace()
        if lexer.ch != ":":
            raise JSONError(f"expect ':' at {lexer.pos}, name {key}")
        return key

    def _number_key(self) -> str:
        lexer = self.lexer
        lexer.sp = 0
        lexer.scan_number()
        value = lexer.integer(None) if lexer.at(Token.LITERAL_INT) else lexer.decimal_value()
        if lexer.ch != ":":
            raise JSONError(f"parse number key error{lexer.info()}")
        return str(value)


_SIMPLE = frozenset({
    Token.LITERAL_INT, Token.LITERAL_FLOAT, Token.LITERAL_STRING, Token.NULL, Token.UNDEFINED, Token.TRUE, Token.FALSE,
    Token.HEX})


def simple_value(lexer: Lexer) -> Any:
    """The value of the token on which the lexer stands."""
    if lexer.at(Token.LITERAL_INT):
        return lexer.integer(None)
    if lexer.at(Token.LITERAL_FLOAT):
        return lexer.decimal_value()
    if lexer.at(Token.LITERAL_STRING):
        return lexer.string_val()
    if lexer.at(Token.HEX):
        return _hex_bytes(lexer)
    return lexer.at(Token.TRUE) if lexer.at(Token.TRUE, Token.FALSE) else None


def _hex_bytes(lexer: Lexer) -> bytes:
    digits = lexer.text[lexer.np + 1 : lexer.np + 1 + lexer.sp].rstrip("'")
    if len(digits) % 2:
        raise JSONError(f"illegal state. {len(digits)}")
    return bytes.fromhex(digits)
