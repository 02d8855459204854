"""Write the pages of the hazards: `python -m invariants.hazards docs/hazards`. The folder's other pages go.

All pages are made before the first one is written: a run that is ended before leaves the folder as it was.
"""

from __future__ import annotations

import sys
from pathlib import Path

from invariants.commands.catalogue import judged_of_runs, outside
from invariants.hazards.pages import pages, replaced

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):  # noqa: PLR2004  # the module and a folder
        print("error: give one folder for the pages: python -m invariants.hazards docs/hazards", file=sys.stderr)
        sys.exit(2)
    replaced(Path(sys.argv[1]), pages(outside, judged_of_runs()))
