"""How a field is read in one go, by its type (JSONLexerBase#scanFieldInt and its kin)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from impl.common.fastjson.beans import ENUMS, BeanField
from impl.common.fastjson.lexer import Lexer
from impl.common.fastjson.plain_values import constant
from impl.common.fastjson.scan_numbers import scan_field_boolean, scan_field_double, scan_field_int, scan_field_long
from impl.common.fastjson.scan_texts import scan_field_enum, scan_field_string, scan_field_strings

_SCANS: Mapping[str, Callable[..., Any]] = {
    "int": scan_field_int, "long": scan_field_long, "boolean": scan_field_boolean, "double": scan_field_double,
    "String": scan_field_string,
}


def fast_scan(field: BeanField) -> Callable[..., Any] | None:
    """How a field of this type is read in one go; None: its value is read by a deserializer."""
    if field.type.is_collection:
        if field.type.arguments[0].name != "String":
            return None
        return scan_field_strings if field.type.name == "List" else _scan_field_string_set
    if field.type.name in ENUMS:
        return lambda lexer, name: _scanned_enum(field, scan_field_enum(lexer, name))
    return _SCANS.get(field.type.name)


def _scan_field_string_set(lexer: Lexer, name: str) -> list[str | None] | None:
    found = scan_field_strings(lexer, name)
    return None if found is None else list(dict.fromkeys(found))


def _scanned_enum(field: BeanField, text: str | None) -> str | None:
    return None if text is None else constant(field.type.name, text)
