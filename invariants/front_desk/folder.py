"""The folder that `verify` writes: rows, evidence, campaign, report. A run begins with none of an earlier one."""

from __future__ import annotations

import shutil
from pathlib import Path

from invariants.verdict import BadInputError


def prepare(out: Path) -> None:
    """Make the folder; remove what an earlier run wrote, and nothing else. Raises BadInputError when that fails."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for file in (out / "verdicts.jsonl", out / "report.html", *(out / "evidence").glob("*.json")):
            file.unlink(missing_ok=True)
        if (out / "campaign" / "campaign.json").is_file():
            shutil.rmtree(out / "campaign")
    except OSError as error:
        raise BadInputError(f"--out {out}: cannot be written ({error.strerror}); give another folder") from error
