"""MQConsumerInner: what an instance asks of its consumers, and what consumers of either kind do alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection

from impl.client.client_config import ClientConfig
from impl.client.local_file_offset_store import LocalFileOffsetStore
from impl.client.mq_client_manager import MQClientManager
from impl.client.offset_store import OffsetStore, RemoteBrokerOffsetStore
from impl.client.rebalance import RebalanceImpl
from impl.client.service_state import CREATE_JUST
from impl.common.heartbeat_data import BROADCASTING, CLUSTERING, ConsumerData
from impl.common.message_selector import MessageSelector
from impl.decisions.java_calendar import time_millis_to_human_string3
from impl.decisions.java_errors import MQClientError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import consume_timestamp_ms
from impl.decisions.subscription import TAG, SubscriptionData, build
from impl.events import RouteUpdated
from impl.ports.node import Node

CONSUME_TIMESTAMP_BACK_MS = 30 * 60 * 1000  # of consumers of both kinds, consumeTimestamp: half an hour before now


def read_consume_timestamp_ms(text: str, now_ms: int) -> int:
    """The consumeTimestamp that a user has set, in ms since 1970; empty: the default of a consumer that is made now."""
    return consume_timestamp_ms(text or time_millis_to_human_string3(now_ms - CONSUME_TIMESTAMP_BACK_MS))


class MQConsumerInner(ABC):
    """`client.impl.consumer.MQConsumerInner`, with what both of its implementations repeat in Java.

    group -- the name of its group. service_state -- CREATE_JUST, RUNNING, … instance -- the client. offset_store -- its
    offsets. rebalance_impl -- its queues, and what it subscribes.
    """

    rebalance_impl: RebalanceImpl

    def __init__(
        self, node: Node, manager: MQClientManager, client_config: ClientConfig, group: str, message_model: str,
    ) -> None:
        """Not started; who shares a topic out gets a client id of its own, unless it is named."""
        self.node, self.group, self.service_state = node, group, CREATE_JUST
        if message_model == CLUSTERING:
            client_config = manager.change_instance_name_to_pid(client_config)
        self.instance = manager.get_or_create_mq_client_instance(client_config)
        self.offset_store: OffsetStore = (
            LocalFileOffsetStore(node, self.instance.client_id, group) if message_model == BROADCASTING
            else RemoteBrokerOffsetStore(self.instance, group))

    def register(self) -> None:
        """The part of #start that takes the place of the group in the instance; raises MQClientError."""
        if not self.instance.register_consumer(self.group, self):
            self.service_state = CREATE_JUST
            raise MQClientError(f"The consumer group[{self.group}] has been created before, specify another name "
                                "please.")

    def put_subscription(self, topic: str, selector: str | MessageSelector) -> SubscriptionData:
        """The part of #subscribe that changes subscriptionInner: what is there now. Raises JavaErrors."""
        expression, expression_type = (selector, TAG) if isinstance(selector, str) else selector
        subscription = build(topic, expression, expression_type, self.node.now_ms())
        self.rebalance_impl.subscription_inner.put(topic, subscription)
        return subscription

    @abstractmethod
    def consumer_data(self) -> ConsumerData:
        """Its part of a heartbeat."""

    @abstractmethod
    async def do_rebalance(self) -> None:
        """MQConsumerInner#doRebalance."""

    @abstractmethod
    async def persist_consumer_offset(self) -> None:
        """MQConsumerInner#persistConsumerOffset."""

    def is_subscribe_topic_need_update(self, topic: str) -> bool:
        """MQConsumerInner#isSubscribeTopicNeedUpdate."""
        rebalance = self.rebalance_impl
        subscribed = rebalance.subscription_inner.contains_key(topic)
        return subscribed and not rebalance.topic_subscribe_info_table.contains_key(topic)

    def update_topic_subscribe_info(self, topic: str, mqs: Collection[MessageQueue]) -> None:
        """MQConsumerInner#updateTopicSubscribeInfo."""
        if self.rebalance_impl.subscription_inner.contains_key(topic):
            self.rebalance_impl.topic_subscribe_info_table.put(topic, mqs)
            self.node.trace(RouteUpdated(self.instance.client_id, self.group, topic, frozenset(mqs)))
