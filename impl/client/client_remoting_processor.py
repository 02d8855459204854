"""ClientRemotingProcessor: what brokers ask of a client. It runs in the pool of the callbacks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Protocol

from impl.client.request_response_future import RequestFutureHolder
from impl.common.byte_buffer import ByteBuffer
from impl.common.headers import (
    CheckTransactionStateRequestHeader,
    GetConsumerStatusBody,
    GetConsumerStatusRequestHeader,
    ReplyMessageRequestHeader,
    ResetOffsetBodyForC,
    ResetOffsetRequestHeader,
)
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_CORRELATION_ID,
    PROPERTY_PRODUCER_GROUP,
    PROPERTY_REPLY_MESSAGE_ARRIVE_TIME,
    PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX,
)
from impl.common.message_decoder import decode
from impl.common.message_properties import string2_message_properties
from impl.common.request_code import ResponseCode
from impl.common.util_all import uncompress
from impl.decisions.flags import COMPRESSED_FLAG
from impl.decisions.java_errors import JavaError, JavaRuntimeError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.namespace import without_namespace
from impl.ports.clock import Clock
from impl.ports.remoting import Command, Connection


class CheckedProducer(Protocol):
    """What is asked of a producer of the instance."""

    def check_transaction_state(
        self, addr: str, msg: MessageExt, header: CheckTransactionStateRequestHeader,
    ) -> None:
        """DefaultMQProducerImpl#checkTransactionState."""
        ...


class JSONError(JavaRuntimeError):
    """A text that fastjson cannot make the wanted object of."""

    java_class = "com.alibaba.fastjson.JSONException"


class ClientRemotingProcessor:
    """`client.impl.ClientRemotingProcessor`; rebalance_immediately, … -- methods of the instance.

    select_producer -- group to producer. request_futures -- who waits for replies. namespace -- of the instance; None:
    it has none.
    """

    def __init__(
        self,
        clock: Clock,
        rebalance_immediately: Callable[[], None],
        reset_offset: Callable[[str, str, Mapping[MessageQueue, int]], Awaitable[None]],
        get_consumer_status: Callable[[str, str], Mapping[MessageQueue, int]],
        select_producer: Callable[[str], CheckedProducer | None],
        request_futures: RequestFutureHolder,
        namespace: str | None,
    ) -> None:
        """Serve one instance."""
        self.clock, self.select_producer, self.request_futures = clock, select_producer, request_futures
        self.namespace = namespace
        self.rebalance_immediately = rebalance_immediately
        self._reset_offset, self._get_consumer_status = reset_offset, get_consumer_status

    def check_transaction_state(self, channel: Connection, request: Command) -> None:
        """ClientRemotingProcessor#checkTransactionState: no producer of the group, no reply.

        Raises what the producer does: NullPointerError if it is none for transactions, RejectedExecutionError.
        """
        msg = decode(ByteBuffer(request.body))
        if msg is None:
            return
        msg.topic = without_namespace(msg.topic, self.namespace) or ""
        msg.transaction_id = msg.get_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX) or None
        group = msg.get_property(PROPERTY_PRODUCER_GROUP)
        producer = None if group is None else self.select_producer(group)
        if producer is not None:
            producer.check_transaction_state(channel.remote_address, msg, request.header)

    def receive_reply_message(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """ClientRemotingProcessor#receiveReplyMessage: SUCCESS also where nobody waits any longer."""
        try:
            reply = self._reply(request.header, request.body)
            self.request_futures.process_reply_message(reply, reply.get_property(PROPERTY_CORRELATION_ID))
        except JavaError:
            return Command(ResponseCode.SYSTEM_ERROR, remark="process reply message fail")
        return Command(ResponseCode.SUCCESS)

    def _reply(self, header: ReplyMessageRequestHeader, body: bytes) -> MessageExt:
        properties = dict(string2_message_properties(header.properties).entries())
        properties[PROPERTY_REPLY_MESSAGE_ARRIVE_TIME] = str(self.clock.now_ms())
        with suppress(JavaError):  # logged
            body = uncompress(body) if header.sys_flag & COMPRESSED_FLAG else body
        return MessageExt(
            0, body, properties, header.topic, header.queue_id, header.flag, born_timestamp=header.born_timestamp,
            store_timestamp=header.store_timestamp, reconsume_times=header.reconsume_times or 0)

    def notify_consumer_ids_changed(self, channel: Connection, request: Command) -> None:  # noqa: ARG002  # a Handler
        """ClientRemotingProcessor#notifyConsumerIdsChanged: whatever the group is, the whole instance rebalances."""
        self.rebalance_immediately()

    async def reset_offset(self, channel: Connection, request: Command) -> None:  # noqa: ARG002  # a Handler
        """ClientRemotingProcessor#resetOffset: it holds this thread for more than 10 s.

        Raises JSONError for the list that an operator's tool in C++ makes the broker send; nobody hears of it.
        """
        header: ResetOffsetRequestHeader = request.header
        if isinstance(request.body, ResetOffsetBodyForC):
            raise JSONError("syntax error, expect {, actual [")
        offset_table: Mapping[MessageQueue, int] = {} if request.body is None else request.body.offset_table
        await self._reset_offset(header.topic, header.group, offset_table)

    def get_consume_status(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """ClientRemotingProcessor#getConsumeStatus: the offsets in memory."""
        header: GetConsumerStatusRequestHeader = request.header
        offset_table = self._get_consumer_status(header.topic, header.group)
        return Command(ResponseCode.SUCCESS, body=GetConsumerStatusBody(offset_table, {}))
