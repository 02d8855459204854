"""Lives through worlds in which nothing may be found: `python -m bench.control --seed 311 --segments 1000000`.

Each workload with each fault profile and each strategy, in an order that chance draws, each with a seed of its own;
then all again in another order, until there were so many segments. One core is used: another process with another
--seed lives through other worlds. Each run in which a property is violated that no hazard of the subject explains, or
that ended without a verdict, is a JSON object on a line of its own:

    workload, profile, strategy, seed     the run
    property, sentence                    what it has found, or
    unknown                               why it has no verdict
    replay                                the command that plays it again; its file is in the folder --out

and a last line has the sums: subject, seed, runs, segments, alarms, unknown, cpu_seconds, and one digest of all runs.
Exit status: 0 if there was nothing, 1 if something was found, 3 if a run has no verdict.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any

import typer

from invariants import evidence
from invariants.finding import Finding
from invariants.verdict import BadInputError, Outcome
from spark_fuzz.simulation import Aim
from stateful_tests.worlds.evidence import documents, verdict_of
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, RunRecord, run
from stateful_tests.worlds.subjects import subject_named

SEEDS = 10**8
PROGRESS_S = 2.0


def drawn(aim: Aim) -> Iterator[tuple[Plan, int]]:
    """Runs without end, each a plan and the seed of its strategy."""
    draw, arms = random.Random(aim.seed), aim.arms()  # noqa: S311 - anybody can draw the same
    while True:
        draw.shuffle(arms)
        for plan in arms:
            yield plan, draw.randrange(SEEDS)


def alarms(plan: Plan, record: RunRecord) -> list[Finding]:
    """What a run has found that no hazard of its subject explains."""
    subject = subject_named(plan.subject)
    return [found for found in record.seen if not subject.explains(found.key)]


def told(plan: Plan, seed: int, record: RunRecord, out: Path) -> Iterator[dict[str, Any]]:
    """The lines of a run; evidence of what it has found is written."""
    where = {"workload": plan.workload, "profile": plan.profile, "strategy": plan.strategy, "seed": seed}
    found = alarms(plan, record)
    rows = [verdict_of(plan, "control", one.property, Outcome.VIOLATED, key=one.key, choices=record.choices)
            for one in found]
    asked = [(row, one.key) for row, one in zip(rows, found, strict=True)]
    for (row, _), one, shown in zip(asked, found, documents(plan, record.choices, asked) if asked else (), strict=True):
        if shown is None:
            yield {**where, "property": one.property, "unknown": "not so when its tape was played again"}
        else:
            slug = f"{one.property}-{plan.workload}-{plan.profile}-{plan.strategy}-{seed}"
            yield {**where, "property": one.property, "sentence": one.sentence,
                   "replay": evidence.saved(row, shown, out, slug).replay}
    if record.unknown:
        yield {**where, "unknown": record.unknown}


@dataclass
class Control:
    """What the runs so far have shown."""

    out: Path
    runs: int = 0
    segments: int = 0
    alarms: int = 0
    unknown: int = 0
    digests: blake2b = field(default_factory=lambda: blake2b(digest_size=16))

    def live(self, plan: Plan, seed: int) -> Iterator[dict[str, Any]]:
        """Live through one more; its lines."""
        record = run(plan, STRATEGIES[plan.strategy](seed))
        self.digests.update(record.digest.encode())
        self.runs += 1
        self.segments += record.segments
        for line in told(plan, seed, record, self.out):
            self.unknown += "unknown" in line
            self.alarms += "unknown" not in line
            yield line

    def sums(self) -> dict[str, Any]:
        """The last line, but for what was asked."""
        return {"runs": self.runs, "segments": self.segments, "alarms": self.alarms, "unknown": self.unknown,
                "cpu_seconds": round(time.process_time(), 1), "digest": self.digests.hexdigest()}

    def status(self) -> int:
        """The exit status."""
        return 1 if self.alarms else 3 if self.unknown else 0


def main(
    subject: Annotated[str, typer.Option(help="Whose worlds; as `rocketproof campaign` takes it.")] = "repaired",
    seed: Annotated[int, typer.Option(help="Which runs are drawn.")] = 0,
    segments: Annotated[int, typer.Option(help="Enough after so many segments.")] = 1_000_000,
    workloads: Annotated[list[str] | None, typer.Option("--workload", help="Only these; may be repeated.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for evidence.")] = Path("out/control"),
) -> None:
    """Worlds in which nothing may be found, one JSON object a line."""
    try:
        aim = Aim((subject,), tuple(workloads or ()), seed=seed).checked()
    except BadInputError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2) from None
    control, shown_s = Control(out), 0.0
    runs = drawn(aim)
    while control.segments < segments:
        for line in control.live(*next(runs)):
            print(json.dumps(line), flush=True)
        if sys.stderr.isatty() and time.monotonic() - shown_s > PROGRESS_S:
            shown_s = time.monotonic()
            print(f"\r{control.runs} runs, {control.segments:,} of {segments:,} segments", end="", file=sys.stderr)
    print(json.dumps({"subject": aim.subjects[0], "seed": seed, **control.sums()}))
    raise typer.Exit(control.status())


if __name__ == "__main__":
    typer.run(main)
