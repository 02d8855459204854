"""Named fault profiles, and the strategies by which chance plays them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from impl.hosts.simulation.profile import CALM, FaultProfile
from impl.hosts.simulation.tape import RandomTape, Tape, Where

_NETWORK = FaultProfile(delay=50, one_way_loss=10, one_way_duplicate=10, write_stall=200, connect_refused=20)

PROFILES: dict[str, FaultProfile] = {
    "calm": CALM,
    "threads": FaultProfile(thread_pause=100, order=20),
    "network": replace(_NETWORK, chaos=5, connection_break=3, partition=2),
    "crashes": FaultProfile(chaos=5, process_pause=2, process_kill=2, power_loss=1),
    "disks": FaultProfile(slow_force=10, force_fails=500, chaos=5, process_kill=2, power_loss=3, disk_fills=2),
    "clocks": FaultProfile(thread_pause=500, chaos=8, clock_jump=2, clock_drift=1),
    "storm": replace(_NETWORK, thread_pause=200, order=20, chaos=5, process_pause=2, process_kill=2, power_loss=1,
                     connection_break=3, partition=2),
}
"""calm -- nothing fails. threads -- threads are overtaken and paused. network -- messages and connections. crashes --
processes and machines. disks -- they fill up, and forces are slow or fail, while processes and machines crash. clocks
-- they jump and drift. storm -- all of that but clocks and disks: a clock that was set back keeps what it expires alive
for as long as it went back, so deadlines say nothing about it."""

DEPTH = 3
HORIZON = 20_000
FOCUSED, EVERY = 4, 3
"""One place in so many is in focus; there, one thread in so many is paused."""


class PriorityTape(RandomTape):
    """At most DEPTH choices that are not boring, at places drawn among the first HORIZON picks.

    The idea of probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): a bug of depth d needs d events at
    the right places, and is found best when nothing else disturbs the run.
    """

    __slots__ = ("_places",)

    def __init__(self, seed: int) -> None:
        """The same seed gives the same choices on every machine."""
        super().__init__(seed)
        draw = random.Random(f"places {seed}")  # noqa: S311  # a seed that anybody can replay is what is wanted
        self._places = {draw.randrange(HORIZON) for _ in range(DEPTH)}

    def pick(self, n: int, where: Where = "", one_in: int = 1) -> int:
        """See Tape: a rare choice is made at the drawn places, at others it is boring."""
        if one_in == 1:
            return super().pick(n, where)
        if n < 2:  # noqa: PLR2004  # one possibility is no choice
            return 0
        self.choices.append(1 + int(self._random() * (n - 1)) if self.at_drawn_place() else 0)
        return self.choices[-1]

    def at_drawn_place(self) -> bool:
        """Whether the next pick is one of those that were drawn."""
        return len(self.choices) in self._places


class FocusTape(RandomTape):
    """One in FOCUSED of the places at which threads are paused is in focus: there they are, every EVERY times.

    A race needs a thread to stand still between two lines, for long, and often two threads between the same two lines;
    at rates that leave a group alive otherwise, that hardly ever happens.
    """

    __slots__ = ("_draw", "_focused")

    def __init__(self, seed: int) -> None:
        """The same seed gives the same choices on every machine."""
        super().__init__(seed)
        self._draw = random.Random(f"focus {seed}")  # noqa: S311  # a seed that anybody can replay is what is wanted
        self._focused: dict[str, bool] = {}

    def pick(self, n: int, where: Where = "", one_in: int = 1) -> int:
        """See Tape: whether a place is in focus is drawn when a run first comes to it."""
        if one_in <= EVERY or not where or not isinstance(where, str):
            return super().pick(n, where, one_in)
        return super().pick(n, where, EVERY if self.in_focus(where) else one_in)

    def in_focus(self, where: str) -> bool:
        """Whether threads stand still there."""
        focused = self._focused.get(where)
        if focused is None:
            focused = self._focused[where] = self._draw.randrange(FOCUSED) == 0
        return focused


STRATEGIES: dict[str, Callable[[int], RandomTape]] = {
    "uniform": RandomTape, "swarm": RandomTape, "priority": PriorityTape, "focus": FocusTape,
}
"""uniform -- every fault at its rate. swarm -- each run with some faults off (Groce et al., ISSTA 2012). priority --
few faults at drawn places. focus -- threads stand still at some places, again and again."""


def plays_as_uniform(strategy: str, profile: FaultProfile) -> bool:
    """Whether another strategy than uniform plays a profile as uniform does."""
    return {"swarm": profile == CALM, "focus": not profile.thread_pause}.get(strategy, False)


def played(profile: FaultProfile, strategy: str, tape: Tape) -> FaultProfile:
    """The profile as a strategy plays it; swarm takes a choice for each of its faults."""
    return profile.swarm(tape) if strategy == "swarm" else profile
