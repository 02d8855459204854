"""What stories have in common: a small cast, requests that a tester sends, and looks at single tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from impl.client.process_queue import ProcessQueue
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.headers import ConsumerOffsetRequestHeader, RegisterBrokerBody, RegisterBrokerRequestHeader
from impl.common.heartbeat_data import CLUSTERING, CONSUME_PASSIVELY, ConsumerData, HeartbeatData, ProducerData
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfig, TopicConfigSerializeWrapper
from impl.decisions.message_queue import MessageQueue
from impl.decisions.subscription import SubscriptionData
from impl.events import (
    ListenerEnded,
    ListenerStarted,
    OffsetCommitted,
    QueueTaken,
)
from impl.hosts.simulation.clock import EPOCH_MS
from impl.ports.remoting import Command
from impl.store.message_store_config import MessageStoreConfig
from invariants.views import QueueRange
from stateful_tests.worlds.listeners import Listener
from stateful_tests.worlds.machines import STORE
from stateful_tests.worlds.world import World

NS, NS_ADDR, BROKER, ADDR = "nameserver1", "nameserver1:9876", "broker-a", "broker-a:10911"
TOPICS = (TopicConfig("orders", 4, 4), TopicConfig("invoices", 4, 4))
ORDERS = PushConsumerConfig("G", {"orders": "*"})
IN_ORDER = PushConsumerConfig("G", {"orders": "*"}, orderly=True)
PERSIST_MS = 5_000  # ClientConfig.persistConsumerOffsetInterval
FIRST, LAST = MessageQueue("orders", BROKER, 0), MessageQueue("orders", BROKER, 3)


SMALL = replace(
    STORE, mapped_file_size_commit_log=8 * 1024, configured_file_size_consume_queue=400, max_message_size=4 * 1024)
"""A store of which a file holds some forty messages."""
FORGETFUL = replace(SMALL, total_physical_memory_bytes=0)
"""The store of a machine whose memory holds no message but the last one."""


def stage(world: World, *machines: str, store: MessageStoreConfig = STORE, **settings: Any) -> None:
    """One name server and these brokers, broker-a unless told otherwise, with two topics of four queues.

    store -- how the brokers keep messages.
    """
    world.store_config = store
    world.add_namesrv()
    for machine in machines or (BROKER,):
        world.add_broker(machine, machine, topics=TOPICS, **settings)
    world.run(100)


def join(world: World, machine: str, config: PushConsumerConfig = ORDERS) -> DefaultMQPushConsumerImpl:
    """A consumer starts, and five seconds pass."""
    world.add_consumer(machine, config)
    world.run(5_000)
    return world.consumers[machine][0]


def old_queues(world: World, max_offset: int, topic: str = "orders", broker: str = BROKER) -> None:
    """The queues of a topic get messages up to an offset.

    In a FORGETFUL store they are no longer young then: a group without an offset is told so.
    """
    config = world.brokers[broker].topic_config_manager.select_topic_config(topic)
    for queue_id in range(config.read_queue_nums if config else 1):
        fill(world, MessageQueue(topic, broker, queue_id), max_offset)


def stored(world: World, mq: MessageQueue = LAST) -> QueueRange:
    """What the broker of a queue has of it."""
    return world.views.stored_at(mq.broker_name, mq.topic, mq.queue_id) or QueueRange()


def fill(world: World, mq: MessageQueue, max_offset: int) -> None:
    """A producer sends messages to a queue, which ends at an offset then."""
    world.send("producer", mq, max_offset - stored(world, mq).max_offset)
    world.run_until(lambda: stored(world, mq).max_offset == max_offset, 1_000)


def held(consumer: DefaultMQPushConsumerImpl, mq: MessageQueue = LAST) -> ProcessQueue:
    """The process queue in the consumer's table."""
    pq = consumer.rebalance_impl.process_queue_table.get(mq)
    assert pq is not None
    return pq


def expire(world: World, mq: MessageQueue, broker: str = BROKER) -> int:
    """Files of others fill the disk, and the broker deletes all files of its log but the last: what is left of a queue.

    That is its first offset.
    """
    world.simulation.fill_disk(broker, 88)
    world.run_until(lambda: stored(world, mq).min_offset > 0, 75_000)
    world.simulation.fill_disk(broker, 0)
    return stored(world, mq).min_offset


def in_memory(consumer: DefaultMQPushConsumerImpl, mq: MessageQueue = LAST) -> int:
    """The offset that a consumer would commit; -1: none."""
    return consumer.offset_store.clone_offset_table(mq.topic).get(mq, -1)


def works(consumer: DefaultMQPushConsumerImpl, work_ms: int) -> None:
    """From now on the listener works for so long on a batch; without order, a third of it on every second one."""
    assert isinstance(consumer.message_listener, Listener)
    consumer.message_listener.work_ms = work_ms


def acknowledge(world: World, consumer: DefaultMQPushConsumerImpl, offset: int, mq: MessageQueue = LAST) -> None:
    """Messages up to an offset come, and a listener's success has raised the offset in memory."""
    fill(world, mq, offset)
    world.run_until(lambda: in_memory(consumer, mq) == offset, 5_000)


def begin_batch(consumer: DefaultMQPushConsumerImpl, mq: MessageQueue = LAST) -> ProcessQueue:
    """An orderly listener begins, under the lock of the queue."""
    pq = held(consumer, mq)
    pq.consume_lock.held = True
    consumer.node.trace(ListenerStarted(consumer.instance.client_id, consumer.group, mq))
    return pq


def end_batch(consumer: DefaultMQPushConsumerImpl, pq: ProcessQueue, mq: MessageQueue = LAST) -> None:
    """It has ended."""
    consumer.node.trace(ListenerEnded(consumer.instance.client_id, consumer.group, mq))
    pq.consume_lock.held = False


def believes(consumer: DefaultMQPushConsumerImpl, mq: MessageQueue) -> bool:
    """Whether it would give messages of the queue to its listener."""
    pq = consumer.rebalance_impl.process_queue_table.get(mq)
    return pq is not None and not pq.dropped and pq.locked and not pq.is_lock_expired()


def ask_only(world: World, broker: str) -> None:
    """From now on whoever draws a broker of the topic draws this one."""
    route = next(iter(world.consumers.values()))[0].instance.routes.topic_route_table.get("orders")
    assert route is not None
    names = [data.broker_name for data in route.broker_datas]
    world.script.draw("MQClientInstance#findBrokerAddrByTopic", names.index(broker))


def after_a_persist(world: World) -> None:
    """Clients that started in the first 200 ms commit every 5 s since; run to one second behind such a moment."""
    world.run_until(lambda: world.now_ms % PERSIST_MS == PERSIST_MS // 4, PERSIST_MS)


def committed(world: World, mq: MessageQueue = LAST, group: str = "G", broker: str = BROKER) -> int:
    """The offset in the broker's table; -1: none."""
    return world.views.committed(broker, group).get((mq.topic, mq.queue_id), -1)


def commits(world: World, mq: MessageQueue = LAST, since_ms: int = 0) -> list[int]:
    """The offsets that were committed for a queue, in their order."""
    events = world.events(OffsetCommitted, since_ms)
    return [event.offset for _, event in events if (event.topic, event.queue_id) == (mq.topic, mq.queue_id)]


def starts(world: World, mq: MessageQueue = LAST, since_ms: int = 0) -> list[int]:
    """The offsets at which a queue was begun by those who took it, in their order."""
    return [event.offset for _, event in world.events(QueueTaken, since_ms) if event.mq == mq]


# Requests -------------------------------------------------------------------------------------------------------------


def start_asking(
    world: World, tester: str, request: Command, addr: str = ADDR, timeout_ms: int = 3_000,
) -> list[Command]:
    """Send a request and do not wait; the list will have the answer."""
    if tester not in world.testers:
        world.add_tester(tester)
    answers: list[Command] = []

    async def ask() -> None:
        answers.append(await world.testers[tester].invoke_sync(addr, request, timeout_ms))

    world.call(tester, ask)
    return answers


def subscription(topic: str, text: str = "*", version: int = 1, kind: str = "TAG") -> SubscriptionData:
    """A subscription as a heartbeat has it; version -- in ms after the story's begin."""
    return SubscriptionData(topic, text, sub_version=EPOCH_MS + version, expression_type=kind)


def heartbeat(client_id: str, *subscriptions: SubscriptionData, group: str = "G", producer: str = "") -> Command:
    """A heartbeat of a consumer, and of a producer if one is named."""
    data = ConsumerData(group, CONSUME_PASSIVELY, CLUSTERING, "CONSUME_FROM_LAST_OFFSET", list(subscriptions))
    producers = [ProducerData(producer)] if producer else []
    return Command(RequestCode.HEART_BEAT, body=HeartbeatData(client_id, producers, [data] if subscriptions else []))


def commit(queue_id: int, offset: int, group: str = "G", topic: str = "orders") -> Command:
    """UPDATE_CONSUMER_OFFSET."""
    header = ConsumerOffsetRequestHeader(group, topic, queue_id, offset)
    return Command(RequestCode.UPDATE_CONSUMER_OFFSET, header=header)


def commit_everywhere(world: World, offset: int, topic: str = "orders") -> None:
    """An operator commits an offset for all four queues of a topic."""
    for queue_id in range(4):
        assert world.ask(ADDR, commit(queue_id, offset, topic=topic)).code == ResponseCode.SUCCESS


def registration(
    broker_name: str, broker_addr: str, wrapper: TopicConfigSerializeWrapper | None, cluster: str = "DefaultCluster",
) -> Command:
    """REGISTER_BROKER of a master, with the topics as they are now."""
    header = RegisterBrokerRequestHeader(broker_name, broker_addr, cluster, 0, broker_addr)
    if wrapper is not None and wrapper.topic_config_table is not None:
        wrapper = replace(wrapper, topic_config_table=dict(wrapper.topic_config_table))
    return Command(RequestCode.REGISTER_BROKER, header=header, body=RegisterBrokerBody(wrapper, []))
