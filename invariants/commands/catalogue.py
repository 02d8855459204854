"""The commands `list`, `show` and `search`: what is promised, and what is known to break it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from invariants.front_desk.options import desk_app, examples
from invariants.verdict import BadInputError, ExitStatus

if TYPE_CHECKING:
    from invariants.front_desk.show import Outside

app = desk_app()


@app.command("list", epilog=examples(
    "rocketproof list", "rocketproof list lock", "rocketproof list rule violated B-11", "rocketproof list --json"))
def list_catalogue(
    words: Annotated[list[str] | None, typer.Argument(
        metavar="WORD", show_default=False,
        help="Only what has all these words: in its name, sentence or home, or as kind, judge, hazard or expected "
             "verdict.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line, for programs.")] = False,
) -> None:
    """List every property: kind, judges, expected verdict."""
    import json as format_json
    from dataclasses import asdict

    from invariants.front_desk.catalogue import entries, filtered
    from invariants.front_desk.desk import guarded
    from invariants.front_desk.show import listed

    def printed() -> None:
        found = filtered(entries(judged_of_runs()), words or [])
        lines = (format_json.dumps(asdict(one), sort_keys=True) for one in found) if json else listed(found)
        print("\n".join(lines))

    guarded(printed)


@app.command(epilog=examples(
    "rocketproof show one_live_believer", "rocketproof show averagely_is_exclusive", "rocketproof show B-29",
    "rocketproof show --guards Routes", "rocketproof show out/evidence/FILE.json"))
def show(
    name: Annotated[str | None, typer.Argument(
        metavar="NAME",
        help="A property, a claim, a hazard, a symptom, or a file of evidence; upper or lower case.")] = None,
    guards: Annotated[str | None, typer.Option(
        metavar="CONCEPT", help="Instead the guards of a concept: what tests each, or which premise it is.")] = None,
) -> None:
    """Show one property (claim, premises, formula, hazards), hazard or symptom, or the picture of a file of evidence.

    A property comes with its judges, the verdict expected of RocketMQ as shipped, and the actions around it; a hazard
    with what users see of it, what brings it about, what helps, what it breaks, and its story.
    """
    from invariants import evidence
    from invariants.front_desk.desk import console, guarded
    from invariants.front_desk.guards import guards as guards_of
    from invariants.front_desk.show import called, shown, shown_hazard, shown_of_histories, shown_symptom
    from invariants.hazards import HAZARDS, SYMPTOMS
    from invariants.histories.checks import PROMISES
    from invariants.report.terminal import evidence_view

    def printed() -> None:
        if name is not None and name.endswith(".json"):
            console().print(evidence_view(evidence.read(Path(name))), crop=False)
        else:
            print("\n".join(lines()))

    def lines() -> Iterator[str]:
        if (name is None) == (guards is None):
            raise BadInputError("say what to show: one name, or --guards CONCEPT")
        if name is None:
            return guards_of(guards or "")
        judged, one = judged_of_runs(), called(name)
        if one in SYMPTOMS:
            return shown_symptom(one)
        if one in PROMISES:
            return shown_of_histories(one)
        return shown_hazard(HAZARDS[one], outside(one), judged) if one in HAZARDS else shown(one, judged)

    guarded(printed)


@app.command(epilog=examples(
    "rocketproof search duplicates during a rolling restart", "rocketproof search queue without consumer --json -"))
def search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="What you see, as you would tell it.")],
    json: Annotated[typer.FileTextWrite | None, typer.Option(
        "--json", metavar="FILE", help="Write the rows to this file, one JSON object a line; - for standard output."),
    ] = None,
) -> None:
    """Find hazards, properties and symptoms by what people say of them, best first.

    Rows are JSON objects of name, kind, sentence and why it matched.

    Exit status: 0 something was found, 2 bad input, 3 nothing is known of these words.
    """
    import json as format_json
    from dataclasses import asdict

    from invariants.front_desk.desk import guarded
    from invariants.front_desk.search import search as found_by, told

    def answered() -> None:
        hits = found_by(" ".join(words), judged_of_runs())
        rows = (format_json.dumps(asdict(hit), sort_keys=True) for hit in hits)
        print("\n".join(rows if json else told(hits)), file=json)
        if not hits:
            raise typer.Exit(ExitStatus.UNKNOWN)

    guarded(answered)


def outside(hazard: str) -> Outside:
    """What the implementation and the tests know of a hazard."""
    from impl.variants.catalogue import NO_REPAIR, REPAIRS
    from invariants.front_desk.show import Outside
    from stateful_tests.crash import hazards as stores
    from stateful_tests.stories.told import commands

    repairs = {one.name: one.sentence for one in REPAIRS.values() if hazard in one.hazards}
    return Outside(repairs, NO_REPAIR.get(hazard, ""), stores.broken_by(hazard),
                   [*commands(hazard), *stores.commands(hazard)], lambda: _picture(hazard))


def _picture(hazard: str) -> list[str]:
    """The lines of the picture of a hazard; none where its stories cannot be told for want of a package."""
    try:
        from stateful_tests.stories.pictures import picture_of

        return picture_of(hazard)
    except ModuleNotFoundError:
        return []


def judged_of_runs() -> frozenset[str]:
    """The properties that machines and campaigns judge of runs."""
    from spark_fuzz.runs import judged
    from stateful_tests.worlds.workloads import WORKLOADS

    return frozenset(name for workload in WORKLOADS for name in judged(workload))
