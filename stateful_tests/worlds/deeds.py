"""What people do in a world: users start, stop and suspend consumers; servers stop, are renamed, take places.

A deed asks the tape whom, does something and says to whom and what. Machines have names that do not change.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.service_state import SHUTDOWN_ALREADY
from impl.common.request_code import RequestCode
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.decisions.java_errors import JavaError
from impl.events import NameServersTold, SubscriptionAsked
from impl.hosts.simulation.node import Node
from stateful_tests.worlds.listeners import WORK_MS, Listener
from stateful_tests.worlds.requesters import Requester
from stateful_tests.worlds.world import World

BROKERS = ("broker-a", "broker-b")
OPERATOR = "operator"
GROUP, TOPIC, OTHER_TOPIC = "G", "orders", "invoices"
NO_TOPICS = ("refunds", "payments")
"""No broker has them. In the hash tables of clients one comes before TOPIC, one after it."""

LISTEN_PORT, MOVED_PORTS = 10_911, 20
"""BrokerConfig: listenPort; and how far away another one is, as slaves connect to the next one."""
MOVING_MS = 100
PERMISSIONS = PERM_READ, PERM_WRITE, PERM_READ | PERM_WRITE
BETWEEN_MS = 2_300
"""So long behind the timers of clients, which go every 5 s."""
ARRIVALS, ARRIVAL_MS, ARRIVING = 3, 1_700, 2
"""How often messages arrive, how long after one another, and how many in each queue."""
AGAIN_MS = 1_000
"""How often somebody looks whether an operator's machine runs."""
HOUR_MS = 60 * 60 * 1000
RETIRED_MS = 10_000
"""How long the shutdown of a broker may take before its machine is switched off."""
PAST_MS = 100 * HOUR_MS, HOUR_MS, 60_000
"""How long ago the messages were stored that are there when a world begins. The first ones may be deleted."""

OLD_TOPIC = "archive"
"""Nobody uses it. It is there from the beginning, and goes for good."""

Done = tuple[str, str]
"""To whom something was done, and what."""


class NothingToDoError(Exception):
    """A deed finds nobody, or nothing, to do something to."""


MOST = 256  # Tape#pick


def each_of(world: World, *questions: tuple[str, Sequence[Any]]) -> list[Any]:
    """What the tape picks for each question from its items; all are put before one without items ends the deed.

    Of more items than a tape can tell apart it picks from every second one, or every third, and so on.
    """
    tape = world.simulation.kernel.tape
    few = [(what, items[::-(-len(items) // MOST) or 1]) for what, items in questions]
    picked = [items[tape.pick(len(items), what)] if items else None for what, items in few]
    if not all(items for _, items in questions):
        raise NothingToDoError
    return picked


def one_of(world: World, what: str, items: Sequence[Any]) -> Any:
    """What the tape picks from these items."""
    return each_of(world, (what, items))[0]


def _joined(world: World) -> list[str]:
    return [machine for machine in world.consumers if world.joined(machine)]


def living_brokers(world: World) -> list[str]:
    """Brokers whose process lives."""
    return [name for name in world.brokers if world.alive(name)]


def masters(world: World) -> list[str]:
    """Brokers with the id of a master, dead or alive."""
    return [name for name in world.brokers if world.brokers[name].config.broker_id == 0]


def living_masters(world: World) -> list[str]:
    """Masters whose process lives."""
    return [name for name in masters(world) if world.alive(name)]


def _couples(world: World) -> list[tuple[str, str]]:
    """Masters and their slaves, where both have ever come up."""
    return [(master, f"{master}-slave") for master in BROKERS if {master, f"{master}-slave"} <= {*world.brokers}]


def _living_couples(world: World) -> list[tuple[str, str]]:
    return [couple for couple in _couples(world) if all(map(world.alive, couple))]


def join(world: World) -> Done:
    """A process of the group starts."""
    machine = one_of(world, "who joins", [machine for machine in world.consumers if not world.joined(machine)])
    world.join(machine)
    return machine, "joins the group"


def leave(world: World) -> Done:
    """A process of the group ends in order; one stays in any case."""
    return _leave(world, _joined(world)[1:])


def leave_between(world: World) -> Done:
    """The same, but it does not end just behind a timer that has committed everything."""
    machine = one_of(world, "who leaves soon", _joined(world)[1:])
    world.simulation.kernel.at(world.now_ms + BETWEEN_MS, world.leave, machine)
    return machine, f"shuts down in {BETWEEN_MS} ms"


def leave_any(world: World) -> Done:
    """A process of the group ends in order, any of several."""
    joined = _joined(world)
    return _leave(world, joined if len(joined) > 1 else [])


def _leave(world: World, machines: Sequence[str]) -> Done:
    machine = one_of(world, "who leaves", machines)
    world.leave(machine)
    return machine, "shuts down"


def suspend_or_resume(world: World) -> Done:
    """A user suspends a consumer, or resumes one."""
    machine, consumer = one_of(world, "who", list(world.running()))
    if consumer.pause:
        world.call(machine, uncaught(consumer.resume))
        return machine, "is resumed"
    consumer.suspend()
    return machine, "is suspended"


def stop_one(world: World) -> Done:
    """One of several consumers of a process stops, the others go on."""
    several = {machine: running for machine, running in world.consumers.items() if len(running) > 1}
    machine = one_of(world, "whose", [machine for machine in several if world.alive(machine)])
    consumer = several[machine][-1]

    async def stop() -> None:
        await consumer.shutdown()
        if consumer in world.consumers[machine] and consumer.service_state == SHUTDOWN_ALREADY:
            world.consumers[machine].remove(consumer)

    world.call(machine, uncaught(stop))
    return machine, f"stops its consumer of {consumer.group}"


def stop_consuming(world: World) -> Done:
    """A process stops its consumers and goes on sending; another one goes on consuming."""
    running = dict.fromkeys(machine for machine, _ in world.running() if machine in world.producers)
    machine = one_of(world, "who stops consuming", [*running][1:])
    consumers = [*world.consumers[machine]]

    async def stop() -> None:
        for consumer in consumers:
            await consumer.shutdown()
            if consumer in world.consumers[machine] and consumer.service_state == SHUTDOWN_ALREADY:
                world.consumers[machine].remove(consumer)

    world.call(machine, uncaught(stop))
    return machine, "stops its consumers, and goes on sending"


def consume_anew(world: World) -> Done:
    """An application stops its consumers and goes on with new ones, in the same process and by the same names."""
    machine, later_ms = each_of(
        world, ("whose", [machine for machine in world.consumers if world.may_consume_anew(machine)]),
        ("how much later", (0, 1_000, 40_000)))
    world.consume_anew(machine, later_ms)
    return machine, f"stops its consumers, and starts others in the same process {later_ms} ms later"


def replace_producer(world: World) -> Done:
    """An application that asks stops its producer when its requests are over, and goes on with another one."""
    asking = {machine: one for machine, one in world.producers.items()
              if isinstance(one, Requester) and not one.rests and world.alive(machine)}
    machine = one_of(world, "whose", [*asking])
    world.call(machine, uncaught(asking[machine].go_on_with_another))
    return machine, "stops its producer, and goes on with another one"


def subscribe(world: World) -> Done:
    """A roll-out: everybody subscribes one more topic."""
    return _roll_out(world, OTHER_TOPIC, "*")


def unsubscribe(world: World) -> Done:
    """A roll-out: nobody subscribes the other topic any more."""
    return _roll_out(world, OTHER_TOPIC, None)


def subscribe_nothing(world: World) -> Done:
    """A roll-out with a mistake: everybody subscribes a topic that nobody has."""
    return _roll_out(world, one_of(world, "which topic", NO_TOPICS), "*")


def change_expression(world: World) -> Done:
    """A roll-out: everybody subscribes the topic with another expression."""
    return _roll_out(world, TOPIC, one_of(world, "which expression", ("a", "b || c")))


def _roll_out(world: World, topic: str, expression: str | None) -> Done:
    """All members subscribe, or unsubscribe (None), when their threads come to it, however often it has changed then.

    Who starts later does so from its start.
    """
    rolled_out = world.rolled_out.setdefault(GROUP, {})
    rolled_out.pop(topic, None)
    if expression is not None:
        rolled_out[topic] = expression

    async def follow(consumer: DefaultMQPushConsumerImpl) -> None:
        consumer.node.trace(SubscriptionAsked(GROUP, topic, rolled_out.get(topic)))
        if topic in rolled_out:
            await consumer.subscribe(topic, rolled_out[topic])
        else:
            consumer.unsubscribe(topic)

    for machine, consumer in world.running():
        if consumer.group == GROUP:
            world.call(machine, uncaught(partial(follow, consumer)))
    return "everybody", f"unsubscribes {topic}" if expression is None else f"subscribes {topic} with {expression}"


def done_later(world: World, later_ms: int, job: Callable[[], object]) -> None:
    """Have an operator do something so much later, or when his machine runs again."""
    kernel = world.simulation.kernel

    def do(_: object) -> None:
        if world.alive(OPERATOR):
            job()
        else:
            kernel.at(world.now_ms + AGAIN_MS, do, None)

    kernel.at(world.now_ms + later_ms, do, None)


def consume(world: World) -> Done:
    """Messages arrive in all queues of a consumer, a few times, and its listener works on each batch."""
    (machine, consumer), work_ms = each_of(
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




def restart_name_server(world: World) -> Done:
    """An operator kills a name server, and starts it again."""
    namesrv = one_of(world, "which name server", [name for name in world.namesrvs if world.alive(name)])
    world.simulation.kill(namesrv)
    world.simulation.restart_after(namesrv, 1_000)
    return namesrv, "is killed, and started again"


def send_name_server_away(world: World) -> Done:
    """An operator shuts a name server down for minutes; another one goes on."""
    running = [name for name in world.namesrvs if world.alive(name)]
    namesrv, away_ms = each_of(world, ("which name server", running if len(running) > 1 else []),
                               ("for how long", (60_000, 150_000)))
    world.simulation.kill(namesrv)
    world.simulation.restart_after(namesrv, away_ms)
    return namesrv, f"is away for {away_ms} ms"


def halt_slave(world: World) -> Done:
    """The process of a slave stands still."""
    slaves = [one for one in living_brokers(world) if one not in masters(world)]
    slave, still_ms = each_of(world, ("which slave", slaves), ("for how long", (5_000, 40_000)))
    world.calm = False
    world.simulation.kernel.pause(world.simulation.nodes[slave], still_ms)
    return slave, f"stands still for {still_ms} ms"


def stop_broker(world: World) -> Done:
    """An operator shuts a broker down in order and starts it again."""
    machine, down_ms = each_of(world, ("which broker", living_brokers(world)), ("how long", (100, 5_000, 40_000)))
    _shut_broker_down(world, machine, down_ms)
    return machine, f"shuts down for {down_ms} ms"


def _shut_broker_down(world: World, machine: str, down_ms: int) -> None:
    controller, simulation = world.brokers[machine], world.simulation

    def end(node: Node) -> None:
        if node.alive:
            simulation.kill(machine)
            simulation.restart_after(machine, down_ms)

    world.shut_down(machine, controller.shutdown, end)


def set_clock_back(world: World) -> Done:
    """An operator sets the clock of a broker back by a minute, or right again."""
    broker, ms = each_of(world, ("whose clock", living_brokers(world)), ("how far", (-60_000, 60_000)))
    world.calm = False
    world.simulation.set_clock(broker, ms)
    return broker, f"has its clock set by {ms:+} ms"


def halt_broker(world: World) -> Done:
    """The process of a broker stands still, as it does while it collects garbage: who sends to it finds it slow."""
    broker, ms = each_of(world, ("which broker", living_brokers(world)), ("how long", (700, 1_200)))
    world.simulation.kernel.pause(world.simulation.nodes[broker], ms)
    return broker, f"stands still for {ms} ms"


def stop_broker_in_between(world: World) -> Done:
    """The same while a name server is away."""
    restart_name_server(world)
    return stop_broker(world)


def rename_broker(world: World) -> Done:
    """An operator gives a broker another name, or its former one back; its process is killed, and starts at once."""
    machine = one_of(world, "which broker", living_brokers(world))
    name = f"{machine}-renamed" if world.brokers[machine].config.broker_name == machine else machine
    world.restart_broker_as(machine, power_loss=False, broker_name=name)
    return machine, f"starts again under the name {name}"


def move_master(world: World) -> Done:
    """A master shuts down in order, and starts again at another port, or where it was before."""
    machine = one_of(world, "which master", living_masters(world))
    here = world.brokers[machine].config.listen_port
    port = LISTEN_PORT + MOVED_PORTS if here == LISTEN_PORT else LISTEN_PORT
    world.set_broker_up_as(machine, listen_port=port)
    _shut_broker_down(world, machine, MOVING_MS)
    return machine, f"shuts down, and starts again at port {port}"


def permit(world: World) -> Done:
    """An operator says whether a master may be read, and written, and starts it again."""
    machine, permission = each_of(world, ("which master", living_masters(world)),
                                  ("what may be done there", PERMISSIONS))
    world.set_broker_up_as(machine, broker_permission=permission)
    _shut_broker_down(world, machine, MOVING_MS)
    return machine, f"starts again with the permission {permission}"


def move_name_servers(world: World) -> Done:
    """A client, which may just start, is left one name server; it cannot reach the others, and is told so later.

    What tells it is what MQClientAPIImpl#fetchNameServerAddr has fetched. Later others reach it again, and are back in
    its list with the next process of its machine.
    """
    machine, left, later_ms = each_of(
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
                consumer.node.trace(NameServersTold(client, (left,)))
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
    broker, busy_ms = each_of(world, ("which broker", living_brokers(world)), ("how long", (1_000, 10_000)))
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
    master, slave = one_of(world, "which master dies", _living_couples(world))
    world.retire(master)
    world.restart_broker_as(slave, broker_id=0)
    return master, f"dies for good, and {slave} takes its place"


def lose_master(world: World) -> Done:
    """A master dies for good, and its slave stays a slave; another master goes on."""
    couples = _living_couples(world) if len(living_masters(world)) > 1 else []
    master, slave = one_of(world, "which master dies", couples)
    world.retire(master)
    return master, f"dies for good, and {slave} stays its slave"


def switch(world: World) -> Done:
    """An operator restarts a slave as the master, and then shuts the old master down in order, for good."""
    (master, slave), later_ms = each_of(
        world, ("which master goes", _living_couples(world)), ("how much later", (1_000, 10_000)))
    node, controller, kernel = world.simulation.nodes[master], world.brokers[master], world.simulation.kernel
    world.restart_broker_as(slave, broker_id=0)

    def stop(_: object) -> None:
        if node.alive:
            world.shut_down(master, controller.shutdown, lambda _: None)

    kernel.at(world.now_ms + later_ms, stop, None)
    kernel.at(world.now_ms + later_ms + RETIRED_MS, lambda _: world.retire(master), None)
    return slave, f"takes the place of {master}, which shuts down {later_ms} ms later"


def switch_off(world: World) -> Done:
    """A slave, or where there are none the second master, is switched off for good, and nobody is told."""
    slaves = any(f"{master}-slave" in world.simulation.nodes for master in BROKERS)
    spare = [slave for _, slave in _couples(world)] if slaves else [one for one in world.brokers if one == BROKERS[1]]
    broker = one_of(world, "which broker", [name for name in spare if world.alive(name)])
    if slaves and world.brokers[broker].config.broker_id == 0:
        raise NothingToDoError
    world.retire(broker)
    return broker, "is switched off for good"


def uncaught(job: Callable[[], Awaitable[object]]) -> Callable[[], Coroutine[Any, Any, None]]:
    """The job on a user's thread, whose exceptions end nothing but itself."""

    async def run() -> None:
        try:
            await job()
        except JavaError:
            return

    return run
