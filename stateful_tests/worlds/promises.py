"""What must come true within a deadline once a world has healed, read from the tables of its machines.

Each promise is a declared property, judged here of the implementation: its deadline is the sum of the periods that the
property's proof adds up, and of what calls may still take that were under way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from impl.broker.rebalance_lock_manager import RebalanceLockManager
from impl.client.mq_client_instance import SHUTDOWN_ALREADY
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.decisions.allocation import AllocateMessageQueueByMachineRoom
from impl.decisions.message_queue import MessageQueue
from impl.events import ProcessKilled
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


def in_service(world: World) -> list[tuple[str, DefaultMQPushConsumerImpl]]:
    """The consumers that run and have not shut down, with their machines; others of their process may run on."""
    return [one for one in world.running() if one[1].service_state != SHUTDOWN_ALREADY]


def subscribed(world: World) -> list[tuple[str, str]]:
    """Group and topic of every living subscription in clustering; sorted."""
    return sorted({
        (consumer.group, topic) for _, consumer in in_service(world) if consumer.config.message_model == "CLUSTERING"
        for topic in consumer.rebalance_impl.subscription_inner.key_set()
    })


def _shared_out(world: World, group: str) -> Callable[[MessageQueue], bool]:
    """Whether the strategy of a group gives a queue to anybody; by configuration it may not (L13)."""
    strategies = [consumer.config.strategy for _, consumer in in_service(world) if consumer.group == group]
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
    without = {broker.config.broker_name for machine, broker in world.brokers.items()
               if machine in powerless and world.alive(machine) and broker.config.broker_id == 0
               and broker.topic_config_manager.select_topic_config(topic) is None}
    tables = [namesrv.route_info.topic_queue_table for namesrv in world.namesrvs.values()]
    return any(queue_data.broker_name in without for table in tables for queue_data in table.get(topic) or ())


def not_owned_once(world: World) -> Iterator[str]:
    """Queues without exactly one owner, and those with any that the strategy gives to nobody."""
    for group, topic in (one for one in subscribed(world) if not _lost(world, one[1])):
        shared_out = _shared_out(world, group)
        owners = world.owners(group, topic)
        for mq in sorted(mq for mq, machines in owners.items() if len(machines) != int(shared_out(mq))):
            held_by = ", ".join(owners[mq]) or "nobody"
            yield f"queue {mq.queue_id} of {topic} at {mq.broker_name} is held by {held_by}"


def not_locked(world: World) -> Iterator[str]:
    """Queues of orderly consumers that their owner could not lock, or whose lock it does not renew.

    And those that are locked for somebody who has given them up, or is gone.
    """
    holders = set[tuple[str, str, MessageQueue]]()
    for machine, consumer in in_service(world):
        if consumer.config.orderly and consumer.config.message_model == "CLUSTERING":
            for mq, pq in consumer.rebalance_impl.process_queue_table.entries():
                if not pq.dropped:
                    holders.add((consumer.group, consumer.instance.client_id, mq))
                    if not pq.locked or pq.is_lock_expired():
                        yield f"{machine} holds queue {mq.queue_id} of {mq.topic} at {mq.broker_name} without its lock"
    for machine, broker in world.brokers.items():
        if world.alive(machine):
            yield from _locked_for_nobody(broker.rebalance_lock_manager, holders)


def _locked_for_nobody(
    locks: RebalanceLockManager, holders: Collection[tuple[str, str, MessageQueue]],
) -> Iterator[str]:
    """Locks that count, of queues that the client of the lock does not hold."""
    for group, entries in locks.mq_lock_table.entries():
        for mq, entry in entries.entries():
            if not entry.is_expired(locks.now_ms()) and (group, entry.client_id, mq) not in holders:
                text = f"queue {mq.queue_id} of {mq.topic} at {mq.broker_name}"
                yield f"{text} is locked for {entry.client_id} of {group}, who does not hold it"


def not_listed_right(world: World) -> Iterator[str]:
    """Brokers that list others than the living members, or one of them twice; also of groups that nobody is in."""
    tables = [broker.consumer_manager.consumer_table for broker in world.brokers.values()]
    consumers = [consumer for _, consumer in in_service(world)]
    groups = sorted({consumer.group for consumer in consumers}.union(*(table.key_set() for table in tables)))
    living = {group: sorted(consumer.instance.client_id for consumer in consumers if consumer.group == group)
              for group in groups}
    for broker in world.brokers:
        for group in groups:
            if world.alive(broker) and (listed := world.members(broker, group)) != living[group]:
                here = ", ".join(living[group]) or "nobody"
                yield f"{broker} lists {', '.join(listed) or 'nobody'} in {group}; there live {here}"


def unknown_brokers(world: World) -> Iterator[str]:
    """Name servers that do not know a living broker."""
    for namesrv in world.namesrvs:
        for machine, broker in world.brokers.items():
            config, address = broker.config, broker.broker_addr
            if world.alive(machine) and world.address_of(namesrv, config.broker_name, config.broker_id) != address:
                yield f"{namesrv} does not know {address} as id {config.broker_id} of {config.broker_name}"


def not_routed(world: World) -> Iterator[str]:
    """Name servers that do not route a topic to a living master that has it."""
    for namesrv in world.namesrvs:
        for machine, broker in world.brokers.items():
            if world.alive(machine) and broker.config.broker_id == 0:
                for topic, _ in broker.topic_config_manager.topic_config_table.entries():
                    if broker.config.broker_name not in world.routed(namesrv, topic):
                        yield f"{namesrv} does not route {topic} to {broker.config.broker_name}"


def dead_but_routed(world: World) -> Iterator[str]:
    """Name servers that route to an address where no broker lives."""
    living = {broker.broker_addr for machine, broker in world.brokers.items() if world.alive(machine)}
    for namesrv, controller in world.namesrvs.items():
        for name, data in controller.route_info.broker_addr_table.entries():
            for address in data.broker_addrs.values():
                if address not in living:
                    yield f"{namesrv} has {address} under {name}, where nobody lives"


def stale_routes(world: World) -> Iterator[str]:
    """Consumers whose queues of a topic are not those of the living brokers.

    They may have those too of a broker that has lost the topic, as long as a name server routes them (N-14).
    """
    queues: dict[str, set[MessageQueue]] = {}
    for machine, consumer in in_service(world):
        table = consumer.rebalance_impl.topic_subscribe_info_table
        for topic in consumer.rebalance_impl.subscription_inner.key_set():
            if topic not in queues:
                queues[topic] = set(world.queues(topic))
            has, real = set(table.get(topic) or ()), queues[topic]
            if not topic.startswith("%RETRY%") and has != real and not real <= has <= real | _left_over(world, topic):
                yield f"{machine} has another route of {topic} than the name servers"


def _left_over(world: World, topic: str) -> set[MessageQueue]:
    """The queues that a name server still routes to a broker that does not have the topic any more."""
    living = {broker.config.broker_name for machine, broker in world.brokers.items() if world.alive(machine)}
    without = living - {mq.broker_name for mq in world.queues(topic)}
    return {
        MessageQueue(topic, data.broker_name, queue_id) for controller in world.namesrvs.values()
        for data in controller.route_info.topic_queue_table.get(topic) or () if data.broker_name in without
        for queue_id in range(data.read_queue_nums)
    }


def not_subscribed(world: World) -> Iterator[str]:
    """Brokers without a topic that a living member subscribes, or with an older version of it."""
    for machine, consumer in in_service(world):
        for topic, mine in consumer.rebalance_impl.subscription_inner.entries():
            for broker, controller in world.brokers.items():
                found = controller.consumer_manager.find_subscription_data(consumer.group, topic)
                if world.alive(broker) and (found is None or found.sub_version < mine.sub_version):
                    yield f"{broker} has {'no' if found is None else 'an old'} subscription of {machine} to {topic}"


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
