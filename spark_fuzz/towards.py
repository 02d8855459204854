"""The part of a campaign over worlds that looks for states which somebody wants to see.

Such states are counterexamples to induction, in the folder that `rocketproof prove --cti` writes. Every run is watched
for all of them; which come next is said by how near they came.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from invariants.evidence import replayed
from invariants.runs import REACHED
from invariants.verdict import Outcome, Subject, Verdict
from model.language.open.nearness import wanted
from spark_fuzz.simulation import LAG, Aim
from spark_fuzz.work import Row
from stateful_tests.worlds.reached import document
from stateful_tests.worlds.run import Plan
from stateful_tests.worlds.steering import Begun, Nearest, Turns, Wishes, keep
from stateful_tests.worlds.subjects import subject_named

TOLD, TRAILS = "towards.txt", "trails.txt"
"""The files that say what came of each state, and which ways runs went."""


class Towards:
    """What runs have seen of the states that are wanted. aim -- checked."""

    def __init__(self, aim: Aim) -> None:
        """Nothing is known yet."""
        self._aim = aim
        self._plans: dict[int, Plan] = {}
        self._found = Wishes([wanted(text) for text in aim.wanted])
        self._turns = Turns(aim.arms(), len(aim.wanted), LAG)

    def take(self, arm: Plan, row: Row) -> None:
        """Take a row of either kind, see `runs`."""
        told = json.loads(row["rest"])
        if row["kind"] == "trails":
            self._found.take(row["runs"], {}, told)
            return
        goal, nearest = int(row["property"]), Nearest.of(told)
        self._found.take(0, {goal: nearest}, ())
        if self._found.best[goal] is nearest:
            self._plans[goal] = arm
        self._turns.take(arm, row["turn"], goal, nearest)

    def turn(self, number: int) -> list[Begun]:
        """How the runs of a turn begin; none when all states were reached."""
        return self._turns.turn(number)

    def verdicts(self, command: str, folder: Path) -> list[Verdict]:
        """A row for each state: it holds if a run has come there, and is unknown if none has.

        command -- that goes on with the campaign. folder -- of the campaign.
        """
        return [self._reached(number, folder) if self._found.reached(number) else self._verdict(
            number, self._aim.subjects, Outcome.UNKNOWN, command) for number in range(len(self._found.goals))]

    def _reached(self, number: int, folder: Path) -> Verdict:
        file = f"evidence/{_file(number)}"
        row = self._verdict(number, [self._plans[number].subject], Outcome.HOLDS, replayed(folder / file))
        return replace(row, evidence=file)

    def _verdict(self, number: int, subjects: Iterable[str], outcome: Outcome, replay: str) -> Verdict:
        goal, best = self._found.goals[number], self._found.best.get(number)
        names = ", ".join(subject_named(one).title for one in subjects)
        subject = Subject("variant", names, {"state": f"{number + 1}: {goal.after} breaks {goal.property} after it"})
        cost = {"runs": self._found.runs} | ({} if best is None else {"cells_away": best.distance})
        return Verdict(REACHED, "campaign", subject, Outcome.HOLDS, outcome, replay, cost=cost, seed=self._aim.seed,
                       note=self._found.said(number))

    def evidence(self, folder: Path) -> Mapping[str, Mapping[str, Any]]:
        """A run for each state that was reached, by file name; folder -- of the campaign."""
        best = self._found.best
        return {_file(number): document(self._reached(number, folder), goal, self._plans[number], best[number])
                for number, goal in enumerate(self._found.goals) if self._found.reached(number)}

    def files(self) -> Mapping[str, str]:
        """What is said of each state, and the ways that runs went; none if nothing is wanted."""
        if not self._found.goals:
            return {}
        return {TOLD: "".join(f"{line}\n" for line in self._found.lines()), TRAILS: self._found.trails}


def _file(number: int) -> str:
    """Name of the evidence of a state."""
    return f"wanted-state-{number + 1}.json"


def said(folder: Path, towards: Path) -> Iterator[str]:
    """What a campaign in a folder has found of the states in another, in lines; the ways of its runs are kept there."""
    if (folder / TOLD).exists():
        yield from (folder / TOLD).read_text("utf-8").splitlines()
        yield keep(towards, (folder / TRAILS).read_text("utf-8"))
