"""BrokerTables: what a broker knows of topics, groups, clients, locks and offsets, and the files of some of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from impl.broker.bloom_filter import BloomFilter
from impl.broker.broker_config import BrokerConfig
from impl.broker.config_files import groups_text, load_groups, load_topics, topics_text
from impl.broker.consumer_ids_change_listener import DefaultConsumerIdsChangeListener
from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.broker.reported_tables import (
    ReportedConsumerManager,
    ReportedFilters,
    ReportedLocks,
    ReportedProducerManager,
)
from impl.broker.subscription_group_manager import SubscriptionGroupManager
from impl.broker.topic_config_manager import TopicConfigManager
from impl.common.config_manager import load, persist
from impl.common.inet_socket_address import socket_address
from impl.common.topic_config import TopicConfig
from impl.events import TopicConfigDeleted, TopicConfigUpdated
from impl.ports.message_store import MessageStore
from impl.ports.node import Node
from impl.ports.remoting import RemotingServer
from impl.reported_map import ReportedMap

TOPICS_PATH = "store/config/topics.json"
CONSUMER_OFFSET_PATH = "store/config/consumerOffset.json"
SUBSCRIPTION_GROUP_PATH = "store/config/subscriptionGroup.json"
CONSUMER_FILTER_PATH = "store/config/consumerFilter.json"
_BLOOM_ERROR_PERCENT, _BLOOM_GROUPS = 20, 32  # maxErrorRateOfBloomFilter, expectConsumerNumUseFilter


class BrokerTables:
    """The tables that BrokerController#initialize makes and loads; each is written by the manager that it belongs to.

    message_store -- whose queues the offsets are of. store_host -- BrokerController#getStoreHost: the broker's address,
    as it stands in records. loaded -- all files were read, so that the broker may start.
    """

    def __init__(
        self, node: Node, config: BrokerConfig, message_store: MessageStore, remoting_server: RemotingServer,
    ) -> None:
        """Make the tables and read their files; remoting_server -- by which clients are told of each other."""
        self.node, self.config, self.message_store = node, config, message_store
        self.store_host = socket_address(f"{node.name}:{config.listen_port}")
        self.topic_config_manager = TopicConfigManager(config, node.now_ms, self.persist_topics)
        self.topic_config_manager.topic_config_table = ReportedMap(
            1024, self._topic_put, self._topic_removed, self.topic_config_manager.topic_config_table.entries(),
        )
        self.subscription_group_manager = SubscriptionGroupManager(
            node.now_ms, self.persist_groups, auto_create_subscription_group=config.auto_create_subscription_group,
        )
        self.consumer_offset_manager = ConsumerOffsetManager(message_store.get_min_offset_in_queue)
        self.consumer_filter_manager = ReportedFilters(BloomFilter(_BLOOM_ERROR_PERCENT, _BLOOM_GROUPS), node)
        self.rebalance_lock_manager = ReportedLocks(node)
        self.producer_manager = ReportedProducerManager(node)
        listener = DefaultConsumerIdsChangeListener(
            node, remoting_server, self.consumer_filter_manager,
            notify_enable=config.notify_consumer_ids_changed_enable,
        )
        self.consumer_manager = ReportedConsumerManager(listener, node)
        self.loaded = self._load()

    def _topic_put(self, topic: str, _: TopicConfig) -> None:
        self.node.trace(TopicConfigUpdated(self.node.name, topic))

    def _topic_removed(self, topic: str, _: TopicConfig) -> None:
        self.node.trace(TopicConfigDeleted(self.node.name, topic))

    # Files ------------------------------------------------------------------------------------------------------------

    def _load(self) -> bool:
        """BrokerController#initialize: behind a file that does not load the others are not looked at."""
        decodes: tuple[tuple[str, Callable[[str], None]], ...] = (
            (TOPICS_PATH, partial(load_topics, self.topic_config_manager)),
            (CONSUMER_OFFSET_PATH, self.consumer_offset_manager.decode),
            (SUBSCRIPTION_GROUP_PATH, partial(load_groups, self.subscription_group_manager)),
            (CONSUMER_FILTER_PATH, self.consumer_filter_manager.decode),
        )
        return all(load(self.node.disk, path, decode) for path, decode in decodes)

    def persist_topics(self) -> None:
        """TopicConfigManager#persist, in the thread that changed a topic."""
        persist(self.node.disk, TOPICS_PATH, topics_text(self.topic_config_manager))

    def persist_groups(self) -> None:
        """SubscriptionGroupManager#persist, in the thread that changed a group."""
        persist(self.node.disk, SUBSCRIPTION_GROUP_PATH, groups_text(self.subscription_group_manager))

    def persist_consumer_offset(self) -> None:
        """ConsumerOffsetManager#persist, every 5 s."""
        persist(self.node.disk, CONSUMER_OFFSET_PATH, self.consumer_offset_manager.encode())

    def persist_consumer_filter(self) -> None:
        """ConsumerFilterManager#persist, every 10 s."""
        persist(self.node.disk, CONSUMER_FILTER_PATH, self.consumer_filter_manager.encode())
