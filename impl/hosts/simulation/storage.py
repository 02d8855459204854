"""Storage: the bytes of one simulated file, and which of them a power loss could cost.

Fault injected here, when a machine loses power: what was written into a file during the last UNFORCED_MS and not forced
since. The tape chooses: all of it is there (0), nothing of it, only the writes up to one of them, or each page as one
of the writes to it left it, whatever the others have.
"""

from __future__ import annotations

from typing import NamedTuple

from impl.hosts.simulation.tape import Tape
from impl.ports.disk import PAGE_BYTES

UNFORCED_MS = 30_000  # an operating system writes back by itself after about so long
ALL, NOTHING, FIRST_WRITES, SOME_PAGES = range(4)
OUTCOMES = ("whole", "as it was forced", "without its last writes", "torn")
_MOST = 255  # that a choice of the tape can count to


class _Change(NamedTuple):
    """One write to one page. ms -- true time; number -- of the write in its file; at -- offset in the page."""

    ms: int
    number: int
    at: int
    data: bytes


class _Dirty:
    """A page of which writes could be lost. forced -- as it is on the disk; changes -- since then, oldest first.

    given_up -- it counts as clean although it is not: nobody writes it back, and no force does.
    """

    __slots__ = ("changes", "forced", "given_up")

    def __init__(self, page: bytearray) -> None:
        self.forced = bytes(page)
        self.changes: list[_Change] = []
        self.given_up = False

    def settle(self, before_ms: int) -> None:
        """Take what is older than that for written back."""
        while not self.given_up and self.changes and self.changes[0].ms < before_ms:
            self.forced = bytes(self.after(1))
            del self.changes[0]

    def after(self, count: int) -> bytearray:
        """The page with only the first so many changes."""
        page = bytearray(self.forced)
        for change in self.changes[:count]:
            page[change.at:change.at + len(change.data)] = change.data
        return page


class Storage:
    """The content of one file, sparse.

    pages -- number to the PAGE_BYTES of each page that was ever written. length -- in bytes. made_ms -- true time at
    which the file was made or cut; settled -- how many bytes it had then. What is appended in that moment is one change
    with the making, which `disk.py` takes back as a whole; all other writes are kept here, to be taken back one by one.
    modified_ms -- wall time of the latest write. locked_by -- the open file that has or had the lock.
    """

    __slots__ = ("_dirty", "_lengths", "_writes", "length", "locked_by", "made_ms", "modified_ms", "pages", "settled")

    def __init__(self, made_ms: int) -> None:
        """Begin empty."""
        self.pages: dict[int, bytearray] = {}
        self.length = self.settled = self.modified_ms = 0
        self.made_ms = made_ms
        self.locked_by: object = None
        self._dirty: dict[int, _Dirty] = {}
        self._lengths: list[tuple[int, int, int]] = []  # when, by which write, from what
        self._writes = 0

    def read(self, offset: int, length: int) -> bytes:
        """The bytes from there on, as many as there are."""
        end = min(offset + length, self.length)
        first, last = offset // PAGE_BYTES, (end - 1) // PAGE_BYTES
        if first == last and offset < end:  # mostly: only what is asked for is copied
            cached, at = self.pages.get(first), offset - first * PAGE_BYTES
            return bytes(end - offset) if cached is None else bytes(cached[at:at + end - offset])
        data = b"".join([bytes(self.pages.get(page) or PAGE_BYTES) for page in range(first, last + 1)])
        return data[offset - first * PAGE_BYTES:end - first * PAGE_BYTES]

    def new_pages(self, offset: int, length: int) -> int:
        """How many pages a write there would allocate."""
        return sum(page not in self.pages for page in _pages(offset, length))

    def write(self, offset: int, data: bytes, now_ms: int) -> None:
        """Write into the page cache."""
        end = offset + len(data)
        if now_ms == self.made_ms and offset >= self.length:
            self._put_with_the_making(offset, data)
            self.length = end
            return
        self._writes += 1
        for page in _pages(offset, len(data)):
            start = page * PAGE_BYTES
            at, piece = max(offset - start, 0), data[max(start - offset, 0):start + PAGE_BYTES - offset]
            cached = self.pages.get(page)
            if cached is None:
                cached = self.pages[page] = bytearray(PAGE_BYTES)
            self._remember(page, cached, _Change(now_ms, self._writes, at, piece))
            cached[at:at + len(piece)] = piece
        if end > self.length:
            self.extend(end, now_ms)

    def _put_with_the_making(self, offset: int, data: bytes) -> None:
        """Append what comes and goes with the file itself: a text, mostly."""
        first, at = divmod(offset, PAGE_BYTES)
        whole = bytes(self.pages.get(first, b""))[:at].ljust(at, b"\0") + data if at else data
        for start in range(0, len(whole), PAGE_BYTES):
            page = bytearray(whole[start:start + PAGE_BYTES])
            page.extend(bytes(PAGE_BYTES - len(page)))
            self.pages[first + start // PAGE_BYTES] = page

    def extend(self, length: int, now_ms: int) -> None:
        """Be longer."""
        if now_ms != self.made_ms:
            self._lengths.append((now_ms, self._writes, self.length))
        self.length = length

    def _remember(self, page: int, cached: bytearray, change: _Change) -> None:
        dirty = self._dirty.get(page)
        if dirty is None:
            dirty = self._dirty[page] = _Dirty(cached)
        dirty.given_up = False
        dirty.settle(change.ms - UNFORCED_MS)
        dirty.changes.append(change)

    def cut(self, length: int, now_ms: int) -> Storage:
        """Be made anew with so many of the old bytes; the content as it was before."""
        before = Storage(self.made_ms)
        before.pages, before.length, before.modified_ms = self.pages, self.length, self.modified_ms
        self.pages = self._pages_of(length) if length else {}
        self.length = self.settled = length
        self.made_ms = now_ms
        self._settle_all()
        return before

    def copy(self, length: int | None = None) -> Storage:
        """The same bytes, none of which can be lost; length -- only so many."""
        copied = Storage(self.made_ms)
        copied.length = copied.settled = self.length if length is None else length
        copied.modified_ms = self.modified_ms
        copied.pages = self._pages_of(copied.length)
        return copied

    def _pages_of(self, length: int) -> dict[int, bytearray]:
        """A copy of the pages of the first bytes."""
        pages = {page: bytearray(cached) for page, cached in self.pages.items() if page * PAGE_BYTES < length}
        end, last = length % PAGE_BYTES, pages.get(length // PAGE_BYTES)
        if end and last is not None:
            last[end:] = bytes(PAGE_BYTES - end)
        return pages

    def same_bytes(self, other: Storage) -> bool:
        """Whether a reader of both sees the same."""
        return self.length == other.length and self.read(0, self.length) == other.read(0, other.length)

    def force(self, offset: int, length: int) -> None:
        """Make the pages in which these bytes lie durable, and the length."""
        pages = _pages(offset, length)
        for page in [page for page, dirty in self._dirty.items() if page in pages and not dirty.given_up]:
            del self._dirty[page]
        self.settled = self.length
        self._lengths.clear()

    def forget_dirty(self) -> None:
        """Take all pages for clean that could be lost: a force has failed."""
        for dirty in self._dirty.values():
            dirty.given_up = True

    def sure_bytes(self, now_ms: int) -> int:
        """How many bytes the file has on the disk if its name is there."""
        return self.settled if now_ms - self.made_ms <= UNFORCED_MS else self.length

    def is_forced(self, offset: int, length: int, now_ms: int) -> bool:
        """Whether a loss of power cannot cost any of these bytes: they were forced, or are so old."""
        for page in _pages(offset, length):
            dirty = self._dirty.get(page)
            if dirty is not None:
                dirty.settle(now_ms - UNFORCED_MS)
                start, end = max(offset - page * PAGE_BYTES, 0), offset + length - page * PAGE_BYTES
                if dirty.forced[start:end] != self.pages[page][start:end]:
                    return False
        return True

    def _settle_all(self) -> None:
        self._dirty.clear()
        self._lengths.clear()

    def lose_power(self, now_ms: int, tape: Tape) -> int:
        """Let the tape choose what is left of the latest writes; which of OUTCOMES it is."""
        for page in list(self._dirty):
            self._dirty[page].settle(now_ms - UNFORCED_MS)
            if not self._dirty[page].changes:
                del self._dirty[page]
        self._lengths = [change for change in self._lengths if change[0] >= now_ms - UNFORCED_MS]
        outcome = tape.pick(4, "") if self._dirty or self._lengths else ALL
        if outcome in (NOTHING, FIRST_WRITES):
            self._keep_writes(self._last_kept(tape) if outcome == FIRST_WRITES else 0)
        elif outcome == SOME_PAGES:
            for page, dirty in self._dirty.items():
                lost = tape.pick(min(len(dirty.changes), _MOST) + 1, "")
                self.pages[page] = dirty.after(len(dirty.changes) - lost)
        self._settle_all()
        return outcome

    def _last_kept(self, tape: Tape) -> int:
        """The number of the last write that the disk has."""
        numbers = sorted({number for dirty in self._dirty.values() for _, number, _, _ in dirty.changes}
                         | {number for _, number, _ in self._lengths})
        lost = tape.pick(min(len(numbers), _MOST) + 1, "")
        return numbers[-lost - 1] if lost < len(numbers) else 0

    def _keep_writes(self, last: int) -> None:
        """Be as the writes up to this number left it."""
        for page, dirty in self._dirty.items():
            self.pages[page] = dirty.after(sum(change.number <= last for change in dirty.changes))
        taken_back = [length for _, number, length in self._lengths if number > last]
        self.length = min([self.length, *taken_back])


def _pages(offset: int, length: int) -> range:
    """The numbers of the pages that so many bytes from there on touch."""
    return range(offset // PAGE_BYTES, -(-(offset + length) // PAGE_BYTES) if length > 0 else offset // PAGE_BYTES)
