"""What rules do to a world: each of these is done at once; what was not there to be done gives False."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.decisions.java_errors import JavaError
from stateful_tests.machines.machine import WorldMachine


class Faulty(WorldMachine):
    """A machine whose rules can break and mend its world; s -- seconds."""

    def idle(self) -> list[str]:
        """Processes that run no consumers."""
        consumers = self.world.consumers
        return [machine for machine in consumers if not (self.world.joined(machine) or consumers[machine])]

    def members(self) -> list[str]:
        """Processes that run consumers now."""
        return [machine for machine in self.world.consumers if self.works(machine)]

    def leavers(self) -> list[str]:
        """Members, if one will be left."""
        members = self.members()
        return members if len(members) > 1 else []

    def living_brokers(self) -> list[str]:
        """Brokers that run now."""
        return [machine for machine in self.world.brokers if self.world.alive(machine)]

    def processes(self) -> list[str]:
        """Members and brokers that run now."""
        return [*self.members(), *self.living_brokers()]

    def works(self, who: str) -> bool:
        """Whether the process lives, and runs something."""
        return self.world.alive(who) and (who not in self.world.consumers or self.world.joined(who))

    def consumers_of(self, who: str) -> list[DefaultMQPushConsumerImpl]:
        """What the process runs now."""
        return [consumer for machine, consumer in self.world.running() if machine == who]

    def on_a_thread(self, who: str, job: Callable[[], Awaitable[object]]) -> None:
        """Let a thread of the process run the job, whose exceptions end nothing but itself."""

        async def run() -> None:
            try:
                await job()
            except JavaError:
                return

        self.world.call(who, run)

    def kill_process(self, who: str, s: int) -> bool:
        """Kill -9; it is started again after s."""
        if not self.works(who):
            return False
        self.world.simulation.kill(who)
        self.world.simulation.restart_after(who, s * 1_000)
        return True

    def pause_process(self, who: str, s: int) -> bool:
        """No thread of the process runs for s: garbage collection, or SIGSTOP."""
        if not self.works(who):
            return False
        self.world.calm = False
        self.world.simulation.kernel.pause(self.world.simulation.nodes[who], s * 1_000)
        return True

    def cut(self, who: str, other: str, s: int) -> None:
        """Nothing passes between two machines for s, in either direction."""
        self.world.calm = False
        network, kernel = self.world.simulation.network, self.world.simulation.kernel
        for way in ((who, other), (other, who)):
            network.partition(*way)
            kernel.at(self.world.now_ms + s * 1_000, network.heal_one, way)

    def break_connections(self, source: str, target: str, s: int, *, seen_by_target: bool = False) -> bool:
        """Break what source has opened to target; one of them sees it now, the other after s."""
        self.world.calm = False
        ends = self.world.connections(source, target)
        for end in ends:
            self.world.simulation.network.sever(end.peer if seen_by_target else end, s * 1_000)
        return bool(ends)

    def jump(self, who: str, s: int) -> None:
        """Set the clock of a machine by s."""
        self.world.calm = False
        self.world.simulation.set_clock(who, s * 1_000)

    def pause_next(self, where: str, s: int) -> None:
        """Pause the next thread that comes to a place: the operating system has others to run."""
        self.world.calm = False
        self.tape.pause(where, s * 1_000)
