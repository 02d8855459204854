"""Below the table of a command: pictures of what led to violations, as `replay` and `show` draw them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from invariants import evidence
from invariants.report import words
from invariants.report.terminal import evidence_view
from invariants.verdict import BadInputError, Outcome, Verdict

FEW = 3
"""So many pictures are drawn at most."""
Documents = Mapping[str, Mapping[str, Any]]
"""Evidence that is in no file, by the replay command of its row."""


def pictures(rows: Sequence[Verdict], documents: Documents) -> Iterator[RenderableType]:
    """The pictures of rows that differ from their expectation; where none does those of all, if they are few.

    Rows that one command replays, as that of a variant as a whole and that of what it breaks, have one picture.
    """
    first = dict[str, Verdict]()
    for row in rows:
        if row.outcome is Outcome.VIOLATED:
            first.setdefault(row.replay, row)
    found = [(row, document) for row in first.values()
             if (document := _document(row, documents)) is not None and document["kind"] == "run"]
    different = [one for one in found if words.standing(one[0]) == "different"]
    chosen = different[:FEW] or (found if len(found) <= FEW else [])
    for row, document in chosen:
        try:
            yield Group(Text(""), evidence_view(document))
        except BadInputError as error:
            yield Text(f"the picture of {row.property} cannot be drawn: {error}")
    if left := len(found) - len(chosen):
        yield Text(f"{left} {'more ' * bool(chosen)}pictures: the replay commands above draw them")


def _document(row: Verdict, documents: Documents) -> Mapping[str, Any] | None:
    if row.replay in documents:
        return documents[row.replay]
    match shlex.split(row.replay):
        case ["rocketproof", "replay", name] if Path(name).is_file():
            return evidence.read(Path(name))
    return None
