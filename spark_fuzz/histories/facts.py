"""What is to be known of a history before it is judged, from one look at each row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from invariants.histories.context import Owned
from invariants.histories.operations import (
    COMMITTED,
    KINDS,
    MARKS,
    NEEDS,
    OF_OWNERS,
    TYPES,
    MalformedError,
    Operation,
    operation,
)
from spark_fuzz.histories.files import CutError
from spark_fuzz.histories.passes import coded, operations
from spark_fuzz.histories.pieces import Piece, chunks

SHOWN = 10
"""So many rows that are no operations are shown of each chunk."""
_ROWS = 1 << 18
_NEEDED = ("process", "seq", *sorted({name for needed in NEEDS.values() for name in needed}))


@dataclass
class Facts:
    """What a history, or a piece of it, has.

    operations -- how many. present -- kinds and marks. committed, owners -- see `Context`. bad -- how many rows are no
    operations. sentences -- about the first of these.
    """

    operations: int = 0
    present: set[str] = field(default_factory=set)
    committed: dict[Owned, int] = field(default_factory=dict)
    owners: list[Operation] = field(default_factory=list)
    bad: int = 0
    sentences: list[str] = field(default_factory=list)

    def add(self, other: Facts) -> None:
        """Take in the facts of another piece."""
        self.operations += other.operations
        self.present |= other.present
        for owned, offset in other.committed.items():
            self.committed[owned] = max(offset, self.committed.get(owned, offset))
        self.owners += other.owners
        self.bad += other.bad
        self.sentences += other.sentences


def facts(piece: Piece) -> Facts:
    """The facts of a piece."""
    found = Facts()
    try:
        for row, rows in chunks(piece, _ROWS):
            is_good = good(rows)
            found.add(_of_good(rows if is_good.all() else rows.filter(pa.array(is_good))))
            bad = np.flatnonzero(~is_good).tolist()
            found.add(Facts(bad=len(bad), sentences=[
                f"{piece.file}, row {row + at + 1}: {_complaint(rows.slice(at, 1))}" for at in bad[:SHOWN]]))
    except CutError as error:
        found.add(Facts(bad=1, sentences=[f"{piece.file}, behind row {piece.row}: {error}"]))
    return found


def good(rows: Any) -> Any:
    """Whether each row is an operation."""
    kind = coded(rows, "kind", {name: at for at, name in enumerate(KINDS, 1)})
    needs = np.array([0, *(sum(1 << at for at, name in enumerate(_NEEDED) if name in ("process", "seq", *NEEDS[one]))
                           for one in KINDS)])[kind]
    has = np.zeros(rows.num_rows, np.int64)
    for at, name in enumerate(_NEEDED):
        column = rows.column(name)
        has |= np.asarray(column.is_valid()).astype(np.int64) << at if column.null_count else 1 << at
    return (kind > 0) & ((has & needs) == needs)


def _complaint(row: Any) -> str:
    try:
        operation(row.to_pylist()[0])
    except MalformedError as error:
        return str(error)
    raise AssertionError(f"{row.to_pylist()} is an operation")


def _of_good(rows: Any) -> Facts:
    kinds = {one["values"] for one in rows.column("kind").value_counts().to_pylist()}
    marks = {name for name in MARKS if _is_given(rows.column(name), TYPES[name])}
    commits = rows.filter(pc.equal(rows.column("kind"), COMMITTED)).select(["group", "queue", "offset"])
    highest = pa.table(commits).group_by(["group", "queue"]).aggregate([("offset", "max")]).to_pylist()
    owners = rows.filter(pc.is_in(rows.column("kind"), pa.array(OF_OWNERS)))
    return Facts(rows.num_rows, kinds | marks, {(row["group"], row["queue"]): row["offset_max"] for row in highest},
                 list(operations(owners)))


def _is_given(column: Any, kind: type) -> bool:
    """Whether a mark is given and true anywhere."""
    if column.null_count == len(column):
        return False
    return bool(pc.any(pc.not_equal(column, kind())).as_py())
