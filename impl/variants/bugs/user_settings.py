"""Planted bugs of what clients make of what their users say: times, topics, keys and intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as replaced

from impl.client import message_queue_selectors
from impl.client.default_mq_producer_impl import DefaultMQProducerImpl
from impl.client.default_send import DefaultSend
from impl.client.pull_callback import PullCallback
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.send_result import SendResult
from impl.client.topic_publish_info import TopicPublishInfo
from impl.common.message import MessageExt
from impl.decisions import start_offset
from impl.decisions.java_arithmetic import absolute32, remainder
from impl.decisions.java_errors import IndexOutOfBoundsError
from impl.decisions.names import get_retry_topic
from impl.variants.variant import Replacement, around, replace, seeded

Unsubscribes = Callable[[DefaultMQPushConsumerImpl, str], None]
Finds = Callable[[PullCallback, tuple[MessageExt, ...]], None]
Updates = Callable[[DefaultMQProducerImpl, str, TopicPublishInfo], None]
_EIGHT_HOURS_MS = 8 * 3_600_000
_GO = "apache/rocketmq-client-go"


@around(start_offset, "consume_timestamp_ms")
def _read_in_another_zone(original: Callable[[str], int]) -> Callable[[str], int]:
    def consume_timestamp_ms(text: str) -> int:
        """The user is in Shanghai."""
        return original(text) + _EIGHT_HOURS_MS

    return consume_timestamp_ms


@around(DefaultMQPushConsumerImpl, "unsubscribe")
def _unsubscribe_the_retries(original: Unsubscribes) -> Unsubscribes:
    def unsubscribe(self: DefaultMQPushConsumerImpl, topic: str) -> None:
        """The topic goes, and what is to be tried again."""
        original(self, topic)
        self.rebalance_impl.subscription_inner.remove(get_retry_topic(self.group))

    return unsubscribe


@around(DefaultMQProducerImpl, "update_topic_publish_info")
def _list_the_last_first(original: Updates) -> Updates:
    def update_topic_publish_info(self: DefaultMQProducerImpl, topic: str, info: TopicPublishInfo) -> None:
        """The last broker is the first one, and its queues are in their order."""
        brokers = sorted({mq.broker_name for mq in info.message_queue_list}, reverse=True)
        info.message_queue_list.sort(key=lambda mq: brokers.index(mq.broker_name))
        original(self, topic, info)

    return update_topic_publish_info


@replace(message_queue_selectors, "hash_position")
def _take_the_absolute_value_first(hash_code: int, size: int) -> int:
    """Math.abs(Integer.MIN_VALUE) is below 0."""
    place = remainder(absolute32(hash_code), size)
    if place < 0:
        raise IndexOutOfBoundsError(f"Index {place} out of bounds for length {size}")
    return place


@replace(DefaultSend, "_retries_another_broker")
def _be_content(self: DefaultSend, result: SendResult | None) -> bool:
    """One broker has it."""
    del self, result
    return False


def _paced(factor: int) -> Replacement:
    """A pull that has found something is followed by the next one after so many times its interval."""

    @around(PullCallback, "_found")
    def _found_paced(original: Finds) -> Finds:
        def _found(self: PullCallback, msgs: tuple[MessageExt, ...]) -> None:
            config = self.consumer.config
            self.consumer.config = replaced(config, pull_interval_ms=factor * config.pull_interval_ms)
            original(self, msgs)
            self.consumer.config = config

        return _found

    return _found_paced


BUGS = (
    seeded(f"{_GO}: computePullFromWhereWithException", "times-are-of-another-zone",
           "A group that is to begin at a time begins eight hours later.", _read_in_another_zone),
    seeded(f"{_GO} #712", "retries-are-unsubscribed",
           "Who unsubscribes a topic unsubscribes the retries of its group with it.", _unsubscribe_the_retries),
    seeded(f"{_GO} #1076", "brokers-are-listed-backwards",
           "A producer lists the queues of a topic by its brokers, and the last one first: a key has another queue.",
           _list_the_last_first),
    seeded("apache/rocketmq #2421", "least-hash-has-no-queue",
           "A key whose hash code is the least int has no queue: Math.abs leaves it below 0.",
           _take_the_absolute_value_first),
    seeded("an idea: what a port of a producer forgets", "no-other-broker-is-asked",
           "retryAnotherBrokerWhenNotStoreOK counts for nothing.", _be_content),
    seeded(f"{_GO} #640", "intervals-are-in-seconds", "pullInterval counts seconds.", _paced(1_000)),
    seeded("an idea: what a port of a consumer forgets", "intervals-are-not-kept",
           "Between pulls there is no pullInterval.", _paced(0)),
)
