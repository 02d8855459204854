"""Recordings of messages as bytes and texts: records, batches, ids, properties, checksums."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from impl.common import message_client_id_setter as unique, util_all
from impl.common.byte_buffer import ByteBuffer
from impl.common.inet_socket_address import InetSocketAddress, inet_socket_address
from impl.common.message import MessageExt
from impl.common.message_batch import BatchedMessage, decode_messages, encode_messages
from impl.common.message_decoder import decode, decode_properties, encode
from impl.common.message_id import create_message_id, decode_message_id
from impl.common.message_properties import message_properties2_string, string2_message_properties
from impl.common.record_layout import BLANK_MAGIC_CODE, MESSAGE_MAGIC_CODE
from impl.store.dispatch_request import DispatchRequest, check_message_and_return_size
from impl.store.message_ext_broker_inner import MessageExtBatch, MessageExtBrokerInner
from impl.store.message_ext_encoder import blank_record, encode as encode_record, encode_batch, place_batch
from impl.store.put_message_status import AppendMessageStatus, PutMessageStatus
from stateful_tests.conformance.adapters.comparison import compare, difference, outcome
from stateful_tests.conformance.replay import Adapter, Row

RECORDED_MAX_MESSAGE_SIZE = 4096  # of record-encode-check
RECORDED_PREFIX = (bytes.fromhex("0A000001"), 0x04D2, 0xCAFEBABE)  # of unique-id: address, pid, loader hash


def properties_to_string(row: Row) -> str | None:
    """A map as pairs, in its order."""
    return compare(row, lambda: message_properties2_string(row["a"]))


def string_to_properties(row: Row) -> str | None:
    """A text to a map."""
    return compare(row, lambda: dict(string2_message_properties(row["a"]).entries()))


def message_id(row: Row) -> str | None:
    """An id made of an address, and an id taken apart. Java has two functions that make it."""
    arguments = row["a"]
    if "id" in arguments:
        return compare(row, lambda: _id_parts(arguments["id"]))
    return compare(row, lambda: 2 * [create_message_id(
        inet_socket_address(bytes.fromhex(arguments["ip"]), arguments["port"]), arguments["offset"])])


def _id_parts(msg_id: str | None) -> list[Any]:
    (address, port), offset = decode_message_id(msg_id)
    return [address.hex(), port, offset]


def unique_id(row: Row) -> str | None:
    """An id taken apart, and one made at a time with a counter."""
    arguments = row["a"]
    if "id" in arguments:
        return compare(row, lambda: _unique_id_parts(arguments["id"]))
    return compare(row, lambda: _made(arguments))


def _unique_id_parts(msg_id: str | None) -> list[Any]:
    return [unique.get_ip_from_id(msg_id).hex(), unique.get_ip_str_from_id(msg_id), unique.get_pid_from_id(msg_id)]


def _made(arguments: Mapping[str, Any]) -> str:
    """An id of a process that started in the recorded month and has made so many ids."""
    setter = unique.MessageClientIDSetter(*RECORDED_PREFIX, now_ms=arguments["monthStart"])
    setter.start_time, setter.next_start_time = arguments["monthStart"], arguments["nextMonth"]
    setter.counter = arguments["counter"]
    return setter.create_uniq_id(arguments["now"])


_BYTES: Mapping[str, Callable[..., Any]] = {
    "crc32": util_all.crc32,
    "crc32/3": util_all.crc32_of_part,
    "bytes2string": util_all.bytes2string,
    "string2bytes": util_all.string2bytes,
    "uncompress": util_all.uncompress,
    "compress": util_all.compress,
    "offset2FileName": util_all.offset2_file_name,
}


def bytes_and_texts(row: Row) -> str | None:
    """A function by name. Byte arrays are hexadecimal, except that string2bytes takes a text.

    What is compressed is compared after it was taken apart again, as the header says: zlib versions differ.
    """
    name, *values = row["a"]
    function = _BYTES[name]
    arguments = [bytes.fromhex(value) if isinstance(value, str) and name != "string2bytes" else value
                 for value in values]
    if name == "compress" and "r" in row:
        plain = values[0]
        return difference([plain, plain], [_plain(row["r"]), _plain(_hex(function(*arguments)))], "uncompressed")
    return compare(row, lambda: _hex(function(*arguments)))


def _hex(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


def _plain(compressed: str) -> str:
    return util_all.uncompress(bytes.fromhex(compressed)).hex()


def batch_codec(row: Row) -> str | None:
    """A batch to bytes and back."""
    return compare(row, lambda: _batch(row["a"]))


def _batch(messages: list[Mapping[str, Any]]) -> list[Any]:
    data = encode_messages(map(_batched, messages))
    decoded = [{"flag": flag, "body": _hex(body), "properties": properties}
               for flag, body, properties in decode_messages(ByteBuffer(data))]
    return [data.hex(), decoded]


def _batched(message: Mapping[str, Any]) -> BatchedMessage:
    return BatchedMessage(message["flag"], _data(message["body"]), _map(message["properties"]))


def _data(digits: str | None) -> bytes | None:
    return None if digits is None else bytes.fromhex(digits)


def _map(pairs: list[list[str]] | None) -> dict[str, str] | None:
    return None if pairs is None else dict(pairs)


def _host(recorded: list[Any]) -> InetSocketAddress:
    address, port = recorded
    return inet_socket_address(bytes.fromhex(address), port)


def _shown_host(host: InetSocketAddress) -> list[Any]:
    return [host.address.hex(), host.port]


def _message(fields: Mapping[str, Any]) -> MessageExt:
    return MessageExt(
        queue_offset=fields["queueOffset"], body=_data(fields["body"]), properties=_map(fields["properties"]),
        topic=fields["topic"], queue_id=fields["queueId"], flag=fields["flag"], sys_flag=fields["sysFlag"],
        commit_log_offset=fields["commitLogOffset"], born_timestamp=fields["born"],
        born_host=_host(fields["bornHost"]), store_timestamp=fields["store"], store_host=_host(fields["storeHost"]),
        reconsume_times=fields["reconsume"], prepared_transaction_offset=fields["prepared"],
        body_crc=fields["bodyCRC"],
    )


def _shown(message: MessageExt | None) -> dict[str, Any] | None:
    if message is None:
        return None
    return {
        "storeSize": message.store_size, "bodyCRC": message.body_crc, "queueId": message.queue_id,
        "flag": message.flag, "queueOffset": message.queue_offset, "commitLogOffset": message.commit_log_offset,
        "sysFlag": message.sys_flag, "born": message.born_timestamp, "bornHost": _shown_host(message.born_host),
        "store": message.store_timestamp, "storeHost": _shown_host(message.store_host),
        "reconsume": message.reconsume_times, "prepared": message.prepared_transaction_offset,
        "body": _hex(message.body), "topic": message.topic, "properties": message.properties,
        "msgId": message.msg_id, "queueIdText": message.get_property("TAGS"),
    }


def _body_of(message: MessageExt | None) -> str | None:
    return None if message is None else _hex(message.body)


def message_codec(row: Row) -> str | None:
    """A message to a record, the record read in four ways, and damaged copies of it."""
    arguments = row["a"]
    message = _message(arguments)
    found = compare(row["enc"], lambda: encode(message, need_compress=arguments["compress"]).hex(), "enc")
    if found is not None or "r" not in row["enc"]:
        return found
    record = bytes.fromhex(row["enc"]["r"])
    readings: Mapping[str, Callable[[], Any]] = {
        "dec": lambda: _shown(decode(ByteBuffer(record))),
        "raw": lambda: _body_of(decode(ByteBuffer(record), decompress_body=False)),
        "nobody": lambda: _body_of(decode(ByteBuffer(record), read_body=False)),
        "props": lambda: decode_properties(ByteBuffer(record)),
    }
    differences = [compare(row[name], reading, name) for name, reading in readings.items()]
    differences += [_compare_broken(record, damage) for damage in row["broken"]]
    return next((one for one in differences if one is not None), None)


def _compare_broken(record: bytes, damage: Mapping[str, Any]) -> str | None:
    what = f"broken {({key: value for key, value in damage.items() if isinstance(value, int)})}"
    return compare(damage, lambda: _shown(decode(ByteBuffer(_damaged(record, damage)))), what)


def _damaged(record: bytes, damage: Mapping[str, Any]) -> bytes:
    """A copy that is cut, or of which some bits of one byte are turned over."""
    if "cut" in damage:
        return record[: damage["cut"]]
    place, mask = (damage["flip"], damage["mask"]) if "flip" in damage else (damage["at"], damage["xor"])
    copy = bytearray(record)
    copy[place] ^= mask
    return bytes(copy)


def record_encode_check(row: Row) -> str | None:
    """A message that is put: its record or why it has none, and what the dispatcher reads from it."""
    if "magic" in row:
        return difference([row["magic"], row["blankMagic"]], [MESSAGE_MAGIC_CODE, BLANK_MAGIC_CODE], "magic codes")
    if "blank" in row:
        return _compare_check(row["check"], blank_record(row["blank"]), crc=True, what="blank")
    got = outcome(lambda: encode_record(_inner(row["a"]), RECORDED_MAX_MESSAGE_SIZE))
    if "rec" not in row:
        wanted = {"e": row["e"], "m": row["m"]} if "e" in row else {"r": PutMessageStatus[row["put"]]}
        return difference(wanted, got, "put")
    record = bytes.fromhex(row["rec"])
    if not isinstance(got.get("r"), bytearray) or row["put"] is not None:
        return difference({"put": row["put"]}, {key: str(value) for key, value in got.items()}, "put")
    differences = [
        difference(row["rec"], got["r"].hex(), "rec"),
        _compare_check(row["check"], record, crc=True, what="check"),
        *(_compare_check(damage["check"], _damaged(record, damage), crc=damage["crc"], what=f"damaged {place}")
          for place, damage in enumerate(row["damaged"])),
    ]
    return next((one for one in differences if one is not None), None)


def _inner(fields: Mapping[str, Any]) -> MessageExtBrokerInner:
    return MessageExtBrokerInner(
        topic=fields["topic"], body=_data(fields["body"]),
        born_host=_host(fields["bornHost"]), store_host=_host(fields["storeHost"]), queue_id=fields["queueId"],
        flag=fields["flag"], sys_flag=fields["sysFlag"], born_timestamp=fields["born"],
        store_timestamp=fields["store"], reconsume_times=fields["reconsume"],
        prepared_transaction_offset=fields["prepared"], body_crc=fields["bodyCRC"],
        properties_string=fields["properties"],
    )


def _compare_check(recorded: Mapping[str, Any], record: bytes, *, crc: bool, what: str) -> str | None:
    wanted = recorded if "e" in recorded else {"r": recorded}
    return compare(wanted, lambda: _request(check_message_and_return_size(ByteBuffer(record), check_crc=crc)), what)


def _request(request: DispatchRequest) -> dict[str, Any]:
    return {
        "success": request.success, "size": request.msg_size, "topic": request.topic, "queueId": request.queue_id,
        "queueOffset": request.consume_queue_offset, "phyOffset": request.commit_log_offset,
        "tagsCode": request.tags_code, "storeTimestamp": request.store_timestamp, "keys": request.keys,
        "uniqKey": request.uniq_key, "sysFlag": request.sys_flag, "prepared": request.prepared_transaction_offset,
        "properties": request.properties_map,
    }


def appended_records(row: Row) -> str | None:
    """A message or a batch: its records as they lie in the file, or the blank that ends the file instead."""
    return compare(row, lambda: _appended(row["a"]))


def _appended(fields: Mapping[str, Any]) -> dict[str, Any]:
    start, room = fields["from"] + fields["position"], fields["room"]
    records: bytearray | None
    if fields["messages"] is None:
        encoded = encode_record(_inner(fields), fields["max"])
        if isinstance(encoded, PutMessageStatus):
            return {"put": encoded.name}
        records = encoded
    else:
        records = encode_batch(_batch_of(fields), fields["max"]).records
    offsets = place_batch(
        records, fields["sysFlag"], max_blank=room, queue_offset=fields["queueOffset"], physical_offset=start,
        store_timestamp_ms=fields["storedAt"],
    )
    if offsets is None:
        return {"status": AppendMessageStatus.END_OF_FILE.name, "wrote": room, "bytes": blank_record(room).hex(),
                "msgIds": None, "queueOffset": fields["queueOffset"]}
    ids = ",".join(create_message_id(_host(fields["storeHost"]), offset) for offset in offsets)
    return {"status": AppendMessageStatus.PUT_OK.name, "wrote": len(records), "bytes": records.hex(), "msgIds": ids,
            "queueOffset": fields["queueOffset"]}


def _batch_of(fields: Mapping[str, Any]) -> MessageExtBatch:
    batch = MessageExtBatch(
        topic=fields["topic"], body=encode_messages(map(_batched, fields["messages"])),
        born_host=_host(fields["bornHost"]), store_host=_host(fields["storeHost"]),
        queue_id=fields["queueId"], flag=fields["flag"], sys_flag=fields["sysFlag"], born_timestamp=fields["born"],
        store_timestamp=fields["store"], reconsume_times=fields["reconsume"],
        prepared_transaction_offset=fields["prepared"],
    )
    for name, value in fields["properties"]:
        batch.put_property(name, value)
    return batch


ADAPTERS: dict[str, Adapter] = {
    "appended-records": appended_records,
    "batch-codec": batch_codec,
    "bytes": bytes_and_texts,
    "message-codec": message_codec,
    "message-id": message_id,
    "properties-to-string": properties_to_string,
    "record-encode-check": record_encode_check,
    "string-to-properties": string_to_properties,
    "unique-id": unique_id,
}
