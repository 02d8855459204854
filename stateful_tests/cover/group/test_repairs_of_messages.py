"""Repairs of what becomes of messages that are sent back: the same deeds on shipped, and with them."""

from __future__ import annotations

import pytest

from impl.client import send_kernel
from impl.client.message_listener import ConsumeConcurrentlyStatus
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_RECONSUME_TIME
from impl.common.message_to_send import Message
from impl.common.topic_config import TopicConfig
from impl.decisions.java_errors import JavaError
from impl.events import SendAttempted
from stateful_tests.cover.group.test_failures import BROKER, RETRY, TOPIC, Bad, listening
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.world import World


@pytest.mark.parametrize(("subject", "anew"), [("shipped", True), ("repaired", False)])
def test_x5_a_message_whose_send_back_is_not_answered_is_sent_anew(subject: str, *, anew: bool) -> None:
    with subject_named(subject).running(), World() as world:
        world.add_namesrv()
        world.add_broker(BROKER, BROKER, topics=[TopicConfig(TOPIC, 1, 1)])
        world.run(100)
        consumer = listening(world, Bad(ConsumeConcurrentlyStatus.CONSUME_SUCCESS))
        world.run(30_000)
        world.simulation.kill(BROKER)
        raised: list[JavaError] = []

        async def send_back() -> None:
            try:
                await consumer.send_message_back(MessageExt(0, topic=TOPIC), 3, BROKER)
            except JavaError as error:
                raised.append(error)

        world.call("c1", send_back)
        world.run(30_000)
        assert raised, "a broker that is dead takes nothing"
        assert bool(world.events(SendAttempted)) is anew


@pytest.mark.parametrize(("subject", "second"), [("shipped", 0), ("repaired", 5)])
def test_x20_a_second_send_of_a_retry_says_how_often_it_was_tried(subject: str, second: int) -> None:
    message = Message(RETRY, b"x")
    message.put_property(PROPERTY_RECONSUME_TIME, "5")
    with subject_named(subject).running():
        assert [send_kernel._reconsume_times(message)[0] for _ in range(2)] == [5, second]
