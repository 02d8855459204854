"""A tape that follows a script: everything is boring, but for the threads that a story wants to have paused."""

from __future__ import annotations

from dataclasses import dataclass

from impl.hosts.simulation.process import PAUSES_MS
from impl.hosts.simulation.profile import FaultProfile
from impl.hosts.simulation.tape import Where

PAUSING = FaultProfile(thread_pause=1)
"""The only profile that a script needs: at each interleave the tape is asked."""


@dataclass(slots=True)
class Pause:
    """The next thread that comes to the place is paused, once. ms -- one of PAUSES_MS; hit -- whether it came."""

    where: str
    ms: int
    hit: bool = False


class Script:
    """A Tape. What it chose can be played again as a list of choices, under the same profile."""

    telling = False

    def __init__(self) -> None:
        """Nothing is scripted: no thread is paused, and chance chooses the first everywhere."""
        self.choices: list[int] = []
        self.pauses: list[Pause] = []
        self.draws: dict[str, int] = {}

    def pause(self, where: str, ms: int) -> Pause:
        """Pause the next thread that comes to a place whose text contains `where`."""
        self.pauses.append(Pause(where, ms))
        return self.pauses[-1]

    def draw(self, where: str, value: int) -> None:
        """From now on Random#nextInt at a place (the text contains `where`) gives this value."""
        self.draws[where] = value

    def pick(self, n: int, where: Where = "", one_in: int = 1) -> int:  # noqa: ARG002  # no chance here
        """See Tape."""
        if n < 2:  # noqa: PLR2004  # one possibility is no choice
            return 0
        value = self._scripted(where if isinstance(where, str) else where())
        value = value if value < n else 0
        self.choices.append(value)
        return value

    def _scripted(self, where: str) -> int:
        for pause in self.pauses:
            if not pause.hit and pause.where in where:
                pause.hit = True
                return 1 + PAUSES_MS.index(pause.ms)
        return next((value for place, value in self.draws.items() if place in where), 0)

    def tell(self, time_ms: int, who: str, meaning: str, since: int | None = None) -> None:
        """See Tape: nobody listens."""
