"""Lite pull consumers: they poll, commit what they have polled, go where they want, and rest."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from impl.client.client_config import ClientConfig
from impl.client.lite_pull_consumer import DefaultLitePullConsumerImpl
from impl.client.lite_pull_consumer_config import LitePullConsumerConfig
from impl.client.mq_client_manager import MQClientManager
from impl.common.message import MessageExt
from impl.common.topic_config import TopicConfig
from impl.decisions.java_errors import MQClientError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import ConsumeFromWhere
from impl.hosts.simulation.node import Node
from stateful_tests.worlds.producers import Sending
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.world import World

BROKER, TOPIC = "broker-a", "orders"
QUEUES = [MessageQueue(TOPIC, BROKER, queue_id) for queue_id in range(2)]
FROM_FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
LITE = LitePullConsumerConfig("G", consume_from_where=FROM_FIRST)


@pytest.fixture
def world() -> Iterator[World]:
    with World() as made:
        made.add_namesrv()
        made.add_broker(BROKER, BROKER, topics=[TopicConfig(TOPIC, 2, 2)])
        made.run(100)
        made.add_producer("producer1", Sending(TOPIC))
        yield made


class Application:
    """A process with a lite pull consumer. polled -- what it has polled."""

    def __init__(self, world: World, machine: str, config: LitePullConsumerConfig = LITE) -> None:
        self.world, self.machine, self.polled = world, machine, list[MessageExt]()
        made: list[DefaultLitePullConsumerImpl] = []

        async def boot(node: Node) -> None:
            client = ClientConfig(world.namesrv_addrs, machine)
            made.append(DefaultLitePullConsumerImpl(node, MQClientManager(node), client, config))

        world.simulation.add(machine, boot)
        world.run(0)
        self.consumer = made[0]

    def do(self, what: Callable[[], Coroutine[Any, Any, Any]], ms: int = 1_000) -> Any:
        """What came of it in the time; a MQClientError is raised here."""
        came: list[Any] = []

        async def call() -> None:
            try:
                came.append(await what())
            except MQClientError as error:
                came.append(error)

        self.world.call(self.machine, call)
        self.world.run(ms)
        if came and isinstance(came[0], MQClientError):
            raise came[0]
        return came[0] if came else None

    def poll(self, times: int = 100) -> None:
        """Poll so often, for a tenth of a second each: what waits, and what is sent meanwhile."""
        for _ in range(times):
            self.polled += self.do(lambda: self.consumer.poll(100), 150) or []

    def offsets(self, mq: MessageQueue) -> list[int]:
        """The offsets that were polled of a queue, in their order."""
        return [msg.queue_offset for msg in self.polled if msg.queue_id == mq.queue_id]


def started(world: World, machine: str = "c1", config: LitePullConsumerConfig = LITE, *, assign: bool) -> Application:
    """An application that reads all queues."""
    application = Application(world, machine, config)
    if assign:
        application.consumer.assign(QUEUES)
    else:
        application.do(lambda: application.consumer.subscribe(TOPIC))
    application.do(application.consumer.start, 25_000)
    return application


@pytest.mark.parametrize("assign", [True, False])
def test_all_that_is_sent_is_polled_once_and_in_order(world: World, assign: bool) -> None:
    application = started(world, assign=assign)
    application.poll()
    for mq in QUEUES:
        offsets = application.offsets(mq)
        assert len(offsets) > 10
        assert offsets == [*range(len(offsets))]


def test_what_was_polled_is_committed_with_a_later_poll(world: World) -> None:
    application = started(world, assign=True)
    application.poll()
    broker = world.brokers[BROKER].consumer_offset_manager
    world.run(20_000)
    before = broker.query_offset("G", TOPIC, 0)
    application.poll(2)  # the first one commits what was polled before
    world.run(6_000)
    assert before < broker.query_offset("G", TOPIC, 0) <= application.offsets(QUEUES[0])[-1] + 1


@pytest.mark.parametrize(("subject", "is_given"), [("shipped", True), ("repaired", False)])
def test_what_waits_of_a_topic_that_was_left_is_polled_as_shipped(world: World, subject: str, is_given: bool) -> None:
    """X27, of queues that no rebalance has in its table: nobody knew where they begin when it ran."""
    with subject_named(subject).running():
        application = started(world, assign=True)
        application.consumer.unsubscribe(TOPIC)
        application.poll(1)
        assert bool(application.polled) is is_given


def test_two_members_share_the_queues_that_they_subscribe(world: World) -> None:
    one, other = (started(world, machine, assign=False) for machine in ("c1", "c2"))
    world.run(60_000)
    has = [sorted(application.consumer.assigned_message_queue.message_queues()) for application in (one, other)]
    assert sorted(has) == [[mq] for mq in QUEUES]


def test_who_seeks_goes_there_and_forgets_what_waits(world: World) -> None:
    application = started(world, assign=True)
    application.poll()
    consumer, mq = application.consumer, QUEUES[0]
    application.polled.clear()
    application.do(lambda: consumer.seek_to_begin(mq), 25_000)
    application.poll()
    assert application.offsets(mq)[:3] == [0, 1, 2]
    application.polled.clear()
    application.do(lambda: consumer.seek(mq, 5), 25_000)
    application.poll()
    assert application.offsets(mq)[0] == 5
    with pytest.raises(MQClientError, match="Seek offset illegal"):
        application.do(lambda: consumer.seek(mq, 1_000_000))
    with pytest.raises(MQClientError, match="not in assigned list"):
        application.do(lambda: consumer.seek(MessageQueue(TOPIC, BROKER, 7), 0))


def test_with_its_repair_a_seek_whose_pull_fails_is_not_made_again_where_another_came_since() -> None:
    with subject_named("repaired").running(), World() as world:
        world.add_namesrv()
        world.add_broker(BROKER, BROKER, topics=[TopicConfig(TOPIC, 1, 1)])
        world.run(100)
        world.add_producer("producer1", Sending(TOPIC))
        application, (mq, _) = Application(world, "c1"), QUEUES
        application.consumer.assign([mq])
        application.do(application.consumer.start, 25_000)
        world.simulation.kill("producer1")
        application.poll()
        world.script.pause("processRequest: nothing is found", 40_000)  # longer than the client waits
        application.do(lambda: application.consumer.seek_to_end(mq))
        application.do(lambda: application.consumer.seek(mq, 3))
        world.simulation.start("producer1")
        world.run(60_000)
        application.polled.clear()
        application.poll()
        assert application.offsets(mq) == [*range(3, 3 + len(application.polled))]
        assert len(application.polled) > 100


def test_who_seeks_the_end_is_given_what_comes_then(world: World) -> None:
    application = started(world, assign=True)
    application.poll()
    end = application.do(lambda: application.consumer.max_offset(QUEUES[0]))
    application.do(lambda: application.consumer.seek_to_end(QUEUES[0]), 25_000)
    application.polled.clear()
    application.poll()
    assert application.offsets(QUEUES[0])[0] >= end


def test_a_queue_that_is_paused_is_not_pulled(world: World) -> None:
    application = started(world, assign=True)
    application.consumer.pause(QUEUES[:1])
    world.run(25_000)
    application.poll()
    application.polled.clear()
    world.run(10_000)
    application.poll()
    assert application.offsets(QUEUES[0]) == []
    assert application.offsets(QUEUES[1])
    application.consumer.resume_queues(QUEUES[:1])
    application.poll()
    assert application.offsets(QUEUES[0])


def test_a_listener_is_told_when_a_topic_has_other_queues(world: World) -> None:
    application = started(world, assign=True)
    told: list[tuple[str, int]] = []
    application.do(lambda: application.consumer.register_topic_message_queue_change_listener(
        TOPIC, lambda topic, mqs: told.append((topic, len(mqs)))))
    world.run(60_000)
    assert told == []
    world.create_topic(BROKER, TOPIC, 4)
    world.run(70_000)
    assert told == [(TOPIC, 4)]


def test_topics_and_queues_are_not_mixed(world: World) -> None:
    application = Application(world, "c1")
    application.consumer.assign(QUEUES)
    with pytest.raises(MQClientError):
        application.do(lambda: application.consumer.subscribe(TOPIC))
