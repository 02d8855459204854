"""Exact tests of matched pairs, and the correction for many questions at once; knows nothing of what was counted.

Nothing is assumed of how the numbers are distributed: if two sides are alike, each pair could as well have come the
other way round. So p is the share of all ways round that differ at least as much, in either direction.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

MOST_EXACT = 30
"""So many pairs that differ are counted out; of more the normal distribution is close enough."""

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True)
class Asked:
    """The answer to one question about pairs.

    p -- as above; 1.0 if no pair differs. least -- the smallest p that so many differing pairs can give. more, fewer --
    pairs in which the second side has more, and in which it has less.
    """

    p: float
    least: float
    more: int
    fewer: int


def whether(first_only: int, second_only: int) -> Asked:
    """McNemar's test, exact: in how many pairs only one side shows something."""
    pairs, rarer = first_only + second_only, min(first_only, second_only)
    below = sum(math.comb(pairs, number) for number in range(rarer + 1))
    return Asked(min(1.0, below / 2 ** (pairs - 1)) if pairs else 1.0, _least(pairs), second_only, first_only)


def how_much(differences: Sequence[int]) -> Asked:
    """Wilcoxon's signed-rank test: how much more the second side has than the first; equal pairs say nothing."""
    sizes = sorted(abs(one) for one in differences if one)
    twice = {size: sizes.index(size) + 1 + len(sizes) - sizes[::-1].index(size) for size in dict.fromkeys(sizes)}
    ranks = [twice[size] for size in sizes]  # twice the middle rank of equal ones: a whole number
    above = sum(twice[one] for one in differences if one > 0)
    more = sum(one > 0 for one in differences)
    extreme = min(above, sum(ranks) - above)
    p = _counted_out(ranks, extreme) if len(ranks) <= MOST_EXACT else _normal(ranks, extreme)
    return Asked(p, _least(len(ranks)), more, len(ranks) - more)


def _least(pairs: int) -> float:
    return min(1.0, 2.0 ** (1 - pairs))


def _counted_out(ranks: Sequence[int], extreme: int) -> float:
    """The share of all choices of ranks whose sum is at most this, on either side."""
    ways = [1] + [0] * sum(ranks)
    reached = 0
    for rank in ranks:
        reached += rank
        for total in range(reached, rank - 1, -1):
            ways[total] += ways[total - rank]
    return min(1.0, sum(ways[: extreme + 1]) / sum(ways) * 2)


def _normal(ranks: Sequence[int], extreme: int) -> float:
    deviation = math.sqrt(sum(rank * rank for rank in ranks)) / 2
    away = max(0.0, sum(ranks) / 2 - extreme - 1)  # the next sum is two half ranks further, with middle ranks one
    return math.erfc(away / deviation / math.sqrt(2))


def corrected(asked: Mapping[_Key, Asked]) -> dict[_Key, float]:
    """For each question the p that takes account of all of them (Holm, 1979), at most 1.

    A question whose pairs are too few to answer anything is not counted as one (Tarone, 1990, for a family-wise error
    of ALPHA): how many pairs differ says nothing about the direction in which they do.
    """
    counted = _answerable(asked)
    found = dict.fromkeys(asked, 1.0)
    reached = 0.0
    for place, key in enumerate(sorted(counted, key=lambda one: asked[one].p)):
        reached = max(reached, min(1.0, asked[key].p * (len(counted) - place)))
        found[key] = reached
    return found


ALPHA = 0.05
"""How likely it may be that anything at all is said to differ though nothing does."""


def _answerable(asked: Mapping[_Key, Asked]) -> list[_Key]:
    for size in range(1, len(asked) + 1):
        able = [key for key, one in asked.items() if one.least <= ALPHA / size]
        if len(able) <= size:
            return able
    return []
