"""Half messages: which are checked, given up or left alone, and how far the check has come.

Times are ms since 1970, ages and limits ms. Offsets are queue offsets of the half queue and of the op queue.
"""

from __future__ import annotations

from collections.abc import Iterable

from impl.decisions.java_arithmetic import wrap32, wrap64
from impl.decisions.pull_answer import GetMessageStatus, PullStatus

TRANSACTION_TIMEOUT_MS = 6_000  # BrokerConfig
TRANSACTION_CHECK_MAX = 15  # BrokerConfig
TRANSACTION_CHECK_INTERVAL_MS = 60_000  # BrokerConfig
MAX_PROCESS_TIME_LIMIT_MS = 60_000  # TransactionalMessageServiceImpl
OP_MESSAGES_AT_ONCE = 32  # TransactionalMessageServiceImpl#fillOpRemoveMap
_HOUR_MS = 3_600_000
_UNREADABLE = -1  # TransactionalMessageServiceImpl#getInt, #getLong

_PULL_STATUS = {
    GetMessageStatus.FOUND: PullStatus.FOUND, GetMessageStatus.NO_MATCHED_MESSAGE: PullStatus.NO_MATCHED_MSG,
    GetMessageStatus.NO_MESSAGE_IN_QUEUE: PullStatus.NO_NEW_MSG,
    GetMessageStatus.OFFSET_OVERFLOW_ONE: PullStatus.NO_NEW_MSG,
}


def pull_status(status: GetMessageStatus) -> PullStatus:
    """TransactionalMessageBridge#getMessage: what the store's status is to the check."""
    return _PULL_STATUS.get(status, PullStatus.OFFSET_ILLEGAL)


def need_discard(check_times: int | None, check_max: int) -> bool:
    """TransactionalMessageServiceImpl#needDiscard; check_times -- how often it was checked, None: never."""
    return check_times is not None and check_times >= check_max


def next_check_times(check_times: int | None) -> int:
    """TransactionalMessageServiceImpl#needDiscard: what the copy that is put back says."""
    return 1 if check_times is None else wrap32(check_times + 1)


def need_skip(now_ms: int, born_ms: int, file_reserved_time_hours: int) -> bool:
    """TransactionalMessageServiceImpl#needSkip: older, by the clock of the producer, than files are kept."""
    return wrap64(now_ms - born_ms) > file_reserved_time_hours * _HOUR_MS


def check_immunity_time_ms(seconds: int | None, transaction_timeout_ms: int) -> int:
    """TransactionalMessageServiceImpl#check, #getImmunityTime: how old a half message is when it is checked first.

    seconds -- its property CHECK_IMMUNITY_TIME_IN_SECONDS, -1 for one that is no number; None: it has none.
    """
    if seconds is None or seconds == _UNREADABLE:
        return transaction_timeout_ms
    return wrap64(seconds * 1000)


def is_immune(age_ms: int, immunity_time_ms: int, *, own_immunity: bool) -> bool:
    """TransactionalMessageServiceImpl#check: whether it is too young; own_immunity -- it has the property.

    Without the property a message from the future, whose age is below zero, is not.
    """
    return age_ms < immunity_time_ms and (own_immunity or age_ms >= 0)


def is_need_check(
    age_ms: int, immunity_time_ms: int, last_op_born_ms: int | None, start_ms: int, transaction_timeout_ms: int,
) -> bool:
    """TransactionalMessageServiceImpl#check: whether the producer is asked, or more op messages are read before.

    last_op_born_ms -- when the last op message that was read was made; None: the last read found none. start_ms -- of
    this round.
    """
    if last_op_born_ms is None:
        return age_ms > immunity_time_ms or age_ms <= -1
    return wrap64(last_op_born_ms - start_ms) > transaction_timeout_ms or age_ms <= -1


def calculate_op_offset(done: Iterable[int], old_offset: int) -> int:
    """TransactionalMessageServiceImpl#calculateOpOffset: behind the longest run of done op messages from there on."""
    new_offset = old_offset
    for offset in sorted(done):
        if offset != new_offset:
            break
        new_offset += 1
    return new_offset


def is_done_before(half_offset: int, progress: int) -> bool:
    """TransactionalMessageServiceImpl#fillOpRemoveMap: whether an op message is of a half message behind the check."""
    return half_offset < progress


def wrong_prepare_message(
    *, group_is_right: bool, queue_offset: int, asked_queue_offset: int, log_offset: int, asked_log_offset: int,
) -> str | None:
    """EndTransactionProcessor#checkPrepareMessage: the remark for what is not the message that is to end; or None.

    Nobody looks whether it has ended before.
    """
    if not group_is_right:
        return "The producer group wrong"
    if queue_offset != asked_queue_offset:
        return "The transaction state table offset wrong"
    return "The commit log offset wrong" if log_offset != asked_log_offset else None
