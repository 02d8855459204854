"""`python -m spark_fuzz`: campaigns on Spark."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from invariants.front_desk.options import Everything
from invariants.verdict import BadInputError, ExitStatus, Verdict, exit_status
from spark_fuzz.crew import ClusterLostError

if TYPE_CHECKING:
    from spark_fuzz.progress import Screen

_PLAIN_WIDTH = 140  # columns where there is no terminal


def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    minutes: Annotated[float, typer.Option(help="Wall time of all of it, Spark's start too.")] = 1.0,
    decisions: Annotated[bool, typer.Option("--decisions", help="Judge the allocation strategies instead.")] = False,
    master: Annotated[str, typer.Option(help="Spark master: local[*], local[2], spark://HOST:PORT.")] = "local[*]",
    out: Annotated[
        Path | None, typer.Option(help="Folder of rows, evidence and verdicts.jsonl; goes on where it stopped."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Which seeds are drawn.")] = 0,
    units: Annotated[int | None, typer.Option(help="At most so many units of work, whatever time is left.")] = None,
    subject: Annotated[list[str] | None, typer.Option(
        help="shipped, repaired (default), repaired+BUG, repaired-HAZARD.")] = None,
    variant: Annotated[list[str] | None, typer.Option(help="A planted bug, or a file that defines VARIANT.")] = None,
    workload: Annotated[list[str] | None, typer.Option(help="Only this workload.")] = None,
    profile: Annotated[list[str] | None, typer.Option(help="Only this fault profile.")] = None,
    strategy: Annotated[list[str] | None, typer.Option(help="Only uniform, swarm, priority or focus.")] = None,
    until_failure: Annotated[bool, typer.Option("--until-failure", help="End with the first new failure.")] = False,
    strategies: Annotated[str | None, typer.Option(
        help="With --decisions: MODULE:NAME of a tuple of invariants.allocation.Shipped to judge.")] = None,
    json: Annotated[
        str | None, typer.Option(help="Write verdict rows to this file, one JSON object a line; - for stdout."),
    ] = None,
    everything: Everything = False,
) -> None:
    """Judge simulated worlds by seed, on Spark, until time is up; with --decisions the allocation strategies.

    Exit status: 0 as expected, 1 some outcome differs, 2 bad input, 3 some outcome is unknown, or interrupted.

    Examples: python -m spark_fuzz --minutes 5; python -m spark_fuzz --decisions --minutes 60 --out DIR
    """
    def rows(screen: Screen) -> Iterator[Verdict]:
        from spark_fuzz import commands

        if decisions:
            _refuse(subject, variant, workload, profile, strategy)
            table = strategies or "invariants.allocation.shipped:SHIPPED"
            return commands.campaign_decisions(minutes, master, out, seed, table=table, limit=units, screen=screen)
        subjects = commands.subjects_of(subject or (), variant or ())
        aim = Aim(subjects, tuple(workload or ()), tuple(profile or ()), tuple(strategy or ()), seed, units,
                  until_failure)
        return commands.campaign_worlds(minutes, aim, master, out, screen=screen)

    from spark_fuzz.simulation import Aim

    _shown(rows, json, everything=everything)


def _refuse(*given: object) -> None:
    if any(given):
        raise BadInputError("--decisions: strategies have neither subject nor variant, workload, profile or strategy")


def _shown(rows: Callable[[Screen], Iterator[Verdict]], json: str | None, *, everything: bool) -> None:
    """Show the rows that a campaign gives, and leave with their exit status."""
    from spark_fuzz.progress import Screen

    console = Console(stderr=json == "-")
    if not console.is_terminal:
        console.width = _PLAIN_WIDTH
    verdicts: list[Verdict] = []
    status = None
    try:
        if json not in {None, "-"}:
            _write(str(json), [])  # bad input that is known before hours of work
        for one in rows(Screen(console)):
            verdicts.append(one)  # noqa: PERF402 - what came before an exception is shown too
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - what came before a crash is shown and written too
        status = _ended(error)
    if verdicts:
        from invariants.report.terminal import headlines, verdict_table
        from spark_fuzz.commands import covered

        table = verdict_table([_told_apart(one) for one in verdicts], everything=everything)
        console.print(table, *headlines(verdicts), sep="\n", crop=False)  # commands are copied whole
        for said in covered(verdicts):
            console.print(Text(said))
        if json is not None:
            _write(json, verdicts)
    raise typer.Exit(exit_status(verdicts) if status is None else status)


def _ended(error: BaseException) -> ExitStatus:
    """Say why the work ended early."""
    match error:
        case BadInputError():
            return _complain(ExitStatus.BAD_INPUT, str(error))
        case KeyboardInterrupt():
            return _complain(ExitStatus.UNKNOWN, "interrupted; what was found is kept, give the command again to go on")
        case ClusterLostError():
            return _complain(ExitStatus.UNKNOWN, str(error))
    traceback.print_exception(error)
    return _complain(ExitStatus.UNKNOWN, f"crashed: {type(error).__name__}: {error}")


def _told_apart(verdict: Verdict) -> Verdict:
    """For the table: the same strategy with other inputs, or in another configuration, is another subject."""
    subject = verdict.subject
    told = [str(value) for name, value in subject.details.items() if name != "file"]
    name = " | ".join([subject.name, *told])
    return replace(verdict, subject=replace(subject, name=name))


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
