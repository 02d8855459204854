"""Broker2Client: what a broker asks of its clients; its push of changed ids is in `consumer_ids_change_listener`.

Everything happens in a thread of adminBrokerExecutor, client by client.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from impl.broker.client_channel_info import ClientChannelInfo
from impl.broker.consumer_manager import ConsumerManager
from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.broker.reported_tables import connection_of
from impl.broker.topic_config_manager import TopicConfigManager
from impl.common.headers import (
    GetConsumerStatusBody,
    GetConsumerStatusRequestHeader,
    MessageQueueForC,
    ResetOffsetBody,
    ResetOffsetBodyForC,
    ResetOffsetRequestHeader,
)
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.java_errors import JavaError, not_null
from impl.decisions.java_text import concatenated, is_blank
from impl.decisions.message_queue import MessageQueue
from impl.events import OffsetResetPushed
from impl.ports.message_store import MessageStore
from impl.ports.node import Node
from impl.ports.remoting import NOT_SET, Channel, Command, Connection, RemotingServer

V3_0_7_SNAPSHOT = 28  # its ordinal in MQVersion
TO_THE_END = -1  # timestamp of ResetOffsetRequestHeader
RESET_TIMEOUT_MS = 5_000  # for one of the server's 256 one-way permits
STATUS_TIMEOUT_MS = 5_000


class Broker2Client:
    """`broker.client.net.Broker2Client`."""

    def __init__(
        self, remoting_server: RemotingServer, node: Node, broker_name: str, consumer_manager: ConsumerManager,
        topic_config_manager: TopicConfigManager, consumer_offset_manager: ConsumerOffsetManager,
        message_store: MessageStore,
    ) -> None:
        """Call the clients that are listed there, by this server."""
        self.remoting_server, self.node, self.broker_name = remoting_server, node, broker_name
        self.consumer_manager, self.topic_config_manager = consumer_manager, topic_config_manager
        self.consumer_offset_manager, self.message_store = consumer_offset_manager, message_store

    async def reset_offset(self, header: ResetOffsetRequestHeader, *, is_c: bool) -> Command:
        """Broker2Client#resetOffset: compute, and send the whole table to every connection of the group, one way.

        Nothing is changed here: the clients commit what they are told, those that understand it and hold the queue. An
        old client ends the round; who comes before it has been told. is_c -- the OPERATOR's tool is written in C++.
        """
        offset_table = self._offset_table(header)
        if isinstance(offset_table, Command):
            return offset_table
        push = ResetOffsetRequestHeader(header.topic, header.group, header.timestamp)
        body = _for_c(offset_table) if is_c else ResetOffsetBody(offset_table)
        info = self.consumer_manager.get_consumer_group_info(header.group)
        if info is None or not info.get_all_channel():
            remark = (f"Consumer not online, so can not reset offset, Group: {header.group} Topic: {header.topic} "
                      f"Timestamp: {header.timestamp}")
            return Command(ResponseCode.CONSUMER_NOT_ONLINE, remark=remark)
        for channel, client in info.channel_info_table.traverse():
            await self.node.interleave("resetOffset: before the next push")
            if client.version < V3_0_7_SNAPSHOT:
                return _not_supported(client)
            await self._push(channel, Command(RequestCode.RESET_CONSUMER_CLIENT_OFFSET, header=push, body=body))
        return Command(ResponseCode.SUCCESS, remark=NOT_SET, body=ResetOffsetBody(offset_table))

    def _offset_table(self, header: ResetOffsetRequestHeader) -> dict[MessageQueue, int] | Command:
        """Where each queue of the topic is to go; one queue without a committed offset refuses all of it."""
        config = self.topic_config_manager.select_topic_config(header.topic)
        if config is None:
            remark = f"[reset-offset] reset offset failed, no topic in this broker. topic={header.topic}"
            return Command(ResponseCode.SYSTEM_ERROR, remark=remark)
        offset_table: dict[MessageQueue, int] = {}
        for queue_id in range(config.write_queue_nums):
            committed = self.consumer_offset_manager.query_offset(header.group, header.topic, queue_id)
            if committed == -1:
                remark = f"THe consumer group <{concatenated(header.group)}> not exist"
                return Command(ResponseCode.SYSTEM_ERROR, remark=remark)
            wanted = self._wanted(header, queue_id)
            offset = wanted if header.is_force or wanted < committed else committed
            offset_table[MessageQueue(header.topic, self.broker_name, queue_id)] = offset
        return offset_table

    def _wanted(self, header: ResetOffsetRequestHeader, queue_id: int) -> int:
        queues = self.message_store
        if header.timestamp == TO_THE_END:
            return max(0, queues.get_max_offset_in_queue(header.topic, queue_id))
        return max(0, queues.get_offset_in_queue_by_time(header.topic, queue_id, header.timestamp))

    async def _push(self, channel: Channel, request: Command) -> None:
        delivered = channel.is_active()
        try:
            await self.remoting_server.invoke_oneway(cast("Connection", channel), request, RESET_TIMEOUT_MS)
        except JavaError:
            delivered = False  # logged
        self.node.trace(OffsetResetPushed(
            self.node.name, request.header.group, request.header.topic, connection_of(channel), delivered,
        ))

    async def get_consume_status(self, header: GetConsumerStatusRequestHeader) -> Command:
        """Broker2Client#getConsumeStatus: the offsets in memory of one client, or of all one after another.

        Raises NullPointerError for an unknown group. A client that does not answer is left out.
        """
        info = not_null(self.consumer_manager.get_consumer_group_info(header.group))
        if info.channel_info_table.is_empty():
            remark = f"No Any Consumer online in the consumer group: [{header.group}]"
            return Command(ResponseCode.SYSTEM_ERROR, remark=remark)
        everybody = is_blank(header.client_addr)
        consumer_table: dict[str | None, Mapping[MessageQueue, int]] = {}
        request = Command(
            RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT,
            header=GetConsumerStatusRequestHeader(header.topic, header.group),
        )
        for channel, client in info.channel_info_table.traverse():
            if client.version < V3_0_7_SNAPSHOT:
                return _not_supported(client)
            if everybody or header.client_addr == client.client_id:
                answer = await self._status(channel, request)
                if answer is not None:
                    consumer_table[client.client_id] = answer.message_queue_table
                if not everybody:
                    break
        return Command(ResponseCode.SUCCESS, remark=NOT_SET, body=GetConsumerStatusBody({}, consumer_table))

    async def _status(self, channel: Channel, request: Command) -> GetConsumerStatusBody | None:
        try:
            response = await self.remoting_server.invoke_sync(
                cast("Connection", channel), request, STATUS_TIMEOUT_MS,
            )
        except JavaError:
            return None  # logged
        body: GetConsumerStatusBody | None = response.body if response.code == ResponseCode.SUCCESS else None
        return body


def _for_c(offset_table: Mapping[MessageQueue, int]) -> ResetOffsetBodyForC:
    """Broker2Client#convertOffsetTable2OffsetList."""
    return ResetOffsetBodyForC(tuple(
        MessageQueueForC(mq.topic, mq.broker_name, mq.queue_id, offset) for mq, offset in offset_table.items()
    ))


def _not_supported(client: ClientChannelInfo) -> Command:
    remark = f"the client does not support this feature. version={client.version}"
    return Command(ResponseCode.SYSTEM_ERROR, remark=remark)
