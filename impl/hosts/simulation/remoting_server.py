"""NettyRemotingServer of 4.9.3 under simulation; what it shares with the client is in `remoting.py`.

No fault is injected here.
"""

from __future__ import annotations

from impl.hosts.simulation.channel import Channel
from impl.hosts.simulation.network import Network
from impl.hosts.simulation.process import Process
from impl.hosts.simulation.remoting import Remoting, end_of
from impl.ports.pools import Pool
from impl.ports.remoting import ChannelEventListener, Command, Connection, Handler, InvokeCallback

SERVER_PERMITS = 256, 64  # NettyServerConfig.serverOnewaySemaphoreValue, .serverAsyncSemaphoreValue


class RemotingServer(Remoting):
    """NettyRemotingServer; see `impl.ports.remoting`."""

    def __init__(self, process: Process, network: Network, address: str, listener: ChannelEventListener | None) -> None:
        """Not listening yet; address -- "machine:port"."""
        super().__init__(process, network, "NettyServer", listener, SERVER_PERMITS)
        self.address = address

    def start(self) -> None:
        """See RemotingServer in `impl.ports.remoting`."""
        self.network.listen(self.process, self.address, self)

    def shutdown(self) -> None:
        """See RemotingServer in `impl.ports.remoting`; no events come any more."""
        self.stopped = True
        self.network.unlisten(self.address)
        for end in list(self.network.open_ends):
            if end.endpoint is self and end.active:
                end.close()

    def register_default_processor(self, handler: Handler, pool: Pool) -> None:
        """See RemotingServer in `impl.ports.remoting`."""
        self.default_processor = handler, pool, None

    async def invoke_sync(self, channel: Connection, request: Command, timeout_ms: int) -> Command:
        """See RemotingServer in `impl.ports.remoting`."""
        return await self.invoke_sync_on(end_of(channel), request, self.next_opaque(), timeout_ms)

    async def invoke_async(
        self, channel: Connection, request: Command, timeout_ms: int, callback: InvokeCallback,
    ) -> None:
        """See RemotingServer in `impl.ports.remoting`."""
        await self.invoke_async_on(end_of(channel), request, self.next_opaque(), timeout_ms, callback)

    async def invoke_oneway(self, channel: Connection, request: Command, timeout_ms: int) -> None:
        """See RemotingServer in `impl.ports.remoting`."""
        await self.invoke_oneway_on(end_of(channel), request, self.next_opaque(), timeout_ms)

    def connected(self, channel: Channel) -> None:
        """NettyRemotingServer.NettyConnectManageHandler#channelActive."""
        self.event("connect", channel)

    def closed(self, channel: Channel, *, by_self: bool) -> None:  # noqa: ARG002  # channelInactive does not ask who
        """NettyRemotingServer.NettyConnectManageHandler#channelInactive."""
        self.event("close", channel)

    def broken(self, channel: Channel) -> None:
        """NettyRemotingServer.NettyConnectManageHandler#exceptionCaught."""
        self.event("exception", channel)

    def idle(self, channel: Channel) -> None:
        """NettyRemotingServer.NettyConnectManageHandler#userEventTriggered."""
        self.event("idle", channel)
        channel.close()
