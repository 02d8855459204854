"""A page of disks as strips: what was written, what a crash has left of it, and what is there after the start.

One HTML file that needs nothing else. All that is shown is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_HERE = Path(__file__).parent

WHOLE, LOST, WRONG, EMPTY, BREAK = "whole", "lost", "wrong", "empty", "break"
SIGNS = {
    WHOLE: ("", "as it was written last"), LOST: ("✗", "lost: not as it was written last, or gone"),
    WRONG: ("!", "breaks the promise"), EMPTY: ("", "nothing"), BREAK: ("┊", "a page of 4,096 bytes ends"),
}
"""Kind of a cell to its sign and its meaning."""


class Cell(NamedTuple):
    """A part of a file. kind -- of SIGNS. title -- is shown when somebody points at it. sure -- promised to last."""

    text: str
    kind: str = WHOLE
    title: str = ""
    sure: bool = False

    @property
    def sign(self) -> str:
        """Of its kind."""
        return SIGNS[self.kind][0]


class Strip(NamedTuple):
    """A file."""

    name: str
    cells: tuple[Cell, ...]


class Panel(NamedTuple):
    """A disk at a time."""

    title: str
    strips: tuple[Strip, ...]


class Sheet(NamedTuple):
    """One crash.

    anchor -- its id on the page. title -- the promise; sentence -- how it is broken; short -- the names of the causes,
    because -- with their sentences. crash -- what it does. steps -- what was done; the crash comes after `done` of
    them. command -- shows it again.
    """

    anchor: str
    title: str
    short: str
    sentence: str
    crash: str
    steps: tuple[str, ...]
    done: int
    panels: tuple[Panel, ...]
    because: tuple[tuple[str, str], ...]
    command: str


def strips_page(title: str, lead: str, sheets: Sequence[Sheet]) -> str:
    """The page; the same input gives the same page."""
    style = "".join(_HERE.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "strips.css"))
    legend = [Cell(meaning, kind) for kind, (_, meaning) in SIGNS.items()]
    return _environment().get_template("strips.html.j2").render(
        title=title, lead=lead, sheets=sheets, style=style, legend=legend)


@cache
def _environment() -> Environment:
    return Environment(loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
                       lstrip_blocks=True, keep_trailing_newline=True)
