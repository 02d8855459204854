"""Members of two groups that share their processes start, stop and break off, and brokers list them."""

from __future__ import annotations

from typing import ClassVar

from impl.client.push_consumer_config import PushConsumerConfig
from stateful_tests.machines.deeds import DOWN, PAUSES, Connections, Members, Time
from stateful_tests.machines.faults import Faulty
from stateful_tests.machines.machine import SETTLED_MS, deed
from stateful_tests.worlds.deeds import GROUP, OTHER_TOPIC, TOPIC
from stateful_tests.worlds.parts import CONSUMERS
from stateful_tests.worlds.servers import servers
from stateful_tests.worlds.workload import Workload
from stateful_tests.worlds.world import World

OTHER_GROUP = "H"
PLACES = (
    "heartBeat: before registerConsumer",
    "registerConsumer: before updateChannel",
    "registerConsumer: before updateSubscription",
    "unregisterClient: before unregisterConsumer",
    "unregisterConsumer: before isEmpty",
    "unregisterConsumer: before the group is removed",
    "doChannelCloseEvent: before isEmpty",
    "doChannelCloseEvent: before the group is removed",
    "scanNotActiveChannel: before a channel is removed",
)
"""Where heartbeats and leave-taking can overtake each other at a broker."""


def build(world: World) -> None:
    """Two brokers, and three processes that run nothing yet: each will be in both groups, over one connection."""
    servers(world)
    for machine in CONSUMERS:
        configs = PushConsumerConfig(GROUP, {TOPIC: "*"}), PushConsumerConfig(OTHER_GROUP, {OTHER_TOPIC: "*"})
        world.add_consumer(machine, *configs, instance_name="shop", idle=machine != CONSUMERS[0])
    world.run(SETTLED_MS)


class RegistrationMachine(Members, Connections, Time):
    """See the module."""

    concept = "registration"
    judged: ClassVar = {
        "list_is_exactly_the_living": ("B-10",), "refines_consumer_group": ("B-7", "B-8"),
        "answered_heartbeat_means_listed": ("B-7", "B-8"), "refines_registration": (),
        "one_owner_per_queue": ("D1", "D2", "D3", "D4"), "one_owner_when_settled": (),
        "every_queue_owned_when_settled": ("U3",),
    }
    workload = Workload(
        "registration", "Members of two groups come and go.", build, (), ("list_is_exactly_the_living",),
        ((GROUP, TOPIC), (OTHER_GROUP, OTHER_TOPIC)),
    )

    @deed("stops its consumer of group {group}", who=Faulty.members, group=(GROUP, OTHER_GROUP))
    def stop_consumer(self, who: str, group: str) -> bool:
        """One of the two is shut down, the other stays."""
        running = self.world.consumers[who]
        found = [consumer for consumer in self.consumers_of(who) if consumer.group == group]

        async def stop() -> None:
            for consumer in found:
                await consumer.shutdown()
                if consumer in running:  # not stopped twice
                    running.remove(consumer)

        self.on_a_thread(who, stop)
        return bool(found)

    @deed("is killed, and started again after {s} s", who=Faulty.living_brokers, s=DOWN)
    def restart_broker(self, who: str, s: int) -> bool:
        """Kill -9; what it had in memory only is lost."""
        return self.kill_process(who, s)

    @deed("the next thread at {where} is paused for {s} s", lasts_ms=0, where=PLACES, s=PAUSES)
    def pause_thread(self, where: str, s: int) -> None:
        """The operating system has other threads to run."""
        self.pause_next(where, s)
