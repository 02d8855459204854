"""The tables of one consumer."""

from __future__ import annotations

from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.decisions.allocation import AllocateMessageQueueStrategy
from impl.decisions.message_queue import MessageQueue
from invariants.views.living import lives

CLUSTERING, RUNNING, START_FAILED = "CLUSTERING", "RUNNING", "START_FAILED"


class ConsumerTables:
    """What a consumer's tables say whenever they are asked, also after the end of its process."""

    __slots__ = ("_consumer",)

    def __init__(self, consumer: DefaultMQPushConsumerImpl) -> None:
        """Look at this one."""
        self._consumer = consumer

    @property
    def client_id(self) -> str:
        """The id of its client."""
        return self._consumer.instance.client_id

    @property
    def strategy(self) -> AllocateMessageQueueStrategy:
        """How it divides queues."""
        return self._consumer.rebalance_impl.strategy

    @property
    def orderly(self) -> bool:
        """Whether its listener wants messages in order."""
        return self._consumer.config.orderly

    @property
    def clustering(self) -> bool:
        """Whether it shares the queues with its group."""
        return self._consumer.config.message_model == CLUSTERING

    @property
    def listeners_stopped(self) -> bool:
        """Whether its listeners have been told to stop."""
        return self._consumer.consume_message_service.stopped

    def now_ms(self) -> int:
        """The clock of its machine."""
        return self._consumer.node.now_ms()

    def is_up(self) -> bool:
        """Whether it lives, its start has come as far as its registration, and its shutdown has not ended."""
        consumer = self._consumer
        registered = consumer.instance.consumer_table.get(consumer.group) is consumer
        starts = consumer.service_state == START_FAILED and registered
        return lives(consumer.node) and (consumer.service_state == RUNNING or starts)

    def subscribes(self, topic: str) -> bool:
        """RebalanceImpl.subscriptionInner: whether it has the topic."""
        return self._consumer.rebalance_impl.subscription_inner.contains_key(topic)

    def route(self, topic: str) -> frozenset[MessageQueue]:
        """RebalanceImpl.topicSubscribeInfoTable: the queues of a topic that it knows."""
        return frozenset(self._consumer.rebalance_impl.topic_subscribe_info_table.get(topic) or ())

    def holds(self, topic: str) -> list[MessageQueue]:
        """RebalanceImpl.processQueueTable: the queues of a topic that are there, and not dropped."""
        return [mq for mq, pq in self._consumer.rebalance_impl.process_queue_table.entries()
                if mq.topic == topic and not pq.dropped]

    def has_lock(self, mq: MessageQueue) -> bool:
        """Whether it holds a queue and believes that it has its lock."""
        pq = self._consumer.rebalance_impl.process_queue_table.get(mq)
        return pq is not None and pq.locked and not pq.dropped

    def locked(self) -> list[MessageQueue]:
        """The queues whose lock it believes to have."""
        return [mq for mq, pq in self._consumer.rebalance_impl.process_queue_table.entries()
                if pq.locked and not pq.dropped]

    def last_lock_ms(self, mq: MessageQueue) -> int | None:
        """ProcessQueue.lastLockTimestamp by its own clock; None: it does not have the queue."""
        pq = self._consumer.rebalance_impl.process_queue_table.get(mq)
        return None if pq is None else pq.last_lock_timestamp

    def gives_up(self, mq: MessageQueue) -> bool:
        """Whether the consumer has a reason of its own: it ends, is suspended or reset, or pulls or topic have ended.

        An orderly consumer may always have one, PULL_OFFSET_MOVED, of which nothing is left to be seen.
        """
        consumer = self._consumer
        if consumer.service_state != RUNNING or consumer.pause or consumer.config.orderly:
            return True
        if consumer.instance.monitor.held or not self.subscribes(mq.topic):  # held by MQClientInstance#resetOffset
            return True
        pq = consumer.rebalance_impl.process_queue_table.get(mq)
        return pq is not None and pq.is_pull_expired()
