"""Recordings of what goes over connections: headers as ext fields, frames, JSON bodies, registrations."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from impl.common import bodies  # noqa: F401  declares the classes
from impl.common.fastjson.beans import BEANS, Bean
from impl.common.fastjson.deserializers import from_json
from impl.common.fastjson.serializer import to_json
from impl.common.fastjson.types import JavaType
from impl.common.headers.shape import SHAPES, Shape
from impl.decisions.java_text import utf8_bytes, utf8_text
from impl.hash_map import ConcurrentHashMap, HashMap
from impl.remoting.custom_headers import decode_custom_header, make_custom_header_to_net
from impl.remoting.register_broker_body import (
    decode_register_broker_body,
    decode_topic_config,
    encode_register_broker_body,
    encode_topic_config,
    inflated_body,
)
from impl.remoting.remoting_command import (
    ExtFields,
    RemotingCommand,
    decode,
    encode,
    encode_header,
    json_header,
)
from stateful_tests.conformance.adapters.comparison import compare, difference
from stateful_tests.conformance.replay import Adapter, Row

RECORDED_T0 = 1_700_000_000_000  # of the recordings with a controlled clock
RECORDED_NOW = 1  # how the recorder shows a field that has the time at which its object was made
LOCAL = "local"  # an opaque that the decoder took from its own counter
_PACKAGE = "common.protocol.header."

# Headers --------------------------------------------------------------------------------------------------------------


def custom_headers(row: Row) -> str | None:
    """The shape of a class, a header to ext fields, or ext fields to a header."""
    if "shape" in row:
        shape = SHAPES[row["shape"].removeprefix(_PACKAGE)]
        return difference(row["fields"], [[field.name, field.type, field.annotation] for field in shape.fields])
    shape = SHAPES[row["a"]["class"].removeprefix(_PACKAGE)]
    if "fields" in row["a"]:
        return compare(row, lambda: _ext(shape, row["a"]["fields"]))
    return compare(row, lambda: decode_custom_header(shape, _ext_fields(row["a"]["ext"])))


def _ext(shape: Shape, values: Mapping[str, Any]) -> dict[str | None, str | None]:
    fields = ExtFields()
    make_custom_header_to_net(shape, values, fields)
    return dict(fields.entries())


def _ext_fields(recorded: Mapping[str, str] | list[list[str]] | None) -> ExtFields | None:
    if recorded is None:
        return None
    fields = ExtFields()
    for key, value in recorded.items() if isinstance(recorded, Mapping) else recorded:
        fields.put(key, value)
    return fields


_PRIMITIVE = frozenset({"sysFlag", "reconsumeTimes", "queueId"})


def send_header_v2(row: Row) -> str | None:
    """The long header, the short one, its ext fields, and the long one again."""
    long, short = SHAPES["SendMessageRequestHeader"], SHAPES["SendMessageRequestHeaderV2"]
    letters = {field.attribute: field.name for field in short.fields}
    names = {field.name: letters[field.attribute] for field in long.fields}
    values = {letter: row["a"][name] for name, letter in names.items()}
    differences = (
        compare(row["v2"], lambda: values, "v2"),
        difference(row["ext"], _ext(short, values), "ext") if "ext" in row else None,
        compare(row["back"], lambda: _long_again(short, names, values), "back") if "back" in row else None,
    )
    return next((one for one in differences if one is not None), None)


def _long_again(short: Shape, names: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, Any]:
    fields = ExtFields()
    make_custom_header_to_net(short, values, fields)
    read = decode_custom_header(short, fields)
    return {name: read[letter] for name, letter in names.items()}


# Frames ---------------------------------------------------------------------------------------------------------------


def frames(row: Row) -> str | None:
    """A command to a frame, and the frame decoded again."""
    fields = row["a"]
    command = RemotingCommand(
        fields["code"], fields["language"], fields["version"], fields["opaque"], fields["flag"], fields["remark"],
        _ext_fields(fields["ext"]), fields["type"], None if fields["body"] is None else bytes.fromhex(fields["body"]))
    checks: Mapping[str, Callable[[], Any]] = {
        "enc": lambda: encode(command).hex(),
        "encHeader": lambda: encode_header(command).hex(),
        "dec": lambda: _shown_frame(decode(bytes.fromhex(row["enc"]["r"])[4:], lambda: 0)),
    }
    differences = [compare(row[name], check, name) for name, check in checks.items() if name in row]
    if "header" in row:
        differences.append(difference(row["header"], utf8_text(utf8_bytes(json_header(command))), "header"))
    return next((one for one in differences if one is not None), None)


def _shown_frame(command: RemotingCommand) -> dict[str, Any]:
    return {
        "code": command.code, "language": command.language, "version": command.version,
        "opaque": LOCAL if command.opaque < _LOCAL else command.opaque, "flag": command.flag,
        "remark": command.remark,
        "ext": None if command.ext_fields is None else _named(command.ext_fields),
        "type": command.serialize_type, "body": None if command.body is None else command.body.hex(),
        "response": command.is_response, "oneway": command.oneway,
    }


def _named(fields: ExtFields) -> dict[str, str | None]:
    """As rows show them: a key that is null has the name null."""
    return {"null" if key is None else key: value for key, value in fields.entries()}


_LOCAL = -(1 << 31)  # no frame has such an opaque


def frames_odd(row: Row) -> str | None:
    """Bytes that somebody sends."""
    return compare(row, lambda: _shown_frame(decode(_odd_bytes(row["a"]), lambda: _LOCAL - 1)))


def _odd_bytes(fields: Mapping[str, Any]) -> bytes:
    if "hex" in fields:
        return bytes.fromhex(fields["hex"])
    header = utf8_bytes(fields["header"])
    return bytes([fields["type"]]) + len(header).to_bytes(3, "big") + header + bytes.fromhex(fields["body"])


# Bodies ---------------------------------------------------------------------------------------------------------------


def json_bodies(row: Row) -> str | None:
    """An object to JSON, plain and on lines, and back."""
    name = row["a"]["class"].rpartition(".")[2]
    value = _value(row["a"]["fields"], JavaType(name))
    checks: Mapping[str, Callable[[], Any]] = {
        "json": lambda: to_json(value),
        "pretty": lambda: to_json(value, pretty=True),
        "back": lambda: _shown(from_json(row["json"]["r"], name, RECORDED_T0), JavaType(name)),
    }
    if not row["exact"]:
        checks = {"json": lambda: _sorted_json(row["json"]["r"], to_json(value)), "back": checks["back"]}
    differences = [compare(row[key], check, key) for key, check in checks.items() if key in row]
    return next((one for one in differences if one is not None), None)


def _sorted_json(recorded: str, written: str) -> str:
    """The recorded text if both have the same characters: a map of the recording may have another order."""
    return recorded if sorted(recorded) == sorted(written) else written


def _value(shown: Any, kind: JavaType) -> Any:
    """A recorded value as our objects hold it. A HashMap is in its recorded order; of others that was not recorded."""
    if shown is None:
        return None
    if kind.name in BEANS:
        fields = BEANS[kind.name].fields
        return Bean(BEANS[kind.name], {field.name: _value(shown[field.name], field.type) for field in fields})
    if kind.is_map:
        pairs = [(_value(key, kind.arguments[0]), _value(one, kind.arguments[1])) for key, one in shown["map"]]
        return ConcurrentHashMap(None, pairs) if kind.name == "ConcurrentMap" else _InOrder(pairs)
    if kind.is_collection:
        return [_value(one, kind.arguments[0]) for one in shown]
    return shown


class _InOrder(HashMap[Any, Any]):
    """A map with a given order of iteration."""

    __slots__ = ("_given",)

    def __init__(self, given: list[tuple[Any, Any]]) -> None:
        super().__init__()
        self._given = given

    def entries(self) -> tuple[tuple[Any, Any], ...]:
        return tuple(self._given)

    def values(self) -> tuple[Any, ...]:
        return tuple(value for _, value in self._given)

    def __len__(self) -> int:
        return len(self._given)


def json_decode_odd(row: Row) -> str | None:
    """A text that somebody sends."""
    name = row["a"]["class"].rpartition(".")[2]
    return compare(row, lambda: _shown(from_json(row["a"]["text"], name, RECORDED_NOW), JavaType(name)))


def _shown(value: Any, kind: JavaType | None) -> Any:
    """As rows show values: maps by key and sets in the order of their texts."""
    if isinstance(value, Bean):
        return {field.name: _shown(value.values[field.name], field.type) for field in value.bean_class.fields}
    if isinstance(value, HashMap):
        item = kind.arguments[1] if kind is not None and kind.is_map else None
        return {"map": sorted(([_shown(key, None), _shown(one, item)] for key, one in value.entries()),
                              key=lambda pair: _text(pair[0]))}
    if isinstance(value, list):
        item = kind.arguments[0] if kind is not None and kind.is_collection else None
        found = [_shown(one, item) for one in value]
        return found if kind is None or kind.name == "List" else sorted(found, key=_text)
    return value


_text = json.JSONEncoder(separators=(",", ":")).encode


def register_broker_body(row: Row) -> str | None:
    """A registration in both forms, or a topic as a line of text."""
    if "topic" in row:
        return _topic(row)
    if "decodeText" in row:
        return _decoded_text(row)
    kind = JavaType("RegisterBrokerBody")
    body = _value(row["a"], kind)
    text = utf8_text(encode_register_broker_body(body, compress=False))
    checks: Mapping[str, Callable[[], Any]] = {
        "plain": lambda: text if row["exact"] else _sorted_json(row["plain"]["r"], text),
        "inflated": lambda: inflated_body(body).hex() if row["exact"] else _same_parts(
            row["inflated"]["r"], inflated_body(body).hex()),
        "compressed": lambda: _deflated_like(row["compressed"], body, exact=row["exact"]),
        "back": lambda: _shown(decode_register_broker_body(
            bytes.fromhex(row["compressed"]["r"]), compressed=True, now_ms=RECORDED_NOW), kind),
        "backPlain": lambda: _shown(decode_register_broker_body(
            utf8_bytes(row["plain"]["r"]), compressed=False, now_ms=RECORDED_NOW), kind),
    }
    differences = [compare(row[key], check, key) for key, check in checks.items() if key in row]
    return next((one for one in differences if one is not None), None)


def _same_parts(recorded: str, written: str) -> str:
    """The recorded bytes if ours are the same in another order."""
    same = sorted(bytes.fromhex(recorded)) == sorted(bytes.fromhex(written))
    return recorded if same else written


def _deflated_like(recorded: Mapping[str, Any], body: Bean, *, exact: bool) -> str:
    """The recorded bytes if what they inflate to is what we deflate: versions of zlib differ."""
    deflated, found = inflated_body(body), recorded.get("r")
    if found is not None and (not exact or zlib.decompress(bytes.fromhex(found)) == deflated):
        return str(found)
    return zlib.compress(deflated, 9).hex()


def _topic(row: Row) -> str | None:
    config = _value(row["topic"], JavaType("TopicConfig"))
    differences = (
        compare(row["text"], lambda: encode_topic_config(config), "text"),
        compare(row["back"], lambda: _decoded_topic(row["text"]["r"]), "back") if "back" in row else None,
    )
    return next((one for one in differences if one is not None), None)


def _decoded_text(row: Row) -> str | None:
    config = BEANS["TopicConfig"].new(RECORDED_NOW)
    found = compare(row, lambda: decode_topic_config(row["decodeText"], config))
    return found or difference(row["back"], _shown(config, None), "back")


def _decoded_topic(text: str) -> list[Any]:
    config = BEANS["TopicConfig"].new(RECORDED_NOW)
    return [decode_topic_config(text, config), _shown(config, None)]


ADAPTERS: dict[str, Adapter] = {
    "custom-headers": custom_headers,
    "frames": frames,
    "frames-odd": frames_odd,
    "json-bodies": json_bodies,
    "json-decode-odd": json_decode_odd,
    "register-broker-body": register_broker_body,
    "send-header-v2": send_header_v2,
}
