"""The tables of a broker, their writes reported to the node in the segment that makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from impl.broker.bloom_filter import BloomFilter
from impl.broker.client_channel_info import ClientChannelInfo
from impl.broker.consumer_filter_manager import ConsumerFilterManager
from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.broker.consumer_manager import ConsumerIdsChangeListener, ConsumerManager
from impl.broker.producer_manager import ProducerManager
from impl.broker.rebalance_lock_manager import RebalanceLockManager
from impl.common.heartbeat_data import ConsumerData
from impl.decisions.message_queue import MessageQueue
from impl.decisions.subscription import SubscriptionData, is_tag_type
from impl.events import (
    ConsumerRegistered,
    ConsumerRemoved,
    FilterRegistered,
    FiltersDied,
    GoodbyeTaken,
    GroupEntered,
    GroupRemoved,
    HeartbeatHandled,
    LockGranted,
    LockReleased,
    ProducerForgotten,
    ProducerRegistered,
    SubscriptionRemoved,
    SubscriptionsHandled,
    SubscriptionUpdated,
)
from impl.hash_map import ConcurrentHashMap
from impl.ports.node import Node
from impl.ports.remoting import Channel
from impl.ports.threads import Interleave
from impl.reported_map import ReportedMap


def connection_of(channel: Channel) -> str:
    """The name of a connection in events."""
    return str(getattr(channel, "remote_address", ""))


class ReportedGroupInfo(ConsumerGroupInfo):
    """ConsumerGroupInfo with reports.

    consumer_table -- of the manager: an object that has left it goes on living in whoever has a reference.
    """

    def __init__(
        self, consumer_data: ConsumerData, node: Node, consumer_table: ConcurrentHashMap[str, ConsumerGroupInfo],
    ) -> None:
        """Start without members and subscriptions."""
        super().__init__(consumer_data, node.now_ms)
        self.node, self.consumer_table = node, consumer_table
        self._why = "expired"  # only the scan removes a connection outside the methods below
        self._whose: dict[int, str] = {}  # the identity of a heartbeat's list, while it is handled, to its connection
        self.channel_info_table = ReportedMap(16, _unreported, self._removed)
        self.subscription_table = ReportedMap(16, self._subscribed, self._unsubscribed)

    def update_channel(self, info_new: ClientChannelInfo, consumer_data: ConsumerData) -> bool:
        """ConsumerGroupInfo#updateChannel."""
        self._why = "replaced"
        updated = super().update_channel(info_new, consumer_data)
        self._why = "expired"
        connection = connection_of(info_new.channel)
        carried = frozenset((sub.topic, sub.sub_string, sub.sub_version) for sub in consumer_data.subscription_data_set)
        self.node.trace(ConsumerRegistered(
            self.node.name, self.group_name, info_new.client_id, connection, self.attached, updated, carried,
        ))
        self._whose[id(consumer_data.subscription_data_set)] = connection
        return updated

    async def update_subscription(self, sub_list: Sequence[SubscriptionData], threads: Interleave) -> bool:
        """ConsumerGroupInfo#updateSubscription."""
        updated = await super().update_subscription(sub_list, threads)
        connection = self._whose.pop(id(sub_list), None)
        if connection is not None:
            self.node.trace(SubscriptionsHandled(self.node.name, self.group_name, connection, self.attached))
        return updated

    @property
    def attached(self) -> bool:
        """Whether the manager's table has this object."""
        return self.consumer_table.get(self.group_name) is self

    def unregister_channel(self, client_channel_info: ClientChannelInfo) -> None:
        """ConsumerGroupInfo#unregisterChannel."""
        self._why = "unregistered"
        super().unregister_channel(client_channel_info)
        self._why = "expired"
        connection = connection_of(client_channel_info.channel)
        self.node.trace(GoodbyeTaken(
            self.node.name, self.group_name, client_channel_info.client_id, connection, self.attached,
        ))

    def do_channel_close_event(self, channel: Channel) -> bool:
        """ConsumerGroupInfo#doChannelCloseEvent."""
        self._why = "closed"
        removed = super().do_channel_close_event(channel)
        self._why = "expired"
        return removed

    def _removed(self, channel: Channel, info: ClientChannelInfo) -> None:
        self.node.trace(ConsumerRemoved(
            self.node.name, self.group_name, info.client_id, connection_of(channel), self._why, self.attached,
        ))

    def _subscribed(self, topic: str, sub: SubscriptionData) -> None:
        self.node.trace(SubscriptionUpdated(
            self.node.name, self.group_name, topic, sub.sub_string, sub.sub_version, self.attached,
        ))

    def _unsubscribed(self, topic: str, _: SubscriptionData) -> None:
        self.node.trace(SubscriptionRemoved(self.node.name, self.group_name, topic, self.attached))


class ReportedConsumerManager(ConsumerManager):
    """ConsumerManager with reports."""

    def __init__(self, listener: ConsumerIdsChangeListener, node: Node) -> None:
        """Start empty."""
        super().__init__(listener, node.now_ms)
        self.node = node
        self.consumer_table = ReportedMap(1024, self._entered, self._removed)

    async def register_consumer(
        self, client_channel_info: ClientChannelInfo, consumer_data: ConsumerData, *, notify: bool, threads: Interleave,
    ) -> bool:
        """ConsumerManager#registerConsumer."""
        changed = await super().register_consumer(client_channel_info, consumer_data, notify=notify, threads=threads)
        connection = connection_of(client_channel_info.channel)
        self.node.trace(HeartbeatHandled(self.node.name, consumer_data.group_name, connection))
        return changed

    def get_or_create_group(self, consumer_data: ConsumerData) -> ConsumerGroupInfo:
        """The group as ConsumerManager#registerConsumer finds or makes it; get and putIfAbsent."""
        info = self.consumer_table.get(consumer_data.group_name)
        if info is not None:
            return info
        tmp = ReportedGroupInfo(consumer_data, self.node, self.consumer_table)
        return self.consumer_table.put_if_absent(consumer_data.group_name, tmp) or tmp

    def _entered(self, group: str, _: ConsumerGroupInfo) -> None:
        self.node.trace(GroupEntered(self.node.name, group))

    def _removed(self, group: str, info: ConsumerGroupInfo) -> None:
        self.node.trace(GroupRemoved(self.node.name, group, tuple(info.get_all_client_id())))


class ReportedProducerManager(ProducerManager):
    """ProducerManager with reports."""

    def __init__(self, node: Node) -> None:
        """Start empty."""
        super().__init__(node.now_ms)
        self.node = node

    def register_producer(self, group: str, client_channel_info: ClientChannelInfo) -> None:
        """ProducerManager#registerProducer."""
        super().register_producer(group, client_channel_info)
        connection = connection_of(client_channel_info.channel)
        self.node.trace(ProducerRegistered(self.node.name, group, client_channel_info.client_id, connection))

    def unregister_producer(self, group: str, client_channel_info: ClientChannelInfo) -> None:
        """ProducerManager#unregisterProducer."""
        known = self._groups_of(client_channel_info.channel)
        super().unregister_producer(group, client_channel_info)
        if group in known:
            self._forgotten({group: client_channel_info}, client_channel_info.channel)

    def do_channel_close_event(self, channel: Channel | None) -> None:
        """ProducerManager#doChannelCloseEvent."""
        known = {} if channel is None else self._groups_of(channel)
        super().do_channel_close_event(channel)
        if channel is not None:
            self._forgotten(known, channel)

    def _groups_of(self, channel: Channel) -> dict[str, ClientChannelInfo]:
        return {group: info for group, table in self.group_channel_table.entries()
                if (info := table.get(channel)) is not None}

    def _forgotten(self, known: Mapping[str, ClientChannelInfo], channel: Channel) -> None:
        for group, info in known.items():
            self.node.trace(ProducerForgotten(self.node.name, group, info.client_id, connection_of(channel)))


class ReportedFilters(ConsumerFilterManager):
    """ConsumerFilterManager with reports."""

    def __init__(self, bloom_filter: BloomFilter, node: Node) -> None:
        """Start empty."""
        super().__init__(bloom_filter, node.now_ms)
        self.node = node

    def register_topic(self, consumer_group: str, subscription: SubscriptionData) -> bool:
        """ConsumerFilterManager#register of one topic."""
        taken = super().register_topic(consumer_group, subscription)
        if subscription.topic is not None and subscription.sub_string and not is_tag_type(subscription.expression_type):
            left = self.get(subscription.topic, consumer_group)
            self.node.trace(FilterRegistered(
                self.node.name, consumer_group, subscription.topic, subscription.sub_string, subscription.sub_version,
                taken, left is not None and not left.is_dead(),
            ))
        return taken

    def un_register(self, consumer_group: str) -> None:
        """ConsumerFilterManager#unRegister."""
        lived = any(not one.is_dead() for one in self.get_by_group(consumer_group))
        super().un_register(consumer_group)
        if lived:
            self.node.trace(FiltersDied(self.node.name, consumer_group))


class ReportedLocks(RebalanceLockManager):
    """RebalanceLockManager with reports."""

    def __init__(self, node: Node) -> None:
        """Start empty, as every broker process does."""
        super().__init__(node.now_ms)
        self.node = node

    async def is_locked(self, group: str, mq: MessageQueue, client_id: str, threads: Interleave) -> bool:
        """RebalanceLockManager#isLocked, the fast path."""
        locked = await super().is_locked(group, mq, client_id, threads)
        if locked:
            self._granted(group, mq, client_id, fast=True)
        return locked

    def try_lock_under_lock(self, group: str, mqs: Sequence[MessageQueue], client_id: str) -> list[MessageQueue]:
        """The locked part of RebalanceLockManager#tryLockBatch."""
        granted = super().try_lock_under_lock(group, mqs, client_id)
        for mq in granted:
            self._granted(group, mq, client_id, fast=False)
        return granted

    def unlock_batch(self, group: str, mqs: Sequence[MessageQueue], client_id: str) -> None:
        """RebalanceLockManager#unlockBatch."""
        before = [mq for mq in mqs if self.holder(group, mq) is not None]
        super().unlock_batch(group, mqs, client_id)
        for mq in before:
            if self.holder(group, mq) is None:
                self.node.trace(LockReleased(self.node.name, group, mq, client_id))

    def holder(self, group: str, mq: MessageQueue) -> str | None:
        """Whose id the entry has, expired or not; None: there is no entry."""
        group_value = self.mq_lock_table.get(group)
        entry = None if group_value is None else group_value.get(mq)
        return None if entry is None else entry.client_id

    def _granted(self, group: str, mq: MessageQueue, client_id: str, *, fast: bool) -> None:
        holder = self.holder(group, mq) or ""
        self.node.trace(LockGranted(self.node.name, group, mq, client_id, holder, fast))


def _unreported(channel: Channel, info: ClientChannelInfo) -> None:
    """ConsumerGroupInfo#updateChannel reports its put itself, with what came of it."""
