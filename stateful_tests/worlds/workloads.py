"""Workloads: which machines there are, and what people do with them while anything may fail.

Once in each PERIOD_MS, at the rate RATE, one pick chooses among the deeds of the workload (choice 0: nothing); more
picks choose where. A deed that finds nothing to do does nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from impl.broker.consumer_offset_manager import topic_at_group
from impl.broker.queue_offsets import QueueRange
from impl.client.mq_client_instance import SHUTDOWN_ALREADY
from impl.client.push_consumer import PushConsumerConfig
from impl.common.headers import CreateTopicRequestHeader, ResetOffsetRequestHeader
from impl.common.heartbeat_data import BROADCASTING
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfig
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.decisions.java_errors import JavaError
from impl.decisions.names import get_retry_topic
from impl.events import ClusterInfoFetched, OffsetsReset
from impl.hash_map import ConcurrentHashMap
from impl.hosts.simulation.clock import EPOCH_MS
from impl.node_ports import Command
from invariants.verdict import BadInputError
from stateful_tests.worlds.listeners import work
from stateful_tests.worlds.world import World

PERIOD_MS, RATE = 5_000, 2
BROKERS = ("broker-a", "broker-b")
CONSUMERS, SPARE = ("consumer1", "consumer2", "consumer3"), ("consumer4", "consumer5")
OPERATOR = "operator"
GROUP, TOPIC, OTHER_TOPIC = "G", "orders", "invoices"

LOOKS, LOOK_MS = 20, 1_000
HOUR_MS = 60 * 60 * 1000
COMMITTED = 100
"""What the group has read of each queue before."""
STORED = QueueRange(0, 1_000, on_disk=True, stored=((EPOCH_MS - HOUR_MS, 20), (EPOCH_MS, 60)))
"""What is in each queue: where it begins and ends, and what was stored when."""

_T = TypeVar("_T")
Deed = Callable[[World], "tuple[str, str] | None"]
"""Does something and says to whom and what; None: there was nothing to do."""


@dataclass(frozen=True)
class Workload:
    """What happens besides faults.

    name, sentence -- for people. build -- adds the machines to an empty world. deeds -- what is chosen from, as often
    as it stands there. storm_ms -- how long anything may fail. promises -- names of what must come true afterwards.
    groups -- group and topic that are followed.
    """

    name: str
    sentence: str
    build: Callable[[World], None]
    deeds: tuple[Deed, ...]
    promises: tuple[str, ...]
    groups: tuple[tuple[str, str], ...] = ((GROUP, TOPIC),)
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


def _one_of(world: World, items: Sequence[_T], what: str) -> _T | None:
    return items[world.simulation.kernel.tape.pick(len(items), what)] if items else None


# Deeds ----------------------------------------------------------------------------------------------------------------


def join(world: World) -> tuple[str, str] | None:
    """A process of the group starts."""
    idle = [machine for machine in world.consumers if not world.joined(machine)]
    machine = _one_of(world, idle, "who joins")
    if machine is None:
        return None
    world.join(machine)
    return machine, "joins the group"


def leave(world: World) -> tuple[str, str] | None:
    """A process of the group ends in order; one stays in any case."""
    running = [machine for machine in world.consumers if world.joined(machine)]
    machine = _one_of(world, running[1:], "who leaves")
    if machine is None:
        return None
    world.leave(machine)
    return machine, "shuts down"


def suspend_or_resume(world: World) -> tuple[str, str] | None:
    """A user suspends a consumer, or resumes one."""
    found = _one_of(world, list(world.running()), "who")
    if found is None:
        return None
    machine, consumer = found
    if consumer.pause:
        world.call(machine, _uncaught(consumer.resume))
        return machine, "is resumed"
    consumer.suspend()
    return machine, "is suspended"


def subscribe(world: World) -> tuple[str, str] | None:
    """A roll-out: everybody subscribes one more topic."""
    return _roll_out(world, OTHER_TOPIC, "*")


def change_expression(world: World) -> tuple[str, str] | None:
    """A roll-out: everybody subscribes the topic with another expression."""
    return _roll_out(world, TOPIC, _one_of(world, ("a", "b || c"), "which expression") or "*")


def _roll_out(world: World, topic: str, expression: str) -> tuple[str, str]:
    """All members subscribe, each when its thread comes to it; who starts later does so from its start."""
    world.rolled_out.setdefault(GROUP, {})[topic] = expression
    for machine, consumer in world.running():
        world.call(machine, _uncaught(partial(consumer.subscribe, topic, expression)))
    return "everybody", f"subscribes {topic} with {expression}"


def create_topic(world: World) -> tuple[str, str] | None:
    """An operator creates a topic, or changes the number of its queues."""
    broker = _one_of(world, [name for name in world.brokers if world.brokers[name].config.broker_id == 0], "where")
    queues = _one_of(world, (4, 6, 8), "how many queues")
    if broker is None or queues is None:
        return None
    header = CreateTopicRequestHeader(TOPIC, queues, queues, PERM_READ | PERM_WRITE)
    command = Command(RequestCode.UPDATE_AND_CREATE_TOPIC, header=header)
    _order(world, world.brokers[broker].broker_addr, command)
    return broker, f"is told that {TOPIC} has {queues} queues"


def stop_broker(world: World) -> tuple[str, str] | None:
    """An operator shuts a broker down in order and starts it again."""
    machine = _one_of(world, [name for name in world.brokers if world.alive(name)], "which broker")
    down_ms = _one_of(world, (100, 5_000, 40_000), "how long")
    if machine is None or down_ms is None:
        return None
    controller, simulation = world.brokers[machine], world.simulation
    node = simulation.nodes[machine]

    async def stop() -> None:
        await controller.shutdown()
        simulation.kernel.at(world.now_ms, end, None)

    def end(_: object) -> None:
        if node.alive:
            simulation.kill(machine)
            simulation.restart_after(machine, down_ms)

    node.spawn("shutdown hook", stop())
    return machine, f"shuts down for {down_ms} ms"


def consume(world: World) -> tuple[str, str] | None:
    """Messages arrive in all queues of a consumer, and its listener works on each."""
    found = _one_of(world, list(world.running()), "who")
    work_ms = _one_of(world, (100, 3_000, 25_000), "how long a listener works")
    if found is None or work_ms is None:
        return None
    machine, consumer = found
    for mq in consumer.rebalance_impl.process_queue_table.key_set():
        world.call(machine, _uncaught(partial(work, consumer, mq, work_ms)))
    return machine, f"is given messages; each batch takes {work_ms} ms"


def reset_offsets(world: World) -> tuple[str, str] | None:
    """An operator sends the group back in the queues of a broker."""
    broker = _one_of(world, list(world.brokers), "where")
    to_ms = _one_of(world, (EPOCH_MS, EPOCH_MS - HOUR_MS, EPOCH_MS - HOUR_MS + 1), "to what time")
    if broker is None or to_ms is None:
        return None
    request = Command(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, header=ResetOffsetRequestHeader(TOPIC, GROUP, to_ms))
    client, address = world.testers[OPERATOR], world.brokers[broker].broker_addr

    async def ask() -> None:
        answer = await client.invoke_sync(address, request, 5_000)
        if answer.code == ResponseCode.SUCCESS:
            offsets = tuple(sorted((mq.queue_id, offset) for mq, offset in answer.body.offset_table.items()))
            world.simulation.nodes[OPERATOR].trace(OffsetsReset(broker, GROUP, TOPIC, to_ms, offsets))

    world.call(OPERATOR, _uncaught(ask))
    return broker, f"is told to send {GROUP} back to {to_ms}"


def overload(world: World) -> tuple[str, str] | None:
    """A broker has too much to do and refuses what clients ask of their groups and offsets."""
    broker = _one_of(world, [name for name in world.brokers if world.alive(name)], "which broker")
    busy_ms = _one_of(world, (1_000, 10_000), "how long")
    if broker is None or busy_ms is None:
        return None
    controller, until_ms = world.brokers[broker], world.now_ms + busy_ms
    for code in (RequestCode.GET_CONSUMER_LIST_BY_GROUP, RequestCode.QUERY_CONSUMER_OFFSET,
                 RequestCode.UPDATE_CONSUMER_OFFSET):
        handler, pool = controller.processors[code]
        controller.remoting_server.register_processor(
            code, handler, controller.pools[pool], lambda: world.now_ms < until_ms)
    return broker, f"is too busy for {busy_ms} ms"


def promote(world: World) -> tuple[str, str] | None:
    """A master dies for good, and its slave restarts as the master."""
    couples = [(master, slave) for master, slave in _couples(world) if world.alive(master) and world.alive(slave)]
    found = _one_of(world, couples, "which master dies")
    if found is None:
        return None
    master, slave = found
    world.retire(master)
    world.restart_broker_as(slave, broker_id=0)
    return master, f"dies for good, and {slave} takes its place"


def _couples(world: World) -> list[tuple[str, str]]:
    return [(master, f"{master}-slave") for master in BROKERS if f"{master}-slave" in world.brokers]


def stop_one(world: World) -> tuple[str, str] | None:
    """One of several consumers of a process stops, the others go on."""
    several = {machine: running for machine, running in world.consumers.items() if len(running) > 1}
    machine = _one_of(world, [machine for machine in several if world.alive(machine)], "whose")
    if machine is None:
        return None
    consumer = several[machine][-1]

    async def stop() -> None:
        await consumer.shutdown()
        if consumer in world.consumers[machine] and consumer.service_state == SHUTDOWN_ALREADY:
            world.consumers[machine].remove(consumer)

    world.call(machine, _uncaught(stop))
    return machine, f"stops its consumer of {consumer.group}"


def ask_for_clusters(world: World) -> tuple[str, str] | None:
    """An operator's monitor looks which brokers there are, once a second for a while."""
    namesrv = _one_of(world, list(world.namesrvs), "which name server")
    if namesrv is None:
        return None
    client, node = world.testers[OPERATOR], world.simulation.nodes[OPERATOR]

    async def ask() -> None:
        request = Command(RequestCode.GET_BROKER_CLUSTER_INFO)
        brokers, clusters = (await client.invoke_sync(f"{namesrv}:9876", request, 5_000)).body
        named = frozenset(name for names in clusters.values() for name in names)
        node.trace(ClusterInfoFetched(namesrv, frozenset(brokers), named))

    async def watch() -> None:
        for _ in range(LOOKS):
            node.spawn("operator", _uncaught(ask)())
            await node.sleep(LOOK_MS)

    world.call(OPERATOR, watch)
    return namesrv, "is asked which brokers there are"


def _order(world: World, address: str, command: Command) -> None:
    """The operator sends a request."""
    world.call(OPERATOR, _uncaught(partial(world.testers[OPERATOR].invoke_sync, address, command, 5_000)))


def _uncaught(job: Callable[[], Awaitable[object]]) -> Callable[[], Coroutine[Any, Any, None]]:
    """The job on a user's thread, whose exceptions end nothing but itself."""

    async def run() -> None:
        try:
            await job()
        except JavaError:
            return

    return run


# Worlds ---------------------------------------------------------------------------------------------------------------


def servers(world: World, *, slaves: bool = False, stored: QueueRange | None = None) -> None:
    """Two name servers, two masters with two topics, perhaps a slave each, and an operator's machine.

    stored -- what is in each queue of the masters.
    """
    for name in ("nameserver1", "nameserver2"):
        world.add_namesrv(name)
    topics = [TopicConfig(TOPIC, 4, 4), TopicConfig(OTHER_TOPIC, 2, 2)]
    if stored is not None:
        world.stored = stored
        topics.append(TopicConfig(get_retry_topic(GROUP), 1, 1))
    for machine in BROKERS:
        world.add_broker(machine, machine, topics=topics)
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
    _group(world, PushConsumerConfig(GROUP, {TOPIC: "*"}), PushConsumerConfig("H", {OTHER_TOPIC: "*"}))


def broadcasting(world: World) -> None:
    """Everybody has every queue."""
    _group(world, PushConsumerConfig(GROUP, {TOPIC: "*"}, message_model=BROADCASTING))


def read_before(world: World, *, orderly: bool = False) -> None:
    """A group that has read old queues up to COMMITTED, and goes on."""
    servers(world, stored=STORED)
    for machine in BROKERS:
        controller = world.brokers[machine]
        offsets = ConcurrentHashMap(32, [(queue_id, COMMITTED) for queue_id in range(8)])
        controller.consumer_offset_manager.offset_table.put(topic_at_group(TOPIC, GROUP), offsets)
        controller.persist_consumer_offset()
    _members(world, PushConsumerConfig(GROUP, {TOPIC: "*"}, orderly=orderly))


def read_in_order(world: World) -> None:
    """The same with orderly listeners."""
    read_before(world, orderly=True)


def one_instance(world: World) -> None:
    """Two groups in each process, with one instance name: one client, one connection to each broker."""
    servers(world)
    configs = (PushConsumerConfig(GROUP, {TOPIC: "*"}), PushConsumerConfig("H", {OTHER_TOPIC: "*"}))
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
             (subscribe, change_expression, join, leave), _GROUPS),
    Workload("groups", "Two groups share each client.", two_groups, (join, leave),
             _GROUPS, ((GROUP, TOPIC), ("H", OTHER_TOPIC))),
    Workload("broadcasting", "Every member has every queue.", broadcasting, (join, leave, create_topic),
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
             (promote, create_topic, ask_for_clusters), _GROUPS),
    Workload("shared", "Two groups share one client of each process, and one of them stops.", one_instance,
             (stop_one, join, leave), _GROUPS, ((GROUP, TOPIC), ("H", OTHER_TOPIC))),
    Workload("containers", "Processes have equal addresses and instance names.", containers,
             (join, leave), _GROUPS),
)}
"""By name."""


def workload_named(name: str) -> Workload:
    """A workload of the table; raises BadInputError for another name."""
    if name not in WORKLOADS:
        raise BadInputError(f"no workload {name!r}; there are {', '.join(WORKLOADS)}")
    return WORKLOADS[name]
