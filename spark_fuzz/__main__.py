"""`python -m spark_fuzz`: campaigns on Spark."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from invariants.verdict import BadInputError, ExitStatus, Verdict, exit_status
from spark_fuzz.cluster import ClusterLostError

_PLAIN_WIDTH = 140  # columns where there is no terminal


def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    minutes: Annotated[float, typer.Option(help="Wall time of the work; Spark's start comes on top.")] = 1.0,
    decisions: Annotated[bool, typer.Option("--decisions", help="Judge the allocation strategies.")] = False,
    master: Annotated[str, typer.Option(help="Spark master: local[*], local[2], spark://HOST:PORT.")] = "local[*]",
    out: Annotated[
        Path | None, typer.Option(help="Folder of rows, evidence and verdicts.jsonl; goes on where it stopped."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random inputs.")] = 0,
    units: Annotated[int | None, typer.Option(help="At most so many units of work, whatever time is left.")] = None,
    strategies: Annotated[
        str | None, typer.Option(help="MODULE:NAME of a tuple of invariants.allocation.Shipped to judge instead."),
    ] = None,
    json: Annotated[
        str | None, typer.Option(help="Write verdict rows to this file, one JSON object a line; - for stdout."),
    ] = None,
) -> None:
    """Judge every claim about the allocation strategies on all small sizes, then on random inputs until time is up.

    Exit status: 0 as expected, 1 some outcome differs, 2 bad input, 3 some outcome is unknown, or interrupted.

    Examples: python -m spark_fuzz --decisions --minutes 0.5; python -m spark_fuzz --decisions --minutes 60 --out DIR
    """
    console = Console(stderr=json == "-")
    if not console.is_terminal:
        console.width = _PLAIN_WIDTH
    verdicts: list[Verdict] = []
    status = None
    try:
        _check(decisions, json)
        from spark_fuzz.commands import campaign_decisions
        from spark_fuzz.decisions import TABLE
        from spark_fuzz.progress import Screen

        table, screen = strategies or TABLE, Screen(console)
        for one in campaign_decisions(minutes, master, out, seed, table=table, limit=units, screen=screen):
            verdicts.append(one)  # noqa: PERF402 - what came before an exception is shown too
    except BadInputError as error:
        status = _complain(ExitStatus.BAD_INPUT, str(error))
    except KeyboardInterrupt:
        status = _complain(ExitStatus.UNKNOWN, "interrupted; what was found is kept, give the command again to go on")
    except ClusterLostError as error:
        status = _complain(ExitStatus.UNKNOWN, str(error))
    if verdicts:
        from invariants.report.terminal import verdict_table

        console.print(verdict_table([_told_apart(one) for one in verdicts]), crop=False)  # commands are copied whole
        if json is not None:
            _write(json, verdicts)
    raise typer.Exit(exit_status(verdicts) if status is None else status)


def _check(decisions: bool, json: str | None) -> None:
    """Bad input that is known before hours of work."""
    if not decisions:
        raise BadInputError("say what the campaign is about: --decisions")
    if json not in {None, "-"}:
        _write(str(json), [])


def _told_apart(verdict: Verdict) -> Verdict:
    """For the table: the same strategy with other inputs, or in another configuration, is another subject."""
    subject = verdict.subject
    return replace(verdict, subject=replace(subject, name=" | ".join([subject.name, *subject.details.values()])))


def _complain(status: ExitStatus, sentence: str) -> ExitStatus:
    print(f"rocketproof: {sentence}", file=sys.stderr)
    return status


def _write(target: str, verdicts: list[Verdict]) -> None:
    text = "".join(f"{one.to_json()}\n" for one in verdicts)
    if target == "-":
        sys.stdout.write(text)
        return
    try:
        Path(target).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInputError(f"--json {target}: cannot be written ({error.strerror}); give another file") from error


app = typer.Typer(add_completion=False)
app.command()(command)


def main() -> None:
    """Entry point."""
    app()


if __name__ == "__main__":
    main()
