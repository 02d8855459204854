"""Disk: the files of a machine, as its processes see them.

A byte of a file is in one of three states:

* *volatile*: in a write buffer of one process, as TransientStorePool lends them. No reader of the file sees it, and a
  kill loses it.
* *written*: in the page cache, by way of a mapped buffer or of a FileChannel. It survives a kill. A power loss may
  cost it, page by page.
* *durable*: forced. It survives a power loss too.

Paths have "/" between folders. A file that is deleted or replaced while it is open goes on living for who has it open.
"""

from __future__ import annotations

from typing import Protocol

from impl.decisions.java_errors import JavaException

PAGE_BYTES = 4_096  # MappedFile.OS_PAGE_SIZE


class DiskError(JavaException):
    """A file that is closed, or that the operating system does not read or write."""

    java_class = "java.io.IOException"


class DiskFullError(DiskError):
    """No space is left."""

    def __init__(self) -> None:
        """Say it as Linux does."""
        super().__init__("No space left on device")


class File(Protocol):
    """An open file: RandomAccessFile with its FileChannel, and the MappedByteBuffer over the same pages.

    Offsets and lengths are in bytes. Every method but close raises DiskError once the file is closed.
    """

    def length(self) -> int:
        """File#length."""
        ...

    def last_modified_ms(self) -> int:
        """File#lastModified: wall time of the latest write, by the clock of the machine."""
        ...

    def read(self, offset: int, length: int) -> bytes:
        """FileChannel#read: what has been written there, forced or not; less at the end of the file."""
        ...

    def write(self, offset: int, data: bytes) -> None:
        """MappedByteBuffer#put, FileChannel#write: from now on the bytes are *written*.

        What lies beyond the end extends the file; a gap holds zeros. Raises DiskFullError, and writes nothing then.
        """
        ...

    def append(self, data: bytes) -> int:
        """Write at the end; the offset at which the bytes are. Raises DiskFullError."""
        ...

    def put(self, offset: int, data: bytes) -> None:
        """ByteBuffer#put into the write buffer of this open file: the bytes are *volatile*."""
        ...

    def commit(self, offset: int, length: int) -> None:
        """MappedFile#commit0: write these bytes of the write buffer to the file, zeros where nobody has put any.

        Raises DiskFullError; the bytes are still in the buffer then.
        """
        ...

    def truncate(self, length: int) -> None:
        """FileChannel#truncate and RandomAccessFile#setLength: cut the file off there, or extend it by zeros."""
        ...

    def force(self, offset: int = 0, length: int | None = None) -> None:
        """MappedByteBuffer#force, FileChannel#force: what is written is *durable* when this returns.

        The name of the file and its length are durable then too, as a journalling file system has it; 4.9.3 relies on
        that and never forces a folder. offset, length -- only the pages in which these bytes lie; None: to the end.
        """
        ...

    def try_lock(self) -> bool:
        """FileChannel#tryLock(0, 1, false): have the first byte alone, until this file is closed or the process ends.

        False: another open file has it, in this process or in any other.
        """
        ...

    def close(self) -> None:
        """End the use of the file; what is volatile is lost, and a lock is given back. Closing twice is allowed."""
        ...


class Disk(Protocol):
    """The files of one machine. Nothing but File.force makes the result of a method durable."""

    def open(self, path: str, length: int = 0) -> File:
        """RandomAccessFile "rw" and FileChannel#map: open a file, or make it and its folders.

        length -- a file that is shorter is extended to this length by zeros, which take no space before they are
        written. Raises DiskError where the path is a folder.
        """
        ...

    def length(self, path: str) -> int | None:
        """File#length; None: there is no such file."""
        ...

    def rename(self, path: str, to: str) -> bool:
        """File#renameTo: give a file another name, replacing what has it; False: no such file, or no such folder."""
        ...

    def delete(self, path: str) -> bool:
        """File#delete: remove a file or an empty folder; False: nothing was there, or the folder is not empty."""
        ...

    def list(self, folder: str) -> list[str]:
        """File#list: the names of the files and folders in a folder, sorted; nothing if there is no such folder."""
        ...

    def free_bytes(self) -> int:
        """File#getFreeSpace."""
        ...

    def total_bytes(self) -> int:
        """File#getTotalSpace."""
        ...
