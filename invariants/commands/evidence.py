"""The commands `replay`, `steer` and `report`: what the judges have written, run again and shown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from invariants.front_desk.options import Json, Seed, desk_app, examples, judging
from invariants.verdict import BadInputError, ExitStatus, Verdict
from proofs import __main__ as prover

if TYPE_CHECKING:
    from invariants.front_desk.desk import Desk

app = desk_app()


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

    with Desk(json, summary=False, pictures=False) as desk:
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
    from stateful_tests.played.players import on_the_implementation
    from stateful_tests.worlds.evidence import drawn

    document = evidence.read(file)
    try:
        stored, found = stored_outcome(document), replayed(document)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise BadInputError(f"{file}: not evidence that can be replayed ({type(error).__name__}: {error}); "
                            "give a file that a verdict names") from error
    desk.print(evidence_view(drawn(document)))
    for line in on_the_implementation(document):
        desk.print(line)
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
    """Put the question of a counterexample again: a record, an image, a call of a program, a decision, a run."""
    from invariants.front_desk.replay import recorded_row, replay_row
    from stateful_tests.conformance.adapters import ADAPTERS
    from stateful_tests.conformance.judge import IMAGE, RECORDINGS, SCENARIO, replayed_image
    from stateful_tests.conformance.port import judge as port
    from stateful_tests.conformance.replay import lines, stem
    from stateful_tests.crash import judge as crashes
    from stateful_tests.decisions.replay import replay_counterexample
    from stateful_tests.worlds.reached import replay_reached

    about = document["subject"]["kind"]
    if "wanted" in document:
        return replay_reached(document)
    if about == "endpoint":
        return port.replayed(document)
    if about == crashes.SUBJECT:
        return crashes.replayed(document)
    if about == "recording":
        row = recorded_row(document, RECORDINGS, lines)
        return replay_row(document, row, ADAPTERS[stem(document["subject"]["name"])])
    if about in ("implementation", IMAGE, SCENARIO):
        return replay_row(document, document, live_row if about == "implementation" else replayed_image)
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
    runs: Annotated[int, typer.Option(min=1, help="At most so many runs.")] = 100,
    seed: Seed = 0,
) -> None:
    """Lead simulated worlds towards counterexamples to induction, and tell whether they are reached.

    What the worlds visit meanwhile is kept in the folder: the next `rocketproof prove FILE.py --cti DIR` asks it first.
    `rocketproof campaign --towards DIR` does the same on all cores, in all worlds.

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
