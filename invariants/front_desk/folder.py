"""Folders of rows and evidence: that of `verify`, which begins anew each time, and those of `--out`, which grow."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from invariants.verdict import BadInputError, Verdict

STRATEGIES, WORLDS = "campaign", "campaign-worlds"
"""Folders of the campaigns."""
VERDICTS = "verdicts.jsonl"


class Folder:
    """What `--out` names: it keeps the rows of the commands that write there; a row takes the place of a former one.

    out -- the folder. json -- of the command; where that file lies in the folder it has the rows, and they are not
    written twice.
    """

    def __init__(self, out: Path, json: str | None) -> None:
        """Nothing is read or written yet."""
        inside = json not in {None, "-"} and Path(str(json)).resolve().is_relative_to(out.resolve())
        self._file = None if inside else out / VERDICTS
        self._former: list[Verdict] = []

    def open(self) -> None:
        """Read the rows that are there; raises BadInputError for what is none, and if nothing can be written."""
        if self._file is None:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            text = self._file.read_text(encoding="utf-8") if self._file.exists() else ""
            self._former = [Verdict.from_json(line) for line in text.split("\n") if line.strip()]
        except BadInputError as error:
            raise BadInputError(f"{self._file}: {error}; give another folder") from error
        except (OSError, ValueError) as error:
            raise self._unusable(error) from error

    def keep(self, rows: Sequence[Verdict]) -> None:
        """Write these rows, behind the former ones about something else; raises BadInputError if that fails."""
        if self._file is None:
            return
        new = {_about(row) for row in rows}
        kept = [*(row for row in self._former if _about(row) not in new), *rows]
        try:
            self._file.write_text("".join(f"{row.to_json()}\n" for row in kept), encoding="utf-8")
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError | ValueError) -> BadInputError:
        why = error.strerror if isinstance(error, OSError) else error
        return BadInputError(f"--out {self._file and self._file.parent}: cannot be used ({why}); give another folder")


def _about(row: Verdict) -> tuple[str, str, str]:
    return row.property, row.judge, repr(row.subject)


def prepare(out: Path) -> None:
    """Make the folder; remove what an earlier run wrote, and nothing else. Raises BadInputError when that fails."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for file in (out / VERDICTS, out / "report.html", *(out / "evidence").glob("*.json")):
            file.unlink(missing_ok=True)
        for folder in (out / STRATEGIES, out / WORLDS):
            if (folder / "campaign.json").is_file():
                shutil.rmtree(folder)
    except OSError as error:
        raise BadInputError(f"--out {out}: cannot be written ({error.strerror}); give another folder") from error
