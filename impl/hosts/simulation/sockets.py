"""Sockets of a simulated process: byte streams of `impl.ports.byte_stream` over the connections of the network.

What is written at one end is on its way as one piece, and is read at the other in any pieces. WINDOW_BYTES that were
not read yet are the most that a socket takes; it learns at once how much the other side has read. The faults are those
of `channel.py` and `network.py`: pieces are late, connections break, and a socket takes a part of what is written and
then nothing for a while. The tape chooses the part, in eighths; choice 0: all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from impl.hosts.simulation.channel import LATENCY_MS, Channel
from impl.hosts.simulation.network import Network
from impl.hosts.simulation.process import TIMED_OUT, Future
from impl.hosts.simulation.threads import Threads
from impl.ports.byte_stream import StreamError
from impl.ports.threads import Signal

WINDOW_BYTES = 1 << 16
EIGHTHS = 8
CONNECT_TIMEOUT_MS = 5_000  # RemotingUtil#connect


class Piece(NamedTuple):
    """Bytes on their way."""

    data: bytes

    def __str__(self) -> str:
        """How many."""
        return f"{len(self.data):,} bytes"


class Socket:
    """See SelectableStream in `impl.ports.byte_stream`. channel -- its end of the connection, once it is open."""

    def __init__(self, process: Threads) -> None:
        """Be the end at this process."""
        self.process, self.ready = process, Signal("Selector")
        self.channel: Channel | None = None
        self._come = bytearray()
        self._written = self._read = 0
        self._over = self._broken = self._was_full = False

    @property
    def remote_address(self) -> str:
        """See SelectableStream; empty if it was never connected."""
        return "" if self.channel is None else self.channel.remote_address

    # ByteStream -------------------------------------------------------------------------------------------------------

    def read(self, limit: int) -> bytes | None:
        """See ByteStream."""
        self.process.check_alive()
        if self._broken:
            raise StreamError("Connection reset by peer")
        data = bytes(self._come[:limit])
        del self._come[:limit]
        self._read += len(data)
        other = self._other()
        if data and other is not None and other._was_full:  # noqa: SLF001  # the same class
            self.process.kernel.at(self.process.kernel.now_ms + LATENCY_MS, other._has_room)  # noqa: SLF001
        return data or (None if self._over else b"")

    def write(self, data: bytes) -> int:
        """See ByteStream."""
        self.process.check_alive()
        channel, taken = self.channel, data[:self._room()]
        self._was_full = len(taken) < len(data)
        if self._broken or channel is None or not channel.active:
            raise StreamError("Broken pipe")
        if taken:
            taken, stalled_ms = self._until_a_stall(channel, taken)
            self._was_full = len(taken) < len(data)
            channel.write(Piece(taken), stalls=False)
            channel.stalled_ms = stalled_ms
            self._written += len(taken)
        return len(taken)

    def _room(self) -> int:
        """How many bytes the socket takes now."""
        if self.channel is not None and not self.channel.is_writable():
            return 0
        other = self._other()
        return max(0, WINDOW_BYTES - self._written + (0 if other is None else other._read))  # noqa: SLF001  # its class

    def _until_a_stall(self, channel: Channel, data: bytes) -> tuple[bytes, int]:
        """What is taken of the data, and the true time until which nothing more is: then who waits for room goes on."""
        if not channel.stall(Piece(data)):
            return data, channel.stalled_ms
        kernel, stalled_ms = self.process.kernel, channel.stalled_ms
        kernel.at(stalled_ms, self._has_room)
        channel.stalled_ms = kernel.now_ms  # what was taken leaves at once
        left = kernel.tape.pick(EIGHTHS, lambda: f"eighths of {Piece(data)} that {channel} does not take")
        return data[:len(data) - len(data) * left // EIGHTHS], stalled_ms

    def close(self) -> None:
        """See ByteStream."""
        if self.channel is not None:
            self.channel.close()

    def _other(self) -> Socket | None:
        """The other end; None before its process knows of it."""
        end = None if self.channel is None else self.channel.peer.endpoint
        return end if isinstance(end, Socket) else None

    def _has_room(self, _: object) -> None:
        """Wake who has found no room, unless the socket stalls (yet)."""
        if self._was_full and self.channel is not None and self.channel.is_writable():
            self._was_full = False
            self._wake()

    def _wake(self) -> None:
        if self.process.alive:
            self.process.wake(self.ready)

    # Endpoint ---------------------------------------------------------------------------------------------------------

    def received(self, channel: Channel, message: Piece) -> None:  # noqa: ARG002  # an Endpoint
        """Bytes have arrived."""
        self._come += message.data
        self._wake()

    def connected(self, channel: Channel) -> None:
        """Nobody connects to a socket that is connected."""

    def closed(self, channel: Channel, *, by_self: bool) -> None:  # noqa: ARG002  # an Endpoint
        """The connection is over."""
        self._over = True
        if not by_self:
            self._wake()

    def broken(self, channel: Channel) -> None:  # noqa: ARG002  # an Endpoint
        """The connection was reset."""
        self._broken = True

    def idle(self, channel: Channel) -> None:
        """Nobody minds."""


class ServerSocket:
    """java.nio.channels.ServerSocketChannel: whoever connects is given to `accept`."""

    def __init__(self, process: Threads, accept: Callable[[Socket], None]) -> None:
        """Belong to this process."""
        self._process, self._accept = process, accept

    def connected(self, channel: Channel) -> None:
        """See Endpoint: from now on the connection belongs to a socket of its own."""
        socket = Socket(self._process)
        socket.channel, channel.endpoint = channel, socket
        self._accept(socket)

    def received(self, channel: Channel, message: Piece) -> None:
        """Bytes come behind the connection."""
        raise AssertionError(f"{message} came before {channel}")

    def closed(self, channel: Channel, *, by_self: bool) -> None:
        """It was closed before it was taken."""

    def broken(self, channel: Channel) -> None:
        """It was reset before it was taken."""

    def idle(self, channel: Channel) -> None:
        """Nobody minds."""


async def connected(process: Threads, network: Network, address: str) -> Socket | None:
    """A socket that is connected to the address; None if nobody listens there, or no answer comes in time."""
    process.check_alive()
    socket, answer = Socket(process), Future(process.kernel)

    def settle(channel: Channel | None) -> bool:
        return answer.resolve(channel) and channel is not None

    network.connect(process, socket, address, settle)
    wait = process.begin_wait(to=address.rpartition(":")[0])
    channel = await process.until(answer, CONNECT_TIMEOUT_MS)
    found = channel is not None and channel is not TIMED_OUT
    if wait is not None:
        wait.end(process.kernel.now_ms, in_vain=not found)
    if not found:
        return None
    socket.channel = channel
    return socket
