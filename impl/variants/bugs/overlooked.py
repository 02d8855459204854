"""Seeded bugs of what is overlooked: settings, codes, keys, a clock that is set back, who comes first, or last."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace as replaced

from impl.broker.broker_config import BrokerConfig
from impl.broker.topic_config_manager import TopicConfigManager
from impl.broker.transaction import end_transaction_processor
from impl.broker.transaction.transactional_message_service import _QueueCheck
from impl.client.consume_message_service import ConsumeMessageService
from impl.client.default_send import DefaultSend
from impl.client.offset_store import MQBrokerError
from impl.client.process_queue import ProcessQueue
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance import RebalanceImpl
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_KEYS
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullStatus
from impl.decisions.retry_level import DELAY_LEVEL_TABLE
from impl.ports.threads import Threads
from impl.store import schedule_message_service
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.message_reads import MessageReads, QueryMessageResult
from impl.variants.variant import Variant, around, replace

THREADS, MINUTES = 64, 15


@around(ConsumeMessageService, "__init__")
def _have_threads_enough(original: Callable[..., None]) -> Callable[..., None]:
    def __init__(self: ConsumeMessageService, consumer: DefaultMQPushConsumerImpl) -> None:  # noqa: N807 - its name
        original(self, consumer)
        self.consume_executor = consumer.node.pool("ConsumeMessageThread", THREADS)

    return __init__


@around(ProcessQueue, "first_expired_msg")
def _expire_after_15_minutes(original: Callable[..., MessageExt | None]) -> Callable[..., MessageExt | None]:
    def first_expired_msg(self: ProcessQueue, consume_timeout_minutes: int) -> MessageExt | None:
        """What its user has set counts for nothing."""
        del consume_timeout_minutes
        return original(self, MINUTES)

    return first_expired_msg


@around(RebalanceImpl, "remove_process_queue")
def _leave_it_where_it_is_dropped(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def remove_process_queue(self: RebalanceImpl, mq: MessageQueue, threads: Threads) -> None:
        """A queue whose offset was corrected stays in the table until its pulls expire."""
        pq = self.process_queue_table.get(mq)
        if pq is not None and not pq.dropped:
            await original(self, mq, threads)

    return remove_process_queue


@replace(schedule_message_service, "correct_deliver_timestamp")
def _believe_the_time(
    level: int, now_ms: int, deliver_timestamp_ms: int, table: Mapping[int, int] = DELAY_LEVEL_TABLE,
) -> int:
    """What was stored under a clock that was ahead waits until then."""
    del level, now_ms, table
    return deliver_timestamp_ms


@around(MessageReads, "query_message")
def _told_twice(original: Callable[..., QueryMessageResult]) -> Callable[..., QueryMessageResult]:
    def query_message(
        self: MessageReads, topic: str, key: str, max_num: int, begin: int, end: int,
    ) -> QueryMessageResult:
        """As where an index names each message twice."""
        found = original(self, topic, key, max_num, begin, end)
        return found._replace(records=tuple(one for one in found.records for _ in range(2))[:max(max_num, 0)])

    return query_message


@around(DefaultMQPushConsumerImpl, "start")
def _wait_for_the_timer(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def start(self: DefaultMQPushConsumerImpl) -> None:
        """Who starts rebalances when its timer does, or a broker tells it to."""
        vars(self.instance)["rebalance_immediately"] = lambda: None
        await original(self)
        del vars(self.instance)["rebalance_immediately"]

    return start


@replace(DefaultSend, "_is_final")
def _try_all_again(self: DefaultSend, error: MQBrokerError) -> bool:
    """Whatever a broker says, another one may take it."""
    del self, error
    return False


@around(TopicConfigManager, "__init__")
def _make_topics(original: Callable[..., None]) -> Callable[..., None]:
    def __init__(  # noqa: N807 - its name
        self: TopicConfigManager, config: BrokerConfig, now_ms: Callable[[], int], persist: Callable[[], None],
    ) -> None:
        original(self, replaced(config, auto_create_topic_enable=True), now_ms, persist)

    return __init__


@around(end_transaction_processor, "end_message_transaction")
def _forget_the_keys(original: Callable[[MessageExt], MessageExtBrokerInner]) -> Callable[..., MessageExtBrokerInner]:
    def end_message_transaction(half: MessageExt) -> MessageExtBrokerInner:
        """Keys are of no use to consumers."""
        message = original(half)
        message.clear_property(PROPERTY_KEYS)
        message.write_properties()
        return message

    return end_message_transaction


@around(_QueueCheck, "_step")
def _wait_for_the_next(original: Callable[[_QueueCheck], Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def _step(self: _QueueCheck) -> bool:
        """The last half message is looked at when another one is behind it."""
        behind = self._bridge.get_message(self._queue.topic, self._queue.queue_id, self._i + 1, 1)
        return behind is not None and behind.pull_status is PullStatus.FOUND and await original(self)

    return _step


BUGS = (
    Variant("seeded-threads-have-no-end", "bug", "Listeners have as many threads as there are batches.",
            "apache/rocketmq-client-go #953", replacements=(_have_threads_enough,)),
    Variant("seeded-consume-timeout-is-15-minutes", "bug", "What a listener keeps expires after 15 minutes, always.",
            "an idea: DefaultMQPushConsumer.consumeTimeout is not read", replacements=(_expire_after_15_minutes,)),
    Variant("seeded-corrected-queue-stays", "bug", "A queue whose offset is corrected stays, dropped.",
            "apache/rocketmq-client-go #517", replacements=(_leave_it_where_it_is_dropped,)),
    Variant("seeded-delays-believe-the-clock", "bug", "A delay ends when its message says, whatever clock it had.",
            "apache/rocketmq #2620", replacements=(_believe_the_time,)),
    Variant("seeded-keys-lead-twice-to-a-message", "bug", "Who asks for a key is told each message twice.",
            "apache/rocketmq #8438", replacements=(_told_twice,)),
    Variant("seeded-first-rebalance-waits", "bug", "A consumer that starts waits for the timer of its rebalances.",
            "apache/rocketmq-client-python #36", replacements=(_wait_for_the_timer,)),
    Variant("seeded-all-refusals-are-tried-again", "bug", "What a broker refuses is sent to another, for any reason.",
            "an idea: DefaultMQProducer.retryResponseCodes is not read", replacements=(_try_all_again,)),
    Variant("seeded-check-waits-for-the-next", "bug", "A half message is checked when another one has followed it.",
            "an idea: an end of the half queue that is one too low", replacements=(_wait_for_the_next,)),
    Variant("seeded-commits-forget-keys", "bug", "A message that is committed has lost its keys.",
            "an idea: EndTransactionProcessor#endMessageTransaction copies what it knows", replacements=(
                _forget_the_keys,)),
    Variant("seeded-closed-brokers-make-topics", "bug", "Brokers make each topic for which a message comes.",
            "an idea: BrokerConfig.autoCreateTopicEnable is not read", replacements=(_make_topics,)),
)
