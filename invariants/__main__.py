"""`rocketproof`: the front desk. Its commands bring the judges of all rooms together.

Each command imports its engine when it runs, so that --help is there at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from invariants.front_desk.interrupt import start
from invariants.front_desk.options import Json, Names, NoSeed, Out, Property, Seed, desk_app, examples, judging, only
from invariants.verdict import BadInputError, ExitStatus, Verdict
from model import __main__ as explorer
from model.tla import __main__ as exporter
from proofs import __main__ as prover
from spark_fuzz import front_desk as campaigning
from stateful_tests.machines import __main__ as machines

if TYPE_CHECKING:
    from invariants.front_desk.catalogue import Chosen
    from invariants.front_desk.desk import Desk
    from invariants.front_desk.show import Outside

OUT = Path("out") / "verify"

app = desk_app(help="""Does what Apache RocketMQ 4.9.3 promises hold? Ask `verify`; the catalogue is `list`.

Exit status of every command: 0 every outcome is as expected, 1 some outcome differs, 2 bad input, 3 some is unknown.
""", epilog=examples("rocketproof verify", "rocketproof list", "rocketproof verify one_owner_per_queue"))


def print_version(asked: bool) -> None:
    """Print the version, and end; if it is asked for."""
    if asked:
        from importlib import metadata

        print(f"rocketproof {metadata.version('rocketproof')}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[bool, typer.Option(
        "--version", help="Print the version, and end.", is_eager=True, callback=print_version)] = False,
) -> None:
    """Options of rocketproof itself."""
    del version


check_app = desk_app(help="Judge your own code by the claims about RocketMQ.")
app.add_typer(check_app, name="check")


# The catalogue --------------------------------------------------------------------------------------------------------


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
        metavar="NAME", help="A property, a claim, a hazard, or a file of evidence.")] = None,
    guards: Annotated[str | None, typer.Option(
        metavar="CONCEPT", help="Instead the guards of a concept: what tests each, or which premise it is.")] = None,
) -> None:
    """Show one property (claim, premises, formula, hazards), one hazard, or the picture of one file of evidence.

    A property comes with its judges, the verdict expected of RocketMQ as shipped, and the actions around it; a hazard
    with what users see of it, what brings it about, what helps, what it breaks, and its story.
    """
    from invariants import evidence
    from invariants.front_desk.desk import console, guarded
    from invariants.front_desk.guards import guards as guards_of
    from invariants.front_desk.show import shown, shown_hazard
    from invariants.hazards import HAZARDS
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
        judged = judged_of_runs()
        return shown_hazard(HAZARDS[name], outside(name), judged) if name in HAZARDS else shown(name, judged)

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
    from invariants.front_desk.search import search as found_by
    from invariants.front_desk.search import told

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
    from stateful_tests.stories.told import commands

    repairs = {one.name: one.sentence for one in REPAIRS.values() if hazard in one.hazards}
    return Outside(repairs, NO_REPAIR.get(hazard, ""), commands(hazard))


def judged_of_runs() -> frozenset[str]:
    """The properties that machines and campaigns judge of runs."""
    from spark_fuzz.runs import judged
    from stateful_tests.worlds.workloads import WORKLOADS

    return frozenset(name for workload in WORKLOADS for name in judged(workload))


# All judges -----------------------------------------------------------------------------------------------------------


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
    from stateful_tests.stories import telling
    from stateful_tests.stories import verdicts as stories
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


def conforming(desk: Desk, vectors: Path | None, files: list[str], out: Path | None) -> Iterator[Verdict]:
    """The implementation against recordings."""
    from stateful_tests.conformance.judge import RECORDINGS, conform

    return conform(vectors or RECORDINGS, files, out, lambda path, rows: desk.tell(f"{path.name}: {rows:,} rows"))


def moved(verdicts: Iterable[Verdict], folder: Path) -> Iterator[Verdict]:
    """Verdicts of the campaign in a folder, as rows of the folder around it: the campaign's own file of rows goes."""
    from dataclasses import replace

    for verdict in verdicts:
        (folder / "verdicts.jsonl").unlink(missing_ok=True)
        yield replace(verdict, evidence=None if verdict.evidence is None else f"{folder.name}/{verdict.evidence}")


# One judge ------------------------------------------------------------------------------------------------------------

app.command("explore", epilog=explorer.EXAMPLES)(explorer.explore)
new_app = desk_app(help="Write a file to begin with.")
new_app.callback()(lambda: None)
new_app.command("concept", epilog=explorer.NEW)(explorer.new_concept)
app.add_typer(new_app, name="new")
export_app = desk_app(help="Write the models for other tools.")
export_app.callback()(lambda: None)
export_app.command("tla", epilog=exporter.EXAMPLES)(exporter.export_tla)
app.add_typer(export_app, name="export")
app.command("prove", epilog=prover.EXAMPLES)(prover.prove)
app.command("machine", epilog=machines.EXAMPLES)(machines.machine)
app.command("campaign", epilog=campaigning.CAMPAIGN)(campaigning.campaign)
app.command("kill-matrix", epilog=campaigning.KILL_MATRIX)(campaigning.kill_matrix)


@check_app.command("allocation", epilog=examples(
    "rocketproof check allocation --python my_package.strategies:StickyAllocation",
    "rocketproof check allocation --java target/classes:lib/* --class com.example.Sticky --out out",
    "rocketproof check allocation --exec ./my_adapter --function AVG"))
@judging
def check_allocation(  # noqa: PLR0913, PLR0917 - one parameter for each option
    python: Annotated[str | None, typer.Option(
        metavar="MODULE:CLASS", help="Class with allocate(consumer_group, current_cid, mq_all, cid_all).")] = None,
    java: Annotated[str | None, typer.Option(
        metavar="CLASSPATH", help="Jars and class folders; goes with --class.")] = None,
    class_name: Annotated[str | None, typer.Option(
        "--class", metavar="NAME", help="Binary name of an AllocateMessageQueueStrategy.")] = None,
    program: Annotated[str | None, typer.Option(
        "--exec", metavar="CMD", help="Program in any language that answers JSON lines (docs/adapters.md).")] = None,
    function: Annotated[str | None, typer.Option(
        metavar="NAME", help="With --exec: which of its functions; default: allocate.")] = None,
    queues: Annotated[int, typer.Option(min=1, help="Queues of the largest exhaustive case.")] = 12,
    members: Annotated[int, typer.Option(min=1, help="Members of the largest exhaustive case.")] = 6,
    random: Annotated[int, typer.Option("--examples", min=1, help="Random cases afterwards.")] = 100,
    property: Property = None,  # noqa: A002 - the name of the option
    seed: Seed = 0, json: Json = None, out: Out = None,
) -> None:
    """Judge your own allocation strategy: all small groups, smallest first, then random ones.

    A class is made without arguments, in a process of its own. Queues are impl.decisions.message_queue.MessageQueue.
    Exit status: 0 nothing a group cannot do without is broken, 1 something is, 2 bad input, 3 something is unknown.
    """
    from invariants.front_desk.desk import Desk

    with Desk(json, out=out) as desk:
        from invariants.front_desk import catalogue

        for name in property or []:
            catalogue.known(name)
        from stateful_tests.decisions import check

        sizes: dict[str, int] = {"queues": queues, "members": members, "examples": random, "seed": seed}
        match python, java, class_name, program, function:
            case str(), None, None, None, None:
                rows = check.check_allocation(python, out=out, **sizes)
            case None, str(), str(), None, None:
                rows = check.check_java_allocation(java, class_name, out=out, **sizes)
            case None, None, None, str(), _:
                rows = check.check_port_allocation(program, function, out=out, **sizes)
            case _:
                raise BadInputError("say what to check: --python MODULE:CLASS, or --java CLASSPATH --class NAME, "
                                    "or --exec CMD")
        desk.judge("check", only(rows, property or []))


@app.command(epilog=examples(
    "rocketproof conform", "rocketproof conform --file names", "rocketproof conform --vectors DIR --json rows.jsonl",
    "rocketproof conform --exec ./my_adapter   # a port in any language"))
@judging
def conform(
    vectors: Annotated[Path | None, typer.Option(
        metavar="DIR", help="Folder of recordings (*.jsonl, *.jsonl.gz) and store images (CASE/IMAGE.json with "
        "CASE/IMAGE.tar.xz); default: the project's own.")] = None,
    file: Annotated[list[str] | None, typer.Option(
        metavar="NAME", help="Only this recording, with or without suffix, or image (CASE/IMAGE); may be "
        "repeated.")] = None,
    program: Annotated[str | None, typer.Option(
        "--exec", metavar="CMD", help="Instead a port in any language, by JSON lines (docs/adapters.md).")] = None,
    function: Annotated[list[str] | None, typer.Option(
        metavar="NAME", help="With --exec: only this function of it; may be repeated.")] = None,
    json: Json = None, out: Out = None, seed: NoSeed = 0,
) -> None:
    """Compare with recordings of the real RocketMQ 4.9.3.

    Row by row; a file that is not understood is reported as not compared. With --exec the recorded calls are made of a
    port, function by function, for those functions that it says it answers.
    Exit status: 0 as recorded, 1 some row differs, 2 bad input, 3 some file could not be compared.
    """
    from invariants.front_desk.desk import Desk

    del seed
    with Desk(json, out=out) as desk:
        if program is not None:
            from stateful_tests.conformance.port import judge

            if vectors or file:
                raise BadInputError("--exec has the recorded calls of the project: leave --vectors and --file out")
            desk.judge("conform", judge.conform(program, function or [], out, desk.tell))
            desk.closing.append(f"{program} {judge.covered(desk.rows)}")
            return
        if function:
            raise BadInputError("--function goes with --exec")
        desk.judge("conform", conforming(desk, vectors, file or [], out))


@app.command(epilog=examples("rocketproof store /data/rocketmq/store", "rocketproof store DIR --json - | jq .problems"))
def store(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The storePathRootDir of a broker.")],
    log_file_bytes: Annotated[int | None, typer.Option(
        min=1, help="mappedFileSizeCommitLog; default: as the files are.")] = None,
    queue_file_bytes: Annotated[int | None, typer.Option(
        min=20, help="mappedFileSizeConsumeQueue; default: as the files are.")] = None,
    hash_slots: Annotated[int | None, typer.Option(min=1, help="maxHashSlotNum; default: as the files are.")] = None,
    index_entries: Annotated[int | None, typer.Option(min=2, help="maxIndexNum; default: as the files are.")] = None,
    json: Annotated[typer.FileTextWrite | None, typer.Option(
        "--json", metavar="FILE", help="Write one JSON object to this file instead; - for standard output."),
    ] = None,
) -> None:
    """Look at a broker's store directory, and at what a start would make of it. Nothing in it is changed.

    Files, offsets, queues, checkpoint and index; the records that recovery would cut and the units that it would build;
    problems with file and position, each with the hazard that explains it.

    Exit status: 0 no problem, 1 problems, 2 bad input.
    """
    import json as format_json
    from dataclasses import asdict

    from invariants.front_desk.desk import guarded
    from stateful_tests.stores.inspection import inspect
    from stateful_tests.stores.sizes import sizes_of
    from stateful_tests.stores.told import told

    def answered() -> None:
        given = {"commit_log_bytes": log_file_bytes, "consume_queue_bytes": queue_file_bytes, "hash_slots": hash_slots,
                 "index_entries": index_entries}
        found = inspect(directory, sizes_of(directory, {name: size for name, size in given.items() if size}))
        print(format_json.dumps(asdict(found)) if json else "\n".join(told(found)), file=json)
        if found.problems or not found.starts:
            raise typer.Exit(ExitStatus.DIFFERENT)

    guarded(answered)


@app.command(epilog=examples(
    "rocketproof crash", "rocketproof crash --workload sync_torn --out out/crash",
    "rocketproof crash --minutes 10 --json rows.jsonl"))
@judging
def crash(
    workload: Annotated[list[str] | None, typer.Option(
        metavar="NAME", help="Only this workload (docs/crash.md); may be repeated.")] = None,
    images: Annotated[int, typer.Option(
        min=1, help="So many combinations of a workload and a kind of crash are all recovered; of more, so many are "
        "drawn.")] = 10_000,
    minutes: Annotated[float | None, typer.Option(
        min=0, help="Where there are more than --images: draw for this time, shared by all workloads.")] = None,
    seed: Seed = 0, json: Json = None, out: Out = None,
) -> None:
    """Crash a store after every step of bounded workloads, and recover every disk that can be left.

    Each process that is killed, each machine that loses its power, each choice of pages, lengths and names that were
    not forced; recovered by impl/store, and judged by what was put and acknowledged.

    Exit status: 0 as expected, 1 some outcome differs, 2 bad input, 3 some outcome is unknown, or interrupted.
    """
    from invariants.front_desk.desk import Desk

    with Desk(json, out=out) as desk:
        from stateful_tests.crash import judge
        from stateful_tests.crash.survey import KINDS, Effort
        from stateful_tests.crash.workloads import WORKLOADS

        share = None if minutes is None else minutes / (len(workload or WORKLOADS) * len(KINDS))
        desk.judge("crash", judge.judged(workload or [], Effort(images, share, seed), out=out, tell=desk.tell))


# Evidence -------------------------------------------------------------------------------------------------------------


@app.command(epilog=examples("rocketproof replay out/verify/evidence/explore-group-1-2-2-one-owner-per-queue.json",
                             "rocketproof replay out/verify/evidence/*.json"))
@judging
def replay(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Evidence files of any judge.")],
    json: Json = None,
) -> None:
    """Run the evidence of a verdict again.

    The same steps, the same arguments, the same claim.

    Exit status: 0 each stored verdict is confirmed, 1 one is not, 2 bad input (the other files are replayed first).
    """
    from invariants.front_desk.desk import Desk

    with Desk(json, summary=False) as desk:
        confirmed, bad = list[bool](), list[BadInputError]()
        for file in files:
            try:
                confirmed.append(replay_one(desk, file))
            except BadInputError as error:
                bad.append(error)
        if bad:
            raise BadInputError(f"{bad[0]}{f' (and {len(bad) - 1} more files)' * (len(bad) > 1)}")
        desk.status = ExitStatus.AS_EXPECTED if all(confirmed) else ExitStatus.DIFFERENT


def replay_one(desk: Desk, file: Path) -> bool:
    """Replay a file: show it, take the row, say what came of it; returns whether the stored verdict is confirmed.

    Raises BadInputError for a file that cannot be replayed.
    """
    from invariants import evidence
    from invariants.front_desk.replay import stored_outcome
    from invariants.report.terminal import conclusion, evidence_view

    document = evidence.read(file)
    try:
        stored, found = stored_outcome(document), replayed(document)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise BadInputError(f"{file}: not evidence that can be replayed ({type(error).__name__}: {error}); "
                            "give a file that a verdict names") from error
    desk.print(evidence_view(document))
    desk.take(found)
    desk.closing.append(str(conclusion(stored, found)))
    return found.outcome is stored


def replayed(document: dict[str, Any]) -> Verdict:
    """Run evidence again, whichever judge it is from."""
    from invariants.exploring import replay_trace
    from invariants.front_desk import catalogue
    from invariants.front_desk.replay import replay_graph
    from stateful_tests.conformance.tlc.verdicts import AGREES, agreements
    from stateful_tests.machines.judge import replay_program
    from stateful_tests.stories.verdicts import replay_story
    from stateful_tests.worlds.evidence import replay_run

    kind = document["kind"]
    if document["property"] == AGREES or kind == "proof":
        return next(agreements([document["subject"]["name"]]) if kind != "proof"
                    else prover.proved(catalogue.chosen([document["property"]])))
    if kind in {"trace", "graph"}:
        return replay_trace(document) if kind == "trace" else replay_graph(document)
    if kind == "run":
        by = replay_story if "story" in document else replay_program if "program" in document else replay_run
        return by(document)
    return compared_again(document)


def compared_again(document: dict[str, Any]) -> Verdict:
    """Put the question of a counterexample again: a recorded row, an image, a call of a program, a decision."""
    from invariants.front_desk.replay import recorded_row, replay_row
    from stateful_tests.conformance.adapters import ADAPTERS
    from stateful_tests.conformance.judge import IMAGE, RECORDINGS, replayed_image
    from stateful_tests.conformance.port import judge as port
    from stateful_tests.conformance.replay import lines, stem
    from stateful_tests.crash import judge as crashes
    from stateful_tests.decisions.replay import replay_counterexample

    about = document["subject"]["kind"]
    if about == "endpoint":
        return port.replayed(document)
    if about == crashes.SUBJECT:
        return crashes.replayed(document)
    if about == "recording":
        row = recorded_row(document, RECORDINGS, lines)
        return replay_row(document, row, ADAPTERS[stem(document["subject"]["name"])])
    if about in ("implementation", IMAGE):
        return replay_row(document, document, replayed_image if about == IMAGE else live_row)
    return replay_counterexample(document)


def live_row(document: Mapping[str, Any]) -> str | None:
    """What differs from the answer that the real RocketMQ gave in a live comparison; None when nothing does."""
    from impl.decisions.message_queue import MessageQueue
    from stateful_tests.conformance.adapters import ADAPTERS
    from stateful_tests.conformance.adapters.comparison import compare
    from stateful_tests.conformance.java.__main__ import _SUBJECTS
    from stateful_tests.conformance.java.compare import JAVA
    from stateful_tests.conformance.java.implemented import implemented

    arguments, recorded = document["arguments"], document["results"][JAVA]
    if "strategy" not in arguments:
        name = next(name for name, subject in _SUBJECTS.items() if subject == document["subject"]["name"])
        return ADAPTERS[name]({"a": arguments["a"], **recorded})
    queues = None if arguments["mqAll"] is None else [MessageQueue(*row) for row in arguments["mqAll"]]

    def allocate() -> list[list[Any]] | None:
        strategy = implemented(arguments["strategy"])
        given = strategy.allocate(arguments["group"], arguments["cid"], queues, arguments["cidAll"])
        return None if given is None else [[queue.topic, queue.broker_name, queue.queue_id] for queue in given]

    return compare(recorded, allocate)


@app.command(epilog=examples("rocketproof prove lemmas.py --cti out/cti", "rocketproof steer out/cti --runs 500"))
def steer(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="What --cti of `rocketproof prove` wrote to.")],
    subject: Annotated[str, typer.Option(help="Whose worlds: shipped, repaired, a planted bug, a file.")] = "shipped",
    runs: Annotated[int, typer.Option(min=1, help="At most so many runs for each state.")] = 100,
    seed: Seed = 0,
) -> None:
    """Lead simulated worlds towards counterexamples to induction, and tell whether they are reached.

    What the worlds visit meanwhile is kept in the folder: the next `rocketproof prove FILE.py --cti DIR` asks it first.

    Exit status: 0 each state was looked for, 2 bad input.
    """
    from invariants.front_desk.desk import guarded
    from stateful_tests.worlds.steering import led

    def lines() -> None:
        for line in led(directory, subject, runs, seed):
            print(line, flush=True)

    guarded(lines)


@app.command(epilog=examples("rocketproof report out/verify"))
def report(directory: Annotated[Path, typer.Argument(metavar="DIR", help="What --out or --json wrote to.")]) -> None:
    """Make one HTML page of all verdicts below a folder.

    It shows the evidence too, and needs no other file and no network.
    """
    from invariants.front_desk.desk import guarded
    from invariants.report.page import write_report

    guarded(lambda: print(write_report(directory)))


def main() -> None:
    """Entry point."""
    start(app)


if __name__ == "__main__":
    main()
