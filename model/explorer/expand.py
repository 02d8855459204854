"""Expansion: all successors of a batch of states.

An instance of an action that depends on few bits of a state is looked up: for each value of those bits a table holds
what changes (old state xor new state, 0 when the instance is not enabled). Instances with nearly the same bits share a
table, one row of changes per value. All others are evaluated term by term.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from model.explorer.buffers import Buffers
from model.explorer.tables import TABLE_BITS, Tables, grouped, spread
from model.language.actions import Action
from model.language.batch import Batch, Word, words
from model.language.ground import Ground
from model.language.instantiate import Instance, Instantiation

Bools = NDArray[np.bool_]
Counts = NDArray[np.int64]


@dataclass(slots=True)
class Group:
    """Instances that are looked up together.

    mask -- the bits that they depend on. changes -- per word, per value of the bits (row), per instance (column).
    fires, cut -- where an instance makes a step, or leaves the scope. moves -- where the step changes the state.
    some -- where any is enabled. seen -- how many states had each value of the bits.
    """

    mask: int
    instances: list[Instance]
    changes: list[NDArray[np.uint64]]
    fires: Bools
    cut: Bools
    moves: Bools
    some: Bools
    seen: Counts


@dataclass(slots=True)
class Single:
    """An instance that is evaluated term by term: `(state & keep) | value << shift | …`."""

    instance: Instance
    fires: Ground
    cut: Ground
    keep: list[np.uint64]
    values: list[tuple[int, np.uint64, Ground]]
    fired: int = 0
    left: int = 0


@dataclass(slots=True)
class Edges:
    """Steps of some instances from a batch: row of the state before, number of the instance, state after."""

    rows: NDArray[np.int64]
    instances: NDArray[np.int64]
    after: list[Word] = field(default_factory=list)


@dataclass(slots=True)
class Tally:
    """What fires in a batch: per group the number of states by the value of its bits, per single its steps and cuts."""

    seen: list[Counts] = field(default_factory=list)
    singles: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Moves:
    """Successors, valid until the next ones are asked for.

    after -- some of them are the state itself: self-loops, and gaps of the tables. moving -- finds the places of the
    others; without it, all may be others. To leave a copy in is cheaper where the test for what was seen is.
    """

    after: list[Word]
    moving: Callable[[], NDArray[np.int64]] | None = None


class Expander:
    """The successor relation of a scope, for batches."""

    def __init__(self, ground: Instantiation, instances: Sequence[Instance], *, table_bits: int = TABLE_BITS) -> None:
        """Tabulate what depends on at most `table_bits` bits."""
        self.ground, self.instances = ground, list(instances)
        self.words = ground.layout.words
        self.tables = Tables(ground, table_bits)
        small = [(self._support(i), i) for i in instances]
        self._buffers = Buffers()
        self.earlier: tuple[dict[str, int], dict[str, int]] = {}, {}  # of a search that goes on
        self.groups = [self._group(mask, members) for mask, members in grouped(small, table_bits)]
        self.singles = [self._single(i) for mask, i in small if mask.bit_count() > table_bits]

    @property
    def actions(self) -> list[Action]:
        """Those that have instances."""
        return [*{instance.action.name: instance.action for instance in self.instances}.values()]

    def _support(self, instance: Instance) -> int:
        support = instance.guard.support | instance.cut.support
        for number, value in instance.effect.items():
            support |= value.support | self.ground.layout.cells[number].mask
        return support

    def _fires(self, instance: Instance) -> tuple[Ground, Ground]:
        terms = self.ground.terms
        return (terms.conjoin((instance.guard, terms.negate(instance.cut))),
                terms.conjoin((instance.guard, instance.cut)))

    def _group(self, mask: int, members: list[Instance]) -> Group:
        batch = Batch(spread(mask, self.words))
        changes = [np.zeros((len(batch), len(members)), np.uint64) for _ in range(self.words)]
        fires, cut = (np.zeros((len(batch), len(members)), np.bool_) for _ in range(2))
        for column, instance in enumerate(members):
            fired, left = self._fires(instance)
            fires[:, column], cut[:, column] = batch.truth(fired), batch.truth(left)
            single = self._single(instance, plain=True)
            for word, after in enumerate(_apply(single, batch)):
                changes[word][:, column] = np.where(fires[:, column], after ^ batch.words[0][word], np.uint64(0))
        moves: Bools = np.logical_or.reduce([change != 0 for change in changes])
        return Group(mask, members, changes, fires, cut, moves,
                     np.logical_or.reduce(fires | cut, axis=1), np.zeros(len(batch), np.int64))

    def _single(self, instance: Instance, *, plain: bool = False) -> Single:
        cells = self.ground.layout.cells
        keep = [(1 << 64) - 1] * self.words
        values = []
        for number, value in instance.effect.items():
            cell = cells[number]
            word, shift = divmod(cell.position, 64)
            keep[word] &= ~(cell.mask >> 64 * word)
            if value.op != "const" or value.data:
                values.append((word, np.uint64(shift), value if plain else self.tables.rewrite(value)))
        fires, cut = self._fires(instance)
        if not plain:
            fires, cut = self.tables.rewrite(fires), self.tables.rewrite(cut)
        return Single(instance, fires, cut, [np.uint64(bits) for bits in keep], values)

    def moves(self, batch: Batch, tally: Tally) -> Iterator[Moves]:
        """The successors of a batch, one group or instance after the other; what fires is added to the tally."""
        states = batch.words[0]
        for group in self.groups:
            index = batch.index(group.mask)
            tally.seen.append(np.bincount(index, minlength=len(group.some)))
            size = 8 * len(group.instances) * len(index)
            with ExitStack() as borrowed:
                rooms = [borrowed.enter_context(self._buffers.lent(size)).view(np.uint64) for _ in states]
                yield Moves([_rows(*one, index) for one in zip(rooms, group.changes, states, strict=True)],
                            partial(_moving, group, index))
        for single in self.singles:
            fired, left = self._fired(single, batch)
            tally.singles.append((len(fired), left))
            if len(fired):
                yield Moves(_apply(single, batch, fired))

    @staticmethod
    def _fired(single: Single, batch: Batch) -> tuple[NDArray[np.int64], int]:
        """The rows in which an instance makes a step, and how many there are in which it leaves the scope."""
        rows = np.flatnonzero(batch.truth(single.fires))
        if single.cut.op == "const" and not single.cut.data:
            return rows, 0
        return rows, int(np.count_nonzero(batch.truth(single.cut)))

    def count(self, tally: Tally) -> None:
        """Count what fired in a batch."""
        for group, seen in zip(self.groups, tally.seen, strict=True):
            group.seen += seen
        for single, (fired, left) in zip(self.singles, tally.singles, strict=True):
            single.fired += fired
            single.left += left

    def stuck(self, batch: Batch) -> NDArray[np.int64]:
        """Rows of the states in which nothing is enabled."""
        moved = np.zeros(len(batch), np.bool_)
        for group in self.groups:
            moved |= group.some.take(batch.index(group.mask))
            if moved.all():
                return np.zeros(0, np.int64)
        for single in self.singles:
            moved |= batch.truth(single.fires) | batch.truth(single.cut)
            if moved.all():
                return np.zeros(0, np.int64)
        return np.flatnonzero(np.logical_not(moved))

    def edges(self, batch: Batch) -> Iterator[Edges]:
        """All steps from the states of a batch, self-loops included."""
        for group in self.groups:
            index = batch.index(group.mask)
            rows, columns = np.nonzero(group.fires.take(index, axis=0))
            numbers = np.array([i.number for i in group.instances], np.int64)
            at = index.take(rows)
            yield Edges(rows, numbers.take(columns), [
                state.take(rows) ^ change[at, columns]
                for state, change in zip(batch.words[0], group.changes, strict=True)])
        for single in self.singles:
            rows = np.flatnonzero(batch.truth(single.fires))
            yield Edges(rows, np.full(len(rows), single.instance.number), _apply(single, batch, rows))

    def after(self, instance: Instance, state: int) -> int:
        """The state after an instance that is enabled."""
        for edges in self.edges(Batch(words([state], self.words))):
            for place in np.flatnonzero(edges.instances == instance.number):
                return sum(int(word[place]) << 64 * i for i, word in enumerate(edges.after))
        raise LookupError("the instance makes no step there")

    def firings(self) -> tuple[dict[str, int], dict[str, int]]:
        """How often each action made a step, and left the scope: what was counted, and `earlier`."""
        names = dict.fromkeys(i.action.name for i in self.instances)
        fired, left = ({name: counts.get(name, 0) for name in names} for counts in self.earlier)
        for group in self.groups:
            for column, instance in enumerate(group.instances):
                fired[instance.action.name] += int(group.seen @ group.fires[:, column].astype(np.int64))
                left[instance.action.name] += int(group.seen @ group.cut[:, column].astype(np.int64))
        for single in self.singles:
            fired[single.instance.action.name] += single.fired
            left[single.instance.action.name] += single.left
        return fired, left


def _rows(room: Word, change: NDArray[np.uint64], states: Word, index: NDArray[np.int64]) -> Word:
    """One word of the states after each instance of a group, state by state."""
    rows = room.reshape(len(index), -1)
    np.take(change, index, axis=0, out=rows, mode="clip")  # any other mode takes through a copy
    rows ^= states[:, None]
    return room


def _moving(group: Group, index: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.flatnonzero(group.moves.take(index, axis=0))


def _apply(single: Single, batch: Batch, rows: NDArray[np.int64] | None = None) -> list[Word]:
    """The states after an instance, of some rows or of all."""
    states = batch.words[0]
    after = [(state if rows is None else state.take(rows)) & keep
             for state, keep in zip(states, single.keep, strict=True)]
    for word, shift, term in single.values:
        value = batch.value(term)
        if isinstance(value, np.ndarray):
            after[word] |= (value if rows is None else value.take(rows)).astype(np.uint64) << shift
        else:
            after[word] |= np.uint64(int(value)) << shift
    return after

