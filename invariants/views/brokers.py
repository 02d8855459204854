"""The tables of brokers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.broker.controller import BrokerController
from impl.broker.rebalance_lock_manager import LockEntry
from impl.broker.reported_tables import connection_of
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.decisions.java_text import utf16_key
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID, RETRY_GROUP_TOPIC_PREFIX
from impl.decisions.route_queues import QueueData
from invariants.views.living import Living
from invariants.views.values import Broker, Filter, QueueLock, Subscription

_T = TypeVar("_T")


class BrokerViews:
    """Of those that live; what is asked of another one is answered as if its tables were empty."""

    living: Living

    def brokers(self) -> list[Broker]:
        """Those that live, in the order in which their machines were added."""
        found = (self.broker(machine) for machine in self.living.machines.brokers)
        return [broker for broker in found if broker is not None]

    def broker(self, machine: str) -> Broker | None:
        """The broker that runs there."""
        broker = self.living.broker(machine)
        if broker is None:
            return None
        config, copied = broker.config, broker.slave_synchronize
        return Broker(machine, config.broker_name, config.broker_id, broker.broker_addr, broker.node.now_ms(),
                      copied.master_addr)

    def runs_broker(self, machine: str) -> bool:
        """Whether a broker runs there."""
        return self.living.broker(machine) is not None

    def clock(self, machine: str) -> Callable[[], int] | None:
        """The clock of the broker that runs there, which can be kept; None: no broker runs there."""
        found = self.living.broker(machine)
        return None if found is None else found.node.now_ms

    def held_pulls(self, broker: str, topic: str, queue_id: int) -> list[tuple[str, int]]:
        """PullRequestHoldService.pullRequestTable: connection and opaque of the requests of a queue that are held."""
        found = self.living.broker(broker)
        if found is None:
            return []
        held = found.data_plane.pull_message_processor.hold_service.pull_request_table.get((topic, queue_id))
        return [(connection_of(one.channel), one.request.opaque) for one in held or ()]

    def transaction_check_max(self, broker: str) -> int | None:
        """BrokerConfig.transactionCheckMax; None: no broker runs there."""
        found = self.living.broker(broker)
        return None if found is None else found.config.transaction_check_max

    def transaction_check_interval_ms(self, broker: str) -> int | None:
        """BrokerConfig.transactionCheckInterval; None: no broker runs there."""
        found = self.living.broker(broker)
        return None if found is None else found.config.transaction_check_interval_ms

    def reads_slaves(self, broker: str) -> bool:
        """BrokerConfig.slaveReadEnable."""
        found = self.living.broker(broker)
        return found is not None and found.config.slave_read_enable

    def topics(self, broker: str) -> dict[str, QueueData]:
        """TopicConfigManager.topicConfigTable, as it is routed: topic to its queues.

        A broker that may not be read and written registers all of them with its own permission, and without flags.
        """
        found = self.living.broker(broker)
        if found is None:
            return {}
        own, table = found.config.broker_permission, found.topic_config_manager.topic_config_table.entries()
        is_open = own & PERM_READ and own & PERM_WRITE
        return {topic: QueueData(found.config.broker_name, config.read_queue_nums, config.write_queue_nums,
                                 *((config.perm, config.topic_sys_flag) if is_open else (own, 0)))
                for topic, config in table}

    def may_be_read(self, broker: str, topic: str) -> bool | None:
        """Whether a broker may be read (BrokerConfig.brokerPermission), and its topic; None: it has no such topic."""
        found = self.living.broker(broker)
        config = None if found is None else found.topic_config_manager.topic_config_table.get(topic)
        if found is None or config is None:
            return None
        return bool(found.config.broker_permission & config.perm & PERM_READ)

    def topic_version(self, broker: str) -> tuple[int, int]:
        """TopicConfigManager.dataVersion: time and counter, of a broker that runs."""
        found = self.living.broker(broker)
        version = None if found is None else found.topic_config_manager.data_version
        return (0, 0) if version is None else (version.timestamp, version.counter)

    def ordered_topics(self, broker: str) -> list[str]:
        """TopicConfigManager.topicConfigTable: the topics whose order is configured."""
        table = self._look(broker, lambda found: found.topic_config_manager.topic_config_table.entries())
        return [topic for topic, config in table if config.order]

    def cluster(self, broker: str) -> str:
        """BrokerConfig: the name of its cluster; empty: no broker runs there."""
        found = self.living.broker(broker)
        return "" if found is None else found.config.cluster_name

    def subscription_groups(self, broker: str) -> list[str]:
        """SubscriptionGroupManager.subscriptionGroupTable: the names of the groups that are configured."""
        return [*self._look(broker, lambda found: found.subscription_group_manager.subscription_group_table.key_set())]

    def group_config(self, broker: str, group: str) -> tuple[int | bool, ...] | None:
        """SubscriptionGroupManager.subscriptionGroupTable: the fields of a group behind its name; None: it has none."""
        config = self._configured(broker, group)
        return None if config is None else tuple(getattr(config, one.name) for one in fields(config)[1:])

    def may_broadcast(self, broker: str, group: str) -> bool | None:
        """SubscriptionGroupConfig.consumeBroadcastEnable; None: the broker has no configuration of the group."""
        config = self._configured(broker, group)
        return None if config is None else config.consume_broadcast_enable

    def tells_of_changes(self, broker: str, group: str) -> tuple[bool, bool]:
        """Whether a broker tells members of changes at all, and whether of those of this group.

        BrokerConfig, and SubscriptionGroupConfig: notifyConsumerIdsChangedEnable.
        """
        found, config = self.living.broker(broker), self._configured(broker, group)
        return (found is None or found.config.notify_consumer_ids_changed_enable,
                config is None or config.notify_consumer_ids_changed_enable)

    def may_consume(self, broker: str, group: str) -> bool | None:
        """SubscriptionGroupConfig.consumeEnable of a group; None where it is not configured, or no broker runs."""
        config = self._configured(broker, group)
        return None if config is None else config.consume_enable

    def reads_at(self, broker: str, group: str) -> tuple[int, int] | None:
        """Of a group the broker id that is suggested to who reads from memory, and that to who is far behind.

        SubscriptionGroupConfig.brokerId, whichBrokerWhenConsumeSlowly; None where it is not configured, or no broker
        runs.
        """
        config = self._configured(broker, group)
        return None if config is None else (config.broker_id, config.which_broker_when_consume_slowly)

    def retry_queue_nums(self, broker: str, group: str) -> int | None:
        """SubscriptionGroupConfig.retryQueueNums of a group; None where it is not configured, or no broker runs."""
        config = self._configured(broker, group)
        return None if config is None else config.retry_queue_nums

    def subscription_group_version(self, broker: str) -> tuple[int, int]:
        """SubscriptionGroupManager.dataVersion: time and counter, of a broker that runs."""
        found = self.living.broker(broker)
        version = None if found is None else found.subscription_group_manager.data_version
        return (0, 0) if version is None else (version.timestamp, version.counter)

    def groups(self, broker: str) -> list[str]:
        """ConsumerManager.consumerTable: the groups that have an entry, if only an empty one."""
        return [*self._look(broker, lambda found: found.consumer_manager.consumer_table.key_set())]

    def has_group(self, broker: str, group: str) -> bool:
        """ConsumerManager.consumerTable: whether the group has an entry."""
        return self._group(broker, group) is not None

    def members(self, broker: str, group: str) -> dict[str, str | None]:
        """ConsumerGroupInfo.channelInfoTable: connection to client id."""
        info = self._group(broker, group)
        return {} if info is None else {
            connection_of(channel): client.client_id for channel, client in info.channel_info_table.entries()}

    def consumed_as(self, broker: str, group: str) -> tuple[str, str, str] | None:
        """ConsumerGroupInfo: consumeType, messageModel, consumeFromWhere of a group."""
        info = self._group(broker, group)
        return None if info is None else (info.consume_type, info.message_model, info.consume_from_where)

    def listed(self, broker: str, group: str) -> list[str]:
        """The id list that the broker would answer, sorted: a client with two connections is there twice."""
        info = self._group(broker, group)
        return [] if info is None else sorted(str(client_id) for client_id in info.get_all_client_id())

    def consumes(self, broker: str, group: str) -> tuple[str, str, str] | None:
        """ConsumerGroupInfo: consumeType, messageModel and consumeFromWhere; None: the broker has no such group."""
        info = self._group(broker, group)
        return None if info is None else (info.consume_type, info.message_model, str(info.consume_from_where))

    def subscriptions(self, broker: str, group: str) -> dict[str, Subscription]:
        """ConsumerGroupInfo.subscriptionTable: by topic, retry topics too."""
        info = self._group(broker, group)
        return {} if info is None else {
            topic: Subscription(sub.sub_string, sub.sub_version, sub.expression_type)
            for topic, sub in info.subscription_table.entries()}

    def expressions(self, broker: str, group: str) -> dict[str, str]:
        """Topic to expression in the subscription table of a group; retry topics are left out."""
        table = self.subscriptions(broker, group)
        return {topic: sub.sub_string for topic, sub in table.items() if not topic.startswith(RETRY_GROUP_TOPIC_PREFIX)}

    def filters(self, broker: str, group: str) -> dict[str, Filter]:
        """ConsumerFilterManager: of the topics that the group subscribes now."""
        filters = self._look(broker, lambda found: [
            (topic, found.consumer_filter_manager.get(topic, group)) for topic in self.subscriptions(broker, group)])
        return {topic: Filter(data.client_version, data.is_dead()) for topic, data in filters if data is not None}

    def compiled(self, broker: str) -> dict[tuple[str, str], int]:
        """ConsumerFilterManager.filterDataByTopic: topic and group to the version that its expression came with."""
        topics = self._look(broker, lambda found: found.consumer_filter_manager.filter_data_by_topic.entries())
        return {(topic, group): data.client_version for topic, filters in topics
                for group, data in filters.group_filter_data.entries()}

    def producers(self, broker: str) -> dict[tuple[str, str], str | None]:
        """ProducerManager.groupChannelTable: group and connection to client id."""
        groups = self._look(broker, lambda found: found.producer_manager.group_channel_table.entries())
        return {(group, connection_of(channel)): client.client_id
                for group, table in groups for channel, client in table.entries()}

    def reply_connections(self, broker: str) -> dict[str, str]:
        """ProducerManager.clientChannelTable: client id to the connection that replies are pushed on."""
        entries = self._look(broker, lambda found: found.producer_manager.client_channel_table.entries())
        return {client_id: connection_of(channel) for client_id, channel in entries}

    def locks(self, broker: str) -> dict[tuple[str, MessageQueue], QueueLock]:
        """RebalanceLockManager.mqLockTable: group and queue to who has the lock."""
        found = self.living.broker(broker)
        if found is None:
            return {}
        now_ms, table = found.node.now_ms(), found.rebalance_lock_manager.mq_lock_table
        return {(group, mq): _queue_lock(entry, now_ms)
                for group, entries in table.entries() for mq, entry in entries.entries()}

    def lock(self, broker: str, group: str, mq: MessageQueue) -> QueueLock | None:
        """RebalanceLockManager.mqLockTable: who has the lock of a queue."""
        found = self.living.broker(broker)
        entries = found and found.rebalance_lock_manager.mq_lock_table.get(group)
        entry = entries and entries.get(mq)
        return _queue_lock(entry, found.node.now_ms()) if found and entry else None

    def committed(self, broker: str, group: str) -> dict[tuple[str, int], int]:
        """ConsumerOffsetManager.offsetTable: topic and queue id to the offset of a group."""
        entries = self._look(broker, lambda found: found.consumer_offset_manager.offset_table.entries())
        by_key = ((key.partition("@"), offsets) for key, offsets in entries)
        return {(topic, queue_id): offset for (topic, _, name), offsets in by_key if name == group
                for queue_id, offset in offsets.entries()}

    def committed_of(self, broker: str, group: str, topic: str) -> dict[int, int] | None:
        """ConsumerOffsetManager.offsetTable: queue id to the offset of a group; None: no broker runs there."""
        found = self.living.broker(broker)
        if found is None:
            return None
        offsets = found.consumer_offset_manager.query_offsets(group, topic)
        return {} if offsets is None else {one.key: one.value for one in offsets.nodes()}

    def groups_with_offsets(self, broker: str) -> set[tuple[str, str]]:
        """ConsumerOffsetManager.offsetTable: the pairs of group and topic that have an entry."""
        keys = self._look(broker, lambda found: found.consumer_offset_manager.offset_table.key_set())
        return {(group, topic) for topic, _, group in (key.partition("@") for key in keys)}

    def queues(self, topic: str) -> list[MessageQueue]:
        """The queues of a topic that may be read at the brokers that live, sorted."""
        found: dict[str, int] = {}
        for broker in self.brokers():
            config = self.topics(broker.machine).get(topic)
            if config is not None and config.perm & PERM_READ:
                name = broker.broker_name
                found[name] = max(config.read_queue_nums, found.get(name, 0))
        return _queues(topic, found)

    def writable(self, topic: str) -> list[MessageQueue]:
        """The queues of a topic that may be written at the masters that live, sorted."""
        masters = [broker for broker in self.brokers() if broker.broker_id == MASTER_ID]
        found = {broker.broker_name: config.write_queue_nums for broker in masters
                 if (config := self.topics(broker.machine).get(topic)) is not None and config.perm & PERM_WRITE}
        return _queues(topic, found)

    def _configured(self, broker: str, group: str) -> Any:
        """The SubscriptionGroupConfig of a group; None: it has none, or no broker runs there."""
        found = self.living.broker(broker)
        return None if found is None else found.subscription_group_manager.subscription_group_table.get(group)

    def _look(self, broker: str, read: Callable[[BrokerController], Sequence[_T]]) -> Sequence[_T]:
        found = self.living.broker(broker)
        return () if found is None else read(found)

    def _group(self, broker: str, group: str) -> ConsumerGroupInfo | None:
        found = self.living.broker(broker)
        return None if found is None else found.consumer_manager.consumer_table.get(group)


def _queues(topic: str, found: dict[str, int]) -> list[MessageQueue]:
    """Of each of these brokers all; found -- broker name to how many it has."""
    return [MessageQueue(topic, name, i) for name in sorted(found, key=utf16_key) for i in range(found[name])]


def _queue_lock(entry: LockEntry, now_ms: int) -> QueueLock:
    return QueueLock(entry.client_id, entry.last_update_timestamp, entry.is_expired(now_ms))
