"""What reads a bean field by field as they come (JavaBeanDeserializer)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impl.common.fastjson.beans import Bean, BeanField
from impl.common.fastjson.characters import JSONError
from impl.common.fastjson.fast_fields import fast_scan
from impl.common.fastjson.field_scans import END, NOT_MATCH_NAME, match_field
from impl.common.fastjson.lists_and_maps import fast_match, is_other_map
from impl.common.fastjson.parser import Parser
from impl.common.fastjson.tokens import Token

_MOST_MISSES = 16  # JavaBeanDeserializer: fields that may be absent before it stops to expect them in order


def read_slowly(parser: Parser, field_name: Any, instance: Bean, flags: set[str]) -> Bean | None:
    """JavaBeanDeserializer#deserialze with what the fast reading has made. flags -- the fields that have been set."""
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
    _Slow(parser, instance, flags).run()
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
    raise JSONError(f"syntax error, expect {{, actual {lexer.token.text}, pos {lexer.pos}{named}"
                    ", fastjson-version 1.2.76")


class _Slow:
    """The loop of JavaBeanDeserializer#deserialze.

    Constants are read as Java does once a field has its reader, which it gets when it is first read by its key.
    """

    def __init__(self, parser: Parser, instance: Bean, flags: set[str]) -> None:
        self._parser, self._lexer, self._class = parser, parser.lexer, instance.bean_class
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
                if not match_field(lexer, f'"{field.name}":'):
                    return True
                self._parse_field(field)
                return self._go_on()
            value = scan(lexer, f'"{field.name}":')
            if lexer.match_stat == NOT_MATCH_NAME:
                self._misses += 1
                return True
            if lexer.match_stat > 0:
                self._instance.put(field, value)
                self._flags.add(field.name)
                return lexer.match_stat != END and self._go_on()
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
            raise JSONError(f"syntax error, unexpect token {lexer.token.text}")
        return True

    def _parse_field(self, field: BeanField) -> None:
        """DefaultFieldDeserializer#parseField, ArrayListTypeFieldDeserializer#parseField."""
        if field.type.name == "List":
            self._instance.put(field, self._parsed_list(field))
        else:
            value = self._parser.deserialize(field.type, field.name)
            if is_other_map(field, value):
                raise JSONError(f"set property error, {self._class.name}#{field.name}")
            self._instance.put(field, value)

    def _parsed_list(self, field: BeanField) -> list[Any] | None:
        lexer, (item,) = self._lexer, field.type.arguments
        if lexer.at(Token.NULL) or (lexer.at(Token.LITERAL_STRING) and not lexer.string_val()):
            return None
        if not lexer.at(Token.LBRACKET):
            return [self._parser.deserialize(item, 0)]
        lexer.next_token(fast_match(item))
        found: list[Any] = []
        while self._parser.at_item():
            found.append(self._parser.deserialize(item, len(found)))
            if lexer.at(Token.COMMA):
                lexer.next_token(fast_match(item))
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
            return found if found is not None and found.type.name == "boolean" else None
        return found


def _lower(text: str) -> str:
    return "".join(chr(ord(one) + 32) if "A" <= one <= "Z" else one for one in text)
