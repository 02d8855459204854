"""What people do in a world: users start, stop and suspend consumers, operators change topics, groups and brokers.

A deed asks the tape whom, does something and says to whom and what. Machines have names that do not change.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import astuple, replace
from functools import partial
from typing import Any

from impl.broker.broker2client import TO_THE_END
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.service_state import SHUTDOWN_ALREADY
from impl.common import headers
from impl.common.byte_buffer import ByteBuffer
from impl.common.message_decoder import decodes
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.decisions.java_errors import JavaError
from impl.events import ClusterInfoFetched, KeyAnswered, KeyAsked, OffsetsReset, OrderDone, OrderGiven
from impl.hosts.simulation.clock import EPOCH_MS
from impl.hosts.simulation.node import Node
from impl.ports.remoting import Command
from stateful_tests.worlds.listeners import WORK_MS, Listener
from stateful_tests.worlds.producers import KEYS
from stateful_tests.worlds.world import World

BROKERS = ("broker-a", "broker-b")
OPERATOR = "operator"
GROUP, TOPIC, OTHER_TOPIC = "G", "orders", "invoices"
NO_TOPICS = ("refunds", "payments")
"""No broker has them. In the hash tables of clients one comes before TOPIC, one after it."""

BETWEEN_MS = 2_300
"""So long behind the timers of clients, which go every 5 s."""
ARRIVALS, ARRIVAL_MS, ARRIVING = 3, 1_700, 2
"""How often messages arrive, how long after one another, and how many in each queue."""
CLUSTERS_MS = 60_000
"""How long a monitor waits for an answer: a name server may stand still while it writes it."""
LOOKS, LOOK_MS = 200, 100
KEPT_IN_MIND, AROUND_MS, MOST_FOUND = 64, 3_000, 32
"""How many messages an operator knows of, for how long before and behind one of them it asks, and how many it wants."""
HOUR_MS = 60 * 60 * 1000
RETIRED_MS = 10_000
"""How long the shutdown of a broker may take before its machine is switched off."""
PAST_MS = 100 * HOUR_MS, HOUR_MS, 60_000
"""How long ago the messages were stored that are there when a world begins. The first ones may be deleted."""
FULL_PERCENT = 80
"""Of a disk from which a broker deletes what is older than three days."""

ORDERED_TOPICS, OLD_TOPIC = ("refunds-2023", "payments-2023"), "archive"
"""Nobody uses them. The old one is there from the beginning, and goes for good."""
TOPIC_CONFIGS = ((4, 4, PERM_READ | PERM_WRITE, 0), (8, 2, PERM_READ, 0), (2, 2, PERM_READ | PERM_WRITE, 1))
"""Queues to read and to write, permission, system flags."""
ORDERED_GROUPS = ("audit", "second-audit")
GROUP_CONFIGS = (
    SubscriptionGroupConfig("", retry_queue_nums=3, retry_max_times=5),
    SubscriptionGroupConfig("", consume_enable=False, broker_id=1, which_broker_when_consume_slowly=2),
)
ORDERED_KEYS = (("notes", "owner"), ("notes", "phone"), ("limits", "owner"))
"""Of each the namespace and the key."""
KEY_VALUES = ("1", "2", None)
ORDERS_AT_A_TIME = 8

Done = tuple[str, str]
"""To whom something was done, and what."""


class NothingToDoError(Exception):
    """A deed finds nobody, or nothing, to do something to."""


def _each_of(world: World, *questions: tuple[str, Sequence[Any]]) -> list[Any]:
    """What the tape picks for each question from its items; all are put before one without items ends the deed."""
    tape = world.simulation.kernel.tape
    picked = [items[tape.pick(len(items), what)] if items else None for what, items in questions]
    if not all(items for _, items in questions):
        raise NothingToDoError
    return picked


def _one_of(world: World, what: str, items: Sequence[Any]) -> Any:
    return _each_of(world, (what, items))[0]


def _joined(world: World) -> list[str]:
    return [machine for machine in world.consumers if world.joined(machine)]


def _living_brokers(world: World) -> list[str]:
    return [name for name in world.brokers if world.alive(name)]


def _masters(world: World) -> list[str]:
    return [name for name in world.brokers if world.brokers[name].config.broker_id == 0]


def _couples(world: World) -> list[tuple[str, str]]:
    """Masters and their slaves, where both have ever come up."""
    return [(master, f"{master}-slave") for master in BROKERS if {master, f"{master}-slave"} <= {*world.brokers}]


def _living_couples(world: World) -> list[tuple[str, str]]:
    return [couple for couple in _couples(world) if all(map(world.alive, couple))]


def join(world: World) -> Done:
    """A process of the group starts."""
    machine = _one_of(world, "who joins", [machine for machine in world.consumers if not world.joined(machine)])
    world.join(machine)
    return machine, "joins the group"


def leave(world: World) -> Done:
    """A process of the group ends in order; one stays in any case."""
    return _leave(world, _joined(world)[1:])


def leave_between(world: World) -> Done:
    """The same, but it does not end just behind a timer that has committed everything."""
    machine = _one_of(world, "who leaves soon", _joined(world)[1:])
    world.simulation.kernel.at(world.now_ms + BETWEEN_MS, world.leave, machine)
    return machine, f"shuts down in {BETWEEN_MS} ms"


def leave_any(world: World) -> Done:
    """A process of the group ends in order, any of several."""
    joined = _joined(world)
    return _leave(world, joined if len(joined) > 1 else [])


def _leave(world: World, machines: Sequence[str]) -> Done:
    machine = _one_of(world, "who leaves", machines)
    world.leave(machine)
    return machine, "shuts down"


def suspend_or_resume(world: World) -> Done:
    """A user suspends a consumer, or resumes one."""
    machine, consumer = _one_of(world, "who", list(world.running()))
    if consumer.pause:
        world.call(machine, _uncaught(consumer.resume))
        return machine, "is resumed"
    consumer.suspend()
    return machine, "is suspended"


def stop_one(world: World) -> Done:
    """One of several consumers of a process stops, the others go on."""
    several = {machine: running for machine, running in world.consumers.items() if len(running) > 1}
    machine = _one_of(world, "whose", [machine for machine in several if world.alive(machine)])
    consumer = several[machine][-1]

    async def stop() -> None:
        await consumer.shutdown()
        if consumer in world.consumers[machine] and consumer.service_state == SHUTDOWN_ALREADY:
            world.consumers[machine].remove(consumer)

    world.call(machine, _uncaught(stop))
    return machine, f"stops its consumer of {consumer.group}"


def subscribe(world: World) -> Done:
    """A roll-out: everybody subscribes one more topic."""
    return _roll_out(world, OTHER_TOPIC, "*")


def unsubscribe(world: World) -> Done:
    """A roll-out: nobody subscribes the other topic any more."""
    return _roll_out(world, OTHER_TOPIC, None)


def subscribe_nothing(world: World) -> Done:
    """A roll-out with a mistake: everybody subscribes a topic that nobody has."""
    return _roll_out(world, _one_of(world, "which topic", NO_TOPICS), "*")


def change_expression(world: World) -> Done:
    """A roll-out: everybody subscribes the topic with another expression."""
    return _roll_out(world, TOPIC, _one_of(world, "which expression", ("a", "b || c")))


def _roll_out(world: World, topic: str, expression: str | None) -> Done:
    """All members subscribe, or unsubscribe (None), when their threads come to it, however often it has changed then.

    Who starts later does so from its start.
    """
    rolled_out = world.rolled_out.setdefault(GROUP, {})
    rolled_out.pop(topic, None)
    if expression is not None:
        rolled_out[topic] = expression

    async def follow(consumer: DefaultMQPushConsumerImpl) -> None:
        if topic in rolled_out:
            await consumer.subscribe(topic, rolled_out[topic])
        else:
            consumer.unsubscribe(topic)

    for machine, consumer in world.running():
        if consumer.group == GROUP:
            world.call(machine, _uncaught(partial(follow, consumer)))
    return "everybody", f"unsubscribes {topic}" if expression is None else f"subscribes {topic} with {expression}"


def consume(world: World) -> Done:
    """Messages arrive in all queues of a consumer, a few times, and its listener works on each batch."""
    (machine, consumer), work_ms = _each_of(
        world, ("who", list(world.running())), ("how long a listener works", WORK_MS))

    async def arrivals() -> None:
        for _ in range(ARRIVALS):
            for mq in consumer.rebalance_impl.process_queue_table.key_set():
                if mq.topic in consumer.config.subscription:  # nobody sends to a retry topic
                    world.send(OPERATOR, mq, ARRIVING)
            await world.simulation.nodes[OPERATOR].sleep(ARRIVAL_MS)

    if isinstance(consumer.message_listener, Listener):
        consumer.message_listener.work_ms = work_ms
    world.call(OPERATOR, arrivals)
    return machine, f"is sent messages; each batch takes {work_ms} ms"


def delete_old_messages(world: World) -> Done:
    """Files of others fill the disks of brokers, which delete what is old; offsets of it are illegal from now on."""
    brokers = [name for name in world.brokers if not world.simulation.disks[name].others_bytes]
    if not brokers:
        raise NothingToDoError
    for broker in brokers:
        world.simulation.fill_disk(broker, FULL_PERCENT)
    return "brokers", f"have disks that are filled to {FULL_PERCENT} %: they delete what is older than three days"


def reset_offsets(world: World) -> Done:
    """An operator sends the group back in the queues of a broker."""
    times_ms = (EPOCH_MS - PAST_MS[2], EPOCH_MS - PAST_MS[1], EPOCH_MS - PAST_MS[1] + 1)
    broker, to_ms = _each_of(world, ("where", list(world.brokers)), ("to what time", times_ms))
    return _reset(world, broker, to_ms)


def reset_by_force(world: World) -> Done:
    """An operator sends the group to the end of the queues of a broker, or to a time, also if that sends it on."""
    broker, before_ms, is_force = _each_of(
        world, ("where", list(world.brokers)), ("how long ago", (TO_THE_END, 1_000, 30_000)),
        ("whether by force", (False, True)))
    now_ms = world.simulation.nodes[broker].now_ms()
    return _reset(world, broker, TO_THE_END if before_ms == TO_THE_END else now_ms - before_ms, is_force=is_force)


def _reset(world: World, broker: str, to_ms: int, *, is_force: bool = False) -> Done:
    """An operator sends the group to a time in the queues of a broker."""
    header = headers.ResetOffsetRequestHeader(TOPIC, GROUP, to_ms, is_force)
    request = Command(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, header=header)
    client, address = world.testers[OPERATOR], world.brokers[broker].broker_addr

    async def ask() -> None:
        answer = await client.invoke_sync(address, request, 5_000)
        if answer.code == ResponseCode.SUCCESS:
            offsets = tuple(sorted((mq.queue_id, offset) for mq, offset in answer.body.offset_table.items()))
            world.simulation.nodes[OPERATOR].trace(OffsetsReset(broker, GROUP, TOPIC, to_ms, offsets, is_force))

    world.call(OPERATOR, _uncaught(ask))
    where = "the end" if to_ms == TO_THE_END else to_ms
    return broker, f"is told to send {GROUP} {'by force' if is_force else 'back'} to {where}"


def ask_for_a_key(world: World) -> Done:
    """An operator asks for messages that a broker has, by their keys, and the time at which one of them was stored."""
    broker = _one_of(world, "where", _living_brokers(world))
    keys = sorted({record.key for record in world.views.log_records(broker) if record.key and record.topic == TOPIC})
    key = _one_of(world, "by which key", (*KEYS, *keys[-KEPT_IN_MIND:]))
    stored = [ms for _, ms in world.views.keyed(broker, TOPIC, key)]
    at_ms = _one_of(world, "when", stored[-KEPT_IN_MIND:])
    window_ms = at_ms - AROUND_MS, at_ms + AROUND_MS
    header = headers.QueryMessageRequestHeader(TOPIC, key, MOST_FOUND, *window_ms)
    request = Command(RequestCode.QUERY_MESSAGE, header=header)
    client, address, node = world.testers[OPERATOR], world.brokers[broker].broker_addr, world.simulation.nodes[OPERATOR]

    async def ask() -> None:
        node.trace(KeyAsked(broker, TOPIC, key, *window_ms))
        answer = await client.invoke_sync(address, request, CLUSTERS_MS)
        offsets = tuple(one.commit_log_offset for one in decodes(ByteBuffer(answer.body or b"")))
        node.trace(KeyAnswered(broker, TOPIC, key, *window_ms, offsets, MOST_FOUND))

    world.call(OPERATOR, _uncaught(ask))
    return broker, f"is asked for messages with the key {key}"


def create_topic(world: World) -> Done:
    """An operator creates a topic, or changes the number of its queues."""
    broker, queues = _each_of(world, ("where", _masters(world)), ("how many queues", (4, 6, 8)))
    make_topic(world, broker, TOPIC, queues)
    return broker, f"is told that {TOPIC} has {queues} queues"


def make_topic(world: World, broker: str, topic: str, queues: int) -> None:
    """An operator tells a broker to have a topic, and does not wait for the answer."""
    header = headers.CreateTopicRequestHeader(topic, queues, queues, PERM_READ | PERM_WRITE)
    _order(world, world.brokers[broker].broker_addr, RequestCode.UPDATE_AND_CREATE_TOPIC, header)


def resize_topic(world: World) -> Done:
    """An operator gives a topic other queues to write to; all that it ever had can be read."""
    broker, queues = _each_of(world, ("where", _masters(world)), ("how many queues", (2, 4, 6)))
    config = world.brokers[broker].topic_config_manager.select_topic_config(TOPIC)
    readable = max(queues, 4 if config is None else config.read_queue_nums)
    header = headers.CreateTopicRequestHeader(TOPIC, readable, queues, PERM_READ | PERM_WRITE)
    _order(world, world.brokers[broker].broker_addr, RequestCode.UPDATE_AND_CREATE_TOPIC, header)
    return broker, f"is told that {TOPIC} has {queues} queues to write to and {readable} to read"


def delete_group(world: World) -> Done:
    """An operator deletes the group at a broker, with its offsets; its members go on."""
    broker = _one_of(world, "where", _masters(world))
    header = headers.DeleteSubscriptionGroupRequestHeader(GROUP, remove_offset=True)
    _order(world, world.brokers[broker].broker_addr, RequestCode.DELETE_SUBSCRIPTIONGROUP, header)
    return broker, f"is told to delete {GROUP} and its offsets"


def ask_who_consumes(world: World) -> Done:
    """An operator asks a broker which groups consume a topic."""
    broker = _one_of(world, "which broker", list(world.brokers))
    address, header = world.brokers[broker].broker_addr, headers.TopicRequestHeader(TOPIC)
    _order(world, address, RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, header)
    return broker, f"is asked who consumes {TOPIC}"


def wipe_write_permission(world: World) -> Done:
    """An operator tells a name server that nobody is to write to a broker."""
    namesrv, broker_name = _each_of(world, ("where", list(world.namesrvs)), ("whose", BROKERS))
    header = headers.BrokerNameRequestHeader(broker_name)
    _order(world, f"{namesrv}:9876", RequestCode.WIPE_WRITE_PERM_OF_BROKER, header)
    return namesrv, f"is told that nobody writes to {broker_name}"


def ask_for_clusters(world: World) -> Done:
    """An operator's monitor looks which brokers there are, several times a second for a while."""
    namesrv = _one_of(world, "which name server", list(world.namesrvs))
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


def administer(world: World) -> Done:
    """An operator gives several orders, one after another; none is about what others use."""
    orders = [_one_of(world, "what an operator orders", _ORDERS)(world) for _ in range(ORDERS_AT_A_TIME)]
    node = world.simulation.nodes[OPERATOR]

    async def give(address: str, request: Command, order: OrderGiven) -> None:
        if order.kind == "route" and order.name in _topics(world):
            return
        node.trace(order)
        answer = await world.testers[OPERATOR].invoke_sync(address, request, 5_000)
        if answer.code == ResponseCode.SUCCESS:
            node.trace(OrderDone(*order))

    async def give_all() -> None:
        for order in orders:
            await _uncaught(partial(give, *order))()

    world.call(OPERATOR, give_all)
    return OPERATOR, "; ".join(f"tells {order.server} how the {order.kind} {order.name} is to be: {order.wanted}"
                               for *_, order in orders)


def _topic_order(world: World) -> tuple[str, Command, OrderGiven]:
    """Create, change or delete a topic at one broker."""
    broker, topic, wanted = _each_of(world, ("where", _masters(world)), ("which topic", (*ORDERED_TOPICS, OLD_TOPIC)),
                                     ("how it is to be", (*TOPIC_CONFIGS, None)))
    wanted = None if topic == OLD_TOPIC else wanted
    request = Command(RequestCode.DELETE_TOPIC_IN_BROKER, headers.TopicRequestHeader(topic))
    if wanted is not None:
        read, write, perm, flags = wanted
        header = headers.CreateTopicRequestHeader(topic, read, write, perm, topic_sys_flag=flags)
        request = Command(RequestCode.UPDATE_AND_CREATE_TOPIC, header)
    return world.brokers[broker].broker_addr, request, OrderGiven(broker, "topic", topic, wanted)


def _group_order(world: World) -> tuple[str, Command, OrderGiven]:
    """Configure or delete a group at one broker."""
    broker, group, config = _each_of(world, ("where", _masters(world)), ("which group", ORDERED_GROUPS),
                                     ("how it is to be", (*GROUP_CONFIGS, None)))
    request = Command(RequestCode.DELETE_SUBSCRIPTIONGROUP, headers.DeleteSubscriptionGroupRequestHeader(group))
    wanted = None
    if config is not None:
        request = Command(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=replace(config, group_name=group))
        wanted = astuple(config)[1:]
    return world.brokers[broker].broker_addr, request, OrderGiven(broker, "group", group, wanted)


def _key_value_order(world: World) -> tuple[str, Command, OrderGiven]:
    """Put or delete a key at a name server."""
    namesrv, (namespace, key), value = _each_of(
        world, ("where", [*world.namesrvs]), ("which key", ORDERED_KEYS), ("what value", KEY_VALUES))
    code = RequestCode.DELETE_KV_CONFIG if value is None else RequestCode.PUT_KV_CONFIG
    wanted = None if value is None else (value,)
    return (f"{namesrv}:9876", Command(code, headers.KVConfigRequestHeader(namespace, key, value)),
            OrderGiven(namesrv, "key value", f"{namespace} {key}", wanted))


def _permission_order(world: World) -> tuple[str, Command, OrderGiven]:
    """Tell a name server that a broker may be written, or not."""
    namesrv, broker_name, writable = _each_of(
        world, ("where", [*world.namesrvs]), ("whose", BROKERS), ("whether it may be written", (False, True)))
    code = RequestCode.ADD_WRITE_PERM_OF_BROKER if writable else RequestCode.WIPE_WRITE_PERM_OF_BROKER
    return (f"{namesrv}:9876", Command(code, headers.BrokerNameRequestHeader(broker_name)),
            OrderGiven(namesrv, "permission", broker_name, (writable,)))


def _route_order(world: World) -> tuple[str, Command, OrderGiven]:
    """Let a name server forget the old topic, when no broker has it any more: the admin tool deletes it there first."""
    namesrv = _one_of(world, "where", [*world.namesrvs])
    return (f"{namesrv}:9876", Command(RequestCode.DELETE_TOPIC_IN_NAMESRV, headers.TopicRequestHeader(OLD_TOPIC)),
            OrderGiven(namesrv, "route", OLD_TOPIC, None))


def _topics(world: World) -> set[str]:
    """The topics of all brokers."""
    tables = (broker.topic_config_manager.topic_config_table for broker in world.brokers.values())
    return {topic for table in tables for topic in table.key_set()}


_ORDERS = (_topic_order, _group_order, _key_value_order, _topic_order, _group_order, _key_value_order,
           _permission_order, _route_order)


def restart_name_server(world: World) -> Done:
    """An operator kills a name server, and starts it again."""
    namesrv = _one_of(world, "which name server", [name for name in world.namesrvs if world.alive(name)])
    world.simulation.kill(namesrv)
    world.simulation.restart_after(namesrv, 1_000)
    return namesrv, "is killed, and started again"


def _order(world: World, address: str, code: int, header: object) -> None:
    """The operator sends a request."""
    invoke = world.testers[OPERATOR].invoke_sync
    world.call(OPERATOR, _uncaught(partial(invoke, address, Command(code, header=header), 5_000)))


def stop_broker(world: World) -> Done:
    """An operator shuts a broker down in order and starts it again."""
    machine, down_ms = _each_of(world, ("which broker", _living_brokers(world)), ("how long", (100, 5_000, 40_000)))
    controller, simulation = world.brokers[machine], world.simulation

    def end(node: Node) -> None:
        if node.alive:
            simulation.kill(machine)
            simulation.restart_after(machine, down_ms)

    world.shut_down(machine, controller.shutdown, end)
    return machine, f"shuts down for {down_ms} ms"


def rename_broker(world: World) -> Done:
    """An operator gives a broker another name, or its former one back; its process is killed, and starts at once."""
    machine = _one_of(world, "which broker", _living_brokers(world))
    name = f"{machine}-renamed" if world.brokers[machine].config.broker_name == machine else machine
    world.restart_broker_as(machine, power_loss=False, broker_name=name)
    return machine, f"starts again under the name {name}"


def move_name_servers(world: World) -> Done:
    """A client, which may just start, is left one name server; it cannot reach the others, and is told so later.

    What tells it is what MQClientAPIImpl#fetchNameServerAddr has fetched. Later others reach it again, and are back in
    its list with the next process of its machine.
    """
    machine, left, later_ms = _each_of(
        world, ("which client", [*world.consumers]), ("which name server is left", world.namesrv_addrs),
        ("how much later", (1_000, 2_000, 10_000)))
    network, kernel = world.simulation.network, world.simulation.kernel
    world.calm = False
    if not world.joined(machine):
        world.join(machine)
    ways = [(machine, addr.partition(":")[0]) for addr in world.namesrv_addrs if addr != left]

    def tell(_: object) -> None:
        for client, consumer in world.running():
            if client == machine:
                consumer.instance.remoting_client.update_name_server_address_list([left])

    def heal(_: object) -> None:
        for way in ways:
            network.heal_one(way)

    for way in ways:
        network.partition(*way)
    kernel.at(world.now_ms + later_ms, tell, None)
    kernel.at(world.now_ms + 2 * later_ms, heal, None)
    return machine, f"is left {left} alone, which it is told {later_ms} ms later"


def overload(world: World) -> Done:
    """A broker has too much to do and refuses what clients ask of their groups and offsets."""
    broker, busy_ms = _each_of(world, ("which broker", _living_brokers(world)), ("how long", (1_000, 10_000)))
    world.calm = False
    controller, until_ms = world.brokers[broker], world.now_ms + busy_ms
    for code in (RequestCode.GET_CONSUMER_LIST_BY_GROUP, RequestCode.QUERY_CONSUMER_OFFSET,
                 RequestCode.UPDATE_CONSUMER_OFFSET):
        handler, pool = controller.processors[code]
        controller.remoting_server.register_processor(
            code, handler, controller.pools[pool], lambda: world.now_ms < until_ms)
    return broker, f"is too busy for {busy_ms} ms"


def promote(world: World) -> Done:
    """A master dies for good, and its slave restarts as the master."""
    master, slave = _one_of(world, "which master dies", _living_couples(world))
    world.retire(master)
    world.restart_broker_as(slave, broker_id=0)
    return master, f"dies for good, and {slave} takes its place"


def switch(world: World) -> Done:
    """An operator restarts a slave as the master, and then shuts the old master down in order, for good."""
    (master, slave), later_ms = _each_of(
        world, ("which master goes", _living_couples(world)), ("how much later", (1_000, 10_000)))
    node, controller, kernel = world.simulation.nodes[master], world.brokers[master], world.simulation.kernel
    world.restart_broker_as(slave, broker_id=0)

    def stop(_: object) -> None:
        if node.alive:
            node.spawn("shutdown hook", controller.shutdown())

    kernel.at(world.now_ms + later_ms, stop, None)
    kernel.at(world.now_ms + later_ms + RETIRED_MS, lambda _: world.retire(master), None)
    return slave, f"takes the place of {master}, which shuts down {later_ms} ms later"


def switch_off(world: World) -> Done:
    """A slave, or where there are none the second master, is switched off for good, and nobody is told."""
    slaves = any(f"{master}-slave" in world.simulation.nodes for master in BROKERS)
    spare = [slave for _, slave in _couples(world)] if slaves else [one for one in world.brokers if one == BROKERS[1]]
    broker = _one_of(world, "which broker", [name for name in spare if world.alive(name)])
    if slaves and world.brokers[broker].config.broker_id == 0:
        raise NothingToDoError
    world.retire(broker)
    return broker, "is switched off for good"


def _uncaught(job: Callable[[], Awaitable[object]]) -> Callable[[], Coroutine[Any, Any, None]]:
    """The job on a user's thread, whose exceptions end nothing but itself."""

    async def run() -> None:
        try:
            await job()
        except JavaError:
            return

    return run
