"""DefaultLitePullConsumer: what users of lite pull consumers call; it puts the namespace before groups and topics."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from impl.client.client_config import ClientConfig, InNamespace
from impl.client.lite_pull_consumer import DefaultLitePullConsumerImpl
from impl.client.lite_pull_consumer_config import LitePullConsumerConfig
from impl.client.mq_client_manager import MQClientManager
from impl.common.message import MessageExt
from impl.common.message_selector import MessageSelector
from impl.decisions.message_queue import MessageQueue
from impl.ports.node import Node


class DefaultLitePullConsumer(InNamespace):
    """`client.consumer.DefaultLitePullConsumer`: its user names groups, topics and queues without the namespace."""

    def __init__(
        self, node: Node, manager: MQClientManager, client_config: ClientConfig, config: LitePullConsumerConfig,
    ) -> None:
        """Not started; raises MQClientError for a configuration that is not legal."""
        self.namespace = client_config.namespace
        self.impl = DefaultLitePullConsumerImpl(node, manager, client_config, self._with_namespace(config))

    def _with_namespace(self, config: LitePullConsumerConfig) -> LitePullConsumerConfig:
        """DefaultLitePullConsumer#start: its group."""
        return replace(config, consumer_group=self.with_namespace(config.consumer_group))

    def _queues(self, mqs: Collection[MessageQueue]) -> list[MessageQueue]:
        """ClientConfig#queuesWithNamespace."""
        return [self.queue_with_namespace(mq) for mq in mqs]

    async def start(self) -> None:
        """DefaultLitePullConsumer#start; raises MQClientError, IllegalStateError."""
        await self.impl.start()

    async def shutdown(self) -> None:
        """DefaultLitePullConsumer#shutdown."""
        await self.impl.shutdown()

    async def subscribe(self, topic: str, selector: str | MessageSelector = "*") -> None:
        """DefaultLitePullConsumer#subscribe; raises MQClientError."""
        await self.impl.subscribe(self.with_namespace(topic), selector)

    def unsubscribe(self, topic: str) -> None:
        """DefaultLitePullConsumer#unsubscribe."""
        self.impl.unsubscribe(self.with_namespace(topic))

    def assign(self, mqs: Collection[MessageQueue]) -> None:
        """DefaultLitePullConsumer#assign; raises IllegalArgumentError, IllegalStateError."""
        self.impl.assign(self._queues(mqs))

    async def poll(self, timeout_ms: int = 5_000) -> list[MessageExt]:
        """DefaultLitePullConsumer#poll; raises IllegalStateError, IllegalArgumentError."""
        return await self.impl.poll(timeout_ms)

    async def seek(self, mq: MessageQueue, offset: int) -> None:
        """DefaultLitePullConsumer#seek; raises MQClientError."""
        await self.impl.seek(self.queue_with_namespace(mq), offset)

    def pause(self, mqs: Collection[MessageQueue]) -> None:
        """DefaultLitePullConsumer#pause."""
        self.impl.pause(self._queues(mqs))

    def resume(self, mqs: Collection[MessageQueue]) -> None:
        """DefaultLitePullConsumer#resume."""
        self.impl.resume_queues(self._queues(mqs))

    async def fetch_message_queues(self, topic: str) -> frozenset[MessageQueue]:
        """DefaultLitePullConsumer#fetchMessageQueues: without their namespace; raises MQClientError."""
        return await self.impl.fetch_message_queues(self.with_namespace(topic))

    async def commit_sync(self) -> None:
        """DefaultLitePullConsumer#commitSync: of all that was polled."""
        await self.impl.commit_all()

    async def committed(self, mq: MessageQueue) -> int:
        """DefaultLitePullConsumer#committed; raises MQClientError, IllegalStateError."""
        return await self.impl.committed(self.queue_with_namespace(mq))
