"""MappedByteBuffer: the numbers in a file, big-endian, at absolute positions."""

from __future__ import annotations

import struct

from impl.decisions.java_errors import BufferUnderflowError, MappingFaultError
from impl.ports.disk import DiskFullError, File

_INT, _LONG = struct.Struct(">i"), struct.Struct(">q")


class MappedByteBuffer:
    """`java.nio.MappedByteBuffer` over a whole file; every method raises DiskError once the file is closed.

    Those that put raise MappingFaultError for a page for which the disk has no room.
    """

    def __init__(self, file: File, capacity: int) -> None:
        """Map the first `capacity` bytes of the file."""
        self.file, self.capacity = file, capacity

    def read(self, position: int, length: int) -> bytes:
        """ByteBuffer#get(byte[]); raises BufferUnderflowError beyond the capacity."""
        if position < 0 or length < 0 or position + length > self.capacity:
            raise BufferUnderflowError
        return self.file.read(position, length)

    def get_int(self, position: int) -> int:
        """ByteBuffer#getInt."""
        number: int = _INT.unpack(self.read(position, 4))[0]
        return number

    def get_long(self, position: int) -> int:
        """ByteBuffer#getLong."""
        number: int = _LONG.unpack(self.read(position, 8))[0]
        return number

    def put(self, position: int, data: bytes) -> None:
        """ByteBuffer#put(byte[])."""
        try:
            self.file.write(position, data)
        except DiskFullError as error:
            raise MappingFaultError from error

    def put_int(self, position: int, number: int) -> None:
        """ByteBuffer#putInt."""
        self.put(position, _INT.pack(number))

    def put_long(self, position: int, number: int) -> None:
        """ByteBuffer#putLong."""
        self.put(position, _LONG.pack(number))

    def force(self) -> None:
        """MappedByteBuffer#force; raises DiskError."""
        self.file.force()
