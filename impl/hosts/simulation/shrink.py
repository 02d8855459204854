"""The shrinker: makes a failing tape simple, by replaying simpler ones.

Simpler is, in this order: fewer choices that are not 0 (fewer faults), a shorter tape, a smaller sum. A simpler tape is
kept if its run fails with the same signature. It knows nothing about what a tape means; it works because 0 is always
the boring choice and because the end of a run without faults needs no tape at all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from impl.hosts.simulation.tape import trimmed

Run = Callable[[Sequence[int]], tuple[Hashable, Sequence[int]]]
"""Play a tape; answer the signature of its failure (None: it did not fail) and the choices that were really used."""

MAX_RUNS = 3_000


def shrink(choices: Sequence[int], run: Run, max_runs: int = MAX_RUNS) -> list[int]:
    """The simplest tape found that fails as the given one does, without zeros at its end.

    choices -- a tape that fails. run -- see Run; must be deterministic. max_runs -- how many tapes may be played.
    Raises ValueError if the given tape does not fail, or not twice in the same way: that run is not deterministic.
    """
    shrinker = _Shrinker(choices, run, max_runs)
    if shrinker.wanted is None:
        raise ValueError("this tape does not fail: give the choices of a run that did")
    if not shrinker.fails(shrinker.best, again=True):
        raise ValueError("the choices that a run used do not fail like the run: it is not deterministic")
    while shrinker.improve():
        pass
    return shrinker.best


class _Shrinker:
    """best -- the simplest tape so far; wanted -- the signature it must have."""

    def __init__(self, choices: Sequence[int], run: Run, max_runs: int) -> None:
        self.run, self.runs_left = run, max_runs
        self.wanted, used = run(choices)
        self.best = trimmed(used)
        self.tried: set[tuple[int, ...]] = {tuple(self.best)}

    def fails(self, candidate: list[int], *, again: bool = False) -> bool:
        """Play a simpler tape, if it is one and was not played before, and keep it if it fails in the wanted way."""
        candidate = trimmed(candidate)
        key = tuple(candidate)
        if not again and (key in self.tried or _cost(candidate) >= _cost(self.best) or self.runs_left <= 0):
            return False
        self.tried.add(key)
        self.runs_left -= 1
        signature, used = self.run(candidate)
        if signature != self.wanted:
            return False
        used = trimmed(used)
        self.best = min(candidate, used, key=_cost)
        return True

    def improve(self) -> bool:
        """All passes once; whether the tape has become simpler."""
        before = _cost(self.best)
        self.zero_blocks()
        self.delete_blocks()
        self.lower_values()
        return _cost(self.best) < before and self.runs_left > 0

    def zero_blocks(self) -> None:
        """Zero half of what is not 0, a quarter, … one by one; from the end, where faults are most often needless."""
        size = len(_nonzero(self.best))
        while size:
            start = len(_nonzero(self.best)) - size
            while start > -size:
                positions = _nonzero(self.best)[max(0, start) : start + size]
                candidate = list(self.best)
                for position in positions:
                    candidate[position] = 0
                self.fails(candidate)
                start -= size
            size //= 2

    def delete_blocks(self) -> None:
        """Delete blocks of n/2, n/4, … 16 with half overlap, then of 8 … 1 at every position, from the end."""
        size = len(self.best) // 2
        while size >= 16:  # noqa: PLR2004  # below it every position is tried
            for start in range(len(self.best) - size, -1, -max(1, size // 2)):
                self.fails(self.best[:start] + self.best[start + size :])
            size //= 2
        for size in range(8, 0, -1):
            start = len(self.best) - size
            while start >= 0:
                self.fails(self.best[:start] + self.best[start + size :])
                start -= 1

    def lower_values(self) -> None:
        """Lower single choices to 1, to half, by one."""
        for position in reversed(range(len(self.best))):
            value = self.best[position] if position < len(self.best) else 0
            for lower in (1, value // 2, value - 1):
                if 0 < lower < value:
                    candidate = list(self.best)
                    candidate[position] = lower
                    if self.fails(candidate):
                        break


def _nonzero(choices: Sequence[int]) -> list[int]:
    return [position for position, value in enumerate(choices) if value]


def _cost(choices: Sequence[int]) -> tuple[int, int, int]:
    return len(_nonzero(choices)), len(choices), sum(choices)
