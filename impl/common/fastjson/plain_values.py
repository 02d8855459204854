"""What reads texts, numbers, truth values and constants of enums (the codecs of fastjson)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from impl.common.fastjson.beans import ENUMS
from impl.common.fastjson.casts import (
    cast_to_boolean,
    cast_to_byte,
    cast_to_double,
    cast_to_int,
    cast_to_long,
    decimal_as_int,
    to_text,
)
from impl.common.fastjson.characters import JSONError
from impl.common.fastjson.parser import Parser
from impl.common.fastjson.tokens import Token
from impl.decisions.java_arithmetic import wrap8
from impl.decisions.java_doubles import parse_double
from impl.decisions.java_errors import JavaError


def _string(parser: Parser, field_name: Any) -> str | None:  # noqa: ARG001  as all of them
    """StringCodec#deserialze."""
    lexer = parser.lexer
    if lexer.at(Token.LITERAL_STRING, Token.LITERAL_INT):
        value = lexer.string_val() if lexer.at(Token.LITERAL_STRING) else lexer.number_string()
        lexer.next_token(Token.COMMA)
        return value
    return to_text(parser.parse())


def _int(parser: Parser, field_name: Any) -> int | None:
    """IntegerCodec#deserialze."""
    message = "parseInt error" + ("" if field_name is None else f", field : {field_name}")
    lexer = parser.lexer
    if lexer.at(Token.NULL):
        lexer.next_token(Token.COMMA)
        return None
    return _number(parser, 32, cast_to_int, message)


def _long(parser: Parser, field_name: Any) -> int | None:
    """LongCodec#deserialze."""
    return _number(parser, 64, cast_to_long, f"parseLong error, field : {'null' if field_name is None else field_name}")


def _number(parser: Parser, bits: int, cast: Callable[[Any], int | None], message: str) -> int | None:
    lexer = parser.lexer
    try:
        if lexer.at(Token.LITERAL_INT):
            value: int | None = lexer.integer(bits)
            lexer.next_token(Token.COMMA)
        elif lexer.at(Token.LITERAL_FLOAT):
            value = decimal_as_int(lexer.decimal_value(), bits)
            lexer.next_token(Token.COMMA)
        else:
            value = cast(parser.parse())
    except JavaError as error:
        raise JSONError(message) from error
    return value


def _boolean(parser: Parser, field_name: Any) -> bool | None:
    """BooleanCodec#deserialze."""
    lexer = parser.lexer
    try:
        if lexer.at(Token.TRUE, Token.FALSE):
            value: bool | None = lexer.at(Token.TRUE)
            lexer.next_token(Token.COMMA)
        elif lexer.at(Token.LITERAL_INT):
            value = lexer.integer(32) == 1
            lexer.next_token(Token.COMMA)
        else:
            value = cast_to_boolean(parser.parse())
    except JavaError as error:
        shown = "null" if field_name is None else field_name
        raise JSONError(f"parseBoolean error, field : {shown}") from error
    return value


def _double(parser: Parser, field_name: Any) -> float | None:
    """NumberDeserializer#deserialze."""
    lexer = parser.lexer
    if lexer.at(Token.LITERAL_INT, Token.LITERAL_FLOAT):
        text = lexer.number_string()
        lexer.next_token(Token.COMMA)
        return parse_double(text)
    value = parser.parse()
    try:
        return cast_to_double(value)
    except JavaError as error:
        raise JSONError(f"parseDouble error, field : {field_name}") from error


def _byte(parser: Parser, field_name: Any) -> int | None:
    """NumberDeserializer#deserialze."""
    lexer = parser.lexer
    if lexer.at(Token.LITERAL_INT):
        value = lexer.integer(64)
        lexer.next_token(Token.COMMA)
        if wrap8(value) != value:
            raise JSONError(f"short overflow : {value}")
        return value
    if lexer.at(Token.LITERAL_FLOAT):
        number = lexer.decimal_value()
        lexer.next_token(Token.COMMA)
        return wrap8(decimal_as_int(number, 32))
    found = parser.parse()
    try:
        return cast_to_byte(found)
    except JavaError as error:
        raise JSONError(f"parseByte error, field : {field_name}") from error


PLAIN: Mapping[str, Callable[[Parser, Any], Any]] = {
    "String": _string, "int": _int, "Integer": _int, "long": _long, "Long": _long, "AtomicLong": _long,
    "boolean": _boolean, "double": _double, "byte": _byte,
}
"""What reads a value of a type, by the name of the type."""


def read_enum(parser: Parser, kind: str) -> str | None:
    """EnumDeserializer#deserialze."""
    name, constants = ENUMS[kind]
    lexer = parser.lexer
    if lexer.at(Token.LITERAL_INT):
        ordinal = lexer.integer(32)
        lexer.next_token(Token.COMMA)
        if not 0 <= ordinal < len(constants):
            raise JSONError(f"parse enum {name} error, value : {ordinal}")
        return constants[ordinal]
    if lexer.at(Token.LITERAL_STRING):
        text = lexer.string_val()
        lexer.next_token(Token.COMMA)
        return constant(kind, text)
    if lexer.at(Token.NULL):
        lexer.next_token(Token.COMMA)
        return None
    raise JSONError(f"parse enum {name} error, value : {to_text(parser.parse()) or 'null'}")


def constant(kind: str, text: str) -> str | None:
    """EnumDeserializer#getEnumByHashCode: a constant by its name, whose case does not matter; None: there is none."""
    return next((one for one in ENUMS[kind][1] if one.lower() == text.lower()), None)
