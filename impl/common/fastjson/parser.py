"""DefaultJSONParser: values of no particular type; and who asks for those of a type.

Of no type an object is a JSONObject, a list a list, a whole number an int, another number a Decimal or a float.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from impl.common.fastjson.casts import to_text
from impl.common.fastjson.characters import DIGITS, EOI, JSONError
from impl.common.fastjson.lexer import Lexer
from impl.common.fastjson.tokens import Token
from impl.common.fastjson.types import JavaType
from impl.common.fastjson.untyped import JavaDate, JavaSet, JSONObject, ObjectKey
from impl.decisions.java_arithmetic import wrap64
from impl.decisions.java_errors import JavaError

Deserialize: TypeAlias = Callable[["Parser", JavaType, Any], Any]
"""Reads a value of a type. The last argument is the name or the place of the value, or None."""

_DEEPEST = 512


class Parser:
    """`parser.DefaultJSONParser`: a lexer that stands on the first token.

    now_ms -- the time that new objects take for their own. deserialize -- reads values of a type (its ParserConfig).
    """

    def __init__(self, text: str, now_ms: int, deserialize: Deserialize) -> None:
        """Read the first token; a bracket without what stands before it."""
        self.now_ms, self._deserialize = now_ms, deserialize
        self.lexer = lexer = Lexer(text)
        self._level = 0
        if lexer.ch in {"{", "["}:
            lexer.token = Token.LBRACE if lexer.ch == "{" else Token.LBRACKET
            lexer.next()
        else:
            lexer.next_token()

    def over(self, text: str) -> Parser:
        """A parser of the same kind for another text."""
        return Parser(text, self.now_ms, self._deserialize)

    def deserialize(self, kind: JavaType, field_name: Any) -> Any:
        """ObjectDeserializer#deserialze of the deserializer of a type; raises JavaError."""
        return self._deserialize(self, kind, field_name)

    def parse_object(self, kind: JavaType, field_name: Any) -> Any:
        """DefaultJSONParser#parseObject(Type, Object): whatever is thrown becomes a JSONException."""
        if self.lexer.at(Token.NULL):
            self.lexer.next_token()
            return None
        try:
            return self.deserialize(kind, field_name)
        except JSONError:
            raise
        except JavaError as error:
            raise JSONError(error.message) from error

    def parse(self, field_name: Any = None) -> Any:
        """DefaultJSONParser#parse: whatever stands there; raises JSONError."""
        lexer = self.lexer
        if lexer.at(Token.SET, Token.TREE_SET):
            lexer.next_token()
            return JavaSet(self.parse_array(field_name))
        if lexer.at(Token.LBRACKET):
            return self.parse_array(field_name)
        if lexer.at(Token.LBRACE):
            return self.parse_json_object()
        if lexer.at(Token.NEW):
            return self._date()
        return self._simple() if lexer.token in _SIMPLE | {Token.HEX} else self._nothing()

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

    def _date(self) -> JavaDate:
        """What stands behind `new`: the name of a class, and a time in milliseconds in parentheses."""
        lexer = self.lexer
        lexer.next_token(Token.IDENTIFIER)
        if not lexer.at(Token.IDENTIFIER):
            raise JSONError("syntax error")
        lexer.next_token(Token.LPAREN)
        self._accept(Token.LPAREN)
        time_ms = lexer.integer(None)
        self._accept(Token.LITERAL_INT)
        self._accept(Token.RPAREN)
        return JavaDate(wrap64(time_ms))

    def _accept(self, token: Token) -> None:
        if not self.lexer.at(token):
            raise JSONError(f"syntax error, expect {token.text}, actual {self.lexer.token.text}")
        self.lexer.next_token()

    def parse_array(self, field_name: Any) -> list[Any]:
        """DefaultJSONParser#parseArray(Collection, Object)."""
        lexer = self.lexer
        if lexer.at(Token.SET, Token.TREE_SET):
            lexer.next_token()
        if not lexer.at(Token.LBRACKET):
            shown = f"{lexer.token.text}, pos {lexer.pos}, fieldName {'null' if field_name is None else field_name}"
            raise JSONError(f"syntax error, expect [, actual {shown}")
        lexer.next_token(Token.LITERAL_STRING)
        self._level += 1
        if self._level > _DEEPEST:
            raise JSONError("array level > 512")
        found: list[Any] = []
        while self.at_item():
            found.append(self._array_item(len(found)))
            if lexer.at(Token.COMMA):
                lexer.next_token(Token.LITERAL_STRING)
        lexer.next_token(Token.COMMA)
        self._level -= 1
        return found

    def at_item(self) -> bool:
        """Whether another item of a list follows: any number of commas may stand before it."""
        while self.lexer.at(Token.COMMA):
            self.lexer.next_token()
        return not self.lexer.at(Token.RBRACKET)

    def _array_item(self, place: int) -> Any:
        lexer = self.lexer
        if lexer.token in _SIMPLE:
            value = simple_value(lexer)
            null = lexer.at(Token.NULL, Token.UNDEFINED)
            lexer.next_token(Token.LITERAL_STRING if null else Token.COMMA)
            return value
        if lexer.at(Token.EOF):
            raise JSONError("unclosed jsonArray")
        return self.parse(place if lexer.at(Token.LBRACE, Token.LBRACKET) else None)

    def map_key(self) -> str | None:
        """A name as key, quoted or not, up to its colon; raises JSONError (MapDeserializer#parseMap)."""
        lexer = self.lexer
        quoted = lexer.ch in {'"', "'"}
        key = lexer.scan_symbol(lexer.ch) if quoted else lexer.scan_unquoted()
        lexer.skip_whitespace()
        if lexer.ch != ":":
            raise JSONError(f"expect ':' at {lexer.pos}" + ("" if quoted else f", actual {lexer.ch}"))
        return key

    def parse_json_object(self) -> JSONObject:
        """DefaultJSONParser#parseObject(Map, Object) for a JSONObject, behind its opening brace."""
        lexer = self.lexer
        found = JSONObject()
        more = True
        while more:
            lexer.skip_commas()
            if lexer.ch == "}":
                self._close()
                break
            more = self._entry(found)
        return found

    def _entry(self, found: JSONObject) -> bool:
        """Read a key and its value; whether there may be another."""
        lexer = self.lexer
        key = self._object_key()
        ch = lexer.ch
        if ch == '"' or ch in DIGITS or ch == "-":
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
        messages = {"[": "syntax error", "{": f"syntax error, {lexer.token.text}"}
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
            key = to_text(self.parse())
            lexer.sp = 0
            return ObjectKey("null" if key is None else key)
        if lexer.ch in DIGITS or lexer.ch == "-":
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
        value = lexer.integer(None) if lexer.at(Token.LITERAL_INT) else lexer.decimal_number()
        if lexer.ch != ":":
            raise JSONError(f"parse number key error{lexer.info()}")
        return str(to_text(value))


_SIMPLE = frozenset({
    Token.LITERAL_INT, Token.LITERAL_FLOAT, Token.LITERAL_STRING, Token.NULL, Token.UNDEFINED, Token.TRUE,
    Token.FALSE})


def simple_value(lexer: Lexer) -> Any:
    """The value of the token on which the lexer stands."""
    if lexer.at(Token.LITERAL_INT):
        return lexer.integer(None)
    if lexer.at(Token.LITERAL_FLOAT):
        return lexer.decimal_number()
    if lexer.at(Token.LITERAL_STRING):
        return lexer.string_val()
    if lexer.at(Token.HEX):
        return lexer.bytes_value()
    return lexer.at(Token.TRUE) if lexer.at(Token.TRUE, Token.FALSE) else None
