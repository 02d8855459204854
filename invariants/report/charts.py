"""Small charts: numbers between 0 and 100 that the page turns into SVG which stretches with its window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from invariants.report.words import is_number, seconds
from invariants.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its row, length in per cent of the longest, and the value as people read it."""

    row: Verdict
    percent: float
    value: str


@dataclass(frozen=True, slots=True)
class Curve:
    """A rising line: SVG points in a 100 × 100 box (y downwards), and where both axes end."""

    points: str
    last_x: float
    last_y: float


def bars(rows: Sequence[Verdict], key: str) -> list[Bar]:
    """Rows whose cost has the key, longest first; equal ones by name."""
    timed = [(row.cost[key], row) for row in rows if _is_drawn(row.cost.get(key))]
    longest = max((value for value, _ in timed), default=0) or 1
    timed.sort(key=lambda pair: (-pair[0], pair[1].property, pair[1].subject.name))
    return [Bar(row, round(100 * value / longest, 2), seconds(value)) for value, row in timed]


def curve(points: Sequence[tuple[float, float]]) -> Curve:
    """The line through these points; the last one is its end on the right."""
    width, height = points[-1][0] or 1, max(y for _, y in points) or 1
    drawn = " ".join(f"{round(100 * x / width, 2):g},{round(100 - 100 * y / height, 2):g}" for x, y in points)
    return Curve(drawn, *points[-1])


def _is_drawn(value: object) -> bool:
    """Whether it has a place on a chart: JSON as Python reads it also has NaN and Infinity."""
    return is_number(value) and 0 <= value < float("inf")
