"""ConsumerGroupInfo: the members and the subscriptions of one group at one broker."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from impl.broker.client_channel_info import ClientChannelInfo
from impl.common.heartbeat_data import ConsumerData
from impl.decisions.java_errors import not_null
from impl.decisions.subscription import SubscriptionData
from impl.hash_map import ConcurrentHashMap
from impl.ports.remoting import Channel
from impl.ports.threads import Interleave


class ConsumerGroupInfo:
    """`broker.client.ConsumerGroupInfo`; no lock in the class, its plain methods stand for what no thread can split.

    group_name, consume_type, message_model, consume_from_where -- as the last heartbeat of any member said.
    now_ms -- the clock of the broker.

    channel_info_table -- connection to client. subscription_table -- topic to subscription.
    last_update_timestamp -- milliseconds since 1970.
    """

    def __init__(self, consumer_data: ConsumerData, now_ms: Callable[[], int]) -> None:
        """Start without members and subscriptions."""
        self.now_ms = now_ms
        self.group_name = consumer_data.group_name
        self.subscription_table: ConcurrentHashMap[str, SubscriptionData] = ConcurrentHashMap()
        self.channel_info_table: ConcurrentHashMap[Channel, ClientChannelInfo] = ConcurrentHashMap(16)
        self.consume_type = consumer_data.consume_type
        self.message_model = consumer_data.message_model
        self.consume_from_where = consumer_data.consume_from_where
        self.last_update_timestamp = now_ms()

    def find_channel(self, client_id: str) -> ClientChannelInfo | None:
        """ConsumerGroupInfo#findChannel: the first in the order of the table."""
        infos = self.channel_info_table.values()
        return next((info for info in infos if not_null(info.client_id) == client_id), None)

    def get_all_channel(self) -> list[Channel]:
        """ConsumerGroupInfo#getAllChannel: a copy."""
        return list(self.channel_info_table.key_set())

    def get_all_client_id(self) -> list[str | None]:
        """ConsumerGroupInfo#getAllClientId: one for each CONNECTION, so a client with two appears twice."""
        return [info.client_id for info in self.channel_info_table.values()]

    def unregister_channel(self, client_channel_info: ClientChannelInfo) -> None:
        """ConsumerGroupInfo#unregisterChannel: by connection, whoever the info says it is."""
        self.channel_info_table.remove(client_channel_info.channel)

    def do_channel_close_event(self, channel: Channel) -> bool:
        """ConsumerGroupInfo#doChannelCloseEvent: whether the connection was a member."""
        return self.channel_info_table.remove(channel) is not None

    def update_channel(self, info_new: ClientChannelInfo, consumer_data: ConsumerData) -> bool:
        """ConsumerGroupInfo#updateChannel: whether a connection was added.

        Another client on a known connection replaces the info, which is no change; the time then goes to the discarded
        one. Raises NullPointerError if the known one has no client id.
        """
        updated = False
        self.consume_type = consumer_data.consume_type
        self.message_model = consumer_data.message_model
        self.consume_from_where = consumer_data.consume_from_where
        info_old = self.channel_info_table.get(info_new.channel)
        if info_old is None:
            updated = self.channel_info_table.put(info_new.channel, info_new) is None
            info_old = info_new
        elif not_null(info_old.client_id) != info_new.client_id:
            self.channel_info_table.put(info_new.channel, info_new)
        self.last_update_timestamp = self.now_ms()
        info_old.last_update_timestamp = self.last_update_timestamp
        return updated

    async def update_subscription(self, sub_list: Sequence[SubscriptionData], threads: Interleave) -> bool:
        """ConsumerGroupInfo#updateSubscription: whether a topic was added or removed.

        A newer version of a known topic is taken over without being a change. Each look and each write of the two
        loops can be overtaken by another heartbeat of the group.
        """
        updated = await self.add_subscriptions(sub_list, threads)
        await threads.interleave("updateSubscription: between the two loops")
        removed = await self.remove_subscriptions_missing_in(sub_list, threads)
        self.last_update_timestamp = self.now_ms()
        return updated or removed

    async def add_subscriptions(self, sub_list: Sequence[SubscriptionData], threads: Interleave) -> bool:
        """The first loop of ConsumerGroupInfo#updateSubscription: whether a topic was added."""
        updated = False
        for sub in sub_list:
            topic = not_null(sub.topic)
            old = self.subscription_table.get(topic)
            await threads.interleave("updateSubscription: the topic has been looked up")
            if old is None:
                updated |= self.subscription_table.put_if_absent(topic, sub) is None
            elif sub.sub_version > old.sub_version:
                self.subscription_table.put(topic, sub)
        return updated

    async def remove_subscriptions_missing_in(self, sub_list: Sequence[SubscriptionData], threads: Interleave) -> bool:
        """The second loop of ConsumerGroupInfo#updateSubscription: whether a topic was removed, by key."""
        updated = False
        topics = {sub.topic for sub in sub_list}
        for old_topic, _ in self.subscription_table.traverse():
            if old_topic not in topics:
                await threads.interleave("updateSubscription: before a topic is removed")
                self.subscription_table.remove(old_topic)
                updated = True
        return updated

    def find_subscription_data(self, topic: str) -> SubscriptionData | None:
        """ConsumerGroupInfo#findSubscriptionData."""
        return self.subscription_table.get(topic)
