"""A group in a storm: anything may fail for a while, then the world heals and must become right within a bound."""

from __future__ import annotations

from dataclasses import dataclass

from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.topic_config import TopicConfig
from impl.hosts.simulation.kernel import Monitor
from impl.hosts.simulation.profile import CALM, FaultProfile
from impl.hosts.simulation.tape import Tape
from stateful_tests.worlds.world import World

GROUP, TOPIC = "G", "orders"
STORMY = FaultProfile(
    thread_pause=200, order=20, delay=50, one_way_loss=10, one_way_duplicate=10, write_stall=200, connect_refused=20,
    chaos=5, process_pause=2, process_kill=2, power_loss=1, connection_break=3, partition=2,
)
"""Without faults of clocks: a clock that has gone back keeps what it expires alive for as long as it went back."""

CONVERGENCE_MS = 120_000 + 10_000 + 30_000 + 30_000 + 20_000 + 20_000
"""Expiry of the dead 120 s and its scan 10 s, heartbeat 30 s, route 30 s, rebalance 20 s, and time-outs on the way."""
ORDERLY_MS = 80_000
"""What an orderly hand-over takes more: 60 s of a dead owner's lock, 20 s to the next attempt."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """digest -- of the whole run. healed_ms -- how long it took; None: it did not become right in time."""

    digest: str
    healed_ms: int | None
    segments: int
    choices: tuple[int, ...]


def group_world(
    tape: Tape, profile: FaultProfile = CALM, monitor: Monitor | None = None, *, orderly: bool = False,
) -> World:
    """Two name servers, two brokers with four queues each, three consumers of one group, all just started."""
    world = World(tape, profile, monitor)
    for name in ("nameserver1", "nameserver2"):
        world.add_namesrv(name)
    for machine in ("broker-a", "broker-b"):
        world.add_broker(machine, machine, topics=[TopicConfig(TOPIC, 4, 4)])
    world.run(100)
    for machine in ("consumer1", "consumer2", "consumer3"):
        world.add_consumer(machine, PushConsumerConfig(GROUP, {TOPIC: "*"}, orderly=orderly))
    return world


def weather(
    tape: Tape, profile: FaultProfile = STORMY, *, storm_ms: int = 120_000, orderly: bool = False,
) -> Outcome:
    """Run the group through a storm, heal it, and wait until every queue has exactly one owner, and keeps it."""
    with group_world(tape, profile, orderly=orderly) as world:
        world.strike()
        world.run(storm_ms)
        world.heal()
        limit_ms = CONVERGENCE_MS + ORDERLY_MS * orderly
        right_since_ms: int | None = None
        for waited_ms in range(0, limit_ms + 1, 1_000):
            if not world.views.one_owner_each(GROUP, TOPIC):
                right_since_ms = None
            elif right_since_ms is None:
                right_since_ms = waited_ms
            world.run(1_000)
        kernel = world.simulation.kernel
        return Outcome(world.simulation.digest(), right_since_ms, kernel.segments, tuple(kernel.tape.choices))
