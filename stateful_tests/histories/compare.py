"""The checker beside the reference, history by history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from invariants.histories.checks import Finding, Problem
from invariants.histories.judging import judged
from invariants.histories.operations import Operation
from stateful_tests.histories.drawn import drawn
from stateful_tests.histories.reference import Said, said as by_reference


def by_checker(history: list[Operation], agree_ms: int | None) -> set[Said]:
    """What the checker has to say of a history, as the reference says it."""
    told: set[Said] = set()
    for one in judged(history, agree_ms):
        if isinstance(one, Finding):
            told.add(("found", one.check, one.group, *one.operations[-1].place))
        elif not isinstance(one, Problem):
            told.add(("unjudged", one.check, one.group, *one.operation.place))
    return told


def differences(seeds: Iterable[int]) -> Iterator[tuple[int, set[Said], bool]]:
    """Of each history its seed, what only one of both says, and whether something is found in it."""
    for seed in seeds:
        history, agree_ms = drawn(seed), (None, 0, 15)[seed // 2 % 3]
        told = by_checker(history, agree_ms)
        yield seed, told ^ by_reference(history, agree_ms), any(one[0] == "found" for one in told)
