"""The commands `judge` and `history`: histories of any real system, and made ones with known faults."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from invariants.front_desk.options import Json, Out, Seed, desk_app, examples, judging

app = desk_app()


@app.command(epilog=examples(
    "rocketproof judge history.jsonl", "rocketproof judge history.parquet --clocks-agree-ms 50 --out out/judge",
    "rocketproof judge DIR --master spark://host:7077"))
@judging
def judge(
    path: Annotated[Path, typer.Argument(
        metavar="PATH", help="A .jsonl, .parquet or .arrow file, or a folder of them (docs/histories.md).")],
    clocks_agree_ms: Annotated[int | None, typer.Option(
        min=0, metavar="MS", help="Clocks of different machines are at most so far apart; default: nobody "
                                  "knows.")] = None,
    master: Annotated[str | None, typer.Option(
        help="local[*], local[2], spark://HOST:PORT; default: this process for small files, else local[*].")] = None,
    json: Json = None, out: Out = None,
) -> None:
    """Judge what clients of RocketMQ, or of anything like it, observed.

    What was lost, made up, delivered twice, out of order, skipped, too early or to the wrong member; each finding names
    the operations that show it. What cannot be judged is counted, and unknown.

    Exit status: 0 nothing is found, 1 something is, 2 bad input, 3 something is unknown.
    """
    from invariants.front_desk.desk import Desk

    with Desk(json, out=out) as desk:
        from spark_fuzz.histories.judge import judged

        desk.judge("judge", judged(path, clocks_agree_ms, master, out, desk.closing, desk.tell))


@app.command(epilog=examples(
    "rocketproof history --operations 10000 --out clean.jsonl",
    "rocketproof history --operations 1000000 --fault lost --fault skipped --seed 7 --out faulty.parquet",
    "rocketproof history --workload stored --subject shipped --seed 1 --out world.jsonl"))
def history(
    out: Annotated[Path, typer.Option(metavar="FILE", help="A .jsonl, .parquet or .arrow file; of a world .jsonl.")],
    operations: Annotated[int | None, typer.Option(min=1, help="At least so many operations.")] = None,
    fault: Annotated[list[str] | None, typer.Option(
        metavar="NAME", help="Plant this fault (docs/histories.md has the names); may be repeated.")] = None,
    workload: Annotated[str | None, typer.Option(
        metavar="NAME", help="What clients of a simulated world observe instead: stored or stored_sync.")] = None,
    subject: Annotated[str, typer.Option(
        metavar="NAME", help="Of a world, as of `rocketproof campaign`.")] = "repaired",
    profile: Annotated[str, typer.Option(metavar="NAME", help="The faults in a world.")] = "storm",
    seed: Seed = 0,
) -> None:
    """Make a history with known faults at known places, or write what clients of a simulated world observe.

    FILE.faults has the operation that shows each fault, one JSON object a line. `rocketproof judge` finds these, and no
    others. Nobody has planted anything in a world.

    Exit status: 0 it is written, 2 bad input.
    """
    from invariants.front_desk.desk import guarded
    from invariants.verdict import BadInputError

    def made() -> None:
        from spark_fuzz.histories.generate import places_of, written

        if operations is None:
            raise BadInputError("give --operations for a made history, or --workload for one of a simulated world")
        rows, planted = written(out, operations, fault or [], seed)
        print(f"{out}: {rows} operations; {places_of(out)}: {len(planted)} planted faults")

    def lived_through() -> None:
        from stateful_tests.histories.worlds import write
        from stateful_tests.worlds.run import Plan

        if operations is not None or fault:
            raise BadInputError("--workload: a history of a world takes no --operations and no --fault")
        print(f"{out}: {write(out, Plan(subject, str(workload), profile), seed)} operations")

    guarded(made if workload is None else lived_through)
