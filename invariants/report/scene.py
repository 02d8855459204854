"""Layout of the picture of a cause: one drawing, in pixels, that fits the screen of a laptop.

Lifelines stand on the left, sentences on the right. Nothing here measures fonts: widths are estimates that err on the
wide side.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from invariants.pictures.marks import FOLD, GAP
from invariants.pictures.text import earlier_steps, legend, seconds, sign, timeless
from invariants.report.shapes import Picture, PictureRow

WIDTH, HEIGHT = 1180, 700
"""No picture is larger, in pixels."""
_TIME = 74  # the column of times
_NARROWEST, _WIDEST = 34, 112  # distance of two lifelines
_NAME_PX, _TEXT_PX = 6.9, 6.6  # one character of a name, of a sentence
_LINE, _TIGHT, _GAP = 16, 14, 9  # height of a line of text; of one in a picture with many; above and below a row
_MARGIN = 10
_LEVEL = 20  # height of a row of names
_SENTENCES = 560  # the least width that is left for sentences


@dataclass(frozen=True, slots=True)
class Lane:
    """A lifeline: its name, where it runs, and where the name stands."""

    name: str
    x: float
    y: float
    anchor: str


@dataclass(frozen=True, slots=True)
class Line:
    """A row as drawn.

    top, height -- of its strip. y -- of the arrow or the dot. x1, x2 -- the ends of the arrow; equal: a dot; None: no
    sign. time -- in seconds. texts -- each line of the sentence with its baseline.
    """

    row: PictureRow
    top: float
    height: float
    y: float
    x1: float | None
    x2: float | None
    time: str
    texts: tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture as drawn.

    text_x -- where sentences begin. foot -- what explains the signs and says what is missing, each line with its
    baseline.
    """

    width: float
    height: float
    text_x: float
    lanes: tuple[Lane, ...]
    lines: tuple[Line, ...]
    foot: tuple[tuple[float, str], ...]

    @property
    def scale(self) -> float:
        """How much smaller it is shown, so that it fits."""
        return min(1, HEIGHT / self.height)


def scene(picture: Picture) -> Scene:
    """Lay a picture out."""
    lanes, text_x = _lanes(picture.lifelines)
    columns = int((WIDTH - text_x - _MARGIN) / _TEXT_PX)
    wrapped = [textwrap.wrap(sign(row) + row.text, columns, break_on_hyphens=False) or [""] for row in picture.rows]
    head = max((lane.y for lane in lanes), default=0) + _GAP
    many = head + _foot_px(picture) + sum(len(lines) * _LINE + _GAP for lines in wrapped) > HEIGHT
    lines = tuple(_lines(picture.rows, wrapped, {lane.name: lane.x for lane in lanes}, head, _TIGHT if many else _LINE))
    bottom = lines[-1].top + lines[-1].height if lines else head
    foot = tuple((round(bottom + _GAP + _LEVEL * at), line) for at, line in enumerate(_foot(picture), 1))
    return Scene(WIDTH, round(bottom + _foot_px(picture)), text_x, lanes, lines, foot)


def _lanes(names: Sequence[str]) -> tuple[tuple[Lane, ...], float]:
    """The lifelines, with their names one below the other where they are too near to each other."""
    longest = max(map(len, names), default=0) * _NAME_PX + 14
    room = (WIDTH - _TIME - _SENTENCES) / max(len(names), 1)
    beside = longest <= min(room, _WIDEST)
    pitch = max(min(room, longest if beside else _WIDEST / 2), _NARROWEST)
    begin = _TIME + (pitch / 2 if beside else _NARROWEST / 2)
    lanes = tuple(
        Lane(name, round(begin + at * pitch, 1), _LEVEL * (1 if beside else at + 1), "middle" if beside else "start")
        for at, name in enumerate(names))
    return lanes, round(begin + len(names) * pitch, 1)


def _lines(
    rows: Sequence[PictureRow], wrapped: Sequence[Sequence[str]], places: dict[str, float], head: float, line: float,
) -> Iterator[Line]:
    top = head
    for row, texts in zip(rows, wrapped, strict=True):
        height = len(texts) * line + _GAP
        y = round(top + _GAP / 2 + line / 2, 1)
        ends = (row.source, row.target) if {row.source, row.target} <= places.keys() else (row.at, row.at)
        x1, x2 = (places.get(end) if row.kind not in {FOLD, GAP} else None for end in ends)
        time = "" if timeless(row) else seconds(row.time_ms)
        baselines = tuple((round(top + _GAP / 2 + line * (at + 0.78), 1), text) for at, text in enumerate(texts))
        yield Line(row, round(top, 1), height, y, x1, x2, time, baselines)
        top += height


def _foot(picture: Picture) -> list[str]:
    missing = [earlier_steps(picture.left_out)] if picture.left_out else []
    return [*legend(picture.rows, int(_SENTENCES / _TEXT_PX), drawn=True), *missing]


def _foot_px(picture: Picture) -> float:
    return _LEVEL * len(_foot(picture)) + _GAP
