"""The command `verify`: all judges, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from invariants.commands.conform import conforming
from invariants.front_desk.options import Json, Names, Property, Seed, desk_app, examples, judging, only
from invariants.verdict import BadInputError, Verdict
from model import __main__ as explorer
from proofs import __main__ as prover
from spark_fuzz import front_desk as campaigning

if TYPE_CHECKING:
    from invariants.front_desk.catalogue import Chosen
    from invariants.front_desk.desk import Desk

OUT = Path("out") / "verify"

app = desk_app()


@app.command(epilog=examples(
    "rocketproof verify", "rocketproof verify one_owner_per_queue allocation_is_total",
    "rocketproof verify --campaign-seconds 30 --out out/verify", "rocketproof verify --json - | jq .outcome"))
@judging
def verify(
    names: Names = None,
    property: Property = None,  # noqa: A002 - the name of the option
    campaign_seconds: Annotated[float, typer.Option(
        min=0, help="At the end, so many seconds of each campaign on Spark: strategies, simulated worlds.")] = 0.0,
    out: Annotated[Path, typer.Option(
        metavar="DIR",
        help="Folder for verdicts.jsonl, evidence and report.html; what an earlier run wrote there goes.")] = OUT,
    seed: Seed = 0, json: Json = None,
) -> None:
    """Put every judge that applies to work, cheapest first.

    Rows are shown as they are found; at the end a table, the replay command of each violation, and a report.

    Exit status: 0 as expected, 1 some outcome differs, 2 bad input, 3 some outcome is unknown, or interrupted.
    """
    from invariants.front_desk.desk import Desk, StoppedError, guarded
    from invariants.front_desk.folder import prepare

    guarded(lambda: prepare(out))
    with Desk(json, str(out / "verdicts.jsonl"), stream=True) as desk:
        from invariants.front_desk import catalogue

        chosen = catalogue.chosen([*(names or []), *(property or [])])
        try:
            for judge, verdicts in judges(desk, chosen, out, seed):
                desk.judge(judge, verdicts)
            for verdicts in campaigns(desk, chosen, campaign_seconds, out, seed):
                desk.judge("campaign", verdicts, quiet=True)
        except KeyboardInterrupt:
            desk.closing.append(f"no report was made of them; this makes it: rocketproof report {out}")
            raise
        except (BadInputError, StoppedError):
            finish(desk, out)
            raise
        finish(desk, out)


def finish(desk: Desk, out: Path) -> None:
    """Write the report; one that crashes leaves a row that says so, and all the others."""
    from invariants.report.page import write_report

    if not desk.rows:
        return
    try:
        desk.closing.append(f"report: {write_report(out)}")
    except BadInputError:
        raise
    except Exception as error:  # noqa: BLE001 - the table below is worth more than a picture of it
        desk.crashed("report", error)


def judges(desk: Desk, chosen: Chosen, out: Path, seed: int) -> Iterator[tuple[str, Iterable[Verdict]]]:
    """The judges that apply to what was chosen, cheapest first."""
    from invariants.front_desk.catalogue import of_judge
    from stateful_tests.decisions import exhaust, machine
    from stateful_tests.machines import known

    searched = [] if chosen.everything else [*chosen.protocol, *of_judge("explore", chosen.own)]
    if chosen.scopes():
        yield "explore", explorer.searched(desk, [], searched, out=out)
        yield "explore twins", explorer.planted(chosen.protocol, out)
    if prover.provable(chosen):
        yield "prove", prover.proved(chosen, range(seed, seed + prover.SEEDS), out=out)
    if chosen.claims or chosen.strategies:
        yield "exhaust", of_code(chosen, exhaust.exhaust_decisions, exhaust.exhaust_allocation, out=out)
        yield "machine", of_code(chosen, machine.explore_decisions, machine.explore_allocation, out=out, seed=seed)
    if chosen.everything or chosen.protocol:
        yield "machine", known.shown(() if chosen.everything else chosen.protocol, out)
    if chosen.runs:
        yield "runs", of_runs(desk, chosen, out)
    if of_judge("conform", chosen.own):
        yield "conform", conforming(desk, None, [], out)


def of_runs(desk: Desk, chosen: Chosen, out: Path) -> Iterator[Verdict]:
    """What is said of runs: a story shows what breaks it, or a run is looked at; notes say who was not asked.

    Where everything is judged, what neither story nor run is known of is named, and left to machines and campaigns.
    """
    from spark_fuzz import at_once
    from stateful_tests.stories import telling, verdicts as stories
    from stateful_tests.worlds import glance

    told = [name for name in chosen.runs if telling.has_story(name)]
    of_judges = [name for name in chosen.runs if name in at_once.PROPERTIES]
    looked = [name for name in chosen.runs if name not in {*told, *of_judges}]
    left = [name for name in looked if chosen.everything and not glance.is_known(name)]
    if left:
        desk.closing.append(f"no story and no run is known that shows {', '.join(left)}: rocketproof campaign")
    yield from stories.verdicts(told, out)
    yield from glance.verdicts([name for name in looked if name not in left], out)
    yield from at_once.verdicts(of_judges, out)


def campaigns(desk: Desk, chosen: Chosen, seconds: float, out: Path, seed: int) -> Iterator[Iterable[Verdict]]:
    """Campaigns for so many seconds each: the strategies, and worlds of the repaired RocketMQ, the control."""
    from invariants.front_desk.folder import STRATEGIES, WORLDS

    if seconds and chosen.strategies:
        folder = out / STRATEGIES
        rows = campaigning.campaign_rows(desk, seconds / 60, "local[*]", folder, seed)
        yield only(moved(rows, folder), chosen.strategies)
    if seconds and (chosen.everything or chosen.protocol):
        folder = out / WORLDS
        rows = campaigning.world_rows(desk, {}, seconds / 60, "local[*]", folder, seed, until_failure=False)
        yield only(moved(rows, folder), [] if chosen.everything else chosen.protocol)


def of_code(chosen: Chosen, decisions: Callable[..., Iterator[Verdict]], strategies: Callable[..., Iterator[Verdict]],
            **options: Any) -> Iterator[Verdict]:
    """One judge of code, about the decisions and then about the strategies that were chosen."""
    yield from decisions(chosen.claims, **options)
    if chosen.strategies:
        yield from strategies(None if chosen.everything else chosen.strategies, **options)


def moved(verdicts: Iterable[Verdict], folder: Path) -> Iterator[Verdict]:
    """Verdicts of the campaign in a folder, as rows of the folder around it: the campaign's own file of rows goes."""
    from dataclasses import replace

    for verdict in verdicts:
        (folder / "verdicts.jsonl").unlink(missing_ok=True)
        yield replace(verdict, evidence=None if verdict.evidence is None else f"{folder.name}/{verdict.evidence}")
