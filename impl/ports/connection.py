"""Byte streams between a master and its slaves, as java.nio.channels.SocketChannel gives them, never blocking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class ConnectionError(Exception):  # noqa: A001  # java.io.IOException of a channel
    """The connection is broken, or closed by this side."""


class Connection(Protocol):
    """One end of a connection."""

    def read(self, limit: int) -> bytes | None:
        """SocketChannel#read: up to so many bytes that have come; b"" if none have, None if the other side has closed.

        Raises ConnectionError.
        """
        ...

    def write(self, data: bytes) -> int:
        """SocketChannel#write: send as many bytes as there is room for, and say how many. Raises ConnectionError."""
        ...

    def close(self) -> None:
        """SocketChannel#close; may be called again."""
        ...


Connect = Callable[[str], Connection | None]
"""RemotingUtil#connect: to an address; None if nobody listens there."""
