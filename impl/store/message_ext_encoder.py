"""MessageExtEncoder: the records of messages that are put, and what the log writes into them under its lock."""

from __future__ import annotations

import struct
from typing import NamedTuple

from impl.common.byte_buffer import ByteBuffer
from impl.common.inet_socket_address import InetSocketAddress
from impl.common.message_batch import SHORT_MAX
from impl.common.message_properties import PROPERTY_SEPARATOR, message_properties2_string
from impl.common.record_layout import (
    BLANK_MAGIC_CODE,
    BORN_HOST_POSITION,
    MESSAGE_MAGIC_CODE,
    QUEUE_OFFSET_POSITION,
    host_bytes,
)
from impl.common.util_all import crc32_of_part
from impl.decisions.flags import BORNHOST_V6_FLAG, STOREHOSTADDRESS_V6_FLAG
from impl.decisions.java_arithmetic import wrap8, wrap32
from impl.decisions.java_errors import BufferOverflowError, JavaRuntimeError
from impl.decisions.java_text import utf8_bytes
from impl.decisions.log_append import batch_properties_length, is_end_of_file, written_properties_length
from impl.decisions.store_rules import cal_msg_length
from impl.store.message_ext_broker_inner import MessageExtBatch, MessageExtBrokerInner
from impl.store.put_message_status import PutMessageStatus

_FIRST, _STORED, _LAST = struct.Struct(">iiiiiqqiq"), struct.Struct(">q"), struct.Struct(">iqi")
_OFFSETS, _SHORT = struct.Struct(">qq"), struct.Struct(">h")
_SEPARATOR = ord(PROPERTY_SEPARATOR)


class BatchEntry(NamedTuple):
    """One message of a batch as the encoder reads it; the lengths are those that were sent."""

    flag: int
    body_crc: int
    body_length: int
    body: bytes
    properties_length: int
    properties: bytes
    needs_separator: bool


class EncodedBatch(NamedTuple):
    """The records of a batch, one after the other, and how many messages it has."""

    records: bytearray
    batch_size: int


def encode(message: MessageExtBrokerInner, max_message_size: int) -> bytearray | PutMessageStatus:
    """MessageExtEncoder#encode of one message: its record, with both offsets 0, or the reason why it is refused.

    Raises BufferOverflowError when a host is longer than sys_flag says. When one is shorter, so is the record, and its
    total size is not its length.
    """
    properties = b"" if message.properties_string is None else utf8_bytes(message.properties_string)
    if len(properties) > SHORT_MAX:
        return PutMessageStatus.PROPERTIES_SIZE_EXCEEDED
    topic = utf8_bytes(message.topic)
    body = message.body or b""
    message_length = cal_msg_length(message.sys_flag, len(body), len(topic), len(properties))
    if message_length > max_message_size:
        return PutMessageStatus.MESSAGE_ILLEGAL
    record = bytearray().join((
        _fixed_part(message, message_length, message.body_crc, message.flag, message.prepared_transaction_offset,
                    len(body)),
        body, _with_length_byte(topic), _SHORT.pack(len(properties)), properties,
    ))
    if len(record) > message_length:
        raise BufferOverflowError
    return record


def _fixed_part(
    message: MessageExtBrokerInner, message_length: int, body_crc: int, flag: int, prepared_offset: int,
    body_length: int,
) -> bytes:
    """The fields up to the body."""
    first = _FIRST.pack(message_length, MESSAGE_MAGIC_CODE, body_crc, message.queue_id, flag, 0, 0, message.sys_flag,
                        message.born_timestamp)
    last = _LAST.pack(message.reconsume_times, prepared_offset, body_length)
    return b"".join((first, message.born_host.to_bytes(), _STORED.pack(message.store_timestamp),
                     message.store_host.to_bytes(), last))


def _with_length_byte(topic: bytes) -> bytes:
    return struct.pack(">b", wrap8(len(topic))) + topic


def encode_batch(batch: MessageExtBatch, max_message_size: int) -> EncodedBatch:
    """MessageExtEncoder#encode of a batch: a record for each message, all with the batch's topic, queue and hosts.

    The batch's properties are appended to those of each message. Nothing looks at the sum of both: above 32767 bytes
    the length that is written is negative, and the record cannot be read again (hazard V1).

    Raises JavaRuntimeError when the batch's properties, a record or all records together are too long, and what the
    buffer raises for a body that is no batch.
    """
    batch_properties = utf8_bytes(message_properties2_string(batch.properties.entries()))
    if len(batch_properties) > SHORT_MAX:
        raise JavaRuntimeError("Properties size of messageExtBatch exceeded!")
    topic = utf8_bytes(batch.topic)
    buffer = ByteBuffer(batch.body or b"")
    records, total_length, batch_size = bytearray(), 0, 0
    while buffer.has_remaining():
        batch_size += 1
        entry = _entry(buffer, has_batch_properties=bool(batch_properties))
        properties_length = batch_properties_length(
            entry.properties_length, len(batch_properties), needs_separator=entry.needs_separator)
        message_length = cal_msg_length(batch.sys_flag, entry.body_length, len(topic), properties_length)
        total_length = wrap32(total_length + message_length)
        if message_length > max_message_size or total_length > max_message_size:
            raise JavaRuntimeError("message size exceeded")
        _check_hosts(batch)
        records += _batch_record(batch, entry, topic, batch_properties, message_length, properties_length)
        if len(records) > max_message_size:
            raise BufferOverflowError
    return EncodedBatch(records, batch_size)


def _check_hosts(batch: MessageExtBatch) -> None:
    """Java copies each host by way of a buffer of the length that the flag says."""
    for host, v6_flag in ((batch.born_host, BORNHOST_V6_FLAG), (batch.store_host, STOREHOSTADDRESS_V6_FLAG)):
        if len(host.to_bytes()) > host_bytes(batch.sys_flag, v6_flag):
            raise BufferOverflowError


def _entry(buffer: ByteBuffer, *, has_batch_properties: bool) -> BatchEntry:
    """The message at the position, as far as the encoder looks at it."""
    for _ in range(3):  # total size, magic code, checksum
        buffer.get_int()
    flag, body_length = buffer.get_int(), buffer.get_int()
    start = buffer.position
    data = bytes(buffer.data)
    body_crc = crc32_of_part(data, start, body_length)
    buffer.move_to(start + body_length)
    properties_length = buffer.get_short()
    properties_start = buffer.position
    buffer.move_to(properties_start + properties_length)
    needs_separator = properties_length > 0 and has_batch_properties and data[buffer.position - 1] != _SEPARATOR
    return BatchEntry(flag, body_crc, body_length, data[start : start + body_length], properties_length,
                      data[properties_start : properties_start + max(properties_length, 0)], needs_separator)


def _batch_record(
    batch: MessageExtBatch, entry: BatchEntry, topic: bytes, batch_properties: bytes, message_length: int,
    properties_length: int,
) -> bytes:
    separator = bytes([_SEPARATOR]) if entry.needs_separator else b""
    return b"".join((
        _fixed_part(batch, message_length, entry.body_crc, entry.flag, 0, entry.body_length),
        entry.body, _with_length_byte(topic), _SHORT.pack(written_properties_length(properties_length)),
        entry.properties, separator, batch_properties,
    ))


def blank_record(max_blank: int) -> bytes:
    """The eight bytes that end a file which has so many bytes left; what lies behind them stays as it is.

    DefaultAppendMessageCallback#doAppend.
    """
    return struct.pack(">ii", max_blank, BLANK_MAGIC_CODE)


def place(
    records: bytearray, start: int, sys_flag: int, *, queue_offset: int, physical_offset: int, store_timestamp_ms: int,
) -> None:
    """Write into the record at `start` what is known only under the log's lock.

    DefaultAppendMessageCallback#doAppend.
    """
    _OFFSETS.pack_into(records, start + QUEUE_OFFSET_POSITION, queue_offset, physical_offset)
    store_timestamp_position = start + BORN_HOST_POSITION + host_bytes(sys_flag, BORNHOST_V6_FLAG)
    _STORED.pack_into(records, store_timestamp_position, store_timestamp_ms)


def place_batch(
    records: bytearray, sys_flag: int, *, max_blank: int, queue_offset: int, physical_offset: int,
    store_timestamp_ms: int,
) -> list[int] | None:
    """The same for all records of a batch: their physical offsets, or None if the file has no room for all of them.

    max_blank -- bytes left in the file. queue_offset, physical_offset -- of the first record.
    DefaultAppendMessageCallback#doAppend of a batch; what was written into records before the room ended stays.
    """
    physical_offsets: list[int] = []
    start = 0
    while start < len(records):
        length: int = struct.unpack_from(">i", records, start)[0]
        if is_end_of_file(start + length, max_blank):
            return None
        place(records, start, sys_flag, queue_offset=queue_offset + len(physical_offsets),
              physical_offset=physical_offset + start, store_timestamp_ms=store_timestamp_ms)
        physical_offsets.append(physical_offset + start)
        start += length
    return physical_offsets


def host_flags(sys_flag: int, born_host: InetSocketAddress, store_host: InetSocketAddress) -> int:
    """The flag with what CommitLog#asyncPutMessage adds: which of the hosts has an IPv6 address."""
    born = BORNHOST_V6_FLAG if born_host.is_v6 else 0
    store = STOREHOSTADDRESS_V6_FLAG if store_host.is_v6 else 0
    return sys_flag | born | store
