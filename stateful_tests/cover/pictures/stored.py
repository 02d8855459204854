"""The pictures that stand on the pages of the hazards in docs."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs" / "hazards"


def stored(hazard: str) -> list[str]:
    """The lines of the picture of a hazard; empty if its section has none."""
    for path in sorted(DOCS.glob("*.md")):
        _, _, section = path.read_text("utf-8").partition(f"\n## {hazard}\n")
        found = re.search(r"```text\n(.*?)\n```", section.partition("\n## ")[0], re.DOTALL)
        if found is not None:
            return found[1].splitlines()
    return []
