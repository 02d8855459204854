"""Which stories tell a hazard: their names begin with its name, as in `test_b29_…`."""

from __future__ import annotations

import re
from pathlib import Path

ROOMS = ("stories", "cover/store")
"""Folders of stories; those of the store need no world."""


def commands(hazard: str) -> list[str]:
    """A command for each story of a hazard, in the order of the files."""
    name = re.compile(rf"def (test_{hazard.replace('-', '').lower()}_\w+)")
    here = Path(__file__).parents[1]
    return [f"python -m pytest {path.relative_to(here.parent)} -k {story}"
            for room in ROOMS for path in sorted((here / room).glob("test_*.py"))
            for story in name.findall(path.read_text("utf-8"))]
