"""Workloads: which machines there are, and what people do with them while anything may fail.

Once in each PERIOD_MS, at the rate RATE, one pick chooses among the deeds of the workload (choice 0: nothing); more
picks choose where. A deed that finds nothing to do does nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from impl.client.push_consumer import PushConsumerConfig
from impl.common.headers import CreateTopicRequestHeader
from impl.common.heartbeat_data import BROADCASTING
from impl.common.request_code import RequestCode
from impl.common.topic_config import TopicConfig
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.decisions.java_errors import JavaError
from impl.node_ports import Command
from invariants.verdict import BadInputError
from stateful_tests.worlds.world import World

PERIOD_MS, RATE = 5_000, 2
BROKERS = ("broker-a", "broker-b")
CONSUMERS, SPARE = ("consumer1", "consumer2", "consumer3"), ("consumer4", "consumer5")
OPERATOR = "operator"
GROUP, TOPIC, OTHER_TOPIC = "G", "orders", "invoices"

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
    client, address = world.testers[OPERATOR], world.brokers[broker].broker_addr
    world.call(OPERATOR, _uncaught(partial(client.invoke_sync, address, command, 5_000)))
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


def _uncaught(job: Callable[[], Awaitable[object]]) -> Callable[[], Coroutine[Any, Any, None]]:
    """The job on a user's thread, whose exceptions end nothing but itself."""

    async def run() -> None:
        try:
            await job()
        except JavaError:
            return

    return run


# Worlds ---------------------------------------------------------------------------------------------------------------


def servers(world: World, *, slaves: bool = False) -> None:
    """Two name servers, two masters with two topics, perhaps a slave each, and an operator's machine."""
    for name in ("nameserver1", "nameserver2"):
        world.add_namesrv(name)
    topics = [TopicConfig(TOPIC, 4, 4), TopicConfig(OTHER_TOPIC, 2, 2)]
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


def routes(world: World) -> None:
    """Masters and slaves, and two clients that want to know where they are."""
    servers(world, slaves=True)
    for machine in CONSUMERS[:2]:
        world.add_consumer(machine, PushConsumerConfig(GROUP, {TOPIC: "*"}))


def _group(world: World, *configs: PushConsumerConfig) -> None:
    servers(world)
    for machine in CONSUMERS:
        world.add_consumer(machine, *configs)
    for machine in SPARE:
        world.add_consumer(machine, *configs, idle=True)


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
    Workload("routes", "Brokers stop and start, topics change.", routes, (stop_broker, stop_broker, create_topic),
             _GROUPS),
)}
"""By name."""


def workload_named(name: str) -> Workload:
    """A workload of the table; raises BadInputError for another name."""
    if name not in WORKLOADS:
        raise BadInputError(f"no workload {name!r}; there are {', '.join(WORKLOADS)}")
    return WORKLOADS[name]
