"""Which worlds a comparison lives through, and where its time goes.

A first pass lives through each workload once. Of those whose runs call what is replaced the other arms (profiles and
strategies) are tried then, beginning with those that are most like arms in which judges have told the sides apart. Half
of the time goes to arms that are known already, in proportion to how often that was so. An arm is chosen by whether its
sides differ, never by which of them is the better one: so the choice does not bear on the tests.
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from invariants.verdict import BadInputError
from spark_fuzz import touched
from spark_fuzz.simulation import BETWEEN, SEEDS, Aim
from spark_fuzz.work import Unit

Arm = tuple[str, str, str]
"""Workload, profile, strategy."""
FIRST = ("storm", "uniform")
"""Profile and strategy of the first pass."""
PAIRS = 2
"""Pairs of a unit, but for the first of each arm."""
@dataclass(frozen=True)
class Known:
    """What is known of an arm: pairs, those in which what is replaced was called, those that judges told apart."""

    pairs: int = 0
    called: int = 0
    apart: int = 0

    def __add__(self, other: Known) -> Known:
        """What is known of two arms together."""
        return Known(self.pairs + other.pairs, self.called + other.called, self.apart + other.apart)

    @property
    def weight(self) -> float:
        """The share of pairs that judges tell apart, by Laplace's rule; of what is not known a half."""
        return (self.apart + 1) / (self.pairs + 2)


@dataclass(frozen=True)
class Comparison:
    """What is compared: names of base and changed subject; seed -- which seeds are drawn.

    worlds -- workloads, profiles and strategies that are lived through.
    """

    base: str
    changed: str
    worlds: Aim
    file: str

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
        return shlex.join(["rocketproof", "compare", self.file, "--base", self.base, "--seed", str(self.seed)])


def units(aim: Comparison, known: Callable[[Arm], Known]) -> Iterator[Unit | int]:
    """The units of a comparison, in order; a number where the rows of so many of the first ones must be known.

    known -- of an arm. It ends when every arm was tried and none calls what is replaced.
    """
    plan = _Plan(aim)
    first = plan.first()
    yield from (plan.unit(arm) for arm in first)
    yield len(first)
    asked = list(touched.units(aim.base, aim.changed))
    yield from asked
    calling = {arm[0] for arm in first if known(arm).called}
    others = [arm for arm in plan.arms if arm not in first and (arm[0] in calling or not calling)]
    while True:
        yield plan.given.total() + len(asked)
        fresh = list(plan.fresh(others, len(first), known))
        others = [arm for arm in others if arm not in fresh]
        before = plan.given.total()
        yield from (plan.unit(arm) for arm in fresh)
        yield plan.given.total() + len(asked)
        yield from (plan.unit(arm) for arm in plan.again(len(first), known))
        if plan.given.total() == before:
            return


class _Plan:
    """Units by arm. given -- how many there are so far."""

    def __init__(self, aim: Comparison) -> None:
        self.aim, self.arms = aim, aim.arms()
        self.given = Counter[Arm]()

    def first(self) -> Sequence[Arm]:
        """An arm of each workload."""
        found: dict[str, Arm] = {}
        for arm in sorted(self.arms, key=lambda one: one[1:] != FIRST):
            found.setdefault(arm[0], arm)
        return list(found.values())

    def fresh(self, others: Sequence[Arm], most: int, known: Callable[[Arm], Known]) -> Iterator[Arm]:
        """Arms to try: those whose workload, and whose profile and strategy, tell sides apart most often.

        What is about to be tried counts as if it told none apart, so that the arms of a round are different ones.
        """
        parts = defaultdict[tuple[str, ...], Known](Known)
        for arm in self.given:
            for part in (arm[:1], arm[1:]):
                parts[part] += known(arm)
        left = dict.fromkeys(others)
        for _ in range(min(most, len(left))):
            best = max(left, key=lambda arm: parts[arm[:1]].weight * parts[arm[1:]].weight)
            del left[best]
            for part in (best[:1], best[1:]):
                parts[part] += Known(1)
            yield best

    def again(self, most: int, known: Callable[[Arm], Known]) -> Iterator[Arm]:
        """Arms that call what is replaced, each as often as is its share of all units."""
        weights = {arm: each.weight for arm in self.given if (each := known(arm)).called}
        for _ in range(most if weights else 0):
            yield min(weights, key=lambda arm: self.given[arm] / weights[arm])

    def unit(self, arm: Arm) -> Unit:
        """The next unit of an arm."""
        number = self.given[arm]
        self.given[arm] += 1
        begin = self.aim.seed * SEEDS + (1 + (number - 1) * PAIRS if number else 0)
        end = begin + (PAIRS if number else 1)
        body = {"subjects": (self.aim.base, self.aim.changed), "arm": arm, "seeds": (begin, end)}
        return Unit(BETWEEN.join([self.aim.changed, *arm, f"pairs {begin}-{end - 1}"]), body, 2 * (end - begin))
