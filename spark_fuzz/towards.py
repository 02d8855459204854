"""The part of a campaign over worlds that looks for states which somebody wants to see.

Such states are counterexamples to induction, in the folder that `rocketproof prove --cti` writes. Every run is watched
for all of them; which come next is said by how near they came.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from model.language.open.nearness import wanted
from model.language.open.trails import VISITED
from spark_fuzz.simulation import LAG, Aim
from spark_fuzz.work import Row
from stateful_tests.worlds.run import Plan
from stateful_tests.worlds.steering import Begun, Nearest, Turns, Wishes, keep

TOLD = "towards.txt"
"""The file that says what came of each state."""


class Towards:
    """What runs have seen of the states that are wanted. aim -- checked."""

    def __init__(self, aim: Aim) -> None:
        """Nothing is known yet."""
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
        self._turns.take(arm, row["turn"], goal, nearest)

    def turn(self, number: int) -> list[Begun]:
        """How the runs of a turn begin; none when all states were reached."""
        return self._turns.turn(number)

    def files(self) -> Mapping[str, str]:
        """What is said of each state, and the ways that runs went; none if nothing is wanted."""
        if not self._found.goals:
            return {}
        return {TOLD: "".join(f"{line}\n" for line in self._found.lines()), VISITED: self._found.trails}


def said(folder: Path, towards: Path) -> Iterator[str]:
    """What a campaign in a folder has found of the states in another, in lines; the ways of its runs are kept there."""
    if (folder / TOLD).exists():
        yield from (folder / TOLD).read_text("utf-8").splitlines()
        yield keep(towards, (folder / VISITED).read_text("utf-8"))
