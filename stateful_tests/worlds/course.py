"""The course of a world: time passes, threads of machines work, and faults strike until the world heals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from impl.hosts.simulation.channel import Channel
from impl.hosts.simulation.faults import chaos
from impl.hosts.simulation.host import Simulation
from impl.hosts.simulation.kernel import Monitor
from impl.hosts.simulation.profile import CALM, FaultProfile
from impl.hosts.simulation.tape import Tape
from stateful_tests.worlds.script import PAUSING, Pause, Script

STEP_MS = 10


class Course:
    """See the module.

    simulation -- what all machines run in. script -- where threads pause if no other tape is given. healed -- all
    faults have ended, at healed_ms. calm -- nothing has failed, and no fault can.
    """

    def __init__(
        self, tape: Tape | None = None, profile: FaultProfile | None = None, monitor: Monitor | None = None,
        *, show_every: int = 1, max_segments: int = 10_000_000, more_segments: int = 0,
    ) -> None:
        """Begin with no machine. Without a tape it is a script's world: threads pause where the story says so.

        monitor, show_every, max_segments, more_segments -- see `impl.hosts.simulation.kernel.Kernel`.
        """
        self.script = Script()
        if profile is None:
            profile = PAUSING if tape is None else CALM
        self.simulation = Simulation(
            self.script if tape is None else tape, profile, monitor, max_segments, more_segments)
        self.simulation.kernel.show_every = show_every
        self.healed, self.healed_ms = False, 0
        self.calm = profile == CALM

    @property
    def now_ms(self) -> int:
        """True time."""
        return self.simulation.kernel.now_ms

    def run(self, ms: int) -> None:
        """Let everything happen for so long."""
        self.simulation.run(self.now_ms + ms)

    def run_until(self, holds: Callable[[], bool], within_ms: int) -> int:
        """Run in small steps until it holds; how long that took. Fails when it takes longer."""
        start_ms = self.now_ms
        while not holds():
            assert self.now_ms - start_ms < within_ms, f"still not after {within_ms} ms"
            self.run(STEP_MS)
        return self.now_ms - start_ms

    def pause(self, where: str, ms: int) -> Pause:
        """Pause the next thread that comes to this place."""
        return self.script.pause(where, ms)

    def call(self, caller: str, job: Callable[[], Any]) -> None:
        """Run a coroutine function on a thread of a machine."""
        self.simulation.nodes[caller].spawn("caller", job())

    def connections(self, source: str, target: str) -> list[Channel]:
        """The client ends of the open connections from one machine to another."""
        return [
            end for end in self.simulation.network.open_ends
            if end.active and end.process.name == source and end.peer.process.name == target
            and end.remote_address.startswith(f"{target}:")
        ]

    def heal(self) -> None:
        """End all faults; what is promised within a deadline must come true from now on."""
        self.healed, self.healed_ms = True, self.now_ms
        self.simulation.heal()
        self.run(0)

    def strike(self) -> None:
        """Let chaos strike from now on, as the profile says."""
        self.simulation.kernel.world.spawn("chaos", chaos(self.simulation))
