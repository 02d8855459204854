"""Callers of producers: a process with one, its calls and what they give, brokers that answer as a story wants."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from impl.client.client_config import ClientConfig
from impl.client.default_mq_producer import DefaultMQProducer
from impl.client.mq_client_manager import MQClientManager
from impl.client.producer_config import ProducerConfig
from impl.client.send_result import SendResult
from impl.common.request_code import RequestCode
from impl.common.topic_config import TopicConfig
from impl.decisions.java_errors import JavaError
from impl.hosts.simulation.node import Node
from impl.ports.remoting import Command, Connection, Handler
from stateful_tests.worlds.world import World

BROKERS, PRODUCER, TOPIC = ("broker-a", "broker-b"), "producer1", "orders"
PLAIN = ProducerConfig("P")
ROLLED_BACK, COMMITTED_AND_UNKNOWN = 1, 2
"""See Transactions of worlds: the application rolls back; or it has committed, and does not say so."""


class Callback:
    """Keeps what it is told."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.told: list[SendResult | JavaError] = []

    def on_success(self, result: SendResult) -> None:
        """The broker has it."""
        self.told.append(result)

    def on_exception(self, error: JavaError) -> None:
        """It failed."""
        self.told.append(error)


def two_brokers(world: World) -> None:
    """Two brokers that keep messages, with two queues of a topic each."""
    world.add_namesrv()
    for broker in BROKERS:
        world.add_broker(broker, broker, topics=[TopicConfig(TOPIC, 2, 2)])
    world.run(100)


def started(world: World, config: ProducerConfig = PLAIN, **settings: Any) -> DefaultMQProducer:
    """A process with a producer."""
    made: list[DefaultMQProducer] = []

    async def boot(node: Node) -> None:
        client_config = ClientConfig(world.namesrv_addrs, PRODUCER, **settings)
        producer = DefaultMQProducer(node, MQClientManager(node), client_config, config)
        await producer.start()
        made.append(producer)

    world.simulation.add(PRODUCER, boot)
    world.run(2_000)
    (producer,) = made
    return producer


def knowing(world: World, config: ProducerConfig = PLAIN) -> DefaultMQProducer:
    """A process with a producer that has the route of the topic."""
    producer = started(world, config)
    outcome(world, lambda: producer.impl.try_to_find_topic_publish_info(TOPIC))
    return producer


def outcome(world: World, job: Callable[[], Awaitable[Any]], within_ms: int = 10_000) -> Any:
    """What a call in the producer's process gives, or the exception that it raises."""
    ended: list[Any] = []

    async def call() -> None:
        try:
            ended.append(await job())
        except JavaError as error:
            ended.append(error)

    world.call(PRODUCER, call)
    world.run_until(lambda: bool(ended), within_ms)
    return ended[0]


def serve(world: World, broker: str, code: RequestCode, handler: Handler) -> None:
    """Let a broker answer requests of this code in this way."""
    world.brokers[broker].remoting_server.register_processor(code, handler, world.brokers[broker].pools["send"])


def answering(world: World, broker: str, code: int, times: int = 100) -> None:
    """Let a broker refuse sends with a code, so often."""
    plane = world.brokers[broker].data_plane
    send, refused = plane.send_message_processor.send_message, 0

    async def handler(channel: Connection, request: Command) -> Command | None:
        nonlocal refused
        refused += 1
        return Command(code, remark="no") if refused <= times else await send(channel, request)

    serve(world, broker, RequestCode.SEND_MESSAGE_V2, handler)
