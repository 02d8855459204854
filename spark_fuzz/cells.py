"""Cells of the kill matrix, and the matrix as people read it in a terminal."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from invariants.verdict import BadInputError

MATRIX = "kill-matrix.json"
EFFECT = ("called", "differs")
"""Columns besides those of the judges: in how many runs what the bug changes was called; how many runs differ from the
control's in the same worlds."""
QUARTERS = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Cell:
    """What one judge saw of one subject.

    property -- that it saw most often. killed, of -- hunts. steps, time_ms -- quartiles and median of segments and
    virtual time to the kill, None: longer than limit, the median of hunts without a kill. steps of `decisions` are
    inputs, and there is no time.
    """

    property: str | None
    killed: int
    of: int
    steps: tuple[float | None, ...]
    time_ms: tuple[float | None, ...]
    limit_steps: float
    limit_ms: float

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def quartiles(values: Sequence[int], of: int) -> tuple[float | None, ...]:
    """The values at the quarters of so many hunts, nearest rank; None where there was no kill."""
    ordered = sorted(values)
    places = [max(0, math.ceil(of * part) - 1) for part in QUARTERS]
    return tuple(ordered[place] if place < len(ordered) else None for place in places)


def median(values: Iterable[int]) -> int:
    """The lower one of the two in the middle; 0 of nothing."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2] if ordered else 0


def matrix_of(folder: Path) -> Mapping[str, Any]:
    """What the file of a matrix says; raises BadInputError when there is none."""
    path = folder / MATRIX
    try:
        document: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInputError(f"{path}: cannot be read ({error}); give the folder of a kill matrix") from error
    return document


def matrix_view(folder: Path) -> Table:
    """The matrix that a folder holds; raises BadInputError when it holds none."""
    matrix = matrix_of(folder)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_lines=True)
    table.add_column("subject", overflow="fold")
    for name in (*matrix["judges"], *EFFECT):
        table.add_column(name, overflow="fold")
    for row in matrix["rows"]:
        shown = (_shown(row["cells"][judge]) for judge in matrix["judges"])
        table.add_row(Text(row["subject"].removeprefix("repaired+")), *shown, *effect_cells(row.get("effect")))
    return table


def effect_cells(effect: Mapping[str, Any] | None) -> tuple[str, str]:
    """Runs in which it was called, and runs that differ, each of how many; empty where nothing was compared."""
    if effect is None or not effect["compared"]:
        return "", ""
    return f"{effect['reached']}/{effect['runs']}", f"{effect['different']}/{effect['compared']}"


def _shown(cell: Mapping[str, Any]) -> Text:
    """Who it was, in how many hunts, and the median with quartiles, of time and of steps."""
    if not cell["killed"]:
        return Text(f"0/{cell['of']}" if cell["of"] else "", style="dim")
    killed = f"{cell['property']}\n{cell['killed']}/{cell['of']}"
    steps = f"{spread(cell['steps'], cell['limit_steps'], counted)} steps"
    if not cell["limit_ms"]:
        return Text(f"{cell['property']}\n{counted(cell['steps'][1])} inputs")
    return Text(f"{killed}  {spread(cell['time_ms'], cell['limit_ms'], _time)}\n{steps}")


def spread(values: Sequence[float | None], limit: float, text: Callable[[float], str]) -> str:
    """The median and the quartiles; what no hunt reached is longer than the limit."""
    low, middle, high = (f"> {text(limit)}" if value is None else text(value) for value in values)
    return f"{middle} ({low} … {high})"


def counted(number: float) -> str:
    """A number of steps."""
    return f"{number / 1000:,.0f}k" if number >= 10_000 else f"{number:,.0f}"  # noqa: PLR2004 - five digits say no more


def _time(ms: float) -> str:
    """Virtual time."""
    return f"{ms / 60_000:,.0f} min" if ms >= 600_000 else f"{ms / 1_000:,.1f} s"  # noqa: PLR2004 - ten minutes
