"""EndTransactionProcessor: what a producer says of its half message, at once or when it is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from impl.broker.transaction.transactional_message_bridge import copied
from impl.broker.transaction.transactional_message_service import TransactionalMessageServiceImpl
from impl.common.headers import EndTransactionRequestHeader
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_PRODUCER_GROUP,
    PROPERTY_REAL_QUEUE_ID,
    PROPERTY_REAL_TOPIC,
    PROPERTY_TRANSACTION_PREPARED,
)
from impl.common.request_code import ResponseCode
from impl.decisions.flags import TRANSACTION_COMMIT_TYPE, TRANSACTION_ROLLBACK_TYPE, reset_transaction_value
from impl.decisions.java_errors import not_null
from impl.decisions.java_text import parse_integer
from impl.decisions.transaction_check import wrong_prepare_message
from impl.ports.remoting import NOT_SET
from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.put_message_result import PutMessageResult
from impl.store.put_message_status import PutMessageStatus

_NOT_FOUND = "Find prepared transaction message failed"
_ILLEGAL = (
    "The message is illegal, maybe msg body or properties length not matched. "
    "msg body length limit 128k, msg properties length limit 32k."
)


class Answer(NamedTuple):
    """Code and remark of the response."""

    code: ResponseCode
    remark: str | None = None


_SUCCESS = Answer(ResponseCode.SUCCESS)
_FINAL_ANSWERS: Mapping[PutMessageStatus, Answer] = {
    PutMessageStatus.PUT_OK: _SUCCESS, PutMessageStatus.FLUSH_DISK_TIMEOUT: _SUCCESS,
    PutMessageStatus.FLUSH_SLAVE_TIMEOUT: _SUCCESS, PutMessageStatus.SLAVE_NOT_AVAILABLE: _SUCCESS,
    PutMessageStatus.CREATE_MAPEDFILE_FAILED: Answer(ResponseCode.SYSTEM_ERROR, "Create mapped file failed."),
    PutMessageStatus.MESSAGE_ILLEGAL: Answer(ResponseCode.MESSAGE_ILLEGAL, _ILLEGAL),
    PutMessageStatus.PROPERTIES_SIZE_EXCEEDED: Answer(ResponseCode.MESSAGE_ILLEGAL, _ILLEGAL),
    PutMessageStatus.SERVICE_NOT_AVAILABLE: Answer(ResponseCode.SERVICE_NOT_AVAILABLE, "Service not available now."),
    PutMessageStatus.OS_PAGECACHE_BUSY: Answer(
        ResponseCode.SYSTEM_ERROR, "OS page cache busy, please try another machine"),
    PutMessageStatus.UNKNOWN_ERROR: Answer(ResponseCode.SYSTEM_ERROR, "UNKNOWN_ERROR"),
}


class EndTransactionProcessor:
    """`broker.processor.EndTransactionProcessor`.

    store -- keeps the final message. transactional_message_service -- knows the half messages.
    """

    def __init__(self, store: DefaultMessageStore, service: TransactionalMessageServiceImpl) -> None:
        """Have ended nothing."""
        self._store, self.transactional_message_service = store, service

    def process_request(self, header: EndTransactionRequestHeader, respond: Callable[[Answer], None]) -> None:
        """EndTransactionProcessor#processRequest; a producer that does not know gets no answer.

        respond -- is given the answer, when disk and slave have given theirs. Raises NullPointerError for a message
        that names no producer group, and what the store raises for an offset that leads to no record.
        """
        if self._store.config.slave:
            respond(Answer(ResponseCode.SLAVE_NOT_AVAILABLE, NOT_SET))
            return
        if not_null(header.commit_or_rollback) not in {TRANSACTION_COMMIT_TYPE, TRANSACTION_ROLLBACK_TYPE}:
            return
        half = self.transactional_message_service.get_half_message_by_offset(header.commit_log_offset)
        remark = _NOT_FOUND if half is None else check_prepare_message(half, header)
        if half is None or remark is not None:
            respond(Answer(ResponseCode.SYSTEM_ERROR, remark))
        elif header.commit_or_rollback == TRANSACTION_ROLLBACK_TYPE:
            self.transactional_message_service.delete_prepare_message(half)
            respond(Answer(ResponseCode.SUCCESS, NOT_SET))
        else:
            self._commit(half, header, respond)

    def _commit(
        self, half: MessageExt, header: EndTransactionRequestHeader, respond: Callable[[Answer], None],
    ) -> None:
        def finish(result: PutMessageResult) -> None:
            answer = _FINAL_ANSWERS[result.status]
            if answer is _SUCCESS:
                self.transactional_message_service.delete_prepare_message(half)
            respond(answer)

        message = end_message_transaction(half)
        message.prepared_transaction_offset = header.commit_log_offset
        self._store.async_put_message(message).when_complete(finish)


def check_prepare_message(half: MessageExt, header: EndTransactionRequestHeader) -> str | None:
    """EndTransactionProcessor#checkPrepareMessage: the remark, None if this is the message that is to end.

    Raises NullPointerError for a message without producer group.
    """
    group = not_null(half.get_property(PROPERTY_PRODUCER_GROUP))
    return wrong_prepare_message(
        group_is_right=group == header.producer_group, queue_offset=half.queue_offset,
        asked_queue_offset=header.tran_state_table_offset, log_offset=half.commit_log_offset,
        asked_log_offset=header.commit_log_offset)


def end_message_transaction(half: MessageExt) -> MessageExtBrokerInner:
    """EndTransactionProcessor#endMessageTransaction: the message as consumers get it, its properties as they were.

    It is put as its producer asked for: Java sets WAIT to false, and then takes another map of properties. Raises
    NullPointerError without topic or queue id, NumberFormatError.
    """
    topic = not_null(half.get_property(PROPERTY_REAL_TOPIC))
    message = copied(half, topic, parse_integer(not_null(half.get_property(PROPERTY_REAL_QUEUE_ID)), 32))
    message.sys_flag = reset_transaction_value(message.sys_flag, TRANSACTION_COMMIT_TYPE)
    for name in (PROPERTY_REAL_TOPIC, PROPERTY_REAL_QUEUE_ID, PROPERTY_TRANSACTION_PREPARED):
        message.clear_property(name)
    return message
