"""RecordReader: the records of a part of a file, one after the other, as CommitLog#checkMessageAndReturnSize reads."""

from __future__ import annotations

from impl.common.byte_buffer import ByteBuffer
from impl.common.record_layout import MESSAGE_MAGIC_CODE, SYSFLAG_POSITION, host_bytes
from impl.decisions.flags import BORNHOST_V6_FLAG, STOREHOSTADDRESS_V6_FLAG
from impl.store.dispatch_request import DelayLevels, DispatchRequest, check_message_and_return_size
from impl.store.mapped_byte_buffer import MappedByteBuffer

_CHUNK_BYTES = 1 << 16
_BODY_LENGTH_POSITION = 68  # without the two hosts
_GREATEST_TOPIC_AND_PROPERTIES_BYTES = 1 + 127 + 2 + 32_767


class RecordReader:
    """A ByteBuffer that Java maps over a whole file; here a chunk of it is in memory at a time.

    position -- in the file, moved by `next`. limit -- Java's buffer ends there.
    """

    def __init__(
        self, buffer: MappedByteBuffer, position: int, limit: int, *, check_crc: bool, read_body: bool,
        delay_levels: DelayLevels,
    ) -> None:
        """Begin at a position; the other arguments are those of check_message_and_return_size."""
        self._file, self._start, self._limit = buffer, position, limit
        self._check_crc, self._read_body, self._delay_levels = check_crc, read_body, delay_levels
        self._chunk = ByteBuffer(b"")

    @property
    def position(self) -> int:
        """Where the next record is looked for."""
        return self._start + self._chunk.position

    def next(self) -> DispatchRequest:
        """CommitLog#checkMessageAndReturnSize at the position; raises HeapExhaustedError.

        What looks bad because the chunk ends in it is read once more, with all that Java could look at.
        """
        before = self.position
        request = self._check()
        if not request.success and self._start + self._chunk.limit < self._limit:
            self._load(before, _CHUNK_BYTES)
            self._load(before, max(self._needed_bytes(), _CHUNK_BYTES))
            request = self._check()
        return request

    def _load(self, position: int, length: int) -> None:
        self._start = position
        self._chunk = ByteBuffer(self._file.read(position, min(length, self._limit - position)))

    def _check(self) -> DispatchRequest:
        return check_message_and_return_size(
            self._chunk, check_crc=self._check_crc, read_body=self._read_body, delay_levels=self._delay_levels)

    def _needed_bytes(self) -> int:
        """How far the check can read from the beginning of the chunk on, whatever the record says of itself."""
        chunk = self._chunk
        if chunk.limit < _CHUNK_BYTES or chunk.int_at(4) != MESSAGE_MAGIC_CODE:
            return 0
        sys_flag = chunk.int_at(SYSFLAG_POSITION)
        hosts = host_bytes(sys_flag, BORNHOST_V6_FLAG) + host_bytes(sys_flag, STOREHOSTADDRESS_V6_FLAG)
        body_length = chunk.int_at(_BODY_LENGTH_POSITION + hosts)
        return _BODY_LENGTH_POSITION + hosts + 4 + max(body_length, 0) + _GREATEST_TOPIC_AND_PROPERTIES_BYTES
