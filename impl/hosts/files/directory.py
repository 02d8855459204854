"""Disk over a folder of this machine; see `impl.ports.disk`.

pwrite goes into the page cache, as a mapped buffer does; fsync forces. A journalling file system has the name of a file
on the disk when fsync returns, and so folders are not forced.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from impl.hosts.write_buffer import WriteBuffer
from impl.ports.disk import DiskError, DiskFullError

_LOCK_OF_FIRST_BYTE = struct.pack("hh4xqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0)  # struct flock of Linux
_HELD_BY_OTHERS = (errno.EAGAIN, errno.EACCES)
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def _as_java_says() -> Iterator[None]:
    """Turn the errors of the operating system into those of the port."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_SPACE:
            raise DiskFullError from error
        raise DiskError(str(error)) from error
    except ValueError as error:  # a path with a zero byte; Java: "Invalid file path"
        raise DiskError("Invalid file path") from error


class OpenFile:
    """See File in `impl.ports.disk`."""

    def __init__(self, descriptor: int) -> None:
        """Own the descriptor, at most as long as this object lives; a closed file has none."""
        self._descriptor: int | None = descriptor
        self._buffer = WriteBuffer()
        self._close = weakref.finalize(self, os.close, descriptor)

    @property
    def _fd(self) -> int:
        if self._descriptor is None:
            raise DiskError("Stream Closed")
        return self._descriptor

    def length(self) -> int:
        """See File in `impl.ports.disk`."""
        return os.fstat(self._fd).st_size

    def last_modified_ms(self) -> int:
        """See File in `impl.ports.disk`."""
        return os.fstat(self._fd).st_mtime_ns // 1_000_000

    def read(self, offset: int, length: int) -> bytes:
        """See File in `impl.ports.disk`."""
        with _as_java_says():
            return os.pread(self._fd, length, offset)

    def write(self, offset: int, data: bytes) -> None:
        """See File in `impl.ports.disk`."""
        before, left = self.length(), memoryview(data)
        try:
            with _as_java_says():
                while left:
                    left = left[os.pwrite(self._fd, left, offset + len(data) - len(left)):]
        except DiskFullError:
            if before < self.length():
                os.ftruncate(self._fd, before)
            raise

    def append(self, data: bytes) -> int:
        """See File in `impl.ports.disk`."""
        end = self.length()
        self.write(end, data)
        return end

    def put(self, offset: int, data: bytes) -> None:
        """See File in `impl.ports.disk`."""
        _ = self._fd  # a closed file has no buffer
        self._buffer.put(offset, data)

    def commit(self, offset: int, length: int) -> None:
        """See File in `impl.ports.disk`."""
        self.write(offset, self._buffer.bytes_at(offset, length))

    def truncate(self, length: int) -> None:
        """See File in `impl.ports.disk`."""
        with _as_java_says():
            os.ftruncate(self._fd, length)

    def force(self, offset: int = 0, length: int | None = None) -> None:  # noqa: ARG002  # fsync has no range
        """See File in `impl.ports.disk`; all of the file is forced."""
        with _as_java_says():
            os.fsync(self._fd)

    def try_lock(self) -> bool:
        """See File in `impl.ports.disk`.

        A lock of the open file description, which stands against the locks of other processes' records: those of Java.
        """
        try:
            fcntl.fcntl(self._fd, fcntl.F_OFD_SETLK, _LOCK_OF_FIRST_BYTE)
        except OSError as error:
            if error.errno in _HELD_BY_OTHERS:
                return False
            raise DiskError(str(error)) from error
        return True

    def close(self) -> None:
        """See File in `impl.ports.disk`."""
        self._close()
        self._descriptor, self._buffer = None, WriteBuffer()


class Directory:
    """See Disk in `impl.ports.disk`."""

    def __init__(self, root: Path) -> None:
        """Keep the files under this folder, which is there."""
        self.root = root

    def open(self, path: str, length: int = 0) -> OpenFile:
        """See Disk in `impl.ports.disk`."""
        place = self.root / path
        with _as_java_says():
            place.parent.mkdir(parents=True, exist_ok=True)
            file = OpenFile(os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644))
        if length > file.length():
            file.truncate(length)
        return file

    def length(self, path: str) -> int | None:
        """See Disk in `impl.ports.disk`."""
        place = self.root / path
        return place.stat().st_size if place.is_file() else None

    def rename(self, path: str, to: str) -> bool:
        """See Disk in `impl.ports.disk`."""
        if not (self.root / path).is_file():
            return False
        try:
            (self.root / path).replace(self.root / to)
        except OSError:
            return False
        return True

    def delete(self, path: str) -> bool:
        """See Disk in `impl.ports.disk`."""
        place = self.root / path
        try:
            if place.is_dir():
                place.rmdir()
            else:
                place.unlink()
        except OSError:
            return False
        return True

    def list(self, folder: str) -> list[str]:
        """See Disk in `impl.ports.disk`."""
        place = self.root / folder
        return sorted(entry.name for entry in place.iterdir()) if place.is_dir() else []

    def free_bytes(self) -> int:
        """See Disk in `impl.ports.disk`."""
        found = os.statvfs(self.root)
        return found.f_bavail * found.f_frsize

    def total_bytes(self) -> int:
        """See Disk in `impl.ports.disk`."""
        found = os.statvfs(self.root)
        return found.f_blocks * found.f_frsize
