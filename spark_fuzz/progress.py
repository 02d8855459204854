"""A campaign's progress: time, units, inputs and their rate, what was found so far.

On a terminal it is one line that moves. Elsewhere a line is printed at once and then every few seconds (`ticking`),
also while Spark starts or failures are played again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from invariants.front_desk.ticking import ticking

if TYPE_CHECKING:
    from spark_fuzz.campaign import Progress as Reached


class Screen:
    """One line that moves while a campaign works; a line every few seconds where nothing can move.

    console -- where it is shown; standard error by default, so that standard output can carry rows. name -- of the
    command. silent -- it is shown nowhere.
    """

    def __init__(self, console: Console | None = None, name: str = "campaign", *, silent: bool = False) -> None:
        """Nothing is shown before `shown`."""
        self._name = name
        self._console = Console(quiet=True) if silent else console or Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(), TextColumn(name), BarColumn(20), TimeElapsedColumn(),
            TextColumn("{task.fields[text]}"), console=self._console, transient=True,
        )
        self._task = self._progress.add_task("", total=1.0, text="")
        self._told, self._of, self._began = "", "", 0.0
        self._say("starting Spark")

    @contextmanager
    def shown(self) -> Iterator[Screen]:
        """Shown for the time of the block."""
        if self._console.is_terminal:
            with self._progress:
                yield self
            return
        self._began = time.monotonic()
        with ticking(self._tell):
            yield self

    def _tell(self, _: float) -> None:
        spent = f"{self._name}: {time.monotonic() - self._began:.0f} s{self._of}"
        self._console.print(f"{spent} | {self._text}", highlight=False, soft_wrap=True)

    def _say(self, text: str) -> None:
        self._text = text
        self._progress.update(self._task, text=text)

    def meanwhile(self, units: int) -> None:
        """So many units are done, stored or not."""
        self._say(f"{units} units{self._told}")

    def stored(self, reached: Reached, seconds: float) -> None:
        """What is stored now; seconds -- the time that the units were given."""
        rate = reached.inputs_now / reached.seconds if reached.seconds > 0 else 0.0
        self._told = f" | {reached.inputs:,} {reached.noun} | {_rate(rate)}/s"
        if reached.so_far:
            self._told += f" | {reached.so_far}"
        if not self._of:
            self._of, self._began = f" of {seconds:.0f} s", time.monotonic() - reached.seconds
        self._progress.update(self._task, total=seconds, completed=min(reached.seconds, seconds))
        self.meanwhile(reached.units)


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"  # noqa: PLR2004 - two digits either way
