"""A campaign's progress on the terminal: time, rounds, units, inputs and their rate; silent where it would be noise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from spark_fuzz.campaign import Progress as Reached


class Screen:
    """One line that moves while a campaign works; a line per report where nothing can move.

    console -- where it is shown; standard error by default, so that standard output can carry rows. silent -- nowhere.
    """

    def __init__(self, console: Console | None = None, *, silent: bool = False) -> None:
        """Nothing is shown before `shown`."""
        self._console = Console(quiet=True) if silent else console or Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(), TextColumn("campaign"), BarColumn(20), TimeElapsedColumn(),
            TextColumn("{task.fields[text]}"), console=self._console, transient=True,
        )
        self._task = self._progress.add_task("", total=1.0, text="starting Spark")
        self._told = "first round"
        self._next_line_s = 0.0

    @contextmanager
    def shown(self) -> Iterator[Screen]:
        """Shown for the time of the block."""
        with self._progress:
            yield self

    def within_round(self, done: int, of: int) -> None:
        """Units done in the round that works."""
        self._progress.update(self._task, text=f"{self._told} | {done} of {of} units of this round")

    def after_round(self, reached: Reached, seconds: float) -> None:
        """What a round left; seconds -- the time the campaign was given."""
        rate = reached.inputs_now / reached.seconds if reached.seconds > 0 else 0.0
        inputs = f"{reached.inputs:,} {reached.noun} | {_rate(rate)}/s"
        self._told = f"round {reached.rounds} | {reached.units} units | {inputs}"
        self._progress.update(self._task, total=seconds, completed=min(reached.seconds, seconds), text=self._told)
        if reached.rounds and not self._console.is_terminal and reached.seconds >= self._next_line_s:
            self._console.print(f"campaign: {reached.seconds:.0f} s of {seconds:.0f} s | {self._told}", highlight=False)
            self._next_line_s = reached.seconds + 10


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"  # noqa: PLR2004 - two digits either way
