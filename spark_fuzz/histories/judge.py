"""A file of operations, judged: in this process while it is small, on Spark otherwise."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

from invariants.front_desk.desk import appended, given
from invariants.histories import judging, pictures
from invariants.histories.checks import Finding, Told
from invariants.histories.operations import Operation
from invariants.histories.verdicts import SHOWN, Tally, document, in_order, rows
from invariants.verdict import BadInputError, Verdict
from spark_fuzz.histories.files import PARQUET, parts, read

FINDINGS = "evidence/findings.jsonl"
"""All findings, in the folder of --out; a report takes no file below "evidence" for verdict rows."""
SMALL_BYTES = {True: 8 << 20, False: 64 << 20}
"""Up to this size a history is judged in this process: Parquet is packed, other files are not."""


def judged(path: Path, agree_ms: int | None, master: str | None, out: Path | None, closing: list[str],
           tell: Callable[[str], None]) -> Iterator[Verdict]:
    """The verdicts about a history; pictures and sentences are added to the closing lines. Raises BadInputError.

    agree_ms -- how far clocks of different machines are apart. master -- of Spark, where one is asked for. out -- the
    folder for all findings. tell -- is told how far it is.
    """
    files = parts(path)
    bytes_of = sum(file.stat().st_size for file in files)
    tally = Tally()
    if master is None and bytes_of <= SMALL_BYTES[files[0].suffix in PARQUET]:
        told = _in_memory(path, agree_ms, tally)
    else:
        from spark_fuzz.histories.on_spark import told_on_spark  # noqa: PLC0415 - pyspark is slow to import

        told = told_on_spark(path, agree_ms, master or "local[*]", tally, tell)
    lines = [document(one) for one in told if isinstance(one, Finding)]
    if out is not None:
        appended(str(out / FINDINGS), "".join(f"{line}\n" for line in sorted(lines)), anew=True)
    yield from rows(tally, str(path), given() or f"rocketproof judge {shlex.quote(str(path))}")
    closing += _closing(tally)


def _in_memory(path: Path, agree_ms: int | None, tally: Tally) -> Iterator[Told]:
    operations: list[Operation] = []
    row_of: dict[int, str] = {}
    for row in read(path):
        if row.operation is None:
            tally.complain(f"{row.where}: {row.complaint}")
        else:
            row_of[id(row.operation)] = row.where
            operations.append(row.operation)
    if not operations:
        raise BadInputError(tally.sentences[0] if tally.sentences else f"{path}: has no operation")
    tally.count(operations)
    yield from tally.take(judging.judged(operations, agree_ms), row_of, str(path))


def _closing(tally: Tally) -> list[str]:
    """Sentences about bad rows, and pictures of the first findings."""
    told = in_order(tally.sentences)[:SHOWN]
    if len(tally.sentences) > SHOWN:
        told.append(f"… {len(tally.sentences) - SHOWN} more rows like these")
    for finding in tally.findings:
        told += ["", *pictures.lines(finding)]
    return told
