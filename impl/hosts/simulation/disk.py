"""The disks of simulated machines; they survive the processes. See `impl.ports.disk`.

Faults injected here and in `storage.py`, when a machine loses power. A name that was given or taken during the last
UNFORCED_MS, by making, cutting, renaming or deleting a file, may still stand for what it stood for before; or the name
is on the disk and the bytes are not that the file got when it was made: a text that was written anew is empty then.
MixAll#string2File forces nothing. Choice 0: everything is as it was last written. A kill -9 costs what is in write
buffers and nothing else.

Faults injected here at each force, chosen by the tape at rates of the fault profile:

* `slow_force`: the disk takes one of FORCE_MS for it, while the thread waits;
* `force_fails`: the force raises an error, and nothing of it is durable. Choice 1: the next force of the file tries
  again. Choice 2: the pages count as clean from then on, as Linux has it (fsyncgate; Rebello et al., "Can Applications
  Recover from fsync Failures?", USENIX ATC 2020): no later force writes them unless they are written anew, readers see
  them, and a power loss may cost them at any time.

The fault profile limits the space (`disk_bytes`); `faults.py` lets files of others fill it.
"""

from __future__ import annotations

from dataclasses import dataclass

from impl.events.host import ForceFailed
from impl.hosts.simulation.kernel import Kernel
from impl.hosts.simulation.process import Process
from impl.hosts.simulation.storage import OUTCOMES, UNFORCED_MS, Storage
from impl.hosts.write_buffer import WriteBuffer
from impl.ports.disk import PAGE_BYTES, DiskError, DiskFullError

UNLIMITED_BYTES = 1 << 50  # the space of a disk that no profile limits
FORCE_MS = (10, 100, 1_000, 6_000)
_PERCENT = 100
_CLEAN = 2  # the choice in which what a force has failed to write is given up


@dataclass(slots=True)
class _Name:
    """What a path stands for, and stood for before the latest change. durable -- the change cannot be lost."""

    storage: Storage | None
    before: Storage | None
    changed_ms: int
    durable: bool = False


class MachineDisk:
    """Names and contents on the disk of one machine. others_bytes -- the space that files of others take."""

    def __init__(self, kernel: Kernel, name: str) -> None:
        """Begin empty; name -- of the machine."""
        self.kernel, self.name = kernel, name
        self.names: dict[str, _Name] = {}
        self.folders: dict[str, None] = {"": None}
        self.others_bytes = 0

    def find(self, path: str) -> Storage | None:
        """What the path stands for; None: no file."""
        name = self.names.get(path)
        return None if name is None else name.storage

    def is_forced(self, path: str, offset: int, length: int) -> bool:
        """Whether a loss of power cannot cost these bytes of a file; those of a file that is gone it cannot."""
        storage = self.find(path)
        return storage is None or storage.is_forced(offset, length, self.kernel.now_ms)

    def make(self, path: str) -> Storage:
        """Make an empty file, and its folders."""
        if path in self.folders:
            raise DiskError(f"{path} (Is a directory)")
        folder = _folder(path)
        missing = []
        while folder not in self.folders:
            missing.append(folder)
            folder = _folder(folder)
        if any(self.find(one) is not None for one in missing):
            raise DiskError(f"{path} (Not a directory)")
        self.folders.update(dict.fromkeys(missing))
        storage = Storage(self.kernel.now_ms)
        self.change(path, storage)
        return storage

    def change(self, path: str, storage: Storage | None) -> None:
        """Let a path stand for something else."""
        name = self.names.get(path)
        if name is None:
            self.names[path] = _Name(storage, None, self.kernel.now_ms)
        else:
            name.before, name.storage = name.storage, storage
            name.changed_ms, name.durable = self.kernel.now_ms, False

    def copy_from(self, other: MachineDisk) -> None:
        """Have the files of another disk as well; nothing of them can be lost."""
        self.folders.update(other.folders)
        self.names.update({
            path: _Name(name.storage.copy(), None, 0, durable=True)
            for path, name in other.names.items() if name.storage is not None})

    def name_of(self, storage: Storage) -> _Name | None:
        """The name of a content; None: it was deleted or replaced."""
        return next((name for name in self.names.values() if name.storage is storage), None)

    def remove_empty_files(self, *folders: str) -> None:
        """Let an operator delete all files of no length in these folders and below."""
        within = tuple(f"{folder}/" for folder in folders)
        for path, name in self.names.items():
            if name.storage is not None and not name.storage.length and path.startswith(within):
                self.change(path, None)

    def used_bytes(self) -> int:
        """The space that the pages of all files take."""
        return PAGE_BYTES * sum(len(name.storage.pages) for name in self.names.values() if name.storage is not None)

    def total_bytes(self) -> int:
        """The space that there is."""
        return self.kernel.profile.disk_bytes or UNLIMITED_BYTES

    def free_bytes(self) -> int:
        """The space that is left."""
        return max(self.total_bytes() - self.others_bytes - self.used_bytes(), 0)

    def fill(self, percent: int) -> None:
        """Let files of others take so much of the space that all files together take this part of it."""
        self.others_bytes = max(self.total_bytes() * percent // _PERCENT - self.used_bytes(), 0)

    def has_limit(self) -> bool:
        """Whether the space could end."""
        return bool(self.others_bytes or self.kernel.profile.disk_bytes)

    def force_delay_ms(self) -> int:
        """How long the force that comes now takes; 0: no time."""
        meaning = "the disk takes {} ms for a force"
        return self.kernel.fault(self.kernel.profile.slow_force, FORCE_MS, "", self.name, meaning) or 0

    def force_fails(self, path: str, storage: Storage) -> bool:
        """Whether the tape lets a force fail; the pages of the file may count as clean then."""
        rate = self.kernel.profile.force_fails
        chosen = self.kernel.tape.pick(3, lambda: f"a force of {path}", rate) if rate else 0
        if not chosen:
            return False
        if chosen == _CLEAN:
            storage.forget_dirty()
        self.kernel.record(self.name, ForceFailed(path, lost=chosen == _CLEAN))
        if self.kernel.tape.telling:
            left = "its pages count as clean" if chosen == _CLEAN else "its pages stay dirty"
            self.kernel.tape.tell(self.kernel.now_ms, self.name, f"an error, {left}")
        return True

    def lose_power(self) -> None:
        """Let the tape choose what is left of each file that was changed lately."""
        for path, name in self.names.items():
            lost = self._lose_name(name) or self._lose_writes(name)
            name.durable = True
            if lost and self.kernel.tape.telling:
                self.kernel.tape.tell(self.kernel.now_ms, self.name, f"after power loss {path} is {lost}")

    def _lose_name(self, name: _Name) -> str:
        """What a path has become if its latest change is lost, in a word; empty: it is not."""
        storage, before = name.storage, name.before
        if name.durable or self.kernel.now_ms - name.changed_ms > UNFORCED_MS or _alike(storage, before):
            return ""
        chosen = self.kernel.tape.pick(3, "")
        if not chosen:
            return ""
        if chosen == 1 or storage is None:
            name.storage = None if before is None else before.copy()
            return "older"
        sure_bytes = storage.sure_bytes(self.kernel.now_ms)
        if sure_bytes >= storage.length:
            return ""
        name.storage = storage.copy(sure_bytes)
        return "shorter" if sure_bytes else "empty"

    def _lose_writes(self, name: _Name) -> str:
        outcome = 0 if name.storage is None else name.storage.lose_power(self.kernel.now_ms, self.kernel.tape)
        return OUTCOMES[outcome] if outcome else ""


def _alike(one: Storage | None, other: Storage | None) -> bool:
    return one is other or (one is not None and other is not None and one.same_bytes(other))


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


class OpenFile:
    """See File in `impl.ports.disk`."""

    __slots__ = ("_buffer", "_closed", "_disk", "_path", "_process", "_storage")

    def __init__(self, process: Process, disk: MachineDisk, path: str, storage: Storage) -> None:
        """Be open for a process; path -- by which it was opened."""
        self._process, self._disk, self._path, self._storage = process, disk, path, storage
        self._buffer: WriteBuffer | None = None
        self._closed = False

    def _open(self) -> Storage:
        self._process.check_alive()
        if self._closed:
            raise DiskError("Stream Closed")
        return self._storage

    def length(self) -> int:
        """See File in `impl.ports.disk`."""
        return self._open().length

    def last_modified_ms(self) -> int:
        """See File in `impl.ports.disk`."""
        return self._open().modified_ms

    def read(self, offset: int, length: int) -> bytes:
        """See File in `impl.ports.disk`."""
        return self._open().read(offset, length)

    def write(self, offset: int, data: bytes) -> None:
        """See File in `impl.ports.disk`."""
        storage, disk = self._open(), self._disk
        if disk.has_limit():
            needed = PAGE_BYTES * storage.new_pages(offset, len(data))
            if needed > disk.free_bytes():
                raise DiskFullError
        storage.write(offset, data, disk.kernel.now_ms)
        storage.modified_ms = self._process.now_ms()

    def append(self, data: bytes) -> int:
        """See File in `impl.ports.disk`."""
        end = self._open().length
        self.write(end, data)
        return end

    def put(self, offset: int, data: bytes) -> None:
        """See File in `impl.ports.disk`."""
        self._open()
        if self._buffer is None:
            self._buffer = WriteBuffer()
        self._buffer.put(offset, data)

    def commit(self, offset: int, length: int) -> None:
        """See File in `impl.ports.disk`."""
        self._open()
        self.write(offset, (self._buffer or WriteBuffer()).bytes_at(offset, length))

    def truncate(self, length: int) -> None:
        """See File in `impl.ports.disk`."""
        storage, now_ms = self._open(), self._disk.kernel.now_ms
        if storage.made_ms == now_ms and length >= storage.length:  # there is nothing before it that could come back
            storage.extend(length, now_ms)
            return
        before = storage.cut(length, now_ms)
        storage.modified_ms = self._process.now_ms()
        name = self._disk.name_of(storage)
        if name is not None:
            name.before, name.changed_ms, name.durable = before, now_ms, False

    def force(self, offset: int = 0, length: int | None = None) -> None:
        """See File in `impl.ports.disk`."""
        storage = self._open()
        if self._disk.force_fails(self._path, storage):
            raise DiskError("Input/output error")
        storage.force(offset, storage.length - offset if length is None else length)
        name = self._disk.name_of(storage)
        if name is not None:
            name.durable = True

    def try_lock(self) -> bool:
        """See File in `impl.ports.disk`."""
        storage = self._open()
        if storage.locked_by is not self:
            if isinstance(storage.locked_by, OpenFile) and storage.locked_by.is_open():
                return False
            storage.locked_by = self
        return True

    def is_open(self) -> bool:
        """Whether a living process has it open."""
        return self._process.alive and not self._closed

    def close(self) -> None:
        """See File in `impl.ports.disk`."""
        self._closed, self._buffer = True, None


class Disk:
    """What one process sees of the disk of its machine; see Disk in `impl.ports.disk`."""

    def __init__(self, process: Process, machine: MachineDisk) -> None:
        """The files of the machine on which the process runs."""
        self._process, self._machine = process, machine

    def open(self, path: str, length: int = 0) -> OpenFile:
        """See Disk in `impl.ports.disk`."""
        self._process.check_alive()
        storage = self._machine.find(path)
        if storage is None:
            storage = self._machine.make(path)
            storage.modified_ms = self._process.now_ms()
        if length > storage.length:
            storage.extend(length, self._machine.kernel.now_ms)
        return OpenFile(self._process, self._machine, path, storage)

    def length(self, path: str) -> int | None:
        """See Disk in `impl.ports.disk`."""
        self._process.check_alive()
        storage = self._machine.find(path)
        return None if storage is None else storage.length

    def rename(self, path: str, to: str) -> bool:
        """See Disk in `impl.ports.disk`."""
        self._process.check_alive()
        storage = self._machine.find(path)
        if storage is None or _folder(to) not in self._machine.folders or to in self._machine.folders:
            return False
        if path != to:
            self._machine.change(to, storage)
            self._machine.change(path, None)
        return True

    def delete(self, path: str) -> bool:
        """See Disk in `impl.ports.disk`."""
        self._process.check_alive()
        if self._machine.find(path) is not None:
            self._machine.change(path, None)
            return True
        if not path or path not in self._machine.folders or self.list(path):
            return False
        del self._machine.folders[path]
        return True

    def list(self, folder: str) -> list[str]:
        """See Disk in `impl.ports.disk`."""
        self._process.check_alive()
        machine = self._machine
        paths = [path for path, name in machine.names.items() if name.storage is not None]
        entries = [path for path in (*paths, *machine.folders) if path and _folder(path) == folder]
        return sorted(path.rpartition("/")[2] for path in entries)

    def free_bytes(self) -> int:
        """See Disk in `impl.ports.disk`."""
        self._process.check_alive()
        return self._machine.free_bytes()

    def total_bytes(self) -> int:
        """See Disk in `impl.ports.disk`."""
        self._process.check_alive()
        return self._machine.total_bytes()
