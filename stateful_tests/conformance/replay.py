"""Replay of recordings: reads each file of a directory, and compares each of its rows with the implementation.

A recording is a text file `*.jsonl` or `*.jsonl.gz`: one JSON object a line, the first one a header
{what, java, version, …} that describes the rows. In a row `a` holds the arguments, `r` the result; a call that threw
has `e` (class) and `m` (message) instead of `r`. A sequence has `steps`, applied in order to a fresh object. Which
function a file is about is its name without the suffixes; the adapter of that name compares its rows.
"""

from __future__ import annotations

import gzip
import json
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from invariants.verdict import BadInputError
from stateful_tests.conformance.deviations import DEVIATIONS, Deviation

Row: TypeAlias = Mapping[str, Any]
Adapter: TypeAlias = Callable[[Row], "str | None"]
"""Compares one row: None when the implementation does what was recorded, else one line `expected …, got …`.

An adapter that cannot interpret a row raises (KeyError, TypeError, ValueError, …): the row counts as not understood,
never as equal. A crash of the implementation, unlike one of the adapter, is a difference: see comparison.outcome.
"""

SUFFIXES = (".jsonl", ".jsonl.gz")
VERSION = "4.9.3"
SHOWN = 10  # differences kept of each file
VERDICTS = "verdicts.jsonl"  # what `--out` writes into the same folder
_HEADER_KEYS = ("what", "java", "version")


@dataclass(frozen=True, slots=True)
class Difference:
    """One row that differs: its line in the file (the header is line 1), the row, and one sentence."""

    line: int
    row: Row
    sentence: str


@dataclass(slots=True)
class FileResult:
    """What the replay of one file found.

    compared -- whether an adapter exists for the file; without one no row is compared.
    rows -- rows compared; different -- rows that differ for no listed reason; not_understood -- rows that the adapter
    could not interpret. deviating -- rows by the reason that is listed for them; stale -- listed reasons that no row
    of the file needed. aside -- what was not compared, by the reason.
    first -- the first rows that differ or are not understood, at most SHOWN. label -- its name, if that is not the
    file's.
    """

    path: Path
    header: Row
    compared: bool
    rows: int = 0
    different: int = 0
    not_understood: int = 0
    deviating: dict[str, int] = field(default_factory=dict)
    stale: list[str] = field(default_factory=list)
    aside: dict[str, int] = field(default_factory=dict)
    first: list[Difference] = field(default_factory=list)
    seconds: float = 0.0
    label: str = ""

    @property
    def name(self) -> str:
        """The file's name, or the label."""
        return self.label or self.path.name

    @property
    def folder(self) -> Path:
        """The folder of recordings: that of the file, or that in which the case of an image is."""
        return self.path.parents[1] if self.label else self.path.parent

    def count(self, line: int, row: Row, sentence: str | None, excuse: str | None = None) -> None:
        """A row that was compared. sentence -- what differs; excuse -- the listed reason for it."""
        self.rows += 1
        if sentence is None:
            return
        if excuse is not None:
            self.deviating[excuse] = self.deviating.get(excuse, 0) + 1
            return
        self.different += 1
        self._show(line, row, sentence)

    def not_compared(self, line: int, row: Row, sentence: str) -> None:
        """What could not be compared, and why."""
        self.not_understood += 1
        self._show(line, row, sentence)

    def set_aside(self, reason: str) -> None:
        """One more thing that is not compared on purpose."""
        self.aside[reason] = self.aside.get(reason, 0) + 1

    def _show(self, line: int, row: Row, sentence: str) -> None:
        if len(self.first) < SHOWN:
            self.first.append(Difference(line, row, sentence))


def stem(name: str) -> str:
    """A file's name without `.jsonl` or `.jsonl.gz`."""
    return name.removesuffix(".gz").removesuffix(".jsonl")


def recordings(directory: Path, files: Sequence[str] = ()) -> list[Path]:
    """The files of a directory in the order of their names; only those named by `files`, with or without suffix.

    Documents (*.md), hidden files and verdict rows are left out; others that are no recordings stay in, to be reported.
    Raises BadInputError when there is no such directory, no recording in it, or no file of a given name.
    """
    if not directory.is_dir():
        raise BadInputError(f"{directory}: no such directory; give the folder that holds the recordings")
    entries = sorted(directory.iterdir())
    found = [one for one in entries
             if one.is_file() and not one.name.startswith(".") and one.suffix != ".md" and one.name != VERDICTS]
    if not any(path.name.endswith(SUFFIXES) for path in found):
        raise BadInputError(f"{directory}: no *.jsonl or *.jsonl.gz in it; give the folder that holds the recordings")
    for wanted in files:
        if not any(wanted in {path.name, stem(path.name)} for path in found):
            names = ", ".join(stem(path.name) for path in found)
            raise BadInputError(f"{directory}: no recording {wanted!r} in it; there are {names}")
    return [path for path in found if not files or path.name in files or stem(path.name) in files]


def lines(path: Path) -> Iterator[tuple[int, Row]]:
    """The objects of a file with their line numbers, the header first; raises BadInputError for anything else."""
    number = 0
    try:
        with gzip.open(path, "rb") if path.name.endswith(".gz") else path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                yield number, _object(path, number, line)
    except (OSError, EOFError, zlib.error) as error:
        raise BadInputError(f"{path}:{number + 1}: cannot be read ({error}); copy or record the file again") from error
    if number == 0:
        raise BadInputError(f"{path}:1: empty file; the first line must be the header of a recording")


def _object(path: Path, number: int, line: bytes) -> Row:
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"{path}:{number}: not a line of JSON ({error}); record the file again") from error
    if not isinstance(row, dict):
        raise BadInputError(f"{path}:{number}: a row must be a JSON object; record the file again")
    if number == 1:
        _check_header(path, row)
    return row


def _check_header(path: Path, header: Row) -> None:
    missing = [key for key in _HEADER_KEYS if not isinstance(header.get(key), str)]
    if missing:
        raise BadInputError(f"{path}:1: no header of a recording, {missing[0]!r} is missing; it must describe the rows")
    if header["version"] != VERSION:
        raise BadInputError(f"{path}:1: recorded from version {header['version']}, only {VERSION} can be compared")


def replay_file(
    path: Path, adapters: Mapping[str, Adapter], deviations: Iterable[Deviation] = DEVIATIONS,
    progress: Callable[[int], None] = lambda _rows: None,
) -> FileResult:
    """Compare each row of one file.

    progress -- called with the rows compared so far, every few hundred rows.
    A file of another kind (neither *.jsonl nor *.jsonl.gz) is not compared. Raises BadInputError when a recording is
    broken, also when no adapter is there to compare it.
    """
    begin = time.perf_counter()
    if not path.name.endswith(SUFFIXES):
        return FileResult(path, {}, compared=False)
    adapter = adapters.get(stem(path.name))
    rows = lines(path)
    result = FileResult(path, next(rows)[1], compared=adapter is not None)
    listed = [deviation for deviation in deviations if deviation.file == stem(path.name)]
    for line, row in rows:
        if adapter is not None:
            _compare(result, line, row, adapter, listed)
            if result.rows % 256 == 0:
                progress(result.rows)
    result.stale = [one.reason for one in listed if one.reason not in result.deviating]
    result.seconds = time.perf_counter() - begin
    return result


def _compare(result: FileResult, line: int, row: Row, adapter: Adapter, listed: Sequence[Deviation]) -> None:
    try:
        sentence = adapter(row)
    except Exception as error:  # noqa: BLE001  whatever an adapter trips over, the row was not understood
        result.rows += 1
        result.not_compared(line, row, f"not understood ({type(error).__name__}: {error})")
        return
    result.count(line, row, sentence, None if sentence is None else next(
        (one.reason for one in listed if one.explains(sentence)), None))


def replay(
    directory: Path, adapters: Mapping[str, Adapter], files: Sequence[str] = (),
    progress: Callable[[Path, int], None] = lambda _path, _rows: None,
) -> Iterator[FileResult]:
    """Replay the recordings of a directory, one result per file, in the order of their names.

    Files that are no recordings are skipped until the others are done; then the first of them is raised as
    BadInputError, so that what was found is kept.
    """
    bad: list[BadInputError] = []
    for path in recordings(directory, files):
        try:
            yield replay_file(path, adapters, progress=lambda rows, path=path: progress(path, rows))  # type: ignore[misc]
        except BadInputError as error:
            bad.append(error)
    if bad:
        more = f" (and {len(bad) - 1} more files are not readable)" if len(bad) > 1 else ""
        raise BadInputError(f"{bad[0]}{more}")
