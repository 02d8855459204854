"""The checks over Arrow batches: numpy clears what is ordinary, and the checks themselves judge the rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from invariants.histories import messages, sequences
from invariants.histories.checks import Told
from invariants.histories.context import Context
from invariants.histories.judging import Follower, follower_of
from invariants.histories.operations import (
    ACKNOWLEDGED,
    COMMITTED,
    CONSUMED,
    DELIVERED,
    SEND,
    TYPES,
    Operation,
)
from spark_fuzz.histories.hashes import hashed

SUBJECT = "subject"
"""The column of a hash that brings together what is judged together."""
_GROUPS = 62  # bits of a mask
_PAIRS = 3  # a send and two deliveries: more is judged one by one
_FEW = 64  # operations of a client that are not worth a look by numpy
MOST_ROWS = 1 << 20
"""So many rows are settled at once at most."""


class Bits:
    """A bit for each group, and of a queue the bits of the groups that have committed something of it."""

    def __init__(self, context: Context) -> None:
        """Number the groups of a history."""
        groups = sorted({group for group, _ in context.committed} | {one.group or "" for one in context.owners})
        filtered = {one.group or "" for one in context.owners if one.tags is not None}
        self.is_known = len(groups) <= _GROUPS
        group = {name: 1 << at for at, name in enumerate(groups[:_GROUPS])}
        self.group = {name: bit for name, bit in group.items() if name not in filtered}
        self.queue = {queue: sum(group.get(name, 0) for name in context.groups(queue))
                      for _, queue in context.committed}


class Columns(NamedTuple):
    """What decides whether messages are ordinary, as arrays of one length.

    kind -- a number of KINDS, or 0. bit -- of the group, 0 where its members have to be asked what they subscribe.
    needs -- bits of the groups that have committed something of the queue. process, group, queue -- numbers of names.
    strange -- whether a row has what ordinary messages have not.
    """

    subject: Any
    kind: Any
    bit: Any
    needs: Any
    process: Any
    group: Any
    queue: Any
    offset: Any
    seq: Any
    time_ms: Any
    strange: Any

    def at(self, rows: Any) -> Columns:
        """The same of some rows, in their order."""
        return Columns(*(one[rows] for one in self))


_KINDS = {SEND: 1, ACKNOWLEDGED: 2, DELIVERED: 3, CONSUMED: 4}


def columns(batch: Any, bits: Bits) -> Columns:
    """The columns of operations on messages; the subject is their message."""
    process, group, queue = (codes(batch, name) for name in ("process", "group", "queue"))
    offset, seq, time_ms = (numbers(batch, name) for name in ("offset", "seq", "time_ms"))
    return Columns(
        hashed(batch.column("message")), coded(batch, "kind", _KINDS), coded(batch, "group", bits.group),
        coded(batch, "queue", bits.queue), process, group, queue, offset, seq, time_ms, _strange(batch))


def _strange(batch: Any) -> Any:
    """Rows with a field that ordinary messages have not, or an acknowledgement that does not say where."""
    found = np.asarray(pc.and_(pc.equal(batch.column("kind"), ACKNOWLEDGED),
                               pc.or_(pc.is_null(batch.column("queue")), pc.is_null(batch.column("offset")))))
    for name in ("half", "delay_ms", "attempt"):
        column = batch.column(name)
        if column.null_count < batch.num_rows:
            found = found | np.asarray(pc.not_equal(column, TYPES[name]()).fill_null(False))
    return found


def settled(given: Columns, bits: Bits, order: Any) -> tuple[Any, Any]:
    """The subjects of messages that are ordinary as far as they are here, and the rows of all others.

    order -- rows in an order that brings the subjects together.
    """
    some = given.at(order)
    starts = begins(some.subject)
    plain = _plain(some, starts, bits) if len(order) else np.zeros(0, bool)
    return some.subject[starts[plain]], order[~np.repeat(plain, np.diff(np.r_[starts, len(order)]))]


def as_they_stand(given: Columns) -> Any:
    """An order for `settled` that keeps the rows of a subject in theirs, by one sort of MOST_ROWS numbers at most."""
    low = np.uint64(MOST_ROWS - 1)
    place = np.arange(len(given.subject), dtype=np.uint64)
    return (np.sort((given.subject & ~low) | place) & low).astype(np.int64)


def by_place(given: Columns, rows: Any) -> Any:
    """An order of rows for `settled`: what members of one group have done with a message stands together."""
    some = given.at(rows)
    return rows[np.lexsort((some.seq, some.offset, some.queue, some.process, some.group, some.subject))]


def begins(subject: Any) -> Any:
    """The first row of each subject, where equal ones stand together."""
    return np.flatnonzero(np.r_[True, subject[1:] != subject[:-1]]) if len(subject) else np.zeros(0, np.int64)


def _plain(given: Columns, starts: Any, bits: Bits) -> Any:
    """Whether each message is ordinary: sent, acknowledged, delivered and consumed once by each group that owes it."""
    count = len(given.subject)
    if not bits.is_known:
        return np.zeros(len(starts), bool)
    length = np.diff(np.r_[starts, count])
    first = np.repeat(starts, length)
    at = np.arange(count) - first
    after = np.minimum(np.arange(count) + 1, count - 1)
    before = np.maximum(np.arange(count) - 2, 0)
    kind, bit, process = given.kind, given.bit, given.process

    def same(values: Any) -> Any:
        return values == values[after]

    sent = (at == 0) & (kind == 1) & (kind[after] == 2)  # noqa: PLR2004 - the codes above
    taken = ((at > 0) & (kind == 3) & (kind[after] == 4) & (bit > 0) & same(bit) & same(given.queue)  # noqa: PLR2004 - same
             & same(given.offset) & (bit != bit[before]) & (process != process[before]) & (process != process[first]))
    fits = (sent | taken) & same(process) & (given.seq < given.seq[after]) & (given.time_ms <= given.time_ms[after])
    strange = given.strange | ((at % 2 == 0) & ~fits)
    has = np.add.reduceat(np.where(kind == 3, bit, 0), starts)  # noqa: PLR2004 - same
    wanted = np.add.reduceat(np.where(kind == 2, given.needs, 0), starts)  # noqa: PLR2004 - same
    return (~np.logical_or.reduceat(strange, starts) & (length % 2 == 0) & (length <= 2 * _PAIRS)
            & ((has & wanted) == wanted))


def messages_pass(batch: Any, left_out: Any, context: Context) -> Iterator[Told]:
    """Judges messages that are whole in a batch, but those with the subjects that are left out."""
    bits = Bits(context)
    given = columns(batch, bits)
    _, rows = settled(given, bits, by_place(given, np.flatnonzero(~np.isin(given.subject, left_out))))
    of: dict[str, list[Operation]] = defaultdict(list)
    for one in operations(batch.take(pa.array(rows))):
        of[one.message or ""].append(one)
    for message in of.values():
        yield from messages.judged(message, context)


def followed_pass(context: Context) -> Callable[[Iterator[Any]], Iterator[Told]]:
    """Follows clients, from batches that are sorted by subject and number."""
    orderly = sequences.orderly(context)

    def judged(batches: Iterator[Any]) -> Iterator[Told]:
        followers: dict[tuple[str, ...], Follower] = {}
        last: int | None = None
        for batch in batches:
            subject = numbers(batch, SUBJECT)
            starts = begins(subject)
            for begin, end in zip(starts, [*starts[1:], len(subject)], strict=True):
                if subject[begin] != last:
                    followers.clear()
                last = subject[begin]
                for one in _telling(batch.slice(begin, end - begin), followers, context):
                    whom = sequences.is_followed(one, orderly)
                    if whom is not None:
                        follower = followers.setdefault(whom, follower_of(whom, context))
                        yield from follower.take(one)

    return judged


def _telling(rows: Any, followers: dict[tuple[str, ...], Follower], context: Context) -> Iterator[Operation]:
    """Of the operations of one client those that the checks must see: all, or of a member at a queue a few."""
    kind, seq = coded(rows, "kind", {COMMITTED: 1, DELIVERED: 2, CONSUMED: 3}), numbers(rows, "seq")
    names = [codes(rows, name) for name in ("process", "group", "queue")]
    one_member = len(followers) <= 1 and kind.all() and all(name.min() == name.max() for name in names)
    if len(seq) < _FEW or not one_member or (np.diff(seq) <= 0).any():
        yield from operations(rows)
        return
    first = next(operations(rows.slice(0, 1)))
    changes = context.changes(first.process, first.group or "", first.queue or "")
    cuts = np.unique(np.r_[0, np.searchsorted(seq, changes), len(seq)])
    offset = numbers(rows, "offset")
    for begin, end in pairwise(cuts.tolist()):
        kept = context.last_change(first.process, first.group or "", first.queue or "", int(seq[begin]))
        state = next((one for one in followers.values() if isinstance(one, sequences.Member) and one.kept == kept),
                     sequences.Member(context))
        few = begin + _few(kind[begin:end], offset[begin:end], state)
        yield from operations(rows.take(pa.array(few, pa.int64())))


def _few(kind: Any, offset: Any, state: sequences.Member) -> Any:
    """Rows of a member that show what goes back, and those that the next rows are compared with.

    kind -- 1 committed, 2 delivered, 3 consumed; while the member keeps the queue.
    """
    delivered, further = _highest(offset, kind == 2, state.delivered)  # noqa: PLR2004 - see above
    before = -1 if state.consumed is None else state.consumed.offset or 0
    highest, higher = _highest(offset, (kind == 3) & (offset <= delivered), before)  # noqa: PLR2004 - same
    back = np.flatnonzero((kind == 2) & (offset < highest))  # noqa: PLR2004 - same
    shown = np.searchsorted(higher, back) - 1
    ended = np.r_[higher[shown[shown >= 0]], higher[-1:]]
    begun: Any = np.searchsorted(further, ended) - 1
    commits = np.flatnonzero(kind == 1)
    less = np.flatnonzero(np.diff(offset[commits]) < 0)
    return np.unique(np.concatenate([back, ended, further[begun[begun >= 0]], further[-1:],
                                     commits[:1], commits[less], commits[less + 1], commits[-1:]]))


def _highest(offset: Any, of: Any, before: int) -> tuple[Any, Any]:
    """At each row the highest offset of some so far, and the rows at which it rises."""
    highest = np.maximum(np.maximum.accumulate(np.where(of, offset, -1)), before)
    return highest, np.flatnonzero(np.diff(highest, prepend=before) > 0)


def operations(batch: Any) -> Iterator[Operation]:
    """The operations of a batch."""
    names = [name for name in batch.schema.names if name in TYPES]
    for row in batch.select(names).to_pylist():
        yield Operation(**row)


def numbers(batch: Any, name: str) -> Any:
    """A column of numbers; -1 where there is none."""
    column = batch.column(name)
    return np.asarray(column.fill_null(-1) if column.null_count else column)


def codes(batch: Any, name: str) -> Any:
    """A column of names as numbers, of which equal names have equal ones; -1 where there is none."""
    return np.asarray(pc.dictionary_encode(batch.column(name)).indices.fill_null(-1))


def coded(batch: Any, name: str, code: dict[str, int]) -> Any:
    """A column of names as their codes; 0 for others and none."""
    encoded = pc.dictionary_encode(batch.column(name))
    codes = np.array([*(code.get(one, 0) for one in encoded.dictionary.to_pylist()), 0], np.int64)
    return codes[np.asarray(encoded.indices.fill_null(len(codes) - 1))]
