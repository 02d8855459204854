"""ConsumerManager: which consumers are registered at a broker, by group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from impl.broker.client_channel_info import CHANNEL_EXPIRED_TIMEOUT_MS, ClientChannelInfo
from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.common.heartbeat_data import ConsumerData
from impl.decisions.subscription import SubscriptionData
from impl.hash_map import ConcurrentHashMap
from impl.ports.remoting import Channel
from impl.ports.threads import Interleave


class ConsumerIdsChangeListener(Protocol):
    """`broker.client.ConsumerIdsChangeListener#handle`, one method for each ConsumerGroupEvent.

    Everything happens in the calling thread, so it can be paused in the middle of the pushes.
    """

    async def change(self, group: str, channels: Sequence[Channel], threads: Interleave) -> None:
        """CHANGE: the members are (perhaps) others than before; channels are those to be told."""
        ...

    async def unregister(self, group: str, threads: Interleave) -> None:
        """UNREGISTER: the group has lost its last member."""
        ...

    async def register(self, group: str, sub_list: Sequence[SubscriptionData], threads: Interleave) -> None:
        """REGISTER: a heartbeat has been entered."""
        ...


class ConsumerManager:
    """`broker.client.ConsumerManager`: a ConcurrentHashMap, and no lock here or in the callers.

    listener -- is told of the events. now_ms -- the clock of the broker.

    consumer_table -- group to its members and subscriptions.
    """

    def __init__(self, listener: ConsumerIdsChangeListener, now_ms: Callable[[], int]) -> None:
        """Start empty."""
        self.listener = listener
        self.now_ms = now_ms
        self.consumer_table: ConcurrentHashMap[str, ConsumerGroupInfo] = ConcurrentHashMap(1024)

    def find_channel(self, group: str, client_id: str) -> ClientChannelInfo | None:
        """ConsumerManager#findChannel."""
        info = self.consumer_table.get(group)
        return None if info is None else info.find_channel(client_id)

    def find_subscription_data(self, group: str, topic: str) -> SubscriptionData | None:
        """ConsumerManager#findSubscriptionData."""
        info = self.consumer_table.get(group)
        return None if info is None else info.find_subscription_data(topic)

    def get_consumer_group_info(self, group: str) -> ConsumerGroupInfo | None:
        """ConsumerManager#getConsumerGroupInfo."""
        return self.consumer_table.get(group)

    def find_subscription_data_count(self, group: str) -> int:
        """ConsumerManager#findSubscriptionDataCount."""
        info = self.consumer_table.get(group)
        return 0 if info is None else len(info.subscription_table)

    def query_topic_consume_by_who(self, topic: str) -> list[str]:
        """ConsumerManager#queryTopicConsumeByWho: the groups that subscribe the topic."""
        return [group for group, info in self.consumer_table.entries() if info.subscription_table.contains_key(topic)]

    async def register_consumer(
        self, client_channel_info: ClientChannelInfo, consumer_data: ConsumerData, *, notify: bool, threads: Interleave,
    ) -> bool:
        """ConsumerManager#registerConsumer: one group of a heartbeat; whether a connection or topic came or went.

        notify -- SubscriptionGroupConfig.notifyConsumerIdsChangedEnable of the group. The members, the sender among
        them, are told of a change before the filters of the new subscriptions exist.
        """
        group, sub_list = consumer_data.group_name, consumer_data.subscription_data_set
        info = self.get_or_create_group(consumer_data)
        await threads.interleave("registerConsumer: before updateChannel")
        r1 = info.update_channel(client_channel_info, consumer_data)
        await threads.interleave("registerConsumer: before updateSubscription")
        r2 = await info.update_subscription(sub_list, threads)
        await threads.interleave("registerConsumer: before CHANGE")
        if (r1 or r2) and notify:
            await self.listener.change(group, info.get_all_channel(), threads)
        await threads.interleave("registerConsumer: before REGISTER")
        await self.listener.register(group, sub_list, threads)
        return r1 or r2

    def get_or_create_group(self, consumer_data: ConsumerData) -> ConsumerGroupInfo:
        """The group as ConsumerManager#registerConsumer finds or makes it; it may be dropped from the table later."""
        info = self.consumer_table.get(consumer_data.group_name)
        if info is not None:
            return info
        tmp = ConsumerGroupInfo(consumer_data, self.now_ms)
        return self.consumer_table.put_if_absent(consumer_data.group_name, tmp) or tmp

    async def unregister_consumer(
        self, group: str, client_channel_info: ClientChannelInfo, *, notify: bool, threads: Interleave,
    ) -> None:
        """ConsumerManager#unregisterConsumer: CHANGE goes out whether or not anything was removed."""
        info = self.consumer_table.get(group)
        if info is None:
            return
        await threads.interleave("unregisterConsumer: before unregisterChannel")
        info.unregister_channel(client_channel_info)
        await threads.interleave("unregisterConsumer: before isEmpty")
        await self.drop_empty_group("unregisterConsumer", group, info, threads)
        if notify:
            await self.listener.change(group, info.get_all_channel(), threads)

    async def do_channel_close_event(self, channel: Channel, threads: Interleave) -> None:
        """ConsumerManager#doChannelCloseEvent: CHANGE to what is left of each group, whatever its notify flag says."""
        for group, info in self.consumer_table.traverse():
            if info.do_channel_close_event(channel):
                await threads.interleave("doChannelCloseEvent: before isEmpty")
                await self.drop_empty_group("doChannelCloseEvent", group, info, threads)
                await self.listener.change(group, info.get_all_channel(), threads)
            await threads.interleave("doChannelCloseEvent: before the next group")

    async def drop_empty_group(self, caller: str, group: str, info: ConsumerGroupInfo, threads: Interleave) -> None:
        """Drop a group that has no connection any more: by key, so it may be another object by now."""
        if info.channel_info_table.is_empty():
            await threads.interleave(f"{caller}: before the group is removed")
            if self.consumer_table.remove(group) is not None:
                await threads.interleave(f"{caller}: before UNREGISTER")
                await self.listener.unregister(group, threads)
        await threads.interleave(f"{caller}: before CHANGE")

    async def scan_not_active_channel(self, threads: Interleave) -> None:
        """ConsumerManager#scanNotActiveChannel: close and remove what has been silent for 120 s, without any event."""
        for group, info in self.consumer_table.traverse():
            for channel, client_channel_info in info.channel_info_table.traverse():
                if self.now_ms() - client_channel_info.last_update_timestamp > CHANNEL_EXPIRED_TIMEOUT_MS:
                    await threads.interleave("scanNotActiveChannel: before a channel is closed")
                    client_channel_info.channel.close()
                    await threads.interleave("scanNotActiveChannel: before a channel is removed")
                    info.channel_info_table.remove(channel)
            if info.channel_info_table.is_empty():
                await threads.interleave("scanNotActiveChannel: before the group is removed")
                self.consumer_table.remove(group)
            await threads.interleave("scanNotActiveChannel: before the next group")
