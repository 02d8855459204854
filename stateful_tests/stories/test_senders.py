"""The hazards of producers, on shipped: what becomes of sends that fail, of retries, and of queues."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from impl.client.client_errors import ClientErrorCode, SendError
from impl.client.default_mq_producer import DefaultMQProducer
from impl.client.message_queue_selectors import SelectMessageQueueByHash
from impl.client.offset_store import MQBrokerError
from impl.client.producer_config import ProducerConfig
from impl.client.push_consumer_config import PushConsumerConfig
from impl.client.send_result import SendResult
from impl.common.headers import BrokerNameRequestHeader
from impl.common.message_to_send import Message
from impl.common.request_code import RequestCode
from impl.common.topic_config import TopicConfig
from impl.decisions.java_errors import JavaError
from impl.decisions.start_offset import ConsumeFromWhere
from impl.events import (
    HalfMessageEnded,
    MessageAppended,
    MessagesGiven,
    RequestTold,
    SendAsked,
    SendAttempted,
    SendFailed,
)
from impl.ports.remoting import Command
from stateful_tests.stories.senders import (
    BROKERS,
    COMMITTED_AND_UNKNOWN,
    PRODUCER,
    TOPIC,
    Callback,
    answering,
    knowing,
    outcome,
    two_brokers,
)
from stateful_tests.worlds.deeds import GROUP
from stateful_tests.worlds.producers import ASYNC, IN_TRANSACTION, SEND_EVERY_MS, Sending
from stateful_tests.worlds.requesters import ASK_LATER
from stateful_tests.worlds.world import World

AWARE = ProducerConfig("P", send_latency_fault_enable=True)
FROM_FIRST = PushConsumerConfig(GROUP, {TOPIC: "*"}, consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
BUSY, ABSENT = 2, 17
HALF, GIVEN_UP = "RMQ_SYS_TRANS_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC"


def message() -> Message:
    """A message."""
    return Message(TOPIC, b"x")


def stored(world: World) -> list[str]:
    """The brokers that have appended something, each time."""
    return [machine for _, machine, event in world.simulation.kernel.records if isinstance(event, MessageAppended)]


def sent(world: World) -> list[str]:
    """The brokers to which requests went."""
    return [event.mq.broker_name for _, event in world.events(SendAttempted)]


def test_p1_the_last_attempt_is_refused_and_an_earlier_one_is_stored() -> None:
    with World() as world:
        two_brokers(world)
        producer = knowing(world)
        world.simulation.kill(BROKERS[0])
        error = outcome(world, lambda: producer.send(message()))
        assert sent(world) == [BROKERS[0], BROKERS[1], BROKERS[0]]
        assert stored(world) == [BROKERS[1]]
        assert isinstance(error, SendError)
        assert error.response_code == ClientErrorCode.CONNECT_BROKER_EXCEPTION


def test_p2_a_silent_broker_uses_up_the_time_of_all_attempts() -> None:
    with World() as world:
        two_brokers(world)
        producer = knowing(world)
        world.simulation.kernel.pause(world.simulation.nodes[BROKERS[0]], 10_000)

        async def send() -> None:
            try:
                await producer.send(message())
            except JavaError:
                return

        world.call(PRODUCER, send)
        world.run(100)
        world.pause("sendDefaultImpl: a queue is picked", 1)
        world.run(5_000)
        ((_, failed),) = world.events(SendFailed)
        assert (failed.attempts, failed.allowed) == (2, 3)
        assert sent(world) == [BROKERS[0]]


def test_p3_the_list_that_all_share_loses_the_queues_of_a_broker() -> None:
    with World() as world:
        two_brokers(world)
        producer = knowing(world, AWARE)
        for _ in range(8):
            for broker, latency_ms in zip(BROKERS, (600, 700), strict=True):
                producer.impl.update_fault_item(broker, latency_ms, isolation=False)
            outcome(world, lambda: producer.send(message()))
        info = producer.impl.topic_publish_info_table.get(TOPIC)
        assert info is not None
        assert {mq.broker_name for mq in info.message_queue_list} == {BROKERS[0]}


def shun(producer: DefaultMQProducer) -> None:
    """Let it find both brokers slow, the second one as the slower of the two."""
    for broker, latency_ms in zip(BROKERS, (600, 700), strict=True):
        producer.impl.update_fault_item(broker, latency_ms, isolation=False)


def test_p16_a_producer_sends_to_a_broker_whose_write_permission_was_wiped() -> None:
    with World() as world:
        two_brokers(world)
        world.ask(world.namesrv_addrs[0], Command(
            RequestCode.WIPE_WRITE_PERM_OF_BROKER, header=BrokerNameRequestHeader(BROKERS[0])))
        producer = knowing(world, AWARE)
        shun(producer)
        outcome(world, lambda: producer.send(message()))
        assert stored(world) == [BROKERS[0]]


def test_p16_all_sends_go_to_a_broker_without_its_master_while_another_one_is_shunned() -> None:
    with World() as world:
        two_brokers(world)
        world.add_broker("broker-a-slave", BROKERS[0], broker_id=1)
        world.run(1_000)
        producer = knowing(world, AWARE)
        outcome(world, world.brokers[BROKERS[0]].shutdown)
        world.run(31_000)
        shun(producer)
        errors = [outcome(world, lambda: producer.send(message())) for _ in range(2)]
        assert all(f"BrokersSent: {[BROKERS[0]] * 3}".replace("'", "") in str(error) for error in errors)
        assert stored(world) == []


def test_p4_an_asynchronous_retry_names_a_queue_that_the_broker_has_not() -> None:
    with World() as world:
        two_brokers(world)
        world.add_broker("broker-c", "broker-c", topics=[TopicConfig("uneven", 8, 8)])
        world.add_broker("broker-d", "broker-d", topics=[TopicConfig("uneven", 1, 1)])
        world.run(1_000)
        producer, callback = knowing(world), Callback()
        outcome(world, lambda: producer.impl.try_to_find_topic_publish_info("uneven"))
        world.simulation.kill("broker-c")
        world.run(100)

        async def send() -> None:
            for _ in range(9):
                producer.send_async(Message("uneven", b"x"), callback)

        outcome(world, send)
        world.run(2_000)
        assert [one for one in callback.told if isinstance(one, MQBrokerError) and "is illegal" in str(one.message)]


def test_p5_a_busy_broker_ends_the_send_and_the_other_one_is_not_asked() -> None:
    with World() as world:
        two_brokers(world)
        producer = knowing(world)
        answering(world, BROKERS[0], BUSY)
        told = [outcome(world, lambda: producer.send(message())) for _ in range(4)]
        assert [one.response_code for one in told if isinstance(one, MQBrokerError)] == [BUSY, BUSY]


def test_p6_a_message_is_stored_by_two_brokers_as_the_first_one_answered_late() -> None:
    with World() as world:
        two_brokers(world)
        producer = knowing(world)
        world.simulation.kernel.pause(world.simulation.nodes[BROKERS[0]], 3_100)
        outcome(world, lambda: producer.send(message()))
        world.run(2_000)
        assert sorted(stored(world)) == list(BROKERS)


def test_p7_an_asynchronous_send_that_is_refused_is_not_tried_elsewhere() -> None:
    with World() as world:
        two_brokers(world)
        producer, callback = knowing(world), Callback()
        answering(world, BROKERS[0], ABSENT)

        async def send() -> None:
            for _ in range(4):
                producer.send_async(message(), callback)

        outcome(world, send)
        world.run(1_000)
        assert [type(one) for one in callback.told].count(SendResult) == 2
        assert {event.attempts for _, event in world.events(SendFailed)} == {1}


def test_p14_a_request_that_fails_at_once_is_called_back_besides() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_producer(PRODUCER, Sending(TOPIC, (ASK_LATER,)))
        world.run(2 * SEND_EVERY_MS + 8_000)
        told = [event.key for _, event in world.events(RequestTold)]
        assert told.count(told[0]) == 2


def test_p15_a_broker_that_has_refused_an_asynchronous_send_is_not_shunned() -> None:
    with World() as world:
        two_brokers(world)
        world.add_producer(PRODUCER, Sending(TOPIC, (ASYNC,), config=AWARE))
        world.run(2 * SEND_EVERY_MS + 100)
        world.simulation.kill(BROKERS[0])
        world.run(20 * SEND_EVERY_MS)
        first = [event.mq.broker_name for _, event in world.events(SendAttempted, 4 * SEND_EVERY_MS)
                 if event.attempt == 1]
        assert BROKERS[0] in first[1:]


def test_p10_the_messages_of_a_key_change_their_queue_when_the_topic_grows() -> None:
    with World() as world:
        two_brokers(world)
        producer, by_hash = knowing(world), SelectMessageQueueByHash()

        def queues() -> list[object]:
            return [outcome(world, partial(producer.send_select, message(), by_hash, key)).message_queue
                    for key in ("red", "green", "blue")]

        before = queues()
        world.create_topic(BROKERS[0], TOPIC, 7)
        world.run(65_000)
        assert queues() != before


def test_q3_a_retry_goes_to_the_broker_that_has_just_failed() -> None:
    with World() as world:
        two_brokers(world)
        producer = knowing(world, AWARE)
        world.simulation.kill(BROKERS[0])
        for _ in range(2):
            producer.impl.update_fault_item(BROKERS[1], 600, isolation=False)
            outcome(world, lambda: producer.send(message()))
        attempts = [(event.key, event.mq.broker_name) for _, event in world.events(SendAttempted)]
        assert any(one == other for one, other in pairwise(attempts))


def test_p12_a_half_message_whose_end_comes_late_is_committed_twice() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_broker(BROKERS[0], BROKERS[0], topics=[TopicConfig(TOPIC, 2, 2)], transaction_check_interval_ms=2_000)
        world.run(100)
        late = world.pause("sendMessageInTransaction: before endTransaction", 40_000)
        world.add_producer(PRODUCER, Sending(TOPIC, (IN_TRANSACTION,)))
        world.run(60_000)
        assert late.hit
        first = next(event.key for _, event in world.events(HalfMessageEnded) if event.from_check)
        assert [event.topic for _, event in world.events(MessageAppended) if event.key == first].count(TOPIC) == 2


def test_t3_a_half_message_that_is_committed_is_given_up_while_its_producers_are_away() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_broker(BROKERS[0], BROKERS[0], topics=[TopicConfig(TOPIC, 2, 2)], transaction_check_interval_ms=1_000)
        world.run(100)
        world.script.draw("what becomes of a transaction", COMMITTED_AND_UNKNOWN)
        world.add_producer(PRODUCER, Sending(TOPIC, (IN_TRANSACTION,)))
        world.run(SEND_EVERY_MS + 100)
        world.simulation.kill(PRODUCER)
        world.run(40_000)
        (half,) = {event.key for _, event in world.events(MessageAppended) if event.topic == HALF}
        assert [event.topic for _, event in world.events(MessageAppended) if event.key == half][-1] == GIVEN_UP


def test_t5_a_half_message_that_was_asked_about_comes_without_its_flag() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_broker(BROKERS[0], BROKERS[0], topics=[TopicConfig(TOPIC, 2, 2)], transaction_check_interval_ms=1_000)
        world.run(100)
        world.add_consumer("consumer1", FROM_FIRST)
        world.script.draw("what becomes of a transaction", COMMITTED_AND_UNKNOWN)
        world.add_producer(PRODUCER, Sending(TOPIC, (IN_TRANSACTION,)))
        world.run(20_000)
        asked = next(event for _, event in world.events(SendAsked))
        given = next(event for _, event in world.events(MessagesGiven))
        assert given.keys == (asked.key,)
        assert given.contents != asked.contents


def test_t6_an_immune_half_message_that_has_ended_is_asked_about_and_comes_twice() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_broker(BROKERS[0], BROKERS[0], topics=[TopicConfig(TOPIC, 2, 2)], transaction_check_interval_ms=1_000)
        world.run(100)
        world.add_producer(PRODUCER, Sending(TOPIC, (IN_TRANSACTION,), immunity_seconds=6, transaction_ms=2_000))
        world.run(20_000)
        key = next(event.key for _, event in world.events(SendAsked))
        stored = [ms for ms, event in world.events(MessageAppended) if (event.key, event.topic) == (key, TOPIC)]
        asked = [ms for ms, event in world.events(HalfMessageEnded) if event.key == key and event.from_check]
        assert len(stored) == len(asked) + 1 > 1
        assert stored[0] < asked[0] < stored[1]
