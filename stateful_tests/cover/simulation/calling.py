"""One server and one client, whose calls are followed: for tests of remoting."""

# ruff: noqa: ARG002  # handlers and listeners get whatever the port gives them

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from impl.decisions.java_errors import JavaRuntimeError
from impl.hosts.simulation.host import Simulation
from impl.ports.node import Node
from impl.ports.remoting import Command, Connection, RemotingClient, RemotingError, RemotingServer, ResponseFuture

ECHO, SLOW, FAILS, SILENT, PLAIN, BUSY = 1, 2, 3, 4, 5, 6
ADDRESS = "server:10911"


class Server:
    """Answers by request code; writes down what happens to its connections."""

    def __init__(self, node: Node) -> None:
        """Serve at port 10911, with a pool of two threads and one that waits."""
        self.node = node
        self.remoting: RemotingServer = node.remoting_server(10911, self)
        self.pool = node.pool("pool", 2, 1)
        self.silent: list[tuple[Connection, Command]] = []
        self.rejecting = False
        self.channels: list[Connection] = []
        for code, handler in ((ECHO, self.echo), (SLOW, self.slow), (FAILS, self.fails)):
            self.remoting.register_processor(code, handler, self.pool)
        self.remoting.register_processor(SILENT, self.keep)
        self.remoting.register_processor(PLAIN, self.plain)
        self.remoting.register_processor(BUSY, self.plain, None, lambda: self.rejecting)
        self.remoting.start()

    async def echo(self, channel: Connection, request: Command) -> Command:
        """ECHO, in the pool: the body comes back."""
        return Command(0, body=request.body)

    async def slow(self, channel: Connection, request: Command) -> Command:
        """SLOW, in the pool: the body comes back after as many milliseconds as it says."""
        self.node.trace(f"slow {request.body} begins")
        await self.node.sleep(request.body)
        return Command(0, body=request.body)

    def fails(self, channel: Connection, request: Command) -> Command:
        """FAILS, in the pool: a handler that raises."""
        raise JavaRuntimeError("no")

    def keep(self, channel: Connection, request: Command) -> None:
        """SILENT: the request is kept, and not answered."""
        self.silent.append((channel, request))

    def plain(self, channel: Connection, request: Command) -> Command:
        """PLAIN, and BUSY unless it rejects: answered by the thread that reads."""
        self.node.trace(f"plain {request.body}")
        return Command(0, remark=channel.remote_address)

    def on_channel_connect(self, remote_addr: str, channel: Connection) -> None:
        """ChannelEventListener#onChannelConnect."""
        self.channels.append(channel)
        self.node.trace("CONNECT")

    async def on_channel_close(self, remote_addr: str, channel: Connection) -> None:
        """ChannelEventListener#onChannelClose."""
        await self.node.interleave("onChannelClose")
        self.node.trace("CLOSE")

    def on_channel_exception(self, remote_addr: str, channel: Connection) -> None:
        """ChannelEventListener#onChannelException."""
        self.node.trace("EXCEPTION")

    def on_channel_idle(self, remote_addr: str, channel: Connection) -> None:
        """ChannelEventListener#onChannelIdle."""
        self.node.trace("IDLE")


@dataclass
class World:
    """One server, one client."""

    simulation: Simulation
    server: Server
    client: RemotingClient

    @property
    def node(self) -> Node:
        """That of the client."""
        return self.simulation.nodes["client"]

    def run(self, ms: int) -> list[tuple[int, str]]:
        """Texts traced in so many milliseconds."""
        kernel = self.simulation.kernel
        before = len(kernel.records)
        kernel.run(kernel.now_ms + ms)
        return [(time_ms, event) for time_ms, _, event in kernel.records[before:] if isinstance(event, str)]

    def start(self, name: str, call: Coroutine[Any, Any, Any]) -> None:
        """A thread of the client that reports how its call ends."""
        self.simulation.nodes["client"].spawn(name, self.report(name, call))

    async def report(self, name: str, call: Coroutine[Any, Any, Any]) -> None:
        """Trace what a call ends with: its answer, or its error."""
        try:
            answer = await call
        except RemotingError as error:
            self.node.trace(f"{name}: {type(error).__name__}")
        else:
            self.node.trace(f"{name}: {(answer.code, answer.body) if answer is not None else None}")

    def sync(self, name: str, code: int, body: Any = None, timeout_ms: int = 3_000, addr: str | None = ADDRESS) -> None:
        """Start a call that waits for its answer."""
        self.start(name, self.client.invoke_sync(addr, Command(code, body=body), timeout_ms))


async def nothing(node: Node) -> None:
    """No main thread."""


def build(simulation: Simulation) -> World:
    """Add the server and the client."""
    server = Server(simulation.add("server", nothing))
    client = simulation.add("client", nothing).remoting_client("Client", 2)
    client.start()
    return World(simulation, server, client)


def texts(lines: list[tuple[int, str]]) -> list[str]:
    """Without their times."""
    return [text for _, text in lines]


def told(world: World, name: str) -> Callable[[ResponseFuture], None]:
    """Traces what a call that does not wait ends with."""
    def callback(future: ResponseFuture) -> None:
        if future.response_command is not None:
            outcome = f"answered {future.response_command.body}"
        elif not future.send_request_ok:
            outcome = "failed"
        else:
            outcome = "timed out" if future.is_timeout(world.node.now_ms()) else "unknown"
        world.node.trace(f"{name} called back: {outcome}")

    return callback
