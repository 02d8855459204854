"""What reads a bean whose fields stand in the order of their names (the readers that ASMDeserializerFactory generates).

Each field is read in one go. Where that fails `slow_beans` goes on from there, and what was read stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from impl.common.fastjson.beans import BEANS, Bean, BeanField
from impl.common.fastjson.fast_fields import fast_scan
from impl.common.fastjson.field_scans import END, NOT_MATCH, match_field
from impl.common.fastjson.lists_and_maps import add_item, is_other_map
from impl.common.fastjson.parser import Parser
from impl.common.fastjson.slow_beans import read_slowly
from impl.common.fastjson.tokens import Token
from impl.common.fastjson.types import JavaType
from impl.decisions.java_errors import ClassCastError


class _Reset(Exception):  # noqa: N818  a jump, not an error
    """The label `reset_` of the generated code."""


def read_bean(parser: Parser, kind: JavaType, field_name: Any) -> Bean | None:
    """ASMDeserializerFactory#_deserialze: the fields in order, as long as they come so."""
    instance = BEANS[kind.name].new(parser.now_ms)
    flags: set[str] = set()
    state = _Fast(parser, instance, flags)
    try:
        state.run()
    except _Reset:
        return read_slowly(parser, field_name, instance, flags)
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
        self._instance.put(field, value)

    def _scanned(self, field: BeanField, scan: Callable[..., Any], *, last: bool) -> bool:
        """Whether the object is over."""
        value = scan(self._lexer, f'"{field.name}":')
        stat = self._lexer.match_stat
        if stat > 0:
            self._set(field, value)
            self._matched += 1
        if stat == NOT_MATCH or (last and stat != END):
            raise _Reset
        return stat == END

    def _object(self, field: BeanField) -> None:
        """ASMDeserializerFactory#_deserialze_obj and #_deserialze_list_obj."""
        if not match_field(self._lexer, f'"{field.name}":'):
            return
        if field.type.is_collection:
            self._list(field)
            return
        self._matched += 1
        value = self._parser.deserialize(field.type, field.name)
        if is_other_map(field, value):
            wanted = f"java.util.{'concurrent.' * (field.type.name == 'ConcurrentMap')}{field.type.name}"
            raise ClassCastError(
                f"class com.alibaba.fastjson.JSONObject cannot be cast to class {wanted} (com.alibaba.fastjson."
                f"JSONObject is in unnamed module of loader 'app'; {wanted} is in module java.base of loader "
                "'bootstrap')")
        self._set(field, value)

    def _list(self, field: BeanField) -> None:
        lexer, (item,) = self._lexer, field.type.arguments
        self._flags.add(field.name)
        self._instance.values[field.name] = None
        if lexer.at(Token.NULL):
            lexer.next_token(Token.COMMA)
            return
        if lexer.at(Token.SET):
            if field.type.name == "List":
                raise ClassCastError(
                    "class java.util.HashSet cannot be cast to class java.util.List (java.util.HashSet and java.util."
                    "List are in module java.base of loader 'bootstrap')")
            lexer.next_token(Token.LBRACKET)
        elif not lexer.at(Token.LBRACKET, Token.LBRACE):
            raise _Reset
        found: list[Any] = []
        self._instance.values[field.name] = found
        if lexer.at(Token.LBRACE):
            add_item(field.type, found, self._parser.deserialize(item, 0))
            return
        self._next_item()
        place = 0
        while not lexer.at(Token.RBRACKET):
            add_item(field.type, found, self._parser.deserialize(item, place))
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
