"""AdminBrokerProcessor, what operators ask about topics, groups and their members, and how they set up a group."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from impl.broker.client_channel_info import ClientChannelInfo
from impl.broker.tables import BrokerTables
from impl.common.headers import (
    ConsumerConnection,
    ConsumerGroupRequestHeader,
    ConsumeStats,
    GetConsumeStatsRequestHeader,
    MemberConnection,
    OffsetWrapper,
    ProducerConnection,
    ProducerGroupRequestHeader,
    TopicOffset,
    TopicRequestHeader,
    TopicStatsTable,
)
from impl.common.request_code import ResponseCode
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfig
from impl.decisions.java_text import is_blank
from impl.decisions.message_queue import MessageQueue
from impl.ports.remoting import Command, Connection
from impl.store.message_reads import MessageReads


class ExaminationProcessor:
    """The part of `broker.processor.AdminBrokerProcessor` that examines, and that sets up groups."""

    def __init__(self, tables: BrokerTables, store: MessageReads) -> None:
        """Look into these."""
        self.tables, self.store = tables, store

    def update_and_create_subscription_group(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002
        """AdminBrokerProcessor#updateAndCreateSubscriptionGroup: the name is not checked, nor anything else."""
        config: SubscriptionGroupConfig | None = request.body
        if config is not None:
            self.tables.subscription_group_manager.update_subscription_group_config(config)
        return Command(ResponseCode.SUCCESS)

    def get_topic_stats_info(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#getTopicStatsInfo: of each queue for writing, both ends and the last store time."""
        header: TopicRequestHeader = request.header
        config = self.tables.topic_config_manager.select_topic_config(header.topic)
        if config is None:
            return Command(ResponseCode.TOPIC_NOT_EXIST, remark=f"topic[{header.topic}] not exist")
        offsets = {self._queue(config, queue_id): self._topic_offset(header.topic, queue_id)
                   for queue_id in range(config.write_queue_nums)}
        return Command(ResponseCode.SUCCESS, body=TopicStatsTable(offsets))

    def _queue(self, config: TopicConfig, queue_id: int) -> MessageQueue:
        return MessageQueue(str(config.topic_name), self.tables.config.broker_name, queue_id)

    def _topic_offset(self, topic: str, queue_id: int) -> TopicOffset:
        least = max(0, self.store.get_min_offset_in_queue(topic, queue_id))
        end = max(0, self.store.get_max_offset_in_queue(topic, queue_id))
        time_ms = self.store.get_message_store_timestamp(topic, queue_id, end - 1) if end else 0
        return TopicOffset(least, end, time_ms)

    def get_consumer_connection_list(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # same
        """AdminBrokerProcessor#getConsumerConnectionList: the members of a group and what they subscribe."""
        header: ConsumerGroupRequestHeader = request.header
        info = self.tables.consumer_manager.get_consumer_group_info(header.consumer_group)
        if info is None:
            remark = f"the consumer group[{header.consumer_group}] not online"
            return Command(ResponseCode.CONSUMER_NOT_ONLINE, remark=remark)
        return Command(ResponseCode.SUCCESS, body=ConsumerConnection(
            _connections(info.channel_info_table.values()), dict(info.subscription_table.entries()),
            info.consume_type, info.message_model, info.consume_from_where))

    def get_producer_connection_list(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # same
        """AdminBrokerProcessor#getProducerConnectionList: the members of a group."""
        header: ProducerGroupRequestHeader = request.header
        members = self.tables.producer_manager.group_channel_table.get(header.producer_group)
        if members is None:
            remark = f"the producer group[{header.producer_group}] not exist"
            return Command(ResponseCode.SYSTEM_ERROR, remark=remark)
        return Command(ResponseCode.SUCCESS, body=ProducerConnection(_connections(members.values())))

    def get_consume_stats(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#getConsumeStats: what a group has consumed of each queue.

        No rate is kept here, so consume_tps is 0, as in Java when nothing was pulled lately.
        """
        header: GetConsumeStatsRequestHeader = request.header
        asked = self.tables.consumer_offset_manager.which_topic_by_consumer(header.consumer_group)
        topics = dict.fromkeys([header.topic] if header.topic is not None and not is_blank(header.topic) else asked)
        offsets: dict[MessageQueue, OffsetWrapper] = {}
        for topic in topics:
            config = self.tables.topic_config_manager.select_topic_config(topic)
            if config is not None and self._may_consume(header.consumer_group, topic):
                for queue_id in range(config.read_queue_nums):
                    offsets[self._queue(config, queue_id)] = self._wrapper(header.consumer_group, topic, queue_id)
        return Command(ResponseCode.SUCCESS, body=ConsumeStats(offsets, 0.0))

    def _may_consume(self, group: str, topic: str) -> bool:
        """Whether the group subscribes the topic, or nothing at all."""
        members = self.tables.consumer_manager
        found = members.find_subscription_data(group, topic)
        return found is not None or members.find_subscription_data_count(group) == 0

    def _wrapper(self, group: str, topic: str, queue_id: int) -> OffsetWrapper:
        end = max(0, self.store.get_max_offset_in_queue(topic, queue_id))
        consumed = max(0, self.tables.consumer_offset_manager.query_offset(group, topic, queue_id))
        time_ms = self.store.get_message_store_timestamp(topic, queue_id, consumed - 1) if consumed else 0
        return OffsetWrapper(end, consumed, max(0, time_ms))


def _connections(members: Iterable[ClientChannelInfo]) -> tuple[MemberConnection, ...]:
    return tuple(MemberConnection(
        one.client_id, cast("Connection", one.channel).remote_address, one.language, one.version) for one in members)
