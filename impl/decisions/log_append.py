"""What goes into the log: how long a record is, whether a file has room for it, which length stands in it."""

from __future__ import annotations

from impl.decisions.java_arithmetic import wrap16, wrap32

END_FILE_MIN_BLANK_LENGTH = 8  # CommitLog.DefaultAppendMessageCallback
_FIXED_RECORD_BYTES = 75  # CommitLog#calMsgLength without hosts, body, topic and properties
HOST_V4_BYTES, HOST_V6_BYTES = 8, 20


def record_length(
    body_length: int, topic_length: int, properties_length: int, *, born_host_v6: bool, store_host_v6: bool,
) -> int:
    """Bytes of a stored record; CommitLog#calMsgLength. Negative lengths of body and properties count as none."""
    length = _FIXED_RECORD_BYTES + topic_length
    length += HOST_V6_BYTES if born_host_v6 else HOST_V4_BYTES
    length += HOST_V6_BYTES if store_host_v6 else HOST_V4_BYTES
    if body_length > 0:
        length += body_length
    if properties_length > 0:
        length += properties_length
    return wrap32(length)


def is_end_of_file(message_length: int, max_blank: int) -> bool:
    """DefaultAppendMessageCallback#doAppend: whether a record must not go into a file with so many bytes left.

    A full file ends with a blank of at least eight bytes. The sum is one of ints: a length above 2³¹ − 9 fits always.
    """
    return wrap32(message_length + END_FILE_MIN_BLANK_LENGTH) > max_blank


def batch_properties_length(properties_length: int, batch_properties_length: int, *, needs_separator: bool) -> int:
    """MessageExtEncoder#encode of a batch: bytes of a message's properties with those of the whole batch behind them.

    Each of the two is at most 32767; nothing looks at the sum.
    """
    if needs_separator:
        return properties_length + batch_properties_length + 1
    return properties_length + batch_properties_length


def written_properties_length(properties_length: int) -> int:
    """MessageExtEncoder#encode: the length that stands in the record, in 16 bits. A negative one is read as none."""
    return wrap16(properties_length)


def is_os_page_cache_busy(now_ms: int, begin_time_in_lock_ms: int, timeout_ms: int) -> bool:
    """DefaultMessageStore#isOSPageCacheBusy: whether a put has held the lock for long.

    begin_time_in_lock_ms -- 0 while nobody holds it. A lock that was held for 10,000 s does not count any more.
    """
    return timeout_ms < now_ms - begin_time_in_lock_ms < 10_000_000  # noqa: PLR2004  Java's own literal
