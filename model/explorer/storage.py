"""Where encoded runs of states lie: in memory, or in files of a directory in which a search goes on another time."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from zlib import crc32

from model.explorer.runs import Shape

RECORD = "search.json"
_LOCK = "lock"
_FORMAT = 1
_ENTRY = 400  # bytes of a run's entry in memory


class DiskError(Exception):
    """The directory of a search cannot be used; the message says why and what to do, in one line."""


@dataclass(frozen=True, slots=True)
class Run:
    """Encoded states of one level, in one shard: how they are read, and where they lie."""

    depth: int
    shape: Shape
    place: int
    size: int
    check: int


class Storage(Protocol):
    """Runs by the number of their file."""

    def add(self, file: int, data: bytes) -> int:
        """Keep the bytes; return their place."""

    def read(self, file: int, runs: Iterable[Run]) -> Iterator[bytes]:
        """The bytes of runs."""

    def drop(self, file: int) -> None:
        """Forget a file; nobody reads it any more."""

    @property
    def bytes(self) -> int:
        """Memory in use."""


class Memory:
    """Runs in memory."""

    def __init__(self) -> None:
        """Start without any."""
        self._runs: dict[int, list[bytes]] = {}
        self._bytes = 0

    def add(self, file: int, data: bytes) -> int:
        """Keep the bytes; return their place."""
        runs = self._runs.setdefault(file, [])
        runs.append(data)
        self._bytes += len(data) + _ENTRY
        return len(runs) - 1

    def read(self, file: int, runs: Iterable[Run]) -> Iterator[bytes]:
        """The bytes of runs."""
        return (self._runs[file][run.place] for run in runs)

    def drop(self, file: int) -> None:
        """Forget a file."""
        self._bytes -= sum(len(data) + _ENTRY for data in self._runs.pop(file, ()))

    @property
    def bytes(self) -> int:
        """Memory in use."""
        return self._bytes


class Directory:
    """Runs in files of a directory, and a record of which parts of them count.

    The record is replaced as a whole, when all that it names is on the disk. Files that it does not name, and ends of
    files, are what an interrupted search left: the files are removed, the ends are not read.
    """

    def __init__(self, path: Path) -> None:
        """Make the directory, and keep other searches out; raises DiskError."""
        self.path = path
        self._dropped: list[int] = []
        self._entries = 0
        with self._told():
            path.mkdir(parents=True, exist_ok=True)
            strange = sorted(one.name for one in path.iterdir() if not _ours(one.name))
            if strange:
                raise DiskError(f"{path} holds {strange[0]}, which is no file of a search; name another directory")
            self._lock = (path / _LOCK).open("w")
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._lock.close()
                raise DiskError(f"another search is at work in {path}; wait for it, or name another directory"
                                ) from None

    def close(self) -> None:
        """Let other searches in."""
        self._lock.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise DiskError(f"{error.filename or self.path}: {error.strerror or error}; name a directory that can be "
                            "written and has room (what it holds so far is kept)") from error

    def _file(self, number: int) -> Path:
        return self.path / f"shard-{number:06}.bin"

    def add(self, file: int, data: bytes) -> int:
        """Write the bytes to the end of a file; return their place."""
        with self._told(), self._file(file).open("ab") as out:
            place = out.tell()
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        self._entries += 1
        return place

    def read(self, file: int, runs: Iterable[Run]) -> Iterator[bytes]:
        """The bytes of runs."""
        runs = list(runs)
        if not runs:
            return
        with self._told(), self._file(file).open("rb") as source:
            for run in runs:
                source.seek(run.place)
                data = source.read(run.size)
                if len(data) != run.size:
                    raise DiskError(self._damaged(file))
                yield data

    def drop(self, file: int) -> None:
        """Remove a file as soon as no record names it."""
        self._dropped.append(file)

    @property
    def bytes(self) -> int:
        """Memory in use."""
        return self._entries * _ENTRY

    def record(self, found: dict[str, Any]) -> None:
        """Replace the record."""
        body = json.dumps(found, separators=(",", ":"))
        new = self.path / f"{RECORD}.new"
        with self._told():
            with new.open("w", encoding="utf-8") as out:
                out.write(f'{{"format":{_FORMAT},"check":{crc32(body.encode())},"search":{body}}}\n')
                out.flush()
                os.fsync(out.fileno())
            new.replace(self.path / RECORD)
            for file in self._dropped:
                self._file(file).unlink(missing_ok=True)
        self._dropped.clear()

    def recorded(self) -> dict[str, Any] | None:
        """The record, None when there is none; raises DiskError when it is none of ours."""
        with self._told():
            if not (self.path / RECORD).exists():
                for left in self.path.glob("shard-*.bin"):
                    left.unlink()
                return None
            text = (self.path / RECORD).read_bytes()
        with suppress(ValueError, KeyError, TypeError, IndexError):
            whole = json.loads(text)
            body = text[text.index(b'"search":') + len(b'"search":'):].rstrip()[:-1]
            if whole["format"] == _FORMAT and whole["check"] == crc32(body):
                found: dict[str, Any] = whole["search"]
                return found
        raise DiskError(f"{self.path / RECORD} is damaged, or was written by another version; remove {self.path}")

    def restore(self, files: dict[int, list[Run]]) -> None:
        """Check the files that a record names and remove the others; raises DiskError for a damaged one."""
        with self._told():
            named = {self._file(file) for file in files}
            for left in self.path.glob("shard-*.bin"):
                if left not in named:
                    left.unlink()
        for file, runs in files.items():
            self._entries += len(runs)
            with self._told():
                whole = not runs or (self._file(file).exists() and all(
                    crc32(data) == run.check for run, data in zip(runs, self.read(file, runs), strict=True)))
            if not whole:
                raise DiskError(self._damaged(file))

    def _damaged(self, file: int) -> str:
        return f"{self._file(file)} is damaged; remove {self.path}, and the search begins anew"


def _ours(name: str) -> bool:
    return name in {_LOCK, RECORD, f"{RECORD}.new"} or (name.startswith("shard-") and name.endswith(".bin"))


