"""DefaultLitePullConsumer: what users set before a lite pull consumer starts."""

from __future__ import annotations

from dataclasses import dataclass, field

from impl.client.push_consumer_config import check_consumer_group
from impl.common.heartbeat_data import CLUSTERING
from impl.decisions.allocation import AllocateMessageQueueAveragely, AllocateMessageQueueStrategy
from impl.decisions.java_errors import MQClientError
from impl.decisions.start_offset import ConsumeFromWhere


@dataclass(frozen=True, slots=True)
class LitePullConsumerConfig:
    """`client.consumer.DefaultLitePullConsumer`, what is read here, with its defaults.

    auto_commit, auto_commit_interval_ms -- whether, and how often, a poll commits what was polled before.
    pull_batch_size -- how many messages a pull finds at most. pull_threshold_... -- what waits to be polled before no
    more is pulled, of all queues (counted as whole batches) and of each; consume_max_span -- how far first and last may
    be apart.
    """

    consumer_group: str
    message_model: str = CLUSTERING
    strategy: AllocateMessageQueueStrategy = field(default_factory=AllocateMessageQueueAveragely)
    consume_from_where: ConsumeFromWhere = ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET
    auto_commit: bool = True
    auto_commit_interval_ms: int = 5_000
    pull_thread_nums: int = 20
    pull_batch_size: int = 10
    pull_threshold_for_all: int = 10_000
    pull_threshold_for_queue: int = 1_000
    pull_threshold_size_for_queue_mib: int = 100
    consume_max_span: int = 2_000
    broker_suspend_max_time_ms: int = 20_000
    consumer_timeout_ms_when_suspend: int = 30_000
    topic_metadata_check_interval_ms: int = 30_000


def check_config(config: LitePullConsumerConfig) -> None:
    """DefaultLitePullConsumerImpl#checkConfig; raises MQClientError."""
    check_consumer_group(config.consumer_group)
    if config.consumer_timeout_ms_when_suspend < config.broker_suspend_max_time_ms:
        raise MQClientError("Long polling mode, the consumer consumerTimeoutMillisWhenSuspend must greater than "
                            "brokerSuspendMaxTimeMillis")
