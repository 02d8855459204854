"""What the dispatcher reads from a record, and the check that recovery makes."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import NamedTuple

from impl.common.byte_buffer import ByteBuffer, check_array_size
from impl.common.message_const import (
    PROPERTY_DELAY_TIME_LEVEL,
    PROPERTY_KEYS,
    PROPERTY_TAGS,
    PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX,
)
from impl.common.message_properties import property_entries
from impl.common.record_layout import BLANK_MAGIC_CODE, MESSAGE_MAGIC_CODE, RecordHeader, read_header
from impl.decisions.java_errors import IndexOutOfBoundsError, JavaException
from impl.decisions.java_text import parse_integer, utf8_text
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from impl.decisions.retry_level import DELAY_LEVEL_TABLE, compute_deliver_timestamp, stored_delay_level
from impl.decisions.store_rules import cal_msg_length
from impl.decisions.subscription import tags_string_to_tags_code


class DispatchRequest(NamedTuple):
    """`store.DispatchRequest`.

    msg_size -- of the record; 0 with success is a blank, -1 without it says that nothing could be read.
    keys, uniq_key -- properties of these names. Without any property keys is the empty text, not None.
    """

    topic: str
    queue_id: int
    commit_log_offset: int
    msg_size: int
    tags_code: int
    store_timestamp: int
    consume_queue_offset: int
    keys: str | None
    uniq_key: str | None
    sys_flag: int
    prepared_transaction_offset: int
    properties_map: Mapping[str, str] | None
    success: bool = True


class DelayLevels(NamedTuple):
    """What ScheduleMessageService has parsed: level to delay in ms, and the greatest level.

    A store that has just been started has parsed nothing until its recovery is over (hazard V5): NOT_PARSED.
    """

    table: Mapping[int, int]
    max_delay_level: int


NOT_PARSED = DelayLevels({}, 0)
DEFAULT_LEVELS = DelayLevels(DELAY_LEVEL_TABLE, max(DELAY_LEVEL_TABLE))


def without_message(size: int, *, success: bool) -> DispatchRequest:
    """DispatchRequest of a size only."""
    return DispatchRequest("", 0, 0, size, 0, 0, 0, "", None, 0, 0, None, success)


BLANK = without_message(0, success=True)
UNREADABLE = without_message(-1, success=False)


def check_message_and_return_size(
    buffer: ByteBuffer, *, check_crc: bool, read_body: bool = True, delay_levels: DelayLevels = DEFAULT_LEVELS,
) -> DispatchRequest:
    """CommitLog#checkMessageAndReturnSize: the record at the position, which moves over what is read.

    Behind a good record the position is its end. BLANK for the blank at the end of a file, UNREADABLE for a foreign
    magic code, a wrong checksum (only if asked for, and only of a body that is read) and for lengths that lead
    nowhere. A record that can be read but is not as long as it says is no success, and has the size that it says.
    Raises HeapExhaustedError for a total size that no array can have; Java's caller does not catch it.
    """
    try:
        total_size, magic_code = buffer.int_at(buffer.position), buffer.int_at(buffer.position + 4)
        if magic_code == BLANK_MAGIC_CODE:
            buffer.move_to(buffer.position + 8)
            return BLANK
        if magic_code != MESSAGE_MAGIC_CODE:
            return UNREADABLE
        check_array_size(total_size)
        header = read_header(buffer)
        if not _read_body(buffer, header, check_crc=check_crc, read_body=read_body):
            return UNREADABLE
        return _rest(buffer, header, delay_levels)
    except JavaException:
        return UNREADABLE


def _check_room(header: RecordHeader, length: int) -> None:
    """Java reads all parts into one array of total_size bytes."""
    if not 0 <= length <= header.total_size:
        raise IndexOutOfBoundsError


def _read_body(buffer: ByteBuffer, header: RecordHeader, *, check_crc: bool, read_body: bool) -> bool:
    """Move over the body; whether its checksum is right or nobody asks."""
    _check_room(header, max(len(header.born_address), len(header.store_address)) + 4)
    start, length = buffer.position, header.body_length
    if length <= 0:
        return True
    if read_body:
        _check_room(header, length)
    buffer.move_to(start + length)
    if not (read_body and check_crc):
        return True
    return zlib.crc32(buffer.data[start : start + length]) & 0x7FFFFFFF == header.body_crc


def _rest(buffer: ByteBuffer, header: RecordHeader, delay_levels: DelayLevels) -> DispatchRequest:
    """Topic and properties, and what follows from all."""
    topic_length = buffer.get_byte()
    _check_room(header, topic_length)
    topic = utf8_text(buffer.get(topic_length))
    properties_length = buffer.get_short()
    tags_code, uniq_key, properties = 0, None, None
    keys: str | None = ""
    if properties_length > 0:
        _check_room(header, properties_length)
        properties = property_entries(utf8_text(buffer.get(properties_length)))
        keys = properties.get(PROPERTY_KEYS)
        uniq_key = properties.get(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX)
        tags_code = _tags_code(topic, properties, header.store_timestamp, delay_levels)
    length = cal_msg_length(header.sys_flag, header.body_length, topic_length, properties_length)
    if length != header.total_size:
        return without_message(header.total_size, success=False)
    return DispatchRequest(
        topic, header.queue_id, header.physical_offset, header.total_size, tags_code, header.store_timestamp,
        header.queue_offset, keys, uniq_key, header.sys_flag, header.prepared_transaction_offset, properties,
    )


def _tags_code(
    topic: str, properties: Mapping[str, str], store_timestamp_ms: int, delay_levels: DelayLevels,
) -> int:
    """What stands in the consume queue: the hash of the tags, or when a delayed message is due."""
    delay = properties.get(PROPERTY_DELAY_TIME_LEVEL)
    if topic == RMQ_SYS_SCHEDULE_TOPIC and delay is not None:
        level = stored_delay_level(parse_integer(delay, 32), delay_levels.max_delay_level)
        if level > 0:
            return compute_deliver_timestamp(level, store_timestamp_ms, delay_levels.table)
    return tags_string_to_tags_code(properties.get(PROPERTY_TAGS))
