"""`python -m stateful_tests.conformance.java.stores`: the store beside the real one, live (`make interop`)."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple, TextIO

import typer

from invariants.verdict import BadInputError, ExitStatus, Outcome, Subject, Verdict, exit_status
from stateful_tests.conformance.java import artefacts, runtime
from stateful_tests.conformance.judge import RECORDINGS
from stateful_tests.conformance.store_images import images

PROPERTY = "answers_as_rocketmq"


class Runs(NamedTuple):
    """How often each comparison is made; see the options."""

    recoveries: int
    crashes: int
    programs: int
    replications: int
    deliveries: int
    kills: int


def verdicts(runs: Runs, seed: int, out: Path, java_version: str, scratch: Path) -> Iterator[Verdict]:
    """A row each for damage, crashes, programs, replication, delivery and kills.

    out -- a folder that differs is kept below it. scratch -- of the stores, and of killed processes; the caller deletes
    it when the process has ended, as real stores still write then what they shut down with.
    """
    from stateful_tests.conformance.java.stores.crashes import Atlas, crash_recovery
    from stateful_tests.conformance.java.stores.deliveries import delivery
    from stateful_tests.conformance.java.stores.kills import kill
    from stateful_tests.conformance.java.stores.programs import program
    from stateful_tests.conformance.java.stores.real import silence
    from stateful_tests.conformance.java.stores.recoveries import recovery
    from stateful_tests.conformance.java.stores.replicas import replication

    silence(scratch)
    known, jars = list(images(RECORDINGS)), artefacts.jars()
    judge = partial(_verdict, seed=seed, out=out, java_version=java_version, scratch=scratch)
    yield judge("DefaultMessageStore#load, #start on damaged directories", runs.recoveries,
                lambda folder, one: (1, recovery(folder, known, one)))
    atlas = Atlas(seed)
    yield judge("DefaultMessageStore#load, #start after a crash", runs.crashes,
                lambda folder, one: (1, crash_recovery(folder, atlas, one)))
    yield judge("DefaultMessageStore#putMessage, #putMessages", runs.programs, program)
    yield judge("HAService, HAConnection", runs.replications, replication)
    yield judge("ScheduleMessageService", runs.deliveries, delivery)
    yield judge("DefaultMessageStore#load, #start after kill -9", runs.kills,
                lambda folder, one: kill(folder, one, scratch, jars))


def _verdict(
    name: str, runs: int, run: Callable[[Path, int], tuple[int, str | None]],
    *, seed: int, out: Path, java_version: str, scratch: Path,
) -> Verdict:
    begin, rows, different, note = time.perf_counter(), 0, 0, ""
    for number in range(seed, seed + runs):
        folder = Path(tempfile.mkdtemp(prefix="store-", dir=scratch))
        done, found = run(folder, number)
        rows += done
        if found is not None:
            different += 1
            kept = out / "stores" / str(number)
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder, kept)
            note = note or f"{kept}: {found}"
        shutil.rmtree(folder, ignore_errors=True)
    replay = f"python -m stateful_tests.conformance.java.stores --seed {seed}"
    return Verdict(
        PROPERTY, "conform", Subject("implementation", name, {"java": java_version}), Outcome.HOLDS,
        Outcome.VIOLATED if different else Outcome.HOLDS if rows else Outcome.UNKNOWN, replay, seed=seed, note=note,
        cost={"rows": rows, "different": different, "seconds": round(time.perf_counter() - begin, 3)})


def compare(  # noqa: PLR0913, PLR0917 - one parameter for each option
    recoveries: Annotated[int, typer.Option(min=1, help="damaged directories to recover")] = 300,
    crashes: Annotated[int, typer.Option(min=1, help="images of the crash atlas to recover, all classes alike")] = 300,
    programs: Annotated[int, typer.Option(min=1, help="programs of puts")] = 20,
    replications: Annotated[int, typer.Option(min=1, help="programs of puts to a master with a slave")] = 4,
    deliveries: Annotated[int, typer.Option(min=1, help="programs of delayed messages, in two lives")] = 4,
    kills: Annotated[int, typer.Option(min=1, help="processes that are killed while they put")] = 8,
    seed: Annotated[int | None, typer.Option(help="of the inputs; a fresh one if none is given")] = None,
    json: Annotated[str | None, typer.Option(help="file for the verdict rows, - for standard output")] = None,
    out: Annotated[Path, typer.Option(help="folder for directories that differ")] = Path("out"),
) -> None:
    """Compare the store live with that of the official RocketMQ 4.9.3.

    Both start on the same damaged directories, the same images of the crash atlas and what killed processes of both
    leave, and both are given the same puts: answers, states and files are equal.

    python -m stateful_tests.conformance.java.stores --recoveries 2000 --crashes 2000 --seed 7
    """
    chosen = secrets.randbelow(2**31) if seed is None else seed
    scratch = Path(tempfile.mkdtemp(prefix="java-"))
    try:
        file = open(os.devnull if json is None else "/dev/stdout" if json == "-" else json, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # one of three; closed below
        version = runtime.start(artefacts.jars(lambda _done, _of: None), scratch)
    except (BadInputError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(ExitStatus.BAD_INPUT) from error
    wanted = Runs(recoveries, crashes, programs, replications, deliveries, kills)
    status = ExitStatus.UNKNOWN
    try:
        status = _told(verdicts(wanted, chosen, out, version, scratch), file)
        print(f"Java {version}; seed {chosen}", file=sys.stderr)
    except (Exception, KeyboardInterrupt):  # noqa: BLE001  # it ends, whatever happens, and says why
        traceback.print_exc()
    file.close()
    shutil.rmtree(scratch, ignore_errors=True)
    sys.stderr.flush()
    os._exit(status)  # the threads of the real stores do not end


def _told(rows: Iterator[Verdict], file: TextIO) -> ExitStatus:
    """Write and print each row; the exit status of all."""
    told = []
    for row in rows:
        told.append(row)
        print(row.to_json(), file=file, flush=True)
        numbers = f"{row.cost['rows']:,} compared, {row.cost['different']} different, {row.cost['seconds']:.0f} s"
        print(f"{row.outcome:9} {row.subject.name}: {numbers}  {row.note}", file=sys.stderr)
    return exit_status(told)


if __name__ == "__main__":
    typer.run(compare)
