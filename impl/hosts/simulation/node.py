"""Node: one process of RocketMQ under simulation, with all ports of `impl.ports`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from impl.hosts.simulation.clock import WallClock
from impl.hosts.simulation.disk import Disk, MachineDisk
from impl.hosts.simulation.executor import Pool, Scheduler
from impl.hosts.simulation.network import Network
from impl.hosts.simulation.process import AT_ONCE, suspend
from impl.hosts.simulation.remoting_client import RemotingClient
from impl.hosts.simulation.remoting_server import RemotingServer
from impl.hosts.simulation.sockets import ServerSocket, Socket, connected
from impl.hosts.simulation.threads import Threads
from impl.ports.remoting import ChannelEventListener


class Node(Threads):
    """See Node in `impl.ports.node`: here only what needs the network, the disk or a pool."""

    def __init__(self, name: str, network: Network, clock: WallClock, disk: MachineDisk) -> None:
        """Come to life on the machine of this name, which has this clock and disk."""
        super().__init__(network.kernel, name, clock)
        self.network = network
        self.disk, self.machine_disk = Disk(self, disk), disk
        self.clients = 0

    def force_delay(self) -> Awaitable[None]:
        """See Node in `impl.ports.node`; what it may cost is told by `disk.py`."""
        self.check_alive()
        delay_ms = self.machine_disk.force_delay_ms()
        return suspend(delay_ms) if delay_ms else AT_ONCE

    def pool(self, name: str, threads: int, queue_bound: int | None = None) -> Pool:
        """See Node in `impl.ports.node`."""
        return Pool(self, name, threads, queue_bound)

    def scheduler(self, name: str, threads: int = 1) -> Scheduler:
        """See Node in `impl.ports.node`."""
        return Scheduler(self, name, threads)

    def remoting_client(
        self, name: str, callback_threads: int = 4, listener: ChannelEventListener | None = None,
    ) -> RemotingClient:
        """See Node in `impl.ports.node`."""
        self.clients += 1
        return RemotingClient(self, self.network, name, callback_threads, listener, self.clients)

    def remoting_server(self, port: int, listener: ChannelEventListener | None = None) -> RemotingServer:
        """See Node in `impl.ports.node`."""
        return RemotingServer(self, self.network, f"{self.name}:{port}", listener)

    def open_stream(self, address: str) -> Awaitable[Socket | None]:
        """See Node in `impl.ports.node`."""
        return connected(self, self.network, address)

    def accept_streams(self, port: int, accept: Callable[[Socket], None]) -> None:
        """See Node in `impl.ports.node`."""
        self.network.listen(self, f"{self.name}:{port}", ServerSocket(self, accept))

    def refuse_streams(self, port: int) -> None:
        """See Node in `impl.ports.node`."""
        self.network.unlisten(f"{self.name}:{port}")
