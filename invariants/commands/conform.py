"""The command `conform`: the implementation, or a port, against recordings of the real RocketMQ."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from invariants.front_desk.options import Json, NoSeed, Out, desk_app, examples, judging
from invariants.verdict import BadInputError, Verdict

if TYPE_CHECKING:
    from invariants.front_desk.desk import Desk

app = desk_app()


@app.command(epilog=examples(
    "rocketproof conform", "rocketproof conform --file names", "rocketproof conform --vectors DIR --json rows.jsonl",
    "rocketproof conform --exec ./my_adapter   # a port in any language",
    "rocketproof conform --variant my_bug.py   # do recordings notice it?",
    "rocketproof conform --functions --function delay-levels   # what it is asked"))
@judging
def conform(  # noqa: PLR0913, PLR0917 - one parameter for each option
    vectors: Annotated[Path | None, typer.Option(
        metavar="DIR", help="Folder of recordings (*.jsonl, *.jsonl.gz) and store images (CASE/IMAGE.json with "
        "CASE/IMAGE.tar.xz); default: the project's own.")] = None,
    file: Annotated[list[str] | None, typer.Option(
        metavar="NAME", help="Only this recording, with or without suffix, or image (CASE/IMAGE); may be "
        "repeated.")] = None,
    program: Annotated[str | None, typer.Option(
        "--exec", metavar="CMD", help="Instead a port in any language, by JSON lines (docs/adapters.md).")] = None,
    functions: Annotated[bool, typer.Option(
        "--functions", help="Show what a port may answer: arguments, results, and a recorded call of each.")] = False,
    function: Annotated[list[str] | None, typer.Option(
        metavar="NAME", help="With --exec or --functions: only this function; may be repeated.")] = None,
    variant: Annotated[str | None, typer.Option(
        metavar="V", help="Judge a planted bug, or a file that defines VARIANT: whether it differs from what was "
        "recorded.")] = None,
    base: Annotated[str | None, typer.Option(
        "--base", metavar="SUBJECT", help="With --variant: what it lies on; default: shipped, which was recorded.",
    )] = None,
    json: Json = None, out: Out = None, seed: NoSeed = 0,
) -> None:
    """Compare with recordings of the real RocketMQ 4.9.3.

    Row by row; a file that is not understood is reported as not compared. With --exec the recorded calls are made of a
    port, function by function, for those functions that it says it answers.
    Exit status: 0 as recorded, 1 some row differs, 2 bad input, 3 some file could not be compared.
    """
    from invariants.front_desk.desk import Desk, guarded

    del seed
    if functions:
        from stateful_tests.conformance.port.calls import described

        guarded(lambda: sys.stdout.writelines(f"{line}\n" for line in described(function or [])))
        return
    with Desk(json, out=out) as desk:
        if program is not None:
            from stateful_tests.conformance.port import judge

            if vectors or file or variant:
                raise BadInputError(
                    "--exec has the recorded calls of the project: leave --vectors, --file and --variant out")
            desk.judge("conform", judge.conform(program, function or [], out, desk.tell))
            desk.closing.append(f"{program} {judge.covered(desk.rows)}")
            return
        if function:
            raise BadInputError("--function goes with --exec, or with --functions")
        if base is not None and variant is None:
            raise BadInputError(f"--base {base}: say with --variant what lies on it")
        if variant is not None:
            desk.judge("conform", varied(desk, variant, base, vectors, file or []))
            return
        desk.judge("conform", conforming(desk, vectors, file or [], out))


def varied(desk: Desk, variant: str, base: str | None, vectors: Path | None, files: list[str]) -> Iterator[Verdict]:
    """A variant of the implementation against recordings: one row."""
    from stateful_tests.conformance.changed import judged
    from stateful_tests.conformance.judge import RECORDINGS

    yield judged(variant, base, vectors or RECORDINGS, files,
                 lambda path, rows: desk.tell(f"{path.name}: {rows:,} rows"))


def conforming(desk: Desk, vectors: Path | None, files: list[str], out: Path | None) -> Iterator[Verdict]:
    """The implementation against recordings."""
    from stateful_tests.conformance.judge import RECORDINGS, conform

    return conform(vectors or RECORDINGS, files, out, lambda path, rows: desk.tell(f"{path.name}: {rows:,} rows"))
