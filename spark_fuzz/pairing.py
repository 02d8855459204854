"""Which worlds a comparison lives through, and where its time goes.

It goes in rounds. A third of a round tries arms (workload, profile, strategy) that were never tried: each workload
once, then of those whose runs call what is replaced the arms in which judges are most likely to tell the sides apart
(`likely`). The rest goes to arms that are known, in proportion to how likely that is there. An arm is chosen by whether
its sides differ, never by which of them is the better one: so the choice does not bear on the tests.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from invariants.verdict import BadInputError
from spark_fuzz import touched
from spark_fuzz.likely import Arm, Known, Likely
from spark_fuzz.simulation import BETWEEN, SEEDS, Aim
from spark_fuzz.work import Unit
from stateful_tests.worlds.subjects import subject_named

ROUND, GROWS = 8, 8
"""Pairs of a round: the first number, or if that is more the share of all pairs so far that the second one says."""
FRESH = 3
"""One pair of so many tries an arm that was never tried."""
ASKED = 2
"""Questions to other judges in a round."""
LOOK = 16
"""Units after which it is looked for the first time whether something differs beyond doubt."""

@dataclass(frozen=True)
class Comparison:
    """What is compared: names of base and changed subject; seed -- which seeds are drawn.

    worlds -- workloads, profiles and strategies that are lived through. until_answer -- it ends once something differs
    beyond doubt.
    """

    base: str
    changed: str
    worlds: Aim
    file: str
    until_answer: bool = False

    @property
    def seed(self) -> int:
        """Which seeds are drawn."""
        return self.worlds.seed

    def checked(self) -> Comparison:
        """This with all names looked up; raises BadInputError for what is not there or cannot be put in place."""
        if self.base == self.changed:
            raise BadInputError(f"{self.file}: there is nothing to compare, base and change are both {self.base}")
        return replace(self, worlds=replace(self.worlds, subjects=(self.base, self.changed)).checked())

    def arms(self) -> list[Arm]:
        """Every combination of workload, profile and strategy that differs from the others."""
        return list(dict.fromkeys((one.workload, one.profile, one.strategy) for one in self.worlds.arms()))

    def header(self) -> dict[str, Any]:
        """What makes two comparisons the same."""
        return {**self.worlds.header(), "campaign": "compare"}

    def command(self) -> str:
        """The command line, but for time and folder."""
        until = ["--until-answer"] if self.until_answer else []
        return shlex.join(["rocketproof", "compare", self.file, "--base", self.base, *until, "--seed", str(self.seed)])


def units(
    aim: Comparison, known: Callable[[int], Mapping[Arm, Known]], answered: Callable[[], bool] = bool,
) -> Iterator[Unit | int]:
    """The units of a comparison, in order; a number where the rows of so many of the first ones must be known.

    known -- what the rows of so many first units say of the arms. answered -- whether no more need be asked. Each look
    may err, so there are twice as many units at each as at the one before.
    What a round holds is decided by the rounds up to the one before the last, so that no core waits for its last unit.
    It ends also when every arm was tried and none calls what is replaced.
    """
    plan, asked, ends, look = _Plan(aim), touched.units(aim.base, aim.changed), [0, 0], LOOK
    while True:
        yield ends[-2]
        if ends[-2] >= look:
            look = 2 * ends[-2]
            if answered():
                return
        given = [*(islice(asked, ASKED) if ends[-1] else ()), *plan.round(known(ends[-2]))]
        if not given and ends[-2] == ends[-1]:
            return
        yield from given
        ends.append(ends[-1] + len(given))


class _Plan:
    """Units by arm."""

    def __init__(self, aim: Comparison) -> None:
        self._aim, self._near = aim, touched.near(subject_named(aim.changed).changes)
        self._given = Counter[Arm]()
        self._others = dict.fromkeys(aim.arms())
        self._new = dict.fromkeys(aim.worlds.workloads)

    def round(self, known: Mapping[Arm, Known]) -> Iterator[Unit]:
        """The units of the next round."""
        size = max(ROUND, self._given.total() // GROWS)
        calling = [arm for arm, each in known.items() if each.called]
        if calling:
            idle = {arm[0] for arm in known} - {arm[0] for arm in calling}
            self._others = {arm: None for arm in self._others if arm[0] not in idle}
        likely = Likely(self._near, known, self._given)
        worth = {arm: likely.worth(arm) for arm in calling}
        fresh = size // FRESH if calling else size
        yield from self._fresh(fresh, likely)
        for _ in range(size - fresh):
            yield self._pair(min(calling, key=lambda arm: self._given[arm] / worth[arm]))

    def _fresh(self, most: int, likely: Likely) -> Iterator[Unit]:
        """Pairs of the best arms that were not tried, those of workloads that nobody has lived through first."""
        for _ in range(most):
            arms = [arm for arm in self._others if arm[0] in self._new] or self._others
            if not arms:
                return
            fresh = max(arms, key=likely.worth)
            del self._others[fresh]
            self._new.pop(fresh[0], None)
            likely.take(fresh, Known(1))
            yield self._pair(fresh)

    def _pair(self, arm: Arm) -> Unit:
        """The next pair of an arm; worlds of equal seeds are alike in other arms too, so each pair has its own."""
        seed = self._aim.seed * SEEDS + self._given.total()
        self._given[arm] += 1
        body = {"subjects": (self._aim.base, self._aim.changed), "arm": arm, "seeds": (seed, seed + 1)}
        return Unit(BETWEEN.join([self._aim.changed, *arm, f"pair {seed}"]), body, 2)
