"""The tape: the one source of everything that is random in a simulation.

A run *is* its tape, a list of small integers: 0 is always the boring choice (no fault, first in order, shortest delay,
go on, stop), a value out of range counts as 0, and past the end of a tape everything is 0. So every list of integers is
a run, trailing zeros say nothing, and a shorter tape with more zeros is a simpler run.

`RandomTape` draws and records (campaigns), `QuietTape` plays a list again, and `ReplayTape` also keeps what people want
to read about it. A list that Hypothesis draws is played by `ReplayTape` too: one tape per run, or one per rule of a
machine.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

Where = str | Callable[[], str]  # what a choice is about


class Tape(Protocol):
    """Where choices come from.

    choices -- what has been chosen so far, zeros included. telling -- whether `tell` keeps what it is told.
    """

    choices: list[int]
    telling: bool

    def pick(self, n: int, where: Where = "", one_in: int = 1) -> int:
        """Choose 0 … n-1; nothing is recorded when there is no choice (n < 2).

        n -- at most 256, so that a tape fits into bytes. where -- what the choice is about, for people; a function is
        only called when its text is kept. one_in -- how rare another choice than 0 is when chance decides: 1 makes all
        equally likely, 20 gives 0 in 19 cases of 20.
        """
        ...

    def tell(self, time_ms: int, who: str, meaning: str, since: int | None = None) -> None:
        """Say what the choice just made means: "paused 100 ms"; the last pick must have given another than 0.

        who -- the process that it happens to. since -- position on the tape from which on all choices mean this
        together; the first of them at least is not 0.
        """
        ...


class RandomTape:
    """Chance, recorded; the same seed gives the same choices on every machine."""

    __slots__ = ("_random", "choices")
    telling = False

    def __init__(self, seed: int) -> None:
        """Start at the beginning of the seed's sequence."""
        self.choices: list[int] = []
        self._random = random.Random(seed).random  # noqa: S311  # a seed that anybody can replay is what is wanted

    def pick(self, n: int, where: Where = "", one_in: int = 1) -> int:  # noqa: ARG002  # kept on replay only
        """See Tape."""
        if n < 2:  # noqa: PLR2004  # one possibility is no choice
            return 0
        roll = self._random() * one_in
        if roll >= 1:
            value = 0
        elif one_in == 1:
            value = int(roll * n)
        else:
            value = 1 + int(roll * (n - 1))
        self.choices.append(value)
        return value

    def tell(self, time_ms: int, who: str, meaning: str, since: int | None = None) -> None:
        """See Tape; callers look at `telling` first, so that no text is made for nothing."""


@dataclass(slots=True)
class Told:
    """One choice that was not the boring one.

    position -- its index on the tape. n, value -- value of 0 … n-1. where -- what it was about. time_ms -- true time of
    the simulation; who -- the process it happens to; meaning -- what it did; these three are empty until told.
    """

    position: int
    n: int
    value: int
    where: str
    time_ms: int = 0
    who: str = ""
    meaning: str = ""

    @property
    def sentence(self) -> str:
        """What people read: "paused 100 ms at registerConsumer: before updateChannel"."""
        meaning = self.meaning or f"choice {self.value} of 0 to {self.n - 1}"
        return f"{meaning} at {self.where}" if self.where else meaning


class QuietTape:
    """A list of choices, played again for what comes of it; nothing is kept for people, which would take its time."""

    __slots__ = ("_given", "choices")
    telling = False

    def __init__(self, choices: Iterable[int]) -> None:
        """Play these choices; they are copied."""
        self._given = list(choices)
        self.choices: list[int] = []

    def pick(self, n: int, where: Where = "", one_in: int = 1) -> int:  # noqa: ARG002  # the tape decides, not chance
        """See Tape."""
        if n < 2:  # noqa: PLR2004  # one possibility is no choice
            return 0
        position = len(self.choices)
        value = self._given[position] if position < len(self._given) else 0
        self.choices.append(value if 0 < value < n else 0)
        return self.choices[-1]

    def tell(self, time_ms: int, who: str, meaning: str, since: int | None = None) -> None:
        """See Tape: nobody listens."""


class ReplayTape(QuietTape):
    """A list of choices, played again to be read.

    told -- the choices that were not boring, in order, as sentences.
    """

    __slots__ = ("told",)
    telling = True

    def __init__(self, choices: Iterable[int]) -> None:
        """Play these choices; they are copied."""
        super().__init__(choices)
        self.told: list[Told] = []

    def pick(self, n: int, where: Where = "", one_in: int = 1) -> int:
        """See Tape."""
        value = super().pick(n, where, one_in)
        if value:
            self.told.append(Told(len(self.choices) - 1, n, value, where if isinstance(where, str) else where()))
        return value

    def tell(self, time_ms: int, who: str, meaning: str, since: int | None = None) -> None:
        """See Tape."""
        while since is not None and len(self.told) > 1 and self.told[-2].position >= since:
            self.told.pop()
        told = self.told[-1]
        told.time_ms, told.who, told.meaning = time_ms, who, meaning

    @property
    def sentences(self) -> list[str]:
        """The run in words: what was not boring, in order, with time and process where they were told."""
        return [f"{t.time_ms} ms, {t.who}: {t.sentence}" if t.who else t.sentence for t in self.told]


class AnsweredTape:
    """Choices of somebody who is asked what each is about; see Tape."""

    telling = False

    def __init__(self) -> None:
        """Nothing has been asked yet."""
        self.choices: list[int] = []

    def pick(self, n: int, where: Where = "", one_in: int = 1) -> int:  # noqa: ARG002  # somebody decides, not chance
        """See Tape."""
        if n < 2:  # noqa: PLR2004  # one possibility is no choice
            return 0
        value = self.answer(n, where if isinstance(where, str) else where())
        self.choices.append(value if 0 < value < n else 0)
        return self.choices[-1]

    def answer(self, n: int, where: str) -> int:
        """Choose 0 … n-1; what is out of range counts as 0."""
        raise NotImplementedError

    def tell(self, time_ms: int, who: str, meaning: str, since: int | None = None) -> None:
        """See Tape: nobody listens."""


def trimmed(choices: Sequence[int]) -> list[int]:
    """The same run without the zeros at its end."""
    end = len(choices)
    while end and choices[end - 1] == 0:
        end -= 1
    return list(choices[:end])
