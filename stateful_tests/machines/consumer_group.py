"""Members of one group come and go while connections, brokers and processes fail, and hold queues."""

from __future__ import annotations

from typing import ClassVar

from impl.client.push_consumer_config import PushConsumerConfig
from stateful_tests.machines.deeds import PAUSES, Brokers, Connections, Members, Processes, Time
from stateful_tests.machines.machine import SETTLED_MS, deed
from stateful_tests.worlds.deeds import GROUP, TOPIC
from stateful_tests.worlds.parts import CONSUMERS
from stateful_tests.worlds.servers import servers
from stateful_tests.worlds.workload import Workload
from stateful_tests.worlds.world import World

PLACES = (
    "findConsumerIdList: the list is here, and not applied yet",
    "updateProcessQueueTableInRebalance: the queue is dropped",
    "updateProcessQueueTableInRebalance: before putIfAbsent",
    "updateTopicRouteInfoFromNameServer: before the consumers",
    "DefaultConsumerIdsChangeListener#handle: before the next push",
)
"""Where a thread of a client, or the one that tells clients of changes, may be overtaken."""


def build(world: World) -> None:
    """Two brokers with four queues each, a member, and two processes that run nothing yet."""
    servers(world)
    for machine in CONSUMERS:
        world.add_consumer(machine, PushConsumerConfig(GROUP, {TOPIC: "*"}), idle=machine != CONSUMERS[0])
    world.run(SETTLED_MS)


class ConsumerGroupMachine(Members, Processes, Connections, Brokers, Time):
    """See the module."""

    concept = "consumer_group"
    judged: ClassVar = {
        "one_owner_per_queue": ("D1", "D2", "D3", "D4"), "one_owner_when_settled": (),
        "every_queue_owned_when_settled": ("U3",), "ownership_converges": (), "list_is_exactly_the_living": (),
        "route_cache_becomes_true": (), "refines_consumer_group": ("B-7", "B-8"),
    }
    workload = Workload(
        "consumer_group", "Members of one group come and go.", build, (),
        ("route_cache_becomes_true", "list_is_exactly_the_living", "ownership_converges"), ((GROUP, TOPIC),),
    )

    @deed("the next thread at {where} is paused for {s} s", lasts_ms=0, where=PLACES, s=PAUSES)
    def pause_thread(self, where: str, s: int) -> None:
        """The operating system has other threads to run."""
        self.pause_next(where, s)
