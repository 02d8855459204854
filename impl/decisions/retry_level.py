"""Delay levels: their table, the delivery time of a delayed message, and the level of a message sent back."""

from __future__ import annotations

from collections.abc import Mapping

from impl.decisions.java_arithmetic import INT_MAX, wrap32, wrap64
from impl.decisions.java_errors import JavaError, JavaException, NullPointerError, not_null
from impl.decisions.java_text import parse_integer, split

MESSAGE_DELAY_LEVEL = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"  # MessageStoreConfig
_UNITS_MS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
UNKNOWN_LEVEL_DELAY_MS = 1000  # ScheduleMessageService#computeDeliverTimestamp
RETRY_MAX_TIMES = 16  # SubscriptionGroupConfig#retryMaxTimes, DefaultMQPushConsumerImpl#getMaxReconsumeTimes
FIRST_RETRY_LEVEL = 3  # SendMessageProcessor#asyncConsumerSendMsgBack


def parse_delay_level(level_string: str | None) -> tuple[bool, dict[int, int], int]:
    """ScheduleMessageService#parseDelayLevel: success, the table {level: ms}, the greatest level.

    Levels before a mistake are kept, and the level of a wrong number or unit already counts for the greatest.
    """
    table: dict[int, int] = {}
    max_delay_level = 0
    try:
        for level, value in enumerate(split(not_null(level_string), " "), start=1):
            if not value:
                raise JavaException("begin -1, end 0, length 0")  # substring, then Java's own catch
            unit_ms = _UNITS_MS.get(value[-1])
            max_delay_level = level
            number = parse_integer(value[:-1], 64)
            if unit_ms is None:
                raise NullPointerError
            table[level] = wrap64(unit_ms * number)
    except JavaError:
        return False, table, max_delay_level
    return True, table, max_delay_level


DELAY_LEVEL_TABLE: Mapping[int, int] = parse_delay_level(MESSAGE_DELAY_LEVEL)[1]


def compute_deliver_timestamp(
    level: int, store_timestamp_ms: int, table: Mapping[int, int] = DELAY_LEVEL_TABLE,
) -> int:
    """ScheduleMessageService#computeDeliverTimestamp: when a message is due; an unknown level delays a second."""
    return wrap64(store_timestamp_ms + table.get(level, UNKNOWN_LEVEL_DELAY_MS))


def corrected_timestamp(now_ms: int, deliver_timestamp_ms: int, delay_ms: int) -> int:
    """The arithmetic of correctDeliverTimestamp: a message due later than now + its delay is due now."""
    if deliver_timestamp_ms > wrap64(now_ms + delay_ms):
        return now_ms
    return deliver_timestamp_ms


def correct_deliver_timestamp(
    level: int, now_ms: int, deliver_timestamp_ms: int, table: Mapping[int, int] = DELAY_LEVEL_TABLE,
) -> int:
    """DeliverDelayedMessageTimerTask#correctDeliverTimestamp; raises NullPointerError for an unknown level."""
    return corrected_timestamp(now_ms, deliver_timestamp_ms, not_null(table.get(level)))


def correct_delay_offset(offset: int, min_offset: int, max_offset: int) -> int:
    """ScheduleMessageService#correctDelayOffset: where a level goes on, moved into its queue [min, max]."""
    corrected = max(offset, min_offset)
    return max_offset if offset > max_offset else corrected


def reset_delay_offset(offset: int, min_offset: int, max_offset: int) -> int:
    """DeliverDelayedMessageTimerTask#executeOnTimeup: where a level goes on that finds no unit at its offset."""
    if min_offset > offset:
        return min_offset
    return min(offset, max_offset)


def offset_after_delivery(first_offset: int) -> int:
    """PutResultProcess#getNextOffset: where a level goes on after a restart, once a message was delivered.

    first_offset -- of the first unit that the task looked at, whichever it delivered (V19).
    """
    return wrap64(first_offset + 1)


def delay_level_to_queue_id(level: int) -> int:
    """ScheduleMessageService#delayLevel2QueueId."""
    return wrap32(level - 1)


def queue_id_to_delay_level(queue_id: int) -> int:
    """ScheduleMessageService#queueId2DelayLevel."""
    return wrap32(queue_id + 1)


def stored_delay_level(level: int, max_delay_level: int) -> int:
    """The level a message is delayed at, 0 for none; CommitLog#asyncPutMessage caps it."""
    if level <= 0:
        return 0
    if level > max_delay_level:
        return max_delay_level
    return level


def goes_to_dead_letters(reconsume_times: int, delay_level: int, max_reconsume_times: int) -> bool:
    """Whether a message sent back ends in the dead-letter topic; SendMessageProcessor#asyncConsumerSendMsgBack."""
    return reconsume_times >= max_reconsume_times or delay_level < 0


def send_back_delay_level(reconsume_times: int, delay_level: int, max_reconsume_times: int) -> int:
    """The level of a message sent back, before the cap; 0 in the dead-letter topic.

    SendMessageProcessor#asyncConsumerSendMsgBack: 0 asks the broker, which counts up from the third level.
    """
    if goes_to_dead_letters(reconsume_times, delay_level, max_reconsume_times):
        return 0
    if delay_level == 0:
        return wrap32(FIRST_RETRY_LEVEL + reconsume_times)
    return delay_level


def max_reconsume_times(configured: int, *, orderly: bool) -> int:
    """DefaultMQPushConsumerImpl#getMaxReconsumeTimes; ConsumeMessageOrderlyService#getMaxReconsumeTimes if orderly."""
    if configured == -1:
        return INT_MAX if orderly else RETRY_MAX_TIMES
    return configured


def delay_time_level(text: str | None) -> int:
    """Message#getDelayTimeLevel: the number in property DELAY, 0 without it; raises NumberFormatError."""
    return 0 if text is None else parse_integer(text, 32)
