"""StoreCheckpoint: up to when what is in the files is surely on the disk."""

from __future__ import annotations

from impl.ports.disk import PAGE_BYTES, Disk
from impl.store.mapped_byte_buffer import MappedByteBuffer


class StoreCheckpoint:
    """`store.StoreCheckpoint`: store times in ms, in memory until `flush`.

    physic_msg_timestamp -- of the commit log; logics_msg_timestamp -- of the consume queues; index_msg_timestamp -- of
    the last index file that is full.
    """

    def __init__(self, disk: Disk, path: str) -> None:
        """Make the file, or open it and read it; raises DiskError."""
        existed = disk.length(path) is not None
        self._file = disk.open(path, PAGE_BYTES)
        self._buffer = MappedByteBuffer(self._file, PAGE_BYTES)
        self.physic_msg_timestamp = self.logics_msg_timestamp = self.index_msg_timestamp = 0
        if existed:
            self.physic_msg_timestamp = self._buffer.get_long(0)
            self.logics_msg_timestamp = self._buffer.get_long(8)
            self.index_msg_timestamp = self._buffer.get_long(16)

    def flush(self) -> None:
        """StoreCheckpoint#flush: write all three, and force them; raises DiskError, MappingFaultError."""
        self._buffer.put_long(0, self.physic_msg_timestamp)
        self._buffer.put_long(8, self.logics_msg_timestamp)
        self._buffer.put_long(16, self.index_msg_timestamp)
        self._buffer.force()

    def shutdown(self) -> None:
        """StoreCheckpoint#shutdown."""
        self.flush()
        self._file.close()
