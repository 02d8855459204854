"""RebalanceLitePullImpl: how a lite pull consumer takes queues and gives them up."""

from __future__ import annotations

from collections.abc import Callable, Collection

from impl.client.mq_client_instance import MQClientInstance
from impl.client.offset_store import OffsetStore, ReadOffsetType
from impl.client.process_queue import ProcessQueue
from impl.client.rebalance import PullRequest, RebalanceImpl
from impl.client.rebalance_push import ask_where_to_start
from impl.common.heartbeat_data import CONSUME_ACTIVELY
from impl.decisions.allocation import AllocateMessageQueueStrategy
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX
from impl.decisions.start_offset import ConsumeFromWhere, start_offset_source
from impl.ports.node import Node
from impl.ports.threads import Threads

MessageQueueListener = Callable[[str, Collection[MessageQueue], Collection[MessageQueue]], None]
"""`client.consumer.MessageQueueListener`: topic, all its queues, those of this consumer."""


class RebalanceLitePullImpl(RebalanceImpl):
    """`client.impl.consumer.RebalanceLitePullImpl`.

    message_queue_listener -- is told when queues have come or gone; set by a subscription. offset_store -- of the
    consumer. consume_from_where, consume_timestamp_ms -- where a queue is begun that has no offset.
    """

    def __init__(  # noqa: PLR0913  # what Java's class reads of its consumer
        self, node: Node, instance: MQClientInstance, group: str, message_model: str,
        strategy: AllocateMessageQueueStrategy, *, consume_from_where: ConsumeFromWhere, consume_timestamp_ms: int,
        offset_store: OffsetStore,
    ) -> None:
        """Start without queues."""
        super().__init__(group, message_model, strategy, instance, node.now_ms)
        self.instance, self.offset_store = instance, offset_store
        self.consume_from_where, self.consume_timestamp_ms = consume_from_where, consume_timestamp_ms
        self.message_queue_listener: MessageQueueListener | None = None

    async def message_queue_changed(
        self, topic: str, mq_all: Collection[MessageQueue], mq_divided: Collection[MessageQueue], threads: Threads,
    ) -> None:
        """RebalanceLitePullImpl#messageQueueChanged: neither a new version nor a heartbeat."""
        del threads
        if self.message_queue_listener is not None:
            self.message_queue_listener(topic, mq_all, mq_divided)

    async def remove_unnecessary_message_queue(self, mq: MessageQueue, pq: ProcessQueue, threads: Threads) -> bool:
        """RebalanceLitePullImpl#removeUnnecessaryMessageQueue: what was polled and not committed is not sent."""
        del pq
        await self.offset_store.persist(mq)
        await threads.interleave("removeUnnecessaryMessageQueue: between persist and removeOffset")
        self.offset_store.remove_offset(mq)
        return True

    def consume_type(self) -> str:
        """RebalanceLitePullImpl#consumeType."""
        return CONSUME_ACTIVELY

    def remove_dirty_offset(self, mq: MessageQueue) -> None:
        """RebalanceLitePullImpl#removeDirtyOffset."""
        self.offset_store.remove_offset(mq)

    async def compute_pull_from_where_with_exception(self, mq: MessageQueue, threads: Threads) -> int:
        """RebalanceLitePullImpl#computePullFromWhereWithException: as of push consumers, but memory comes first."""
        stored = await self.offset_store.read_offset(mq, ReadOffsetType.MEMORY_FIRST_THEN_STORE, threads)
        source = start_offset_source(
            self.consume_from_where, stored, retry_topic=mq.topic.startswith(RETRY_GROUP_TOPIC_PREFIX))
        return await ask_where_to_start(self.instance.admin, mq, source, stored, self.consume_timestamp_ms)

    async def dispatch_pull_request(self, pull_request_list: list[PullRequest]) -> None:
        """RebalanceLitePullImpl#dispatchPullRequest does nothing: pull tasks are the consumer's."""
