"""JSON, SQL92 and frames, by the running JVM: each answers the arguments `a` of a row of a recording with its rest.

Only the worker imports this.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import jpype

import impl.common.bodies  # noqa: F401  declares the classes
from impl.common.fastjson.beans import BEANS, ENUMS
from impl.decisions.java_text import utf8_bytes
from stateful_tests.conformance.adapters.remoting import LOCAL, RECORDED_NOW
from stateful_tests.conformance.java.java_values import JavaValues, bound

_ROCKETMQ = "org.apache.rocketmq"
_OWN_FIELDS = frozenset({"random"})  # of the class, not of what it carries
_TIMES = frozenset({"timestamp", "subVersion"})  # that a new object has of its own
_SOON_MS = 60_000
_LOCAL_OPAQUE = 1 << 30


class Texts:
    """RocketMQ's classes that read and write texts and frames."""

    def __init__(self, values: JavaValues) -> None:
        """Bind the classes."""
        self._values = values
        self._serializable = jpype.JClass(f"{_ROCKETMQ}.remoting.protocol.RemotingSerializable")
        self._command = jpype.JClass(f"{_ROCKETMQ}.remoting.protocol.RemotingCommand")
        self._language = jpype.JClass(f"{_ROCKETMQ}.remoting.protocol.LanguageCode")
        self._serialize_type = jpype.JClass(f"{_ROCKETMQ}.remoting.protocol.SerializeType")
        self._buffer, self._bytes = jpype.JClass("java.nio.ByteBuffer"), jpype.JArray(jpype.JByte)
        self._map, self._map_class = jpype.JClass("java.util.HashMap"), jpype.JClass("java.util.Map")
        self._collection, self._set = jpype.JClass("java.util.Collection"), jpype.JClass("java.util.Set")
        self._concurrent_map = jpype.JClass("java.util.concurrent.ConcurrentMap")
        self._filter = jpype.JClass(f"{_ROCKETMQ}.filter.SqlFilter")()
        self._failed_filter = jpype.JClass(f"{_ROCKETMQ}.filter.expression.MQFilterException")
        self._context = jpype.JClass(f"{_ROCKETMQ}.broker.filter.MessageEvaluationContext")
        self._exact = self._hides_now = True
        self._read_each_constant_once()

    def _read_each_constant_once(self) -> None:
        """A field with a constant gets its reader when it is read by its key, and then JavaBeanDeserializer goes on."""
        for bean in BEANS.values():
            for field in bean.fields:
                if field.type.name in ENUMS:
                    self._read(bean.name.removeprefix(f"{_ROCKETMQ}."), f'{{"_{field.name}":null}}')

    def _plain(self, text: Any) -> Any:
        """A java.lang.String as a str, lone surrogates included."""
        return json.loads(self._values.written(text))

    def _text_map(self, pairs: Iterable[Sequence[str | None]] | None) -> Any:
        """A new HashMap of texts; null for None."""
        if pairs is None:
            return None
        made = self._map()
        for name, value in pairs:
            made.put(self._values.text(name), self._values.text(value))
        return made

    def _attempt(self, call: Callable[[], Any]) -> dict[str, Any]:
        """{r}, or {e, m} for what it throws."""
        try:
            return {"r": call()}
        except jpype.JException as error:
            name, message = self._values.error(error)
            return {"e": name, "m": message}

    # JSON -----------------------------------------------------------------------------------------------------------

    def json_decode_odd(self, argument: Mapping[str, Any]) -> dict[str, Any]:
        """RemotingSerializable#fromJson."""
        self._hides_now = True
        return {"r": self._shown(self._read(argument["class"], argument["text"]), ordered=False)}

    def json_bodies(self, argument: Mapping[str, Any]) -> dict[str, Any]:
        """RemotingSerializable#toJson of the object that a text makes, and #fromJson of what it has written."""
        self._exact, self._hides_now = True, False
        made = self._read(argument["class"], argument["text"])
        fields, text = self._shown(made, ordered=True), self._serializable.toJson(made, False)
        return {
            "a": {"class": argument["class"], "fields": fields}, "exact": self._exact, "json": {"r": self._plain(text)},
            "pretty": {"r": self._plain(self._serializable.toJson(made, True))},
            "back": self._attempt(lambda: self._shown(self._read(argument["class"], self._plain(text)), ordered=False)),
        }

    def _read(self, name: str, text: str) -> Any:
        return self._serializable.fromJson(self._values.text(text), jpype.JClass(f"{_ROCKETMQ}.{name}").class_)

    def _shown(self, value: Any, *, ordered: bool) -> Any:
        """As rows show objects. ordered -- maps and sets in their own order, but for ConcurrentMap; else by text."""
        if value is None:
            return None
        if isinstance(value, self._map_class):
            concurrent = isinstance(value, self._concurrent_map)
            self._exact = self._exact and not (concurrent and value.size() > 1)
            pairs = [[self._shown(one, ordered=ordered) for one in (entry.getKey(), entry.getValue())]
                     for entry in value.entrySet()]
            kept = ordered and not concurrent
            return {"map": pairs if kept else sorted(pairs, key=lambda pair: json.dumps(pair[0]))}
        if isinstance(value, self._collection):
            items = [self._shown(one, ordered=ordered) for one in value]
            return sorted(items, key=json.dumps) if isinstance(value, self._set) and not ordered else items
        return self._single(value, ordered=ordered)

    def _single(self, value: Any, *, ordered: bool) -> Any:
        name = str(value.getClass().getName())
        if name.startswith("java.lang.String"):
            return self._plain(value)
        if name in {"java.lang.Boolean", "java.lang.Double"}:
            return bool(value) if name.endswith("Boolean") else float(value)
        if name.startswith("java."):
            return int(value.longValue())
        if value.getClass().isEnum():
            return str(value.name())
        fields = {str(one.getName()): one for one in value.getClass().getDeclaredFields() if not one.getModifiers() & 8}
        return {name: self._field(value, fields[name], ordered=ordered) for name in sorted(fields.keys() - _OWN_FIELDS)}

    def _field(self, owner: Any, field: Any, *, ordered: bool) -> Any:
        """The value of a field; instead of the time at which the object was made the recorder's, if that is hidden."""
        field.setAccessible(True)
        value = self._shown(field.get(owner), ordered=ordered)
        if not self._hides_now or str(field.getName()) not in _TIMES:
            return value
        return RECORDED_NOW if abs(value - time.time() * 1000) < _SOON_MS else value

    # Frames -----------------------------------------------------------------------------------------------------------

    def frames(self, argument: Mapping[str, Any]) -> dict[str, Any]:
        """RemotingCommand#encode, #encodeHeader, #decode; the order of the ext fields is that of their map."""
        ext = self._text_map(argument["ext"])
        pairs = None if ext is None else [
            [self._shown(one, ordered=True) for one in (entry.getKey(), entry.getValue())] for entry in ext.entrySet()]
        encoded = self._attempt(lambda: self._hex(self._made(argument, ext).encode()))
        row = {
            "a": {**argument, "ext": pairs}, "exact": pairs is None or len(pairs) <= 1, "enc": encoded,
            "encHeader": self._attempt(lambda: self._hex(self._made(argument, ext).encodeHeader())),
        }
        if "r" in encoded:
            row["dec"] = self._attempt(lambda: self._decoded(bytes.fromhex(encoded["r"])[4:]))
        if argument["type"] == "JSON":
            text = jpype.JString(self._serializable.toJson(self._made(argument, ext), False))
            row["header"] = self._plain(jpype.JString(text.getBytes("UTF-8"), "UTF-8"))
        return row

    def _made(self, argument: Mapping[str, Any], ext: Any) -> Any:
        command = self._command.createRequestCommand(argument["code"], None)
        command.setLanguage(None if argument["language"] is None else self._language.valueOf(argument["language"]))
        command.setVersion(argument["version"])
        command.setOpaque(argument["opaque"])
        command.setFlag(argument["flag"])
        command.setRemark(self._values.text(argument["remark"]))
        command.setExtFields(ext)
        command.setSerializeTypeCurrentRPC(self._serialize_type.valueOf(argument["type"]))
        command.setBody(None if argument["body"] is None else self._bytes(bytes.fromhex(argument["body"])))
        return command

    def frames_odd(self, argument: Mapping[str, Any]) -> dict[str, Any]:
        """RemotingCommand#decode of a header that somebody has written; its counter stands where no frame points."""
        counter = self._command.class_.getDeclaredField("requestId")
        counter.setAccessible(True)
        counter.get(None).set(_LOCAL_OPAQUE)
        header = utf8_bytes(argument["header"])
        data = bytes([argument["type"]]) + len(header).to_bytes(3, "big") + header + bytes.fromhex(argument["body"])
        return {"r": self._decoded(data)}

    def _decoded(self, data: bytes) -> dict[str, Any]:
        command = self._command.decode(self._buffer.wrap(self._bytes(data)))
        ext, body, opaque = command.getExtFields(), command.getBody(), int(command.getOpaque())
        names = None if ext is None else {json.dumps(self._shown(one.getKey(), ordered=True)).strip('"'): one.getValue()
                                          for one in ext.entrySet()}
        return {
            "code": int(command.getCode()), "version": int(command.getVersion()),
            "language": self._shown(command.getLanguage(), ordered=True),
            "opaque": LOCAL if opaque == _LOCAL_OPAQUE else opaque, "flag": int(command.getFlag()),
            "remark": self._shown(command.getRemark(), ordered=True),
            "ext": None if names is None else {
                json.loads(f'"{name}"'): self._shown(value, ordered=True) for name, value in names.items()},
            "type": self._shown(command.getSerializeTypeCurrentRPC(), ordered=True),
            "body": None if body is None else bytes(number & 0xFF for number in body).hex(),
            "response": bool(command.isResponseType()), "oneway": bool(command.isOnewayRPC()),
        }

    def _hex(self, buffer: Any) -> str:
        array = self._bytes(int(buffer.remaining()))
        buffer.get(array)
        return bytes(number & 0xFF for number in array).hex()

    # SQL92 ------------------------------------------------------------------------------------------------------------

    def sql92(self, argument: Mapping[str, Any]) -> dict[str, Any]:
        """SqlFilter#compile, and Expression#evaluate for each map of properties."""
        try:
            compiled = self._filter.compile(self._values.text(argument["expr"]))
        except jpype.JException as error:
            return {"compile": self._failure(error)}
        found = [self._attempt(partial(self._evaluated, compiled, one)) for one in argument["props"]]
        return {
            "compile": {"text": self._plain(compiled.toString())},
            "eval": [one.get("r") if "r" in one else one for one in found],
        }

    def _failure(self, error: Any) -> dict[str, Any]:
        name, message = self._values.error(error)
        shown = {"e": name, "m": message}
        if isinstance(error, self._failed_filter):
            shown["cause"], shown["causeMessage"] = self._values.error(error.getCause())
        return shown

    def _evaluated(self, compiled: Any, properties: Mapping[str, str] | None) -> Any:
        made = self._text_map(None if properties is None else properties.items())
        found = compiled.evaluate(self._context(made))
        return None if found is None else self._single(found, ordered=True)


answering = partial(bound, Texts)
"""Of a recording by its name: what answers its rows; see `bound`."""
