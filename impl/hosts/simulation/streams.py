"""Byte streams of `impl.ports.byte_stream` inside one process: what one end writes, the other reads."""

from __future__ import annotations

from collections.abc import Callable

from impl.ports.byte_stream import StreamError

ROOM_BYTES = 1 << 16


class Stream:
    """See ByteStream in `impl.ports.byte_stream`. room_bytes -- so much is on its way at most, in each direction.

    come -- bytes that were not read yet. closed -- by this end.
    """

    def __init__(self, room_bytes: int = ROOM_BYTES) -> None:
        """Be one end; `other` is the other one."""
        self._room_bytes = room_bytes
        self.come = bytearray()
        self.closed = False
        self.other: Stream = self

    def read(self, limit: int) -> bytes | None:
        """See ByteStream."""
        self._check()
        data = bytes(self.come[:limit])
        del self.come[:limit]
        return data or (None if self.other.closed else b"")

    def write(self, data: bytes) -> int:
        """See ByteStream."""
        self._check()
        if self.other.closed:
            raise StreamError("Broken pipe")
        taken = data[:max(0, self._room_bytes - len(self.other.come))]
        self.other.come += taken
        return len(taken)

    def close(self) -> None:
        """See ByteStream."""
        self.closed = True

    def _check(self) -> None:
        if self.closed:
            raise StreamError("closed")


def streams(room_bytes: int = ROOM_BYTES) -> tuple[Stream, Stream]:
    """Both ends of a connection."""
    one, other = Stream(room_bytes), Stream(room_bytes)
    one.other, other.other = other, one
    return one, other


def connector(accept: Callable[[str, Stream], bool], room_bytes: int = ROOM_BYTES) -> Callable[[str], Stream | None]:
    """See Connect; accept -- is given an address and the other end, and says whether somebody listens there."""
    def connect(address: str) -> Stream | None:
        ours, theirs = streams(room_bytes)
        return ours if accept(address, theirs) else None

    return connect
