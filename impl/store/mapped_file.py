"""MappedFile: one file of a log, and how much of it is written, committed and flushed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from impl.decisions.flush_rules import is_able_to_flush
from impl.decisions.java_arithmetic import wrap32
from impl.decisions.java_errors import BufferOverflowError, IllegalArgumentError, MappingFaultError
from impl.decisions.java_text import parse_integer
from impl.ports.disk import Disk, DiskError
from impl.store.mapped_byte_buffer import MappedByteBuffer
from impl.store.reference_resource import ReferenceResource
from impl.store.transient_store_pool import TransientStorePool


class MappedFile(ReferenceResource):
    """`store.MappedFile`.

    path -- its last part is the offset of the first byte in the log: file_from_offset. wrote_position,
    committed_position, flushed_position -- in bytes from there. has_write_buffer -- appended messages go to a buffer
    of the pool, and only `commit` makes them readable. store_timestamp -- of the message appended last, in ms.
    first_create_in_queue -- this process made it when its queue had no file.
    """

    def __init__(
        self, disk: Disk, path: str, file_size: int, now_ms: Callable[[], int], pool: TransientStorePool | None = None,
    ) -> None:
        """MappedFile#init: make or open the file; raises NumberFormatError for its name, DiskError."""
        super().__init__(now_ms)
        self.path, self.file_size = path, file_size
        self.file_from_offset = parse_integer(path.rpartition("/")[2], 64)
        self._disk, self._pool = disk, pool
        self.file = disk.open(path, file_size)
        self.mapped_byte_buffer = MappedByteBuffer(self.file, file_size)
        self.has_write_buffer = pool is not None and pool.borrow_buffer()
        self.wrote_position = self.committed_position = self.flushed_position = 0
        self.store_timestamp = 0
        self.first_create_in_queue = False

    def set_positions(self, position: int) -> None:
        """MappedFile#setWrotePosition, #setCommittedPosition, #setFlushedPosition."""
        self.wrote_position = self.committed_position = self.flushed_position = position

    def is_full(self) -> bool:
        """MappedFile#isFull."""
        return self.file_size == self.wrote_position

    def get_read_position(self) -> int:
        """MappedFile#getReadPosition: what lies before it can be read."""
        return self.committed_position if self.has_write_buffer else self.wrote_position

    def last_modified_timestamp(self) -> int:
        """MappedFile#getLastModifiedTimestamp, in ms; 0 for a file that is gone."""
        try:
            return self.file.last_modified_ms()
        except DiskError:
            return 0

    # Append -----------------------------------------------------------------------------------------------------------

    def put(self, position: int, data: bytes) -> None:
        """ByteBuffer#put by AppendMessageCallback#doAppend: into the write buffer, else the mapping.

        Raises BufferOverflowError for what does not fit, MappingFaultError.
        """
        if position + len(data) > self.file_size:
            raise BufferOverflowError
        if self.has_write_buffer:
            self.file.put(position, data)
        else:
            self.mapped_byte_buffer.put(position, data)

    def append_message(self, data: bytes) -> bool:
        """MappedFile#appendMessage(byte[]): raw bytes, always into the mapping; False if they do not fit.

        An error while they are copied is logged in Java, and the bytes count as written.
        """
        position = self.wrote_position
        if wrap32(position + len(data)) > self.file_size:
            return False
        with suppress(DiskError, MappingFaultError):  # "Error occurred when append message to mappedFile."
            self.mapped_byte_buffer.put(position, data)
        self.wrote_position = position + len(data)
        return True

    # Flush and commit -------------------------------------------------------------------------------------------------

    def flush(self, flush_least_pages: int) -> int:
        """MappedFile#flush: force what is readable; the flushed position afterwards.

        An error of the force is logged in Java, and the bytes count as flushed; so they do after a shutdown.
        """
        if self._is_able(flush_least_pages, self.flushed_position, self.get_read_position()):
            if self.hold():
                value = self.get_read_position()
                with suppress(DiskError):  # Java logs "Error occurred when force data to disk."
                    self.file.force()
                self.flushed_position = value
                self.release()
            else:
                self.flushed_position = self.get_read_position()
        return self.flushed_position

    def commit(self, commit_least_pages: int) -> int:
        """MappedFile#commit: move the write buffer to the file; the committed position, or the wrote one without it."""
        if not self.has_write_buffer:
            return self.wrote_position
        if self._is_able(commit_least_pages, self.committed_position, self.wrote_position) and self.hold():
            self._commit0()
            self.release()
        if self.committed_position == self.file_size and self._pool is not None:
            self._pool.return_buffer()
            self.has_write_buffer = False
        return self.committed_position

    def _commit0(self) -> None:
        """MappedFile#commit0: an error is logged in Java, and nothing counts as committed."""
        wrote, committed = self.wrote_position, self.committed_position
        if wrote > committed:
            try:
                self.file.commit(committed, wrote - committed)
            except DiskError:
                return
            self.committed_position = wrote

    def _is_able(self, least_pages: int, done: int, written: int) -> bool:
        """MappedFile#isAbleToFlush, #isAbleToCommit."""
        return is_able_to_flush(least_pages, done, written, full=self.is_full())

    # Read -------------------------------------------------------------------------------------------------------------

    def select_mapped_buffer(self, position: int, size: int | None = None) -> SelectMappedBufferResult | None:
        """MappedFile#selectMappedBuffer: a part of what is readable, or all from a position on; release it.

        None if it is not readable, or the file is shut down. Raises IllegalArgumentError for a size that is negative,
        or so great that the sum of ints is.
        """
        readable = self.get_read_position()
        if size is None:
            if not 0 <= position < readable:
                return None
            size = readable - position
        elif wrap32(position + size) > readable:
            return None
        if not self.hold():
            return None
        capacity = self.file_size - position
        if not 0 <= size <= capacity:  # the hold stays, as in Java
            shown = f"newLimit < 0: ({size} < 0)" if size < 0 else f"newLimit > capacity: ({size} > {capacity})"
            raise IllegalArgumentError(shown)
        return SelectMappedBufferResult(self.file_from_offset + position, position, size, self)

    # End --------------------------------------------------------------------------------------------------------------

    def cleanup(self) -> bool:
        """MappedFile#cleanup: unmap the file, once."""
        return not self.available

    def destroy(self, interval_forcibly_ms: int) -> bool:
        """MappedFile#destroy: delete the file unless somebody reads it; the answer of the deletion is not looked at."""
        self.shutdown(interval_forcibly_ms)
        if not self.is_cleanup_over():
            return False
        self.file.close()
        self._disk.delete(self.path)
        return True


@dataclass(slots=True)
class SelectMappedBufferResult:
    """`store.SelectMappedBufferResult`: bytes of a file that are held until they are released.

    start_offset -- in the log; position -- in the file; size -- in bytes.
    """

    start_offset: int
    position: int
    size: int
    mapped_file: MappedFile

    def read(self, at: int = 0, length: int | None = None) -> bytes:
        """The bytes from `at` on, counted from its start; all that are left, or so many.

        Raises BufferUnderflowError for more than it has.
        """
        return self._limited().read(self.position + at, self.size - at if length is None else length)

    def get_int(self, at: int) -> int:
        """ByteBuffer#getInt."""
        return self._limited().get_int(self.position + at)

    def get_long(self, at: int) -> int:
        """ByteBuffer#getLong."""
        return self._limited().get_long(self.position + at)

    def _limited(self) -> MappedByteBuffer:
        return MappedByteBuffer(self.mapped_file.file, self.position + self.size)

    def release(self) -> None:
        """SelectMappedBufferResult#release; once."""
        self.mapped_file.release()
