"""`python -m stateful_tests.conformance.java`: the live comparison with RocketMQ 4.9.3 (`make interop`)."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from invariants import evidence
from invariants.verdict import BadInputError, ExitStatus, Outcome, Subject, Verdict, exit_status
from stateful_tests.conformance.java import artefacts
from stateful_tests.conformance.java.compare import JAVA, Tally, allocations, decisions
from stateful_tests.conformance.java.process import JavaProcess, JavaProcessError

PROPERTY = "answers_as_rocketmq"
_SUBJECTS = {
    "AVG": "AllocateMessageQueueAveragely", "CIRCLE": "AllocateMessageQueueAveragelyByCircle",
    "HASH": "AllocateMessageQueueConsistentHash", "CONFIG": "AllocateMessageQueueByConfig",
    "ROOM": "AllocateMessageQueueByMachineRoom", "NEARBY": "AllocateMachineRoomNearby",
    "string-hash": "String#hashCode, tagsString2tagsCode", "messagequeue-order": "MessageQueue",
    "queue-selectors": "SelectMessageQueueByHash", "fault-duration": "MQFaultStrategy#computeNotAvailableDuration",
    "message-codec": "MessageDecoder#encode, #decode", "batch-codec": "MessageDecoder#encodeMessages, #decodeMessages",
    "record-encode-check": "CommitLog#checkMessageAndReturnSize",
    "appended-records": "CommitLog.DefaultAppendMessageCallback#doAppend",
    "message-id": "MessageDecoder#createMessageId, #decodeMessageId", "unique-id": "MessageClientIDSetter",
    "properties-to-string": "MessageDecoder#messageProperties2String",
    "string-to-properties": "MessageDecoder#string2messageProperties", "bytes": "UtilAll", "bloom": "BloomFilter",
    "frames": "RemotingCommand#encode, #decode", "frames-odd": "RemotingCommand#decode",
    "json-bodies": "RemotingSerializable#toJson, #fromJson", "json-decode-odd": "RemotingSerializable#fromJson",
    "sql92": "SqlFilter#compile, Expression#evaluate",
}
_DECISIONS_PER_ALLOCATION = 20  # so many allocation inputs for one of each small decision


class Comparison:
    """One run: the tallies so far, so that what was found survives whatever stops it.

    seed, inputs -- as on the command line.
    """

    def __init__(self, seed: int, inputs: int) -> None:
        """Nothing is compared yet."""
        self.seed, self.inputs, self.java_version, self.stopped = seed, inputs, "", ""
        self.tallies: dict[str, Tally] = {}

    def run(self, progress: Progress) -> None:
        """Fetch, start Java, compare; a crash of the worker or Ctrl-C stops it and is kept as the reason."""
        small = max(1, self.inputs // _DECISIONS_PER_ALLOCATION)
        fetching = progress.add_task("official artefacts", total=None)
        try:
            jars = artefacts.jars(lambda done, of: progress.update(fetching, completed=done, total=of))
            progress.remove_task(fetching)
            with JavaProcess(jars) as java:
                self.java_version = java.java_version
                bar = progress.add_task("allocation", total=self.inputs)
                for tallies in allocations(java, self.seed, self.inputs, lambda rows: progress.advance(bar, rows)):
                    self.tallies |= tallies
                bar = progress.add_task("other decisions", total=None)
                for tallies in decisions(java, self.seed, small, lambda rows: progress.advance(bar, rows)):
                    self.tallies |= tallies
        except JavaProcessError as error:
            self.stopped = f"stopped: {error}"
        except KeyboardInterrupt:
            self.stopped = "stopped by Ctrl-C"

    def verdicts(self, out: Path) -> list[Verdict]:
        """A row for each subject; a row that differs writes its smallest input as evidence below `out`."""
        return [self._verdict(self.tallies.get(name, Tally(name, 1)), out) for name in _SUBJECTS]

    def _verdict(self, tally: Tally, out: Path) -> Verdict:
        complete = Outcome.HOLDS if tally.rows == tally.wanted else Outcome.UNKNOWN
        found = Outcome.VIOLATED if tally.different else complete
        details: dict[str, Any] = {"against": f"{JAVA}, live", "java": self.java_version, "errors": tally.errors}
        note = tally.smallest[0].sentence if tally.smallest else self.stopped if found is Outcome.UNKNOWN else ""
        path = Path("evidence") / f"live-{tally.name}.json"
        verdict = Verdict(
            PROPERTY, "conform", Subject("implementation", _SUBJECTS[tally.name], details), Outcome.HOLDS, found,
            f"python -m stateful_tests.conformance.java --seed {self.seed} --inputs {self.inputs}", seed=self.seed,
            cost={"rows": tally.rows, "different": tally.different, "seconds": round(tally.seconds, 3)},
            evidence=str(path) if tally.smallest else None, note=note,
        )
        if tally.smallest:
            first, *others = tally.smallest
            more = [{"arguments": one.arguments, "sentence": one.sentence} for one in others]
            body = _printable({"arguments": first.arguments, "results": first.results, "more": more})
            evidence.write(out / path, evidence.document(verdict, "counterexample", first.sentence, **body))
        return verdict


def _printable(value: Any) -> Any:
    """JSON values that a UTF-8 file can hold: a lone surrogate becomes its escape, as text."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_printable(key): _printable(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [_printable(element) for element in value]
    return value


def table(verdicts: list[Verdict]) -> Table:
    """The verdicts as people read them."""
    shown = Table(title=f"implementation against {JAVA}, live", title_justify="left", box=SIMPLE)
    shown.add_column("decision", overflow="fold")
    shown.add_column("outcome")
    for name in ("compared", "threw", "different"):
        shown.add_column(name, justify="right")
    for verdict in verdicts:
        colour = "green" if verdict.as_expected else "red"
        counts = (verdict.cost["rows"], verdict.subject.details["errors"], verdict.cost["different"])
        outcome = f"[{colour}]{verdict.outcome}[/]"
        shown.add_row(verdict.subject.name, outcome, *(f"{count:,}" for count in counts))
    return shown


def _show(console: Console, verdicts: list[Verdict], out: Path) -> None:
    """The table, and a line for each row that differs."""
    console.print(table(verdicts))
    for verdict in verdicts:
        if verdict.outcome is Outcome.VIOLATED:
            where = f" (smallest input: {out / verdict.evidence})" if verdict.evidence else ""
            line = f"{verdict.subject.name}: {verdict.note}{where}"
            console.print(line, markup=False, highlight=False, soft_wrap=True)


def _write_rows(verdicts: list[Verdict], file: str) -> None:
    lines = "".join(f"{verdict.to_json()}\n" for verdict in verdicts)
    if file == "-":
        sys.stdout.write(lines)
    else:
        Path(file).write_text(lines, encoding="utf-8")


def compare(
    inputs: Annotated[int, typer.Option(min=12, help="allocation inputs to compare")] = 100_800,
    seed: Annotated[int | None, typer.Option(help="seed of the inputs; a fresh one if none is given")] = None,
    json: Annotated[str | None, typer.Option(help="file for the verdict rows, - for standard output")] = None,
    out: Annotated[Path, typer.Option(help="folder for the evidence of differences")] = Path("out"),
) -> None:
    """Compare the implementation live with the official RocketMQ 4.9.3.

    Fetches the official jars from Maven Central once, runs them on the Java that comes as a wheel (or JAVA_HOME), and
    compares fresh inputs: six allocation strategies, the order, hashes and back-off they rest on, messages as bytes,
    JSON, frames and SQL92 filters.

    python -m stateful_tests.conformance.java --inputs 12000 --seed 7 --json -
    """
    to_stderr = Console(stderr=True)
    run = Comparison(secrets.randbelow(2**32) if seed is None else seed, inputs)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    try:
        with Progress(*columns, console=to_stderr, transient=True) as progress:
            run.run(progress)
        verdicts = run.verdicts(out)
        if json is not None:
            _write_rows(verdicts, json)
    except BadInputError as error:
        to_stderr.print(f"error: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(ExitStatus.BAD_INPUT) from error
    _show(to_stderr if json == "-" else Console(), verdicts, out)
    to_stderr.print(f"{run.stopped or 'compared'}; Java {run.java_version}; seed {run.seed}", highlight=False)
    raise typer.Exit(exit_status(verdicts))


if __name__ == "__main__":
    typer.run(compare)
