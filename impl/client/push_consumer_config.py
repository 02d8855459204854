"""DefaultMQPushConsumer: what users set before a push consumer starts, and which values it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from impl.common.heartbeat_data import CLUSTERING
from impl.common.message_selector import MessageSelector
from impl.decisions.allocation import AllocateMessageQueueAveragely, AllocateMessageQueueStrategy
from impl.decisions.java_calendar import parse_date_ms
from impl.decisions.java_errors import MQClientError
from impl.decisions.names import check_group
from impl.decisions.start_offset import ConsumeFromWhere

DEFAULT_CONSUMER_GROUP = "DEFAULT_CONSUMER"  # MixAll
NOT_SET = -1
"""Of a threshold for a topic, and of the number of attempts: the default counts."""


@dataclass(frozen=True, slots=True)
class PushConsumerConfig:
    """`client.consumer.DefaultMQPushConsumer`, what is read here, with its defaults.

    subscription -- topic to expression by tag, or to a selector. orderly -- the listener is a MessageListenerOrderly.
    consume_timestamp -- the time of CONSUME_FROM_TIMESTAMP, yyyyMMddHHmmss in UTC, the zone of all clients here; empty:
    half an hour before the consumer was made.
    pull_batch_size, consume_message_batch_max_size -- how many messages a pull finds, and a listener is given, at most.
    max_reconsume_times -- how often a message is sent back before it goes to the dead letters; NOT_SET: 16 times, and
    without end in order. suspend_current_queue_time_ms -- how long an orderly listener rests that has not succeeded.
    consume_timeout_minutes -- when a message is sent back of which the listener has not said anything. pull_interval_ms
    -- between a pull that has found something and the next. pull_threshold_... -- what is cached before no more is
    pulled; those for a topic, if set, are divided among its queues. consume_concurrently_max_span -- how far first and
    last of them may be apart. post_subscription_when_pull -- pulls carry the expression.
    await_termination_ms_when_shutdown -- how long a shutdown waits for listeners.
    """

    consumer_group: str
    subscription: Mapping[str, str | MessageSelector]
    message_model: str = CLUSTERING
    orderly: bool = False
    consume_from_where: ConsumeFromWhere = ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET
    consume_timestamp: str = ""
    strategy: AllocateMessageQueueStrategy = field(default_factory=AllocateMessageQueueAveragely)
    pull_batch_size: int = 32
    consume_message_batch_max_size: int = 1
    consume_thread_min: int = 20
    consume_thread_max: int = 20
    max_reconsume_times: int = NOT_SET
    suspend_current_queue_time_ms: int = 1_000
    consume_timeout_minutes: int = 15
    pull_interval_ms: int = 0
    pull_threshold_for_queue: int = 1_000
    pull_threshold_size_for_queue_mib: int = 100
    pull_threshold_for_topic: int = NOT_SET
    pull_threshold_size_for_topic_mib: int = NOT_SET
    consume_concurrently_max_span: int = 2_000
    post_subscription_when_pull: bool = False
    await_termination_ms_when_shutdown: int = 0


_RANGES = (
    ("consume_thread_min", "consumeThreadMin", 1, 1_000),
    ("consume_thread_max", "consumeThreadMax", 1, 1_000),
    ("consume_concurrently_max_span", "consumeConcurrentlyMaxSpan", 1, 65_535),
    ("pull_threshold_for_queue", "pullThresholdForQueue", 1, 65_535),
    ("pull_threshold_for_topic", "pullThresholdForTopic", 1, 6_553_500),
    ("pull_threshold_size_for_queue_mib", "pullThresholdSizeForQueue", 1, 1_024),
    ("pull_threshold_size_for_topic_mib", "pullThresholdSizeForTopic", 1, 102_400),
    ("pull_interval_ms", "pullInterval", 0, 65_535),
    ("consume_message_batch_max_size", "consumeMessageBatchMaxSize", 1, 1_024),
    ("pull_batch_size", "pullBatchSize", 1, 1_024),
)
"""Field, its name in Java, least and greatest value, in the order in which they are looked at."""
_MAY_BE_UNSET = frozenset({"pull_threshold_for_topic", "pull_threshold_size_for_topic_mib"})


def check_consumer_group(group: str) -> None:
    """The beginning of every consumer's checkConfig; raises MQClientError."""
    check_group(group)
    if group == DEFAULT_CONSUMER_GROUP:
        raise MQClientError(f"consumerGroup can not equal {DEFAULT_CONSUMER_GROUP}, please specify another one.")


def check_config(config: PushConsumerConfig) -> None:
    """DefaultMQPushConsumerImpl#checkConfig; raises MQClientError, whose text ends here before the link to the FAQ."""
    check_consumer_group(config.consumer_group)
    if config.consume_timestamp and parse_date_ms(config.consume_timestamp) is None:
        raise MQClientError("consumeTimestamp is invalid, the valid format is yyyyMMddHHmmss,but received "
                            f"{config.consume_timestamp}")
    for name, java_name, least, greatest in _RANGES:
        value: int = getattr(config, name)
        if not least <= value <= greatest and not (value == NOT_SET and name in _MAY_BE_UNSET):
            raise MQClientError(f"{java_name} Out of range [{least}, {greatest}]")
        if name == "consume_thread_max" and config.consume_thread_min > value:
            raise MQClientError(f"consumeThreadMin ({config.consume_thread_min}) is larger than "
                                f"consumeThreadMax ({value})")
