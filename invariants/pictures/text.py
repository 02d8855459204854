"""A picture in lines of text: lifelines on the left, as narrow as can be, and sentences on the right."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Protocol

from invariants.pictures.marks import EARLIER, FAULT, FINDING, FOLD

WIDEST, LONGEST = 100, 40
"""Columns and lines of a screen that a picture fits."""
SIGNS = {EARLIER: "①", FINDING: "✗"}
"""How the two moments of a finding are marked, in text and drawing."""
LEGEND = f"{SIGNS[EARLIER]} is the earlier moment that {SIGNS[FINDING]} contradicts"
_PITCH = 3  # columns from one lifeline to the next
_BLANKS = 2
_LINE, _EVENT, _FAULT, _OVER = "│", "●", "×", "┊"


class Shown(Protocol):
    """A row as it is drawn; see Row of `invariants.pictures.rows`."""

    @property
    def time_ms(self) -> int:
        """When."""
        ...

    @property
    def at(self) -> str:
        """On which lifeline; empty: on none."""
        ...

    @property
    def source(self) -> str:
        """Where an arrow begins."""
        ...

    @property
    def target(self) -> str:
        """Where it ends."""
        ...

    @property
    def text(self) -> str:
        """The sentence."""
        ...

    @property
    def kind(self) -> str:
        """Event, fault or fold."""
        ...

    @property
    def mark(self) -> str:
        """Which moment of the finding it is, or empty."""
        ...


def lines(lifelines: Sequence[str], rows: Sequence[Shown], left_out: int = 0) -> list[str]:
    """The lines of a picture, none wider than WIDEST; left_out -- how many steps of the past are not shown."""
    width = max([len(seconds(row.time_ms)) for row in rows], default=1)
    margin = " " * (width + 2 * _BLANKS)
    drawn = [f"{margin}{(_LINE + '  ') * at}{name}"[:WIDEST] for at, name in enumerate(lifelines)]
    if left_out:
        drawn.append(f"{margin}{_empty(lifelines)}{earlier_steps(left_out)}")
    for row in rows:
        first, *more = wrapped(row, room(lifelines, rows))
        time = "" if row.kind == FOLD and not row.at else seconds(row.time_ms)
        drawn.append(f"{time:>{width + _BLANKS}}{' ' * _BLANKS}{_lane(lifelines, row)}{first}")
        drawn += [f"{margin}{_empty(lifelines)}{line}" for line in more]
    if any(row.mark == EARLIER for row in rows):
        drawn.append(f"{margin}{LEGEND}")
    return drawn


def earlier_steps(left_out: int) -> str:
    """What is said of steps of the past that are not shown."""
    return f"… {left_out} earlier step{'s' * (left_out != 1)} behind these"


def room(lifelines: Sequence[str], rows: Sequence[Shown]) -> int:
    """How many columns are left for sentences."""
    time = max([len(seconds(row.time_ms)) for row in rows], default=1)
    return WIDEST - time - 2 * _BLANKS - _PITCH * len(lifelines) - 1


def wrapped(row: Shown, columns: int) -> list[str]:
    """The sentence of a row with its mark, line by line."""
    sign = f"{SIGNS[row.mark]} " if row.mark else ""
    return textwrap.wrap(sign + row.text, columns, break_on_hyphens=False) or [""]


def seconds(ms: int) -> str:
    """A time as a picture shows it, in seconds."""
    return f"{ms / 1000:,.3f}"


def _empty(lifelines: Sequence[str]) -> str:
    return f"{_LINE}  " * len(lifelines) + " "


def _lane(lifelines: Sequence[str], row: Shown) -> str:
    """The lifelines with a sign on that of the row, or its arrow."""
    cells = [*_empty(lifelines)]
    places = {name: at * _PITCH for at, name in enumerate(lifelines)}
    if row.kind == FOLD:
        for at in places.values():
            cells[at] = _OVER
    if row.source in places and row.target in places:
        for at, sign in _arrow(places[row.source], places[row.target], lost=row.kind == FAULT):
            cells[at] = sign
    elif row.at in places and row.kind != FOLD:
        cells[places[row.at]] = SIGNS[FINDING] if row.mark == FINDING else _FAULT if row.kind == FAULT else _EVENT
    return "".join(cells)


def _arrow(begin: int, end: int, *, lost: bool) -> Iterator[tuple[int, str]]:
    step = 1 if end > begin else -1
    for at in range(begin, end, step):
        yield at, "┼" if at % _PITCH == 0 else "─"
    yield begin, "├" if step > 0 else "┤"
    yield end - step, _FAULT if lost else "▶" if step > 0 else "◀"
