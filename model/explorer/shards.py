"""A store for any number of states: sorted, encoded, in shards of neighbouring states, each deduplicated by itself.

Successors are collected until there are many. Then each shard is decoded once, and keeps those that it does not have as
one more run of the next level. So memory holds what was collected and one shard for each core; the runs may lie on a
disk.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from zlib import crc32

import numpy as np

from model.explorer.buffers import Buffers
from model.explorer.expand import Moves
from model.explorer.runs import Shape, decoded, encoded, fresh, gathering, joined, merged
from model.explorer.seen import Levels, cut
from model.explorer.storage import Memory, Run, Storage
from model.explorer.workers import Workers
from model.language.batch import Word, Words

_LARGEST = 1 << 21  # states of a shard: with its window it lies in a third-level cache
_USUAL = 1 << 20  # the same, where few shards would leave cores without work
_SHARDS = 1 << 6  # where there are so many of the usual ones, fewer and larger ones keep threads from meeting
_SMALLEST = 1 << 8
_WORKING = 32  # bytes for each state of a shard that is worked on
_COLLECTED = 1 << 25  # bytes of successors; and at least one for each state, as all of them are decoded
_USED, _RESIDENT = 5, 9  # of so many resident bytes so many are in use: the allocator keeps what was freed
_KNOWN = 4  # successors for each that is new, at least, where there are many
_PORTION = 1 << 10  # candidates from one piece that a shard gets on the average: below that, merging is cheaper
_SAMPLES = 1 << 12
Piece = list[Word]


@dataclass(slots=True)
class Shard:
    """The states whose first word is at least `low`, and below that of the next shard."""

    low: int
    file: int
    runs: list[Run] = field(default_factory=list)

    @property
    def states(self) -> int:
        """How many there are."""
        return sum(run.shape.count for run in self.runs)


Cut = tuple[Shard, Shape, bytes, int]
"""A part of a run: where it belongs, how it is read, its bytes, and their check."""


class Shards:
    """The store."""

    batch: ClassVar[int] = 1 << 16  # fewer and longer pieces to merge; between two operations one thread works alone

    def __init__(
        self, *, words: int, memory_bytes: int, cores: int = 1, storage: Storage | None = None, most: int = 0,
    ) -> None:
        """Start without states.

        words -- of a state. memory_bytes -- for everything. most -- states of a shard; 0 chooses.
        """
        self.storage, self._words, self._cores = storage or Memory(), words, cores
        self._memory = memory_bytes * _USED // _RESIDENT
        self._working = self._memory // 8
        self._largest = most or min(_LARGEST, max(_SMALLEST, self._working // (2 * cores * _WORKING)))
        self.shards = [Shard(0, 0)]
        self._files = 1
        self._inbox: list[Piece] = []
        self._taken = self._states = 0
        self.buffers = Buffers()
        self.levels = ShardLevels(self)

    @property
    def bytes(self) -> int:
        """Memory in use, to work with, and kept by the allocator."""
        return (self.storage.bytes + self._taken + self._at_work()) * _RESIDENT // _USED

    @property
    def _most(self) -> int:
        """States of a shard: more, where there are many."""
        return min(self._largest, max(_USUAL, self._states // _SHARDS))

    def _at_work(self) -> int:
        """Memory to work with: shards that are decoded, with their candidates and windows."""
        return min(self._working, _WORKING * min(self._cores * self._most, self._states + self._taken // 8))

    @property
    def full(self) -> bool:
        """Whether so much was collected that it must be settled."""
        room = self._memory - self._working - self.storage.bytes
        return self._taken > min(max(_COLLECTED, 8 * self._states), max(self._memory // 16, room // 2))

    def candidates(self, moves: Iterable[Moves], most: int) -> list[Piece]:
        """All of them, each once, in ascending order."""
        with gathering(self._words, most, self.buffers) as gathered:
            for one in moves:
                gathered.add(one.after, one.moving and one.moving())
            return [gathered.distinct()]

    def take(self, candidates: list[Piece]) -> None:
        """Collect them."""
        self._inbox += candidates
        self._taken += sum(word.nbytes for piece in candidates for word in piece)

    def settle(self, workers: Workers) -> None:
        """Give each shard its candidates; it keeps those that are new."""
        pieces = list(workers.map(self._merged, _grouped(self._inbox, _PORTION * len(self.shards))))
        self._inbox, self._taken = [], 0
        if not pieces:
            return
        self._split(pieces, workers)
        for shard, run in workers.map(self._settled, self._portions(pieces)):
            if run:
                shard.runs.append(run)
                self._states += run.shape.count

    def _merged(self, pieces: list[Piece]) -> Piece:
        return merged(pieces, self.buffers) if len(pieces) > 1 else pieces[0]

    def _ends(self, pieces: Sequence[Piece]) -> list[list[int]]:
        """Where the candidates of each shard begin, for each piece, and where the last ones end."""
        lows = np.array([shard.low for shard in self.shards], np.uint64)
        return [[*np.searchsorted(piece[0], lows).tolist(), len(piece[0])] for piece in pieces]

    def _portions(self, pieces: Sequence[Piece]) -> Iterator[tuple[Shard, list[Piece]]]:
        """What each shard gets."""
        ends = self._ends(pieces)
        for i, shard in enumerate(self.shards):
            own = _between(pieces, ends, i)
            if own:
                yield shard, own

    def _settled(self, portion: tuple[Shard, list[Piece]]) -> tuple[Shard, Run | None]:
        shard, own = portion
        new = fresh(self.read(shard, shard.runs), shard.states, own, self.buffers)
        return shard, self._written(shard.file, len(self.levels), new) if len(new[0]) else None

    def read(self, shard: Shard, runs: Sequence[Run]) -> Iterator[list[Word]]:
        """The states of some runs of a shard."""
        for run, data in zip(runs, self.storage.read(shard.file, runs), strict=True):
            yield decoded(run.shape, data)

    def _written(self, file: int, depth: int, states: Words) -> Run:
        shape, data = encoded(states)
        return Run(depth, shape, self.storage.add(file, data), len(data), crc32(data))

    def _split(self, pieces: Sequence[Piece], workers: Workers) -> None:
        """Cut shards that are too large, or will be, where that makes equal parts; most candidates are known."""
        ends = self._ends(pieces)
        large = []
        for i, shard in enumerate(self.shards):
            weight = shard.states + sum(end[i + 1] - end[i] for end in ends) // _KNOWN
            if weight > self._most:
                large.append((shard, _between(pieces, ends, i), weight))
        made = dict(zip([shard.low for shard, _, _ in large], workers.map(self._lows, large), strict=True))
        parted = [(shard, self._made(lows)) for shard, _, _ in large if len(lows := made[shard.low]) > 1]
        cuts = [(shard, run, parts) for shard, parts in parted for run in shard.runs]
        for (_, run, _), found in zip(cuts, workers.map(self._cut, cuts), strict=True):
            for part, shape, data, check in found:
                part.runs.append(Run(run.depth, shape, self.storage.add(part.file, data), len(data), check))
        for shard, _ in parted:
            self.storage.drop(shard.file)
        instead = {shard.low: parts for shard, parts in parted}
        self.shards = [part for shard in self.shards for part in instead.get(shard.low, [shard])]

    def _lows(self, large: tuple[Shard, Sequence[Piece], int]) -> list[int]:
        """Where the parts of a shard begin."""
        shard, own, weight = large
        step = max(1, weight // _SAMPLES)
        sample = np.sort(np.concatenate([part[0][::step] for part in (*self.read(shard, shard.runs), *own)]))
        count = -(-2 * weight // self._most)
        points = np.unique(sample[np.arange(1, count) * len(sample) // count])
        return [shard.low, *(int(point) for point in points if point > shard.low)]

    def _made(self, lows: Sequence[int]) -> list[Shard]:
        """New shards, without states."""
        first, self._files = self._files, self._files + len(lows)
        return [Shard(low, first + i) for i, low in enumerate(lows)]

    def _cut(self, one: tuple[Shard, Run, list[Shard]]) -> list[Cut]:
        """A run of a shard, cut where its parts begin."""
        shard, run, parts = one
        states, = self.read(shard, [run])
        lows = np.array([part.low for part in parts], np.uint64)
        ends = [*np.searchsorted(states[0], lows).tolist(), len(states[0])]
        found = []
        for i, part in enumerate(parts):
            if ends[i] < ends[i + 1]:
                shape, data = encoded([word[ends[i]:ends[i + 1]] for word in states])
                found.append((part, shape, data, crc32(data)))
        return found

    def close(self, workers: Workers) -> int:
        """Settle; return the number of states of the next level."""
        self.settle(workers)
        return self.levels.size(len(self.levels))

    def begin(self) -> None:
        """Let the next level be the last one of `levels`."""
        self.levels.count += 1

    def recorded(self) -> dict[str, Any]:
        """What `restore` needs; only for what is settled."""
        return {"levels": self.levels.count, "files": self._files, "shards": [
            {"low": shard.low, "file": shard.file, "runs": [
                [run.depth, run.place, run.size, run.check, run.shape.count, run.shape.gap, run.shape.escapes,
                 run.shape.rest] for run in shard.runs]} for shard in self.shards]}

    def restore(self, found: dict[str, Any]) -> None:
        """Go on where `recorded` was called."""
        self.levels.count, self._files = found["levels"], found["files"]
        self.shards = [Shard(one["low"], one["file"], [
            Run(depth, Shape(count, gap, escapes, tuple(rest)), place, size, check)
            for depth, place, size, check, count, gap, escapes, rest in one["runs"]]) for one in found["shards"]]
        self._states = sum(shard.states for shard in self.shards)


def _grouped(pieces: Sequence[Piece], size: int) -> Iterator[list[Piece]]:
    """Pieces to merge, so that each has about so many states."""
    group: list[Piece] = []
    for piece in pieces:
        group.append(piece)
        if sum(len(one[0]) for one in group) >= min(size, _LARGEST):
            yield group
            group = []
    if group:
        yield group


def _between(pieces: Sequence[Piece], ends: Sequence[Sequence[int]], i: int) -> list[Piece]:
    return [[word[end[i]:end[i + 1]] for word in piece]
            for piece, end in zip(pieces, ends, strict=True) if end[i] < end[i + 1]]


class ShardLevels(Levels):
    """The levels of the shards; `count` of them are complete."""

    def __init__(self, store: Shards) -> None:
        """Start without any."""
        self._store, self.count = store, 0

    def __len__(self) -> int:
        """How many levels there are."""
        return self.count

    def size(self, depth: int) -> int:
        """Number of states of a level."""
        return sum(run.shape.count for shard in self._store.shards for run in shard.runs if run.depth == depth)

    def __getitem__(self, depth: int) -> list[Word]:
        """All states of a level."""
        return joined([*self.parts(range(self.count)[depth], _LARGEST)])

    def parts(self, depth: int, size: int, skip: int = 0) -> Iterator[list[Word]]:
        """The states of a level in ascending order, at most so many at a time, without the first ones.

        Shards may be cut in the meantime.
        """
        rest: list[Piece] = []
        for level in self._by_shard(depth, skip):
            rest.append(level)
            if sum(len(part[0]) for part in rest) >= size:
                whole = joined(rest)
                kept = len(whole[0]) - len(whole[0]) % size
                yield from cut([word[:kept] for word in whole], size)
                rest = [[word[kept:] for word in whole]]
        if rest and len((last := joined(rest))[0]):
            yield last

    def _by_shard(self, depth: int, skip: int) -> Iterator[Piece]:
        place, shards = 0, self._store.shards
        while place < len(shards):
            shard = shards[place]
            after = shards[place + 1].low if place + 1 < len(shards) else None
            runs = [run for run in shard.runs if run.depth == depth]
            count = sum(run.shape.count for run in runs)
            if count > skip:
                found = [*self._store.read(shard, runs)]
                level = found[0] if len(found) == 1 else merged(found, self._store.buffers)
                yield [word[skip:] for word in level]
            skip = max(0, skip - count)
            shards = self._store.shards
            place = len(shards) if after is None else bisect_left([one.low for one in shards], after)
