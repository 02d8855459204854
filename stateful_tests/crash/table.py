"""The table of the store's hazards: what finds each of them, and after how much.

`python -m stateful_tests.crash.table` prints it for docs/crash.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from invariants.hazards import HAZARDS
from model.scopes import SCOPES
from stateful_tests.crash.demonstrations import DEMONSTRATIONS
from stateful_tests.crash.programs import Life
from stateful_tests.crash.promises import broken
from stateful_tests.crash.recovery import Recoveries
from stateful_tests.crash.survey import Crashes
from stateful_tests.crash.workloads import WORKLOADS
from stateful_tests.stories.told import commands
from stateful_tests.worlds.subjects import subject_named

NOT_FOUND = {
    "V17": "nothing: the command cleanExpiredCQ is not in `impl`",
}
"""Hazards that nothing finds, and why."""
HEAD = ("| hazard | found by | after | on the real store |", "|---|---|---|---|")


def rows() -> Iterator[str]:
    """The lines of the table, in the order of the hazards."""
    yield from HEAD
    for name, hazard in HAZARDS.items():
        if hazard.group == HAZARDS["V1"].group:
            real = f"`rocketproof demonstrate {name}`" if name in DEMONSTRATIONS else ""
            yield f"| {name} | {' | '.join(_found(name))} | {real} |"


def _found(hazard: str) -> tuple[str, str]:
    """What finds it, and after how much: the atlas if it can, then a story, then a search."""
    atlas = next(_in_atlas(hazard), None)
    if atlas is not None:
        return atlas
    stories = commands(hazard)
    if stories:
        return f"story `{stories[0].rpartition(' ')[2]}`", "one run"
    scope = next((one for one in SCOPES if (hazard,) in one.violated.values()), None)
    if scope is not None:
        return f"search: scope {scope.name}", f"{scope.states:,} states"
    return NOT_FOUND[hazard], ""


def _in_atlas(hazard: str) -> Iterator[tuple[str, str]]:
    """In the first workload that breaks a property by it: the first image, where all else is repaired."""
    for workload in WORKLOADS.values():
        for kind, table in workload.expected.items():
            names = {name for name, hazards in table.items() if hazard in hazards}
            if names:
                with subject_named(f"repaired-{hazard}").running():
                    number = _first(Life(workload), kind, names)
                if number:
                    yield f"atlas: {workload.name}, {kind} crash", f"image {number:,}"


def _first(life: Life, kind: str, names: set[str]) -> int:
    """The number of the first image, of those that differ, that breaks one of the properties; 0: none does."""
    recoveries = Recoveries(life)
    for found in Crashes(life, kind).all():
        outcome = recoveries.of(found.image)
        periods = life.periods(found.since, found.until)
        if any(names & broken(outcome, life.known(since)).keys() for since, _ in periods):
            return recoveries.distinct
    return 0


if __name__ == "__main__":
    sys.stdout.write("\n".join([*rows(), ""]))
