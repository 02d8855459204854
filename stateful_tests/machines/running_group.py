"""All members of a group live on while connections, brokers and processes fail, and hold queues."""

from __future__ import annotations

from typing import ClassVar

from impl.client.push_consumer_config import PushConsumerConfig
from stateful_tests.machines.deeds import Brokers, Connections, Processes, Time
from stateful_tests.machines.machine import SETTLED_MS
from stateful_tests.worlds.deeds import GROUP, TOPIC
from stateful_tests.worlds.parts import CONSUMERS
from stateful_tests.worlds.servers import servers
from stateful_tests.worlds.workload import Workload
from stateful_tests.worlds.world import World

REBALANCE_MS = 20_000


def build(world: World) -> None:
    """Two brokers with four queues each, and a settled group of three."""
    servers(world)
    for machine in CONSUMERS:
        world.add_consumer(machine, PushConsumerConfig(GROUP, {TOPIC: "*"}))
        world.run(SETTLED_MS)
    world.run(REBALANCE_MS)
    assert world.views.one_owner_each(GROUP, TOPIC), "the group has not settled"


class RunningGroupMachine(Processes, Connections, Brokers, Time):
    """See the module."""

    concept = "running_group"
    judged: ClassVar = {
        "one_owner_while_nobody_joins": ("D2", "D4"), "one_owner_when_settled": (),
        "every_queue_owned_when_settled": ("U3",), "ownership_converges": (), "list_is_exactly_the_living": (),
        "refines_consumer_group": ("B-7", "B-8"),
    }
    stronger: ClassVar = {"one_owner_per_queue": "one_owner_while_nobody_joins"}
    workload = Workload(
        "running_group", "All members of a group live on.", build, (),
        ("list_is_exactly_the_living", "ownership_converges"), ((GROUP, TOPIC),),
    )
