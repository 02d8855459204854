"""Small charts: numbers between 0 and 100 that the page turns into SVG which stretches with its window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from invariants.report import words
from invariants.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its row, length in per cent of the longest, and the value as people read it."""

    row: Verdict
    percent: float
    value: str


@dataclass(frozen=True, slots=True)
class Curve:
    """A rising line: its row, SVG points in a 100 × 100 box (y downwards), and the ends of both axes in words."""

    row: Verdict
    points: str
    last_x: str
    last_y: str


def bars(rows: Sequence[Verdict], key: str) -> list[Bar]:
    """Rows whose cost has the key, longest first; equal ones by name."""
    timed = [(float(row.cost[key]), row) for row in rows if _is_number(row.cost.get(key))]
    longest = max((value for value, _ in timed), default=0.0) or 1.0
    timed.sort(key=lambda pair: (-pair[0], pair[1].property, pair[1].subject.name))
    return [Bar(row, round(100 * value / longest, 2), words.seconds(value)) for value, row in timed]


def curves(rows: Sequence[Verdict]) -> list[Curve]:
    """A curve for each row whose cost holds two or more coverage_at_<seconds>."""
    return [curve for row in rows if (curve := _curve(row)) is not None]


def _curve(row: Verdict) -> Curve | None:
    points = sorted(_points(row.cost))
    if len(points) < 2:  # noqa: PLR2004 - a line has two ends
        return None
    width, height = points[-1][0] or 1.0, max(y for _, y in points) or 1.0
    drawn = " ".join(f"{round(100 * x / width, 2):g},{round(100 - 100 * y / height, 2):g}" for x, y in points)
    return Curve(row, drawn, words.seconds(points[-1][0]), words.number(points[-1][1]))


def _points(cost: Mapping[str, object]) -> list[tuple[float, float]]:
    found = [(key.removeprefix(words.CURVE), value) for key, value in cost.items() if key.startswith(words.CURVE)]
    return [(float(at), float(value)) for at, value in found  # type: ignore[arg-type]
            if at.replace(".", "", 1).isdecimal() and _is_number(value)]


def _is_number(value: object) -> bool:
    """A number that can be drawn: JSON as Python reads it also has NaN and Infinity."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")
