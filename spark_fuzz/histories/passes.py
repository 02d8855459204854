"""The checks over sorted Arrow batches: numpy clears what is ordinary, and the checks themselves judge the rest.

A batch is held, and what follows the last message or client that is whole: never a queue.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

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

SUBJECT = "subject"
"""The column of a hash that brings together what is judged together."""
_GROUPS = 62  # bits of a mask
_PAIRS = 3  # a send and two deliveries: more is judged one by one
Pass = Callable[[Iterator[Any]], Iterator[Told]]


def messages_pass(context: Context) -> Pass:
    """Judges messages, from batches that are sorted by subject, group, process, queue, offset and number."""
    filtered = {one.group for one in context.owners if one.tags is not None}

    def judged(batches: Iterator[Any]) -> Iterator[Told]:
        bits = _Bits(context)
        for batch in _whole(batches):
            subject = _numbers(batch, SUBJECT)
            starts = np.flatnonzero(np.r_[True, subject[1:] != subject[:-1]])
            plain = _plain(batch, starts, bits, filtered)
            rows = np.flatnonzero(~np.repeat(plain, np.diff(np.r_[starts, len(subject)])))
            of: dict[str, list[Operation]] = defaultdict(list)
            for one in operations(batch.take(pa.array(rows))) if len(rows) else ():
                of[one.message or ""].append(one)
            for message in of.values():
                yield from messages.judged(message, context)

    return judged


def _whole(batches: Iterator[Any]) -> Iterator[Any]:
    """Batches in which no subject is cut: the last one of each waits for the next."""
    waiting: Any = None
    for batch in batches:
        table = pa.Table.from_batches([batch] if waiting is None else [waiting, batch]).combine_chunks()
        whole = table.to_batches()[0] if table.num_rows else None
        if whole is None:
            continue
        subject = _numbers(whole, SUBJECT)
        cut = int(np.searchsorted(subject, subject[-1]))
        waiting = whole.slice(cut)
        if cut:
            yield whole.slice(0, cut)
    if waiting is not None:
        yield waiting


class _Bits:
    """A bit for each group, and of a queue the bits of the groups that have committed something of it."""

    def __init__(self, context: Context) -> None:
        groups = sorted({group for group, _ in context.committed} | {one.group or "" for one in context.owners})
        self.group = {name: 1 << at for at, name in enumerate(groups[:_GROUPS])}
        self.is_known = len(groups) <= _GROUPS
        self.queue = {queue: sum(self.group.get(group, 0) for group in context.groups(queue))
                      for _, queue in context.committed}


def _plain(batch: Any, starts: Any, bits: _Bits, filtered: set[str | None]) -> Any:
    """Whether each message is ordinary: sent, acknowledged, delivered and consumed once by each group that owes it."""
    count = batch.num_rows
    if not bits.is_known:
        return np.zeros(len(starts), bool)
    kind = _coded(batch, "kind", {SEND: 1, ACKNOWLEDGED: 2, DELIVERED: 3, CONSUMED: 4})
    group = _coded(batch, "group", {name: bit for name, bit in bits.group.items() if name not in filtered})
    needs = _coded(batch, "queue", bits.queue)
    process, queue = _codes(batch, "process"), _codes(batch, "queue")
    offset, seq, time_ms = (_numbers(batch, name) for name in ("offset", "seq", "time_ms"))
    length = np.diff(np.r_[starts, count])
    first = np.repeat(starts, length)
    at = np.arange(count) - first
    after = np.minimum(np.arange(count) + 1, count - 1)
    before = np.maximum(np.arange(count) - 2, 0)

    def same(values: Any) -> Any:
        return values == values[after]

    sent = (at == 0) & (kind == 1) & (kind[after] == 2)  # noqa: PLR2004 - the codes above
    taken = ((at > 0) & (kind == 3) & (kind[after] == 4) & (group > 0) & same(group) & same(queue)  # noqa: PLR2004 - same
             & same(offset) & (group != group[before]) & (process != process[before]) & (process != process[first]))
    fits = (sent | taken) & same(process) & (seq < seq[after]) & (time_ms <= time_ms[after])
    strange = _strange(batch) | ((at % 2 == 0) & ~fits)
    has = np.add.reduceat(np.where(kind == 3, group, 0), starts)  # noqa: PLR2004 - same
    wanted = np.add.reduceat(np.where(kind == 2, needs, 0), starts)  # noqa: PLR2004 - same
    return (~np.logical_or.reduceat(strange, starts) & (length % 2 == 0) & (length <= 2 * _PAIRS)
            & ((has & wanted) == wanted))


def _strange(batch: Any) -> Any:
    """Rows with a field that ordinary messages have not, or an acknowledgement that does not say where."""
    found = np.zeros(batch.num_rows, bool)
    for name in ("half", "delay_ms", "attempt", "clock"):
        column = batch.column(name)
        if column.null_count < batch.num_rows:
            found |= np.asarray(pc.is_valid(column))
    unplaced = pc.and_(pc.equal(batch.column("kind"), ACKNOWLEDGED),
                       pc.or_(pc.is_null(batch.column("queue")), pc.is_null(batch.column("offset"))))
    return found | np.asarray(unplaced)


def followed_pass(context: Context) -> Pass:
    """Follows clients, from batches that are sorted by subject and number."""
    orderly = sequences.orderly(context)

    def judged(batches: Iterator[Any]) -> Iterator[Told]:
        followers: dict[tuple[str, ...], Follower] = {}
        last: int | None = None
        for batch in batches:
            subject = _numbers(batch, SUBJECT)
            starts: Any = np.flatnonzero(np.r_[True, subject[1:] != subject[:-1]]) if len(subject) else []
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
    """Of the operations of one client those that the checks must see: all, or where nothing goes back, a few."""
    few = [0, rows.num_rows - 1]
    ends = list(operations(rows.take(pa.array(few))))
    names = {(one.process, one.group, one.queue) for one in ends}
    follower = next(iter(followers.values()), None)
    kind = _coded(rows, "kind", {COMMITTED: 1, DELIVERED: 2, CONSUMED: 3})
    uniform = len(names) == 1 and all(len(np.unique(_codes(rows, name))) == 1 for name in ("process", "group", "queue"))
    if not uniform or len(followers) > 1 or (kind == 0).any() or isinstance(follower, sequences.Key):
        yield from operations(rows)
        return
    offset, seq = _numbers(rows, "offset"), _numbers(rows, "seq")
    known = follower if isinstance(follower, sequences.Member) else sequences.Member(context)
    highest = np.maximum.accumulate(np.where(kind == 3, offset, -1))  # noqa: PLR2004 - the codes above
    if known.consumed is not None:
        highest = np.maximum(highest, known.consumed.offset or 0)
    commits = np.flatnonzero(kind == 1)
    committed = offset[commits] if known.committed is None else np.r_[known.committed.offset or 0, offset[commits]]
    if ((kind == 2) & (offset < highest)).any() or (np.diff(committed) < 0).any() or (np.diff(seq) <= 0).any():  # noqa: PLR2004 - same
        yield from operations(rows)
        return
    end = ends[0]
    since = context.last_change(end.process, end.group or "", end.queue or "", int(seq[-1]))
    kept = int(np.searchsorted(seq, since))
    consumed = np.where(kind[kept:] == 3, offset[kept:], -1)  # noqa: PLR2004 - same
    few = sorted({*commits[:1], *commits[-1:], *([kept + int(consumed.argmax())] if len(consumed) else [])})
    yield from operations(rows.take(pa.array(few, pa.int64())))


def operations(batch: Any) -> Iterator[Operation]:
    """The operations of a batch."""
    names = [name for name in batch.schema.names if name in TYPES]
    for row in batch.select(names).to_pylist():
        yield Operation(**row)


def _numbers(batch: Any, name: str) -> Any:
    """A column of numbers; -1 where there is none."""
    column = batch.column(name)
    return np.asarray(column.fill_null(-1) if column.null_count else column)


def _codes(batch: Any, name: str) -> Any:
    """A column of names as numbers, of which equal names have equal ones; -1 where there is none."""
    return np.asarray(pc.dictionary_encode(batch.column(name)).indices.fill_null(-1))


def _coded(batch: Any, name: str, code: dict[str, int]) -> Any:
    """A column of names as their codes; 0 for others and none."""
    encoded = pc.dictionary_encode(batch.column(name))
    codes = np.array([*(code.get(one, 0) for one in encoded.dictionary.to_pylist()), 0], np.int64)
    return codes[np.asarray(encoded.indices.fill_null(len(codes) - 1))]
