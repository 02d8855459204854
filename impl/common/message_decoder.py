"""`common.message.MessageDecoder`: whole records to messages and back, without a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from struct import Struct

from impl.common.byte_buffer import ByteBuffer, check_array_size
from impl.common.inet_socket_address import inet_socket_address
from impl.common.message import MessageExt
from impl.common.message_id import create_message_id_of_length
from impl.common.message_properties import message_properties2_string, string2_message_properties
from impl.common.record_layout import (
    MESSAGE_MAGIC_CODE,
    SYSFLAG_POSITION,
    RecordHeader,
    host_bytes,
    read_header,
)
from impl.common.util_all import compress, uncompress
from impl.decisions.flags import BORNHOST_V6_FLAG, COMPRESSED_FLAG, STOREHOSTADDRESS_V6_FLAG, has_flag
from impl.decisions.java_arithmetic import wrap8, wrap16, wrap32
from impl.decisions.java_errors import (
    BufferOverflowError,
    IllegalArgumentError,
    JavaException,
    not_null,
)
from impl.decisions.java_text import utf8_bytes, utf8_text

COMPRESSION_LEVEL = 5  # MessageDecoder#encode
_FIXED_FIELDS = Struct(">iiiiiqqiq")
_FIXED_RECORD_BYTES = 75  # without hosts, body, topic and properties
_BODY_LENGTH_POSITION = 68  # MessageDecoder#decodeProperties, without hosts


def encode(message: MessageExt, *, need_compress: bool) -> bytes:
    """MessageDecoder#encode: the record of a message, with all fields as they stand in it.

    need_compress -- compress the body of a message whose flag says that it is. The record has store_size bytes if that
    is positive. The lengths of topic and properties are cut to 8 and 16 bits, so that greater ones give a record that
    is too short: raises BufferOverflowError, or IllegalArgumentError when nothing is left of it.
    """
    topic = utf8_bytes(message.topic)
    properties = utf8_bytes(message_properties2_string(_entries(message.properties)))
    body = not_null(message.body)
    if need_compress and has_flag(message.sys_flag, COMPRESSED_FLAG):
        body = compress(body, COMPRESSION_LEVEL)
    topic_length, properties_length = wrap8(len(topic)), wrap16(len(properties))
    store_size = message.store_size
    if store_size <= 0:
        hosts = host_bytes(message.sys_flag, BORNHOST_V6_FLAG) + host_bytes(message.sys_flag, STOREHOSTADDRESS_V6_FLAG)
        store_size = wrap32(_FIXED_RECORD_BYTES + hosts + len(body) + topic_length + properties_length)
    if store_size < 0:
        raise IllegalArgumentError(f"capacity < 0: ({store_size} < 0)")
    check_array_size(store_size)
    written = b"".join((
        _head(message, store_size), Struct(">i").pack(len(body)), body,
        Struct(">b").pack(topic_length), topic, Struct(">h").pack(properties_length), properties,
    ))
    if len(written) > store_size:
        raise BufferOverflowError
    return written.ljust(store_size, b"\0")


def _entries(properties: Mapping[str, str] | None) -> Iterable[tuple[str, str]]:
    return () if properties is None else properties.items()


def _head(message: MessageExt, store_size: int) -> bytes:
    """The fields before the body's length."""
    first = _FIXED_FIELDS.pack(
        store_size, MESSAGE_MAGIC_CODE, message.body_crc, message.queue_id, message.flag, message.queue_offset,
        message.commit_log_offset, message.sys_flag, message.born_timestamp,
    )
    stored = Struct(">q").pack(message.store_timestamp)
    last = Struct(">iq").pack(message.reconsume_times, message.prepared_transaction_offset)
    return b"".join((first, message.born_host.to_bytes(), stored, message.store_host.to_bytes(), last))


def decode(buffer: ByteBuffer, *, read_body: bool = True, decompress_body: bool = True) -> MessageExt | None:
    """MessageDecoder#decode: the message of the record at the position, which moves behind it.

    None for what is no record; the position is then the limit. The magic code, the total size and the checksum are not
    looked at. A body that is not read is None, as is an empty one; properties are None where a record has none.
    Raises HeapExhaustedError for a length that no array can have.
    """
    try:
        return _decoded(buffer, read_body=read_body, decompress_body=decompress_body)
    except JavaException:
        buffer.position = buffer.limit
        return None


def _decoded(buffer: ByteBuffer, *, read_body: bool, decompress_body: bool) -> MessageExt:
    header = read_header(buffer)
    born_host = inet_socket_address(header.born_address, header.born_port)
    store_host = inet_socket_address(header.store_address, header.store_port)
    body = _body(buffer, header, read_body=read_body, decompress_body=decompress_body)
    topic = utf8_text(buffer.get(buffer.get_byte()))
    properties = _properties(buffer)
    id_bytes = len(header.store_address) + 12
    return MessageExt(
        header.queue_offset, body, properties, topic, header.queue_id, header.flag, header.sys_flag,
        header.total_size, header.physical_offset, header.born_timestamp, born_host, header.store_timestamp,
        store_host, header.reconsume_times, header.prepared_transaction_offset, header.body_crc,
        create_message_id_of_length(id_bytes, store_host, header.physical_offset),
    )


def _body(buffer: ByteBuffer, header: RecordHeader, *, read_body: bool, decompress_body: bool) -> bytes | None:
    if header.body_length <= 0:
        return None
    if not read_body:
        buffer.move_to(buffer.position + header.body_length)
        return None
    body = buffer.get(header.body_length)
    return uncompress(body) if decompress_body and has_flag(header.sys_flag, COMPRESSED_FLAG) else body


def _properties(buffer: ByteBuffer) -> dict[str, str] | None:
    length = buffer.get_short()
    if length <= 0:
        return None
    return dict(string2_message_properties(utf8_text(buffer.get(length))).entries())


def decode_properties(buffer: ByteBuffer) -> dict[str, str] | None:
    """MessageDecoder#decodeProperties: only the properties of the record at the buffer's beginning; None without any.

    The position moves behind them. Raises IndexOutOfBoundsError, IllegalArgumentError, BufferUnderflowError.
    """
    sys_flag = buffer.int_at(SYSFLAG_POSITION)
    hosts = host_bytes(sys_flag, BORNHOST_V6_FLAG) + host_bytes(sys_flag, STOREHOSTADDRESS_V6_FLAG)
    body_position = _BODY_LENGTH_POSITION + hosts
    topic_position = wrap32(body_position + 4 + buffer.int_at(body_position))
    length_position = wrap32(topic_position + 1 + buffer.byte_at(topic_position))
    buffer.short_at(length_position)
    buffer.move_to(length_position)
    return _properties(buffer)


def decodes(buffer: ByteBuffer, *, read_body: bool = True) -> list[MessageExt]:
    """MessageDecoder#decodes: the messages of all records up to the limit, or to the first that is none."""
    messages = []
    while buffer.has_remaining():
        message = decode(buffer, read_body=read_body)
        if message is None:
            break
        messages.append(message)
    return messages
