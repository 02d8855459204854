"""How often `rocketproof search` puts first what a committer would name, for sentences from public reports.

`reports.toml` has the sentences, each with the hazards that can be behind it. One JSON object a line:

    reports     which, and whether glossary and ranking were made with them in view
    count       how many
    first       of how many a right hazard comes first
    three       of how many one is among the first three rows
    found       of how many one is among all rows that are shown

    python -m bench.reports
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from invariants.commands.catalogue import judged_of_runs
from invariants.front_desk.search import search

Reports = Sequence[Mapping[str, Any]]


def reports() -> Iterator[tuple[str, Reports]]:
    """The reports by the name of their part: what was said, where, and the hazards that answer it."""
    text = Path(__file__).with_name("reports.toml").read_text(encoding="utf-8")
    for which, parts in tomllib.loads(text).items():
        yield from ((f"{which}, {part.replace('_', ' ')}", said) for part, said in parts.items())


def place(report: Mapping[str, Any]) -> int | None:
    """The place of the first right answer, counted from 0; None if there is none."""
    named = (hit.name for hit in search(report["said"], judged_of_runs()))
    return next((place for place, name in enumerate(named) if name in report["hazards"]), None)


def measured(name: str, said: Reports) -> dict[str, Any]:
    """The row of a part."""
    found = [one for one in map(place, said) if one is not None]
    return {"reports": name, "count": len(said), "first": sum(one == 0 for one in found),
            "three": sum(one < 3 for one in found), "found": len(found)}  # noqa: PLR2004 - the first three


if __name__ == "__main__":
    for part in reports():
        print(json.dumps(measured(*part)))
