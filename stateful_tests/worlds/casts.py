"""Who is there: the servers, producers and consumers of the worlds of workloads, and how they are configured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import cycle, product
from typing import Any

from impl.broker.consumer_offset_manager import topic_at_group
from impl.client.lite_pull_consumer_config import LitePullConsumerConfig
from impl.client.producer_config import ProducerConfig
from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.heartbeat_data import BROADCASTING
from impl.common.message_selector import by_sql
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfig
from impl.decisions.allocation import AllocateMessageQueueByMachineRoom
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import get_retry_topic
from impl.decisions.start_offset import ConsumeFromWhere
from impl.hash_map import ConcurrentHashMap
from impl.store.message_store_config import BrokerRole, FlushDiskType, MessageStoreConfig
from invariants.rules.answers import ROLLBACK
from stateful_tests.worlds import operators
from stateful_tests.worlds.deeds import (
    BROKERS,
    GROUP,
    OLD_TOPIC,
    OPERATOR,
    OTHER_TOPIC,
    PAST_MS,
    TOPIC,
    living_brokers,
)
from stateful_tests.worlds.listeners import EXCEPTION, LATER, NULL, POISON, Listener, SlowListener
from stateful_tests.worlds.machines import STORE
from stateful_tests.worlds.orders import ORDERED_TOPICS, SHRUNK_TOPIC
from stateful_tests.worlds.past import Past
from stateful_tests.worlds.producers import (
    ASYNC,
    ILLEGAL,
    IN_TRANSACTION,
    LONGEST,
    ONEWAY,
    ORDERED,
    SELECTED,
    SELECTED_ASYNC,
    SELECTED_ONEWAY,
    SYNC,
    TAGS,
    TO,
    TO_ASYNC,
    TO_ONEWAY,
    TOGETHER,
    TOGETHER_ASYNC,
    TOGETHER_TO,
    Sending,
    latency_aware,
)
from stateful_tests.worlds.pullers import Pulling
from stateful_tests.worlds.requesters import ASK, ASK_LATER
from stateful_tests.worlds.world import World

CONSUMERS, SPARE = ("consumer1", "consumer2", "consumer3"), ("consumer4", "consumer5")
OTHER_GROUP = "H"
PRODUCER = "producer1"
ROOMS = ("east", "west")
CHECK_EVERY_MS = 10_000
"""How often brokers look for half messages that have not ended: in 4.9.3 once a minute."""
TRANSACTION_MS = 2_000
"""How long local transactions take."""
COMMITTED = 34
"""What the group has read of each queue before; another group has read four more."""
PAST = Past(((TOPIC, 4, 1), (OTHER_TOPIC, 2, 1), (get_retry_topic(GROUP), 1, 8)),
            tuple(zip(PAST_MS, (24, 8, 8), strict=True)))
"""What is in each queue: 24 messages of some days ago, 8 of an hour ago, and 8 that are new; of retries an eighth."""
INSPECTED = PAST._replace(queues=(*PAST.queues, *((topic, 2, 4) for topic in ORDERED_TOPICS)))
OLD = replace(
    STORE, mapped_file_size_commit_log=8 * 1024, configured_file_size_consume_queue=400, max_message_size=4 * 1024,
    total_physical_memory_bytes=40 * 1024)
"""Their store: its files are so small that some have nothing but old messages, and memory has the new ones only."""
ALIKE, UNEVEN = ((4, 4), (4, 4)), ((4, 4), (3, 2))
"""How many queues of a topic each master has, to read and to write."""
DEEP_PAST = Past(((TOPIC, 1, 1), (OTHER_TOPIC, 2, 1), (get_retry_topic(GROUP), 1, 8)),
                 tuple(zip(PAST_MS[1:], (60, 60), strict=True)), long=(TOPIC,))
"""Queues from which a pull may want more than it is given; messages of one topic are long."""
DEEP = replace(STORE, mapped_file_size_commit_log=256 * 1024, configured_file_size_consume_queue=2_000,
               max_message_size=128 * 1024, total_physical_memory_bytes=2 * 1024 * 1024)
"""Their store: memory has the newer half."""
MANY = 64
"""How many messages a pull wants that wants more than it is given."""
SELDOM, RARELY = (16, 12_000), (10, 45_000)
"""Of a producer that rests: after so many sends it sends nothing for so long (ms)."""
LARGE_BYTES = 768 * 1024
"""How much follows what cannot be compressed of a message that is large."""
FAILS = (POISON, POISON, EXCEPTION, EXCEPTION, LATER, LATER, NULL, NULL)
"""What becomes of so many messages, of as many as are drawn from."""
HOLDS = ROLLBACK, ROLLBACK, ROLLBACK, EXCEPTION, LATER, NULL
"""The same of a group that commits itself."""


def servers(  # noqa: PLR0913  # who is there differs in as many ways
    world: World, *, slaves: int = 0, past: Past | None = None, rooms: Sequence[str] = ("", ""), namesrvs: int = 2,
    more: Sequence[TopicConfig] = (), of: Sequence[str] = BROKERS, own: Sequence[Mapping[str, Any]] = ({}, {}),
    order_message_enable: bool = False, queues: Sequence[tuple[int, int]] = ALIKE, old: MessageStoreConfig = OLD,
    **settings: Any,
) -> None:
    """So many name servers, two masters with two topics, so many slaves of each, and an operator's machine.

    of -- the masters that have slaves. past -- what the masters have stored before; old -- how they keep messages then.
    rooms -- what the names of the masters begin with. more -- topics that they have besides. order_message_enable -- of
    NamesrvConfig. queues -- how many each master has of TOPIC, to read and to write. settings -- fields of
    BrokerConfig; own -- those that only the first, or the second master has.
    """
    for number in range(namesrvs):
        world.add_namesrv(f"nameserver{number + 1}", order_message_enable=order_message_enable)
    others = [TopicConfig(OTHER_TOPIC, 2, 2), *more]
    if past is not None:
        world.store_config = old
        others.append(TopicConfig(get_retry_topic(GROUP), 1, 1))
    topics = {machine: [TopicConfig(TOPIC, *many), *others] for machine, many in zip(BROKERS, queues, strict=True)}
    for machine, room, one in zip(BROKERS, rooms, own, strict=True):
        world.add_broker(machine, f"{room}{machine}", topics=topics[machine], past=past, **settings, **one)
    for broker_id, machine in product(range(1, slaves + 1), of):
        name = f"{machine}-slave{'' if broker_id == 1 else broker_id}"
        world.add_broker(name, machine, topics=topics[machine], broker_id=broker_id, **settings)
    world.add_tester(OPERATOR)
    world.run(100)


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
        for broker in _started(world) if read else ():
            _have_read(world, broker, configs)
        for machine in (*CONSUMERS, *SPARE):
            world.add_consumer(machine, *configs, idle=machine in SPARE, **settings)

    return build


def _started(world: World) -> list[str]:
    """The masters whose first start has not failed: a disk may refuse what it forces."""
    return [broker for broker in living_brokers(world) if broker in BROKERS]


def _have_read(world: World, broker: str, configs: Sequence[PushConsumerConfig]) -> None:
    offset_manager = world.brokers[broker].consumer_offset_manager
    for more, config in enumerate(configs):
        for topic in config.subscription:
            offsets = ConcurrentHashMap(32, [(queue_id, COMMITTED + 4 * more) for queue_id in range(8)])
            offset_manager.offset_table.put(topic_at_group(topic, config.consumer_group), offsets)
    world.brokers[broker].persist_consumer_offset()


def administered(world: World) -> None:
    """Members of a group, slaves, and operators who make a topic that nobody uses."""
    members(ONE, slaves=1)(world)
    for broker in _started(world):
        operators.make_topic(world, broker, OLD_TOPIC, 1)


def inspected(world: World) -> None:
    """Two groups with members of two releases on one topic, a producer, and topics that nobody uses.

    Name servers add the order of topics to routes. One broker registers only if a name server has another version. Both
    groups of a process share its client.
    """
    servers(world, past=INSPECTED, order_message_enable=True,
            own=({}, {"force_register": False}), more=[TopicConfig(SHRUNK_TOPIC, 4, 2)])
    groups = BOTH_TOPICS, replace(ONE, consumer_group=OTHER_GROUP)
    for broker in _started(world):
        _have_read(world, broker, groups)
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
    for broker in [one for one in _started(world) if one == BROKERS[1]]:
        world.brokers[broker].subscription_group_manager.update_subscription_group_config(
            SubscriptionGroupConfig(GROUP, notify_consumer_ids_changed_enable=False))
    for machine in (*CONSUMERS, *SPARE):
        world.add_consumer(machine, ONE, OTHER, idle=machine in SPARE)


def both_ways(world: World) -> None:
    """A world like `stored`, whose members also send, by the client that their consumers have."""
    servers(world)
    for machine in (*CONSUMERS, *SPARE):
        world.add_consumer(machine, FROM_FIRST, idle=machine in SPARE, instance_name="shop",
                           sends=Sending(TOPIC, (SYNC, ASYNC), rests=SELDOM))


def routes(world: World) -> None:
    """Masters and slaves, and two clients that want to know where they are."""
    servers(world, slaves=1)
    for machine in CONSUMERS[:2]:
        world.add_consumer(machine, ONE)


def stored(
    flush_disk_type: FlushDiskType, *configs: PushConsumerConfig, fates: Sequence[str] = (),
    broker_role: BrokerRole = BrokerRole.ASYNC_MASTER, slaves: int = 0, listener: type[Listener] = Listener,
    rests: tuple[int, int] | None = None,
) -> Callable[[World], None]:
    """A world in which brokers keep messages, a producer sends them, and members of a group pull them.

    configs -- of each member; none: of a group that begins at the first message. fates -- what may become of messages.
    broker_role -- of the masters. slaves -- how many each has, which copy its log. listener -- how applications work.
    rests -- of the producer.
    """

    def build(world: World) -> None:
        world.store_config = replace(STORE, flush_disk_type=flush_disk_type, broker_role=broker_role)
        world.fates, world.listener = tuple(fates), listener
        servers(world, slaves=slaves)
        for machine in (*CONSUMERS[:2], *SPARE[:1]):
            world.add_consumer(machine, *(configs or (FROM_FIRST,)), idle=machine in SPARE)
        world.add_producer(PRODUCER, Sending(TOPIC, rests=rests))

    return build


def filtered(world: World) -> None:
    """A world like `stored`, whose messages have tags: one group subscribes some of them, another filters by SQL92."""
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    world.selected = {BY_SQL: TAGS[0]}
    servers(world, enable_property_filter=True)
    for machine in (*CONSUMERS[:2], *SPARE[:1]):
        world.add_consumer(machine, TAGGED, SELECTING, idle=machine in SPARE)
    world.add_producer(PRODUCER, Sending(TOPIC, tags=TAGS, properties=(("weight", "3"),)))


def versions(*configs: PushConsumerConfig, sendings: Sequence[Sending]) -> Callable[[World], None]:
    """A world like `stored`, whose processes run one of these consumers each: a roll-out has stopped half way.

    sendings -- each is sent by a process of its own.
    """

    def build(world: World) -> None:
        world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
        servers(world)
        for machine, config in zip((*CONSUMERS[:2], *SPARE), cycle(configs)):
            world.add_consumer(machine, config, idle=machine in SPARE)
        for number, one in enumerate(sendings, 1):
            world.add_producer(f"producer{number}", one)

    return build


def polled(world: World) -> None:
    """A world like `stored`: members of a group subscribe and poll, those of another one assign, and commit by hand."""
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    servers(world)
    for machine in (*CONSUMERS[:2], *SPARE[:1]):
        world.add_puller(machine, POLLING, idle=machine in SPARE)
    for left in range(2):
        world.add_puller(f"assigner{left + 1}", replace(ASSIGNING, share=(2, left)))
    world.add_producer(PRODUCER, Sending(TOPIC))


def slave_reads(world: World) -> None:
    """Masters with much that lies on their disks send whoever reads it to their slaves, which copy it."""
    servers(world, slaves=1, past=PAST, slave_read_enable=True)
    for machine in (*CONSUMERS[:2], *SPARE[:1]):
        world.add_consumer(machine, FROM_FIRST, idle=machine in SPARE)


def throttled(world: World) -> None:
    """Two groups that cache little, one of each queue and one of each topic, and a poller; there is much to be read."""
    servers(world, past=PAST)
    for machine in (*CONSUMERS[:2], *SPARE[:1]):
        world.add_consumer(machine, CLOSE_TOGETHER, FEW_OF_A_TOPIC, idle=machine in SPARE)
    world.add_puller("assigner1", FEW_TO_POLL)


def hungry(world: World) -> None:
    """Members of a group whose pulls want more than brokers give at once; much is on disks, and much in memory."""
    world.pull_batch_size = MANY
    servers(world, past=DEEP_PAST, queues=((1, 1), (1, 1)), old=DEEP)
    for machine in (*CONSUMERS[:2], *SPARE[:1]):
        world.add_consumer(machine, WITH_INVOICES, idle=machine in SPARE)


def copied_delays(world: World) -> None:
    """A world like `stored`, with slaves, some of whose messages are to be delivered later."""
    servers(world, slaves=1)
    for machine in (*CONSUMERS[:2], *SPARE[:1]):
        world.add_consumer(machine, FROM_FIRST, idle=machine in SPARE)
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


def polling_tenants(world: World) -> None:
    """The same two tenants poll: each has an application, whose group and topic are called as those of the other."""
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    servers(world, more=[TopicConfig(one.full_topic, 4, 4) for one in TENANTS])
    for number, one in enumerate(TENANTS, 1):
        world.add_puller(f"{one.namespace}-{CONSUMERS[0]}", replace(POLLING, namespace=one.namespace))
        world.add_producer(f"producer{number}", one)


def large(world: World) -> None:
    """Two groups that cache few MiB, one of each queue and one of each topic, and are slow; messages are large."""
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    world.listener = SlowListener
    servers(world)
    for machine in (*CONSUMERS[:2], *SPARE[:1]):
        world.add_consumer(machine, FEW_MIB, FEW_MIB_OF_A_TOPIC, idle=machine in SPARE)
    world.add_producer(PRODUCER, Sending(OTHER_TOPIC, (SYNC, ASYNC), padding=LARGE_BYTES, rests=SELDOM))


def behind_in_order(world: World) -> None:
    """Members of a group that reads in order, and slowly: there is much to be read, and brokers stop meanwhile."""
    world.listener = SlowListener
    servers(world, past=PAST)
    for machine in (*CONSUMERS[:2], *SPARE[:1]):
        world.add_consumer(machine, IN_ORDER, idle=machine in SPARE)


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
        for number, one in enumerate(sendings, 1):
            world.add_producer(f"producer{number}", one)

    return build


def uneven(world: World) -> None:
    """A world like `sending`, whose second broker has fewer queues of the topic, and one more to read than to write."""
    servers(world, queues=UNEVEN)
    for machine in (*CONSUMERS[:2], *SPARE[:1]):
        world.add_consumer(machine, FROM_FIRST, idle=machine in SPARE)
    world.add_producer(PRODUCER, latency_aware(Sending(TOPIC, (SYNC, ASYNC, TOGETHER))))
    world.add_producer("producer2", Sending(TOPIC, (ORDERED, TOGETHER), rests=SELDOM))


def sending_anyhow(world: World) -> None:
    """A world like `stored`, whose producers send in every way there is, also what is illegal.

    One of them has a namespace; the topic of the other is made for its first message. One broker has no slave, and
    says so each time.
    """
    world.roles = {BROKERS[1]: BrokerRole.SYNC_MASTER}
    servers(world, more=(TopicConfig(ANYHOW.full_topic, 4, 4),))
    for machine in CONSUMERS[:2]:
        world.add_consumer(machine, replace(FROM_FIRST, subscription={ANYHOW.full_topic: "*", PARCELS.topic: "*"}))
    for number, one in enumerate((ANYHOW, PARCELS), 1):
        world.add_producer(f"producer{number}", one)


def leaving(world: World) -> None:
    """A world like `stored`, with slaves, whose members come and go all the time."""
    servers(world, slaves=1)
    for machine in (*CONSUMERS, *SPARE):
        world.add_consumer(machine, FROM_FIRST, idle=machine in SPARE)
    world.add_producer(PRODUCER, Sending(TOPIC))


def patient(world: World) -> None:
    """A world like `stored`, whose producers wait for disk and slave longer than their brokers do.

    One broker waits for its disk, the other one for its slave, too. Producers rest so long that nothing but heartbeats
    goes between the two, and the slave reports less often than its master sends them.
    """
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    world.roles = {BROKERS[0]: BrokerRole.SYNC_MASTER}
    world.of_slaves = {"ha_send_heartbeat_interval_ms": 8_000}
    servers(world, slaves=1, of=BROKERS[:1])
    for machine in (*CONSUMERS[:2], *SPARE[:1]):
        world.add_consumer(machine, FROM_FIRST, idle=machine in SPARE)
    world.add_producer(PRODUCER, Sending(TOPIC, (SYNC, ASYNC, TOGETHER), config=PATIENT, rests=(30, 25_000)))


def buffered(world: World) -> None:
    """A world like `stored`, where what is put waits in a buffer of a pool before it is written."""
    world.store_config = replace(STORE, transient_store_pool_configured=True)
    servers(world)
    for machine in (*CONSUMERS[:2], *SPARE[:1]):
        world.add_consumer(machine, FROM_FIRST, idle=machine in SPARE)
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
    for machine in (*CONSUMERS[:2], *SPARE[:1]):
        world.add_consumer(machine, FROM_FIRST, idle=machine in SPARE)
    world.add_producer(PRODUCER, Sending(TOPIC, (ORDERED, SYNC), body_bytes=range(144, 400),
                                         delay_levels=(0, 0, 0, 0, 3, 4, 5, 18)))


def requests(world: World) -> None:
    """A world in which applications ask, and others reply, most of them in time."""
    servers(world)
    for machine in CONSUMERS[:2]:
        world.add_consumer(machine, FROM_FIRST, replies=True)
    for number in range(2):
        world.add_producer(f"producer{number + 1}", Sending(TOPIC, (ASK, ASK_LATER)))


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
    """Two groups without offsets, of which one begins at the messages of the last half hour; there are older ones."""
    servers(world, past=PAST)
    for machine in (*CONSUMERS[:2], *SPARE[:1]):
        world.add_consumer(machine, FROM_FIRST, BY_TIME, idle=machine in SPARE)


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


ANYHOW = Sending(
    TOPIC, (SYNC, TO, ASYNC, SELECTED, TO_ASYNC, TOGETHER_TO, ONEWAY, SELECTED_ASYNC, TO_ONEWAY, SELECTED_ONEWAY,
            ILLEGAL, IN_TRANSACTION), namespace="shop", config=LONGEST,
    known=(MessageQueue(TOPIC, BROKERS[0], 1), MessageQueue(TOPIC, BROKERS[1], 3)), properties=(("colour", "red"),))
TENANTS = tuple(Sending(TOPIC, namespace=name, rests=SELDOM) for name in ("shop", "depot"))
PATIENT = ProducerConfig("P", send_msg_timeout_ms=20_000)
PARCELS = Sending("parcels", (SYNC, ASYNC, TOGETHER_ASYNC), queue_nums=2,
                  config=ProducerConfig("P", default_topic_queue_nums=2))
ONE = PushConsumerConfig(GROUP, {TOPIC: "*"})
ORDERLY = replace(ONE, orderly=True)
BOTH_TOPICS = replace(ONE, subscription={TOPIC: "*", OTHER_TOPIC: "*"})
OTHER = PushConsumerConfig(OTHER_GROUP, {OTHER_TOPIC: "*"})
TO_ALL = replace(ONE, message_model=BROADCASTING, consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
TO_ALL_IN_ORDER = replace(TO_ALL, orderly=True)
FROM_FIRST = replace(ONE, consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
BY_TIME = replace(ONE, consumer_group=OTHER_GROUP, consume_from_where=ConsumeFromWhere.CONSUME_FROM_TIMESTAMP)
RETRIED = replace(FROM_FIRST, max_reconsume_times=2, consume_timeout_minutes=1)
IN_ORDER = replace(FROM_FIRST, orderly=True)
RETRIED_IN_ORDER = replace(RETRIED, orderly=True, max_reconsume_times=3)
TAGGED = replace(FROM_FIRST, subscription={TOPIC: f"{TAGS[0]} || {TAGS[1]}"})
TAGGED_ANEW = replace(FROM_FIRST, subscription={TOPIC: f"{TAGS[1]} || {TAGS[2]}"})
WITH_INVOICES = replace(FROM_FIRST, subscription={TOPIC: "*", OTHER_TOPIC: "*"})
POLLING = Pulling(LitePullConsumerConfig(GROUP, consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET), TOPIC)
ASSIGNING = replace(POLLING, config=replace(POLLING.config, consumer_group=OTHER_GROUP, auto_commit=False))
CLOSE_TOGETHER = replace(FROM_FIRST, consume_concurrently_max_span=5)
FEW_OF_A_TOPIC = replace(FROM_FIRST, consumer_group=OTHER_GROUP, pull_threshold_for_topic=20)
FEW_MIB = replace(FROM_FIRST, subscription={OTHER_TOPIC: "*"}, pull_threshold_size_for_queue_mib=1)
FEW_MIB_OF_A_TOPIC = replace(FEW_MIB, consumer_group=OTHER_GROUP, pull_threshold_size_for_queue_mib=100,
                             pull_threshold_size_for_topic_mib=4)
FEW_TO_POLL = Pulling(LitePullConsumerConfig(
    "L", consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, pull_batch_size=4, pull_threshold_for_all=32,
    pull_threshold_for_queue=6), TOPIC, share=(2, 0), work_ms=2_000)
BY_SQL = by_sql(
    f"(TAGS IN ('{TAGS[0]}', 'grey') AND weight BETWEEN 3 AND 4 AND weight BETWEEN 2.5 AND 3 AND weight >= 3 "
    "AND weight <= 3 AND weight > -4 AND weight < 3.5 AND NOT (weight <> 3) AND size IS NULL AND weight IS NOT NULL) "
    "OR (weight = 3 AND weight > 3) OR weight < 3 OR weight >= 3.5 OR weight BETWEEN 4 AND 5 OR size IS NOT NULL "
    "OR size = 1 OR size <> 1 OR NOT (size = 1) OR size NOT IN ('1', '2') OR size > 0 OR size BETWEEN 0 AND 9 "
    f"OR (TAGS NOT IN ('{TAGS[1]}', '{TAGS[2]}', '{TAGS[0]}')) OR TAGS = 'grey' OR FALSE")
"""It selects what has the first tag, by each operator once where it is true, and once where it is not, or unknown."""
SELECTING = replace(FROM_FIRST, consumer_group=OTHER_GROUP, subscription={TOPIC: BY_SQL})
IN_ONE_ROOM = replace(ONE, strategy=AllocateMessageQueueByMachineRoom(frozenset(ROOMS[1:])))
"""Members of GROUP with this strategy read at the second broker only."""
