"""The checks of a history on Spark: a look at each row for facts, and a shuffle of what no task can settle alone.

Spark passes bytes; all work on rows is done by Arrow and numpy in its Python workers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from invariants.histories import owners
from invariants.histories.checks import Told
from invariants.histories.context import Context
from invariants.histories.operations import SEND, Operation
from invariants.histories.verdicts import Tally
from invariants.verdict import BadInputError
from spark_fuzz.cluster import open_cluster
from spark_fuzz.histories.blocks import Block, Key, Torn, blocks, told
from spark_fuzz.histories.facts import Facts, facts
from spark_fuzz.histories.files import PARQUET, ROWS, Row, Writer, check_shape, parquet_file, parts, read
from spark_fuzz.histories.passes import MOST_ROWS
from spark_fuzz.histories.pieces import Piece, pieces

LEAST_ROWS = 1 << 16
"""A piece of a file has at least about so many rows, so that most messages are whole in one."""
ROWS_OF_A_PARTITION = 2_000_000
"""About so many operations fall to each partition of messages, settled ones with them."""


def told_on_spark(path: Path, agree_ms: int | None, master: str, tally: Tally, tell: Callable[[str], None],
                  ) -> Iterator[Told]:
    """All that is to be said of a history; the tally gets its bad rows. Raises BadInputError."""
    with tempfile.TemporaryDirectory(prefix="rocketproof-history-") as scratch:
        tell("reads")
        files = _as_parquet(path, Path(scratch), tally)
        with open_cluster(master) as cluster:
            yield from tally.take(judged(cluster.context, files, agree_ms, tally, tell), {}, str(path))


def _as_parquet(path: Path, scratch: Path, tally: Tally) -> list[str]:
    """The files of a history as Parquet files: others are written anew."""
    found: list[str] = []
    for number, file in enumerate(parts(path)):
        if file.suffix in PARQUET:
            check_shape(file, parquet_file(file).schema_arrow)
            found.append(str(file.absolute()))
            continue
        found.append(str(scratch / f"{number}.parquet"))
        to = Writer(Path(found[-1]))
        waiting: list[Operation] = []
        for row in read(file):
            _take(row, waiting, tally)
            if len(waiting) == ROWS:
                to.operations(waiting)
                waiting.clear()
        to.operations(waiting)
        to.close()
    return found


def _take(row: Row, waiting: list[Operation], tally: Tally) -> None:
    if row.operation is None:
        tally.complain(f"{row.where}: {row.complaint}")
    else:
        waiting.append(row.operation)


def judged(spark_context: Any, files: list[str], agree_ms: int | None, tally: Tally, tell: Callable[[str], None],
           ) -> Iterator[Told]:
    """What is said of Parquet files by the Spark of a context; the tally gets the rows that are no operations.

    files -- their names, as every executor finds them. agree_ms -- see `invariants.histories.judging`.
    """
    tell("looks for owners and commits")
    rows = sum(parquet_file(Path(file)).metadata.num_rows for file in files)
    cores = spark_context.defaultParallelism
    read = list(pieces(files, min(MOST_ROWS, max(LEAST_ROWS, rows // cores))))
    given = spark_context.parallelize(read, max(1, len(read)))
    context = _context(given.map(facts).collect(), agree_ms, tally)
    yield from owners.judged(context)
    tell("judges messages and follows clients")
    partitions = max(cores, -(-rows // ROWS_OF_A_PARTITION))
    torn = None
    while True:
        found = _told(given, context, partitions, torn)
        yield from (one for one in found if not isinstance(one, Torn))
        subjects = [one.subjects for one in found if isinstance(one, Torn)]
        if not subjects:
            return
        tell("judges messages that several tasks have met")
        torn = np.frombuffer(b"".join(subjects), np.uint64)


def _context(found: list[Facts], agree_ms: int | None, tally: Tally) -> Context:
    """What all tasks must know; the tally gets the rest. Raises BadInputError."""
    whole = Facts()
    for one in found:
        whole.add(one)
    tally.operations, tally.present = whole.operations, tally.present | whole.present
    for sentence in whole.sentences:
        tally.complain(sentence)
    tally.bad += whole.bad - len(whole.sentences)
    if not tally.operations:
        raise BadInputError(tally.sentences[0] if tally.sentences else "the history has no operation")
    return Context(whole.committed, SEND in whole.present, tuple(whole.owners), agree_ms)


def _told(given: Any, context: Context, partitions: int, torn: Any) -> list[Told | Torn]:
    """One shuffle: what pieces pass on, and what is said of it. torn -- see `blocks`."""
    known = given.context.broadcast((context, torn))

    def passed_on(piece: Piece) -> Iterator[tuple[Key, Block]]:
        return blocks(piece, known.value[0], partitions, known.value[1])

    def said(partition: Iterator[tuple[Key, Block]]) -> Iterator[Told | Torn]:
        return told(partition, known.value[0], partitions)

    shuffled = given.flatMap(passed_on).repartitionAndSortWithinPartitions(2 * partitions, lambda key: key[0])
    return list(shuffled.mapPartitions(said).collect())


def aggregated(spark_context: Any, file: Path) -> int:
    """How many messages a Parquet file has, each with its greatest offset: about the least that Spark does with it."""
    from pyspark.sql import SparkSession, functions as f  # noqa: PLC0415 - slow to import

    by_message = SparkSession(spark_context).read.parquet(str(file)).groupBy("message").agg(
        f.max("offset").alias("offset"))
    return int(by_message.agg(f.count("*").alias("messages"), f.sum("offset")).collect()[0]["messages"])
