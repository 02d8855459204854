"""Byte streams of `impl.ports.byte_stream` over TCP, and a listener for them."""

from __future__ import annotations

import socket
from typing import Self

from impl.ports.byte_stream import StreamError

_CONNECT_TIMEOUT_S = 3.0  # RemotingUtil#connect


class SocketConnection:
    """See ByteStream in `impl.ports.byte_stream`."""

    def __init__(self, connected: socket.socket) -> None:
        """Take the socket over."""
        connected.setblocking(False)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = connected

    def read(self, limit: int) -> bytes | None:
        """See ByteStream."""
        try:
            return self._socket.recv(limit) or None
        except BlockingIOError:
            return b""
        except OSError as error:
            raise StreamError(str(error)) from error

    def write(self, data: bytes) -> int:
        """See ByteStream."""
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise StreamError(str(error)) from error

    def close(self) -> None:
        """See ByteStream."""
        self._socket.close()


def connect(address: str) -> SocketConnection | None:
    """See Connect in `impl.ports.byte_stream`; address -- HOST:PORT."""
    host, _, port = address.rpartition(":")
    try:
        return SocketConnection(socket.create_connection((host, int(port)), _CONNECT_TIMEOUT_S))
    except (OSError, ValueError):
        return None


class Listener:
    """`HAService.AcceptSocketService`: a port that slaves connect to. Use it in a `with`."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen; port 0: any that is free. Raises OSError if the port is taken."""
        self._socket = socket.create_server((host, port))
        self._socket.setblocking(False)

    @property
    def address(self) -> str:
        """HOST:PORT."""
        host, port = self._socket.getsockname()[:2]
        return f"{host}:{port}"

    def accept(self) -> SocketConnection | None:
        """The next connection, None if nobody has connected."""
        try:
            return SocketConnection(self._socket.accept()[0])
        except BlockingIOError:
            return None

    def __enter__(self) -> Self:
        """The listener itself."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """Listen no more."""
        self._socket.close()
