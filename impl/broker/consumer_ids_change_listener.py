"""DefaultConsumerIdsChangeListener and the one call of Broker2Client that it makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from impl.broker.consumer_filter_manager import ConsumerFilterManager
from impl.broker.reported_tables import connection_of
from impl.common.headers import ConsumerGroupRequestHeader
from impl.common.request_code import RequestCode
from impl.decisions.java_errors import JavaError
from impl.decisions.subscription import SubscriptionData
from impl.events import ConsumerIdsChanged
from impl.ports.node import Node
from impl.ports.remoting import Channel, Command, Connection, RemotingServer
from impl.ports.threads import Interleave

NOTIFY_TIMEOUT_MS = 10  # for one of the server's 256 one-way permits


class DefaultConsumerIdsChangeListener:
    """`broker.client.DefaultConsumerIdsChangeListener`: everything is done in the calling thread.

    notify_enable -- BrokerConfig.notifyConsumerIdsChangedEnable.
    """

    def __init__(
        self, node: Node, remoting_server: RemotingServer, filters: ConsumerFilterManager, *, notify_enable: bool,
    ) -> None:
        """Push by this server, keep these filters."""
        self.node, self.remoting_server, self.filters = node, remoting_server, filters
        self.notify_enable = notify_enable

    async def change(self, group: str, channels: Sequence[Channel], threads: Interleave) -> None:
        """CHANGE: one push after another, up to 10 ms each."""
        if self.notify_enable:
            for channel in channels:
                await threads.interleave("DefaultConsumerIdsChangeListener#handle: before the next push")
                await self.notify_consumer_ids_changed(channel, group)

    async def notify_consumer_ids_changed(self, channel: Channel, group: str) -> None:
        """Broker2Client#notifyConsumerIdsChanged: errors are logged, nothing is retried."""
        request = Command(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, header=ConsumerGroupRequestHeader(group))
        delivered = channel.is_active()
        try:
            await self.remoting_server.invoke_oneway(cast("Connection", channel), request, NOTIFY_TIMEOUT_MS)
        except JavaError:
            delivered = False
        self.node.trace(ConsumerIdsChanged(self.node.name, group, connection_of(channel), delivered))

    async def unregister(self, group: str, threads: Interleave) -> None:  # noqa: ARG002  # nothing waits here
        """UNREGISTER: the filters of the group die."""
        self.filters.un_register(group)

    async def register(self, group: str, sub_list: Sequence[SubscriptionData], threads: Interleave) -> None:
        """REGISTER: the filters of the group become those of the heartbeat."""
        await self.filters.register(group, sub_list, threads)
