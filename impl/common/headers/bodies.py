"""Bodies of requests and answers that are objects: `common.protocol.body`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from impl.common.data_version import DataVersion
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfigSerializeWrapper
from impl.decisions.message_queue import MessageQueue
from impl.decisions.subscription import SubscriptionData


@dataclass(slots=True)
class RegisterBrokerBody:
    """`RegisterBrokerBody`: topics with their version, and the broker's filter servers."""

    topic_config_serialize_wrapper: TopicConfigSerializeWrapper | None
    filter_server_list: list[str] | None


class LockBatchRequestBody(NamedTuple):
    """LockBatchRequestBody, UnlockBatchRequestBody; the broker believes all three."""

    consumer_group: str
    client_id: str
    mq_set: tuple[MessageQueue, ...]


class CheckClientRequestBody(NamedTuple):
    """CheckClientRequestBody."""

    client_id: str
    group: str
    subscription_data: SubscriptionData | None


class MessageQueueForC(NamedTuple):
    """MessageQueueForC: a queue and its offset."""

    topic: str
    broker_name: str
    queue_id: int
    offset: int


@dataclass(frozen=True, slots=True)
class ResetOffsetBody:
    """ResetOffsetBody: queue to offset."""

    offset_table: Mapping[MessageQueue, int]


class ResetOffsetBodyForC(NamedTuple):
    """ResetOffsetBodyForC: a list, where ResetOffsetBody has an object, under the same name."""

    offset_table: tuple[MessageQueueForC, ...]


@dataclass(frozen=True, slots=True)
class GetConsumerStatusBody:
    """GetConsumerStatusBody: a client fills in the first table, queue to offset in memory; the broker the second."""

    message_queue_table: Mapping[MessageQueue, int]
    consumer_table: Mapping[str | None, Mapping[MessageQueue, int]]


@dataclass(slots=True)
class SubscriptionGroupWrapper:
    """SubscriptionGroupWrapper: what a slave copies."""

    subscription_group_table: Mapping[str, SubscriptionGroupConfig]
    data_version: DataVersion


class ConsumeQueueData(NamedTuple):
    """ConsumeQueueData: one unit of a consume queue."""

    physic_offset: int
    physic_size: int
    tags_code: int


class QueryConsumeQueueResponseBody(NamedTuple):
    """QueryConsumeQueueResponseBody. filter_data -- text; queue_data -- None where no unit is at the index."""

    subscription_data: SubscriptionData | None
    filter_data: str | None
    queue_data: tuple[ConsumeQueueData, ...] | None
    max_queue_index: int
    min_queue_index: int


class TopicOffset(NamedTuple):
    """TopicOffset: both ends of a queue, and the store time of its last message; 0 if it has none."""

    min_offset: int
    max_offset: int
    last_update_timestamp: int


class TopicStatsTable(NamedTuple):
    """TopicStatsTable."""

    offset_table: Mapping[MessageQueue, TopicOffset]


class OffsetWrapper(NamedTuple):
    """OffsetWrapper: the end of a queue, what a group has committed, and the store time of the message before that."""

    broker_offset: int
    consumer_offset: int
    last_timestamp: int


class ConsumeStats(NamedTuple):
    """ConsumeStats; consume_tps -- messages pulled a second."""

    offset_table: Mapping[MessageQueue, OffsetWrapper]
    consume_tps: float


class MemberConnection(NamedTuple):
    """`protocol.body.Connection`: one client on one connection."""

    client_id: str | None
    client_addr: str
    language: str
    version: int


class ConsumerConnection(NamedTuple):
    """ConsumerConnection: members, topic to subscription, and what the last heartbeat said."""

    connection_set: tuple[MemberConnection, ...]
    subscription_table: Mapping[str, SubscriptionData]
    consume_type: str
    message_model: str
    consume_from_where: str


class ProducerConnection(NamedTuple):
    """ProducerConnection."""

    connection_set: tuple[MemberConnection, ...]
