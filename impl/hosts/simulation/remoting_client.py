"""NettyRemotingClient of 4.9.3 under simulation; what it shares with the server is in `remoting.py`.

No fault is injected here. lockChannelTables is no lock here: nothing waits while it is held.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from impl.events.clients import NameServerChosen, NameServersReplaced
from impl.hosts.simulation.channel import Channel
from impl.hosts.simulation.executor import Pool
from impl.hosts.simulation.network import Network
from impl.hosts.simulation.process import Future
from impl.hosts.simulation.remoting import Remoting
from impl.hosts.simulation.threads import Threads
from impl.ports.remoting import (
    ChannelEventListener,
    Command,
    InvokeCallback,
    RemotingConnectError,
    RemotingSendRequestError,
    RemotingTimeoutError,
    RemotingTooMuchRequestError,
)
from impl.ports.threads import Lock

CONNECT_TIMEOUT_MS = 3000  # NettySystemConfig.connectTimeoutMillis
LOCK_TIMEOUT_MS = 3000  # NettyRemotingClient.LOCK_TIMEOUT_MILLIS
CLIENT_PERMITS = 65_535, 65_535  # NettySystemConfig.CLIENT_ONEWAY_SEMAPHORE_VALUE, .CLIENT_ASYNC_SEMAPHORE_VALUE


class _ChannelWrapper:
    """NettyRemotingClient.ChannelWrapper: a connection that is being made, or was."""

    def __init__(self) -> None:
        """Being made."""
        self.channel: Channel | None = None
        self.is_done = False
        self.waiting: list[Future] = []

    def is_ok(self) -> bool:
        return self.channel is not None and self.channel.active

    def settle(self, channel: Channel | None) -> bool:
        """The attempt has ended; False if it had before (then nobody wants the channel)."""
        if self.is_done:
            return False
        self.is_done, self.channel = True, channel
        for thread in self.waiting:
            thread.resolve()
        return True


class RemotingClient(Remoting):
    """NettyRemotingClient; see `impl.ports.remoting`.

    number -- which of the clients of its process it is. channel_tables -- address to its connection.
    """

    def __init__(
        self, process: Threads, network: Network, name: str,
        callback_threads: int, listener: ChannelEventListener | None, number: int,
    ) -> None:
        """No connection, no name server."""
        super().__init__(process, network, name, listener, CLIENT_PERMITS)
        self.threads, self.number = process, number
        self.callback_pool = Pool(process, f"{name}PublicExecutor", callback_threads if callback_threads > 0 else 4)
        self.channel_tables: dict[str, _ChannelWrapper] = {}
        self._namesrv_addr_list: list[str] | None = None
        self._namesrv_addr_choosed: str | None = None
        self._namesrv_index: int | None = None
        self._namesrv_channel_lock = Lock("NettyRemotingClient.namesrvChannelLock")

    def start(self) -> None:
        """See RemotingClient in `impl.ports.remoting`."""

    def shutdown(self) -> None:
        """See RemotingClient in `impl.ports.remoting`."""
        self.stopped = True
        for addr, wrapper in list(self.channel_tables.items()):
            self._close_channel(addr, wrapper.channel)
        self.channel_tables.clear()
        self.callback_pool.shutdown()

    def get_name_server_address_list(self) -> list[str] | None:
        """See RemotingClient in `impl.ports.remoting`."""
        return self._namesrv_addr_list

    def update_name_server_address_list(self, addrs: Sequence[str]) -> None:
        """See RemotingClient in `impl.ports.remoting`."""
        old = self._namesrv_addr_list
        if not addrs or (old is not None and len(old) == len(addrs) and all(addr in old for addr in addrs)):
            return
        shuffled = list(addrs)
        for i in range(len(shuffled) - 1, 0, -1):
            j = i - self.threads.random(i + 1, "NettyRemotingClient#updateNameServerAddressList")
            shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
        self._namesrv_addr_list = shuffled
        if old is not None:
            self.process.trace(NameServersReplaced(frozenset(shuffled)))
        if self._namesrv_index is None:  # initValueIndex: 0 … 998, of which only the remainder matters
            self._namesrv_index = self.threads.random(len(shuffled), "NettyRemotingClient#initValueIndex")
        if self._namesrv_addr_choosed not in shuffled:
            self._namesrv_addr_choosed = None

    def is_channel_writable(self, addr: str) -> bool:
        """See RemotingClient in `impl.ports.remoting`."""
        wrapper = self.channel_tables.get(addr)
        return wrapper is None or wrapper.channel is None or not wrapper.is_ok() or wrapper.channel.is_writable()

    async def invoke_sync(self, addr: str | None, request: Command, timeout_ms: int) -> Command:
        """See RemotingClient in `impl.ports.remoting`."""
        opaque, channel = self.next_opaque(), self._channel_at_hand(addr)
        if channel is None:
            begin_ms = self.process.now_ms()
            channel = await self._open_channel(addr)
            timeout_ms -= self.process.now_ms() - begin_ms
            if timeout_ms < 0:
                self._close_channel(addr, channel)
                raise RemotingTimeoutError(f"invokeSync call the addr[{_text(addr)}] timeout")
        try:
            return await self.invoke_sync_on(channel, request, opaque, timeout_ms)
        except (RemotingSendRequestError, RemotingTimeoutError):
            self._close_channel(addr, channel)
            raise

    async def invoke_async(self, addr: str | None, request: Command, timeout_ms: int, callback: InvokeCallback) -> None:
        """See RemotingClient in `impl.ports.remoting`."""
        opaque, begin_ms = self.next_opaque(), self.process.now_ms()
        channel = self._channel_at_hand(addr) or await self._open_channel(addr)
        timeout_ms -= self.process.now_ms() - begin_ms
        if timeout_ms < 0:
            raise RemotingTooMuchRequestError(f"invokeAsync call the addr[{_text(addr)}] timeout")
        await self.invoke_async_on(channel, request, opaque, timeout_ms, callback)

    async def invoke_oneway(self, addr: str | None, request: Command, timeout_ms: int) -> None:
        """See RemotingClient in `impl.ports.remoting`."""
        opaque = self.next_opaque()
        channel = self._channel_at_hand(addr) or await self._open_channel(addr)
        if self.oneway_permits.take():
            self._write_oneway(channel, request, opaque)
        else:
            await self.invoke_oneway_on(channel, request, opaque, timeout_ms)

    async def close_channels(self, addrs: Sequence[str]) -> None:
        """See RemotingClient in `impl.ports.remoting`."""
        for addr in addrs:
            wrapper = self.channel_tables.get(addr)
            if wrapper is not None:
                self._close_channel(addr, wrapper.channel)

    async def _open_channel(self, addr: str | None) -> Channel:
        """NettyRemotingClient#getAndCreateChannel; raises RemotingConnectError if the channel is not active."""
        channel = await self._name_server_channel() if addr is None else await self._create_channel(addr)
        if channel is None or not channel.active:
            self._close_channel(addr, channel)
            raise RemotingConnectError(addr)
        return channel

    async def _name_server_channel(self) -> Channel | None:
        """NettyRemotingClient#getAndCreateNameserverChannel: the one chosen last while it is there, else the next."""
        channel = self._channel_at_hand(None)
        if channel is not None:
            return channel
        addr_list = self._namesrv_addr_list or []
        if not await self.threads.try_lock(self._namesrv_channel_lock, LOCK_TIMEOUT_MS):
            return None
        channel = self._channel_at_hand(None)
        if channel is None:
            for _ in addr_list:
                self._namesrv_index = (self._namesrv_index or 0) + 1
                self._namesrv_addr_choosed = addr_list[self._namesrv_index % len(addr_list)]
                self.process.trace(NameServerChosen(
                    self._namesrv_addr_choosed, frozenset(self._namesrv_addr_list or ()), self.number))
                channel = await self._create_channel(self._namesrv_addr_choosed)
                if channel is not None:
                    break
        self.threads.unlock(self._namesrv_channel_lock)
        if channel is None and addr_list:
            raise RemotingConnectError(f"[{', '.join(addr_list)}]")
        return channel

    def _channel_at_hand(self, addr: str | None) -> Channel | None:
        """The open channel to the address, None: to the name server chosen last; None if there is none."""
        wrapper = self.channel_tables.get(addr or self._namesrv_addr_choosed or "")
        channel = None if wrapper is None else wrapper.channel
        return channel if channel is not None and channel.active else None

    async def _create_channel(self, addr: str) -> Channel | None:
        """NettyRemotingClient#createChannel: threads that want the same address wait for one attempt."""
        wrapper = self.channel_tables.get(addr)
        if wrapper is None or (wrapper.is_done and not wrapper.is_ok()):
            if self.stopped:
                return None
            wrapper = self.channel_tables[addr] = _ChannelWrapper()
            self.network.connect(self.process, self, addr, wrapper.settle)
            self.process.after(CONNECT_TIMEOUT_MS, partial(wrapper.settle, None))
        if not wrapper.is_done:
            thread = Future(self.process.kernel)
            wrapper.waiting.append(thread)
            wait = self.process.begin_wait(to=addr.rpartition(":")[0])
            await self.process.until(thread, CONNECT_TIMEOUT_MS)
            if wait is not None:
                wait.end(self.process.kernel.now_ms, in_vain=not wrapper.is_ok())
        return wrapper.channel if wrapper.is_ok() else None

    def _close_channel(self, addr: str | None, channel: Channel | None) -> None:
        """NettyRemotingClient#closeChannel(addr, channel): closed in any case, forgotten if the table has it."""
        if channel is None:
            return
        addr = channel.remote_address if addr is None else addr
        wrapper = self.channel_tables.get(addr)
        if wrapper is not None and wrapper.channel is channel:
            del self.channel_tables[addr]
        if channel.active:
            channel.close()
        else:
            self.closed(channel, by_self=True)

    def _close_if_known(self, channel: Channel) -> None:
        """NettyRemotingClient#closeChannel(channel), which closes nothing that the table has not."""
        if any(wrapper.channel is channel for wrapper in self.channel_tables.values()):
            self._close_channel(channel.remote_address, channel)

    def connected(self, channel: Channel) -> None:
        """Nobody connects to a client."""

    def closed(self, channel: Channel, *, by_self: bool) -> None:
        """NettyRemotingClient.NettyConnectManageHandler#close, on a thread of Netty's; it sees own closes only."""
        if by_self:
            self.process.kernel.at(self.process.kernel.now_ms, self._close_handler, channel)

    def _close_handler(self, channel: Channel) -> None:
        if self.process.alive:
            wrapper = self.channel_tables.get(channel.remote_address)
            if wrapper is not None and wrapper.channel is channel:
                del self.channel_tables[channel.remote_address]
            self.fail_fast(channel)
            self.event("close", channel)

    def broken(self, channel: Channel) -> None:
        """NettyRemotingClient.NettyConnectManageHandler#exceptionCaught."""
        self._close_if_known(channel)
        self.event("exception", channel)

    def idle(self, channel: Channel) -> None:
        """NettyRemotingClient.NettyConnectManageHandler#userEventTriggered."""
        self._close_if_known(channel)
        self.event("idle", channel)


def _text(addr: str | None) -> str:
    return "null" if addr is None else addr
