"""RegisterBrokerBody: the one body that has a form of its own beside JSON, compressed, with topics as lines of text."""

from __future__ import annotations

import zlib
from typing import Any

from impl.common import bodies  # noqa: F401  declares the classes
from impl.common.byte_buffer import check_array_size
from impl.common.fastjson.beans import BEANS, ENUMS, Bean
from impl.common.fastjson.characters import JSONError
from impl.common.fastjson.deserializers import from_json, strings_from_json
from impl.common.fastjson.serializer import to_json
from impl.decisions.java_errors import IllegalArgumentError, JavaException, not_null
from impl.decisions.java_text import parse_integer, split, utf8_bytes, utf8_text
from impl.hash_map import ConcurrentHashMap

_TOPIC_WORDS = 5


class JavaIOError(JavaException):
    """A stream that ends too early."""

    java_class = "java.io.IOException"


def encode_register_broker_body(body: Bean, *, compress: bool) -> bytes:
    """RegisterBrokerBody#encode; raises JavaError."""
    return zlib.compress(inflated_body(body), 9) if compress else utf8_bytes(to_json(body))


def inflated_body(body: Bean) -> bytes:
    """What RegisterBrokerBody#encode compresses."""
    wrapper = not_null(body.values["topicConfigSerializeWrapper"]).values
    table: ConcurrentHashMap[str, Bean] = ConcurrentHashMap()
    for topic, config in wrapper["topicConfigTable"].entries() if wrapper["topicConfigTable"] is not None else ():
        table.put(topic, config)
    version = _sized(to_json(not_null(wrapper["dataVersion"])))
    topics = b"".join(_sized(encode_topic_config(config)) for config in table.values())
    return version + len(table).to_bytes(4, "big") + topics + _sized(to_json(body.values["filterServerList"]))


def _sized(text: str) -> bytes:
    data = utf8_bytes(text)
    return len(data).to_bytes(4, "big") + data


def encode_topic_config(config: Bean) -> str:
    """TopicConfig#encode: neither `order` nor topicSysFlag is in it."""
    names = ("topicName", "readQueueNums", "writeQueueNums", "perm", "topicFilterType")
    words = (config.values[name] for name in names)
    return " ".join("null" if word is None else str(word) for word in words)


def decode_topic_config(text: str, config: Bean) -> bool:
    """TopicConfig#decode; False and nothing changed if there are not five words. Raises JavaError."""
    words = split(text, " ")
    if len(words) != _TOPIC_WORDS:
        return False
    config.values["topicName"] = words[0]
    for name, word in zip(("readQueueNums", "writeQueueNums", "perm"), words[1:4], strict=True):
        config.values[name] = parse_integer(word, 32)
    name, constants = ENUMS["TopicFilterType"]
    if words[4] not in constants:
        raise IllegalArgumentError(f"No enum constant {name}.{words[4]}")
    config.values["topicFilterType"] = words[4]
    return True


def decode_register_broker_body(data: bytes, *, compressed: bool, now_ms: int) -> Any:
    """RegisterBrokerBody#decode; raises JavaError. now_ms -- the time: see `from_json`."""
    if not compressed:
        return from_json(utf8_text(data), "RegisterBrokerBody", now_ms)
    stream = _Inflater(data)
    body = BEANS["RegisterBrokerBody"].new(now_ms)
    wrapper = body.values["topicConfigSerializeWrapper"].values
    wrapper["dataVersion"] = from_json(utf8_text(stream.read(stream.read_int())), "DataVersion", now_ms)
    for _ in range(stream.read_int()):
        config = BEANS["TopicConfig"].new(now_ms)
        decode_topic_config(utf8_text(stream.read(stream.read_int())), config)
        wrapper["topicConfigTable"].put(config.values["topicName"], config)
    text = utf8_text(stream.read(stream.read_int()))
    try:
        body.values["filterServerList"] = strings_from_json(text)
    except JSONError:
        body.values["filterServerList"] = []
    return body


class _Inflater:
    """InflaterInputStream: what can be inflated before the data ends or is broken."""

    def __init__(self, data: bytes) -> None:
        self._inflater, self._data, self._ready = zlib.decompressobj(), data, b""

    def read(self, length: int) -> bytes:
        """RegisterBrokerBody#readBytes; raises JavaIOError."""
        check_array_size(length)
        while len(self._ready) < length:
            try:
                more = self._inflater.decompress(self._data, 4096)
            except zlib.error as error:
                raise JavaIOError(str(error)) from error
            self._data = self._inflater.unconsumed_tail
            if not more:
                raise JavaIOError("End of compressed data has reached")
            self._ready += more
        found, self._ready = self._ready[:length], self._ready[length:]
        return found

    def read_int(self) -> int:
        """RegisterBrokerBody#readInt."""
        return int.from_bytes(self.read(4), "big", signed=True)
