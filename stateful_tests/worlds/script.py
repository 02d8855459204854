"""A tape that follows a script: everything is boring, but for the threads that a story wants to have paused."""

from __future__ import annotations

from dataclasses import dataclass

from impl.hosts.simulation.process import PAUSES_MS
from impl.hosts.simulation.profile import FaultProfile
from impl.hosts.simulation.tape import AnsweredTape

PAUSING = FaultProfile(thread_pause=1)
"""The only profile that a script needs: at each interleave the tape is asked."""


@dataclass(slots=True)
class Pause:
    """The next thread that comes to the place is paused, once. ms -- one of PAUSES_MS; hit -- whether it came."""

    where: str
    ms: int
    hit: bool = False


class Script(AnsweredTape):
    """What it chose can be played again as a list of choices, under the same profile."""

    def __init__(self) -> None:
        """Nothing is scripted: no thread is paused, and chance chooses the first everywhere."""
        super().__init__()
        self.pauses: list[Pause] = []
        self.draws: dict[str, int] = {}

    def pause(self, where: str, ms: int) -> Pause:
        """Pause the next thread that comes to a place whose text contains `where`."""
        self.pauses.append(Pause(where, ms))
        return self.pauses[-1]

    def draw(self, where: str, value: int) -> None:
        """From now on Random#nextInt at a place (the text contains `where`) gives this value."""
        self.draws[where] = value

    def answer(self, n: int, where: str) -> int:  # noqa: ARG002  # a script goes by the place
        """See AnsweredTape."""
        for pause in self.pauses:
            if not pause.hit and pause.where in where:
                pause.hit = True
                return 1 + PAUSES_MS.index(pause.ms)
        return next((value for place, value in self.draws.items() if place in where), 0)
