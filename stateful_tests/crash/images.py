"""The images that crashes leave: counted, listed or drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import prod
from random import Random
from typing import NamedTuple
from zlib import crc32

from stateful_tests.crash.memory import Image
from stateful_tests.crash.recorder import FOREVER, Alternative, Recorder

_PREFIXES = 16  # so many beginnings of images for each part, that parts are about as large as each other


class Found(NamedTuple):
    """An image, and when a crash leaves it: after the steps from `since` on and before `until`."""

    image: Image
    since: int
    until: int

    def crash_points(self) -> int:
        """At how many."""
        return self.until - self.since


class MachineCrashes:
    """The images that a machine leaves that loses its power after any step. steps -- of the recording."""

    def __init__(self, recorder: Recorder, *, journalled: bool = False) -> None:
        """Know what was recorded until now; journalled -- see Recorder.alternatives."""
        self.steps = recorder.steps
        table = recorder.alternatives(journalled=journalled)
        self.paths = list(table)
        self._choices = [
            [one._replace(until=min(one.until, self.steps + 1)) for one in table[path]] for path in self.paths]
        self._marks = {one.content: _mark(one.content) for choice in self._choices for one in choice}

    def at(self, step: int) -> list[list[Alternative]]:
        """For each path what it can stand for after a crash there."""
        return [[one for one in choice if one.since <= step < one.until] for choice in self._choices]

    def count(self) -> int:
        """How many images there are, over all crash points; equal ones counted each."""
        return sum(self._counts())

    def _counts(self) -> list[int]:
        return [prod(map(len, self.at(step))) for step in range(self.steps + 1)]

    def combinations(self) -> int:
        """How many are listed by `all`: one that several crash points can leave is one."""
        begun = 0
        for step in range(self.steps + 1):
            choices = self.at(step)
            older = prod(sum(one.since < step for one in choice) for choice in choices)
            begun += prod(map(len, choices)) - older
        return begun

    def all(self, part: int = 0, of: int = 1) -> Iterator[Found]:
        """Every combination, with the crash points that can leave it.

        part, of -- only those of this part of so many; images of equal bytes are in the same part.
        """
        return self._extended([], 0, FOREVER, (self._prefix(of), part, of))

    def _prefix(self, of: int) -> int:
        """By how many of the paths images are divided into so many parts."""
        contents = accumulate((len({one.content for one in choice}) for choice in self._choices), lambda a, b: a * b)
        return 1 + next((at for at, count in enumerate(contents) if count >= _PREFIXES * of), len(self.paths) - 1)

    def _extended(
        self, chosen: list[Alternative], since: int, until: int, share: tuple[int, int, int],
    ) -> Iterator[Found]:
        prefix, part, of = share
        if of > 1 and len(chosen) == prefix and self._place(chosen) % of != part:
            return
        if len(chosen) == len(self.paths):
            yield self._found(chosen, since, until)
            return
        for one in self._choices[len(chosen)]:
            first, last = max(since, one.since), min(until, one.until)
            if first < last:
                yield from self._extended([*chosen, one], first, last, share)

    def _place(self, chosen: Sequence[Alternative]) -> int:
        """The same for equal contents."""
        return crc32(b"".join([self._marks[one.content] for one in chosen]))

    def _found(self, chosen: Sequence[Alternative], since: int, until: int) -> Found:
        image = {path: one.content for path, one in zip(self.paths, chosen, strict=True) if one.content is not None}
        return Found(image, since, until)

    def drawn(self, random: Random) -> Iterator[Found]:
        """Without end: each of all images over all crash points equally likely, with that crash point."""
        weights = list(accumulate(self._counts()))
        while True:
            step = random.choices(range(self.steps + 1), cum_weights=weights)[0]
            yield self._found([random.choice(choice) for choice in self.at(step)], step, step + 1)


def _mark(content: bytes | None) -> bytes:
    return b"none" if content is None else crc32(content, len(content)).to_bytes(4)


def process_crashes(recorder: Recorder) -> Iterator[Found]:
    """The image that a killed process leaves, after each step: all that was written is there."""
    files: dict[str, bytes] = {}
    for step, changes in enumerate(recorder.newest):
        for path, content in changes.items():
            if content is None:
                files.pop(path, None)
            else:
                files[path] = content
        yield Found(dict(files), step, step + 1)
