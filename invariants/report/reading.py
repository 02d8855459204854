"""Reads what a report is made of: the verdict rows and the evidence files below one directory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from invariants import evidence
from invariants.report.shapes import first_flaw
from invariants.verdict import BadInputError, Verdict

_EVIDENCE_FOLDER = "evidence"
_ROW = TypeAdapter(Verdict)


def rows(directory: Path) -> list[Verdict]:
    """The rows of every *.jsonl below the directory, files by name, folders called "evidence" left out.

    A row names its evidence relative to the output directory of the judge that wrote it, which may be a folder within
    this one; here the name is made relative to this directory. Raises BadInputError with file and line of a row that
    cannot be read, and when there is no row at all.
    """
    if not directory.is_dir():
        raise BadInputError(f"{directory}: no such directory; name the one that --out or --json wrote to")
    files = [file for file in sorted(directory.rglob("*.jsonl"))
             if file.is_file() and _EVIDENCE_FOLDER not in file.relative_to(directory).parent.parts]
    found = [_located(row, file, directory) for file in files for row in _read(file)]
    if not found:
        raise BadInputError(f"{directory}: no verdict rows (*.jsonl) here; make some with "
                            f"`rocketproof verify --json {directory}/verdicts.jsonl`")
    return found


def evidence_files(directory: Path, verdicts: list[Verdict]) -> dict[str, dict[str, Any]]:
    """Evidence by name relative to the directory: what the rows name, and every other evidence file below it.

    A named file that is missing, unreadable or outside the directory is left out: the page says so at its row.
    """
    below = {file.relative_to(directory).as_posix() for file in directory.rglob("*.json") if file.is_file()}
    named = {row.evidence for row in verdicts if row.evidence is not None}
    inside = sorted(below | {name for name in named if _inside(directory, name)})
    found = {}
    for name in inside:
        with suppress(BadInputError):
            found[name] = evidence.read(directory / name)
    return found


def campaign_files(directory: Path, name: str) -> list[tuple[str, Any]]:
    """Files of this name below the directory, by the folder that has them; None for one that is not JSON."""
    found = []
    for file in sorted(directory.rglob(name)):
        try:
            document = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            document = None
        found.append((file.parent.relative_to(directory).as_posix(), document))
    return found


def _read(file: Path) -> Iterator[Verdict]:
    try:
        lines = file.read_text(encoding="utf-8").split("\n")  # splitlines would cut at U+2028 within a string
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"{file}: cannot be read as verdict rows ({error}); remove it or write it again") from error
    for at, line in enumerate(lines, 1):
        if line.strip():
            yield _row(line, f"{file}:{at}")


def _row(line: str, where: str) -> Verdict:
    try:
        row = Verdict.from_json(line)
        _ROW.validate_json(line)  # Python itself takes a value of any type
    except BadInputError as error:
        raise BadInputError(f"{where}: {error}") from error
    except ValidationError as error:
        raise BadInputError(f"{where}: not a verdict row ({first_flaw(error)}); write rows with --json FILE") from error
    if "\0" in (row.evidence or ""):
        raise BadInputError(f"{where}: not a verdict row (evidence is not a path); write rows with --json FILE")
    return row


def _located(row: Verdict, file: Path, directory: Path) -> Verdict:
    """The row with its evidence named from the directory: the nearest folder around the row's file that has it."""
    if row.evidence is None:
        return row
    for folder in (file.parent, *file.parent.parents):
        if (folder / row.evidence).is_file() and _inside(directory, str(folder / row.evidence)):
            return replace(row, evidence=(folder / row.evidence).resolve().relative_to(directory.resolve()).as_posix())
        if folder == directory:
            break
    return row


def _inside(directory: Path, name: str) -> bool:
    return (directory / name).resolve().is_relative_to(directory.resolve())
