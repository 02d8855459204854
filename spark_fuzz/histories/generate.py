"""A history of any size, with known faults at known places; written as a stream."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from invariants.verdict import known
from spark_fuzz.histories.files import SCHEMA, Writer
from spark_fuzz.histories.made import (
    BLOCK_MS,
    FAULTS,
    MESSAGES,
    PRODUCERS,
    QUEUES,
    ROOM,
    STRIDE,
    USUAL,
    Block,
    group_of,
    member_of,
    prologue,
    queue_name,
)

ROWS = 4 * MESSAGES
"""Operations of the ordinary messages of a block: send, acknowledged, delivered, consumed."""
UNUSUAL, PLANTED = 10, 100
"""One block in so many has something unusual, and one in so many each fault; at least one has."""
_WIDE = 64  # blocks of a batch

Planted = tuple[str, str, int]
"""A fault, and the process and number of the operation that shows it."""


def written(path: Path, operations: int, faults: Sequence[str], seed: int) -> tuple[int, list[Planted]]:
    """Write a history of at least so many operations; how many it has, and what is planted in it.

    The places of its faults are written beside it, one JSON object a line. Raises BadInputError.
    """
    for fault in faults:
        known("fault", fault, FAULTS)
    blocks = max(1, -(-operations // (ROWS + 1)))
    planned = plan(blocks, faults, seed)
    planted: list[Planted] = []
    to = Writer(path)
    to.operations(prologue())
    for at in range(0, blocks, _WIDE):
        for numbers in _stretches(range(at, min(at + _WIDE, blocks)), planned):
            if isinstance(numbers, int):
                block = unusual(numbers, planned[numbers])
                to.batch(ordinary(range(numbers, numbers + 1), commits=False))
                to.operations(block.rows)
                planted += block.planted
            else:
                to.batch(ordinary(numbers))
    to.close()
    with places_of(path).open("w", encoding="utf-8") as places:
        for fault, process, seq in planted:
            places.write(json.dumps({"fault": fault, "process": process, "seq": seq}) + "\n")
    return to.rows, planted


def places_of(path: Path) -> Path:
    """The file with the places of the faults of a history."""
    return path.with_name(f"{path.name}.faults")


def plan(blocks: int, faults: Sequence[str], seed: int) -> dict[int, list[str]]:
    """What is unusual in which block."""
    chance = random.Random(seed)  # noqa: S311 - a history, no secret
    planned: dict[int, list[str]] = {}
    for fault in sorted(set(faults)):
        for number in chance.sample(range(blocks), max(1, blocks // PLANTED)):
            planned.setdefault(number, []).append(fault)
    for number in range(0, blocks, UNUSUAL):
        planned.setdefault(number + chance.randrange(min(UNUSUAL, blocks - number)), []).append(
            USUAL[(number // UNUSUAL + seed) % len(USUAL)].__name__)
    return planned


def unusual(number: int, names: Sequence[str]) -> Block:
    """The end of a block: what is unusual in it, and its commit."""
    by_name = {**FAULTS, **{one.__name__: one for one in USUAL}}
    first = number // QUEUES * (MESSAGES + ROOM * 4)
    block = Block(number, (number + 1) * STRIDE + ROWS, first + MESSAGES, number * BLOCK_MS + ROWS)
    for name in names:
        by_name[name](block)
    block.add("committed", member_of(block.queue), group=group_of(block.queue), queue=queue_name(block.queue),
              offset=block.offset)
    return block


def _stretches(numbers: range, planned: dict[int, list[str]]) -> Iterator[range | int]:
    """Stretches of ordinary blocks, and single blocks with something unusual."""
    begin = numbers.start
    for number in numbers:
        if number in planned:
            if begin < number:
                yield range(begin, number)
            yield number
            begin = number + 1
    if begin < numbers.stop:
        yield range(begin, numbers.stop)


def ordinary(numbers: range, *, commits: bool = True) -> Any:
    """The record batch of ordinary blocks; commits -- with the commit at the end of each."""
    rows = ROWS + commits
    block, row = (axis.ravel() for axis in np.divmod(np.arange(len(numbers) * rows), rows))
    block = block + numbers.start
    step = np.where(row < ROWS, row % 4, 4)
    queue, at = block % QUEUES, row // 4
    base = block // QUEUES * (MESSAGES + ROOM * 4)
    of_member = step >= 2  # noqa: PLR2004 - delivered, consumed, committed
    columns = {
        "kind": _named(step, ("send", "acknowledged", "delivered", "consumed", "committed")),
        "process": _named(np.where(of_member, PRODUCERS + queue, block % PRODUCERS), (
            *(f"producer-{one}" for one in range(PRODUCERS)), *map(member_of, range(QUEUES)))),
        "seq": pa.array((block + 1) * STRIDE + row),
        "message": pc.binary_join_element_wise("m", pa.array(
            block * MESSAGES + at, mask=step == 4).cast(pa.string()), ""),  # noqa: PLR2004 - a commit has none
        "group": _named(queue, tuple(map(group_of, range(QUEUES))), ~of_member),
        "queue": _named(queue, tuple(map(queue_name, range(QUEUES))), step == 0),
        "offset": pa.array(base + at, mask=step == 0),
        "time_ms": pa.array(block * BLOCK_MS + row),
    }
    return pa.RecordBatch.from_arrays(
        [columns.get(one.name, pa.nulls(len(block), one.type)).cast(one.type) for one in SCHEMA], schema=SCHEMA)


def _named(codes: Any, names: tuple[str, ...], absent: Any = None) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int8), mask=absent), pa.array(names))

