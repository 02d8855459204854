"""Producers of simulated processes: their lives, routes, queues, retries, time-outs, and what brokers then have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import pytest

from impl.client.client_errors import ClientErrorCode, RequestTimeoutError, SendError
from impl.client.message_listener import ConsumeContext, ConsumeStatus, success
from impl.client.message_queue_selectors import (
    SelectMessageQueueByHash,
    SelectMessageQueueByMachineRoom,
    SelectMessageQueueByRandom,
)
from impl.client.offset_store import MQBrokerError
from impl.client.producer_config import ProducerConfig
from impl.client.push_consumer_config import PushConsumerConfig
from impl.client.request_reply import create_reply_message, request, request_async
from impl.client.send_kernel import SYNC
from impl.client.send_result import SendResult, SendStatus
from impl.common.byte_buffer import ByteBuffer
from impl.common.headers import SendMessageResponseHeader
from impl.common.message import MessageExt
from impl.common.message_batch import decode_messages
from impl.common.message_const import PROPERTY_DELAY_TIME_LEVEL
from impl.common.message_to_send import Message
from impl.common.request_code import RequestCode
from impl.common.util_all import uncompress
from impl.decisions.flags import COMPRESSED_FLAG
from impl.decisions.java_errors import JavaError, MQClientError
from impl.decisions.message_queue import MessageQueue
from impl.events import MessageAppended, SendAttempted, SendFailed
from impl.ports.remoting import Command, Connection, RemotingTimeoutError, RemotingTooMuchRequestError
from stateful_tests.stories.senders import (
    BROKERS,
    PRODUCER,
    TOPIC,
    Callback,
    answering,
    knowing,
    outcome,
    serve,
    started,
    two_brokers,
)
from stateful_tests.worlds.world import World


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        two_brokers(world)
        yield world


def attempts(world: World) -> list[MessageQueue]:
    return [event.mq for _, event in world.events(SendAttempted)]


def keys(world: World, broker: str) -> list[str | None]:
    return [record.key for record in world.views.log_records(broker)]


def test_a_producer_is_known_to_brokers_as_long_as_it_runs(world: World) -> None:
    producer = started(world)
    managers = [world.brokers[broker].producer_manager for broker in BROKERS]
    assert all(manager.get_available_channel("P") is not None for manager in managers)
    assert isinstance(outcome(world, producer.start), MQClientError)
    outcome(world, producer.shutdown)
    assert all(manager.get_available_channel("P") is None for manager in managers)
    error = outcome(world, lambda: producer.send(Message(TOPIC, b"x")))
    assert "state not OK, SHUTDOWN_ALREADY" in error.message


@pytest.mark.parametrize("group", ["", "DEFAULT_PRODUCER", "a b"])
def test_an_impossible_group_is_refused(world: World, group: str) -> None:
    with pytest.raises(ValueError, match="not enough values"):
        started(world, ProducerConfig(group))
    assert group not in world.brokers[BROKERS[0]].producer_manager.group_channel_table.key_set()


def test_messages_go_to_all_queues_in_turn_and_have_one_id_each(world: World) -> None:
    producer = started(world)
    results = [outcome(world, lambda: producer.send(Message(TOPIC, b"x"))) for _ in range(8)]
    queues = [result.message_queue for result in results]
    assert len(set(queues[:4])) == 4
    assert queues[4:] == queues[:4]
    assert {result.send_status for result in results} == {SendStatus.SEND_OK}
    assert len({result.msg_id for result in results}) == 8
    assert sorted([*keys(world, BROKERS[0]), *keys(world, BROKERS[1])], key=str) == sorted(
        result.msg_id for result in results)


def test_a_message_that_is_sent_again_keeps_its_id(world: World) -> None:
    producer, message = started(world), Message(TOPIC, b"x")
    first, second = (outcome(world, lambda: producer.send(message)) for _ in range(2))
    assert first.msg_id == second.msg_id
    assert first.offset_msg_id != second.offset_msg_id


@pytest.mark.parametrize(("message", "text"), [
    (Message("", b"x"), "topic is blank"), (Message("a b", b"x"), "illegal characters"),
    (Message("SCHEDULE_TOPIC_XXXX", b"x"), "forbidden"), (Message(TOPIC, None), "body is null"),
    (Message(TOPIC, b""), "length is zero"), (Message(TOPIC, bytes(11)), "over max value, MAX: 10"),
])
def test_what_cannot_be_sent_is_refused_before_anything_is_asked(world: World, message: Message, text: str) -> None:
    producer = started(world, ProducerConfig("P", max_message_size=10))
    assert text in outcome(world, lambda: producer.send(message)).message
    assert attempts(world) == []


def test_a_long_body_is_compressed_and_is_the_senders_own_afterwards(world: World) -> None:
    producer, message = started(world), Message(TOPIC, b"a" * 4_096)
    requests: list[Command] = []
    for broker in BROKERS:
        seen_by(world, broker, requests)
    assert outcome(world, lambda: producer.send(message)).send_status is SendStatus.SEND_OK
    assert message.body == b"a" * 4_096
    outcome(world, lambda: producer.send(Message(TOPIC, b"a" * 4_095)))
    long, short = requests
    assert (long.header.sys_flag, uncompress(long.body)) == (COMPRESSED_FLAG, message.body)
    assert (short.header.sys_flag, len(short.body)) == (0, 4_095)


def seen_by(world: World, broker: str, requests: list[Command]) -> None:
    """Let a broker keep what it is asked, and answer as it does."""
    plane = world.brokers[broker].data_plane
    send = plane.send_message_processor.send_message

    async def handler(channel: Connection, request: Command) -> Command | None:
        requests.append(request)
        return await send(channel, request)

    serve(world, broker, RequestCode.SEND_MESSAGE_V2, handler)


def test_an_unknown_topic_is_made_after_the_default_topic_with_no_more_queues_than_wished(world: World) -> None:
    producer = started(world)
    result = outcome(world, lambda: producer.send(Message("new", b"x")))
    assert result.send_status is SendStatus.SEND_OK
    info = producer.impl.topic_publish_info_table.get("new")
    assert info is not None
    assert len(info.message_queue_list) == 8  # four at each of the two
    (has,) = [broker for broker in BROKERS
              if world.brokers[broker].topic_config_manager.select_topic_config("new") is not None]
    assert has == result.message_queue.broker_name
    world.run(40_000)  # the next poll
    info = producer.impl.topic_publish_info_table.get("new")
    assert info is not None
    assert {mq.broker_name for mq in info.message_queue_list} == {has}


def test_without_a_route_nothing_is_tried(world: World) -> None:
    producer = started(world, ProducerConfig("P", create_topic_key="nothing"))
    error = outcome(world, lambda: producer.send(Message("new", b"x")))
    assert isinstance(error, SendError)
    assert error.response_code == ClientErrorCode.NOT_FOUND_TOPIC_EXCEPTION
    assert attempts(world) == []


def test_a_refused_connection_is_tried_at_the_other_broker_at_once(world: World) -> None:
    producer = knowing(world)
    world.simulation.kill(BROKERS[0])
    world.run(100)
    for _ in range(4):
        assert outcome(world, lambda: producer.send(Message(TOPIC, b"x"))).message_queue.broker_name == BROKERS[1]
    sent = [mq.broker_name for mq in attempts(world)]
    assert sent.count(BROKERS[0]) == 2  # the first attempt at each of its queues


def test_a_broker_that_says_what_may_be_otherwise_elsewhere_is_left(world: World) -> None:
    producer = started(world)
    answering(world, BROKERS[0], 14)
    for _ in range(4):
        assert outcome(world, lambda: producer.send(Message(TOPIC, b"x"))).send_status is SendStatus.SEND_OK


def test_a_busy_broker_ends_the_send(world: World) -> None:
    producer = started(world)
    answering(world, BROKERS[0], 2)
    told = [outcome(world, lambda: producer.send(Message(TOPIC, b"x"))) for _ in range(4)]
    errors = [one for one in told if isinstance(one, MQBrokerError)]
    assert [error.response_code for error in errors] == [2, 2]
    assert {event.attempts for _, event in world.events(SendFailed)} == {1}


def test_all_attempts_fail_and_the_exception_has_the_code_of_the_last(world: World) -> None:
    producer = started(world)
    for broker, code in zip(BROKERS, (14, 1), strict=True):
        answering(world, broker, code)
    error = outcome(world, lambda: producer.send(Message(TOPIC, b"x")))
    assert isinstance(error, SendError)
    assert "Send [3] times, still failed" in str(error.message)
    first, second, third = (mq.broker_name for mq in attempts(world))
    assert first == third != second
    assert error.response_code == {BROKERS[0]: 14, BROKERS[1]: 1}[first]


def test_a_silent_broker_has_the_whole_time_and_the_next_one_is_sent_a_copy_nobody_waits_for(world: World) -> None:
    producer = started(world)
    for broker in BROKERS:
        world.simulation.kernel.pause(world.simulation.nodes[broker], 4_000)
    since_ms = world.now_ms
    error = outcome(world, lambda: producer.send(Message(TOPIC, b"x")))
    assert isinstance(error, RemotingTooMuchRequestError | SendError)
    assert 3_000 <= world.now_ms - since_ms < 3_100
    world.run(5_000)
    assert keys(world, BROKERS[0]) == keys(world, BROKERS[1]) != []  # the second one with no time left


def test_another_status_than_ok_is_a_result_unless_another_broker_is_to_have_it(world: World) -> None:
    producer = started(world, ProducerConfig("P", retry_another_broker_when_not_store_ok=True))
    broker = BROKERS[0]

    async def handler(_: Connection, request: Command) -> Command:
        return Command(10, SendMessageResponseHeader("0A00000100002A9F0000000000000000", request.header.queue_id, 0))

    serve(world, broker, RequestCode.SEND_MESSAGE_V2, handler)
    for _ in range(4):
        assert outcome(world, lambda: producer.send(Message(TOPIC, b"x"))).message_queue.broker_name == BROKERS[1]
    world.simulation.kill(BROKERS[1])
    result = outcome(world, lambda: producer.send(Message(TOPIC, b"x")))
    assert result.send_status is SendStatus.FLUSH_DISK_TIMEOUT  # what is known is better than what failed


def test_an_asynchronous_send_calls_back_and_retries_what_was_not_answered(world: World) -> None:
    producer, callback = knowing(world), Callback()
    world.simulation.kill(BROKERS[0])
    world.run(100)

    async def send() -> None:
        for _ in range(4):
            producer.send_async(Message(TOPIC, b"x"), callback)

    outcome(world, send)
    world.run(2_000)
    assert [type(one) for one in callback.told] == [SendResult] * 4
    assert {one.message_queue.broker_name for one in callback.told if isinstance(one, SendResult)} == {BROKERS[1]}


def test_an_asynchronous_send_does_not_retry_an_answer(world: World) -> None:
    producer, callback = started(world), Callback()
    for broker in BROKERS:
        answering(world, broker, 14)

    async def send() -> None:
        producer.send_async(Message(TOPIC, b"x"), callback)

    outcome(world, send)
    world.run(2_000)
    (error,) = callback.told
    assert isinstance(error, MQBrokerError)
    assert len(attempts(world)) == 1


def test_one_way_nobody_waits(world: World) -> None:
    producer = started(world)
    assert outcome(world, lambda: producer.send_oneway(Message(TOPIC, b"x")), 10) is None
    world.run(1_000)
    assert len(keys(world, BROKERS[0])) + len(keys(world, BROKERS[1])) == 1


def test_a_batch_is_one_request_of_several_messages(world: World) -> None:
    producer, batch = started(world), [Message(TOPIC, b"one"), Message(TOPIC, b"two")]
    requests: list[Command] = []
    for broker in BROKERS:
        async def handler(_: Connection, request: Command) -> Command:
            requests.append(request)
            return Command(14)

        serve(world, broker, RequestCode.SEND_BATCH_MESSAGE, handler)
    outcome(world, lambda: producer.send_batch(batch))
    request = requests[0]
    assert request.header.batch
    messages = decode_messages(ByteBuffer(request.body))
    assert [one.body for one in messages] == [b"one", b"two"]
    assert [(one.properties or {})["UNIQ_KEY"] for one in messages] == [one.uniq_id for one in batch]


@pytest.mark.parametrize(("messages", "text"), [
    ([Message(TOPIC, b"x"), Message("other", b"x")], "topic of the messages"),
    ([Message(TOPIC, b"x"), Message(TOPIC, b"x", wait_store_msg_ok=False)], "waitStoreMsgOK"),
    ([Message("%RETRY%G", b"x")], "Retry Group"), ([Message(TOPIC, b"")], "length is zero"), ([], None),
])
def test_what_is_no_batch_is_refused(world: World, messages: list[Message], text: str | None) -> None:
    producer = started(world)
    error = outcome(world, lambda: producer.send_batch(messages))
    assert isinstance(error, SendError)
    assert error.cause is not None
    assert text is None or text in str(error.cause.message)


def test_a_delayed_message_is_no_part_of_a_batch(world: World) -> None:
    producer, message = started(world), Message(TOPIC, b"x")
    message.put_property(PROPERTY_DELAY_TIME_LEVEL, "1")
    error = outcome(world, lambda: producer.send_batch([message]))
    assert "TimeDelayLevel" in str(error.cause.message)


def test_an_application_chooses_a_queue(world: World) -> None:
    producer, mq = started(world), MessageQueue(TOPIC, BROKERS[1], 1)
    assert outcome(world, lambda: producer.send_to(Message(TOPIC, b"x"), mq)).message_queue == mq
    error = outcome(world, lambda: producer.send_to(Message("other", b"x"), mq))
    assert "not equal" in error.message
    assert attempts(world) == [mq]


def test_selectors_choose_a_queue(world: World) -> None:
    producer = started(world)
    by_hash = [outcome(world, lambda: producer.send_select(Message(TOPIC, b"x"), SelectMessageQueueByHash(), "key"))
               for _ in range(3)]
    assert len({result.message_queue for result in by_hash}) == 1
    by_chance = SelectMessageQueueByRandom(producer.node)
    assert outcome(world, lambda: producer.send_select(Message(TOPIC, b"x"), by_chance, None)).message_queue
    room = SelectMessageQueueByMachineRoom(["a"])
    error = outcome(world, lambda: producer.send_select(Message(TOPIC, b"x"), room, None))
    assert "return null" in error.message


def test_a_namespace_is_put_before_topics_and_groups_on_the_wire_only(world: World) -> None:
    world.create_topic(BROKERS[0], "shop%orders")
    producer, message = started(world, namespace="shop"), Message(TOPIC, b"x")
    requests: list[Command] = []
    seen_by(world, BROKERS[0], requests)
    result = outcome(world, lambda: producer.send(message))
    assert (result.message_queue.topic, message.topic) == (TOPIC, TOPIC)
    (request,) = requests
    assert (request.header.topic, request.header.producer_group) == ("shop%orders", "shop%P")
    assert "INSTANCE_ID\x01shop" in request.header.properties


def test_a_broker_is_shunned_for_as_long_as_it_was_slow(world: World) -> None:
    producer = started(world, ProducerConfig("P", send_latency_fault_enable=True))
    producer.impl.update_fault_item(BROKERS[0], 600, isolation=False)
    for _ in range(8):
        assert outcome(world, lambda: producer.send(Message(TOPIC, b"x"))).message_queue.broker_name == BROKERS[1]
    world.run(30_000)
    sent = {outcome(world, lambda: producer.send(Message(TOPIC, b"x"))).message_queue.broker_name for _ in range(8)}
    assert sent == set(BROKERS)


def test_a_request_without_a_reply_times_out(world: World) -> None:
    producer = started(world)
    error = outcome(world, lambda: request(producer, Message(TOPIC, b"x"), 2_000))
    assert isinstance(error, RequestTimeoutError)
    assert producer.impl.instance.manager.request_futures.request_future_table.is_empty()


def test_a_timed_out_call_closes_the_connection_under_all_others(world: World) -> None:
    producer = started(world)
    world.simulation.kernel.pause(world.simulation.nodes[BROKERS[0]], 10_000)
    mq, ended = MessageQueue(TOPIC, BROKERS[0], 0), []

    async def call(timeout_ms: int) -> None:
        try:
            await producer.send_to(Message(TOPIC, b"x"), mq, timeout_ms)
        except JavaError as error:
            ended.append((world.now_ms, error))

    since_ms = world.now_ms
    for timeout_ms in (1_000, 3_000):
        world.call(PRODUCER, partial(call, timeout_ms))
    world.run(4_000)
    (first_ms, first), (second_ms, second) = ended
    assert isinstance(first, RemotingTimeoutError)
    assert not isinstance(second, RemotingTimeoutError)
    assert first_ms - since_ms <= second_ms - since_ms < 1_100


def test_appended_once_and_acknowledged_once_in_a_calm_world(world: World) -> None:
    producer = started(world)
    for _ in range(5):
        outcome(world, lambda: producer.send(Message(TOPIC, b"x")))
    assert len(world.events(MessageAppended)) == 5


def test_whatever_goes_to_a_queue_of_the_application_goes_there(world: World) -> None:
    producer, mq, callback = knowing(world), MessageQueue(TOPIC, BROKERS[1], 1), Callback()

    class First:
        def select(self, mqs: Sequence[MessageQueue], msg: Message, arg: object) -> MessageQueue:
            del msg, arg
            return mqs[0]

    async def send() -> None:
        producer.send_async_to(Message(TOPIC, b"x"), mq, callback)
        await producer.send_oneway_to(Message(TOPIC, b"x"), mq)
        await producer.send_oneway_select(Message(TOPIC, b"x"), First(), None)
        producer.send_select_async(Message(TOPIC, b"x"), First(), None, callback)
        producer.send_batch_async([Message(TOPIC, b"x"), Message(TOPIC, b"y")], callback)

    outcome(world, send)
    batch = outcome(world, lambda: producer.send_batch_to([Message(TOPIC, b"x"), Message(TOPIC, b"y")], mq))
    world.run(1_000)
    first = MessageQueue(TOPIC, BROKERS[0], 0)
    assert (batch.message_queue, len(callback.told), attempts(world).count(mq), attempts(world).count(first)) == (
        mq, 3, 3, 2)
    assert len(keys(world, BROKERS[0])) + len(keys(world, BROKERS[1])) == 8


def test_a_request_is_answered_by_who_consumes_it(world: World) -> None:
    producer = knowing(world)
    world.add_consumer("c1", PushConsumerConfig("G", {TOPIC: "*"}))
    consumer = world.consumers["c1"][0]

    class Answering:
        async def consume_message(self, msgs: Sequence[MessageExt], context: ConsumeContext) -> ConsumeStatus:
            for msg in msgs:
                reply = create_reply_message(msg, b"pong")
                await consumer.instance.inner_producer.send_default_impl(reply, SYNC, 3_000)
            return success(context)

    consumer.message_listener = Answering()
    world.run(25_000)
    reply = outcome(world, lambda: request(producer, Message(TOPIC, b"ping"), 3_000))
    assert reply.body == b"pong"
    told: list[object] = []

    class Asking:
        def on_success(self, message: MessageExt | None) -> None:
            told.append(None if message is None else message.body)

        def on_exception(self, error: JavaError | None) -> None:
            told.append(error)

    outcome(world, lambda: request_async(producer, Message(TOPIC, b"ping"), Asking(), 3_000))
    world.run(1_000)
    assert told == [b"pong"]
    world.simulation.kill("c1")
    outcome(world, lambda: request_async(producer, Message(TOPIC, b"ping"), Asking(), 1_000))
    world.run(2_100)
    assert isinstance(told.pop(), RequestTimeoutError)
    outcome(world, lambda: request_async(producer, Message(TOPIC, b"ping"), Asking(), 1_000))
    outcome(world, producer.shutdown)
    world.run(5_000)
    assert told == [b"pong"]
    with pytest.raises(SendError, match="cannot be null"):
        create_reply_message(None, b"")
