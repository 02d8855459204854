"""A disk that is a table of bytes, and tells what is done to it; see `impl.ports.disk`.

A folder is there if a file is in it, or once was in this life of the disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from impl.hosts.write_buffer import WriteBuffer
from impl.ports.disk import PAGE_BYTES, DiskError

Image = Mapping[str, bytes]
"""The files of a disk: path to content."""

TOTAL_BYTES = 100 << 30
MODIFIED_MS = 1_750_000_000_000  # later than all that workloads do


class UnendingError(Exception):
    """The disk was used so often that its user will not come to an end."""


class Content:
    """The bytes of one file, under whatever name. locked_by -- the open file that has its lock."""

    __slots__ = ("data", "locked_by")

    def __init__(self, data: bytes = b"") -> None:
        """Hold these bytes."""
        self.data = bytearray(data)
        self.locked_by: object = None


class MemoryFile:
    """See File in `impl.ports.disk`."""

    def __init__(self, disk: MemoryDisk, content: Content) -> None:
        """Use the content until it is closed."""
        self._disk = disk
        self._content: Content | None = content
        self._buffer = WriteBuffer()

    def _open(self) -> Content:
        self._disk.count_use()
        if self._content is None:
            raise DiskError("Stream Closed")
        return self._content

    def length(self) -> int:
        """See File in `impl.ports.disk`."""
        return len(self._open().data)

    def last_modified_ms(self) -> int:
        """See File in `impl.ports.disk`."""
        return self._disk.modified_ms(self._open())

    def read(self, offset: int, length: int) -> bytes:
        """See File in `impl.ports.disk`."""
        return bytes(self._open().data[offset:offset + length])

    def write(self, offset: int, data: bytes) -> None:
        """See File in `impl.ports.disk`. Each page is a step of its own."""
        content, end = self._open(), offset + len(data)
        if end > len(content.data):
            self.truncate(end)
        for page in range(offset // PAGE_BYTES, -(-end // PAGE_BYTES)):
            first, last = max(offset, page * PAGE_BYTES), min(end, (page + 1) * PAGE_BYTES)
            content.data[first:last] = data[first - offset:last - offset]
            self._disk.page_written(content, page)

    def append(self, data: bytes) -> int:
        """See File in `impl.ports.disk`."""
        end = len(self._open().data)
        self.write(end, data)
        return end

    def put(self, offset: int, data: bytes) -> None:
        """See File in `impl.ports.disk`."""
        self._open()
        self._buffer.put(offset, data)

    def commit(self, offset: int, length: int) -> None:
        """See File in `impl.ports.disk`."""
        self.write(offset, self._buffer.bytes_at(offset, length))

    def truncate(self, length: int) -> None:
        """See File in `impl.ports.disk`."""
        content = self._open()
        if length == len(content.data):
            return
        del content.data[length:]
        content.data.extend(bytes(length - len(content.data)))
        self._disk.length_changed(content)

    def force(self, offset: int = 0, length: int | None = None) -> None:
        """See File in `impl.ports.disk`."""
        content = self._open()
        end = len(content.data) if length is None else offset + length
        self._disk.forced(content, range(offset // PAGE_BYTES, -(-end // PAGE_BYTES)))

    def try_lock(self) -> bool:
        """See File in `impl.ports.disk`."""
        content = self._open()
        if content.locked_by is None:
            content.locked_by = self
        return content.locked_by is self

    def close(self) -> None:
        """See File in `impl.ports.disk`."""
        if self._content is not None and self._content.locked_by is self:
            self._content.locked_by = None
        self._content, self._buffer = None, WriteBuffer()


class MemoryDisk:
    """See Disk in `impl.ports.disk`. A subclass that wants to know what is done replaces the five methods at the end.

    uses_left -- how many calls are answered before UnendingError is raised; None: all. used_percent -- of its space.
    """

    used_percent = 0

    def __init__(self, image: Image, uses_left: int | None = None) -> None:
        """Have these files."""
        self.contents = {path: Content(data) for path, data in image.items()}
        self.uses_left = uses_left
        self._folders = {folder for path in image for folder in _folders(path)}

    def image(self) -> dict[str, bytes]:
        """The files as they are now."""
        return {path: bytes(content.data) for path, content in sorted(self.contents.items())}

    def count_use(self) -> None:
        """Note one call; raises UnendingError if there were too many."""
        if self.uses_left is not None:
            self.uses_left -= 1
            if self.uses_left < 0:
                raise UnendingError

    def open(self, path: str, length: int = 0) -> MemoryFile:
        """See Disk in `impl.ports.disk`. To make a file is one step, to give it its length another."""
        self.count_use()
        if path in self._folders:
            raise DiskError(f"{path} (Is a directory)")
        content = self.contents.get(path)
        if content is None:
            content = self.contents[path] = Content()
            self._folders.update(_folders(path))
            self.name_changed(path, content)
        file = MemoryFile(self, content)
        if length > len(content.data):
            file.truncate(length)
        return file

    def length(self, path: str) -> int | None:
        """See Disk in `impl.ports.disk`."""
        self.count_use()
        content = self.contents.get(path)
        return None if content is None else len(content.data)

    def rename(self, path: str, to: str) -> bool:
        """See Disk in `impl.ports.disk`. The new name is one step, the loss of the old one another."""
        self.count_use()
        content, folder = self.contents.get(path), to.rpartition("/")[0]
        if content is None or to in self._folders or (folder and folder not in self._folders):
            return False
        if path != to:
            self.contents[to] = content
            self.name_changed(to, content)
            del self.contents[path]
            self.name_changed(path, None)
        return True

    def delete(self, path: str) -> bool:
        """See Disk in `impl.ports.disk`."""
        self.count_use()
        if self.contents.pop(path, None) is not None:
            self.name_changed(path, None)
            return True
        if path not in self._folders or self.list(path):
            return False
        self._folders.remove(path)
        return True

    def list(self, folder: str) -> list[str]:
        """See Disk in `impl.ports.disk`."""
        self.count_use()
        head = f"{folder}/" if folder else ""
        names = [path[len(head):] for path in (*self.contents, *self._folders) if path.startswith(head)]
        return sorted(name for name in names if "/" not in name)

    def free_bytes(self) -> int:
        """See Disk in `impl.ports.disk`; a write is always taken."""
        return TOTAL_BYTES // 100 * (100 - self.used_percent)

    def total_bytes(self) -> int:
        """See Disk in `impl.ports.disk`."""
        return TOTAL_BYTES

    # What a subclass hears --------------------------------------------------------------------------------------------

    def page_written(self, content: Content, page: int) -> None:
        """Bytes of one page were written."""

    def length_changed(self, content: Content) -> None:
        """A file was made longer or shorter."""

    def forced(self, content: Content, pages: range) -> None:
        """These pages of a file, its length and its name are durable."""

    def name_changed(self, path: str, content: Content | None) -> None:
        """A path stands for another content; None: for none."""

    def modified_ms(self, content: Content) -> int:
        """When a file was written last; each is as new as a copy of the disk that is made after a crash."""
        del content
        return MODIFIED_MS


def _folders(path: str) -> Iterator[str]:
    parts = path.split("/")[:-1]
    return ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
