"""Where a push consumer starts to read a queue that it has just been given."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from impl.decisions.java_calendar import parse_date_ms
from impl.decisions.java_errors import MQClientError, not_null
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX

NO_OFFSET = -1  # the broker has none for the group (RemoteBrokerOffsetStore#readOffset)
READ_FAILED = -2  # the offset could not be read


class ConsumeFromWhere(StrEnum):
    """`common.consumer.ConsumeFromWhere`; the three deprecated modes behave as CONSUME_FROM_LAST_OFFSET."""

    CONSUME_FROM_LAST_OFFSET = "CONSUME_FROM_LAST_OFFSET"
    CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST = "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST"
    CONSUME_FROM_MIN_OFFSET = "CONSUME_FROM_MIN_OFFSET"
    CONSUME_FROM_MAX_OFFSET = "CONSUME_FROM_MAX_OFFSET"
    CONSUME_FROM_FIRST_OFFSET = "CONSUME_FROM_FIRST_OFFSET"
    CONSUME_FROM_TIMESTAMP = "CONSUME_FROM_TIMESTAMP"


class Source(StrEnum):
    """Where the start offset comes from."""

    STORED = "STORED"  # the committed offset
    ZERO = "ZERO"  # offset 0
    MAX_OFFSET = "MAX_OFFSET"  # the master is asked for the queue's end
    SEARCH_OFFSET = "SEARCH_OFFSET"  # the master is asked for the offset at the consume timestamp
    NONE = "NONE"  # -1: the queue is skipped in this run


def start_offset_source(mode: ConsumeFromWhere, stored: int, *, retry_topic: bool) -> Source:
    """The row of the table; RebalancePushImpl#computePullFromWhereWithException.

    stored -- what OffsetStore#readOffset(READ_FROM_STORE) answered: an offset, NO_OFFSET or READ_FAILED.
    """
    if stored >= 0:
        return Source.STORED
    if stored != NO_OFFSET:
        return Source.NONE
    if mode == ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET:
        return Source.ZERO
    if mode == ConsumeFromWhere.CONSUME_FROM_TIMESTAMP:
        return Source.MAX_OFFSET if retry_topic else Source.SEARCH_OFFSET
    return Source.ZERO if retry_topic else Source.MAX_OFFSET


def start_offset(source: Source, stored: int, max_offset: int, searched_offset: int) -> int:
    """The number that a row of the table stands for, given what the master answers."""
    if source == Source.STORED:
        return stored
    if source == Source.ZERO:
        return 0
    if source == Source.MAX_OFFSET:
        return max_offset
    if source == Source.SEARCH_OFFSET:
        return searched_offset
    return -1


def compute_pull_from_where_with_exception(
    mode: ConsumeFromWhere, topic: str, stored: int, max_offset: Callable[[], int], search_offset: Callable[[], int],
) -> int:
    """RebalancePushImpl#computePullFromWhereWithException; at most one of the two questions is asked.

    max_offset, search_offset -- ask the master; both may raise MQClientError, which goes to the caller.
    """
    source = start_offset_source(mode, stored, retry_topic=topic.startswith(RETRY_GROUP_TOPIC_PREFIX))
    asked_max = max_offset() if source == Source.MAX_OFFSET else -1
    searched = search_offset() if source == Source.SEARCH_OFFSET else -1
    return start_offset(source, stored, asked_max, searched)


def compute_pull_from_where(
    mode: ConsumeFromWhere, topic: str, stored: int, max_offset: Callable[[], int], search_offset: Callable[[], int],
) -> int:
    """RebalancePushImpl#computePullFromWhere, deprecated: a failed question is -1."""
    try:
        return compute_pull_from_where_with_exception(mode, topic, stored, max_offset, search_offset)
    except MQClientError:
        return -1


def consume_timestamp_ms(text: str) -> int:
    """The consumeTimestamp of a consumer, yyyyMMddHHmmss in UTC, as ms since 1970.

    Raises NullPointerError for a text that UtilAll#parseDate cannot read: nobody looks at its null.
    """
    return not_null(parse_date_ms(text))
