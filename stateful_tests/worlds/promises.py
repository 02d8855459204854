"""What must come true within a deadline once a world has healed, read from the tables of its machines.

Each promise is a declared property, judged here of the implementation: its deadline is the sum of the periods that the
property's proof adds up, and of what calls may still take that were under way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from impl.common.heartbeat_data import CLUSTERING
from impl.decisions.allocation import AllocateMessageQueueByMachineRoom
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID
from impl.events import ProcessKilled
from invariants.views import Views
from stateful_tests.worlds.world import World

EXPIRY_MS, SCAN_MS, HEARTBEAT_MS, ROUTE_MS, REBALANCE_MS, REGISTRATION_MS = (
    120_000, 10_000, 30_000, 30_000, 20_000, 30_000)
RESIDUE_MS = 40_000 + 20_000
"""What the storm leaves behind: a thread that stands still for 40 s, and calls of 3 s and more that run into their
time-outs one after another, on connections whose end nobody was told of."""

DROPPED_MS = EXPIRY_MS + SCAN_MS + RESIDUE_MS
ROUTED_MS = 2 * REGISTRATION_MS + RESIDUE_MS
"""The first registration may be the one that finds out that its connection is dead."""
LISTED_MS = EXPIRY_MS + SCAN_MS + ROUTE_MS + HEARTBEAT_MS + RESIDUE_MS
OWNED_MS = LISTED_MS + REBALANCE_MS
LOCKED_MS = OWNED_MS + 60_000 + 20_000
"""What an orderly hand-over takes more: 60 s of a dead owner's lock, 20 s to the next attempt."""


@dataclass(frozen=True, slots=True)
class Promise:
    """A property that comes true and stays true.

    property -- its name. deadline_ms -- after the healing. wrong -- what is still wrong in a world, as sentences.
    """

    property: str
    deadline_ms: int
    wrong: Callable[[World], Iterator[str]]


def subscribed(views: Views) -> list[tuple[str, str]]:
    """Group and topic of every living subscription in clustering; sorted."""
    return sorted({
        (one.group, topic) for one in views.in_service() if one.message_model == CLUSTERING
        for topic in views.subscribed(one.machine, one.group)
    })


def _shared_out(views: Views, group: str) -> Callable[[MessageQueue], bool]:
    """Whether the strategy of a group gives a queue to anybody; by configuration it may not (L13)."""
    strategies = [one.strategy for one in views.in_service() if one.group == group]
    if isinstance(strategies[0], AllocateMessageQueueByMachineRoom):
        rooms = strategies[0].consumeridcs or ()
        return lambda mq: (mq.broker_name or "").partition("@")[0] in rooms
    return lambda _: True


def _lost(world: World, topic: str) -> bool:
    """Whether a master that lives has lost a topic with its power, and is still routed to for it (N-14).

    Name servers that were there before and those that came later then differ for ever, and so do their clients.
    """
    powerless = {machine for _, machine, event in world.simulation.kernel.records
                 if event.__class__ is ProcessKilled and event.power_loss}
    views = world.views
    without = {broker.broker_name for broker in views.brokers() if broker.machine in powerless
               and broker.broker_id == MASTER_ID and topic not in views.topics(broker.machine)}
    routes = [views.queue_datas(namesrv).get(topic, ()) for namesrv in views.namesrvs()]
    return any(queue_data.broker_name in without for route in routes for queue_data in route)


def not_owned_once(world: World) -> Iterator[str]:
    """Queues without exactly one owner, and those with any that the strategy gives to nobody."""
    for group, topic in (one for one in subscribed(world.views) if not _lost(world, one[1])):
        shared_out = _shared_out(world.views, group)
        holders = world.views.holders(group, topic)
        for mq in sorted(mq for mq, machines in holders.items() if len(machines) != int(shared_out(mq))):
            held_by = ", ".join(holders[mq]) or "nobody"
            yield f"queue {mq.queue_id} of {topic} at {mq.broker_name} is held by {held_by}"


def not_locked(world: World) -> Iterator[str]:
    """Queues of orderly consumers that their owner could not lock, or whose lock it does not renew.

    And those that are locked for somebody who has given them up, or is gone.
    """
    holders, views = set[tuple[str, str, MessageQueue]](), world.views
    for held in (held for one in views.in_service() if one.orderly and one.message_model == CLUSTERING
                 for held in views.process_queues(one.machine) if held.group == one.group and not held.dropped):
        holders.add((held.group, held.client_id, held.mq))
        if not held.locked or held.lock_expired:
            yield f"{held.machine} holds {_text(held.mq)} without its lock"
    for broker in views.brokers():
        for (group, mq), lock in views.locks(broker.machine).items():
            if not lock.expired and (group, lock.client_id, mq) not in holders:
                yield f"{_text(mq)} is locked for {lock.client_id} of {group}, who does not hold it"


def _text(mq: MessageQueue) -> str:
    return f"queue {mq.queue_id} of {mq.topic} at {mq.broker_name}"


def not_listed_right(world: World) -> Iterator[str]:
    """Brokers that list others than the living members, or one of them twice; also of groups that nobody is in."""
    views = world.views
    brokers, consumers = [broker.machine for broker in views.brokers()], views.in_service()
    groups = sorted({one.group for one in consumers}.union(*(views.groups(broker) for broker in brokers)))
    living = {group: sorted(one.client_id for one in consumers if one.group == group) for group in groups}
    for broker in brokers:
        for group in groups:
            if (listed := views.listed(broker, group)) != living[group]:
                here = ", ".join(living[group]) or "nobody"
                yield f"{broker} lists {', '.join(listed) or 'nobody'} in {group}; there live {here}"


def unknown_brokers(world: World) -> Iterator[str]:
    """Name servers that do not know a living broker."""
    for namesrv in world.views.namesrvs():
        for broker in world.views.brokers():
            name, broker_id, address = broker.broker_name, broker.broker_id, broker.broker_addr
            if world.views.address_of(namesrv, name, broker_id) != address:
                yield f"{namesrv} does not know {address} as id {broker_id} of {name}"


def not_routed(world: World) -> Iterator[str]:
    """Name servers that do not route a topic to a living master that has it."""
    for namesrv in world.views.namesrvs():
        for broker in (broker for broker in world.views.brokers() if broker.broker_id == MASTER_ID):
            for topic in world.views.topics(broker.machine):
                if broker.broker_name not in world.views.routed(namesrv, topic):
                    yield f"{namesrv} does not route {topic} to {broker.broker_name}"


def dead_but_routed(world: World) -> Iterator[str]:
    """Name servers that route to an address where no broker lives."""
    living = {broker.broker_addr for broker in world.views.brokers()}
    for namesrv in world.views.namesrvs():
        for (name, _), address in world.views.addresses(namesrv).items():
            if address not in living:
                yield f"{namesrv} has {address} under {name}, where nobody lives"


def stale_routes(world: World) -> Iterator[str]:
    """Consumers whose queues of a topic are not those of the living brokers.

    They may have those too of a broker that has lost the topic, as long as a name server routes them (N-14).
    """
    queues: dict[str, set[MessageQueue]] = {}
    views = world.views
    for one in views.in_service():
        table = views.subscribe_info(one.machine, one.group)
        for topic in views.subscribed(one.machine, one.group):
            if topic not in queues:
                queues[topic] = set(views.queues(topic))
            has, real = table.get(topic, frozenset()), queues[topic]
            if not topic.startswith("%RETRY%") and has != real and not real <= has <= real | _left_over(views, topic):
                yield f"{one.machine} has another route of {topic} than the name servers"


def _left_over(views: Views, topic: str) -> set[MessageQueue]:
    """The queues that a name server still routes to a broker that does not have the topic any more."""
    living = {broker.broker_name for broker in views.brokers()}
    without = living - {mq.broker_name for mq in views.queues(topic)}
    return {
        MessageQueue(topic, data.broker_name, queue_id) for namesrv in views.namesrvs()
        for data in views.queue_datas(namesrv).get(topic, ()) if data.broker_name in without
        for queue_id in range(data.read_queue_nums)
    }


def not_subscribed(world: World) -> Iterator[str]:
    """Brokers without a topic that a living member subscribes, or with an older version of it."""
    for one in world.views.in_service():
        for topic, mine in world.views.subscribed(one.machine, one.group).items():
            for broker in world.views.brokers():
                found = world.views.subscriptions(broker.machine, one.group).get(topic)
                if found is None or found.sub_version < mine.sub_version:
                    word = "no" if found is None else "an old"
                    yield f"{broker.machine} has {word} subscription of {one.machine} to {topic}"


PROMISES: dict[str, Promise] = {promise.property: promise for promise in (
    Promise("every_name_server_learns", ROUTED_MS, unknown_brokers),
    Promise("full_registration_installs_all_topics", ROUTED_MS, not_routed),
    Promise("dead_broker_is_dropped", DROPPED_MS, dead_but_routed),
    Promise("route_cache_becomes_true", DROPPED_MS + ROUTE_MS, stale_routes),
    Promise("list_is_exactly_the_living", LISTED_MS, not_listed_right),
    Promise("pull_finds_its_subscription", LISTED_MS, not_subscribed),
    Promise("ownership_converges", OWNED_MS, not_owned_once),
    Promise("abandoned_lock_is_freed", LOCKED_MS, not_locked),
)}
"""By property."""
