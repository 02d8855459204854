"""How often `rocketproof search` puts first what a committer would name, for sentences from public reports.

`reports.toml` has the sentences, each with the hazards that can be behind it. The ranking is made with every second of
them in view; the others are only measured. One JSON object a line:

    half      made with, or kept apart
    reports   how many
    first     of how many a right hazard comes first
    three     of how many one is among the first three rows
    found     of how many one is among all rows that are shown

    python -m bench.reports
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from invariants.commands.catalogue import judged_of_runs
from invariants.front_desk.search import search

HALVES = ("made with", "kept apart")


def reports() -> list[dict[str, Any]]:
    """The reports: what was said, where, and the hazards that answer it."""
    return list(tomllib.loads(Path(__file__).with_name("reports.toml").read_text(encoding="utf-8"))["report"])


def place(report: dict[str, Any]) -> int | None:
    """The place of the first right answer, counted from 0; None if there is none."""
    named = (hit.name for hit in search(report["said"], judged_of_runs()))
    return next((place for place, name in enumerate(named) if name in report["hazards"]), None)


def measured() -> list[dict[str, Any]]:
    """Both halves."""
    places = [place(report) for report in reports()]
    rows = []
    for half, name in enumerate(HALVES):
        found = [one for one in places[half::2] if one is not None]
        rows.append({
            "half": name, "reports": len(places[half::2]), "first": sum(one == 0 for one in found),
            "three": sum(one < 3 for one in found), "found": len(found)})  # noqa: PLR2004 - the first three
    return rows


if __name__ == "__main__":
    for row in measured():
        print(json.dumps(row))
