"""Workloads: which machines there are, and what people do with them while anything may fail.

Once in each PERIOD_MS, at the rate RATE, one pick chooses among the deeds of the workload (choice 0: nothing); more
picks choose where. A deed that finds nothing to do does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from impl.broker.consumer_offset_manager import topic_at_group
from impl.broker.given_message_store import QueueRange
from impl.client.push_consumer import PushConsumerConfig
from impl.common.heartbeat_data import BROADCASTING
from impl.common.topic_config import TopicConfig
from impl.decisions.allocation import AllocateMessageQueueByMachineRoom
from impl.decisions.names import get_retry_topic
from impl.decisions.start_offset import ConsumeFromWhere
from impl.hash_map import ConcurrentHashMap
from impl.hosts.simulation.clock import EPOCH_MS
from invariants.verdict import BadInputError
from stateful_tests.worlds.deeds import (
    BROKERS,
    GROUP,
    HOUR_MS,
    OPERATOR,
    OTHER_TOPIC,
    TOPIC,
    ask_for_clusters,
    ask_who_consumes,
    change_expression,
    consume,
    create_topic,
    delete_group,
    delete_old_messages,
    join,
    leave,
    leave_any,
    overload,
    promote,
    reset_offsets,
    stop_broker,
    stop_one,
    subscribe,
    subscribe_nothing,
    suspend_or_resume,
    switch,
    switch_off,
    unsubscribe,
    wipe_write_permission,
)
from stateful_tests.worlds.world import World

PERIOD_MS, RATE = 5_000, 2
CONSUMERS, SPARE = ("consumer1", "consumer2", "consumer3"), ("consumer4", "consumer5")
OTHER_GROUP = "H"
ROOMS = ("east", "west")

COMMITTED = 100
"""What the group has read of each queue before; another group has read ten more."""
STORED = QueueRange(0, 1_000, on_disk=True, stored=((EPOCH_MS - HOUR_MS, 20), (EPOCH_MS, 60)))
"""What is in each queue: where it begins and ends, and what was stored when."""

Deed = Callable[[World], "tuple[str, str] | None"]
"""Does something and says to whom and what; None: there was nothing to do."""


@dataclass(frozen=True)
class Workload:
    """What happens besides faults.

    name, sentence -- for people. build -- adds the machines to an empty world. deeds -- what is chosen from, as often
    as it stands there. storm_ms -- how long anything may fail. promises -- names of what must come true afterwards.
    groups -- group and topic that are followed. scopes -- names of the enumerable scopes that it stays in, mostly; see
    `invariants.refinement.coverage`.
    """

    name: str
    sentence: str
    build: Callable[[World], None]
    deeds: tuple[Deed, ...]
    promises: tuple[str, ...]
    groups: tuple[tuple[str, str], ...] = ((GROUP, TOPIC),)
    scopes: tuple[str, ...] = ()
    storm_ms: int = 120_000


async def traffic(world: World, deeds: Sequence[Deed]) -> None:
    """Do deeds until the world has healed; run it as a thread of `kernel.world`."""
    kernel = world.simulation.kernel
    while True:
        await kernel.world.sleep(PERIOD_MS)
        if world.healed:
            return
        before = len(kernel.tape.choices)
        chosen = kernel.tape.pick(len(deeds) + 1, "", RATE)
        if chosen:
            deed = deeds[chosen - 1]
            done = deed(world) or ("world", f"{deed.__name__}: there was nothing to do")
            if kernel.tape.telling:
                kernel.tape.tell(kernel.now_ms, *done, since=before)


# Worlds ---------------------------------------------------------------------------------------------------------------


def servers(
    world: World, *, slaves: bool = False, stored: QueueRange | None = None, rooms: Sequence[str] = ("", ""),
) -> None:
    """Two name servers, two masters with two topics, perhaps a slave each, and an operator's machine.

    stored -- what is in each queue of the masters. rooms -- what the names of the masters begin with.
    """
    for name in ("nameserver1", "nameserver2"):
        world.add_namesrv(name)
    topics = [TopicConfig(TOPIC, 4, 4), TopicConfig(OTHER_TOPIC, 2, 2)]
    if stored is not None:
        world.stored = stored
        topics.append(TopicConfig(get_retry_topic(GROUP), 1, 1))
    for machine, room in zip(BROKERS, rooms, strict=True):
        world.add_broker(machine, f"{room}{machine}", topics=topics)
    for machine in BROKERS if slaves else ():
        world.add_broker(f"{machine}-slave", machine, topics=topics, broker_id=1)
    world.add_tester(OPERATOR)
    world.run(100)


def clustering(world: World) -> None:
    """One topic, concurrent listeners."""
    _group(world, PushConsumerConfig(GROUP, {TOPIC: "*"}))


def orderly(world: World) -> None:
    """One topic, orderly listeners."""
    _group(world, PushConsumerConfig(GROUP, {TOPIC: "*"}, orderly=True))


def two_groups(world: World) -> None:
    """Two groups in each process, over one connection."""
    _group(world, PushConsumerConfig(GROUP, {TOPIC: "*"}), PushConsumerConfig(OTHER_GROUP, {OTHER_TOPIC: "*"}))


def broadcasting(world: World) -> None:
    """Everybody has every queue, and begins with the oldest message."""
    servers(world, stored=STORED)
    first = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
    _members(world, PushConsumerConfig(GROUP, {TOPIC: "*"}, message_model=BROADCASTING, consume_from_where=first))


def _have_read(world: World, topics: Sequence[str], groups: Sequence[str] = (GROUP,)) -> None:
    """Let groups have read old queues of topics, the first one up to COMMITTED, each other one 10 more."""
    for machine in BROKERS:
        controller = world.brokers[machine]
        for topic in topics:
            for more, group in enumerate(groups):
                offsets = ConcurrentHashMap(32, [(queue_id, COMMITTED + 10 * more) for queue_id in range(8)])
                controller.consumer_offset_manager.offset_table.put(topic_at_group(topic, group), offsets)
        controller.persist_consumer_offset()


def read_before(world: World, *, orderly: bool = False) -> None:
    """A group that has read old queues up to COMMITTED, and goes on."""
    servers(world, stored=STORED)
    _have_read(world, [TOPIC])
    _members(world, PushConsumerConfig(GROUP, {TOPIC: "*"}, orderly=orderly))


def read_in_order(world: World) -> None:
    """The same with orderly listeners."""
    read_before(world, orderly=True)


def one_topic(world: World) -> None:
    """Two groups of orderly listeners that have read one topic, and go on, in the same processes."""
    servers(world, stored=STORED)
    _have_read(world, [TOPIC], [GROUP, OTHER_GROUP])
    _members(world, *(PushConsumerConfig(group, {TOPIC: "*"}, orderly=True) for group in (GROUP, OTHER_GROUP)))


def two_topics(world: World) -> None:
    """A group that has read two topics up to COMMITTED, and goes on."""
    servers(world, stored=STORED)
    _have_read(world, [TOPIC, OTHER_TOPIC])
    _members(world, PushConsumerConfig(GROUP, {TOPIC: "*", OTHER_TOPIC: "*"}))


def rooms(world: World) -> None:
    """Each broker stands in a room of its own, and members are to read in the first room only."""
    servers(world, rooms=[f"{room}@" for room in ROOMS])
    strategy = AllocateMessageQueueByMachineRoom(frozenset(ROOMS[1:]))
    _members(world, PushConsumerConfig(GROUP, {TOPIC: "*"}, strategy=strategy))


def one_instance(world: World) -> None:
    """Two groups in each process, with one instance name: one client, one connection to each broker."""
    servers(world)
    configs = (PushConsumerConfig(GROUP, {TOPIC: "*"}), PushConsumerConfig(OTHER_GROUP, {OTHER_TOPIC: "*"}))
    _members(world, *configs, instance_name="shop")


def containers(world: World) -> None:
    """Each process believes to have the address and name that all others have, too."""
    servers(world)
    _members(world, PushConsumerConfig(GROUP, {TOPIC: "*"}), client_ip="172.17.0.2", instance_name="shop")


def routes(world: World) -> None:
    """Masters and slaves, and two clients that want to know where they are."""
    servers(world, slaves=True)
    for machine in CONSUMERS[:2]:
        world.add_consumer(machine, PushConsumerConfig(GROUP, {TOPIC: "*"}))


def smallest(world: World) -> None:
    """A broker with two queues, and two processes."""
    _smallest(world, BROKERS[:1])


def smallest_ordered(world: World) -> None:
    """The same with orderly listeners, and a second broker: it has the topic without a queue, and lists members."""
    _smallest(world, BROKERS, orderly=True)


def _smallest(world: World, brokers: Sequence[str], *, orderly: bool = False) -> None:
    """So few machines that all states of a model can be enumerated; as shipped, a new process keeps its client id."""
    world.add_namesrv("nameserver1")
    for machine, queues in zip(brokers, (2, 0), strict=False):
        world.add_broker(machine, machine, topics=[TopicConfig(TOPIC, queues, queues)])
    world.run(100)
    for machine in CONSUMERS[:2]:
        world.add_consumer(machine, PushConsumerConfig(GROUP, {TOPIC: "*"}, orderly=orderly), instance_name="shop")


def _group(world: World, *configs: PushConsumerConfig) -> None:
    servers(world)
    _members(world, *configs)


def _members(world: World, *configs: PushConsumerConfig, **settings: Any) -> None:
    for machine in CONSUMERS:
        world.add_consumer(machine, *configs, **settings)
    for machine in SPARE:
        world.add_consumer(machine, *configs, idle=True, **settings)


_ROUTES = ("every_name_server_learns", "full_registration_installs_all_topics", "dead_broker_is_dropped",
           "route_cache_becomes_true")
_GROUPS = (*_ROUTES, "list_is_exactly_the_living", "pull_finds_its_subscription", "ownership_converges")

WORKLOADS: dict[str, Workload] = {workload.name: workload for workload in (
    Workload("clustering", "Members of one group come and go.", clustering,
             (join, leave, suspend_or_resume, create_topic), _GROUPS),
    Workload("orderly", "Members of a group of orderly listeners come and go.", orderly,
             (join, leave, create_topic), (*_GROUPS, "abandoned_lock_is_freed")),
    Workload("subscriptions", "Members change what they subscribe, all of them, one after another.", clustering,
             (subscribe, unsubscribe, subscribe_nothing, change_expression, join, leave), _GROUPS),
    Workload("groups", "Two groups share each client.", two_groups, (join, leave),
             _GROUPS, ((GROUP, TOPIC), (OTHER_GROUP, OTHER_TOPIC))),
    Workload("broadcasting", "Every member has every queue, and gets every message.", broadcasting,
             (consume, consume, delete_old_messages, join, leave, create_topic),
             (*_ROUTES, "list_is_exactly_the_living"), ()),
    Workload("routes", "Brokers stop and start, topics change.", routes,
             (stop_broker, stop_broker, create_topic), _GROUPS),
    Workload("listeners", "Messages arrive; members come and go.", read_before,
             (consume, consume, consume, overload, join, leave), _GROUPS),
    Workload("ordered_listeners", "Messages arrive in order; members come and go.", read_in_order,
             (consume, consume, consume, join, leave), (*_GROUPS, "abandoned_lock_is_freed")),
    Workload("resets", "Operators send the group back while messages arrive.", read_before,
             (reset_offsets, reset_offsets, consume, join, leave), _GROUPS),
    Workload("promotion", "Masters die for good, and their slaves take their places.", routes,
             (promote, switch, switch_off, create_topic, ask_for_clusters), _GROUPS),
    Workload("shared", "Two groups share one client of each process, and one of them stops.", one_instance,
             (stop_one, join, leave), _GROUPS, ((GROUP, TOPIC), (OTHER_GROUP, OTHER_TOPIC))),
    Workload("containers", "Processes have equal addresses and instance names.", containers,
             (join, leave), _GROUPS),
    Workload("one_topic", "Two groups read one topic, both in order.", one_topic,
             (consume, consume, consume, join, leave), (*_GROUPS, "abandoned_lock_is_freed"),
             ((GROUP, TOPIC), (OTHER_GROUP, TOPIC))),
    Workload("operators", "Operators delete groups, stop brokers, wipe permissions, and look at it all.", two_topics,
             (delete_group, delete_group, stop_broker, stop_broker, wipe_write_permission, ask_for_clusters,
              ask_who_consumes, switch_off, consume, consume, join, leave), _GROUPS),
    Workload("rooms", "Members read in one room only.", rooms, (join, leave, create_topic), _GROUPS, ()),
    Workload("smallest", "Two members of a group at one broker come and go.", smallest,
             (join, join, leave_any, suspend_or_resume, stop_broker), _GROUPS, scopes=("group, 1 broker",)),
    Workload("smallest_ordered", "Two members with orderly listeners at two brokers come and go.", smallest_ordered,
             (join, join, leave_any, stop_broker), (*_GROUPS, "abandoned_lock_is_freed"),
             scopes=("group, 2 brokers", "order lock")),
)}
"""By name."""


def workload_named(name: str) -> Workload:
    """A workload of the table; raises BadInputError for another name."""
    if name not in WORKLOADS:
        raise BadInputError(f"no workload {name!r}; there are {', '.join(WORKLOADS)}")
    return WORKLOADS[name]
