"""What reads a value of a type: ASMDeserializerFactory's readers of beans, and those of maps, lists and plain values.

A bean is read twice over: `_fast` expects the fields in the order of their names and reads each in one go; where that
fails `slow` goes on from there, field by field as they come (JavaBeanDeserializer#deserialze). What was read stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from impl.common.fastjson import fast_fields as fast
from impl.common.fastjson.beans import BEANS, ENUMS, Bean, BeanClass, BeanField, new_map
from impl.common.fastjson.casts import cast_to_boolean, cast_to_int, cast_to_long, decimal_as_int, to_text
from impl.common.fastjson.lexer import JSONError
from impl.common.fastjson.parser import Parser
from impl.common.fastjson.tokens import Token
from impl.common.fastjson.types import JavaType
from impl.decisions.java_errors import JavaError, NullPointerError
from impl.hash_map import HashMap

_MOST_MISSES = 16  # JavaBeanDeserializer: fields that may be absent before it stops to expect them in order
_PRIMITIVE = frozenset({"int", "long", "boolean", "double"})

FAST: Mapping[str, Callable[..., Any]] = {
    "int": fast.scan_field_int, "long": fast.scan_field_long, "boolean": fast.scan_field_boolean,
    "double": fast.scan_field_double, "String": fast.scan_field_string,
}


def from_json(text: str, name: str, now_ms: int) -> Any:
    """JSON#parseObject: an object of the bean class of that simple name, or None. Raises JSONError.

    now_ms -- the time: fields that begin with it have it where the text does not name them.
    """
    if not text:
        return None
    parser = Parser(text, now_ms)
    try:
        value = parse_object(parser, JavaType(name), None)
    except RecursionError as error:  # as Java's StackOverflowError, which has no message
        raise JSONError from error
    if not parser.lexer.at(Token.EOF):
        raise JSONError(f"not close json text, token : {_name(parser)}")
    return value


def strings_from_json(text: str) -> list[Any] | None:
    """JSON#parseArray(String, String.class); raises JSONError."""
    parser = Parser(text, 0)
    if parser.lexer.at(Token.NULL):
        parser.lexer.next_token()
        found = None
    elif parser.lexer.at(Token.EOF) and parser.lexer.is_blank_input():
        found = None
    else:
        found = _collection(parser, JavaType("List", (JavaType("String"),)), None)
    if not parser.lexer.at(Token.EOF):
        raise JSONError(f"not close json text, token : {_name(parser)}")
    return found


def _name(parser: Parser) -> str:
    return parser.lexer.token.text if parser.lexer.token is not None else "Unknown"


def parse_object(parser: Parser, kind: JavaType, field_name: Any) -> Any:
    """DefaultJSONParser#parseObject(Type, Object): whatever is thrown becomes a JSONException."""
    if parser.lexer.at(Token.NULL):
        parser.lexer.next_token()
        return None
    try:
        return deserialize(parser, kind, field_name)
    except JSONError:
        raise
    except JavaError as error:
        raise JSONError(error.message) from error


def deserialize(parser: Parser, kind: JavaType, field_name: Any) -> Any:
    """ObjectDeserializer#deserialze of the deserializer of a type."""
    if kind.name in BEANS:
        return _fast(parser, BEANS[kind.name], field_name)
    if kind.name in ENUMS:
        return _enum(parser, kind.name)
    if kind.is_map:
        return _map(parser, kind, field_name)
    if kind.is_collection:
        return _collection(parser, kind, field_name)
    return _PLAIN[kind.name](parser, field_name)


# Plain values ---------------------------------------------------------------------------------------------------------


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
        elif lexer.at(Token.LBRACE):
            value = cast(parser.parse_json_object())
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
        return float(text)
    value = parser.parse()
    if value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise JSONError(f"parseDouble error, field : {field_name}") from error


def _bytes(parser: Parser, field_name: Any) -> Any:  # noqa: ARG001  as all of them
    """ObjectArrayCodec#deserialze: nobody looks at the body that stands in a header."""
    return parser.parse()


_PLAIN: Mapping[str, Callable[[Parser, Any], Any]] = {
    "String": _string, "int": _int, "Integer": _int, "long": _long, "Long": _long, "AtomicLong": _long,
    "boolean": _boolean, "Boolean": _boolean, "double": _double, "byte[]": _bytes,
}


def _enum(parser: Parser, kind: str) -> str | None:
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


# Collections and maps -------------------------------------------------------------------------------------------------


def _collection(parser: Parser, kind: JavaType, field_name: Any) -> list[Any] | None:
    """CollectionCodec#deserialze and DefaultJSONParser#parseArray(Type, Collection, Object)."""
    lexer = parser.lexer
    if lexer.at(Token.NULL):
        lexer.next_token(Token.COMMA)
        return None
    if lexer.at(Token.SET, Token.TREE_SET):
        lexer.next_token()
    if not lexer.at(Token.LBRACKET):
        raise JSONError(f"field {field_name} expect '[', but {_name(parser)}, {lexer.info()}")
    (item,) = kind.arguments
    lexer.next_token(Token.LITERAL_STRING if item.name == "String" else _fast_match(item))
    found: list[Any] = []
    while _at_item(parser):
        _add(kind, found, _item(parser, item, len(found)))
        if lexer.at(Token.COMMA):
            lexer.next_token(_fast_match(item))
    lexer.next_token(Token.COMMA)
    return found


def _at_item(parser: Parser) -> bool:
    while parser.lexer.at(Token.COMMA):
        parser.lexer.next_token()
    return not parser.lexer.at(Token.RBRACKET)


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
    return deserialize(parser, item, place)


def _add(kind: JavaType, found: list[Any], value: Any) -> None:
    """Collection#add: a set takes nothing twice."""
    if kind.name == "List" or value not in found:
        found.append(value)


def _fast_match(kind: JavaType) -> Token:
    """ObjectDeserializer#getFastMatchToken."""
    if kind.name in BEANS or kind.is_map:
        return Token.LBRACE
    if kind.is_collection:
        return Token.LBRACKET
    return Token.LITERAL_STRING if kind.name == "String" else Token.LITERAL_INT


def _map(parser: Parser, kind: JavaType, field_name: Any) -> HashMap[Any, Any] | None:
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
        lexer.skip_whitespace()
        while lexer.ch == ",":
            lexer.next()
            lexer.skip_whitespace()
        if lexer.ch == "}":
            lexer.next()
            lexer.next_token(Token.COMMA)
            return found
        key = parser.map_key()
        lexer.next()
        lexer.skip_whitespace()
        lexer.next_token()
        _put(kind, found, key, parse_object(parser, value, key))
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
    message = f"syntax error, expect {{, actual {_name(parser)}{named}, {lexer.info()}"
    if not text:
        items = parser.parse_array(field_name)
        if len(items) == 1 and isinstance(items[0], HashMap):
            return items[0]
    raise JSONError(message)


def _any_map(parser: Parser, kind: JavaType, key_kind: JavaType, value_kind: JavaType) -> HashMap[Any, Any]:
    """MapDeserializer#parseMap with keys of any type."""
    lexer = parser.lexer
    if not lexer.at(Token.LBRACE, Token.COMMA):
        raise JSONError(f"syntax error, expect {{, actual {_name(parser)}")
    lexer.next_token(_fast_match(key_kind))
    found = new_map(kind)
    while not lexer.at(Token.RBRACE):
        key = _key(parser, key_kind)
        if not lexer.at(Token.COLON):
            raise JSONError(f"syntax error, expect :, actual {int(lexer.token or 0)}")
        lexer.next_token(_fast_match(value_kind))
        _put(kind, found, key, deserialize(parser, value_kind, key))
        if lexer.at(Token.COMMA):
            lexer.next_token(_fast_match(key_kind))
    lexer.next_token(Token.COMMA)
    return found


def _key(parser: Parser, kind: JavaType) -> Any:
    lexer = parser.lexer
    if lexer.at(Token.LITERAL_STRING) and kind.name in BEANS:
        text = lexer.string_val()
        lexer.next_token()
        return deserialize(Parser(text, parser.now_ms), kind, None)
    return deserialize(parser, kind, None)


# Beans ----------------------------------------------------------------------------------------------------------------


class _Reset(Exception):  # noqa: N818  a jump, not an error
    """The label `reset_` of the generated code."""


def _fast(parser: Parser, bean_class: BeanClass, field_name: Any) -> Bean | None:
    """ASMDeserializerFactory#_deserialze: the fields in order, as long as they come so."""
    instance = bean_class.new(parser.now_ms)
    flags: set[str] = set()
    state = _Fast(parser, instance, flags)
    try:
        state.run()
    except _Reset:
        return slow(parser, bean_class, field_name, instance, flags)
    return instance


class _Fast:
    """One run of the generated code. flags -- the fields that have been set."""

    def __init__(self, parser: Parser, instance: Bean, flags: set[str]) -> None:
        self._parser, self._lexer, self._instance, self._flags = parser, parser.lexer, instance, flags
        self._matched = 0

    def run(self) -> None:
        """Raises _Reset where the slow reading has to go on."""
        fields = self._instance.bean_class.fields
        for place, field in enumerate(fields):
            last = place == len(fields) - 1
            scan = fast_scan(field)
            if scan is None:
                self._object(field)
                if last:
                    self._end_check()
            elif self._scanned(field, scan, last=last):
                return

    def _set(self, field: BeanField, value: Any) -> None:
        self._flags.add(field.name)
        if value is not None or field.type.name not in _PRIMITIVE:
            self._instance.values[field.name] = value

    def _scanned(self, field: BeanField, scan: Callable[..., Any], *, last: bool) -> bool:
        """Whether the object is over."""
        value = scan(self._lexer, f'"{field.name}":')
        stat = self._lexer.match_stat
        if stat > 0:
            self._set(field, value)
            self._matched += 1
        if stat == fast.NOT_MATCH or (last and stat != fast.END):
            raise _Reset
        return stat == fast.END

    def _object(self, field: BeanField) -> None:
        """ASMDeserializerFactory#_deserialze_obj and #_deserialze_list_obj."""
        if not fast.match_field(self._lexer, f'"{field.name}":'):
            return
        if field.type.is_collection:
            self._list(field)
            return
        self._matched += 1
        value = deserialize(self._parser, field.type, field.name)
        self._set(field, value)

    def _list(self, field: BeanField) -> None:
        lexer, (item,) = self._lexer, field.type.arguments
        self._flags.add(field.name)
        self._instance.values[field.name] = None
        if lexer.at(Token.NULL):
            lexer.next_token(Token.COMMA)
            return
        if lexer.at(Token.SET):
            lexer.next_token(Token.LBRACKET)
        elif not lexer.at(Token.LBRACKET, Token.LBRACE):
            raise _Reset
        found: list[Any] = []
        self._instance.values[field.name] = found
        if lexer.at(Token.LBRACE):
            _add(field.type, found, deserialize(self._parser, item, 0))
            return
        self._next_item()
        place = 0
        while not lexer.at(Token.RBRACKET):
            _add(field.type, found, deserialize(self._parser, item, place))
            place += 1
            if lexer.at(Token.COMMA):
                self._next_item()
        self._next_comma()

    def _next_item(self) -> None:
        """ASMDeserializerFactory#_quickNextToken."""
        self._quick({"{": Token.LBRACE}, Token.LBRACE)

    def _next_comma(self) -> None:
        """ASMDeserializerFactory#_quickNextTokenComma."""
        if self._lexer.ch == "\x1a":
            self._lexer.token = Token.EOF
        else:
            self._quick({",": Token.COMMA, "}": Token.RBRACE, "]": Token.RBRACKET}, None)

    def _quick(self, expected: Mapping[str, Token], otherwise: Token | None) -> None:
        token = expected.get(self._lexer.ch)
        if token is None:
            self._lexer.next_token(otherwise)
        else:
            self._lexer.next()
            self._lexer.token = token

    def _end_check(self) -> None:
        if self._matched <= 0 or not self._lexer.at(Token.RBRACE):
            raise _Reset
        self._next_comma()


def fast_scan(field: BeanField) -> Callable[..., Any] | None:
    """How a field of this type is read in one go; None: its value is read by a deserializer."""
    if field.type.is_collection:
        return fast.scan_field_strings if field.type.arguments[0].name == "String" else None
    if field.type.name in ENUMS:
        return lambda lexer, name: _scanned_enum(field, fast.scan_field_enum(lexer, name))
    return FAST.get(field.type.name)


def _scanned_enum(field: BeanField, text: str | None) -> str | None:
    return None if text is None else constant(field.type.name, text)


def slow(
    parser: Parser, bean_class: BeanClass, field_name: Any, instance: Bean, flags: set[str],
) -> Bean | None:
    """JavaBeanDeserializer#deserialze with what the fast reading has made."""
    lexer = parser.lexer
    if lexer.at(Token.NULL):
        lexer.next_token(Token.COMMA)
        return None
    if lexer.at(Token.RBRACE):
        lexer.next_token(Token.COMMA)
        return instance
    if not lexer.at(Token.LBRACE, Token.COMMA):
        _no_bean(parser, field_name)
        return None
    _Slow(parser, bean_class, instance, flags).run()
    return instance


def _no_bean(parser: Parser, field_name: Any) -> None:
    lexer = parser.lexer
    if lexer.is_blank_input():
        lexer.token = Token.EOF
        return
    if lexer.at(Token.LITERAL_STRING) and not lexer.string_val():
        lexer.next_token()
        return
    if lexer.at(Token.LBRACKET) and lexer.ch == "]":
        lexer.next()
        lexer.next_token()
        return
    named = f", fieldName {field_name}" if isinstance(field_name, str) else ""
    raise JSONError(f"syntax error, expect {{, actual {_name(parser)}, pos {lexer.pos}{named}"
                    ", fastjson-version 1.2.76")


class _Slow:
    """The loop of JavaBeanDeserializer#deserialze."""

    def __init__(self, parser: Parser, bean_class: BeanClass, instance: Bean, flags: set[str]) -> None:
        self._parser, self._lexer, self._class = parser, parser.lexer, bean_class
        self._instance, self._flags = instance, flags
        self._misses = 0

    def run(self) -> None:
        """Read fields until the object is over."""
        place = 0
        while self._field(place):
            place += 1

    def _field(self, place: int) -> bool:
        """One round of the loop; False ends it."""
        lexer, fields = self._lexer, self._class.fields
        if place < len(fields) and self._misses < _MOST_MISSES:
            field = fields[place]
            scan = None if field.type.is_collection else fast_scan(field)
            if scan is None:
                if not fast.match_field(lexer, f'"{field.name}":'):
                    return True
                self._parse_field(field)
                return self._go_on()
            value = scan(lexer, f'"{field.name}":')
            if lexer.match_stat == fast.NOT_MATCH_NAME:
                self._misses += 1
                return True
            if lexer.match_stat > 0:
                self._set(field, value)
                self._flags.add(field.name)
                return lexer.match_stat != fast.END and self._go_on()
        return self._named_field()

    def _named_field(self) -> bool:
        lexer = self._lexer
        key = lexer.scan_key()
        if key is None:
            if lexer.at(Token.RBRACE):
                lexer.next_token(Token.COMMA)
                return False
            if lexer.at(Token.COMMA):
                return True
        if key == "@type":
            return self._type_name()
        field = self._smart_match(key)
        if field is None:
            lexer.next_token_with_colon()
            self._parser.parse()
            if lexer.at(Token.RBRACE):
                lexer.next_token()
                return False
            return True
        lexer.next_token_with_colon()
        self._parse_field(field)
        self._flags.add(field.name)
        if lexer.at(Token.COLON):
            raise JSONError("syntax error, unexpect token ':'")
        return self._go_on()

    def _type_name(self) -> bool:
        lexer = self._lexer
        lexer.next_token_with_colon()
        if not lexer.at(Token.LITERAL_STRING):
            raise JSONError("syntax error")
        name = lexer.string_val()
        lexer.next_token(Token.COMMA)
        if name not in {self._class.name, "java.util.HashMap", "java.util.LinkedHashMap"}:
            raise JSONError(f"autoType is not support. {name}")
        if lexer.at(Token.RBRACE):
            lexer.next_token()
            return False
        return True

    def _go_on(self) -> bool:
        lexer = self._lexer
        if lexer.at(Token.COMMA):
            return True
        if lexer.at(Token.RBRACE):
            lexer.next_token(Token.COMMA)
            return False
        if lexer.at(Token.IDENTIFIER, Token.ERROR):
            raise JSONError(f"syntax error, unexpect token {_name(self._parser)}")
        return True

    def _set(self, field: BeanField, value: Any) -> None:
        if value is not None or field.type.name not in _PRIMITIVE:
            self._instance.values[field.name] = value

    def _parse_field(self, field: BeanField) -> None:
        """DefaultFieldDeserializer#parseField, ArrayListTypeFieldDeserializer#parseField."""
        if field.type.name == "List":
            self._set(field, self._parsed_list(field))
        else:
            self._set(field, deserialize(self._parser, field.type, field.name))

    def _parsed_list(self, field: BeanField) -> list[Any] | None:
        lexer, (item,) = self._lexer, field.type.arguments
        if lexer.at(Token.NULL) or (lexer.at(Token.LITERAL_STRING) and not lexer.string_val()):
            return None
        if not lexer.at(Token.LBRACKET):
            return [deserialize(self._parser, item, 0)]
        lexer.next_token(_fast_match(item))
        found: list[Any] = []
        while _at_item(self._parser):
            found.append(deserialize(self._parser, item, len(found)))
            if lexer.at(Token.COMMA):
                lexer.next_token(_fast_match(item))
        lexer.next_token(Token.COMMA)
        return found

    def _smart_match(self, key: str | None) -> BeanField | None:
        """JavaBeanDeserializer#smartMatch: a field that is not set yet, whose name fits but for case, `_` and `-`."""
        if key is None:
            return None
        fields = {field.name: field for field in self._class.fields}
        found = fields.get(key) or self._alike(key, {name.lower(): field for name, field in fields.items()})
        return None if found is None or found.name in self._flags else found

    def _alike(self, key: str, lowered: Mapping[str, BeanField]) -> BeanField | None:
        plain = _lower(key)
        extracted = plain.replace("_", "").replace("-", "")
        found = lowered.get(plain) or lowered.get(extracted)
        if found is None and key.startswith("is"):
            found = lowered.get(extracted[2:])
            return found if found is not None and found.type.name in {"boolean", "Boolean"} else None
        return found


def _lower(text: str) -> str:
    return "".join(chr(ord(one) + 32) if "A" <= one <= "Z" else one for one in text)
