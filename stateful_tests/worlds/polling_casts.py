"""The worlds of workloads in which applications poll; `casts` has the others."""

from __future__ import annotations

from dataclasses import replace

from impl.common.topic_config import TopicConfig
from impl.store.message_store_config import FlushDiskType
from stateful_tests.worlds.deeds import OTHER_TOPIC, TOPIC
from stateful_tests.worlds.machines import STORE
from stateful_tests.worlds.parts import (
    ASSIGNING,
    CONSUMERS,
    FEW_PULLS,
    PAST,
    POLLING,
    POLLING_TAGS,
    PRODUCER,
    SELDOM,
    SLOWLY,
    SPARE,
    TENANTS,
)
from stateful_tests.worlds.producers import TAGS, Sending
from stateful_tests.worlds.pullers import Pulling
from stateful_tests.worlds.servers import senders, servers
from stateful_tests.worlds.world import World


def polled(world: World) -> None:
    """A world like `stored`: members of a group subscribe and poll, those of another one assign, and commit by hand."""
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    servers(world)
    _members(world, POLLING)
    for left in range(2):
        world.add_puller(f"assigner{left + 1}", replace(ASSIGNING, share=(2, left)))
    world.add_producer(PRODUCER, Sending(TOPIC))


def polled_seldom(world: World) -> None:
    """A world like `polled`, whose messages come now and then: pulls are held; who assigns has a thread for each."""
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    servers(world)
    _members(world, POLLING)
    for left in range(4):
        world.add_puller(f"assigner{left + 1}", replace(FEW_PULLS, share=(4, left)))
    world.add_producer(PRODUCER, Sending(TOPIC, rests=SELDOM))


def polled_by_topic(world: World) -> None:
    """A world like `polled`, whose members subscribe two topics each; one of them grows."""
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    servers(world)
    _members(world, replace(POLLING, more=OTHER_TOPIC))
    senders(world, Sending(TOPIC), Sending(OTHER_TOPIC))


def polling_tenants(world: World) -> None:
    """The same two tenants poll: each has an application, whose group and topic are called as those of the other."""
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    servers(world, more=[TopicConfig(one.full_topic, 4, 4) for one in TENANTS])
    for number, one in enumerate(TENANTS, 1):
        world.add_puller(f"{one.namespace}-{CONSUMERS[0]}", replace(POLLING, namespace=one.namespace))
        world.add_producer(f"producer{number}", one)


def polled_by_tag(world: World) -> None:
    """Members of a group poll two tags of three; somebody else polls so slowly that old messages go before."""
    servers(world, past=PAST)
    _members(world, POLLING_TAGS)
    world.add_puller("assigner1", SLOWLY)
    world.add_producer(PRODUCER, Sending(TOPIC, tags=TAGS))


def _members(world: World, config: Pulling) -> None:
    """Two who poll so, and a third one from a deed on."""
    for machine in (*CONSUMERS[:2], *SPARE[:1]):
        world.add_puller(machine, config, idle=machine in SPARE)
