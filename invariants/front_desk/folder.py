"""The folder that `verify` writes: rows, evidence, campaigns, report. A run begins with none of an earlier one."""

from __future__ import annotations

import shutil
from pathlib import Path

from invariants.verdict import BadInputError

STRATEGIES, WORLDS = "campaign", "campaign-worlds"
"""Folders of the campaigns."""


def prepare(out: Path) -> None:
    """Make the folder; remove what an earlier run wrote, and nothing else. Raises BadInputError when that fails."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for file in (out / "verdicts.jsonl", out / "report.html", *(out / "evidence").glob("*.json")):
            file.unlink(missing_ok=True)
        for folder in (out / STRATEGIES, out / WORLDS):
            if (folder / "campaign.json").is_file():
                shutil.rmtree(folder)
    except OSError as error:
        raise BadInputError(f"--out {out}: cannot be written ({error.strerror}); give another folder") from error
