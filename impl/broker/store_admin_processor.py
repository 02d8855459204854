"""AdminBrokerProcessor, what it says of the store itself: the time of a queue's first message, units of a queue."""

from __future__ import annotations

from impl.broker.consumer_filter_manager import filter_data_text
from impl.broker.tables import BrokerTables
from impl.common.headers import (
    ConsumeQueueData,
    GetEarliestMsgStoretimeResponseHeader,
    QueryConsumeQueueRequestHeader,
    QueryConsumeQueueResponseBody,
    QueueOffsetRequestHeader,
)
from impl.common.request_code import ResponseCode
from impl.decisions.subscription import SubscriptionData
from impl.ports.remoting import NOT_SET, Command, Connection
from impl.store.consume_queue import ConsumeQueue, units_of
from impl.store.message_reads import MessageReads


class StoreAdminProcessor:
    """The part of `broker.processor.AdminBrokerProcessor` that asks the store about its messages."""

    def __init__(self, tables: BrokerTables, store: MessageReads) -> None:
        """Look into these."""
        self.tables, self.store = tables, store

    def clean_unused_topic(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#cleanUnusedTopic: delete the queues of topics that the broker does not know."""
        self.store.clean_unused_topic(self.tables.topic_config_manager.topic_config_table.key_set())
        return Command(ResponseCode.SUCCESS)

    def get_earliest_msg_storetime(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#getEarliestMsgStoretime: -1 for a queue without messages."""
        header: QueueOffsetRequestHeader = request.header
        timestamp = self.store.get_earliest_message_time(header.topic, header.queue_id)
        return Command(ResponseCode.SUCCESS, header=GetEarliestMsgStoretimeResponseHeader(timestamp))

    def query_consume_queue(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#queryConsumeQueue: units of a queue.

        An index that has none is a success, with a remark and without a body.
        """
        header: QueryConsumeQueueRequestHeader = request.header
        queue = self.store.get_consume_queue(header.topic, header.queue_id)
        if queue is None:
            remark = f"{header.queue_id}@{header.topic} is not exist!"
            return Command(ResponseCode.SYSTEM_ERROR, remark=remark)
        units = _units(queue, header.first_index, header.max_count)
        if units is None:
            remark = f"Index {header.first_index} of {header.queue_id}@{header.topic} is not exist!"
            return Command(ResponseCode.SUCCESS, remark=remark)
        return Command(ResponseCode.SUCCESS, remark=NOT_SET, body=QueryConsumeQueueResponseBody(
            *self._filter_of(header), units, queue.get_max_offset_in_queue(), queue.get_min_offset_in_queue()))

    def _filter_of(self, header: QueryConsumeQueueRequestHeader) -> tuple[SubscriptionData | None, str | None]:
        """What the group that was named subscribes, and its compiled expression as text."""
        group, topic = header.consumer_group, header.topic
        if group is None:
            return None, None
        info = self.tables.consumer_manager.get_consumer_group_info(group)
        subscription = None if info is None else info.find_subscription_data(topic)
        if subscription is None:
            return None, f"{group}@{topic} is not online!"
        return subscription, filter_data_text(self.tables.consumer_filter_manager.get(topic, group))


def _units(queue: ConsumeQueue, first_index: int, max_count: int) -> tuple[ConsumeQueueData, ...] | None:
    """At most so many units of one file; None: there is none at the index."""
    result = queue.get_index_buffer(first_index)
    if result is None:
        return None
    data = result.read()
    result.release()
    return tuple(ConsumeQueueData(*unit) for unit in units_of(data))[:max(0, max_count)]
