"""Byte streams between a master and its slaves, as java.nio.channels.SocketChannel gives them, never blocking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from impl.ports.threads import Signal


class StreamError(Exception):
    """The connection is broken, or closed by this side."""


class ByteStream(Protocol):
    """One end of a connection."""

    def read(self, limit: int) -> bytes | None:
        """SocketChannel#read: up to so many bytes that have come; b"" if none have, None if the other side has closed.

        Raises StreamError.
        """
        ...

    def write(self, data: bytes) -> int:
        """SocketChannel#write: send as many bytes as there is room for, and say how many. Raises StreamError."""
        ...

    def close(self) -> None:
        """SocketChannel#close; may be called again."""
        ...


class SelectableStream(ByteStream, Protocol):
    """A connection that a thread can wait for, as with a java.nio.channels.Selector.

    ready -- is notified when bytes have come, when there is room again, and when the other side has closed.
    """

    ready: Signal

    @property
    def remote_address(self) -> str:
        """RemotingHelper#parseSocketAddressAddr: "host:port" of the other end."""
        ...


Connect = Callable[[str], ByteStream | None]
"""RemotingUtil#connect: to an address; None if nobody listens there."""
