"""The ledger: a campaign's rows in a folder, each unit exactly once, whatever was killed in between.

    campaign.json          what the rows belong to; a folder of another campaign or version is refused
    units-000000.parquet   rows of some seconds, all rows of a unit in the same file; appears whole or not at all
    evidence/…             counterexamples, and what else a campaign writes for people
    verdicts.jsonl         the verdict rows so far, replaced whenever rows are stored

What was done is read from the rows themselves, so a run that was killed is gone on with by the same command. A unit
that failed counts as not done. No time and no attempt is stored: rows of equal units are equal, cpu_us apart.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from invariants.verdict import BadInputError, Verdict
from spark_fuzz.work import ADDED, Row

FORMAT = "rocketproof-campaign/1"
TYPES = {"string": pa.string(), "long": pa.int64(), "binary": pa.binary()}


class Ledger:
    """The rows of one campaign.

    folder -- where they are.
    done -- ids of the units that are stored without a failure.
    """

    def __init__(self, folder: Path, columns: Mapping[str, str]) -> None:
        """Read what is stored; columns maps the names of the work's columns to "string", "long" or "binary"."""
        self.folder = folder
        self.done: set[str] = set()
        self._schema = pa.schema([(name, TYPES[kind]) for name, kind in {**columns, **ADDED}.items()])
        self._files = sorted(folder.glob("units-*.parquet"))
        self._stored: dict[str, list[Row]] = {}
        for row in self._once(self._files):
            self._stored.setdefault(row["unit"], []).append(row)
        self._written: dict[str, Mapping[str, Any]] = {}

    def rows(self) -> dict[str, list[Row]]:
        """By unit the rows that were stored when the ledger was opened; failed attempts are left out."""
        return self._stored

    def add(self, rows: Iterable[Row]) -> list[Row]:
        """Store rows of units and return those of units that were not done yet (failed rows among them)."""
        new = [row for row in rows if row["unit"] not in self.done]
        number = int(self._files[-1].stem.removeprefix("units-")) + 1 if self._files else 0
        path = self.folder / f"units-{number:06d}.parquet"
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(new, self._schema), sink, compression="zstd")
        self._put(path, sink.getvalue().to_pybytes())
        self._files.append(path)
        self.done |= {row["unit"] for row in new if row["error"] is None}
        return new

    def write_verdicts(self, verdicts: Iterable[Verdict]) -> None:
        """Replace verdicts.jsonl."""
        self._put(self.folder / "verdicts.jsonl", "".join(f"{row.to_json()}\n" for row in verdicts).encode())

    def write_evidence(self, name: str, document: Mapping[str, Any]) -> None:
        """Write evidence/NAME as JSON, in the form that `invariants.evidence` reads; the same object only once."""
        if self._written.get(name) is document:
            return
        self._written[name] = document
        text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False)
        self.write_text(f"evidence/{name}", f"{text}\n")

    def write_text(self, name: str, text: str) -> None:
        """Write a file below the folder, unless it says that already."""
        path, content = self.folder / name, text.encode()
        if not path.exists() or path.read_bytes() != content:
            self._put(path, content)

    def _once(self, files: Iterable[Path]) -> Iterator[Row]:
        """The rows of each unit from the first file that has it without a failure."""
        for file in files:
            rows = [row for row in _read(file, self._schema) if row["error"] is None and row["unit"] not in self.done]
            self.done |= {row["unit"] for row in rows}
            yield from rows

    def _put(self, path: Path, content: bytes) -> None:
        _put(path, content, f"{len(self.done)} units and their verdicts are kept; make room and give the same command")


@contextmanager
def open_ledger(folder: Path, header: Mapping[str, Any], columns: Mapping[str, str]) -> Iterator[Ledger]:
    """The ledger of a folder, made at first use and locked for the time of the block.

    header -- plain JSON values that say which campaign, seed and version the rows belong to.
    Raises BadInputError when the folder belongs to another campaign or version, is in use, or cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w", encoding="utf-8")
    except OSError as error:
        raise BadInputError(f"--out {folder}: cannot be written ({error.strerror}); give another folder") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BadInputError(f"--out {folder}: another campaign writes there; wait, or give another") from error
        _check_header(folder, {"format": FORMAT, **header})
        yield Ledger(folder, columns)


def _check_header(folder: Path, header: Mapping[str, Any]) -> None:
    path = folder / "campaign.json"
    if not path.exists():
        if any(folder.glob("units-*.parquet")):
            raise BadInputError(f"--out {folder}: has units but no campaign.json; give another folder")
        _put(path, (json.dumps(header, indent=1, sort_keys=True) + "\n").encode(), "give another folder")
        return
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        different = sorted(name for name in {*header, *found} if header.get(name) != found.get(name))
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise BadInputError(f"{path}: cannot be read ({error}); give another --out") from error
    if different:
        theirs = ", ".join(f"{name} {found.get(name)!s}, now {header.get(name)!s}" for name in different)
        raise BadInputError(f"--out {folder}: holds another campaign ({theirs}); give another folder")


def _read(file: Path, schema: pa.Schema) -> list[Row]:
    try:
        table = pq.read_table(file)
    except (OSError, pa.ArrowException) as error:
        raise BadInputError(f"{file}: damaged ({str(error).splitlines()[0]}); remove it, and its units run") from error
    if table.schema.names != schema.names:
        raise BadInputError(f"{file}: has other columns; give another --out")
    rows: list[Row] = table.to_pylist()
    return rows


def _put(path: Path, content: bytes, cure: str) -> None:
    """Written beside, forced to the disk and renamed: a reader and a killed run see the old or the new, whole."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise BadInputError(f"{path}: cannot be written ({error.strerror}); {cure}") from error
