"""ClientHousekeepingService: connections that end, and clients that fall silent."""

from __future__ import annotations

from impl.broker.consumer_manager import ConsumerManager
from impl.broker.producer_manager import ProducerManager
from impl.broker.reported_tables import connection_of
from impl.decisions.java_errors import JavaError
from impl.events import ClientChannelClosed
from impl.ports.node import Node
from impl.ports.remoting import Connection

SCAN_PERIOD_MS = 10_000


class ClientHousekeepingService:
    """`broker.client.ClientHousekeepingService`.

    Events are handled by the one event thread of the server, the scan by a thread of its own: the two can meet.
    """

    def __init__(self, node: Node, producers: ProducerManager, consumers: ConsumerManager) -> None:
        """Keep these tables clean."""
        self.node, self.producers, self.consumers = node, producers, consumers
        self.scheduler = node.scheduler("ClientHousekeepingScheduledThread")

    def start(self) -> None:
        """ClientHousekeepingService#start."""
        self.scheduler.schedule_at_fixed_rate(self.scan_exception_channel, SCAN_PERIOD_MS, SCAN_PERIOD_MS)

    def shutdown(self) -> None:
        """ClientHousekeepingService#shutdown."""
        self.scheduler.shutdown()

    async def scan_exception_channel(self) -> None:
        """ClientHousekeepingService#scanExceptionChannel: unlike the name server's scan it has a try."""
        try:
            await self.producers.scan_not_active_channel(self.node)
            await self.node.interleave("scanExceptionChannel: between producers and consumers")
            await self.consumers.scan_not_active_channel(self.node)
        except JavaError:
            return  # logged

    def on_channel_connect(self, remote_addr: str, channel: Connection) -> None:
        """Nothing is known of the client yet."""

    async def on_channel_close(self, remote_addr: str, channel: Connection) -> None:  # noqa: ARG002  # a listener
        """ClientHousekeepingService#onChannelClose."""
        await self._ended(channel)

    async def on_channel_exception(self, remote_addr: str, channel: Connection) -> None:  # noqa: ARG002  # a listener
        """ClientHousekeepingService#onChannelException."""
        await self._ended(channel)

    async def on_channel_idle(self, remote_addr: str, channel: Connection) -> None:  # noqa: ARG002  # a listener
        """ClientHousekeepingService#onChannelIdle."""
        await self._ended(channel)

    async def _ended(self, channel: Connection) -> None:
        self.node.trace(ClientChannelClosed(self.node.name, connection_of(channel)))
        self.producers.do_channel_close_event(channel)
        await self.node.interleave("onChannelClose: between producers and consumers")
        await self.consumers.do_channel_close_event(channel, self.node)
