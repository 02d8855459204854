"""Rules that several machines have: a machine inherits the classes whose rules it wants."""

from __future__ import annotations

from hypothesis import strategies as st

from impl.hosts.simulation.profile import FaultProfile
from impl.hosts.simulation.tape import trimmed
from stateful_tests.machines.faults import Faulty
from stateful_tests.machines.machine import deed
from stateful_tests.worlds.deeds import BROKERS
from stateful_tests.worlds.parts import CONSUMERS

WEATHER = FaultProfile(thread_pause=1, order=1, delay=1, one_way_loss=1, one_way_duplicate=1, write_stall=1)
"""What may happen in rough_time."""
CHANCE_BYTES = 48

CHANCES = st.binary(max_size=CHANCE_BYTES).map(trimmed)
"""Small tapes: one number for each choice; what is out of range, as most bytes are, chooses nothing."""

# Seconds, the simplest first
SHORT, DOWN, PAUSES, LATE, JUMPS = (5, 20, 40), (1, 20, 131), (1, 10, 40), (0, 60), (1, -60, 60, 121)


class Time(Faulty):
    """Time passes, calm or rough."""

    @deed("{s} s pass", s=(1, 20, 30, 120, 131))
    def pass_time(self, s: int) -> None:
        """Nothing is done; 20 s is a rebalance, 30 s a heartbeat or a route, 120 s an expiry, 131 s that and a scan."""
        self.pass_ms(s * 1_000)

    @deed("20 s pass in which messages and threads are late", chance=CHANCES)
    def rough_time(self, chance: list[int]) -> bool:
        """A number for each message, and for each place at which threads can overtake each other."""
        if chance:
            self.pass_ms(20_000, WEATHER, chance)
        return bool(chance)


class Members(Faulty):
    """Processes of the group come and go."""

    @deed("starts", who=Faulty.idle)
    def start(self, who: str) -> bool:
        """The process runs its consumers from now on."""
        if self.world.joined(who):
            return False
        self.world.join(who)
        return True

    @deed("shuts down", who=Faulty.leavers)
    def leave(self, who: str) -> bool:
        """The process ends in order."""
        if not self.works(who):
            return False
        self.world.leave(who)
        return True

    @deed("is killed, and started again after {s} s", who=Faulty.members, s=DOWN)
    def kill(self, who: str, s: int) -> bool:
        """Kill -9; the machine stays up and closes its connections."""
        return self.kill_process(who, s)


class Processes(Faulty):
    """Processes stand still."""

    @deed("stands still for {s} s", who=Faulty.processes, s=SHORT)
    def stand_still(self, who: str, s: int) -> bool:
        """Garbage collection, or SIGSTOP."""
        return self.pause_process(who, s)


class Connections(Faulty):
    """Machines are cut off from each other, and connections break."""

    @deed("is cut off from {broker} for {s} s", who=Faulty.members, broker=BROKERS, s=DOWN)
    def cut_off(self, who: str, broker: str, s: int) -> bool:
        """Nothing passes in either direction."""
        self.cut(who, broker, s)
        return self.works(who)

    @deed("loses its connection to {broker}, which hears of it after {s} s", who=Faulty.members, broker=BROKERS, s=LATE)
    def break_connection(self, who: str, broker: str, s: int) -> bool:
        """The client sees it first."""
        return self.break_connections(who, broker, s)

    @deed("loses its connection to {broker}, and hears of it after {s} s", who=Faulty.members, broker=BROKERS, s=LATE)
    def lose_connection(self, who: str, broker: str, s: int) -> bool:
        """The broker sees it first, and forgets the client."""
        return self.break_connections(who, broker, s, seen_by_target=True)


class Brokers(Faulty):
    """Brokers fail, and more is asked of one of them."""

    @deed("is killed, and started again after {s} s", who=Faulty.living_brokers, s=DOWN)
    def restart_broker(self, who: str, s: int) -> bool:
        """Kill -9; what it had in memory only is lost."""
        return self.kill_process(who, s)

    @deed("answers from now on whoever asks any broker", lasts_ms=0, who=BROKERS)
    def ask_only(self, who: str) -> None:
        """Clients choose a broker of the topic at random; from now on they draw this one."""
        self.tape.draw("MQClientInstance#findBrokerAddrByTopic", BROKERS.index(who))


class Clocks(Faulty):
    """Clocks jump."""

    @deed("its clock is set by {s} s", who=(*CONSUMERS, *BROKERS), s=JUMPS)
    def set_clock(self, who: str, s: int) -> None:
        """Somebody, or NTP, sets the clock; it runs true otherwise."""
        self.jump(who, s)
