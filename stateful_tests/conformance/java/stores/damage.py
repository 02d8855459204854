"""Damage to a store directory: bytes that are lost or turned, files that are gone, other times in the checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

Contents = dict[str, bytes]

_LENGTHS = (1, 4, 8, 16, 20, 40, 100)
_PAGE_BYTES = 512  # of files that are small
_MARGIN_MS = 8_000


def damaged(contents: Mapping[str, bytes], random: Random) -> tuple[Contents, list[str]]:
    """The files after up to five blows, and what these were."""
    found, names = dict(contents), []
    for _ in range(random.choice([0, 1, 1, 2, 3, 5])):
        blow = random.choice(BLOWS)
        blow(found, random)
        names.append(blow.__name__)
    return found, names


def _some(contents: Contents, random: Random, *folders: str) -> str | None:
    names = sorted(name for name, data in contents.items() if name.startswith(folders) and data.rstrip(b"\0"))
    return random.choice(names) if names else None


def _overwrite(contents: Contents, name: str, start: int, data: bytes) -> None:
    old = contents[name]
    contents[name] = (old[:start] + data + old[start + len(data):])[:len(old)]


def bytes_lost(contents: Contents, random: Random) -> None:
    """Zero a few bytes of any file."""
    name = _some(contents, random, "commitlog/", "consumequeue/", "index/", "checkpoint")
    if name is not None:
        start = random.randrange(len(contents[name].rstrip(b"\0")))
        _overwrite(contents, name, start, bytes(random.choice(_LENGTHS)))


def units_lost(contents: Contents, random: Random) -> None:
    """Zero a few bytes of a consume queue."""
    name = _some(contents, random, "consumequeue/")
    if name is not None:
        start = random.randrange(len(contents[name].rstrip(b"\0")))
        _overwrite(contents, name, start, bytes(random.choice(_LENGTHS)))


def page_lost(contents: Contents, random: Random) -> None:
    """Zero a page."""
    name = _some(contents, random, "commitlog/", "consumequeue/", "index/")
    if name is not None:
        page = random.randrange(len(contents[name].rstrip(b"\0"))) // _PAGE_BYTES
        _overwrite(contents, name, page * _PAGE_BYTES, bytes(_PAGE_BYTES))


def bit_turned(contents: Contents, random: Random) -> None:
    """Turn a bit."""
    name = _some(contents, random, "commitlog/", "consumequeue/", "index/")
    if name is not None:
        at = random.randrange(len(contents[name].rstrip(b"\0")))
        _overwrite(contents, name, at, bytes([contents[name][at] ^ 1 << random.randrange(8)]))


def tail_lost(contents: Contents, random: Random) -> None:
    """Zero a file of the log from somewhere on."""
    name = _some(contents, random, "commitlog/")
    if name is not None:
        start = random.randrange(len(contents[name]))
        _overwrite(contents, name, start, bytes(len(contents[name]) - start))


def file_lost(contents: Contents, random: Random) -> None:
    """Remove a file of a consume queue or an index file."""
    name = _some(contents, random, "consumequeue/", "index/")
    if name is not None:
        del contents[name]


def checkpoint_moved(contents: Contents, random: Random) -> None:
    """Let one of the times in the checkpoint be near that of some record."""
    log = _some(contents, random, "commitlog/")
    if log is not None and "checkpoint" in contents:
        store_ms = int.from_bytes(contents[log][56:64], "big") + random.randrange(-_MARGIN_MS, _MARGIN_MS)
        _overwrite(contents, "checkpoint", random.choice([0, 8, 16]), max(store_ms, 0).to_bytes(8, "big"))


def crashed(contents: Contents, random: Random) -> None:
    """Leave the abort file, or take it away."""
    contents.pop("abort", None)
    if random.randrange(2):
        contents["abort"] = b""


BLOWS: tuple[Callable[[Contents, Random], None], ...] = (
    bytes_lost, bytes_lost, units_lost, page_lost, bit_turned, tail_lost, file_lost, checkpoint_moved, crashed, crashed,
)
