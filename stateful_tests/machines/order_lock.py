"""Members with orderly listeners come and go, and lock their queues."""

from __future__ import annotations

from typing import ClassVar

from impl.client.push_consumer_config import PushConsumerConfig
from stateful_tests.machines.deeds import PAUSES, Brokers, Clocks, Members, Processes, Time
from stateful_tests.machines.faults import Faulty
from stateful_tests.machines.machine import SETTLED_MS, deed
from stateful_tests.worlds.deeds import GROUP, OPERATOR, TOPIC
from stateful_tests.worlds.listeners import WORK_MS, Listener
from stateful_tests.worlds.parts import CONSUMERS
from stateful_tests.worlds.servers import servers
from stateful_tests.worlds.workload import Workload
from stateful_tests.worlds.world import World

PLACES = (
    "lockBatchMQ: before tryLockBatch",
    "isLocked: the owner has been read",
    "isLocked: the time has been read",
    "unlockBatchMQ: before unlockBatch",
    "shutdown: between unlockAll and persistConsumerOffset",
)
"""Where lock, renewal and unlock can overtake each other."""


def build(world: World) -> None:
    """Two brokers, a member, and two processes that run nothing yet."""
    servers(world)
    for machine in CONSUMERS:
        world.add_consumer(machine, PushConsumerConfig(GROUP, {TOPIC: "*"}, orderly=True), idle=machine != CONSUMERS[0])
    world.run(SETTLED_MS)


class OrderLockMachine(Members, Processes, Brokers, Clocks, Time):
    """See the module."""

    concept = "order_lock"
    judged: ClassVar = {
        "one_lock_holder": ("B-22a",), "one_live_believer": ("D8", "D9", "B-22a"),
        "abandoned_lock_is_freed": (), "refines_order_lock": (),
    }
    workload = Workload(
        "order_lock", "Members with orderly listeners come and go.", build, (), ("abandoned_lock_is_freed",),
        ((GROUP, TOPIC),),
    )

    @deed("has a message of each of its queues in its cache", who=Faulty.members)
    def cache_messages(self, who: str) -> bool:
        """Its listener does not come back for a while, so that it gives the lock of a queue back late.

        That is 20 s after the queue went to another member.
        """
        found = self.consumers_of(who)
        for consumer in found:
            if isinstance(consumer.message_listener, Listener):
                consumer.message_listener.work_ms = max(WORK_MS)
            for mq in consumer.rebalance_impl.process_queue_table.key_set():
                if mq.topic == TOPIC:
                    self.world.send(OPERATOR, mq)
        return bool(found)

    @deed("the next thread at {where} is paused for {s} s", lasts_ms=0, where=PLACES, s=PAUSES)
    def pause_thread(self, where: str, s: int) -> None:
        """The operating system has other threads to run."""
        self.pause_next(where, s)
