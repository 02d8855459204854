"""Which worlds a comparison lives through, and where its time goes.

It goes in rounds. Half of a round tries arms (workload, profile, strategy) that were never tried: each workload once,
then of those whose runs call what is replaced the arms in which judges are most likely to tell the sides apart. The
other half goes to arms that are known, in proportion to how likely that is there. An arm is chosen by whether its sides
differ, never by which of them is the better one: so the choice does not bear on the tests.
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from invariants.verdict import BadInputError
from spark_fuzz import touched
from spark_fuzz.simulation import BETWEEN, SEEDS, Aim
from spark_fuzz.work import Unit

Arm = tuple[str, str, str]
"""Workload, profile, strategy."""
FIRST = ("storm", "uniform")
"""Profile and strategy of the first pass."""
ROUND, GROWS = 8, 8
"""Pairs of a round: the first number, or if that is more the share of all pairs so far that the second one says."""
ASKED = 2
"""Questions to other judges in a round."""
LOOK = 16
"""Units after which it is looked for the first time whether something differs beyond doubt."""
GUESSED, SURE = 0.3, 2
"""Before anything is known judges tell the sides of this share of pairs apart; a guess weighs as much as SURE pairs."""


@dataclass(frozen=True)
class Known:
    """What is known of arms: pairs, those in which what is replaced was called, those that judges told apart."""

    pairs: int = 0
    called: int = 0
    apart: int = 0

    def __add__(self, other: Known) -> Known:
        """What is known of two arms together."""
        return Known(self.pairs + other.pairs, self.called + other.called, self.apart + other.apart)

    def share(self, guessed: float) -> float:
        """The share of pairs that judges tell apart; guessed -- what it is as far as these pairs do not say."""
        return (self.apart + SURE * guessed) / (self.pairs + SURE)


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
    It ends when every arm was tried and none calls what is replaced.
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
        self._aim = aim
        self._given = Counter[Arm]()
        first: dict[str, Arm] = {}
        arms = sorted(aim.arms(), key=lambda one: one[1:] != FIRST)
        for arm in arms:
            first.setdefault(arm[0], arm)
        self._first = list(first.values())
        self._others = [arm for arm in arms if arm not in self._first]

    def round(self, known: Mapping[Arm, Known]) -> Iterator[Unit]:
        """The units of the next round."""
        size = max(ROUND, self._given.total() // GROWS)
        calling = [arm for arm, each in known.items() if each.called]
        if calling:
            idle = {arm[0] for arm in known} - {arm[0] for arm in calling}
            self._others = [arm for arm in self._others if arm[0] not in idle]
        likely = _Likely(known, self._given)
        shares = {arm: likely.share(arm) for arm in calling}
        yield from self._fresh(size // 2, likely)
        for _ in range(size - size // 2 if calling else 0):
            yield self._pair(min(calling, key=lambda arm: self._given[arm] / shares[arm]))

    def _fresh(self, most: int, likely: _Likely) -> Iterator[Unit]:
        """Pairs of arms that were not tried: of a new workload, or else of the arm whose sides most likely differ."""
        for _ in range(most):
            if self._first:
                fresh = self._first.pop(0)
            elif not self._others:
                return
            else:
                fresh = max(self._others, key=likely.share)
                self._others.remove(fresh)
            likely.take(fresh, Known(1))
            yield self._pair(fresh)

    def _pair(self, arm: Arm) -> Unit:
        """The next pair of an arm."""
        seed = self._aim.seed * SEEDS + self._given[arm]
        self._given[arm] += 1
        body = {"subjects": (self._aim.base, self._aim.changed), "arm": arm, "seeds": (seed, seed + 1)}
        return Unit(BETWEEN.join([self._aim.changed, *arm, f"pair {seed}"]), body, 2)


class _Likely:
    """How likely judges tell the sides of an arm apart.

    An arm is likely to be as others of its workload, and as others of its profile and strategy; its own pairs decide.
    A pair that is given and not known yet counts as if nobody told its sides apart, so that the next ones are others.
    """

    def __init__(self, known: Mapping[Arm, Known], given: Mapping[Arm, int]) -> None:
        self._of = defaultdict[tuple[str, ...], Known](Known)
        for arm, pairs in given.items():
            self.take(arm, replace(known.get(arm, Known()), pairs=pairs))

    def take(self, arm: Arm, each: Known) -> None:
        """Pairs of an arm more."""
        for part in ((), arm[:1], arm[1:], arm):
            self._of[part] += each

    def share(self, arm: Arm) -> float:
        """The share of its pairs."""
        whole = self._of[()].share(GUESSED)
        guessed = min(1.0, self._of[arm[:1]].share(whole) * self._of[arm[1:]].share(whole) / whole)
        return self._of[arm].share(guessed)
