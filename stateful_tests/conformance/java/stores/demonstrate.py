"""Shows hazards on the real store: `python -m stateful_tests.conformance.java.stores.demonstrate FOLDER V3 …`.

The worker of `rocketproof demonstrate`: it writes a verdict row and a text for each hazard to standard output, one JSON
object a line. The threads of the real stores do not end, so that the process leaves without them.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from stateful_tests.conformance.java import artefacts, runtime
from stateful_tests.conformance.java.stores.real import ROOT
from stateful_tests.crash.demonstrations import DEMONSTRATIONS, Demonstration, Shown
from stateful_tests.crash.judge import write_image
from stateful_tests.crash.recovery import Outcome as Led
from stateful_tests.crash.recovery import Recovered, broken, outcome

JUDGE = "demonstrate"


def main(folder: Path, hazards: list[str]) -> None:
    """Show these, each on a directory below the folder."""
    scratch = Path(tempfile.mkdtemp(prefix="java-"))
    java = runtime.start(artefacts.jars(lambda _done, _of: None), scratch)
    from stateful_tests.conformance.java.stores.real import silence

    silence(scratch)
    for number, hazard in enumerate(hazards):
        row, lines = shown(DEMONSTRATIONS[hazard], folder / hazard, number, java)
        print(json.dumps({"row": row.to_json(), "lines": lines}), flush=True)


def shown(demonstration: Demonstration, folder: Path, number: int, java: str) -> tuple[Verdict, list[str]]:
    """What the real store makes of a directory: the row, and what was done and what is there now.

    folder -- gets the directory as it was, in `before`, and as the real store has left it, in `real`. number -- of the
    store's port. java -- the version of it.
    """
    from stateful_tests.conformance.java.stores.seen import recovered

    made = demonstration.make()
    for name in ("before", "real"):
        write_image(folder / name, made.image)
    real = recovered(folder / "real", made.life.workload.config, os.getpid() + number, tuple(made.life.keys))
    ours = outcome(made.image, made.life).first
    found = broken(made.life, Led(real, None), made.acknowledged).get(demonstration.property)
    same = "impl/store makes the same of it" if same_recovery(real, ours) else "impl/store makes something else of it"
    row = Verdict(
        demonstration.property, JUDGE, Subject("implementation", "DefaultMessageStore", {
            "hazard": demonstration.hazard, "java": java}), Outcome.VIOLATED,
        Outcome.HOLDS if found is None else Outcome.VIOLATED, f"rocketproof demonstrate {demonstration.hazard}",
        hazard=(demonstration.hazard,), note=f"{found or 'nothing is broken'}; {same}")
    return row, [*_told(demonstration, made, folder), *_left(real), f"  broken: {found}" if found else "  nothing is broken"]


def same_recovery(real: Recovered, ours: Recovered) -> bool:
    """Whether two stores have the same, or both do not start."""
    return real == ours if not (real.refused and ours.refused) else True


def _told(demonstration: Demonstration, made: Shown, folder: Path) -> list[str]:
    acknowledged = ", ".join(map(str, made.acknowledged[:4])) or "none"
    more = f" and {len(made.acknowledged) - 4} more" if len(made.acknowledged) > 4 else ""  # noqa: PLR2004  # fit a line
    return [demonstration.hazard, *(f"  {line}" for line in made.lines), f"  acknowledged: {acknowledged}{more}",
            f"  the directory: {folder / 'before' / ROOT}"]


def _left(real: Recovered) -> list[str]:
    if real.refused:
        return [f"  RocketMQ 4.9.3: {real.refused}"]
    end = max((offset + len(record) for offset, record in real.log), default=0)
    queues = [f"{topic}-{queue}: {min(units)} to {max(units)}" for (topic, queue), units in sorted(real.units.items())]
    return [f"  RocketMQ 4.9.3 starts with {len(real.log)} records up to {end:,}, units in "
            f"{', '.join(queues) or 'no queue'}, next queue offsets {json.dumps(dict(sorted(real.next_offsets.items())))}"]


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), sys.argv[2:])
    except BadInputError as error:
        print(json.dumps({"refused": str(error)}), flush=True)
    os._exit(0)
