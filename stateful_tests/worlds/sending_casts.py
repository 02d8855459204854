"""The worlds of workloads that are about how, where and by whom messages are sent; `casts` has the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any

from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.topic_config import TopicConfig
from impl.store.message_store_config import BrokerRole, FlushDiskType
from stateful_tests.worlds.deeds import BROKERS, TOPIC
from stateful_tests.worlds.machines import STORE
from stateful_tests.worlds.parts import (
    ANYHOW,
    BELOW_ZERO,
    CHECK_EVERY_MS,
    COLLIDE,
    COLLIDING,
    COLLIDING_TOO,
    CONSUMERS,
    FAILS,
    FIVE,
    FROM_FIRST,
    IN_ORDER,
    OTHER_GROUP,
    PARCELS,
    PATIENT,
    PRODUCER,
    RETRIED,
    RETRIED_IN_ORDER,
    SELDOM,
    SPARE,
    TENANTS,
    TRANSACTION_MS,
    UNEVEN,
)
from stateful_tests.worlds.producers import ASYNC, IN_TRANSACTION, KEYS, ORDERED, SYNC, TOGETHER, Sending, latency_aware
from stateful_tests.worlds.requesters import ASK, ASK_LATER
from stateful_tests.worlds.servers import everybody, few, senders, servers
from stateful_tests.worlds.world import World


def both_ways(world: World) -> None:
    """A world like `stored`, whose members also send, by the client that their consumers have."""
    servers(world)
    everybody(world, FROM_FIRST, instance_name="shop", sends=Sending(TOPIC, (SYNC, ASYNC), rests=SELDOM))


def versions(*configs: PushConsumerConfig, sendings: Sequence[Sending]) -> Callable[[World], None]:
    """A world like `stored`, whose processes run one of these consumers each: a roll-out has stopped half way.

    sendings -- each is sent by a process of its own.
    """

    def build(world: World) -> None:
        world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
        servers(world)
        for machine, config in zip((*CONSUMERS[:2], *SPARE), cycle(configs)):
            world.add_consumer(machine, config, idle=machine in SPARE)
        senders(world, *sendings)

    return build


def copied_delays(world: World) -> None:
    """A world like `stored`, with slaves, some of whose messages are to be delivered later."""
    servers(world, slaves=1)
    few(world, FROM_FIRST)
    world.add_producer(PRODUCER, Sending(TOPIC, delay_levels=(0, 1, 2, 3, 4)))


def tenants(world: World) -> None:
    """A world like `stored`, in which two tenants call their topics and groups alike, each in its own namespace."""
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    world.fates = FAILS
    servers(world, more=[TopicConfig(one.full_topic, 4, 4) for one in TENANTS])
    for number, one in enumerate(TENANTS, 1):
        for machine in (*CONSUMERS[:2], *SPARE[:1]):
            member = f"{one.namespace}-{machine}"
            world.add_consumer(member, RETRIED, idle=machine in SPARE, namespace=one.namespace)
        world.add_producer(f"producer{number}", one)


def sending(
    *sendings: Sending, transactions: bool = False, check_max: int = 15,
    flush_disk_type: FlushDiskType = FlushDiskType.ASYNC_FLUSH,
) -> Callable[[World], None]:
    """A world like `stored`, in which each of these is sent by a process of its own.

    transactions -- brokers ask often what became of half messages, up to check_max times.
    """

    def build(world: World) -> None:
        world.store_config = replace(STORE, flush_disk_type=flush_disk_type)
        settings: dict[str, Any] = {
            "transaction_check_interval_ms": CHECK_EVERY_MS, "transaction_check_max": check_max} if transactions else {}
        servers(world, **settings)
        for machine in CONSUMERS[:2]:
            world.add_consumer(machine, FROM_FIRST)
        senders(world, *sendings)

    return build


def failing_transactions(world: World) -> None:
    """A world like `stored`, whose messages are committed by transactions; listeners fail, of one group in order."""
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    world.fates = FAILS
    servers(world, transaction_check_interval_ms=CHECK_EVERY_MS)
    few(world, RETRIED, replace(RETRIED_IN_ORDER, consumer_group=OTHER_GROUP))
    world.add_producer(PRODUCER, Sending(TOPIC, (IN_TRANSACTION,), transaction_ms=TRANSACTION_MS, rests=SELDOM))


def uneven(world: World) -> None:
    """A world like `sending`, whose second broker has fewer queues of the topic, and one more to read than to write."""
    servers(world, queues=UNEVEN)
    few(world, FROM_FIRST)
    senders(world, latency_aware(Sending(TOPIC, (SYNC, ASYNC, TOGETHER))),
            Sending(TOPIC, (ORDERED, TOGETHER), rests=SELDOM))


def sending_anyhow(world: World) -> None:
    """A world like `stored`, whose producers send in every way there is, also what is illegal.

    One of them has a namespace; the topic of the other is made for its first message. One broker has no slave, and
    says so each time.
    """
    world.roles = {BROKERS[1]: BrokerRole.SYNC_MASTER}
    servers(world, more=(TopicConfig(ANYHOW.full_topic, 4, 4),))
    for machine in CONSUMERS[:2]:
        world.add_consumer(machine, replace(FROM_FIRST, subscription={ANYHOW.full_topic: "*", PARCELS.topic: "*"}))
    senders(world, ANYHOW, PARCELS)


def patient(world: World) -> None:
    """A world like `stored`, whose producers wait for disk and slave longer than their brokers do.

    One broker waits for its disk, the other one for its slave, too. Producers rest so long that nothing but heartbeats
    goes between the two, and the slave reports less often than its master sends them.
    """
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    world.roles = {BROKERS[0]: BrokerRole.SYNC_MASTER}
    world.of_slaves = {"ha_send_heartbeat_interval_ms": 8_000}
    servers(world, slaves=1, of=BROKERS[:1])
    few(world, FROM_FIRST)
    world.add_producer(PRODUCER, Sending(TOPIC, (SYNC, ASYNC, TOGETHER), config=PATIENT, rests=(30, 25_000)))


def refusing(world: World) -> None:
    """A world like `stored`, whose brokers take shorter messages than its producers send."""
    world.store_config = replace(STORE, max_message_size=4_096)
    servers(world)
    few(world, FROM_FIRST)
    world.add_producer(PRODUCER, Sending(TOPIC, (SYNC, ASYNC, TOGETHER)))


def closed(world: World) -> None:
    """A world like `stored`, in which one broker makes no topics, and the other one makes one for some messages."""
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    servers(world, own=({"auto_create_topic_enable": False}, {}))
    few(world, replace(FROM_FIRST, subscription={TOPIC: "*", PARCELS.topic: "*"}))
    senders(world, Sending(TOPIC, (SYNC, TOGETHER)), PARCELS)


def buffered(world: World) -> None:
    """A world like `stored`, where what is put waits in a buffer of a pool before it is written."""
    world.store_config = replace(STORE, transient_store_pool_configured=True)
    servers(world)
    few(world, FROM_FIRST)
    world.add_producer(PRODUCER, Sending(TOPIC, (ORDERED, SYNC)))


def cramped(world: World) -> None:
    """A world like `stored`, whose brokers have files so small that each kind of them fills up, and few delays.

    All that they have may be deleted when files of others fill the disk. Messages have all lengths, and delays beyond
    the greatest one.
    """
    world.store_config = replace(
        STORE, mapped_file_size_commit_log=8 * 1024, configured_file_size_consume_queue=400, max_message_size=4 * 1024,
        max_hash_slot_num=4, max_index_num=40, message_delay_level="1s 5s 10s 30s",
        file_reserved_time_hours=0)
    servers(world)
    few(world, FROM_FIRST)
    world.add_producer(PRODUCER, Sending(TOPIC, (ORDERED, SYNC), body_bytes=range(144, 400),
                                         delay_levels=(0, 0, 0, 0, 3, 4, 5, 18)))


def requests(world: World) -> None:
    """A world in which applications ask, and others reply, most of them in time."""
    servers(world)
    for machine in CONSUMERS[:2]:
        world.add_consumer(machine, FROM_FIRST, replies=True)
    senders(world, *[Sending(TOPIC, (ASK, ASK_LATER))] * 2)


def piecemeal(world: World) -> None:
    """A world like `stored`, whose slaves are sent so few bytes at once that a message comes in several parts."""
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH, ha_transfer_batch_size_bytes=500)
    servers(world, slaves=1)
    few(world, FROM_FIRST)
    world.add_producer(PRODUCER, Sending(TOPIC, (SYNC, TOGETHER), rests=SELDOM))


def colliding(world: World) -> None:
    """A world like `sending_in_order`, of 5 queues; two tags have one hash code, and each group subscribes one."""
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    servers(world, queues=FIVE)
    few(world, COLLIDING, COLLIDING_TOO)
    world.add_producer(PRODUCER, Sending(TOPIC, (ORDERED,), tags=COLLIDE, keys=BELOW_ZERO))


def masterless_in_order(world: World) -> None:
    """A world like `masterless`, whose members read in order, and ask masters for locks."""
    servers(world, slaves=1)
    few(world, IN_ORDER)
    world.add_producer(PRODUCER, Sending(TOPIC, (ORDERED,), keys=KEYS[:2]))


def masterless(world: World) -> None:
    """A world like `stored`, with slaves, whose producer also sends in order."""
    servers(world, slaves=1)
    few(world, FROM_FIRST)
    world.add_producer(PRODUCER, Sending(TOPIC, (ORDERED,), keys=KEYS[:2]))
