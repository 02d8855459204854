"""The tape under a machine: boring, but for what the rules of the program ask for."""

from __future__ import annotations

from collections.abc import Iterable

from impl.hosts.simulation.process import PAUSES_MS
from impl.hosts.simulation.tape import ReplayTape, Where


class RuleTape(ReplayTape):
    """A Tape that grows while it is played.

    Every choice is 0, but for those that a rule has given (`give`), for the places at which it wants a thread to pause
    (`pause`), and for what is drawn at a place (`draw`). What was chosen is a tape that can be played again.
    pauses -- places at which no thread has come by yet, and for how long it is to pause. telling -- whether sentences
    are made; they cost time.
    """

    telling = False

    def __init__(self, *, telling: bool = False) -> None:
        """Boring to the end."""
        super().__init__(())
        self.telling = telling
        self.pauses: dict[str, int] = {}
        self._draws: dict[str, int] = {}

    def give(self, choices: Iterable[int]) -> None:
        """Let the choices that come next be these; afterwards they are 0 again. What is left of former ones goes."""
        played = len(self.choices)
        del self._given[played:]
        self._given += [0] * (played - len(self._given))
        self._given += choices

    def pause(self, where: str, ms: int) -> None:
        """Pause the next thread that comes to a place whose text contains `where`, once, for at least so long."""
        self.pauses[where] = next((pause for pause in PAUSES_MS if pause >= ms), PAUSES_MS[-1])

    def draw(self, where: str, value: int) -> None:
        """From now on Random#nextInt at a place (the text contains `where`) gives this value."""
        self._draws[where] = value

    def forget(self) -> None:
        """Be boring from now on, whatever was asked for."""
        self.give(())
        self.pauses.clear()
        self._draws.clear()

    def pick(self, n: int, where: Where = "", one_in: int = 1) -> int:
        """See Tape."""
        if n > 1 and (self.pauses or self._draws):
            asked = self._asked(where if isinstance(where, str) else where())
            if 0 < asked < n:
                played = len(self.choices)
                self._given += [0] * (played + 1 - len(self._given))
                self._given[played] = asked
        return super().pick(n, where, one_in)

    def _asked(self, where: str) -> int:
        for place in self.pauses:
            if place in where:
                return 1 + PAUSES_MS.index(self.pauses.pop(place))
        return next((value for place, value in self._draws.items() if place in where), 0)
