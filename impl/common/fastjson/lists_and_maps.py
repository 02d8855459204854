"""What reads lists, sets and maps (CollectionCodec, MapDeserializer)."""

from __future__ import annotations

from itertools import count
from typing import Any

from impl.common.fastjson.beans import BEANS, Bean, BeanField, new_map
from impl.common.fastjson.casts import to_text
from impl.common.fastjson.characters import JSONError
from impl.common.fastjson.parser import Parser
from impl.common.fastjson.tokens import Token
from impl.common.fastjson.types import JavaType
from impl.common.fastjson.untyped import JSONObject
from impl.decisions.java_errors import NullPointerError
from impl.hash_map import HashMap


def read_collection(parser: Parser, kind: JavaType, field_name: Any) -> list[Any] | None:
    """CollectionCodec#deserialze and DefaultJSONParser#parseArray(Type, Collection, Object)."""
    lexer = parser.lexer
    if lexer.at(Token.NULL):
        lexer.next_token(Token.COMMA)
        return None
    if lexer.at(Token.SET, Token.TREE_SET):
        lexer.next_token()
    if not lexer.at(Token.LBRACKET):
        raise JSONError(f"field {field_name} expect '[', but {lexer.token.text}, {lexer.info()}")
    (item,) = kind.arguments
    lexer.next_token(Token.LITERAL_STRING if item.name == "String" else fast_match(item))
    found: list[Any] = []
    for place in count():
        if not parser.at_item():
            break
        add_item(kind, found, _item(parser, item, place))
        if lexer.at(Token.COMMA):
            lexer.next_token(fast_match(item))
    lexer.next_token(Token.COMMA)
    return found


def read_bytes(parser: Parser, field_name: Any) -> Any:
    """ObjectArrayCodec#deserialze."""
    lexer = parser.lexer
    if lexer.at(Token.LITERAL_STRING, Token.HEX):
        value = lexer.bytes_value()
        lexer.next_token(Token.COMMA)
        return value
    return read_collection(parser, JavaType("List", (JavaType("byte"),)), field_name)


def _item(parser: Parser, item: JavaType, place: int) -> Any:
    lexer = parser.lexer
    if item.name == "String":
        if lexer.at(Token.LITERAL_STRING):
            value = lexer.string_val()
            lexer.next_token(Token.COMMA)
            return value
        return to_text(parser.parse())
    if lexer.at(Token.NULL):
        lexer.next_token()
        return None
    return parser.deserialize(item, place)


def add_item(kind: JavaType, found: list[Any], value: Any) -> None:
    """Collection#add: a set takes nothing twice."""
    if kind.name == "List" or not any(_same(value, one) for one in found):
        found.append(value)


def _same(value: Any, other: Any) -> bool:
    return value.equals(other) if isinstance(value, Bean) else bool(value == other)


def fast_match(kind: JavaType) -> Token:
    """ObjectDeserializer#getFastMatchToken."""
    if kind.name in BEANS or kind.is_map:
        return Token.LBRACE
    if kind.is_collection:
        return Token.LBRACKET
    return Token.LITERAL_STRING if kind.name == "String" else Token.LITERAL_INT


def read_map(parser: Parser, kind: JavaType, field_name: Any) -> HashMap[Any, Any] | None:
    """MapDeserializer#deserialze."""
    if parser.lexer.at(Token.NULL):
        parser.lexer.next_token(Token.COMMA)
        return None
    key, value = kind.arguments
    if key.name == "String":
        return _string_map(parser, kind, value, field_name)
    return _any_map(parser, kind, key, value)


def _string_map(parser: Parser, kind: JavaType, value: JavaType, field_name: Any) -> HashMap[Any, Any] | None:
    """MapDeserializer#parseMap with names as keys."""
    lexer = parser.lexer
    if not lexer.at(Token.LBRACE):
        return _no_map(parser, field_name)
    found = new_map(kind)
    while True:
        lexer.skip_commas()
        if lexer.ch == "}":
            lexer.next()
            lexer.next_token(Token.COMMA)
            return found
        key = parser.map_key()
        lexer.next()
        lexer.skip_whitespace()
        lexer.next_token()
        _put(kind, found, key, parser.parse_object(value, key))
        if lexer.at(Token.EOF, Token.RBRACKET):
            return found
        if lexer.at(Token.RBRACE):
            lexer.next_token()
            return found


def _put(kind: JavaType, found: HashMap[Any, Any], key: Any, value: Any) -> None:
    """Map#put: a ConcurrentHashMap takes no null."""
    if kind.name == "ConcurrentMap" and value is None:
        raise NullPointerError
    found.put(key, value)


def _no_map(parser: Parser, field_name: Any) -> HashMap[Any, Any] | None:
    lexer = parser.lexer
    text = lexer.at(Token.LITERAL_STRING)
    if text and lexer.string_val() in {"", "null"}:
        return None
    named = f", fieldName {field_name}" if isinstance(field_name, str) else ""
    message = f"syntax error, expect {{, actual {lexer.token.text}{named}, {lexer.info()}"
    if not text:
        items = parser.parse_array(field_name)
        if len(items) == 1 and isinstance(items[0], HashMap):
            return items[0]
    raise JSONError(message)


def is_other_map(field: BeanField, value: Any) -> bool:
    """Whether what was read is the only object of a list, and no map such as the field has."""
    return isinstance(value, JSONObject) and field.type.name != "Map"


def _any_map(parser: Parser, kind: JavaType, key_kind: JavaType, value_kind: JavaType) -> HashMap[Any, Any]:
    """MapDeserializer#parseMap with keys of any type."""
    lexer = parser.lexer
    if not lexer.at(Token.LBRACE, Token.COMMA):
        raise JSONError(f"syntax error, expect {{, actual {lexer.token.text}")
    lexer.next_token(fast_match(key_kind))
    found = new_map(kind)
    while not lexer.at(Token.RBRACE):
        key = _key(parser, key_kind)
        if not lexer.at(Token.COLON):
            raise JSONError(f"syntax error, expect :, actual {int(lexer.token)}")
        lexer.next_token(fast_match(value_kind))
        _put(kind, found, key, parser.deserialize(value_kind, key))
        if lexer.at(Token.COMMA):
            lexer.next_token(fast_match(key_kind))
    lexer.next_token(Token.COMMA)
    return found


def _key(parser: Parser, kind: JavaType) -> Any:
    lexer = parser.lexer
    if lexer.at(Token.LITERAL_STRING) and kind.name in BEANS:
        text = lexer.string_val()
        lexer.next_token()
        return parser.over(text).deserialize(kind, None)
    return parser.deserialize(kind, None)
