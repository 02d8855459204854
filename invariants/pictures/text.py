"""A picture in lines of text: lifelines on the left, as narrow as can be, and sentences on the right."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Protocol

from invariants.pictures.marks import EARLIER, FAULT, FINDING, FOLD, GAP, SEEN, VAIN

WIDEST, LONGEST = 80, 40
"""Columns and lines of a screen that a picture fits."""
SIGNS = {EARLIER: "①", FINDING: "✗", SEEN: "⇒"}
"""How the moments of a finding are marked, in text and drawing."""
BEGAN = "◆"
"""How the rows are marked that began it."""
BROKEN = "Broken promise:"
"""What stands before the claim below a picture."""
WHO = "Names:"
"""What stands before the names that a picture explains."""
_PITCH = 3  # columns from one lifeline to the next
_BLANKS = 2
_LINE, _EVENT, _FAULT, _OVER, _PASSES = "│", "●", "×", "┊", "⋮"


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
        """Event, fault, fold, gap, or in vain."""
        ...

    @property
    def mark(self) -> str:
        """Which moment of the finding it is, or empty."""
        ...

    @property
    def began(self) -> bool:
        """Whether it is what began it."""
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
        time = "" if timeless(row) else seconds(row.time_ms)
        drawn.append(f"{time:>{width + _BLANKS}}{' ' * _BLANKS}{_lane(lifelines, row)}{first}")
        drawn += [f"{margin}{_empty(lifelines)}{line}" for line in more]
    return [*drawn, *legend(rows, WIDEST)]


def below(claim: str, names: str = "") -> list[str]:
    """What stands below the lines of a picture: who is who in it, and the promise that was broken."""
    who = textwrap.wrap(f"{WHO} {names}", WIDEST, break_on_hyphens=False) if names else []
    return who + textwrap.wrap(f"{SIGNS[FINDING]} {BROKEN} {claim}", WIDEST)


def legend(rows: Sequence[Shown], columns: int, *, drawn: bool = False) -> list[str]:
    """What the marks of these rows mean, in lines of so many columns; drawn -- not the letters that draw lines."""
    found, at = [""], 0
    for one in _meanings(rows, drawn=drawn):
        if len(found[at]) + len(one) + _PITCH > columns:
            found.append("")
            at += 1
        found[at] += f"{' ' * _PITCH if found[at] else ''}{one}"
    return [line for line in found if line]


def _meanings(rows: Sequence[Shown], *, drawn: bool) -> Iterator[str]:
    marks, kinds = {row.mark for row in rows}, {row.kind for row in rows}
    if any(row.began for row in rows):
        yield f"{BEGAN} what began it"
    if EARLIER in marks:
        yield f"{SIGNS[EARLIER]} the earlier moment that {SIGNS[FINDING]} contradicts"
    if FINDING in marks:
        yield f"{SIGNS[FINDING]} the promise breaks"
    if SEEN in marks:
        yield f"{SIGNS[SEEN]} what users see of it"
    if not drawn:
        yield f"{_EVENT} a machine acts"
        yield from [f"{_FAULT} fault"] if FAULT in kinds else [f"{_FAULT} in vain"] if VAIN in kinds else []
        yield from ["├─▶ message, as its receiver takes it"] if any(row.source for row in rows) else []
        yield from [f"{_PASSES} time passes"] if GAP in kinds else []
        yield from [f"{_OVER} repetition"] if FOLD in kinds else []


def sign(row: Shown) -> str:
    """What stands before the sentence of a row: its marks, each with a blank behind it."""
    return (f"{BEGAN} " if row.began else "") + (f"{SIGNS[row.mark]} " if row.mark in SIGNS else "")


def timeless(row: Shown) -> bool:
    """Whether a row has no time of its own: time passes, or it tells of no machine alone."""
    return row.kind == GAP or (not row.at and (row.kind == FOLD or row.mark == SEEN))


def earlier_steps(left_out: int) -> str:
    """What is said of steps of the past that are not shown."""
    return f"… {left_out} earlier step{'s' * (left_out != 1)}, not shown"


def room(lifelines: Sequence[str], rows: Sequence[Shown]) -> int:
    """How many columns are left for sentences."""
    time = max([len(seconds(row.time_ms)) for row in rows], default=1)
    return WIDEST - time - 2 * _BLANKS - _PITCH * len(lifelines) - 1


def wrapped(row: Shown, columns: int) -> list[str]:
    """The sentence of a row with its marks, line by line."""
    return textwrap.wrap(sign(row) + row.text, columns, break_on_hyphens=False) or [""]


def seconds(ms: int) -> str:
    """A time as a picture shows it, in seconds."""
    return f"{ms / 1000:,.3f}"


def _empty(lifelines: Sequence[str]) -> str:
    return f"{_LINE}  " * len(lifelines) + " "


def _lane(lifelines: Sequence[str], row: Shown) -> str:
    """The lifelines with a sign on that of the row, or its arrow."""
    cells = [*_empty(lifelines)]
    places = {name: at * _PITCH for at, name in enumerate(lifelines)}
    if row.kind in (FOLD, GAP):
        for at in places.values():
            cells[at] = _OVER if row.kind == FOLD else _PASSES
    if row.source in places and row.target in places:
        for at, letter in _arrow(places[row.source], places[row.target], lost=row.kind in (FAULT, VAIN)):
            cells[at] = letter
    elif row.at in places and row.kind not in (FOLD, GAP):
        other = _FAULT if row.kind in (FAULT, VAIN) else _EVENT
        cells[places[row.at]] = SIGNS[FINDING] if row.mark == FINDING else other
    return "".join(cells)


def _arrow(begin: int, end: int, *, lost: bool) -> Iterator[tuple[int, str]]:
    step = 1 if end > begin else -1
    for at in range(begin, end, step):
        yield at, "┼" if at % _PITCH == 0 else "─"
    yield begin, "├" if step > 0 else "┤"
    yield end - step, _FAULT if lost else "▶" if step > 0 else "◀"
