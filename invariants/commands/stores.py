"""The commands `store`, `crash` and `demonstrate`: a broker's store directory, and stores that crash."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from invariants.front_desk.options import Json, Junit, Out, Seed, Shown, Summary, desk_app, examples, judging
from invariants.verdict import ExitStatus

app = desk_app()


@app.command(epilog=examples("rocketproof store /data/rocketmq/store", "rocketproof store DIR --json - | jq .problems"))
def store(  # noqa: PLR0913, PLR0917 - one parameter for each option
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
    junit: Junit = None, summary: Summary = None,
) -> None:
    """Look at a broker's store directory, and at what a start would make of it. Nothing in it is changed.

    Files, offsets, queues, checkpoint and index; the records that recovery would cut and the units that it would build;
    units without a record, and records that are in no queue; problems with file and position, each with the property
    that it breaks and the hazard that explains it.

    Exit status: 0 no problem, 1 problems, 2 bad input.
    """
    import json as format_json
    import sys
    from dataclasses import asdict

    from invariants.front_desk.desk import TOLD_S, given as command, guarded, writable_elsewhere, written_elsewhere
    from invariants.front_desk.ticking import ticking
    from stateful_tests.stores.inspection import inspect
    from stateful_tests.stores.sizes import sizes_of
    from stateful_tests.stores.told import rows, told

    shown = Shown(junit=junit, summary=summary)

    def answered() -> None:
        writable_elsewhere(shown)
        given = {"commit_log_bytes": log_file_bytes, "consume_queue_bytes": queue_file_bytes, "hash_slots": hash_slots,
                 "index_entries": index_entries}
        at = ["sizes"]

        def tell(text: str) -> None:
            at[0] = text

        with ticking(lambda spent_s: print(f"store: {spent_s:.0f} s | {at[0]}", file=sys.stderr, flush=True), TOLD_S):
            sizes = sizes_of(directory, {name: size for name, size in given.items() if size})
            found = inspect(directory, sizes, tell)
        print(format_json.dumps(asdict(found)) if json else "\n".join(told(found)), file=json)
        written_elsewhere(rows(found, command()), shown)
        if found.problems or not found.starts:
            raise typer.Exit(ExitStatus.DIFFERENT)

    guarded(answered)


@app.command(epilog=examples(
    "rocketproof crash", "rocketproof crash --workload sync_torn --out out/crash",
    "rocketproof crash --subject repaired", "rocketproof crash --minutes 10 --json rows.jsonl"))
@judging
def crash(  # noqa: PLR0913, PLR0917 - one parameter for each option
    workload: Annotated[list[str] | None, typer.Option(
        metavar="NAME", help="Only this workload (docs/crash.md); may be repeated.")] = None,
    subject: Annotated[list[str] | None, typer.Option(
        metavar="NAME", help="shipped (default), repaired, repaired-HAZARD, each also with +BUG or +FILE; may be "
        "repeated.")] = None,
    images: Annotated[int, typer.Option(
        min=1, help="So many combinations of a workload and a kind of crash are all recovered; of more, so many are "
        "drawn.")] = 10_000,
    minutes: Annotated[float | None, typer.Option(
        help="On Spark, until this time is over: all combinations, and then workloads that are drawn.")] = None,
    master: Annotated[str, typer.Option(help="With --minutes: local[*], local[2], spark://HOST:PORT.")] = "local[*]",
    seed: Seed = 0, json: Json = None, out: Out = None,
) -> None:
    """Crash a store after every step of bounded workloads, and recover every disk that can be left.

    Each process that is killed, each machine that loses its power, each choice of pages, lengths and names that were
    not forced; recovered by impl/store, and judged by what was put and acknowledged.

    Exit status: 0 as expected, 1 some outcome differs, 2 bad input, 3 some outcome is unknown, or interrupted.
    """
    from invariants.front_desk.desk import Desk

    with Desk(json, out=out if minutes is None else None) as desk:
        from stateful_tests.crash.judge import SHIPPED, judged
        from stateful_tests.crash.survey import Effort

        subjects = list(dict.fromkeys(subject or [SHIPPED]))
        if minutes is None:
            for name in subjects:
                desk.judge("crash", judged(
                    workload or [], Effort(images, seed), subject=name, out=out, tell=desk.tell))
            return
        from spark_fuzz.commands import campaign_crashes
        from spark_fuzz.crash_book import headline
        from spark_fuzz.crash_plan import Aim
        from spark_fuzz.front_desk import on_spark

        aim = Aim(tuple(subjects), tuple(workload or ()), seed)
        try:
            desk.judge("crash", on_spark(
                desk, "crash", lambda screen: campaign_crashes(minutes, aim, master, out, screen=screen)), quiet=True)
        finally:
            desk.closing += headline(desk.rows)


@app.command(epilog=examples("rocketproof demonstrate", "rocketproof demonstrate V3 V22 --out out/demonstrate"))
@judging
def demonstrate(
    hazards: Annotated[list[str] | None, typer.Argument(
        metavar="HAZARD", show_default=False, help="Hazards of the store; default: all that are shown so.")] = None,
    json: Json = None,
    out: Annotated[Path, typer.Option(
        metavar="DIR", help="Folder for the store directories.")] = Path("out/demonstrate"),
) -> None:
    """Show a hazard on the real store of RocketMQ 4.9.3.

    A store directory that a crash can leave is given to the official DefaultMessageStore (Java comes as a wheel). It
    starts, and what it has then is judged like a recovery of the crash atlas.

    Exit status: 0 all are shown, 1 one is not, 2 bad input, 3 some outcome is unknown, or interrupted.
    """
    from invariants.front_desk.desk import Desk

    with Desk(json, out=out) as desk:
        from stateful_tests.conformance.java.stores.demonstrated import demonstrated

        desk.judge("demonstrate", demonstrated(hazards or [], out, desk.closing.append, desk.tell))
