"""The servers of the worlds of workloads, and the processes that most of them have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from impl.broker.consumer_offset_manager import topic_at_group
from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.topic_config import TopicConfig
from impl.decisions.names import get_retry_topic
from impl.hash_map import ConcurrentHashMap
from impl.store.message_store_config import MessageStoreConfig
from stateful_tests.worlds.deeds import BROKERS, GROUP, OPERATOR, OTHER_TOPIC, TOPIC, living_brokers
from stateful_tests.worlds.parts import ALIKE, COMMITTED, CONSUMERS, OLD, SPARE
from stateful_tests.worlds.past import Past
from stateful_tests.worlds.producers import Sending
from stateful_tests.worlds.world import World


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


def few(world: World, *configs: PushConsumerConfig, **settings: Any) -> None:
    """Two processes that run these consumers, and one that does so from a deed on; settings -- of ClientConfig."""
    for machine in (*CONSUMERS[:2], *SPARE[:1]):
        world.add_consumer(machine, *configs, idle=machine in SPARE, **settings)


def everybody(world: World, *configs: PushConsumerConfig, **settings: Any) -> None:
    """Three processes that run these consumers, and two that do so from a deed on; settings -- see `few`."""
    for machine in (*CONSUMERS, *SPARE):
        world.add_consumer(machine, *configs, idle=machine in SPARE, **settings)


def senders(world: World, *sendings: Sending) -> None:
    """A process for each of these."""
    for number, one in enumerate(sendings, 1):
        world.add_producer(f"producer{number}", one)


def started(world: World) -> list[str]:
    """The masters whose first start has not failed: a disk may refuse what it forces."""
    return [broker for broker in living_brokers(world) if broker in BROKERS]


def have_read(world: World, broker: str, configs: Sequence[PushConsumerConfig]) -> None:
    """The groups have read what the masters had stored up to COMMITTED, each group 4 more than the one before."""
    offset_manager = world.brokers[broker].consumer_offset_manager
    for more, config in enumerate(configs):
        for topic in config.subscription:
            offsets = ConcurrentHashMap(32, [(queue_id, COMMITTED + 4 * more) for queue_id in range(8)])
            offset_manager.offset_table.put(topic_at_group(topic, config.consumer_group), offsets)
    world.brokers[broker].persist_consumer_offset()
