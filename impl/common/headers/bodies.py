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
    subscription_data: SubscriptionData


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
