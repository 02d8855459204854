"""A whole simulated world: machines, what runs on them, and the network between them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Self

from impl.events.host import ClockJumped, DiskFilled, ProcessStarted, WorldHealed
from impl.hosts.simulation.clock import WallClock
from impl.hosts.simulation.digest import digests
from impl.hosts.simulation.disk import MachineDisk
from impl.hosts.simulation.kernel import Kernel, Monitor
from impl.hosts.simulation.network import Network
from impl.hosts.simulation.node import Node
from impl.hosts.simulation.profile import CALM, FaultProfile
from impl.hosts.simulation.tape import Tape, trimmed

Boot = Callable[[Node], Coroutine[Any, Any, None]]
"""What a machine runs from its start on: the main thread of the process."""


class Simulation:
    """Use it as a context manager: leaving it ends every process.

    kernel, network -- see there. boots -- machine to what it runs. nodes -- machine to its process, the living or the
    last. clocks, disks -- of the machines.
    """

    def __init__(
        self, tape: Tape, profile: FaultProfile = CALM, monitor: Monitor | None = None, max_segments: int = 10_000_000,
        more_segments: int = 0,
    ) -> None:
        """No machine yet; the arguments are those of Kernel."""
        self.kernel = Kernel(tape, profile, monitor, max_segments, more_segments)
        self.network = Network(self.kernel)
        self.boots: dict[str, Boot] = {}
        self.nodes: dict[str, Node] = {}
        self.clocks: dict[str, WallClock] = {}
        self.disks: dict[str, MachineDisk] = {}

    def __enter__(self) -> Self:
        """Nothing to prepare."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.kernel.close()

    def add(self, name: str, boot: Boot, clock_offset_ms: int = 0, files: MachineDisk | None = None) -> Node:
        """Add a machine and start its process.

        clock_offset_ms -- how far ahead its clock is. files -- what is on its disk already.
        """
        self.boots[name] = boot
        self.clocks[name] = WallClock(self.kernel, clock_offset_ms)
        self.disks[name] = MachineDisk(self.kernel, name)
        if files is not None:
            self.disks[name].copy_from(files)
        return self.start(name)

    def start(self, name: str) -> Node:
        """Start the process of a machine, again after a kill; raises ValueError if it lives."""
        node = Node(name, self.network, self.clocks[name], self.disks[name])
        self.nodes[name] = node
        self.kernel.record(name, ProcessStarted(node.incarnation))
        node.spawn("main", self.boots[name](node))
        return node

    def kill(self, name: str, *, power_loss: bool = False) -> None:
        """End the process of a machine; see Kernel.kill. A power loss may cost what its files were given last."""
        self.kernel.kill(self.nodes[name], power_loss=power_loss)
        if power_loss:
            self.disks[name].lose_power()

    def set_clock(self, name: str, by_ms: int) -> None:
        """Set the clock of a machine forward, or back."""
        self.clocks[name].jump(by_ms)
        self.kernel.record(name, ClockJumped(by_ms))

    def fill_disk(self, name: str, percent: int) -> None:
        """Let the files of others on a disk take so much that all files take this part of it; 0: there are none."""
        self.disks[name].fill(percent)
        self.kernel.record(name, DiskFilled(percent))

    def restart_after(self, name: str, ms: int) -> None:
        """Start the process again after so many true milliseconds, unless someone has done it by then."""
        self.kernel.at(self.kernel.now_ms + ms, self._restart, name)

    def _restart(self, name: str) -> None:
        if not self.nodes[name].alive:
            self.start(name)

    def heal(self) -> None:
        """End all faults, as `faults.py` says."""
        self.kernel.profile = CALM
        self.network.heal()
        for name in self.boots:
            if self.disks[name].others_bytes:
                self.fill_disk(name, 0)
            self.kernel.resume(self.nodes[name])
            self.clocks[name].set_drift(0)
            self._restart(name)
        self.kernel.record("world", WorldHealed())

    def run(self, until_ms: int) -> None:
        """Let everything happen up to this true time."""
        self.kernel.run(until_ms)

    def digest(self) -> str:
        """See `digest.py`: over everything that was recorded, the tape, and how long the run was."""
        *_, whole = self.digests()
        return whole

    def digests(self) -> Iterator[str]:
        """The same after each part of what was recorded, and at last the whole."""
        kernel = self.kernel
        return digests(kernel.records, [(kernel.now_ms, kernel.segments), trimmed(kernel.tape.choices)])
