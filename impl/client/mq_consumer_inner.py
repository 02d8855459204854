"""MQConsumerInner: what an instance asks of its consumers, of whichever kind they are."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from impl.client.rebalance import RebalanceImpl
from impl.client.rebalance_push import OffsetStore
from impl.common.heartbeat_data import ConsumerData
from impl.decisions.message_queue import MessageQueue


class MQConsumerInner(Protocol):
    """`client.impl.consumer.MQConsumerInner`. offset_store, group -- its offsets, and the name of its group."""

    offset_store: OffsetStore
    group: str

    @property
    def rebalance_impl(self) -> RebalanceImpl:
        """Its queues, and what it subscribes."""
        ...

    def consumer_data(self) -> ConsumerData:
        """Its part of a heartbeat."""
        ...

    async def do_rebalance(self) -> None:
        """MQConsumerInner#doRebalance."""
        ...

    async def persist_consumer_offset(self) -> None:
        """MQConsumerInner#persistConsumerOffset."""
        ...

    def is_subscribe_topic_need_update(self, topic: str) -> bool:
        """MQConsumerInner#isSubscribeTopicNeedUpdate."""
        ...

    def update_topic_subscribe_info(self, topic: str, mqs: Collection[MessageQueue]) -> None:
        """MQConsumerInner#updateTopicSubscribeInfo."""
        ...
