"""SendMessageProcessor#handlePutMessageResult: what a producer is told of a put."""

from __future__ import annotations

from collections.abc import Mapping

from impl.common.headers import SendMessageResponseHeader
from impl.common.request_code import ResponseCode
from impl.ports.remoting import Command
from impl.store.clean_services import used_percent
from impl.store.put_message_result import PutMessageResult
from impl.store.put_message_status import PutMessageStatus
from impl.store.store_tables import StoreTables

_STORED: Mapping[PutMessageStatus, ResponseCode] = {
    PutMessageStatus.PUT_OK: ResponseCode.SUCCESS,
    PutMessageStatus.FLUSH_DISK_TIMEOUT: ResponseCode.FLUSH_DISK_TIMEOUT,
    PutMessageStatus.FLUSH_SLAVE_TIMEOUT: ResponseCode.FLUSH_SLAVE_TIMEOUT,
    PutMessageStatus.SLAVE_NOT_AVAILABLE: ResponseCode.SLAVE_NOT_AVAILABLE,
}
STORED = frozenset(_STORED.values())
"""The codes that say that the message is in the log."""

_ILLEGAL = ResponseCode.MESSAGE_ILLEGAL, (
    "the message is illegal, maybe msg body or properties length not matched. msg body length limit 128k, "
    "msg properties length limit 32k.")
_UNAVAILABLE = (
    "service not available now. It may be caused by one of the following reasons: the broker's disk is full [{}], "
    "messages are put to the slave, message store has been shut down, etc.")
_LMQ = (
    "[LMQ_CONSUME_QUEUE_NUM_EXCEEDED]broker config enableLmq and enableMultiDispatch, lmq consumeQueue num exceed "
    "maxLmqConsumeQueueNum config num, default limit 2w.")
_FAILED: Mapping[PutMessageStatus, tuple[ResponseCode, str]] = {
    PutMessageStatus.CREATE_MAPEDFILE_FAILED: (
        ResponseCode.SYSTEM_ERROR, "create mapped file failed, server is busy or broken."),
    PutMessageStatus.MESSAGE_ILLEGAL: _ILLEGAL,
    PutMessageStatus.PROPERTIES_SIZE_EXCEEDED: _ILLEGAL,
    PutMessageStatus.SERVICE_NOT_AVAILABLE: (ResponseCode.SERVICE_NOT_AVAILABLE, _UNAVAILABLE),
    PutMessageStatus.OS_PAGECACHE_BUSY: (
        ResponseCode.SYSTEM_ERROR, "[PC_SYNCHRONIZED]broker busy, start flow control for a while"),
    PutMessageStatus.LMQ_CONSUME_QUEUE_NUM_EXCEEDED: (ResponseCode.SYSTEM_ERROR, _LMQ),
    PutMessageStatus.UNKNOWN_ERROR: (ResponseCode.SYSTEM_ERROR, "UNKNOWN_ERROR"),
}


def stored_header(
    result: PutMessageResult, header: SendMessageResponseHeader, queue_id: int,
) -> SendMessageResponseHeader:
    """Ids and offset of a message that is in the log; the header as it is of one that is not."""
    appended = result.append_message_result
    if result.status not in _STORED or appended is None:
        return header
    return header._replace(msg_id=appended.get_msg_id(), queue_id=queue_id, queue_offset=appended.logics_offset)


def put_message_answer(
    result: PutMessageResult, header: SendMessageResponseHeader, queue_id: int, store: StoreTables,
) -> Command:
    """Code, remark and header of the answer; header -- as it is before the put, queue_id -- where the message is."""
    code = _STORED.get(result.status)
    if code is not None:
        return Command(code, header=stored_header(result, header, queue_id))
    failed, remark = _FAILED[result.status]
    return Command(failed, remark=remark.replace("{}", disk_util(store)), header=header)


def disk_util(store: StoreTables) -> str:
    """SendMessageProcessor#diskUtil: how full the disk is, as a part of 1; one disk holds everything."""
    ratio = used_percent(store) / 100
    return f"CL: {ratio:5.2f} CQ: {ratio:5.2f} INDEX: {ratio:5.2f}"
