"""Write the pages of the hazards: `python -m invariants.hazards docs/hazards`. The folder's other pages go."""

from __future__ import annotations

import sys
from pathlib import Path

from invariants.commands.catalogue import judged_of_runs, outside
from invariants.hazards.pages import pages

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    for name, text in pages(outside, judged_of_runs()).items():
        (folder / name).write_text(text, encoding="utf-8")
