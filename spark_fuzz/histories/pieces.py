"""Pieces of Parquet files: a task reads one, in chunks of rows with names as numbers of a dictionary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from spark_fuzz.histories.files import SCHEMA, CutError, parquet_file

MANY = ("message", "key")
"""Columns of which nearly each row has another name."""
CODED = pa.schema([
    pa.field(one.name, pa.dictionary(pa.int32(), pa.string()) if one.type == pa.string() and one.name not in MANY
             else one.type) for one in SCHEMA])


class Piece(NamedTuple):
    """Some row groups of a file, and the number of the first row, from 0."""

    file: str
    groups: tuple[int, ...]
    row: int


def pieces(files: Sequence[str], rows: int) -> Iterator[Piece]:
    """Pieces of about so many rows; a row group is never divided. Raises BadInputError."""
    for file in files:
        about = parquet_file(Path(file)).metadata
        groups: list[int] = []
        first = row = 0
        for group in range(about.num_row_groups):
            groups.append(group)
            row += about.row_group(group).num_rows
            if row - first >= rows:
                yield Piece(file, tuple(groups), first)
                groups, first = [], row
        if groups:
            yield Piece(file, tuple(groups), first)


def chunks(piece: Piece, rows: int) -> Iterator[tuple[int, Any]]:
    """Record batches of at most so many rows, each with the number of its first. Raises CutError."""
    row, waiting = piece.row, list[Any]()
    for batch in _batches(piece, rows):
        if waiting and sum(one.num_rows for one in waiting) + batch.num_rows > rows:
            yield row, _whole(waiting)
            row += sum(one.num_rows for one in waiting)
            waiting = []
        waiting.append(batch)
    if waiting:
        yield row, _whole(waiting)


def _whole(batches: Sequence[Any]) -> Any:
    """See `joined`; raises CutError for numbers that 64 bits do not hold."""
    try:
        return joined(batches)
    except pa.ArrowInvalid as error:
        raise CutError(f"cannot be read ({str(error).splitlines()[0]})") from error


def _batches(piece: Piece, rows: int) -> Iterator[Any]:
    names = [one.name for one in CODED if pa.types.is_dictionary(one.type)]
    try:
        opened = pq.ParquetFile(piece.file, read_dictionary=names)
        yield from opened.iter_batches(rows, list(piece.groups), use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise CutError(f"cannot be read ({str(error).splitlines()[0]})") from error


def joined(batches: Sequence[Any]) -> Any:
    """One record batch with the columns of CODED, and any others that the batches have."""
    table = pa.concat_tables([pa.table(one) for one in batches], promote_options="default")
    given = {one.name: table.column(one.name) for one in table.schema if one.name not in CODED.names}
    for one in CODED:
        if one.name in table.schema.names:
            column = table.column(one.name)
            given[one.name] = column if column.type == one.type else _coded(column, one.type)
        else:
            given[one.name] = pa.chunked_array([pa.nulls(table.num_rows, one.type)])
    whole = pa.table(given).unify_dictionaries().combine_chunks()
    return pa.RecordBatch.from_arrays([_single(column) for column in whole.columns], whole.schema.names)


def _coded(column: Any, wanted: Any) -> Any:
    if not pa.types.is_dictionary(wanted):
        return column.cast(wanted)
    return column.cast(pa.string()).dictionary_encode()


def _single(column: Any) -> Any:
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)
