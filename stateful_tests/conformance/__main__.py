"""`python -m stateful_tests.conformance`: replay recordings of the real RocketMQ 4.9.3."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from invariants.verdict import BadInputError, ExitStatus, Outcome, Verdict, exit_status

_STYLES = {Outcome.HOLDS: "green", Outcome.VIOLATED: "bold red", Outcome.UNKNOWN: "yellow"}
_PLAIN_WIDTH = 140  # columns where there is no terminal


def command(
    vectors: Annotated[
        Path | None, typer.Option(help="Directory of recordings (*.jsonl, *.jsonl.gz); default: the project's own."),
    ] = None,
    file: Annotated[
        list[str] | None, typer.Option(help="Only this recording, with or without suffix; may be repeated."),
    ] = None,
    json: Annotated[
        str | None, typer.Option(help="Write verdict rows to this file, one JSON object a line; - for stdout."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Directory for evidence of differences.")] = None,
) -> None:
    """Compare the implementation with recordings of the real RocketMQ 4.9.3, row by row.

    Prints rows compared and rows different for each file; a file that no adapter understands is reported as not
    compared. Exit status: 0 as recorded, 1 some row differs, 2 bad input, 3 some file could not be compared.

    Examples: python -m stateful_tests.conformance --file names; python -m stateful_tests.conformance --vectors DIR
    """
    console = Console(stderr=json == "-")
    if not console.is_terminal:
        console.width = _PLAIN_WIDTH
    verdicts: list[Verdict] = []
    status = None
    try:
        _collect(verdicts, vectors, file or [], out, console)
    except BadInputError as error:
        status = _complain(ExitStatus.BAD_INPUT, str(error))
    except KeyboardInterrupt:
        status = _complain(ExitStatus.UNKNOWN, "interrupted: the files above are judged, the others are not")
    if verdicts:
        console.print(table(verdicts))
    if json is not None:
        _write(json, verdicts)
    raise typer.Exit(exit_status(verdicts) if status is None else status)


def _complain(status: ExitStatus, sentence: str) -> ExitStatus:
    print(f"rocketproof: {sentence}", file=sys.stderr)
    return status


def _collect(
    verdicts: list[Verdict], vectors: Path | None, files: list[str], out: Path | None, console: Console,
) -> None:
    """Append a verdict for each file, so that what was found survives an error; progress on a terminal."""
    from stateful_tests.conformance.judge import RECORDINGS, chosen, conform

    directory = RECORDINGS if vectors is None else vectors
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    wanted = chosen(directory, files)
    total = len(wanted.recordings) + len(wanted.images) + len(wanted.scenarios)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("files", total=total)
        for one in conform(directory, files, out, lambda path, rows: progress.update(
            task, description=f"{path.name}: {rows} rows",
        )):
            verdicts.append(one)
            progress.advance(task)


def table(verdicts: list[Verdict]) -> Table:
    """The verdicts for people: rows compared and different, outcome and note of each file."""
    result = Table("recording", box=None, header_style="bold", pad_edge=False)
    for heading in ("rows", "different", "seconds"):
        result.add_column(heading, justify="right")
    result.add_column("outcome")
    result.add_column("note", overflow="fold")
    for one in verdicts:
        numbers = (f"{one.cost['rows']:,}", f"{one.cost['different']:,}", f"{one.cost['seconds']:.2f}")
        result.add_row(one.subject.name, *numbers, Text(one.outcome, _STYLES[one.outcome]), Text(one.note))
    total = sum(int(one.cost["rows"]) for one in verdicts)
    result.add_row(f"{len(verdicts)} files", f"{total:,}", f"{sum(int(one.cost['different']) for one in verdicts):,}")
    return result


def _write(target: str, verdicts: list[Verdict]) -> None:
    text = "".join(f"{one.to_json()}\n" for one in verdicts)
    if target == "-":
        sys.stdout.write(text)
    else:
        Path(target).write_text(text, encoding="utf-8")


app = typer.Typer(add_completion=False)
app.command()(command)


def main() -> None:
    """Entry point."""
    app()


if __name__ == "__main__":
    main()
