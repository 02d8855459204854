"""Texts to objects: what reads a value of a type (ParserConfig#getDeserializer), and JSON#parseObject, #parseArray."""

from __future__ import annotations

from typing import Any

from impl.common.fastjson.beans import BEANS, ENUMS
from impl.common.fastjson.characters import JSONError
from impl.common.fastjson.fast_beans import read_bean
from impl.common.fastjson.lists_and_maps import read_bytes, read_collection, read_map
from impl.common.fastjson.parser import Parser
from impl.common.fastjson.plain_values import PLAIN, read_enum
from impl.common.fastjson.tokens import Token
from impl.common.fastjson.types import JavaType


def from_json(text: str, name: str, now_ms: int) -> Any:
    """JSON#parseObject: an object of the bean class of that simple name, or None. Raises JSONError.

    now_ms -- the time: fields that begin with it have it where the text does not name them.
    """
    if not text:
        return None
    parser = Parser(text, now_ms, _deserialize)
    try:
        value = parser.parse_object(JavaType(name), None)
    except RecursionError as error:  # as Java's StackOverflowError, which has no message
        raise JSONError from error
    _close(parser)
    return value


def strings_from_json(text: str) -> list[Any] | None:
    """JSON#parseArray(String, String.class); raises JSONError."""
    parser = Parser(text, 0, _deserialize)
    if parser.lexer.at(Token.EOF) and parser.lexer.is_blank_input():
        return None
    if parser.lexer.at(Token.NULL):
        parser.lexer.next_token()
        found = None
    else:
        found = read_collection(parser, JavaType("List", (JavaType("String"),)), None)
    _close(parser)
    return found


def _close(parser: Parser) -> None:
    if not parser.lexer.at(Token.EOF):
        raise JSONError(f"not close json text, token : {parser.lexer.token.text}")


def _deserialize(parser: Parser, kind: JavaType, field_name: Any) -> Any:
    """ObjectDeserializer#deserialze of the deserializer of a type."""
    if kind.name in BEANS:
        return read_bean(parser, kind, field_name)
    if kind.name in ENUMS:
        return read_enum(parser, kind.name)
    if kind.is_map:
        return read_map(parser, kind, field_name)
    if kind.is_collection:
        return read_collection(parser, kind, field_name)
    if kind.name == "byte[]":
        return read_bytes(parser, field_name)
    return PLAIN[kind.name](parser, field_name)
