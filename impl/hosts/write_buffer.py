"""WriteBuffer: the bytes of a file that are still in the memory of a process."""

from __future__ import annotations


class WriteBuffer:
    """A direct buffer of TransientStorePool; it grows to what is put into it."""

    def __init__(self) -> None:
        """Hold nothing."""
        self._bytes = bytearray()

    def put(self, offset: int, data: bytes) -> None:
        """Keep these bytes; a gap before them holds zeros."""
        missing = offset + len(data) - len(self._bytes)
        if missing > 0:
            self._bytes.extend(bytes(missing))
        self._bytes[offset:offset + len(data)] = data

    def bytes_at(self, offset: int, length: int) -> bytes:
        """What is there, zeros where nothing has been put."""
        return bytes(self._bytes[offset:offset + length]).ljust(length, b"\0")
