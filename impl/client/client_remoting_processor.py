"""ClientRemotingProcessor: what brokers ask of a client. It runs in the pool of the callbacks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from impl.common.headers import (
    GetConsumerStatusBody,
    GetConsumerStatusRequestHeader,
    ResetOffsetBodyForC,
    ResetOffsetRequestHeader,
)
from impl.common.request_code import ResponseCode
from impl.decisions.java_errors import JavaRuntimeError
from impl.decisions.message_queue import MessageQueue
from impl.ports.remoting import Command, Connection


class JSONError(JavaRuntimeError):
    """A text that fastjson cannot make the wanted object of."""

    java_class = "com.alibaba.fastjson.JSONException"


class ClientRemotingProcessor:
    """`client.impl.ClientRemotingProcessor`; rebalance_immediately, … -- methods of the instance."""

    def __init__(
        self,
        rebalance_immediately: Callable[[], None],
        reset_offset: Callable[[str, str, Mapping[MessageQueue, int]], Awaitable[None]],
        get_consumer_status: Callable[[str, str], Mapping[MessageQueue, int]],
    ) -> None:
        """Serve one instance."""
        self.rebalance_immediately = rebalance_immediately
        self._reset_offset, self._get_consumer_status = reset_offset, get_consumer_status

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
