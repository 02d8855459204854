"""Make a failing run simple: leave out what people did and what failed, as long as it fails in the same way.

A tape is a list of choices by position, and leaving one out moves the meaning of all that follow; in a long run nothing
is left of the failure then. So the choices that are not boring are named by when they were made, what they were about,
and which of these it was; `NamedTape` plays a set of such names, and records the plain tape that this is. Subsets are
tried by delta debugging (Zeller and Hildebrandt, IEEE TSE 2002).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from impl.hosts.simulation.tape import AnsweredTape, ReplayTape, Tape, trimmed
from stateful_tests.worlds.run import Plan, run

Name = tuple[int, str, int]  # time in ms, what the choice is about, which of those
MAX_RUNS = 200


class NamedTape(AnsweredTape):
    """Plays choices by their names; any other is boring.

    clock -- true time of the world that it is played to. named -- the choices made that were not boring.
    """

    def __init__(self, choose: Callable[[Name, int], int]) -> None:
        """Choose -- from a name and the number of possibilities to a choice."""
        super().__init__()
        self.clock: Callable[[], int] = lambda: 0
        self.named: dict[Name, int] = {}
        self._choose = choose
        self._met: Counter[tuple[int, str]] = Counter()

    def answer(self, n: int, where: str) -> int:
        """See AnsweredTape."""
        met = self.clock(), where
        name = (*met, self._met[met])
        value = self._choose(name, n)
        if 0 < value < n:
            self.named[name] = value
        self._met[met] += 1
        return value


class Simplest:
    """The simplest run found that fails as a given one does.

    choices -- its tape. runs -- how many were needed. at -- where the search stopped for want of runs: with it another
    search goes on from this tape as if it were the same one. None when nothing can be left out any more.
    """

    def __init__(
        self, plan: Plan, choices: Sequence[int], signature: Sequence[str], max_runs: int = MAX_RUNS,
        at: Sequence[int] | None = None,
    ) -> None:
        """Shrink; raises ValueError if the given tape does not fail with the signature."""
        self.plan, self.signature = plan, tuple(signature)
        self.runs, self._max_runs = 0, max_runs
        replayed = ReplayTape(choices)
        first = NamedTape(lambda _, n: replayed.pick(n))  # plays the list, and learns the names of its choices
        if not self._fails(first):
            raise ValueError(f"this tape does not fail with {' '.join(signature)}: give the choices of a run that did")
        self.choices = trimmed(first.choices)
        self._named = first.named
        self.at = self._reduced(*(at or (len(self._named), len(self._named), 0)))

    def _fails(self, tape: Tape) -> bool:
        self.runs += 1
        record = run(self.plan, tape, until=self.signature)
        return self.signature in record.signatures()

    def _keep(self, names: Iterable[Name]) -> None:
        """If these choices alone fail too, they are what is left."""
        left = {name: self._named[name] for name in names}
        tape = NamedTape(lambda name, _: left.get(name, 0))
        if self._fails(tape):
            self._named, self.choices = tape.named, trimmed(tape.choices)

    def _reduced(self, size: int, before: int, start: int) -> tuple[int, int, int] | None:
        """Leave out a half, a quarter, … single choices, the last ones first, until nothing can be left out.

        size -- how many to leave out at once. before -- how many there were when that began. start -- of the next.
        """
        while size:
            while start > -size:
                if self.runs >= self._max_runs:
                    return size, before, start
                names = list(self._named)
                self._keep([*names[: max(0, start)], *names[start + size :]])
                start -= size
            if len(self._named) == before or size > len(self._named):
                size //= 2
            before = len(self._named)
            start = before - size
        return None
