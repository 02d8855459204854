"""Typed headers and ext fields: RemotingCommand#makeCustomHeaderToNet, #decodeCommandCustomHeader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from impl.common.headers.shape import SHAPES, Field, Shape
from impl.decisions.flags import TRANSACTION_COMMIT_TYPE, TRANSACTION_NOT_TYPE, TRANSACTION_ROLLBACK_TYPE
from impl.decisions.java_errors import JavaError, not_null
from impl.decisions.java_text import parse_boolean, parse_integer
from impl.remoting.remoting_command import ExtFields, RemotingCommandError

_BITS = {"Integer": 32, "int": 32, "Long": 64, "long": 64}


def make_custom_header_to_net(shape: Shape, values: Mapping[str, Any], ext_fields: ExtFields) -> None:
    """RemotingCommand#makeCustomHeaderToNet: a field that is null is left out. values -- by Java name."""
    for field in shape.fields:
        value = values.get(field.name)
        if value is not None:
            ext_fields.put(field.name, _text(value))


def _text(value: Any) -> str:
    """Object#toString."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def decode_custom_header(shape: Shape, ext_fields: ExtFields | None) -> dict[str, Any]:
    """RemotingCommand#decodeCommandCustomHeader: the fields by Java name; raises what checkFields throws.

    A field that is missing, or that cannot be read, stays what it is in a new object: nobody looks at @CFNotNull.
    """
    found = {field.name: field.initial for field in shape.fields}
    if ext_fields is None:
        return found
    for field in shape.fields:
        text = ext_fields.get(field.name)
        if text is not None:
            found[field.name] = _value(field, text)
    check = _CHECKS.get(shape.name)
    if check is not None:
        check(found)
    return found


def _value(field: Field, text: str) -> Any:
    try:
        if field.type in _BITS:
            return parse_integer(text, _BITS[field.type])
    except JavaError:
        return field.initial
    if field.type in {"Boolean", "boolean"}:
        return parse_boolean(text)
    return text if field.type == "String" else None  # another type is not supported


def _check_end_transaction(values: Mapping[str, Any]) -> None:
    """EndTransactionRequestHeader#checkFields."""
    if not_null(values["commitOrRollback"]) != TRANSACTION_NOT_TYPE:
        _check_outcome(values)


def _check_outcome(values: Mapping[str, Any]) -> None:
    """CheckTransactionStateResponseHeader#checkFields."""
    if not_null(values["commitOrRollback"]) not in {TRANSACTION_COMMIT_TYPE, TRANSACTION_ROLLBACK_TYPE}:
        raise RemotingCommandError("commitOrRollback field wrong")


def _check_topic(values: Mapping[str, Any]) -> None:
    """CreateTopicRequestHeader#checkFields."""
    name = values["topicFilterType"]
    if name not in {"SINGLE_TAG", "MULTI_TAG"}:
        raise RemotingCommandError(f"topicFilterType = [{'null' if name is None else name}] value invalid")


_CHECKS: Mapping[str, Callable[[Mapping[str, Any]], None]] = {
    "EndTransactionRequestHeader": _check_end_transaction,
    "CheckTransactionStateResponseHeader": _check_outcome,
    "CreateTopicRequestHeader": _check_topic,
}


def typed_header(name: str, ext_fields: ExtFields | None) -> Any:
    """The Python header for ext fields; name -- of the Java class, below common.protocol.header. Raises JavaError."""
    shape = SHAPES[name]
    values = decode_custom_header(shape, ext_fields)
    python = not_null(shape.python)
    defaults: Mapping[str, Any] = getattr(python, "_field_defaults", {})
    arguments = {field.attribute: values[field.name] for field in shape.fields}
    for field in shape.beside:
        text = None if ext_fields is None else ext_fields.get(field.name)
        if text is not None:
            arguments[field.attribute] = text == "true" if defaults[field.attribute] in {True, False} else text
    return python(**arguments)


def put_typed_header(name: str, header: Any, ext_fields: ExtFields) -> None:
    """Ext fields of a Python header; those beside it come first, as 4.9.3 puts them."""
    shape = SHAPES[name]
    for field in shape.beside:
        value = getattr(header, field.attribute)
        if value is not None:
            ext_fields.put(field.name, _text(value))
    values = {field.name: getattr(header, field.attribute) for field in shape.fields}
    make_custom_header_to_net(shape, values, ext_fields)


def check_send_header_v2(ext_fields: ExtFields | None) -> None:
    """AbstractSendMessageProcessor#decodeSendMessageHeaderV2, which reads the fields of a send by hand.

    Raises what it throws: what is @CFNotNull has to be there, and every number has to be one.
    """
    if ext_fields is None:
        raise RemotingCommandError("the ext fields is null")
    for field in SHAPES["SendMessageRequestHeaderV2"].fields:
        text = ext_fields.get(field.name)
        if text is None and field.annotation == "CFNotNull":
            raise RemotingCommandError(f"the custom field <{field.name}> is null")
        if text is not None and field.type in _BITS:
            parse_integer(text, _BITS[field.type])
