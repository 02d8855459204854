"""Workloads: which machines there are, and what people do with them while anything may fail.

Once in each PERIOD_MS, at the rate RATE, one pick chooses among the deeds of the workload (choice 0: nothing); more
picks choose where. A deed that finds nothing to do does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import cycle, product
from typing import Any

from impl.broker.consumer_offset_manager import topic_at_group
from impl.client.lite_pull_consumer_config import LitePullConsumerConfig
from impl.client.producer_config import ProducerConfig
from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.heartbeat_data import BROADCASTING
from impl.common.message_selector import by_sql
from impl.common.topic_config import TopicConfig
from impl.decisions.allocation import AllocateMessageQueueByMachineRoom
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import get_retry_topic
from impl.decisions.start_offset import ConsumeFromWhere
from impl.hash_map import ConcurrentHashMap
from impl.store.message_store_config import BrokerRole, FlushDiskType
from invariants.concepts import FOLLOWED
from invariants.refinement.follower import Follower
from stateful_tests.worlds import deeds
from stateful_tests.worlds.deeds import BROKERS, GROUP, OLD_TOPIC, OPERATOR, OTHER_TOPIC, PAST_MS, TOPIC
from stateful_tests.worlds.listeners import EXCEPTION, LATER, NEVER, NULL, POISON
from stateful_tests.worlds.machines import STORE
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

PERIOD_MS, RATE = 5_000, 2
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
OLD = replace(
    STORE, mapped_file_size_commit_log=8 * 1024, configured_file_size_consume_queue=400, max_message_size=4 * 1024,
    total_physical_memory_bytes=40 * 1024)
"""Their store: its files are so small that some have nothing but old messages, and memory has the new ones only."""

FAILS = (POISON, POISON, EXCEPTION, EXCEPTION, LATER, LATER, NULL, NULL)
"""What becomes of so many messages, of as many as are drawn from."""

_REFINEMENTS = {concept.name: import_module(f"invariants.refinement.{concept.name}") for concept in FOLLOWED}


@dataclass(frozen=True)
class Workload:
    """What happens besides faults.

    name, sentence -- for people. build -- adds the machines to an empty world. deeds -- what is chosen from, as often
    as it stands there. storm_ms -- how long anything may fail. promises -- names of what must come true afterwards.
    groups -- group and topic that are followed. concepts -- whose models follow; None: all. scopes -- names of the
    enumerable scopes that it stays in, mostly; see `invariants.refinement.coverage`. observed -- names of the checks of
    histories that judge what its applications note.
    """

    name: str
    sentence: str
    build: Callable[[World], None]
    deeds: tuple[Callable[[World], deeds.Done], ...]
    promises: tuple[str, ...]
    groups: tuple[tuple[str, str], ...] = ((GROUP, TOPIC),)
    scopes: tuple[str, ...] = ()
    storm_ms: int = 120_000
    concepts: tuple[str, ...] | None = None
    observed: tuple[str, ...] = ()

    def followers(self, world: World) -> list[Follower]:
        """The models that follow a world of this workload, concept by concept: its machines, and each of the groups."""
        refined = (_REFINEMENTS[name] for name in (_REFINEMENTS if self.concepts is None else self.concepts))
        return [one for module in refined for one in module.followers(world, self.groups, self.scopes)]


async def traffic(world: World, chosen_from: Sequence[Callable[[World], deeds.Done]]) -> None:
    """Do deeds until the world has healed; run it as a thread of `kernel.world`."""
    kernel = world.simulation.kernel
    while True:
        await kernel.world.sleep(PERIOD_MS)
        if world.healed:
            return
        before = len(kernel.tape.choices)
        chosen = kernel.tape.pick(len(chosen_from) + 1, "", RATE)
        if chosen:
            deed = chosen_from[chosen - 1]
            try:
                done = deed(world)
            except deeds.NothingToDoError:
                done = "world", f"{deed.__name__}: there was nothing to do"
            if kernel.tape.telling:
                kernel.tape.tell(kernel.now_ms, *done, since=before)


# Worlds ---------------------------------------------------------------------------------------------------------------


def servers(
    world: World, *, slaves: int = 0, past: Past | None = None, rooms: Sequence[str] = ("", ""), namesrvs: int = 2,
    more: Sequence[TopicConfig] = (), **settings: Any,
) -> None:
    """So many name servers, two masters with two topics, so many slaves of each, and an operator's machine.

    past -- what the masters have stored before. rooms -- what the names of the masters begin with. more -- topics
    that they have besides. settings -- fields of BrokerConfig.
    """
    for number in range(namesrvs):
        world.add_namesrv(f"nameserver{number + 1}")
    topics = [TopicConfig(TOPIC, 4, 4), TopicConfig(OTHER_TOPIC, 2, 2), *more]
    if past is not None:
        world.store_config = OLD
        topics.append(TopicConfig(get_retry_topic(GROUP), 1, 1))
    for machine, room in zip(BROKERS, rooms, strict=True):
        world.add_broker(machine, f"{room}{machine}", topics=topics, past=past, **settings)
    for broker_id, machine in product(range(1, slaves + 1), BROKERS):
        name = f"{machine}-slave{'' if broker_id == 1 else broker_id}"
        world.add_broker(name, machine, topics=topics, broker_id=broker_id, **settings)
    world.add_tester(OPERATOR)
    world.run(100)


def members(
    *configs: PushConsumerConfig, stored: bool = False, read: bool = False, rooms: Sequence[str] = ("", ""),
    namesrvs: int = 2, **settings: Any,
) -> Callable[[World], None]:
    """A world of servers, and of processes that all run these consumers; two of the processes do so from a deed on.

    stored -- there are old messages in the queues. read -- the groups have read them up to COMMITTED, each group 4
    more than the one before. rooms, namesrvs -- see `servers`. settings -- fields of ClientConfig.
    """

    def build(world: World) -> None:
        servers(world, past=PAST if stored or read else None, rooms=rooms, namesrvs=namesrvs)
        for broker in BROKERS if read else ():
            _have_read(world, broker, configs)
        for machine in (*CONSUMERS, *SPARE):
            world.add_consumer(machine, *configs, idle=machine in SPARE, **settings)

    return build


def _have_read(world: World, broker: str, configs: Sequence[PushConsumerConfig]) -> None:
    offset_manager = world.brokers[broker].consumer_offset_manager
    for more, config in enumerate(configs):
        for topic in config.subscription:
            offsets = ConcurrentHashMap(32, [(queue_id, COMMITTED + 4 * more) for queue_id in range(8)])
            offset_manager.offset_table.put(topic_at_group(topic, config.consumer_group), offsets)
    world.brokers[broker].persist_consumer_offset()


def administered(world: World) -> None:
    """Members of a group, and operators who make a topic that nobody uses."""
    members(ONE)(world)
    for broker in BROKERS:
        deeds.make_topic(world, broker, OLD_TOPIC, 1)


def routes(world: World) -> None:
    """Masters and slaves, and two clients that want to know where they are."""
    servers(world, slaves=1)
    for machine in CONSUMERS[:2]:
        world.add_consumer(machine, ONE)


def stored(
    flush_disk_type: FlushDiskType, *configs: PushConsumerConfig, fates: Sequence[str] = (),
    broker_role: BrokerRole = BrokerRole.ASYNC_MASTER, slaves: int = 0,
) -> Callable[[World], None]:
    """A world in which brokers keep messages, a producer sends them, and members of a group pull them.

    configs -- of each member; none: of a group that begins at the first message. fates -- what may become of messages.
    broker_role -- of the masters. slaves -- how many each has, which copy its log.
    """

    def build(world: World) -> None:
        world.store_config = replace(STORE, flush_disk_type=flush_disk_type, broker_role=broker_role)
        world.fates = tuple(fates)
        servers(world, slaves=slaves)
        for machine in (*CONSUMERS[:2], *SPARE[:1]):
            world.add_consumer(machine, *(configs or (FROM_FIRST,)), idle=machine in SPARE)
        world.add_producer(PRODUCER, Sending(TOPIC))

    return build


def filtered(world: World) -> None:
    """A world like `stored`, whose messages have tags: one group subscribes some of them, another filters by SQL92."""
    world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)
    world.selected = {BY_SQL: TAGS[0]}
    servers(world, enable_property_filter=True)
    for machine in (*CONSUMERS[:2], *SPARE[:1]):
        world.add_consumer(machine, TAGGED, SELECTING, idle=machine in SPARE)
    world.add_producer(PRODUCER, Sending(TOPIC, tags=TAGS))


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


def requests(world: World) -> None:
    """A world in which applications ask, and others reply, most of them in time."""
    servers(world)
    for machine in CONSUMERS[:2]:
        world.add_consumer(machine, FROM_FIRST, replies=True)
    for number in range(2):
        world.add_producer(f"producer{number + 1}", Sending(TOPIC, (ASK, ASK_LATER)))


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
PARCELS = Sending("parcels", (SYNC, ASYNC, TOGETHER_ASYNC), queue_nums=2,
                  config=ProducerConfig("P", default_topic_queue_nums=2))
ONE = PushConsumerConfig(GROUP, {TOPIC: "*"})
ORDERLY = replace(ONE, orderly=True)
BOTH_TOPICS = replace(ONE, subscription={TOPIC: "*", OTHER_TOPIC: "*"})
OTHER = PushConsumerConfig(OTHER_GROUP, {OTHER_TOPIC: "*"})
TO_ALL = replace(ONE, message_model=BROADCASTING, consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
FROM_FIRST = replace(ONE, consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
RETRIED = replace(FROM_FIRST, max_reconsume_times=2, consume_timeout_minutes=1)
RETRIED_IN_ORDER = replace(RETRIED, orderly=True, max_reconsume_times=3)
TAGGED = replace(FROM_FIRST, subscription={TOPIC: f"{TAGS[0]} || {TAGS[1]}"})
TAGGED_ANEW = replace(FROM_FIRST, subscription={TOPIC: f"{TAGS[1]} || {TAGS[2]}"})
WITH_INVOICES = replace(FROM_FIRST, subscription={TOPIC: "*", OTHER_TOPIC: "*"})
POLLING = Pulling(LitePullConsumerConfig(GROUP, consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET), TOPIC)
ASSIGNING = replace(POLLING, config=replace(POLLING.config, consumer_group=OTHER_GROUP, auto_commit=False))
CLOSE_TOGETHER = replace(FROM_FIRST, consume_concurrently_max_span=5)
FEW_OF_A_TOPIC = replace(FROM_FIRST, consumer_group=OTHER_GROUP, pull_threshold_for_topic=20)
FEW_TO_POLL = Pulling(LitePullConsumerConfig(
    "L", consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, pull_batch_size=4, pull_threshold_for_all=32,
    pull_threshold_for_queue=6), TOPIC, share=(2, 0), work_ms=2_000)
BY_SQL = by_sql(f"TAGS = '{TAGS[0]}'")
SELECTING = replace(FROM_FIRST, consumer_group=OTHER_GROUP, subscription={TOPIC: BY_SQL})
IN_ONE_ROOM = replace(ONE, strategy=AllocateMessageQueueByMachineRoom(frozenset(ROOMS[1:])))
"""Members of GROUP with this strategy read at the second broker only."""

_ROUTES = ("every_name_server_learns", "full_registration_installs_all_topics", "dead_broker_is_dropped",
           "route_cache_becomes_true")
_GROUPS = (*_ROUTES, "list_is_exactly_the_living", "pull_finds_its_subscription", "ownership_converges")
_REPLICATED = (*_GROUPS, "lagging_slave_catches_up")
_ORDERED = (*_GROUPS, "abandoned_lock_is_freed")
_TAKEN = ("phantom", "duplicated", "regressed", "skipped", "two_owners")
_PLAIN = ("lost", *_TAKEN)
"""Checks of what everybody observes who sends and consumes messages; the first where nobody is told where they are."""
_COME_AND_GO, _CONSUME = (deeds.join, deeds.leave), (deeds.consume,) * 3

_RENAMED = ("every_name_server_learns", "dead_broker_is_dropped")
"""A model knows a broker by its name, and so do the promises about its topics."""
_TWO_GROUPS = (GROUP, TOPIC), (OTHER_GROUP, OTHER_TOPIC)

WORKLOADS: dict[str, Workload] = {workload.name: workload for workload in (
    Workload("clustering", "Members of one group come and go.", members(ONE),
             (deeds.join, deeds.leave, deeds.suspend_or_resume, deeds.create_topic), _GROUPS),
    Workload("orderly", "Members of a group of orderly listeners come and go.", members(ORDERLY),
             (deeds.join, deeds.leave, deeds.create_topic), _ORDERED),
    Workload("subscriptions", "Members change what they subscribe, all of them, one after another.", members(ONE),
             (deeds.subscribe, deeds.unsubscribe, deeds.subscribe_nothing, deeds.change_expression, *_COME_AND_GO),
             _GROUPS),
    Workload("groups", "Two groups share each client.", members(ONE, OTHER), _COME_AND_GO, _GROUPS, _TWO_GROUPS),
    Workload("broadcasting", "Every member has every queue, and gets every message.", members(TO_ALL, stored=True),
             (deeds.consume, deeds.consume, deeds.delete_old_messages, *_COME_AND_GO, deeds.create_topic),
             (*_ROUTES, "list_is_exactly_the_living"), ()),
    Workload("routes", "Brokers stop and start, topics change.", routes,
             (deeds.stop_broker, deeds.stop_broker, deeds.create_topic), _GROUPS),
    Workload("listeners", "Messages arrive; members come and go.", members(ONE, read=True),
             (*_CONSUME, deeds.overload, *_COME_AND_GO), _GROUPS),
    Workload("ordered_listeners", "Messages arrive in order; members come and go.", members(ORDERLY, read=True),
             (*_CONSUME, *_COME_AND_GO), _ORDERED),
    Workload("resets", "Operators send the group back while messages arrive.", members(ONE, read=True),
             (deeds.reset_offsets, deeds.reset_offsets, deeds.consume, *_COME_AND_GO), _GROUPS),
    Workload("promotion", "Masters die for good, and their slaves take their places.", routes,
             (deeds.promote, deeds.switch, deeds.switch_off, deeds.create_topic, deeds.ask_for_clusters), _GROUPS),
    Workload("shared", "Two groups share one client of each process, and one of them stops.",
             members(ONE, OTHER, instance_name="shop"), (deeds.stop_one, *_COME_AND_GO), _GROUPS, _TWO_GROUPS),
    Workload("ordered_resets", "Operators send a group back that reads in order, while messages arrive.",
             members(ORDERLY, read=True), (*(deeds.reset_offsets,) * 2, *_CONSUME, *_COME_AND_GO), _ORDERED),
    Workload("slave_reads", "Slaves are read as long as a group is far behind.", slave_reads,
             (*_CONSUME, *_COME_AND_GO, deeds.stop_broker), _GROUPS),
    Workload("containers", "Processes have equal addresses and instance names.",
             members(ONE, client_ip="172.17.0.2", instance_name="shop"), _COME_AND_GO, _GROUPS),
    Workload("one_topic", "Two groups read one topic, both in order.",
             members(ORDERLY, replace(ORDERLY, consumer_group=OTHER_GROUP), read=True),
             (*_CONSUME, *_COME_AND_GO), _ORDERED, ((GROUP, TOPIC), (OTHER_GROUP, TOPIC))),
    Workload("operators", "Operators delete groups, stop brokers, wipe permissions, and look at it all.",
             members(BOTH_TOPICS, read=True),
             (deeds.delete_group, deeds.delete_group, deeds.stop_broker, deeds.stop_broker, deeds.wipe_write_permission,
              deeds.ask_for_clusters, deeds.ask_who_consumes, deeds.switch_off, deeds.consume, deeds.consume,
              *_COME_AND_GO), _GROUPS),
    Workload("administered", "Operators set up topics, groups, keys and permissions, and start servers again.",
             administered, (*(deeds.administer,) * 6, deeds.stop_broker, deeds.restart_name_server), _GROUPS),
    Workload("rooms", "Members read in one room only.", members(IN_ONE_ROOM, rooms=[f"{room}@" for room in ROOMS]),
             (*_COME_AND_GO, deeds.create_topic), _GROUPS, ()),
    Workload("stored", "Messages are sent, kept on disks that are flushed now and then, and pulled.",
             stored(FlushDiskType.ASYNC_FLUSH), (*_COME_AND_GO, deeds.stop_broker), _GROUPS, observed=_PLAIN),
    Workload("stored_sync", "Messages are sent, and acknowledged when the disk has them.",
             stored(FlushDiskType.SYNC_FLUSH), (*_COME_AND_GO, deeds.stop_broker), _GROUPS, observed=_PLAIN),
    Workload("stored_retry", "Listeners fail now and then, with some messages always, and sometimes do not return.",
             stored(FlushDiskType.SYNC_FLUSH, RETRIED, fates=(*FAILS, NEVER)), (*_COME_AND_GO, deeds.stop_broker),
             (*_GROUPS, "every_message_is_settled"), observed=(*_PLAIN, "dead_letter")),
    Workload("stored_orderly", "Listeners that work in order fail now and then, with some messages always.",
             stored(FlushDiskType.SYNC_FLUSH, RETRIED_IN_ORDER, fates=FAILS), (*_COME_AND_GO, deeds.stop_broker),
             (*_ORDERED, "every_message_is_settled"), observed=(*_PLAIN, "reordered", "dead_letter")),
    Workload("stored_broadcast", "Every member is given every message that is sent, and some fail.",
             stored(FlushDiskType.SYNC_FLUSH, TO_ALL, fates=FAILS), (*_COME_AND_GO, deeds.stop_broker),
             (*_ROUTES, "list_is_exactly_the_living", "broadcast_reaches_everyone"), ()),
    Workload("sending", "Messages are sent in all ways, by producers that choose their queues.",
             sending(Sending(TOPIC, (SYNC, ASYNC, ONEWAY, TOGETHER)), latency_aware(Sending(TOPIC, (SYNC, ASYNC)))),
             (deeds.stop_broker,), _GROUPS, observed=_PLAIN),
    Workload("sending_in_order", "Messages of one key are sent one after the other, into the queue of the key.",
             sending(Sending(TOPIC, (ORDERED,))), (deeds.stop_broker, deeds.create_topic), _GROUPS,
             observed=(*_PLAIN, "reordered")),
    Workload("sending_anyhow", "Messages are sent in every way there is, also illegal ones, with a namespace, and to a "
             "topic that is made for them.", sending_anyhow, (deeds.stop_broker,), _GROUPS,
             ((GROUP, ANYHOW.full_topic),), observed=_PLAIN),
    Workload("requests", "Applications ask over messages, and others reply, most of them in time.", requests,
             (deeds.stop_broker,), _GROUPS, observed=("phantom",)),
    Workload("leaving", "Members come and go while messages are sent; brokers and slaves stop and start.", leaving,
             (*(deeds.join,) * 2, *(deeds.leave_between,) * 3, deeds.stop_broker), _GROUPS, observed=_PLAIN),
    Workload("transactions", "Half messages are committed, rolled back, or left to the brokers' check.",
             sending(Sending(TOPIC, (IN_TRANSACTION,), immunity_seconds=10, transaction_ms=TRANSACTION_MS, tags=TAGS,
                             half_delay_level=2),
                     Sending(TOPIC, (IN_TRANSACTION, SYNC), transaction_ms=TRANSACTION_MS), transactions=True),
             (deeds.stop_broker,), (*_GROUPS, "check_passes_every_half_message", "half_message_ends_at_last"),
             observed=(*_PLAIN, "unresolved", "transaction_reordered")),
    Workload("undecided", "Brokers ask three times about half messages of which nobody knows, and give them up.",
             sending(Sending(TOPIC, (IN_TRANSACTION,), transaction_ms=TRANSACTION_MS, undecided=True),
                     transactions=True, check_max=3),
             (), (*_GROUPS, "check_passes_every_half_message"), observed=_TAKEN),
    Workload("filtered", "Messages have tags, of which two groups subscribe some, one by SQL92.",
             filtered, (*_COME_AND_GO, deeds.stop_broker), _GROUPS, observed=(*_PLAIN, "misfiltered")),
    Workload("other_tags", "A roll-out has stopped half way: its members subscribe other tags of the topic.",
             versions(FROM_FIRST, TAGGED, TAGGED_ANEW, sendings=[Sending(TOPIC, tags=TAGS)]),
             (*_COME_AND_GO, deeds.stop_broker), _GROUPS, observed=(*_PLAIN, "misfiltered")),
    Workload("other_topics", "A roll-out has stopped half way: its members subscribe a topic more.",
             versions(FROM_FIRST, WITH_INVOICES, sendings=[Sending(TOPIC), Sending(OTHER_TOPIC)]),
             (*_COME_AND_GO, deeds.stop_broker), (*_GROUPS, "every_message_is_settled"), observed=_PLAIN),
    Workload("polled", "Applications poll with lite pull consumers: they subscribe or assign, commit, seek and rest.",
             polled, (*_COME_AND_GO, deeds.stop_broker), _ROUTES, (), observed=("lost", "phantom")),
    Workload("throttled", "Members cache little, and their listeners are slow; there is much to be read.",
             throttled, (*_CONSUME, *_COME_AND_GO),
             (*_ROUTES, "pull_finds_its_subscription", "ownership_converges"), ((GROUP, TOPIC), (OTHER_GROUP, TOPIC))),
    Workload("delayed", "Messages are to be delivered some seconds after they were sent.",
             sending(Sending(TOPIC, delay_levels=(0, 1, 2, 3, 4)), flush_disk_type=FlushDiskType.SYNC_FLUSH),
             (deeds.stop_broker,), (*_GROUPS, "delayed_message_comes_at_last"),
             observed=(*_TAKEN, "early")),
    Workload("resized", "Operators give a topic more queues to write to, and fewer; messages are sent all the while.",
             stored(FlushDiskType.SYNC_FLUSH), (*_COME_AND_GO, deeds.resize_topic, deeds.resize_topic),
             (*_GROUPS, "every_message_is_settled"), observed=_PLAIN),
    Workload("replicated", "Messages are sent, and slaves copy what masters have; a slave takes its master's place.",
             stored(FlushDiskType.ASYNC_FLUSH, slaves=1),
             (*_COME_AND_GO, deeds.stop_broker, deeds.promote, deeds.switch), _REPLICATED),
    Workload("replicated_sync", "Messages are sent, and acknowledged when a slave has them.",
             stored(FlushDiskType.ASYNC_FLUSH, broker_role=BrokerRole.SYNC_MASTER, slaves=1),
             (*_COME_AND_GO, deeds.stop_broker), _REPLICATED),
    Workload("two_slaves", "Messages are sent, and acknowledged when one of two slaves has them.",
             stored(FlushDiskType.ASYNC_FLUSH, broker_role=BrokerRole.SYNC_MASTER, slaves=2),
             (*_COME_AND_GO, deeds.stop_broker), _REPLICATED, concepts=("replication",)),
    Workload("asked", "Operators ask for messages by their keys, and send the group to the end, or on by force.",
             sending(Sending(TOPIC, (ORDERED, SYNC))),
             (*(deeds.ask_for_a_key,) * 4, *(deeds.reset_by_force,) * 2, deeds.stop_broker), _GROUPS),
    Workload("renaming", "Brokers are given other names, and members come and go.", members(ONE),
             (deeds.rename_broker, deeds.rename_broker, deeds.stop_broker, deeds.create_topic, *_COME_AND_GO),
             _RENAMED, (), storm_ms=300_000, concepts=()),
    Workload("name_servers", "Clients are told that name servers have gone.",
             members(ONE, namesrvs=3), (*(deeds.move_name_servers,) * 2, *_COME_AND_GO), _GROUPS),
    Workload("smallest", "Two members of a group at one broker come and go.", smallest(ONE, 2),
             (deeds.join, deeds.join, deeds.leave_any, deeds.suspend_or_resume, deeds.stop_broker), _GROUPS,
             scopes=("group, 1 broker",)),
    # The second broker has the topic without a queue, and lists members.
    Workload("smallest_ordered", "Two members with orderly listeners at two brokers come and go.",
             smallest(ORDERLY, 2, 0), (deeds.join, deeds.join, deeds.leave_any, deeds.stop_broker), _ORDERED,
             scopes=("group, 2 brokers", "order lock")),
)}
"""By name."""
