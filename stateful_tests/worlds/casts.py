"""Who is there: the worlds of workloads, each with its servers, producers and consumers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfig
from impl.store.message_store_config import BrokerRole, FlushDiskType
from stateful_tests.worlds import operators
from stateful_tests.worlds.deeds import BROKERS, GROUP, OLD_TOPIC, OTHER_TOPIC, TOPIC
from stateful_tests.worlds.listeners import NEVER, SUCCESS, Listener, SlowListener
from stateful_tests.worlds.machines import STORE
from stateful_tests.worlds.orders import ORDERED_TOPICS, SHRUNK_TOPIC
from stateful_tests.worlds.parts import (
    BOTH_TOPICS,
    BY_SET_TIME,
    BY_SQL,
    BY_TIME,
    CLOSE_TOGETHER,
    COMPRESSED_BYTES,
    CONSUMERS,
    DEEP,
    DEEP_PAST,
    FAILS,
    FEW_MIB,
    FEW_MIB_OF_A_TOPIC,
    FEW_OF_A_TOPIC,
    FEW_TO_POLL,
    FROM_FIRST,
    FROM_THE_END,
    HOUR_OF_BEGIN,
    IN_ORDER,
    INSPECTED,
    LARGE_BYTES,
    MANY,
    OLD,
    ONE,
    OTHER,
    OTHER_GROUP,
    PAST,
    PRODUCER,
    RETRIED,
    SELDOM,
    SELECTING,
    SPARE,
    TAGGED,
    TO_ALL,
    WITH_INVOICES,
)
from stateful_tests.worlds.producers import ASYNC, BODY_BYTES, SYNC, TAGS, Sending
from stateful_tests.worlds.servers import everybody, few, have_read, servers, started
from stateful_tests.worlds.world import World


def members(
    *configs: PushConsumerConfig, stored: bool = False, read: bool = False, rooms: Sequence[str] = ("", ""),
    namesrvs: int = 2, slaves: int = 0, **settings: Any,
) -> Callable[[World], None]:
    """A world of servers, and of processes that all run these consumers; two of the processes do so from a deed on.

    stored -- there are old messages in the queues. read -- the groups have read them up to COMMITTED, each group 4
    more than the one before. rooms, namesrvs, slaves -- see `servers`. settings -- fields of ClientConfig.
    """

    def build(world: World) -> None:
        servers(world, past=PAST if stored or read else None, rooms=rooms, namesrvs=namesrvs, slaves=slaves)
        for broker in started(world) if read else ():
            have_read(world, broker, configs)
        everybody(world, *configs, **settings)

    return build


def administered(world: World) -> None:
    """Members of a group, slaves, and operators who make a topic that nobody uses."""
    members(ONE, slaves=1)(world)
    for broker in started(world):
        operators.make_topic(world, broker, OLD_TOPIC, 1)


def inspected(world: World) -> None:
    """Two groups with members of two releases on one topic, a producer, and topics that nobody uses.

    Name servers add the order of topics to routes. One broker registers only if a name server has another version. Both
    groups of a process share its client.
    """
    servers(world, past=INSPECTED, order_message_enable=True,
            own=({}, {"force_register": False}), more=[TopicConfig(SHRUNK_TOPIC, 4, 2)])
    groups = BOTH_TOPICS, replace(ONE, consumer_group=OTHER_GROUP)
    for broker in started(world):
        have_read(world, broker, groups)
        for topic in ORDERED_TOPICS:
            operators.make_topic(world, broker, topic, 2)
    for machine in (*CONSUMERS, *SPARE):
        begin = (FROM_FIRST if machine in SPARE else ONE).consume_from_where
        world.add_consumer(machine, *(replace(config, consume_from_where=begin) for config in groups),
                           idle=machine in SPARE, instance_name="shop")
    world.add_producer(PRODUCER, Sending(TOPIC))


def unannounced(world: World) -> None:
    """Members of two groups; one broker tells nobody of changes of groups, the other one does not tell GROUP.

    Each of them reads another topic.
    """
    servers(world, own=({"notify_consumer_ids_changed_enable": False}, {}))
    for broker in [one for one in started(world) if one == BROKERS[1]]:
        world.brokers[broker].subscription_group_manager.update_subscription_group_config(
            SubscriptionGroupConfig(GROUP, notify_consumer_ids_changed_enable=False))
    everybody(world, ONE, OTHER)


def routes(world: World) -> None:
    """Masters and slaves, and two clients that want to know where they are."""
    servers(world, slaves=1)
    for machine in CONSUMERS[:2]:
        world.add_consumer(machine, ONE)


def stored(
    flush_disk_type: FlushDiskType, *configs: PushConsumerConfig, fates: Sequence[str] = (),
    broker_role: BrokerRole = BrokerRole.ASYNC_MASTER, slaves: int = 0, listener: type[Listener] = Listener,
    rests: tuple[int, int] | None = None, **settings: Any,
) -> Callable[[World], None]:
    """A world in which brokers keep messages, a producer sends them, and members of a group pull them.

    configs -- of each member; none: of a group that begins at the first message. fates -- what may become of messages.
    broker_role -- of the masters. slaves -- how many each has, which copy its log. listener -- how applications work.
    rests -- of the producer. settings -- fields of ClientConfig.
    """

    def build(world: World) -> None:
        world.store_config = replace(STORE, flush_disk_type=flush_disk_type, broker_role=broker_role)
        world.fates, world.listener = tuple(fates), listener
        servers(world, slaves=slaves)
        few(world, *(configs or (FROM_FIRST,)), **settings)
        world.add_producer(PRODUCER, Sending(TOPIC, rests=rests))

    return build


def filtered(world: World) -> None:
    """A world like `stored`, whose messages have tags: one group subscribes some of them, another filters by SQL92.

    One broker works out whom a message concerns when it arrives, and keeps that as bits.
    """
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    world.selected = {BY_SQL: TAGS[0]}
    servers(world, enable_property_filter=True, own=({"enable_calc_filter_bit_map": True}, {}))
    few(world, TAGGED, SELECTING)
    world.add_producer(PRODUCER, Sending(TOPIC, tags=TAGS, properties=(("weight", "3"),)))


def slave_reads(world: World) -> None:
    """Masters with much that lies on their disks send whoever reads it to their slaves, which copy it."""
    servers(world, slaves=1, past=PAST, slave_read_enable=True)
    few(world, FROM_FIRST)


def throttled(world: World) -> None:
    """Two groups that cache little, one of each queue and one of each topic, and a poller; there is much to be read."""
    servers(world, past=PAST)
    few(world, CLOSE_TOGETHER, FEW_OF_A_TOPIC)
    world.add_puller("assigner1", FEW_TO_POLL)


def hungry(world: World) -> None:
    """Members of a group whose pulls want more than brokers give at once; much is on disks, and much in memory."""
    world.pull_batch_size = MANY
    servers(world, past=DEEP_PAST, queues=((1, 1), (1, 1)), old=DEEP)
    few(world, WITH_INVOICES)


def large(world: World) -> None:
    """Two groups that cache few MiB, one of each queue and one of each topic, and are slow; messages are large."""
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    world.listener = SlowListener
    servers(world)
    few(world, FEW_MIB, FEW_MIB_OF_A_TOPIC)
    world.add_producer(PRODUCER, Sending(OTHER_TOPIC, (SYNC, ASYNC), padding=LARGE_BYTES, rests=SELDOM))


def behind_in_order(world: World) -> None:
    """Members of a group that reads in order, and slowly: there is much to be read, and brokers stop meanwhile."""
    world.listener = SlowListener
    servers(world, past=PAST)
    few(world, IN_ORDER)


def few_threads(world: World) -> None:
    """A world like `stored`, whose members have two threads for their listeners, which are slow or do not return."""
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    world.fates, world.listener = (NEVER,), SlowListener
    servers(world)
    few(world, replace(RETRIED, consume_thread_min=2, consume_thread_max=2))
    world.add_producer(PRODUCER, Sending(TOPIC, rests=SELDOM))


def leaving(world: World) -> None:
    """A world like `stored`, with slaves, whose members come and go all the time."""
    servers(world, slaves=1)
    everybody(world, FROM_FIRST)
    world.add_producer(PRODUCER, Sending(TOPIC))


def guarded(world: World) -> None:
    """Members of a group, and topics that nobody uses but strangers."""
    members(ONE)(world)
    for broker, topic in product(BROKERS, ORDERED_TOPICS):
        operators.make_topic(world, broker, topic, 2)


def far_behind(world: World) -> None:
    """A world in which there is much to be read, and members are slow; messages are sent meanwhile."""
    world.listener = SlowListener
    servers(world, past=PAST)
    for machine in CONSUMERS[:2]:
        world.add_consumer(machine, FROM_FIRST)
    world.add_producer(PRODUCER, Sending(TOPIC))


def from_a_time(world: World) -> None:
    """Three groups without offsets, of which one begins at the messages of the last half hour; there are older ones.

    The third one begins at those of a time that its users have set, a little before, and rests between its pulls.
    """
    servers(world, past=PAST)
    few(world, FROM_FIRST, BY_TIME, BY_SET_TIME)


def aged(world: World) -> None:
    """A group reads messages of which some are so old that their files are to go at this very hour; slaves copy."""
    servers(world, past=PAST, old=replace(OLD, delete_when=HOUR_OF_BEGIN), slaves=1)
    few(world, FROM_FIRST)


def broadcasters(world: World) -> None:
    """Two groups of each process broadcast, and read what there was; one broker lets only one of them."""
    servers(world, past=PAST)
    for broker in [one for one in started(world) if one == BROKERS[1]]:
        world.brokers[broker].subscription_group_manager.update_subscription_group_config(
            SubscriptionGroupConfig(OTHER_GROUP, consume_broadcast_enable=False))
    everybody(world, TO_ALL, replace(TO_ALL, consumer_group=OTHER_GROUP))


def from_the_end(world: World) -> None:
    """A group without offsets begins at the end; there are old messages, also such as are to be tried again.

    Its listeners fail, but with none of the old messages, which have no ids. Brokers keep messages compressed, and
    deliver some of them later.
    """
    world.fates = (SUCCESS, *FAILS)
    servers(world, past=PAST)
    few(world, FROM_THE_END)
    world.add_producer(PRODUCER, Sending(TOPIC, (SYNC, ASYNC), body_bytes=BODY_BYTES[:2], delay_levels=(0, 0, 1, 2),
                                         padding=COMPRESSED_BYTES))


def smallest(config: PushConsumerConfig, *queues: int) -> Callable[[World], None]:
    """A world of so few machines that all states of a model can be enumerated: two processes that run this consumer.

    As shipped, a new process keeps its client id. queues -- how many there are at each broker.
    """

    def build(world: World) -> None:
        world.add_namesrv("nameserver1")
        for machine, many in zip(BROKERS, queues, strict=False):
            world.add_broker(machine, machine, topics=[TopicConfig(TOPIC, many, many)])
        world.run(100)
        for machine in CONSUMERS[:2]:
            world.add_consumer(machine, config, instance_name="shop")

    return build
