"""Shows hazards on the real store: the worker of `rocketproof demonstrate`, in a process of its own.

It is given a folder for directories, one for scratch files, and the jars. It says which Java it is, and then answers
each line, a hazard, by a line of JSON: a verdict row, and lines for people. The threads of the real stores do not end;
whoever has started the worker kills it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from stateful_tests.conformance.java import runtime
from stateful_tests.conformance.java.stores.real import ROOT, silence
from stateful_tests.conformance.java.stores.seen import recovered
from stateful_tests.crash.demonstrations import DEMONSTRATIONS, Demonstration, Shown
from stateful_tests.crash.judge import write_image
from stateful_tests.crash.promises import PROPERTIES, broken
from stateful_tests.crash.recovery import Outcome as Led, Recovered, outcome

JUDGE = "demonstrate"
_FEW = 4  # messages fit on a line


def main(folder: Path, scratch: Path, jars: list[Path]) -> None:
    """Answer until nobody asks any more."""
    try:
        java = runtime.start(jars, scratch)
    except BadInputError as error:
        _say(refused=str(error))
        return
    silence(scratch)
    _say(java=java)
    for line in sys.stdin:
        hazard = line.strip()
        row, lines = shown(DEMONSTRATIONS[hazard], folder / hazard, java)
        _say(row=row.to_json(), lines=lines)


def _say(**answer: object) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def shown(demonstration: Demonstration, folder: Path, java: str) -> tuple[Verdict, list[str]]:
    """What the real store makes of a directory: the row, and what was done and what is there now.

    folder -- gets the directory as it was, in `before`, and as the real store has left it, in `real`. java -- the
    version of it.
    """
    made = demonstration.make()
    for name in ("before", "real"):
        write_image(folder / name, made.image)
    real = recovered(folder / "real", made.life.workload.config, made.life.keys, made.life.times)
    ours = outcome(made.image, made.life).first
    found = broken(Led(real, None), made.known).get(demonstration.property)
    same = "impl/store makes the same of it" if same_recovery(real, ours) else "impl/store makes something else of it"
    row = Verdict(
        demonstration.property, JUDGE, Subject("implementation", "DefaultMessageStore", {
            "hazard": demonstration.name, "java": java}), demonstration.expected,
        Outcome.HOLDS if found is None else Outcome.VIOLATED, f"rocketproof demonstrate {demonstration.name}",
        hazard=demonstration.hazards(), note=f"{found or 'it is so'}; {same}")
    end = f"  broken: {found}" if found else f"  it is so: {PROPERTIES[demonstration.property]}"
    return row, [*_told(demonstration, made, folder), *_left(real), end]


def same_recovery(real: Recovered, ours: Recovered) -> bool:
    """Whether two stores have the same, or both do not start."""
    return real == ours or bool(real.refused and ours.refused)


def _told(demonstration: Demonstration, made: Shown, folder: Path) -> list[str]:
    acknowledged = ", ".join(map(str, made.known.acknowledged[:_FEW])) or "none"
    more = f" and {len(made.known.acknowledged) - _FEW} more" if len(made.known.acknowledged) > _FEW else ""
    return [demonstration.name, *(f"  {line}" for line in made.lines), f"  acknowledged: {acknowledged}{more}",
            f"  the directory: {folder / 'before' / ROOT}"]


def _left(real: Recovered) -> list[str]:
    if real.refused:
        return [f"  RocketMQ 4.9.3: {real.refused}"]
    end = max((offset + len(record) for offset, record in real.log), default=0)
    queues = [f"{topic}-{queue}: {min(units)} to {max(units)}" for (topic, queue), units in sorted(real.units.items())]
    offsets = json.dumps(dict(sorted(real.next_offsets.items())))
    units = ", ".join(queues) or "no queue"
    return [f"  RocketMQ 4.9.3 starts with {len(real.log)} records up to {end:,}, units in {units}",
            f"  next queue offsets: {offsets}"]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [Path(jar) for jar in sys.argv[3:]])
    os._exit(0)
