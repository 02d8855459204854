"""Members of one group change what they subscribe, together or alone, and brokers learn of it."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from impl.client.push_consumer_config import PushConsumerConfig
from stateful_tests.machines.deeds import PAUSES, Clocks, Members, Time
from stateful_tests.machines.faults import Faulty
from stateful_tests.machines.machine import SETTLED_MS, deed
from stateful_tests.worlds.deeds import GROUP, OTHER_TOPIC, TOPIC
from stateful_tests.worlds.parts import CONSUMERS
from stateful_tests.worlds.servers import servers
from stateful_tests.worlds.workload import Workload
from stateful_tests.worlds.world import World

PLACES = (
    "updateSubscription: between the two loops",
    "updateSubscription: the topic has been looked up",
    "updateSubscription: before a topic is removed",
    "heartBeat: before registerConsumer",
    "registerConsumer: before updateSubscription",
    "subscribe: before the heartbeat",
)
"""Where heartbeats of two members, or two of one member, can overtake each other."""


def build(world: World) -> None:
    """Two brokers, a member, and two processes that run nothing yet."""
    servers(world)
    for machine in CONSUMERS:
        world.add_consumer(machine, PushConsumerConfig(GROUP, {TOPIC: "*"}), idle=machine != CONSUMERS[0])
    world.run(SETTLED_MS)


class SubscriptionMachine(Members, Clocks, Time):
    """See the module."""

    concept = "subscription"
    judged: ClassVar = {
        "pull_finds_its_subscription": ("B-1", "B-2", "B-31"),
        "heartbeats_do_not_remove_others_topics": ("B-1", "B-31"),
        "pull_is_filtered_by_own_expression": ("B-3", "L3", "L4"), "table_is_one_members_set": ("B-2",),
        "refines_subscription": ("B-29",),
    }
    workload = Workload(
        "subscription", "Members change what they subscribe.", build, (), ("pull_finds_its_subscription",),
        ((GROUP, TOPIC),),
    )

    @deed("subscribes {topic} with {expression}", who=Faulty.members, topic=(TOPIC, OTHER_TOPIC),
          expression=("*", "a"))
    def subscribe(self, who: str, topic: str, expression: str) -> bool:
        """One member alone; the others may follow, or not."""
        found = self.consumers_of(who)
        for consumer in found:
            self.on_a_thread(who, partial(consumer.subscribe, topic, expression))
        return bool(found)

    @deed("does not subscribe {topic} any more", who=Faulty.members, topic=(OTHER_TOPIC, TOPIC))
    def unsubscribe(self, who: str, topic: str) -> bool:
        """Nobody is told before the next heartbeat."""
        found = self.consumers_of(who)
        for consumer in found:
            consumer.unsubscribe(topic)
        return bool(found)

    def mend(self) -> None:
        """Finish the roll-out: in the end everybody subscribes the same."""
        for machine, consumer in self.world.running():
            consumer.unsubscribe(OTHER_TOPIC)
            self.on_a_thread(machine, partial(consumer.subscribe, TOPIC, "*"))

    @deed("the next thread at {where} is paused for {s} s", lasts_ms=0, where=PLACES, s=PAUSES)
    def pause_thread(self, where: str, s: int) -> None:
        """The operating system has other threads to run."""
        self.pause_next(where, s)
