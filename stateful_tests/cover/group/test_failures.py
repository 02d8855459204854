"""What becomes of messages with which listeners fail: tried again, put off, and at last a dead letter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from impl.client.message_listener import (
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    ConsumeContext,
    ConsumeOrderlyContext,
    ConsumeOrderlyStatus,
    ConsumeStatus,
    success,
)
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.message import MessageExt
from impl.common.topic_config import TopicConfig
from impl.decisions.java_errors import JavaRuntimeError
from impl.decisions.start_offset import ConsumeFromWhere
from impl.events import MessageAppended
from stateful_tests.worlds.producers import Sending
from stateful_tests.worlds.world import World

BROKER, TOPIC, RETRY, DEAD = "broker-a", "orders", "%RETRY%G", "%DLQ%G"
CONFIG = PushConsumerConfig("G", {TOPIC: "*"}, consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET,
                            max_reconsume_times=2)


@pytest.fixture
def world() -> Iterator[World]:
    with World() as made:
        made.add_namesrv()
        made.add_broker(BROKER, BROKER, topics=[TopicConfig(TOPIC, 1, 1)])
        made.run(100)
        made.add_producer("producer1", Sending(TOPIC))
        made.run(5_000)
        made.simulation.kill("producer1")
        yield made


class Bad:
    """A listener that answers the first message of the topic as it is told, and others well.

    given -- the topic, and the number of attempts, of each time that it was given the first message.
    """

    def __init__(
        self, answer: ConsumeStatus | type[JavaRuntimeError] | None, *, at_once: bool = False,
    ) -> None:
        self.answer, self.at_once, self.first = answer, at_once, ""
        self.given: list[tuple[str, int]] = []

    async def consume_message(self, msgs: Sequence[MessageExt], context: ConsumeContext) -> ConsumeStatus | None:
        self.first = self.first or msgs[0].get_property("UNIQ_KEY") or ""
        if self.first not in [msg.get_property("UNIQ_KEY") for msg in msgs]:
            return success(context)
        self.given.append((context.message_queue.topic, msgs[0].reconsume_times))
        assert {msg.topic for msg in msgs} == {TOPIC}
        if isinstance(context, ConsumeConcurrentlyContext) and self.at_once:
            context.delay_level_when_next_consume = -1
        if isinstance(self.answer, type):
            raise self.answer("bad")
        return self.answer


def listening(world: World, listener: Bad, config: PushConsumerConfig = CONFIG) -> DefaultMQPushConsumerImpl:
    """A consumer with this listener."""
    world.add_consumer("c1", config, idle=False)
    consumer = world.consumers["c1"][0]
    consumer.message_listener = listener
    return consumer


def stored(world: World, listener: Bad) -> tuple[int, int]:
    """How often the first message of the listener was stored for a retry, and as a dead letter."""
    topics = [event.topic for _, event in world.events(MessageAppended) if event.key == listener.first]
    return topics.count(RETRY), topics.count(DEAD)


@pytest.mark.parametrize("answer", [ConsumeConcurrentlyStatus.RECONSUME_LATER, None, JavaRuntimeError])
def test_a_message_that_never_succeeds_is_tried_three_times_and_is_a_dead_letter_then(
    world: World, answer: ConsumeStatus | type[JavaRuntimeError] | None,
) -> None:
    listener = Bad(answer)
    consumer = listening(world, listener)
    world.run(150_000)
    assert listener.given == [(TOPIC, 0), (RETRY, 1), (RETRY, 2)]
    assert stored(world, listener) == (2, 1)
    queue = consumer.rebalance_impl.process_queue_table.entries()
    assert all(pq.msg_count == 0 for _, pq in queue)


def test_below_0_there_is_no_second_attempt(world: World) -> None:
    listener = Bad(ConsumeConcurrentlyStatus.RECONSUME_LATER, at_once=True)
    listening(world, listener)
    world.run(60_000)
    assert listener.given == [(TOPIC, 0)]
    assert stored(world, listener) == (0, 1)


@pytest.mark.parametrize("answer", [ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT, None, JavaRuntimeError])
def test_an_ordered_message_is_tried_where_it_is_until_it_is_a_dead_letter(
    world: World, answer: ConsumeStatus | type[JavaRuntimeError] | None,
) -> None:
    listener = Bad(answer)
    listening(world, listener, replace(CONFIG, orderly=True))
    world.run(120_000)
    assert listener.given == [(TOPIC, 0), (TOPIC, 1), (TOPIC, 2)]
    assert stored(world, listener) == (0, 1)


def test_a_rollback_settles_what_is_committed_with_success(world: World) -> None:
    listener = Bad(ConsumeOrderlyStatus.ROLLBACK)
    consumer = listening(world, listener, replace(CONFIG, orderly=True))
    world.run(60_000)
    assert listener.given == [(TOPIC, 0)]
    assert all(pq.msg_count == 0 for _, pq in consumer.rebalance_impl.process_queue_table.entries())


def test_who_commits_himself_settles_all_that_he_was_given(world: World) -> None:
    class ByHand(Bad):
        async def consume_message(self, msgs: Sequence[MessageExt], context: ConsumeContext) -> ConsumeStatus:
            assert isinstance(context, ConsumeOrderlyContext)
            context.auto_commit = False
            self.given.append((context.message_queue.topic, len(msgs)))
            return ConsumeOrderlyStatus.COMMIT if len(self.given) == 3 else ConsumeOrderlyStatus.SUCCESS

    listener = ByHand(None)
    consumer = listening(world, listener, replace(CONFIG, orderly=True))
    world.run(40_000)
    mq, pq = next((mq, pq) for mq, pq in consumer.rebalance_impl.process_queue_table.entries() if mq.topic == TOPIC)
    settled = sum(count for _, count in listener.given[:3])
    assert consumer.offset_store.clone_offset_table(TOPIC)[mq] == settled
    assert pq.msg_count == sum(count for _, count in listener.given[3:])


def test_who_broadcasts_drops_what_has_failed(world: World) -> None:
    listener = Bad(ConsumeConcurrentlyStatus.RECONSUME_LATER)
    listening(world, listener, replace(CONFIG, message_model="BROADCASTING"))
    world.run(60_000)
    assert listener.given == [(TOPIC, 0)]
    assert stored(world, listener) == (0, 0)
