"""Files of histories: JSON lines, Parquet and Arrow, read and written as streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from invariants.histories.operations import (
    TYPES,
    VERSION,
    VERSION_FIELD,
    MalformedError,
    NotJSONError,
    Operation,
    check_version,
    operation,
    parsed,
    to_json,
)
from invariants.verdict import BadInputError

PARQUET, ARROW, LINES = (".parquet",), (".arrow", ".arrows", ".feather"), (".jsonl", ".json", ".ndjson")
SCHEMA = pa.schema(
    [(name, {str: pa.string(), int: pa.int64(), bool: pa.bool_()}[kind]) for name, kind in TYPES.items()],
    metadata={VERSION_FIELD: str(VERSION)})
PACKED = (".gz", ".zst", ".bz2", ".xz", ".lz4", ".zip")
ROWS = 1 << 16
"""Rows of a batch."""
GROUP_ROWS = 1 << 18
"""Rows of a row group of a Parquet file that is written here: a task of Spark reads a few."""


class Row(NamedTuple):
    """A row of a file: an operation, or a complaint that it is none. where -- file and number, for people."""

    where: str
    operation: Operation | None
    complaint: str = ""


class CutError(Exception):
    """A file cannot be read to its end; the sentence says why."""


def parts(path: Path) -> list[Path]:
    """The files of a history: one, or all in a folder. Raises BadInputError."""
    known = (*PARQUET, *ARROW, *LINES)
    files = sorted(one for one in path.iterdir() if one.suffix in known) if path.is_dir() else [path]
    if not path.exists() or not files:
        raise BadInputError(f"{path}: no history is there; give a .jsonl, .parquet or .arrow file, or a folder of them")
    for file in files:
        if not file.is_file():
            raise BadInputError(f"{file}: no file that can be read more than once; give one, or a folder of files")
        if file.suffix not in known:
            packed = "; unpack it first" if file.suffix in PACKED else ""
            raise BadInputError(f"{file}: not a history by its name{packed}; give a .jsonl, .parquet or .arrow file")
    return files


def read(path: Path) -> Iterator[Row]:
    """Each operation, and each row that is none. Raises BadInputError for what cannot be read at all."""
    for file in parts(path):
        if file.suffix in LINES:
            yield from _lines(file)
        else:
            yield from _columns(file)


def _lines(file: Path) -> Iterator[Row]:
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield from _line(file, number, line)
    except OSError as error:
        raise BadInputError(f"{file}: cannot be read ({error.strerror})") from error


def _line(file: Path, number: int, line: bytes) -> Iterator[Row]:
    try:
        found = parsed(line.decode("utf-8" if number > 1 else "utf-8-sig"), number)
    except (MalformedError, UnicodeDecodeError) as error:
        may_be_cut = isinstance(error, (NotJSONError, UnicodeDecodeError)) and not line.endswith(b"\n")
        cut = "; the file ends in the middle of it" if may_be_cut else ""
        if isinstance(error, UnicodeDecodeError):
            cut = f", which JSON lines must be{cut}"
            error = MalformedError(f"not UTF-8 ({error.reason} at byte {error.start + 1} of the line)")
        yield Row(f"{file}, row {number}", None, f"{error}{cut}")
        return
    if found is not None:
        yield Row(f"{file}, row {number}", found)


def _columns(file: Path) -> Iterator[Row]:
    number = 0
    try:
        for batch in batches(file):
            for row in batch.to_pylist():
                number += 1
                try:
                    yield Row(f"{file}, row {number}", operation(row))
                except MalformedError as error:
                    yield Row(f"{file}, row {number}", None, str(error))
    except CutError as error:
        yield Row(f"{file}, row {number + 1}", None, str(error))


def batches(file: Path) -> Iterator[Any]:
    """The record batches of a Parquet or Arrow file; raises CutError where it is cut, BadInputError at once."""
    try:
        if file.suffix in PARQUET:
            opened = parquet_file(file)
            check_shape(file, opened.schema_arrow)
            found = opened.iter_batches(ROWS)
        else:
            opened = _arrow(file)
            check_shape(file, opened.schema)
            found = iter(opened) if isinstance(opened, pa.RecordBatchStreamReader) else (
                opened.get_batch(at) for at in range(opened.num_record_batches))
    except (pa.ArrowException, OSError) as error:
        raise BadInputError(f"{file}: cannot be read ({str(error).splitlines()[0]}); is it cut in the "
                            f"middle?") from error
    try:
        yield from found
    except (pa.ArrowException, OSError) as error:
        raise CutError(f"cannot be read from here on ({str(error).splitlines()[0]})") from error


def parquet_file(file: Path) -> Any:
    """A Parquet file, of which only the end is read. Raises BadInputError."""
    try:
        return pq.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        raise BadInputError(f"{file}: cannot be read ({str(error).splitlines()[0]}); is it cut in the "
                            f"middle?") from error


def _arrow(file: Path) -> Any:
    source = pa.memory_map(str(file))
    try:
        return pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        source.seek(0)
        return pa.ipc.open_stream(source)


def check_shape(file: Path, schema: Any) -> None:
    """Raises BadInputError unless columns are those of a history."""
    version = (schema.metadata or {}).get(VERSION_FIELD.encode())
    try:
        if version is not None:
            check_version(version.decode())
    except MalformedError as error:
        raise BadInputError(f"{file}: {error}") from error
    if absent := [name for name in ("kind", "process", "seq") if name not in schema.names]:
        raise BadInputError(f"{file}: has no column {absent[0]}; docs/histories.md has the columns")
    if twice := sorted(name for name, times in Counter(schema.names).items() if times > 1):
        raise BadInputError(f"{file}: has two columns {twice[0]}")
    for one in schema:
        if one.name not in TYPES:
            raise BadInputError(f"{file}: the column {one.name} is none of a history; docs/histories.md has the "
                                f"columns")
        kind = one.type.value_type if pa.types.is_dictionary(one.type) else one.type
        good = {str: pa.types.is_string(kind) or pa.types.is_large_string(kind), int: pa.types.is_integer(kind),
                bool: pa.types.is_boolean(kind)}
        if not (good[TYPES[one.name]] or pa.types.is_null(kind)):
            raise BadInputError(f"{file}: the column {one.name} is of type {one.type}, not "
                                f"{SCHEMA.field(one.name).type}")


class Writer:
    """Writes a history as a stream, in the form that the name of its file says. Raises BadInputError."""

    def __init__(self, path: Path) -> None:
        """Open a file."""
        self.rows = 0
        self._waiting: list[Any] = []
        self._together = GROUP_ROWS if path.suffix in PARQUET else 1
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix in PARQUET:
                self._to: Any = pq.ParquetWriter(path, SCHEMA, compression="zstd")
            elif path.suffix in ARROW:
                self._to = pa.ipc.new_stream(path, SCHEMA)
            elif path.suffix in LINES:
                self._to = path.open("w", encoding="utf-8")
            else:
                raise BadInputError(f"{path}: give a name that ends with .jsonl, .parquet or .arrow")
        except OSError as error:
            raise BadInputError(f"{path}: cannot be written ({error.strerror}); give another file") from error

    def operations(self, operations: Iterable[Operation]) -> None:
        """Write operations."""
        rows = list(operations)
        if hasattr(self._to, "write_batch"):
            self.batch(pa.RecordBatch.from_pylist([one._asdict() for one in rows], SCHEMA))
            return
        self.rows += len(rows)
        self._to.writelines(f"{to_json(one)}\n" for one in rows)

    def batch(self, batch: Any) -> None:
        """Write a record batch of SCHEMA."""
        if not hasattr(self._to, "write_batch"):
            self.operations(Operation(**row) for row in batch.to_pylist())
            return
        self.rows += batch.num_rows
        self._waiting.append(batch)
        if sum(one.num_rows for one in self._waiting) >= self._together:
            self._write()

    def _write(self) -> None:
        """What waits becomes one row group, or one batch."""
        if self._waiting:
            self._to.write_table(pa.Table.from_batches(self._waiting).combine_chunks())
        self._waiting = []

    def close(self) -> None:
        """End the file."""
        self._write()
        self._to.close()
