"""Disk over a folder of this machine that is only read; see `impl.ports.disk`.

What is written, cut, renamed or deleted is so for the users of the Overlay alone, in memory, page by page. The folder
itself is opened for reading and for nothing else.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from pathlib import Path

from impl.hosts.write_buffer import WriteBuffer
from impl.ports.disk import PAGE_BYTES, DiskError

_NO_FILE = (errno.ENOENT, errno.ENOTDIR)


class _Content:
    """The bytes of one file.

    source -- the file in which those are that were not written here; None: there is none. source_bytes -- how many of
    its bytes count. pages -- number to the bytes of each page that was written here.
    """

    def __init__(self, source: Path | None) -> None:
        self.source = source
        self.pages: dict[int, bytearray] = {}
        self.locked_by: object = None
        found = None if source is None else _stat(source)
        self.length = self.source_bytes = 0 if found is None else found.st_size
        self.modified_ms = (time.time_ns() if found is None else found.st_mtime_ns) // 1_000_000

    def read(self, offset: int, length: int) -> bytes:
        """The bytes from there on, as many as there are."""
        end = min(offset + length, self.length)
        if offset >= end:
            return b""
        data = bytearray(self._from_source(offset, end - offset))
        data.extend(bytes(end - offset - len(data)))
        for page in range(offset // PAGE_BYTES, -(-end // PAGE_BYTES)) if self.pages else ():
            if page in self.pages:
                start = page * PAGE_BYTES
                first, last = max(start, offset), min(start + PAGE_BYTES, end)
                data[first - offset:last - offset] = self.pages[page][first - start:last - start]
        return bytes(data)

    def _from_source(self, offset: int, length: int) -> bytes:
        length = min(length, self.source_bytes - offset)
        if self.source is None or length <= 0:
            return b""
        try:
            descriptor = os.open(self.source, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise DiskError(str(error)) from error
        try:
            return os.pread(descriptor, length, offset)
        except OSError as error:
            raise DiskError(str(error)) from error
        finally:
            os.close(descriptor)

    def write(self, offset: int, data: bytes) -> None:
        """Keep these bytes in memory."""
        end = offset + len(data)
        self.length = max(self.length, end)
        for page in range(offset // PAGE_BYTES, -(-end // PAGE_BYTES)):
            start = page * PAGE_BYTES
            if page not in self.pages:
                self.pages[page] = bytearray(self.read(start, PAGE_BYTES).ljust(PAGE_BYTES, b"\0"))
            first, last = max(start, offset), min(start + PAGE_BYTES, end)
            self.pages[page][first - start:last - start] = data[first - offset:last - offset]
        self.modified_ms = time.time_ns() // 1_000_000

    def truncate(self, length: int) -> None:
        """Cut off, or extend by zeros."""
        if length < self.length:
            self.source_bytes = min(self.source_bytes, length)
            self.pages = {page: data for page, data in self.pages.items() if page * PAGE_BYTES < length}
            if length // PAGE_BYTES in self.pages:
                self.pages[length // PAGE_BYTES][length % PAGE_BYTES:] = bytes(PAGE_BYTES - length % PAGE_BYTES)
        self.length = length


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except ValueError:  # a path with a zero byte
        return None
    except OSError as error:
        if error.errno in _NO_FILE:
            return None
        raise DiskError(str(error)) from error


class OpenFile:
    """See File in `impl.ports.disk`."""

    def __init__(self, content: _Content) -> None:
        """Use the content until it is closed."""
        self._content: _Content | None = content
        self._buffer = WriteBuffer()

    @property
    def _open(self) -> _Content:
        if self._content is None:
            raise DiskError("Stream Closed")
        return self._content

    def length(self) -> int:
        """See File in `impl.ports.disk`."""
        return self._open.length

    def last_modified_ms(self) -> int:
        """See File in `impl.ports.disk`."""
        return self._open.modified_ms

    def read(self, offset: int, length: int) -> bytes:
        """See File in `impl.ports.disk`."""
        return self._open.read(offset, length)

    def write(self, offset: int, data: bytes) -> None:
        """See File in `impl.ports.disk`."""
        self._open.write(offset, data)

    def append(self, data: bytes) -> int:
        """See File in `impl.ports.disk`."""
        end = self._open.length
        self._open.write(end, data)
        return end

    def put(self, offset: int, data: bytes) -> None:
        """See File in `impl.ports.disk`."""
        _ = self._open  # a closed file has no buffer
        self._buffer.put(offset, data)

    def commit(self, offset: int, length: int) -> None:
        """See File in `impl.ports.disk`."""
        self._open.write(offset, self._buffer.bytes_at(offset, length))

    def truncate(self, length: int) -> None:
        """See File in `impl.ports.disk`."""
        self._open.truncate(length)

    def force(self, offset: int = 0, length: int | None = None) -> None:  # noqa: ARG002  # nothing is kept
        """See File in `impl.ports.disk`: nothing reaches a disk from here."""
        _ = self._open

    def try_lock(self) -> bool:
        """See File in `impl.ports.disk`: among the users of the Overlay."""
        content = self._open
        if content.locked_by is None:
            content.locked_by = self
        return content.locked_by is self

    def close(self) -> None:
        """See File in `impl.ports.disk`."""
        if self._content is not None and self._content.locked_by is self:
            self._content.locked_by = None
        self._content, self._buffer = None, WriteBuffer()


class Overlay:
    """See Disk in `impl.ports.disk`.

    files -- what has another content than below the root: path to the content, None where the file was deleted.
    """

    def __init__(self, root: Path) -> None:
        """Show the files below this folder."""
        self.root = root
        self.files: dict[str, _Content | None] = {}
        self._folders: dict[str, bool] = {}  # made here, or deleted

    def _find(self, path: str) -> _Content | None:
        if path in self.files:
            return self.files[path]
        found = _stat(self.root / path)
        if found is None or not stat.S_ISREG(found.st_mode):
            return None
        return _Content(self.root / path)

    def _is_folder(self, path: str) -> bool:
        if not path or self._folders.get(path, False):
            return True
        return path not in self._folders and (self.root / path).is_dir()

    def open(self, path: str, length: int = 0) -> OpenFile:
        """See Disk in `impl.ports.disk`."""
        if "\0" in path:
            raise DiskError("Invalid file path")
        if self._is_folder(path):
            raise DiskError(f"{path} (Is a directory)")
        content = self._find(path)
        if content is None:
            self._make_folders(path)
            content = _Content(None)
        self.files[path] = content
        if length > content.length:
            content.truncate(length)
        return OpenFile(content)

    def _make_folders(self, path: str) -> None:
        folder, missing = _folder(path), []
        while not self._is_folder(folder):
            missing.append(folder)
            folder = _folder(folder)
        if any(self._find(one) is not None for one in missing):
            raise DiskError(f"{path} (Not a directory)")
        self._folders.update(dict.fromkeys(missing, True))

    def length(self, path: str) -> int | None:
        """See Disk in `impl.ports.disk`."""
        content = self._find(path)
        return None if content is None else content.length

    def rename(self, path: str, to: str) -> bool:
        """See Disk in `impl.ports.disk`."""
        content = self._find(path)
        if content is None or self._is_folder(to) or not self._is_folder(_folder(to)):
            return False
        if path != to:
            self.files[to], self.files[path] = content, None
        return True

    def delete(self, path: str) -> bool:
        """See Disk in `impl.ports.disk`."""
        if self._find(path) is not None:
            self.files[path] = None
            return True
        if not path or not self._is_folder(path) or self.list(path):
            return False
        self._folders[path] = False
        return True

    def list(self, folder: str) -> list[str]:
        """See Disk in `impl.ports.disk`."""
        if not self._is_folder(folder):
            return []
        place = self.root / folder
        names = {entry.name: True for entry in place.iterdir()} if place.is_dir() else {}
        here = list(self._folders.items())
        here += [(path, content is not None) for path, content in self.files.items()]
        names.update({path.rpartition("/")[2]: there for path, there in here if path and _folder(path) == folder})
        return sorted(name for name, there in names.items() if there)

    def free_bytes(self) -> int:
        """See Disk in `impl.ports.disk`."""
        found = os.statvfs(self.root)
        return found.f_bavail * found.f_frsize

    def total_bytes(self) -> int:
        """See Disk in `impl.ports.disk`."""
        found = os.statvfs(self.root)
        return found.f_blocks * found.f_frsize


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
