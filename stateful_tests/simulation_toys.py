"""A toy that lives in the simulation host, for its tests and benchmarks: a registry with the classic race.

The handler of REGISTER reads the list of members, may be interrupted, and writes it back with one more: two handlers
that overlap lose a member (as RocketMQ's B-7 does). Nothing else is wrong with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from impl.common.config_manager import file_to_string, string_to_file_not_safe
from impl.hosts.simulation.faults import chaos
from impl.hosts.simulation.host import Simulation
from impl.hosts.simulation.profile import CALM, FaultProfile
from impl.hosts.simulation.tape import ReplayTape, Tape
from impl.ports.node import Node
from impl.ports.remoting import Command, Connection, RemotingError

REGISTER, MEMBERS, CHANGED = 34, 38, 40
SERVER = "registry:10911"
STORMY = FaultProfile(
    thread_pause=20, order=10, delay=20, one_way_loss=5, one_way_duplicate=5, write_stall=50, connect_refused=10,
    chaos=5, process_pause=1, process_kill=1, power_loss=1, connection_break=1, partition=1,
    clock_jump=1, clock_drift=1,
)


class Registry:
    """The server: members, kept in a file."""

    def __init__(self, node: Node) -> None:
        """Start from the file."""
        self.node = node
        self.server = node.remoting_server(10911, self)
        self.members: tuple[str, ...] = tuple((file_to_string(node.disk, "members") or "").split())
        self.channels: dict[Connection, None] = {}

    async def run(self) -> None:
        """Serve."""
        pool = self.node.pool("HeartbeatThread", 2, 10)
        self.server.register_processor(REGISTER, self.register, pool)
        self.server.register_processor(MEMBERS, self.list_members, pool)
        self.server.start()

    async def register(self, channel: Connection, request: Command) -> Command:
        """REGISTER: the race."""
        seen = self.members
        await self.node.interleave("Registry#register: before the list is written")
        if request.body not in seen:
            self.members = (*seen, request.body)
            string_to_file_not_safe(self.node.disk, "members", " ".join(self.members))
        self.node.trace(("registered", request.body, self.members))
        self.channels[channel] = None
        for other in list(self.channels):
            try:
                await self.server.invoke_oneway(other, Command(CHANGED), 10)
            except RemotingError:
                self.node.trace(("not told",))
        return Command(0)

    def list_members(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a handler gets both
        """MEMBERS: no interleave point, so it is plain."""
        return Command(0, body=self.members)

    def on_channel_connect(self, remote_addr: str, channel: Connection) -> None:
        """See ChannelEventListener."""

    def on_channel_close(self, remote_addr: str, channel: Connection) -> None:  # noqa: ARG002  # the port gives both
        """See ChannelEventListener."""
        self.channels.pop(channel, None)
        self.node.trace(("closed",))

    def on_channel_exception(self, remote_addr: str, channel: Connection) -> None:
        """See ChannelEventListener."""

    def on_channel_idle(self, remote_addr: str, channel: Connection) -> None:
        """See ChannelEventListener."""


async def member(node: Node) -> None:
    """A client: registers once, again after a failure, and looks at the list from time to time."""
    client = node.remoting_client("Client")
    client.register_processor(CHANGED, lambda channel, request: node.trace(("told",)))  # noqa: ARG005  # a handler gets both
    registered = False
    await node.sleep(100 * int(node.name[-1]))  # one after the other, so that only a pause lets two handlers meet
    while True:
        try:
            if not registered:
                await client.invoke_sync(SERVER, Command(REGISTER, body=node.name), 3_000)
                registered = True
            members = (await client.invoke_sync(SERVER, Command(MEMBERS), 3_000)).body
            node.trace(("saw", members, node.name in members))
        except RemotingError as error:
            node.trace(("failed", type(error).__name__))
        await node.sleep(5_000)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished run: its digest, the signature of its failure or None, its tape, its length in segments."""

    digest: str
    signature: str | None
    choices: Sequence[int]
    segments: int


async def boot_registry(node: Node) -> None:
    """What the machine `registry` runs."""
    await Registry(node).run()


def play(tape: Tape, profile: FaultProfile = CALM, *, members: int = 3, until_ms: int = 60_000) -> Outcome:
    """Run the toy: until_ms under the profile, 30 s healed. It fails if a member that registered is not in the list."""
    with Simulation(tape, profile) as simulation:
        simulation.add("registry", boot_registry)
        for i in range(members):
            simulation.add(f"member{i}", member)
        simulation.kernel.world.spawn("chaos", chaos(simulation))
        simulation.run(until_ms)
        simulation.heal()
        simulation.run(until_ms + 30_000)
        lost = any(event[:1] == ("saw",) and not event[2] for _, _, event in simulation.kernel.records)
        kernel = simulation.kernel
        return Outcome(simulation.digest(), "member lost" if lost else None, list(tape.choices), kernel.segments)


def replay(choices: Sequence[int], profile: FaultProfile) -> tuple[str | None, Sequence[int]]:
    """What the shrinker calls."""
    outcome = play(ReplayTape(choices), profile)
    return outcome.signature, outcome.choices
