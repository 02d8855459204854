"""ConsumerManageProcessor: the members of a group, and the offsets it has committed.

All three codes share consumerManageExecutor, 32 threads: two commits of one client may be handled in any order (B-18).
"""

from __future__ import annotations

from impl.broker.consumer_manager import ConsumerManager
from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.broker.reported_tables import connection_of
from impl.common.headers import ConsumerGroupRequestHeader, ConsumerOffsetRequestHeader, OffsetResponseHeader
from impl.common.request_code import ResponseCode
from impl.decisions.java_errors import not_null
from impl.decisions.pull_answer import queried_offset
from impl.events import ConsumerIdsAnswered, OffsetAnswered, OffsetCommitted
from impl.ports.message_store import MessageStore
from impl.ports.node import Node
from impl.ports.remoting import Command, Connection

_SUCCESS = Command(ResponseCode.SUCCESS)


class ConsumerManageProcessor:
    """`broker.processor.ConsumerManageProcessor`."""

    def __init__(
        self, node: Node, consumer_manager: ConsumerManager, consumer_offset_manager: ConsumerOffsetManager,
        message_store: MessageStore,
    ) -> None:
        """Work on these tables."""
        self.node, self.consumer_manager = node, consumer_manager
        self.consumer_offset_manager, self.message_store = consumer_offset_manager, message_store

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

    async def update_consumer_offset(self, channel: Connection, request: Command) -> Command:
        """ConsumerManageProcessor#updateConsumerOffset: whoever sends it, whatever was there before."""
        header: ConsumerOffsetRequestHeader = request.header
        offset = not_null(header.commit_offset)
        await self.node.interleave("updateConsumerOffset: before commitOffset")
        await self.consumer_offset_manager.commit_offset(
            header.consumer_group, header.topic, header.queue_id, offset, self.node,
        )
        self.node.trace(OffsetCommitted(
            self.node.name, header.consumer_group, header.topic, header.queue_id, offset, connection_of(channel),
        ))
        return _SUCCESS

    def query_consumer_offset(self, channel: Connection, request: Command) -> Command:
        """ConsumerManageProcessor#queryConsumerOffset."""
        header: ConsumerOffsetRequestHeader = request.header
        group, topic, queue_id = header.consumer_group, header.topic, header.queue_id
        stored = self.consumer_offset_manager.query_offset(group, topic, queue_id)
        offset = self._queried_offset(group, topic, queue_id, stored)
        self.node.trace(OffsetAnswered(
            self.node.name, group, topic, queue_id, connection_of(channel), stored if offset is None else offset,
        ))
        if offset is not None:
            return Command(ResponseCode.SUCCESS, header=OffsetResponseHeader(offset))
        remark = "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first"
        return Command(ResponseCode.QUERY_NOT_FOUND, remark=remark)

    def _queried_offset(self, group: str, topic: str, queue_id: int, stored: int) -> int | None:
        """A young queue answers 0 also to a group that it does not know (X24).

        stored -- what is committed; -1: nothing. None: the group has no offset.
        """
        del group
        return queried_offset(
            stored, self.message_store.get_min_offset_in_queue(topic, queue_id),
            first_in_disk=self.message_store.check_in_disk_by_consume_offset(topic, queue_id, 0),
        )
