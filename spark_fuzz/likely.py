"""How likely judges tell the two sides of a pair apart, arm by arm, and what a pair costs.

Before anything is known, `arms.jsonl` says which arms break a property on 4.9.3 as shipped: there a change of what it
is about may show. A line of it is about all arms (its part is empty), those of a workload, or those of a profile and
strategy: in which share of runs each property was broken; and, but for the last ones, how many segments a run has.
`python -m bench.arms` writes it. It decides where a comparison looks first, and nothing that it says.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

Arm = tuple[str, str, str]
"""Workload, profile, strategy."""
TABLE = Path(__file__).with_name("arms.jsonl")
GUESSED, SURE = 0.3, 4
"""What no line says is guessed to be this share; a guess weighs as much as SURE pairs."""
LEAST = 0.1
"""No part is guessed to be less likely than this share of all."""


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


class Likely:
    """How likely the sides of a pair differ.

    An arm is likely to be as others of its workload, and as others of its profile and strategy; its own pairs decide.
    A pair that is given and not known yet counts as if nobody told its sides apart, so that the next ones are others.
    near -- properties that are about what the change touches. known -- of arms that were lived through. given -- pairs.
    """

    def __init__(self, near: frozenset[str], known: Mapping[Arm, Known], given: Mapping[Arm, int]) -> None:
        """Take what is known so far."""
        self._near = near
        self._of = defaultdict[tuple[str, ...], Known](Known)
        for arm, pairs in given.items():
            self.take(arm, replace(known.get(arm, Known()), pairs=pairs))

    def take(self, arm: Arm, each: Known) -> None:
        """Pairs of an arm more."""
        for part in ((), arm[:1], arm[1:], arm):
            self._of[part] += each

    def share(self, arm: Arm) -> float:
        """The share of pairs of an arm that judges tell apart."""
        broken = _broken((), self._near)
        whole = self._of[()].share(broken or GUESSED)
        shares = (self._of[part].share(max(LEAST, _broken(part, self._near) / broken if broken else 1) * whole)
                  for part in (arm[:1], arm[1:]))
        return self._of[arm].share(min(1.0, math.prod(shares) / whole))

    def worth(self, arm: Arm) -> float:
        """How many pairs of an arm are told apart for what an average one costs."""
        return self.share(arm) / _cost(arm[0])


@lru_cache
def _table() -> Mapping[tuple[str, ...], Mapping[str, Any]]:
    lines = (json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines())
    return {tuple(line["part"]): line for line in lines}


@lru_cache(maxsize=1024)
def _broken(part: tuple[str, ...], near: frozenset[str]) -> float:
    """In which share of its runs one of these properties was broken, as if each was broken by itself."""
    found = _table().get(part, {"broken": {}})["broken"]
    shares: list[float] = [found.get(name, 0.0) for name in near]
    return 1 - math.prod(1 - share for share in shares)


def _cost(workload: str) -> float:
    """How long a run of a workload is, beside an average one."""
    table = _table()
    whole: int = table[()]["segments"]
    own: int = table.get((workload,), table[()])["segments"]
    return own / whole
