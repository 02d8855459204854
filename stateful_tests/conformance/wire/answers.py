"""How an answer of ours is compared with the recorded one, and which parts are set aside, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from impl.common.byte_buffer import ByteBuffer
from impl.common.fastjson.deserializers import from_json
from impl.common.fastjson.types import JavaType
from impl.common.message import MessageExt
from impl.common.message_decoder import decodes
from impl.decisions.java_text import utf8_text
from impl.decisions.names import RMQ_SYS_OFFSET_MOVED_EVENT
from impl.ports.remoting import Command
from impl.remoting.remoting_command import RemotingCommand
from stateful_tests.conformance.adapters.comparison import difference
from stateful_tests.conformance.wire.contents import CONTENTS, RECORDS, answer_object, shown, shown_ext

NOT_OURS = "where a record lies in the log, and so every id made of it, depends on what was sent before the recording"
CLOCK = "a time of the recording machine"
ADDRESS = "the port of a client, or its host, is that of the recording machine"
HOST = "the address of a simulated machine is none of the recording machine"
VERSION = "how often, and when last, a table had changed before the recording"
ASIDE: Mapping[tuple[int | None, str], str] = {
    (12, "indexLastUpdateTimestamp"): CLOCK,
    (12, "indexLastUpdatePhyoffset"): NOT_OURS,
    (32, "timestamp"): CLOCK,
    (39, "commitLogOffset"): NOT_OURS,
    (39, "tranStateTableOffset"): NOT_OURS,
    (39, "offsetMsgId"): NOT_OURS,
    (326, "bornHost"): ADDRESS,
    (326, "storeTimestamp"): CLOCK,
    (326, "property PUSH_REPLY_TIME"): CLOCK,
    (None, "record.commitLogOffset"): NOT_OURS,
    (None, "record.preparedTransactionOffset, unless it is 0"): NOT_OURS,
    (None, "record.storeHost, but for its port"): HOST,
    (None, "record.storeTimestamp, but for more than 2 s"): CLOCK,
    (None, "record.bornHost"): ADDRESS,
    (None, "record.bornTimestamp of a message of the broker's own"): CLOCK,
    (None, "record.msgId"): NOT_OURS,
    (None, "msgId of a send, but for how many there are, and the port"): NOT_OURS,
    (None, "property ORIGIN_MESSAGE_ID"): NOT_OURS,
    (None, "stack"): "the first frame of a Java stack, and the text of a NullPointerException, depend on the JVM",
    (None, "newLimit"): "the number in a wrong record depends on what was sent before the recording",
    (None, "drawn queue"): "a broker draws the queue of a send that names none; ours is given the one that was drawn",
    (None, "body dataVersion"): VERSION,
    (202, "body lastUpdateTimestamp"): CLOCK,
    (203, "body clientAddr"): ADDRESS,
    (204, "body clientAddr"): ADDRESS,
    (208, "body lastTimestamp"): CLOCK,
    (321, "body physicOffset"): NOT_OURS,
    (208, "body consumeTps"): "our broker keeps no rates",
}
"""What is not compared: by request code (None: any) and field, the reason."""
_IDS = {"msgId"}  # of sends
_SLACK_MS = 2_000  # by which ours may put a message earlier or later than the recorded broker
_VERSION = {"timestamp", "counter"}
_ADDRESS = re.compile(r"/?127\.0\.0\.1:\d+|/?conn\d+:\d+")
_STACK = re.compile(r"^((?:[a-z][\w]*\.)+[A-Z]\w*(?:: .*?)?)(?:, [a-z][\w./]*\.[\w$]+\.[\w$<>]+\(.*\))?$", re.DOTALL)


def compare_answer(request: RemotingCommand, recorded: RemotingCommand, ours: Command | None) -> str | None:
    """None if they agree, else one line that says what differs."""
    if ours is None:
        return f"expected an answer with code {recorded.code}, got none"
    wanted, got = shown_recorded(request.code, recorded), shown_ours(request.code, ours)
    for key in ("code", "remark", "ext", "body"):
        found = difference(wanted[key], got[key], f"{key} of the answer to {request.code}")
        if found is not None:
            return found
    return _stored_elsewhen(request.code, recorded, ours)


def _stored_elsewhen(code: int, recorded: RemotingCommand, ours: Command) -> str | None:
    """Whether a message has another store time, by more than what threads and disks explain."""
    content = CONTENTS.get(code)
    if content is None or content.answer_body != RECORDS or not recorded.body:
        return None
    for one, other in zip(decodes(ByteBuffer(recorded.body)), decodes(ByteBuffer(ours.body)), strict=True):
        if abs(one.store_timestamp - other.store_timestamp) > _SLACK_MS:
            return f"storeTimestamp of {one.topic}: expected {one.store_timestamp}, got {other.store_timestamp}"
    return None


def shown_recorded(code: int, recorded: RemotingCommand) -> dict[str, Any]:
    """A recorded answer as it is compared."""
    ext = {} if recorded.ext_fields is None else {str(key): value for key, value in recorded.ext_fields.entries()}
    return {"code": recorded.code, "remark": _remark(recorded.remark), "ext": kept_ext(code, ext),
            "body": _recorded_body(code, recorded)}


def shown_ours(code: int, ours: Command) -> dict[str, Any]:
    """An answer of ours as it is compared."""
    content = CONTENTS.get(code)
    header, body = ours.header, ours.body
    if code == 101 and body is not None:  # noqa: PLR2004  GET_KV_CONFIG: the value is a field of the header in Java
        ext, body = {"value": str(body)}, None
    else:
        ext = {} if content is None else shown_ext(content.answer_header, header)
    return {"code": int(ours.code), "remark": _remark(ours.remark), "ext": kept_ext(code, ext),
            "body": _our_body(code, body)}


def _remark(remark: str | None) -> str | None:
    if remark is None:
        return None
    match = _STACK.match(remark)
    text = remark if match is None else match.group(1)
    if text.startswith("java.lang.NullPointerException"):
        text = "java.lang.NullPointerException"
    text = re.sub(r"newLimit ([<>]).*", r"newLimit \1", text)
    if "Failed to decode RegisterBrokerBody" in text:
        text = text.partition(",")[0]
    return _ADDRESS.sub("ADDRESS", text)


def kept_ext(code: int, ext: Mapping[str, Any]) -> dict[str, Any]:
    """The ext fields as they are compared: the reason in the place of what is set aside."""
    kept = {key: _kept(code, key, value) for key, value in ext.items()}
    if code == 326 and kept.get("properties"):  # noqa: PLR2004  PUSH_REPLY_MESSAGE_TO_CLIENT
        kept["properties"] = re.sub(r"PUSH_REPLY_TIME\x01\d+", "PUSH_REPLY_TIME", str(kept["properties"]))
    for key in sorted(_IDS & set(kept)):
        if kept[key]:
            kept[key] = [f"an id with the port {int(one[-24:-16], 16)}" for one in str(kept[key]).split(",")]
    return kept


def _kept(code: int, key: str, value: Any) -> Any:
    reason = ASIDE.get((code, key))
    return value if reason is None or (reason == CLOCK and str(value).startswith("-")) else reason


def _recorded_body(code: int, recorded: RemotingCommand) -> Any:
    if recorded.body is None:
        return None
    content = CONTENTS.get(code)
    kind = None if content is None else content.answer_body
    if kind == RECORDS:
        return shown_records(recorded.body)
    if kind is None:
        return recorded.body.hex()
    return _settled(code, shown(from_json(utf8_text(recorded.body), kind, 0), JavaType(kind)))


def _our_body(code: int, body: Any) -> Any:
    content = CONTENTS.get(code)
    kind = None if content is None else content.answer_body
    if body is None or kind is None:
        return body
    if kind == RECORDS:
        return shown_records(body)
    return _settled(code, shown(answer_object(kind, body), JavaType(kind)))


def _settled(code: int, body: Any, key: str = "") -> Any:
    """The reason in the place of what is set aside; of a time, if there is any; of an address, what is known of it."""
    if isinstance(body, dict):
        return VERSION if set(body) == _VERSION else {name: _settled(code, one, name) for name, one in body.items()}
    if isinstance(body, list):
        return [_settled(code, one, key) for one in body]
    reason = ASIDE.get((code, f"body {key}"))
    if reason == ADDRESS:
        return _ADDRESS.sub("ADDRESS", body)
    return body if reason is None or (reason == CLOCK and body <= 0) else reason


def shown_records(data: bytes) -> list[dict[str, Any]]:
    """Stored messages, field by field."""
    return [_record(message) for message in decodes(ByteBuffer(data))]


def _record(message: MessageExt) -> dict[str, Any]:
    properties = {key: ASIDE.get((None, f"property {key}"), value) for key, value in (message.properties or {}).items()}
    born = CLOCK if message.topic == RMQ_SYS_OFFSET_MOVED_EVENT else message.born_timestamp
    return {
        "storeHost": message.store_host.port, "storeSize": message.store_size,
        "preparedTransactionOffset": bool(message.prepared_transaction_offset),
        "topic": message.topic, "queueId": message.queue_id, "queueOffset": message.queue_offset,
        "flag": message.flag, "sysFlag": message.sys_flag, "bornTimestamp": born,
        "reconsumeTimes": message.reconsume_times, "bodyCRC": message.body_crc,
        "body": None if message.body is None else message.body.hex(), "properties": sorted(properties.items()),
    }
