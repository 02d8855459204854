"""The checks of a history on Spark: two shuffles, and a pass over sorted batches after each."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa

from invariants.histories import owners, sequences
from invariants.histories.checks import Told
from invariants.histories.context import Context
from invariants.histories.operations import (
    ACKNOWLEDGED,
    COMMITTED,
    CONSUMED,
    DELIVERED,
    FAILED,
    KINDS,
    MARKS,
    NEEDS,
    OF_MESSAGES,
    OF_OWNERS,
    SEND,
    TYPES,
    UNKNOWN,
    Operation,
)
from invariants.histories.verdicts import Tally
from invariants.verdict import BadInputError
from spark_fuzz.cluster import open_cluster
from spark_fuzz.histories.files import PARQUET, ROWS, Row, Writer, check_shape, parquet_schema, parts, read
from spark_fuzz.histories.passes import SUBJECT, Pass, followed_pass, messages_pass

ROWS_OF_A_TASK = 2_000_000
"""About so many operations are sorted by a task; what does not fit into memory goes to its disk."""
_FEW = 10  # bad rows that are shown
DDL = ", ".join(f"`{name}` {({str: 'string', int: 'bigint', bool: 'boolean'})[kind]}" for name, kind in TYPES.items())


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
            check_shape(file, parquet_schema(file))
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
    from pyspark.sql import SparkSession  # noqa: PLC0415 - slow to import
    from pyspark.sql import functions as f  # noqa: PLC0415 - same

    spark = SparkSession(spark_context)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", ROWS)
    frame = spark.read.schema(DDL).parquet(*files)
    good = _good(f)
    _complain(frame, good, f, tally)
    frame = frame.where(good)
    tell("looks for owners and commits")
    context = _context(frame, f, agree_ms)
    yield from owners.judged(context)
    tasks = max(spark_context.defaultParallelism, -(-tally.operations // ROWS_OF_A_TASK))
    tell("judges messages")
    of_messages = frame.where(f.col("kind").isin(*OF_MESSAGES)).drop("key", "tags", "orderly", "max_attempts")
    keys = (SUBJECT, "group", "process", "queue", "offset", "seq")
    yield from _passed(of_messages.withColumn(SUBJECT, f.xxhash64("message")), tasks, keys, messages_pass(context))
    tell("follows clients")
    of_clients = frame.where(_is_followed(f, sequences.orderly(context)))
    whom = f.when(f.col("group").isNotNull(), f.xxhash64("process", "group", "queue")).otherwise(
        f.xxhash64("process", "key"))
    yield from _passed(of_clients.withColumn(SUBJECT, whom), tasks, (SUBJECT, "seq"), followed_pass(context))


def aggregated(spark_context: Any, file: Path) -> int:
    """How many messages a Parquet file has, each with its greatest offset: about the least that Spark does with it."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - slow to import
    from pyspark.sql import functions as f  # noqa: PLC0415 - same

    by_message = SparkSession(spark_context).read.parquet(str(file)).groupBy("message").agg(
        f.max("offset").alias("offset"))
    return int(by_message.agg(f.count("*").alias("messages"), f.sum("offset")).collect()[0]["messages"])


def _good(f: Any) -> Any:
    """Whether a row is an operation."""
    of_kinds = [(f.col("kind") == kind) & reduce(lambda one, other: one & other, (
        f.col(name).isNotNull() for name in ("process", "seq", *NEEDS[kind]))) for kind in KINDS]
    return f.coalesce(reduce(lambda one, other: one | other, of_kinds), f.lit(False))


def _complain(frame: Any, good: Any, f: Any, tally: Tally) -> None:
    """Note rows that are no operations, count the others, and note what they have."""
    marked = [f.max(f.col(name).cast("string").isin("0", "false", "") == f.lit(False)).alias(name) for name in MARKS]
    counted = frame.groupBy(good.alias("good"), "kind").agg(f.count("*").alias("rows"), *marked).collect()
    of_good = [row for row in counted if row["good"]]
    tally.operations = sum(row["rows"] for row in of_good)
    tally.present |= {row["kind"] for row in of_good}
    tally.present |= {name for name in MARKS for row in of_good if row[name]}
    if bad := sum(row["rows"] for row in counted) - tally.operations:
        shown = frame.where(~good).select("kind", f.col("_metadata.file_path").alias("file"), f.col(
            "_metadata.row_index").alias("row")).orderBy("file", "row").limit(_FEW).collect()
        for row in shown:
            tally.complain(f"{row['file'].removeprefix('file://')}, row {row['row'] + 1}: a row that is no operation "
                           f"(kind {row['kind']!r}, or a field that it needs is not there)")
        tally.bad += bad - len(shown)
    if not tally.operations:
        raise BadInputError(f"{tally.sentences[0]}" if tally.sentences else "the history has no operation")


def _context(frame: Any, f: Any, agree_ms: int | None) -> Context:
    """The facts of a history."""
    committed = {(row["group"], row["queue"]): row["offset"] for row in frame.where(f.col("kind") == COMMITTED).groupBy(
        "group", "queue").agg(f.max("offset").alias("offset")).collect()}
    changes = tuple(Operation(**row.asDict()) for row in frame.where(f.col("kind").isin(*OF_OWNERS)).orderBy(
        "process", "seq").collect())
    sends = bool(frame.where(f.col("kind") == SEND).limit(1).count())
    return Context(committed, sends, changes, agree_ms)


def _is_followed(f: Any, orderly: frozenset[str]) -> Any:
    """`sequences.is_followed` as Spark reads it."""
    kind = f.col("kind")
    return ((kind == COMMITTED) | (kind.isin(DELIVERED, CONSUMED) & f.col("group").isin(*sorted(orderly)))
            | (kind.isin(SEND, ACKNOWLEDGED, FAILED, UNKNOWN) & f.col("key").isNotNull()))


def _passed(frame: Any, tasks: int, keys: tuple[str, ...], judge: Pass) -> Iterator[Told]:
    """What a pass says of a frame, which is brought together by subject and sorted."""
    def told(batches: Iterator[Any]) -> Iterator[Any]:
        for one in judge(batches):
            yield pa.RecordBatch.from_pydict({"told": [pickle.dumps(one)]})

    for row in _in_arrow(frame.repartition(tasks, SUBJECT).sortWithinPartitions(*keys), told).collect():
        yield pickle.loads(row["told"])  # noqa: S301 - our own workers have written it


def _in_arrow(frame: Any, told: Callable[[Iterator[Any]], Iterator[Any]]) -> Any:
    """`DataFrame.mapInArrow`, which asks for pandas where none is needed."""
    from pyspark.sql import DataFrame  # noqa: PLC0415 - slow to import
    from pyspark.sql.udf import UserDefinedFunction  # noqa: PLC0415 - same
    from pyspark.util import PythonEvalType  # noqa: PLC0415 - same

    function = UserDefinedFunction(told, "told binary", evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF)
    column = function(*[frame[name] for name in frame.columns])
    return DataFrame(frame._jdf.mapInArrow(column._jc, False, None), frame.sparkSession)  # noqa: SLF001 - no public way without pandas
