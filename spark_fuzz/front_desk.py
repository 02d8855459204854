"""The commands `campaign`, `compare` and `kill-matrix` of the front desk, and the campaigns of `verify`.

They import pyspark when they run, so that --help is there at once.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from invariants.front_desk.options import Base, Json, Property, Seed, examples, judging
from invariants.verdict import BadInputError, Verdict

if TYPE_CHECKING:
    from invariants.front_desk.desk import Desk
    from spark_fuzz.simulation import Aim

Several: TypeAlias = list[str] | None
Minutes: TypeAlias = Annotated[float, typer.Option(help="Wall time of all of it, Spark's start too.")]
Master: TypeAlias = Annotated[str, typer.Option(help="Spark master: local[*], local[2], spark://HOST:PORT.")]
Ledger: TypeAlias = Annotated[Path | None, typer.Option(
    metavar="DIR", help="Folder of rows, evidence and verdicts.jsonl; the same folder goes on where it stopped.")]

CAMPAIGN = examples(
    "rocketproof campaign --minutes 5", "rocketproof campaign --subject shipped --workload orderly --minutes 5",
    "rocketproof campaign --variant my_bug.py --until-failure",
    "rocketproof campaign --subject shipped --towards out/cti --minutes 5",
    "rocketproof campaign --minutes 60 --master spark://host:7077 --out DIR   # goes on where it stopped",
    "rocketproof campaign --decisions --minutes 0.5")


@judging
def campaign(  # noqa: PLR0913, PLR0917 - one parameter for each option
    decisions: Annotated[bool, typer.Option("--decisions", help="About the allocation strategies instead.")] = False,
    minutes: Minutes = 1.0, master: Master = "local[*]",
    subject: Annotated[Several, typer.Option(
        metavar="NAME", help="shipped, repaired (default), repaired-HAZARD, each also with +BUG or +FILE; may be "
        "repeated.")] = None,
    variant: Annotated[Several, typer.Option(
        metavar="BUG|FILE", help="A planted bug, or a Python file that defines VARIANT; may be repeated.")] = None,
    base: Base = None,
    workload: Annotated[Several, typer.Option(metavar="NAME", help="Only this workload; may be repeated.")] = None,
    profile: Annotated[Several, typer.Option(metavar="NAME", help="Only this fault profile; may be repeated.")] = None,
    strategy: Annotated[Several, typer.Option(
        metavar="NAME", help="Only uniform, swarm, priority or focus; may be repeated.")] = None,
    until_failure: Annotated[bool, typer.Option(
        "--until-failure", help="End with the first failure that is not expected, or that a planted bug causes.",
    )] = False,
    towards: Annotated[Path | None, typer.Option(
        metavar="DIR", help="Lead runs towards the counterexamples to induction that --cti of `rocketproof prove` "
        "wrote to this folder; end when all are reached.")] = None,
    property: Property = None,  # noqa: A002 - the name of the option
    seed: Seed = 0, json: Json = None, out: Ledger = None,
) -> None:
    """Judge simulated worlds on Spark, by seed, until time is up.

    With --decisions the allocation strategies: all sizes up to 64 queues and 24 members, then random inputs.

    Exit status: 0 as expected, 1 some outcome differs, 2 bad input, 3 some outcome is unknown, or interrupted.
    """
    from invariants.front_desk.desk import Desk

    with Desk(json) as desk:
        from invariants.front_desk import catalogue

        about = {"subject": subject, "variant": variant, "base": None if base is None else [base],
                 "workload": workload, "profile": profile, "strategy": strategy,
                 "towards": None if towards is None else [str(towards)]}
        for name in property or []:
            catalogue.known(name)
        if decisions:
            if given := [name for name, values in about.items() if values] + ["until-failure"] * until_failure:
                raise BadInputError(f"--{given[0]} is not about decisions; leave it or --decisions out")
            rows = campaign_rows(desk, minutes, master, out, seed, property or ())
        else:
            about["property"] = property
            rows = world_rows(desk, about, minutes, master, out, seed, until_failure=until_failure)
        from spark_fuzz.commands import covered

        try:
            desk.judge("campaign", rows, quiet=True)
        finally:
            desk.closing += covered(desk.rows)
        if property and not desk.rows:
            raise BadInputError(f"--property {property[0]}: no row of this campaign is about it; "
                                f"`rocketproof show {property[0]}` says who judges it")


def world_rows(desk: Desk, about: Mapping[str, Several], minutes: float, master: str, out: Path | None, seed: int,
               *, until_failure: bool) -> Iterator[Verdict]:
    """Verdicts of a campaign over simulated worlds."""
    from spark_fuzz.commands import campaign_worlds, subjects_of
    from spark_fuzz.simulation import Aim
    from stateful_tests.worlds.subjects import subject_named

    workloads, profiles, strategies = (tuple(about.get(name) or ()) for name in ("workload", "profile", "strategy"))
    base = next(iter(about.get("base") or ()), None)
    subjects = subjects_of(about.get("subject") or (), about.get("variant") or (), base)
    for name in subjects:
        desk.say(subject_named(name).said_first("rocketproof campaign --variant"))
    towards = next(iter(about.get("towards") or ()), "")
    aim = Aim(subjects, workloads, profiles, strategies, seed, until_failure=until_failure, towards=towards)
    rows = on_spark(desk, "campaign", lambda screen: campaign_worlds(
        minutes, aim, master, out, screen=screen, properties=about.get("property") or ()))
    return _towards(desk, rows, aim, out) if towards else rows


def _towards(desk: Desk, rows: Iterator[Verdict], aim: Aim, out: Path | None) -> Iterator[Verdict]:
    """The rows; however they end, it is told what came of each state that was wanted."""
    from spark_fuzz.commands import worlds_folder
    from spark_fuzz.towards import said

    folder = out or worlds_folder(aim.checked())
    try:
        yield from rows
    finally:
        desk.closing += said(folder, Path(aim.towards))


COMPARE = examples(
    "rocketproof compare my_change.py", "rocketproof compare my_change.py --base repaired --minutes 5",
    "rocketproof compare my_change.py --out out/my_change --json rows.jsonl")


@judging
def compare(  # noqa: PLR0913, PLR0917 - one parameter for each option
    file: Annotated[str, typer.Argument(metavar="FILE", help="A Python file that defines VARIANT; or a planted bug.")],
    base: Base = None, minutes: Minutes = 1.5, master: Master = "local[*]",
    workload: Annotated[Several, typer.Option(metavar="NAME", help="Only this workload; may be repeated.")] = None,
    profile: Annotated[Several, typer.Option(metavar="NAME", help="Only this fault profile; may be repeated.")] = None,
    strategy: Annotated[Several, typer.Option(
        metavar="NAME", help="Only uniform, swarm, priority or focus; may be repeated.")] = None,
    until_answer: Annotated[bool, typer.Option(
        "--until-answer", help="End once something is fixed or broken beyond doubt.")] = False,
    seed: Seed = 0, json: Json = None, out: Ledger = None,
) -> None:
    """Judge a change against what it changes: both live through the same worlds, pair by pair.

    Of each property it says whether the change fixes or breaks it, by exact tests of matched pairs.

    Exit status: 0 nothing got worse, 1 something is broken, 2 bad input, 3 nothing that is replaced was called, or
    something is unknown.
    """
    began_s = time.monotonic()  # before what is slow to import
    from invariants.front_desk.desk import Desk

    with Desk(json, summary=False) as desk:
        from invariants.report.compared import COMPARED
        from invariants.report.page import write_report
        from spark_fuzz import commands, comparing
        from spark_fuzz.compare_table import comparison_view
        from stateful_tests.worlds.subjects import subject_named

        aim = comparing.aim_of(
            file, base, seed, workload or (), profile or (), strategy or (), until_answer=until_answer)
        changed = subject_named(aim.changed)
        desk.say(changed.said_first("rocketproof compare"))
        if base is None and changed.kind == "change" and changed.opened:
            desk.say(["What it mends of 4.9.3 is seen beside 4.9.3:",
                      f"    rocketproof compare {shlex.quote(file)} --base shipped"])
        folder = out or commands.compare_folder(aim)
        try:
            rows = on_spark(desk, "compare", lambda screen: commands.compare(
                minutes, aim, master, folder, screen=screen, spent_s=time.monotonic() - began_s))
            desk.judge("compare", rows, quiet=True)
        finally:
            if desk.rows and (folder / COMPARED).exists():
                desk.print(comparison_view(comparing.compared(folder)))
                desk.closing.append(f"page, rows and evidence: {write_report(folder)}")


KILL_MATRIX = examples(
    "rocketproof kill-matrix", "rocketproof kill-matrix --variant seeded-lock-for-anyone --seeds 5",
    "rocketproof kill-matrix --variant repaired-D8   # without the repair of a hazard",
    "rocketproof kill-matrix --markdown matrix.md")


@judging
def kill_matrix(  # noqa: PLR0913, PLR0917 - one parameter for each option
    variant: Annotated[Several, typer.Option(
        metavar="BUG|FILE", help="Only this one, beside the control; may be repeated. Default: all planted bugs.",
    )] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Hunts of each.")] = 20,
    minutes: Minutes = 90.0, master: Master = "local[*]", seed: Seed = 0, json: Json = None, out: Ledger = None,
    markdown: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Write the matrix to this file as a table of Markdown.")] = None,
) -> None:
    """Which judge notices which planted bug first, and after how long.

    Each bug is hunted with the same seeds, as the control without a bug is, in whose row nothing may stand. A cell has
    the property that was seen to fail, in how many hunts, and median and quartiles of virtual time and steps. Two more
    columns: in how many runs what the bug changes was called, and how many runs differ from those of the control.

    Exit status: 0 every bug was noticed, 1 one was not, 2 bad input, 3 something is unknown: also a bug that was never
    executed, or made no difference.
    """
    from invariants.front_desk.desk import Desk

    with Desk(json, summary=False, pictures=False) as desk:
        from spark_fuzz import commands
        from spark_fuzz.cells import MATRIX, matrix_view
        from spark_fuzz.markdown import check_markdown, write_markdown
        from spark_fuzz.matrix import MatrixAim

        aim = MatrixAim.of(variant or (), seeds, seed)
        if markdown is not None:
            check_markdown(markdown)
        folder = out or commands.matrix_folder(aim)
        try:
            rows = on_spark(desk, "kill-matrix", lambda screen: commands.kill_matrix(
                minutes, aim, master, folder, screen=screen))
            desk.judge("kill-matrix", rows, quiet=True)
        finally:
            if desk.rows:
                if (folder / MATRIX).exists():
                    desk.print(matrix_view(folder))
                    if markdown is not None:
                        write_markdown(markdown, folder)
                desk.closing += [*commands.summed_up(desk.rows), f"rows and evidence: {folder}"]


# Rows -----------------------------------------------------------------------------------------------------------------


def campaign_rows(
    desk: Desk, minutes: float, master: str, out: Path | None, seed: int, properties: Sequence[str] = (),
) -> Iterator[Verdict]:
    """Verdicts of a campaign about decisions on Spark, with its own progress."""
    from spark_fuzz.commands import campaign_decisions

    return on_spark(desk, "campaign", lambda screen: campaign_decisions(
        minutes, master, out, seed, screen=screen, properties=properties))


def on_spark(desk: Desk, command: str, campaign: Callable[[Any], Iterable[Verdict]]) -> Iterator[Verdict]:
    """Verdicts of a campaign that is given a screen for the progress of a command."""
    from invariants.front_desk.desk import StoppedError
    from spark_fuzz.crew import ClusterLostError
    from spark_fuzz.progress import Screen

    try:
        yield from campaign(Screen(desk.console if desk.console.is_terminal else None, command))
    except ClusterLostError as error:
        raise StoppedError(str(error)) from error
