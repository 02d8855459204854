"""What people do in a world: users start, stop and suspend consumers, operators change topics, groups and brokers.

A deed asks the tape whom, does something and says to whom and what. Machines have names that do not change.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, TypeVar

from impl.client.mq_client_instance import SHUTDOWN_ALREADY
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.common.headers import (
    BrokerNameRequestHeader,
    CreateTopicRequestHeader,
    DeleteSubscriptionGroupRequestHeader,
    ResetOffsetRequestHeader,
    TopicRequestHeader,
)
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.decisions.java_errors import JavaError
from impl.events import ClusterInfoFetched, OffsetsReset
from impl.hosts.simulation.clock import EPOCH_MS
from impl.ports.remoting import Command
from stateful_tests.worlds.arrivals import arrive, refuse_what_is_gone
from stateful_tests.worlds.world import World

BROKERS = ("broker-a", "broker-b")
OPERATOR = "operator"
GROUP, TOPIC, OTHER_TOPIC = "G", "orders", "invoices"
NO_TOPICS = ("refunds", "payments")
"""No broker has them. In the hash tables of clients one comes before TOPIC, one after it."""

ARRIVALS, ARRIVAL_MS = 3, 1_700
CLUSTERS_MS = 60_000
"""How long a monitor waits for an answer: a name server may stand still while it writes it."""
LOOKS, LOOK_MS = 200, 100
HOUR_MS = 60 * 60 * 1000
RETIRED_MS = 10_000
"""How long the shutdown of a broker may take before its machine is switched off."""
KEPT_FROM = 500
"""The least offset that is left when old messages have been deleted."""

_T = TypeVar("_T")


def _one_of(world: World, items: Sequence[_T], what: str) -> _T | None:
    return items[world.simulation.kernel.tape.pick(len(items), what)] if items else None


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


def leave_any(world: World) -> tuple[str, str] | None:
    """A process of the group ends in order, any of several."""
    running = [machine for machine in world.consumers if world.joined(machine)]
    machine = _one_of(world, running if len(running) > 1 else [], "who leaves")
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


def unsubscribe(world: World) -> tuple[str, str] | None:
    """A roll-out: nobody subscribes the other topic any more."""
    world.rolled_out.get(GROUP, {}).pop(OTHER_TOPIC, None)
    _everybody_follows(world, OTHER_TOPIC)
    return "everybody", f"unsubscribes {OTHER_TOPIC}"


def subscribe_nothing(world: World) -> tuple[str, str] | None:
    """A roll-out with a mistake: everybody subscribes a topic that nobody has."""
    topic = _one_of(world, NO_TOPICS, "which topic")
    return None if topic is None else _roll_out(world, topic, "*")


def change_expression(world: World) -> tuple[str, str] | None:
    """A roll-out: everybody subscribes the topic with another expression."""
    return _roll_out(world, TOPIC, _one_of(world, ("a", "b || c"), "which expression") or "*")


def _roll_out(world: World, topic: str, expression: str) -> tuple[str, str]:
    """All members subscribe; who starts later does so from its start."""
    world.rolled_out.setdefault(GROUP, {})[topic] = expression
    _everybody_follows(world, topic)
    return "everybody", f"subscribes {topic} with {expression}"


def _everybody_follows(world: World, topic: str) -> None:
    """Each member does what is rolled out of a topic when its thread comes to it, however often it has changed."""

    async def follow(consumer: DefaultMQPushConsumerImpl) -> None:
        expression = world.rolled_out.get(GROUP, {}).get(topic)
        if expression is None:
            consumer.unsubscribe(topic)
        else:
            await consumer.subscribe(topic, expression)

    for machine, consumer in world.running():
        if consumer.group == GROUP:
            world.call(machine, _uncaught(partial(follow, consumer)))


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
    """Messages arrive in all queues of a consumer, a few times, and its listener works on each."""
    found = _one_of(world, list(world.running()), "who")
    work_ms = _one_of(world, (100, 3_000, 25_000), "how long a listener works")
    if found is None or work_ms is None:
        return None
    machine, consumer = found

    async def arrivals() -> None:
        for _ in range(ARRIVALS):
            for pull_request in [*consumer.pull_api_wrapper.held]:
                world.call(machine, _uncaught(partial(arrive, world, consumer, pull_request, work_ms)))
            await consumer.node.sleep(ARRIVAL_MS)

    world.call(machine, arrivals)
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


def delete_group(world: World) -> tuple[str, str] | None:
    """An operator deletes the group at a broker, with its offsets; its members go on."""
    broker = _one_of(world, [name for name in world.brokers if world.brokers[name].config.broker_id == 0], "where")
    if broker is None:
        return None
    header = DeleteSubscriptionGroupRequestHeader(GROUP, remove_offset=True)
    command = Command(RequestCode.DELETE_SUBSCRIPTIONGROUP, header=header)
    _order(world, world.brokers[broker].broker_addr, command)
    return broker, f"is told to delete {GROUP} and its offsets"


def ask_who_consumes(world: World) -> tuple[str, str] | None:
    """An operator asks a broker which groups consume a topic."""
    broker = _one_of(world, list(world.brokers), "which broker")
    if broker is None:
        return None
    command = Command(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, header=TopicRequestHeader(TOPIC))
    _order(world, world.brokers[broker].broker_addr, command)
    return broker, f"is asked who consumes {TOPIC}"


def wipe_write_permission(world: World) -> tuple[str, str] | None:
    """An operator tells a name server that nobody is to write to a broker."""
    namesrv, broker_name = _one_of(world, list(world.namesrvs), "where"), _one_of(world, BROKERS, "whose")
    if namesrv is None or broker_name is None:
        return None
    command = Command(RequestCode.WIPE_WRITE_PERM_OF_BROKER, header=BrokerNameRequestHeader(broker_name))
    _order(world, f"{namesrv}:9876", command)
    return namesrv, f"is told that nobody writes to {broker_name}"


def delete_old_messages(world: World) -> tuple[str, str] | None:
    """Brokers delete what is old; offsets of it are illegal from now on."""
    if world.stored.min_offset == KEPT_FROM:
        return None
    world.keep_messages_from(KEPT_FROM)
    world.simulation.kernel.world.spawn("brokers", refuse_what_is_gone(world))
    return "brokers", f"delete all messages before {KEPT_FROM}"


def overload(world: World) -> tuple[str, str] | None:
    """A broker has too much to do and refuses what clients ask of their groups and offsets."""
    broker = _one_of(world, [name for name in world.brokers if world.alive(name)], "which broker")
    busy_ms = _one_of(world, (1_000, 10_000), "how long")
    if broker is None or busy_ms is None:
        return None
    world.calm = False
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


def switch_off(world: World) -> tuple[str, str] | None:
    """A slave, or where there are none the second master, is switched off for good, and nobody is told."""
    slaves = [slave for _, slave in _couples(world) if world.alive(slave)]
    masters = [name for name in BROKERS[1:] if name in world.brokers and world.alive(name)]
    broker = _one_of(world, slaves or ([] if _has_slaves(world) else masters), "which broker")
    if broker is None or (slaves and world.brokers[broker].config.broker_id == 0):
        return None
    world.retire(broker)
    return broker, "is switched off for good"


def _has_slaves(world: World) -> bool:
    return any(f"{master}-slave" in world.simulation.nodes for master in BROKERS)


def switch(world: World) -> tuple[str, str] | None:
    """An operator restarts a slave as the master, and then shuts the old master down in order, for good."""
    couples = [(master, slave) for master, slave in _couples(world) if world.alive(master) and world.alive(slave)]
    found = _one_of(world, couples, "which master goes")
    later_ms = _one_of(world, (1_000, 10_000), "how much later")
    if found is None or later_ms is None:
        return None
    master, slave = found
    node, controller, kernel = world.simulation.nodes[master], world.brokers[master], world.simulation.kernel
    world.restart_broker_as(slave, broker_id=0)

    def stop(_: object) -> None:
        if node.alive:
            node.spawn("shutdown hook", controller.shutdown())

    kernel.at(world.now_ms + later_ms, stop, None)
    kernel.at(world.now_ms + later_ms + RETIRED_MS, lambda _: world.retire(master), None)
    return slave, f"takes the place of {master}, which shuts down {later_ms} ms later"


def _couples(world: World) -> list[tuple[str, str]]:
    """Masters and their slaves, where both have ever come up."""
    return [(master, f"{master}-slave") for master in BROKERS if {master, f"{master}-slave"} <= {*world.brokers}]


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
    """An operator's monitor looks which brokers there are, several times a second for a while."""
    namesrv = _one_of(world, list(world.namesrvs), "which name server")
    if namesrv is None:
        return None
    node, ask = world.simulation.nodes[OPERATOR], partial(fetch_cluster_info, world, namesrv)

    async def watch() -> None:
        for _ in range(LOOKS):
            node.spawn("operator", _uncaught(ask)())
            await node.sleep(LOOK_MS)

    world.call(OPERATOR, watch)
    return namesrv, "is asked which brokers there are"


async def fetch_cluster_info(world: World, namesrv: str) -> ClusterInfoFetched:
    """The operator asks a name server, and reports what it answers."""
    request = Command(RequestCode.GET_BROKER_CLUSTER_INFO)
    answer = await world.testers[OPERATOR].invoke_sync(f"{namesrv}:9876", request, CLUSTERS_MS)
    brokers, clusters = answer.body
    named = frozenset(name for names in clusters.values() for name in names)
    fetched = ClusterInfoFetched(namesrv, frozenset(brokers), named)
    world.simulation.nodes[OPERATOR].trace(fetched)
    return fetched


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
