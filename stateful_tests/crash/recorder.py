"""A disk that remembers each step, and what a crash after it can leave.

A step is one write to one page, one new length, one name that a file gets or loses, or one force. After each of them
the machine can crash. Of each page, each length and each name there is then the version that was forced last, or any
later one, and none of these choices depends on another: file systems reorder writes of data and of metadata as they
like between two forces (Pillai et al., "All File Systems Are Not Created Equal", OSDI 2014). A page is written whole or
not at all. A force makes the name and the length of its file durable, as `impl.ports.disk` has it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import product
from typing import Generic, NamedTuple, TypeVar

from impl.ports.disk import PAGE_BYTES
from stateful_tests.crash.memory import MODIFIED_MS, Content, MemoryDisk

_T = TypeVar("_T")
FOREVER = 1 << 60
_NO_PAGE = bytes(PAGE_BYTES)


class Version(NamedTuple, Generic[_T]):
    """What a page, a length or a name was.

    since, until -- a crash after a step can leave it if since <= step < until.
    """

    value: _T
    since: int
    until: int = FOREVER


class Track(Generic[_T]):
    """The versions of one page, length or name, the oldest first."""

    def __init__(self, value: _T, since: int = 0) -> None:
        """Have one version."""
        self.versions = [Version(value, since)]

    def change(self, value: _T, step: int) -> None:
        """A new version; none if it is as the newest."""
        if self.versions[-1].value != value:
            self.versions.append(Version(value, step))

    def oldest(self) -> _T:
        """What was forced last."""
        return next(one.value for one in self.versions if one.until == FOREVER)

    def force(self, step: int) -> None:
        """From this step on only the newest version is left."""
        self.versions = [
            one if number == len(self.versions) - 1 or one.until < FOREVER else one._replace(until=step)
            for number, one in enumerate(self.versions)]


class Inode:
    """What a file has been, under whatever name."""

    def __init__(self, step: int) -> None:
        """Be empty."""
        self.length = Track(0, step)
        self.pages: dict[int, Track[bytes]] = {}


class Alternative(NamedTuple):
    """What a path can stand for after a crash. content -- None: for nothing. since, until -- as of a Version."""

    content: bytes | None
    since: int
    until: int


class Recorder(MemoryDisk):
    """A disk that begins empty.

    now_ms -- of the clock by which files are modified. steps -- how many there were. newest -- for each step from 0 on,
    the files that it left to other processes, as changes: path to content, None where it went.
    """

    def __init__(self, now_ms: Callable[[], int] = lambda: MODIFIED_MS) -> None:
        """Have recorded nothing."""
        super().__init__({})
        self._now_ms, self._modified_ms = now_ms, dict[Content, int]()
        self.steps = 0
        self.newest: list[dict[str, bytes | None]] = [{}]
        self._inodes: dict[Content, Inode] = {}
        self._names: dict[str, Track[Inode | None]] = {}

    # What is recorded -------------------------------------------------------------------------------------------------

    def _step(self, content: Content | None = None) -> None:
        self.steps += 1
        self.newest.append({path: bytes(one.data) for path, one in self.contents.items() if one is content})

    def _inode(self, content: Content) -> Inode:
        return self._inodes.setdefault(content, Inode(self.steps))

    def page_written(self, content: Content, page: int) -> None:
        """A new version of a page."""
        self._step(content)
        self._modified_ms[content] = self._now_ms()
        data = bytes(content.data[page * PAGE_BYTES:(page + 1) * PAGE_BYTES]).ljust(PAGE_BYTES, b"\0")
        self._inode(content).pages.setdefault(page, Track(_NO_PAGE)).change(data, self.steps)

    def length_changed(self, content: Content) -> None:
        """A new length; what a cut took away is zeros if the file grows again."""
        self._step(content)
        self._modified_ms[content] = self._now_ms()
        inode = self._inode(content)
        inode.length.change(len(content.data), self.steps)
        for page, track in inode.pages.items():
            data = bytes(content.data[page * PAGE_BYTES:(page + 1) * PAGE_BYTES])
            track.change(data.ljust(PAGE_BYTES, b"\0"), self.steps)

    def forced(self, content: Content, pages: range) -> None:
        """Only the newest versions are left."""
        self._step()
        inode = self._inode(content)
        inode.length.force(self.steps)
        for page in pages:
            if page in inode.pages:
                inode.pages[page].force(self.steps)
        for track in self._names.values():
            if track.versions[-1].value is inode:
                track.force(self.steps)

    def name_changed(self, path: str, content: Content | None) -> None:
        """A new version of what the path stands for."""
        self._step(content)
        if content is None:
            self.newest[-1][path] = None
        inode = None if content is None else self._inode(content)
        self._names.setdefault(path, Track(None)).change(inode, self.steps)

    def touch(self, path: str, modified_ms: int) -> None:
        """Let a file seem to be modified then; that is no step, for no content depends on it."""
        self._modified_ms[self.contents[path]] = modified_ms

    def modified_ms(self, content: Content) -> int:
        """When it was written last."""
        return self._modified_ms[content]

    # A loss of power --------------------------------------------------------------------------------------------------

    def lose_power(
        self, pages: Mapping[tuple[str, int], int] | None = None, names: Collection[str] = (),
    ) -> None:
        """Lose what was not forced, and no process is left; what the disk has then is durable. A step for each loss.

        pages -- those of which alone the newest version had not been written back, by path and number, with the place
        of the version that had among those which may be left; None: nothing had. names -- likewise, of new files.
        Raises ValueError for what was forced.
        """
        if pages is None:
            self._lose_all()
        for (path, page), version in (pages or {}).items():
            self._lose_page(path, page, version)
        for path in names:
            self._lose_name(path)
        for name in self._names.values():
            name.force(self.steps)
        for inode in self._inodes.values():
            inode.length.force(self.steps)
            for page_track in inode.pages.values():
                page_track.force(self.steps)

    def _lose_all(self) -> None:
        self._step()
        contents = {inode: content for content, inode in self._inodes.items()}
        for inode, content in contents.items():
            left = {number: Version(track.oldest(), 0) for number, track in inode.pages.items()}
            content.data[:] = _assembled(inode.length.oldest(), left)
            inode.length.change(len(content.data), self.steps)
            for number, track in inode.pages.items():
                track.change(left[number].value, self.steps)
        for path, name in self._names.items():
            named = name.oldest()
            name.change(named, self.steps)
            self.newest[-1][path] = None
            self.contents.pop(path, None)
            if named is not None:
                self.contents[path] = contents[named]
                self.newest[-1][path] = bytes(contents[named].data)

    def _lose_page(self, path: str, page: int, version: int) -> None:
        content = self.contents[path]
        track = self._inode(content).pages[page]
        left = [one.value for one in track.versions if one.until == FOREVER]
        if not -len(left) <= version < len(left) - 1:
            raise ValueError(f"page {page} of {path} is on the disk")
        data = left[version][:max(len(content.data) - page * PAGE_BYTES, 0)]
        content.data[page * PAGE_BYTES:(page + 1) * PAGE_BYTES] = data
        self._step(content)
        track.change(left[version], self.steps)

    def _lose_name(self, path: str) -> None:
        name = self._names[path]
        if name.oldest() is not None:
            raise ValueError(f"the name {path} is on the disk")
        del self.contents[path]
        self._step()
        self.newest[-1][path] = None
        name.change(None, self.steps)

    # What a crash can leave -------------------------------------------------------------------------------------------

    def alternatives(self, *, journalled: bool = False) -> dict[str, list[Alternative]]:
        """What each path can stand for after a crash of the machine, at any step.

        journalled -- names and lengths are durable at once, and only pages can be lost.
        """
        return {path: [found for name in _possible(track, at_once=journalled)
                       for found in _of_name(name, journalled=journalled)]
                for path, track in sorted(self._names.items())}


def _possible(track: Track[_T], *, at_once: bool) -> list[Version[_T]]:
    if not at_once:
        return track.versions
    ends = [*(later.since for later in track.versions[1:]), FOREVER]
    return [one._replace(until=end) for one, end in zip(track.versions, ends, strict=True)]


def _of_name(name: Version[Inode | None], *, journalled: bool) -> Iterator[Alternative]:
    if name.value is None:
        yield Alternative(None, name.since, name.until)
        return
    numbers = list(name.value.pages)
    tracks = [name.value.pages[number].versions for number in numbers]
    for length, pages in product(_possible(name.value.length, at_once=journalled), product(*tracks)):
        since = max(name.since, length.since, *(page.since for page in pages))
        until = min(name.until, length.until, *(page.until for page in pages))
        if since < until:
            yield Alternative(_assembled(length.value, dict(zip(numbers, pages, strict=True))), since, until)


def _assembled(length: int, pages: Mapping[int, Version[bytes]]) -> bytes:
    data = bytearray(length)
    for number, page in pages.items():
        start = number * PAGE_BYTES
        data[start:start + PAGE_BYTES] = page.value[:max(length - start, 0)]
    return bytes(data[:length])
