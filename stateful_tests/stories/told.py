"""Which stories tell a hazard: their names begin with its name, as in `test_b29_…`."""

from __future__ import annotations

import re
from pathlib import Path

ROOM = Path(__file__).parent


def commands(hazard: str) -> list[str]:
    """A command for each story of a hazard, in the order of the files."""
    name = re.compile(rf"def (test_{hazard.replace('-', '').lower()}_\w+)")
    return [f"python -m pytest stateful_tests/stories/{path.name} -k {story}"
            for path in sorted(ROOM.glob("test_*.py")) for story in name.findall(path.read_text("utf-8"))]
