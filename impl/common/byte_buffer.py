"""ByteBuffer: bytes that are read from a position up to a limit, in big-endian order."""

from __future__ import annotations

from struct import Struct
from typing import Any, TypeAlias

from impl.decisions.java_arithmetic import wrap32
from impl.decisions.java_errors import (
    BufferUnderflowError,
    HeapExhaustedError,
    IllegalArgumentError,
    IndexOutOfBoundsError,
    NegativeArraySizeError,
)

ReadableBytes: TypeAlias = bytes | bytearray | memoryview
GREATEST_ARRAY_BYTES = 1 << 29
"""The longest array for which the heap has room. One of 1 GiB was refused when RocketMQ was recorded."""

_BYTE, _SHORT, _INT, _LONG = Struct(">b"), Struct(">h"), Struct(">i"), Struct(">q")


def check_array_size(size: int) -> None:
    """`new byte[size]`; raises NegativeArraySizeError, HeapExhaustedError."""
    if size < 0:
        raise NegativeArraySizeError(str(size))
    if size > GREATEST_ARRAY_BYTES:
        raise HeapExhaustedError("Java heap space")


class ByteBuffer:
    """`java.nio.ByteBuffer`, as far as it is read. position -- in `data`; limit -- reading ends there."""

    __slots__ = ("data", "limit", "position")

    def __init__(self, data: ReadableBytes, position: int = 0, limit: int | None = None) -> None:
        """ByteBuffer#wrap; the limit is the end of the data unless it is given."""
        self.data = data
        self.position = position
        self.limit = len(data) if limit is None else limit

    def has_remaining(self) -> bool:
        """Whether the position is before the limit."""
        return self.position < self.limit

    def unpack(self, form: Struct) -> tuple[Any, ...]:
        """Several numbers and byte strings at once; raises BufferUnderflowError."""
        end = self.position + form.size
        if end > self.limit:
            raise BufferUnderflowError
        values = form.unpack_from(self.data, self.position)
        self.position = end
        return values

    def get_byte(self) -> int:
        """ByteBuffer#get, signed."""
        value: int = self.unpack(_BYTE)[0]
        return value

    def get_short(self) -> int:
        """ByteBuffer#getShort, signed."""
        value: int = self.unpack(_SHORT)[0]
        return value

    def get_int(self) -> int:
        """ByteBuffer#getInt, signed."""
        value: int = self.unpack(_INT)[0]
        return value

    def int_at(self, index: int) -> int:
        """ByteBuffer#getInt(index): the position stays; raises IndexOutOfBoundsError."""
        return self._at(_INT, index)

    def short_at(self, index: int) -> int:
        """ByteBuffer#getShort(index)."""
        return self._at(_SHORT, index)

    def byte_at(self, index: int) -> int:
        """ByteBuffer#get(index), signed."""
        return self._at(_BYTE, index)

    def get(self, length: int) -> bytes:
        """ByteBuffer#get into a new array; raises BufferUnderflowError, and what `new byte[length]` raises."""
        check_array_size(length)
        end = self.position + length
        if end > self.limit:
            raise BufferUnderflowError
        taken = bytes(self.data[self.position:end])
        self.position = end
        return taken

    def move_to(self, position: int) -> None:
        """ByteBuffer#position(int); raises IllegalArgumentError behind the limit and below 0."""
        position = wrap32(position)
        if position > self.limit:
            raise IllegalArgumentError(f"newPosition > limit: ({position} > {self.limit})")
        if position < 0:
            raise IllegalArgumentError(f"newPosition < 0: ({position} < 0)")
        self.position = position

    def _at(self, form: Struct, index: int) -> int:
        if index < 0 or index + form.size > self.limit:
            raise IndexOutOfBoundsError
        value: int = form.unpack_from(self.data, index)[0]
        return value
