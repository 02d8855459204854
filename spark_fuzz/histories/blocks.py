"""Blocks of rows that pieces of a history pass on: what is whole in a piece is settled there.

A block of messages goes to a partition by the hash of their ids. A block of clients stands in its partition by client
and number, so that a client is followed through blocks that come one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from invariants.histories import sequences
from invariants.histories.checks import Told
from invariants.histories.context import Context
from invariants.histories.operations import COMMITTED, CONSUMED, DELIVERED, OF_MESSAGES, OF_SENDS
from spark_fuzz.histories.facts import good
from spark_fuzz.histories.files import CutError
from spark_fuzz.histories.hashes import hashed, mixed
from spark_fuzz.histories.passes import (
    MOST_ROWS,
    SUBJECT,
    Bits,
    as_they_stand,
    begins,
    by_place,
    coded,
    columns,
    followed_pass,
    messages_pass,
    numbers,
    settled,
)
from spark_fuzz.histories.pieces import Piece, chunks, joined

_BLOCK_ROWS = 1 << 16
_MANY = 1 << 12  # operations of a client in a chunk that are blocks of their own


class Key(NamedTuple):
    """Where a block goes: a partition, and its place there."""

    partition: int
    subject: int = 0
    seq: int = 0


class Block(NamedTuple):
    """What a piece passes on.

    settled -- subjects of messages that are whole and ordinary unless somebody else has met them too. rows -- an Arrow
    stream.
    """

    settled: bytes
    rows: bytes


class Torn(NamedTuple):
    """Subjects of messages that one piece took for whole, and another has met too."""

    subjects: bytes


def blocks(piece: Piece, context: Context, partitions: int, torn: Any = None) -> Iterator[tuple[Key, Block]]:
    """What a piece passes on to so many partitions for messages, and as many behind them for clients.

    torn -- subjects: only the rows of these messages are passed on.
    """
    with suppress(CutError):  # the facts say so
        for _, rows in chunks(piece, MOST_ROWS):
            is_good = good(rows)
            given = rows if is_good.all() else rows.filter(pa.array(is_good))
            yield from _of_messages(given, Bits(context), partitions, torn)
            if torn is None:
                yield from _of_clients(given, sequences.orderly(context), partitions)


def _of_messages(rows: Any, bits: Bits, partitions: int, torn: Any) -> Iterator[tuple[Key, Block]]:
    mine = np.flatnonzero(coded(rows, "kind", dict.fromkeys(OF_MESSAGES, 1)))
    if not len(mine):
        return
    if torn is None:
        given = columns(rows, bits).at(mine)
        whole, left = settled(given, bits, as_they_stand(given))
        more, left = settled(given, bits, by_place(given, left))
        whole, subject = np.r_[whole, more], given.subject[left]
    else:
        subject = hashed(rows.column("message"))[mine]
        left = np.flatnonzero(np.isin(subject, torn))
        whole, subject = np.zeros(0, np.uint64), subject[left]
    left = mine[left]
    to, left_to = whole % np.uint64(partitions), subject % np.uint64(partitions)
    for partition in range(partitions):
        passed, some = whole[to == partition], left[left_to == partition]
        if len(passed) or len(some):
            yield Key(partition), Block(passed.tobytes(), packed(rows.take(pa.array(some))) if len(some) else b"")


def _of_clients(rows: Any, orderly: frozenset[str], partitions: int) -> Iterator[tuple[Key, Block]]:
    of_member, of_key = _followed(rows, orderly)
    mine = np.flatnonzero(of_member | of_key)
    if not len(mine):
        return
    rows, of_key = rows.take(pa.array(mine)), of_key[mine]
    process, group, queue, key = (hashed(rows.column(name)) for name in ("process", "group", "queue", "key"))
    subject = mixed(np.where(of_key, key, mixed(group, queue)), process)
    to, seq = subject % np.uint64(partitions), numbers(rows, "seq")
    order = np.lexsort((seq, subject, to))
    rows, subject, to, seq = (*(rows.take(pa.array(order)),), subject[order], to[order], seq[order])
    rows = rows.append_column(SUBJECT, pa.array(subject))
    for begin, end in _runs(subject, to):
        yield Key(partitions + int(to[begin]), int(subject[begin]), int(seq[begin])), Block(
            b"", packed(rows.slice(begin, end - begin)))


def _followed(rows: Any, orderly: frozenset[str]) -> tuple[Any, Any]:
    """`sequences.is_followed` for each row: whether with a member, whether with a key."""
    kind = coded(rows, "kind", {COMMITTED: 1, DELIVERED: 2, CONSUMED: 2, **dict.fromkeys(OF_SENDS, 3)})
    consumes = coded(rows, "group", dict.fromkeys(orderly, 1))
    has_key = np.asarray(rows.column("key").is_valid())
    return (kind == 1) | ((kind == 2) & (consumes == 1)), (kind == 3) & has_key  # noqa: PLR2004 - the codes above


def _runs(subject: Any, to: Any) -> Iterator[tuple[int, int]]:
    """First and last row of each block: a client with much is blocks of its own, others of a partition share one."""
    starts = begins(subject)
    length = np.diff(np.r_[starts, len(subject)])
    alone = length >= _MANY
    first = np.r_[True, alone[1:] | alone[:-1] | (to[starts[1:]] != to[starts[:-1]])]
    heads = starts[first]
    for begin, end in zip(heads, np.r_[heads[1:], len(subject)], strict=True):
        for at in range(begin, end, _BLOCK_ROWS):
            yield at, min(at + _BLOCK_ROWS, end)


def packed(rows: Any) -> bytes:
    """Rows as an Arrow stream, without columns that have nothing."""
    kept = rows.select([one for one in rows.schema.names if rows.column(one).null_count < rows.num_rows])
    to = pa.BufferOutputStream()
    with pa.ipc.new_stream(to, kept.schema) as stream:
        stream.write_batch(kept)
    return bytes(to.getvalue())


def told(partition: Iterator[tuple[Key, Block]], context: Context, partitions: int) -> Iterator[Told | Torn]:
    """What is to be said of the blocks of a partition, which stand by their keys."""
    first = next(partition, None)
    if first is None:
        return
    if first[0].partition < partitions:
        yield from _told_of_messages([first[1], *(block for _, block in partition)], context)
    else:
        yield from followed_pass(context)(_in_order(first, partition))


def _told_of_messages(given: list[Block], context: Context) -> Iterator[Told | Torn]:
    whole = np.sort(np.frombuffer(b"".join(block.settled for block in given), np.uint64))
    twice = whole[1:][whole[1:] == whole[:-1]]
    batches = [batch for block in given if block.rows for batch in pa.ipc.open_stream(block.rows)]
    rows = joined(batches) if batches else None
    met = np.zeros(0, np.uint64) if rows is None else np.unique(hashed(rows.column("message")))
    torn = np.unique(np.r_[twice, met[np.isin(met, whole)]])
    if len(torn):
        yield Torn(torn.tobytes())
    if rows is not None:
        yield from messages_pass(rows, torn, context)


def _in_order(first: tuple[Key, Block], others: Iterator[tuple[Key, Block]]) -> Iterator[Any]:
    """Batches of all rows by subject and number: rows wait only for blocks that begin before them."""
    waiting = _rows(first[1])
    for key, block in others:
        subject, seq = numbers(waiting, SUBJECT), numbers(waiting, "seq")
        over = int(np.searchsorted(subject, np.uint64(key.subject)))
        of_same = int(np.searchsorted(subject, np.uint64(key.subject), "right"))
        over += int(np.searchsorted(seq[over:of_same], key.seq))
        if over:
            yield waiting.slice(0, over)
        waiting = _rows(block, waiting.slice(over))
    yield waiting


def _rows(block: Block, waiting: Any = None) -> Any:
    batches = list(pa.ipc.open_stream(block.rows))
    if waiting is None or not waiting.num_rows:
        return joined(batches)
    rows = joined([waiting, *batches])
    return rows.take(pa.array(np.lexsort((numbers(rows, "seq"), numbers(rows, SUBJECT)))))
