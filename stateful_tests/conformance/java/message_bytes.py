"""Messages as bytes, by the running JVM: each answers the arguments `a` of a row of a recording with its rest.

Only the worker imports this.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jpype

from stateful_tests.conformance.java.java_values import JavaValues, bound
from stateful_tests.conformance.java.message_inputs import MAX_MESSAGE_SIZE

_COMMON, _STORE = "org.apache.rocketmq.common", "org.apache.rocketmq.store"


class MessageBytes:
    """RocketMQ's classes that write and read messages, and a store that was never started."""

    def __init__(self, values: JavaValues) -> None:
        """Bind the classes, and make the store."""
        self._values = values
        self._decoder = jpype.JClass(f"{_COMMON}.message.MessageDecoder")
        self._setter = jpype.JClass(f"{_COMMON}.message.MessageClientIDSetter")
        self._util = jpype.JClass(f"{_COMMON}.UtilAll")
        self._accessor = jpype.JClass(f"{_COMMON}.message.MessageAccessor")
        self._buffer = jpype.JClass("java.nio.ByteBuffer")
        self._bytes = jpype.JArray(jpype.JByte)
        self._log = _store().getCommitLog()

    # Values ---------------------------------------------------------------------------------------------------------

    def _array(self, data: str | None) -> Any:
        return None if data is None else self._bytes(bytes.fromhex(data))

    def _hex(self, array: Any) -> str | None:
        return None if array is None else bytes(number & 0xFF for number in array).hex()

    def _left(self, buffer: Any) -> str | None:
        """What remains in a buffer."""
        array = self._bytes(int(buffer.remaining()))
        buffer.get(array)
        return self._hex(array)

    def _plain(self, value: Any) -> Any:
        """A text, or a map of texts."""
        return json.loads(self._values.written(value))

    def _map(self, pairs: Sequence[Sequence[str | None]], kind: str = "java.util.LinkedHashMap") -> Any:
        made = jpype.JClass(kind)()
        for name, value in pairs:
            made.put(self._values.text(name), self._values.text(value))
        return made

    def _address(self, host: Sequence[Any]) -> Any:
        address = jpype.JClass("java.net.InetAddress").getByAddress(self._array(host[0]))
        return jpype.JClass("java.net.InetSocketAddress")(address, host[1])

    def _host(self, address: Any) -> list[Any]:
        return [self._hex(address.getAddress().getAddress()), int(address.getPort())]

    def _attempt(self, call: Callable[[], Any]) -> dict[str, Any]:
        """{r}, or {e, m} for what it throws."""
        try:
            return {"r": call()}
        except jpype.JException as error:
            return dict(zip(("e", "m"), self._values.error(error), strict=True))

    # Ids, properties, batches, bytes --------------------------------------------------------------------------------

    def message_id(self, argument: Mapping[str, Any]) -> dict[str, Any]:
        """MessageDecoder#createMessageId in both forms, #decodeMessageId."""
        if "id" in argument:
            found = self._decoder.decodeMessageId(self._values.text(argument["id"]))
            return {"r": [*self._host(found.getAddress()), int(found.getOffset())]}
        address = self._address([argument["ip"], argument["port"]])
        host = jpype.JClass(f"{_COMMON}.message.MessageExt").socketAddress2ByteBuffer(address)
        room = self._buffer.allocate(int(host.limit()) + 8)
        forms = (self._decoder.createMessageId(address, jpype.JLong(argument["offset"])),
                 self._decoder.createMessageId(room, host, jpype.JLong(argument["offset"])))
        return {"r": [str(form) for form in forms]}

    def unique_id(self, argument: Mapping[str, Any]) -> dict[str, Any]:
        """MessageClientIDSetter#getIPFromID, #getIPStrFromID, #getPidFromID."""
        text = self._values.text(argument["id"])
        return {"r": [self._hex(self._setter.getIPFromID(text)), str(self._setter.getIPStrFromID(text)),
                      int(self._setter.getPidFromID(text))]}

    def properties_to_string(self, argument: Sequence[Sequence[str | None]] | None) -> dict[str, Any]:
        """MessageDecoder#messageProperties2String."""
        return {"r": self._plain(
            self._decoder.messageProperties2String(None if argument is None else self._map(argument)))}

    def string_to_properties(self, argument: str | None) -> dict[str, Any]:
        """MessageDecoder#string2messageProperties."""
        return {"r": self._plain(self._decoder.string2messageProperties(self._values.text(argument)))}

    def _batch_body(self, messages: Sequence[Mapping[str, Any]]) -> Any:
        """MessageDecoder#encodeMessages."""
        made = self._values.new_list()
        for fields in messages:
            message = jpype.JClass(f"{_COMMON}.message.Message")()
            message.setFlag(fields["flag"])
            message.setBody(self._array(fields["body"]))
            self._accessor.setProperties(message, self._map(fields["properties"]))
            made.add(message)
        return self._decoder.encodeMessages(made)

    def batch_codec(self, argument: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """MessageDecoder#encodeMessages, #decodeMessages."""
        data = self._batch_body(argument)
        decoded = [{"flag": int(one.getFlag()), "body": self._hex(one.getBody()),
                    "properties": self._plain(one.getProperties())}
                   for one in self._decoder.decodeMessages(self._buffer.wrap(data))]
        return {"r": [self._hex(data), decoded]}

    def bytes(self, argument: Sequence[Any]) -> dict[str, Any]:
        """A function of UtilAll by name."""
        name, *values = argument
        match name:
            case "string2bytes":
                return {"r": self._hex(self._util.string2bytes(self._values.text(values[0])))}
            case "offset2FileName":
                return {"r": str(self._util.offset2FileName(jpype.JLong(values[0])))}
            case "uncompress":
                return {"r": self._hex(self._util.uncompress(self._array(values[0])))}
            case "bytes2string":
                return {"r": str(self._util.bytes2string(self._array(values[0])))}
        return {"r": int(self._util.crc32(self._array(values[0]), *map(jpype.JInt, values[1:])))}

    def bloom(self, argument: Mapping[str, Any]) -> dict[str, Any]:
        """BloomFilter: geometry, the bits of a key, whether a key hits among others."""
        made = jpype.JClass("org.apache.rocketmq.filter.util.BloomFilter").createByFn(argument["f"], argument["n"])
        if "key" in argument:
            data = made.generate(self._values.text(argument["key"]))
            return {"r": {"bitPos": [int(place) for place in data.getBitPos()], "bitNum": int(data.getBitNum())}}
        if "probe" not in argument:
            return {"r": [int(made.getK()), int(made.getM())]}
        bits = jpype.JClass("org.apache.rocketmq.filter.util.BitsArray").create(made.getM())
        for key in argument["keys"]:
            made.hashTo(self._values.text(key), bits)
        return {"r": [self._hex(bits.bytes()), bool(made.isHit(self._values.text(argument["probe"]), bits))]}

    # Records --------------------------------------------------------------------------------------------------------

    def _filled(self, message: Any, fields: Mapping[str, Any]) -> Any:
        """The fields that all kinds of messages have."""
        message.setTopic(self._values.text(fields["topic"]))
        message.setBody(self._array(fields["body"]))
        message.setBornHost(self._address(fields["bornHost"]))
        message.setStoreHost(self._address(fields["storeHost"]))
        for setter, name in (
            ("setSysFlag", "sysFlag"), ("setFlag", "flag"), ("setQueueId", "queueId"), ("setBornTimestamp", "born"),
            ("setStoreTimestamp", "store"), ("setReconsumeTimes", "reconsume"), ("setBodyCRC", "bodyCRC"),
            ("setPreparedTransactionOffset", "prepared"),
        ):
            getattr(message, setter)(fields[name])
        return message

    def message_codec(self, argument: Mapping[str, Any]) -> dict[str, Any]:
        """MessageDecoder#encode, and #decode of the record in several ways and of damaged copies."""
        message = self._filled(jpype.JClass(f"{_COMMON}.message.MessageExt")(), argument)
        message.setQueueOffset(argument["queueOffset"])
        message.setCommitLogOffset(argument["commitLogOffset"])
        self._accessor.setProperties(message, self._map(argument["properties"]))
        encoded = self._attempt(lambda: self._hex(self._decoder.encode(message, argument["compress"])))
        if "e" in encoded:
            return {"enc": encoded}
        record = encoded["r"]
        return {
            "enc": encoded, "dec": self._attempt(lambda: self._decoded(record, True, True)),
            "raw": self._attempt(lambda: (self._decoded(record, True, False) or {}).get("body")),
            "nobody": self._attempt(lambda: (self._decoded(record, False, True) or {}).get("body")),
            "props": self._attempt(lambda: self._plain(self._decoder.decodeProperties(self._wrapped(record)))),
            "broken": [{**how, **self._of_damaged(record, how)}
                       for how in damages(record, argument["damage"], "flip", "mask")],
        }

    def _of_damaged(self, record: str, how: Mapping[str, Any]) -> dict[str, Any]:
        return self._attempt(lambda: self._decoded(damaged(record, how), True, True))

    def _wrapped(self, record: str) -> Any:
        return self._buffer.wrap(self._array(record))

    def _decoded(self, record: str, read_body: bool, decompress_body: bool) -> dict[str, Any] | None:
        """MessageDecoder#decode."""
        one = self._decoder.decode(self._wrapped(record), read_body, decompress_body)
        if one is None:
            return None
        properties = self._plain(one.getProperties())
        return {
            "storeSize": int(one.getStoreSize()), "bodyCRC": int(one.getBodyCRC()), "queueId": int(one.getQueueId()),
            "flag": int(one.getFlag()), "queueOffset": int(one.getQueueOffset()),
            "commitLogOffset": int(one.getCommitLogOffset()), "sysFlag": int(one.getSysFlag()),
            "born": int(one.getBornTimestamp()), "bornHost": self._host(one.getBornHost()),
            "store": int(one.getStoreTimestamp()), "storeHost": self._host(one.getStoreHost()),
            "reconsume": int(one.getReconsumeTimes()), "prepared": int(one.getPreparedTransactionOffset()),
            "body": self._hex(one.getBody()), "topic": self._plain(one.getTopic()), "properties": properties,
            "msgId": str(one.getMsgId()), "queueIdText": (properties or {}).get("TAGS"),
        }

    def record_encode_check(self, argument: Mapping[str, Any]) -> dict[str, Any]:
        """MessageExtEncoder#encode of one message, and CommitLog#checkMessageAndReturnSize of its record."""
        encoder = _Encoder(MAX_MESSAGE_SIZE)
        refused = encoder.encode(self._inner(argument))
        if refused is not None:
            return {"put": str(refused.getPutMessageStatus().name())}
        record = self._left(encoder.buffer()) or ""
        damaged_checks = [
            {**how, "crc": crc, "check": self._checked(damaged(record, how), crc)}
            for how, crc in zip(damages(record, argument["damage"], "at", "xor"), itertools.cycle((False, True)))
        ]
        return {"put": None, "rec": record, "check": self._checked(record, True), "damaged": damaged_checks}

    def _inner(self, fields: Mapping[str, Any]) -> Any:
        inner = self._filled(jpype.JClass(f"{_STORE}.MessageExtBrokerInner")(), fields)
        inner.setPropertiesString(self._values.text(fields["properties"]))
        return inner

    def _checked(self, record: str, crc: bool) -> dict[str, Any]:
        found = self._log.checkMessageAndReturnSize(self._wrapped(record), crc, True)
        return {
            "success": bool(found.isSuccess()), "size": int(found.getMsgSize()), "topic": self._plain(found.getTopic()),
            "queueId": int(found.getQueueId()), "queueOffset": int(found.getConsumeQueueOffset()),
            "phyOffset": int(found.getCommitLogOffset()), "tagsCode": int(found.getTagsCode()),
            "storeTimestamp": int(found.getStoreTimestamp()), "keys": self._plain(found.getKeys()),
            "uniqKey": self._plain(found.getUniqKey()), "sysFlag": int(found.getSysFlag()),
            "prepared": int(found.getPreparedTransactionOffset()), "properties": self._plain(found.getPropertiesMap()),
        }

    def appended_records(self, argument: Mapping[str, Any]) -> dict[str, Any]:
        """MessageExtEncoder#encode and DefaultAppendMessageCallback#doAppend, of one message or of a batch."""
        encoder, context = _Encoder(argument["max"]), _hidden("CommitLog$PutMessageContext", "TopicTest-0")
        if argument["messages"] is None:
            message = self._inner(argument)
            refused = encoder.encode(message)
            if refused is not None:
                return {"r": {"put": str(refused.getPutMessageStatus().name())}}
            message.setEncodedBuff(encoder.buffer())
        else:
            message = self._filled(jpype.JClass(f"{_COMMON}.message.MessageExtBatch")(), argument)
            message.setBody(self._batch_body(argument["messages"]))
            self._accessor.setProperties(message, self._map(argument["properties"], "java.util.HashMap"))
            message.setEncodedBuff(encoder.encode(message, context))
        message.setStoreTimestamp(argument["storedAt"])
        table = jpype.JClass("java.util.HashMap")()
        table.put("TopicTest-0", jpype.JObject(argument["queueOffset"], jpype.JLong))
        self._log.setTopicQueueTable(table)
        file = self._buffer.allocate(argument["room"])
        callback = _field(self._log, "appendMessageCallback")
        # The file's own offset makes the physical one, as the buffer begins where the record is to go.
        start = jpype.JLong(argument["from"] + argument["position"])
        done = _call(callback, "doAppend", start, file, jpype.JInt(argument["room"]), message, context)
        file.flip()
        ids = str(done.getMsgId()) if str(done.getStatus().name()) == "PUT_OK" else None
        return {"r": {"status": str(done.getStatus().name()), "wrote": int(done.getWroteBytes()),
                      "bytes": self._left(file), "msgIds": ids, "queueOffset": int(done.getLogicsOffset())}}


class _Encoder:
    """CommitLog.MessageExtEncoder, whose constructor and methods are not public."""

    def __init__(self, max_message_size: int) -> None:
        self._encoder = _hidden("CommitLog$MessageExtEncoder", jpype.JObject(max_message_size, jpype.JInt))

    def encode(self, *arguments: Any) -> Any:
        """Its encode of one message, or of a batch and a context."""
        return _call(self._encoder, "encode", *arguments)

    def buffer(self) -> Any:
        """What encode of one message has written."""
        return _call(self._encoder, "getEncoderBuffer")


def _hidden(name: str, *arguments: Any) -> Any:
    """An object of a class of the store whose only constructor is hidden."""
    (constructor,) = jpype.JClass(f"{_STORE}.{name}").class_.getDeclaredConstructors()
    constructor.setAccessible(True)
    return constructor.newInstance(jpype.JArray(jpype.JObject)(arguments))


def _call(target: Any, name: str, *arguments: Any) -> Any:
    """Call a hidden method with so many arguments whose types fit; raises what it throws."""
    fitting = [method for method in target.getClass().getDeclaredMethods()
               if str(method.getName()) == name and method.getParameterCount() == len(arguments)
               and all(_fits(kind, value) for kind, value in zip(method.getParameterTypes(), arguments, strict=True))]
    fitting[0].setAccessible(True)
    try:
        return fitting[0].invoke(target, jpype.JArray(jpype.JObject)(arguments))
    except jpype.JException as error:
        raise (error.getCause() or error) from error


def _fits(kind: Any, value: Any) -> bool:
    return bool(kind.isPrimitive()) or bool(kind.isInstance(value))


def _field(target: Any, name: str) -> Any:
    field = target.getClass().getDeclaredField(name)
    field.setAccessible(True)
    return field.get(target)


def _store() -> Any:
    """A DefaultMessageStore below the scratch folder that knows its delay levels; nothing is logged.

    It takes every message that an encoder has let pass.
    """
    system = jpype.JClass("java.lang.System")
    scratch = Path(str(system.getProperty("user.home")))
    (scratch / "logback.xml").write_text('<configuration><root level="OFF"/></configuration>', encoding="utf-8")
    system.setProperty("logback.configurationFile", str(scratch / "logback.xml"))
    folder = f"{scratch}/store"
    config = jpype.JClass(f"{_STORE}.config.MessageStoreConfig")()
    config.setStorePathRootDir(folder)
    config.setStorePathCommitLog(f"{folder}/commitlog")
    config.setMaxMessageSize(2**20)
    store = jpype.JClass(f"{_STORE}.DefaultMessageStore")(
        config, None, None, jpype.JClass(f"{_COMMON}.BrokerConfig")())
    store.getScheduleMessageService().parseDelayLevel()
    return store


def damages(record: str, numbers: Sequence[int], place: str, bits: str) -> list[dict[str, int]]:
    """Where to cut a record, and which bits to turn over in which byte.

    place, bits -- their names in the row. The first bytes of lengths are spared: such a length needs more memory than
    this JVM has, or just less.
    """
    length, data = len(record) // 2, bytes.fromhex(record)
    body_length = 68 + (20 if data[39] & 16 else 8) + (20 if data[39] & 32 else 8)
    found = [{place: number % length, bits: 1 << (number >> 8) % 8} for number in numbers[1:]]
    return [{"cut": numbers[0] % length}, *(how for how in found if how[place] not in (0, body_length))]


def damaged(record: str, how: Mapping[str, Any]) -> str:
    """The copy of a record that is cut, or of which some bits of one byte are turned over."""
    data = bytearray.fromhex(record)
    if "cut" in how:
        return data[: how["cut"]].hex()
    place, bits = (how["flip"], how["mask"]) if "flip" in how else (how["at"], how["xor"])
    data[place] ^= bits
    return data.hex()


answering = partial(bound, MessageBytes)
"""Of a recording by its name: what answers its rows; see `bound`."""
