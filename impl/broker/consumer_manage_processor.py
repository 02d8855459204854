"""ConsumerManageProcessor: the members of a group, and the offsets it has committed.

All three codes share consumerManageExecutor, 32 threads: two commits of one client may be handled in any order (B-18).
"""

from __future__ import annotations

from impl.broker.consumer_manager import ConsumerManager
from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.broker.queue_offsets import QueueOffsets
from impl.broker.reported_tables import connection_of
from impl.common.headers import ConsumerGroupRequestHeader, ConsumerOffsetRequestHeader, OffsetResponseHeader
from impl.common.request_code import ResponseCode
from impl.decisions.java_errors import not_null
from impl.events import ConsumerIdsAnswered, OffsetAnswered, OffsetCommitted
from impl.ports.node import Node
from impl.ports.remoting import Command, Connection

_SUCCESS = Command(ResponseCode.SUCCESS)


class ConsumerManageProcessor:
    """`broker.processor.ConsumerManageProcessor`."""

    def __init__(
        self, node: Node, consumer_manager: ConsumerManager, consumer_offset_manager: ConsumerOffsetManager,
        queue_offsets: QueueOffsets,
    ) -> None:
        """Work on these tables."""
        self.node, self.consumer_manager = node, consumer_manager
        self.consumer_offset_manager, self.queue_offsets = consumer_offset_manager, queue_offsets

    def get_consumer_list_by_group(self, channel: Connection, request: Command) -> Command:
        """ConsumerManageProcessor#getConsumerListByGroup: one id for each connection of the GROUP; no lock."""
        header: ConsumerGroupRequestHeader = request.header
        info = self.consumer_manager.get_consumer_group_info(header.consumer_group)
        client_ids = [] if info is None else info.get_all_client_id()
        self.node.trace(ConsumerIdsAnswered(
            self.node.name, header.consumer_group, connection_of(channel), tuple(client_ids),
        ))
        if not client_ids:
            remark = f"no consumer for this group, {header.consumer_group}"
            return Command(ResponseCode.SYSTEM_ERROR, remark=remark)
        return Command(ResponseCode.SUCCESS, body=client_ids)

    async def update_consumer_offset(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # Handler
        """ConsumerManageProcessor#updateConsumerOffset: whoever sends it, whatever was there before."""
        header: ConsumerOffsetRequestHeader = request.header
        offset = not_null(header.commit_offset)
        await self.node.interleave("updateConsumerOffset: before commitOffset")
        await self.consumer_offset_manager.commit_offset(
            header.consumer_group, header.topic, header.queue_id, offset, self.node,
        )
        self.node.trace(OffsetCommitted(
            self.node.name, header.consumer_group, header.topic, header.queue_id, offset,
        ))
        return _SUCCESS

    def query_consumer_offset(self, channel: Connection, request: Command) -> Command:
        """ConsumerManageProcessor#queryConsumerOffset: a young queue answers 0 to a group it does not know."""
        header: ConsumerOffsetRequestHeader = request.header
        offset = self.consumer_offset_manager.query_offset(
            header.consumer_group, header.topic, header.queue_id,
        )
        queue = self.queue_offsets.range_of(header.topic, header.queue_id)
        if offset < 0 and queue.min_offset <= 0 and not queue.on_disk:
            offset = 0
        self.node.trace(OffsetAnswered(
            self.node.name, header.consumer_group, header.topic, header.queue_id, connection_of(channel), offset,
        ))
        if offset >= 0:
            return Command(ResponseCode.SUCCESS, header=OffsetResponseHeader(offset))
        remark = "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first"
        return Command(ResponseCode.QUERY_NOT_FOUND, remark=remark)
