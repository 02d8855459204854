"""Half messages of simulated brokers: SEND keeps them back, END_TRANSACTION ends them, the check asks producers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from impl.broker.transactions import CHECK_PERMIT_MS
from impl.common.byte_buffer import ByteBuffer
from impl.common.headers import (
    CheckTransactionStateRequestHeader,
    EndTransactionRequestHeader,
    PullMessageRequestHeader,
    SendMessageRequestHeader,
)
from impl.common.heartbeat_data import HeartbeatData, ProducerData
from impl.common.message_decoder import decode, decodes
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfig
from impl.decisions.flags import FLAG_SUBSCRIPTION, TRANSACTION_COMMIT_TYPE, TRANSACTION_ROLLBACK_TYPE
from impl.events import MessageAppended, OpMessagesRead
from impl.ports.remoting import Command, Connection
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.world import World

BROKER, ADDRESS, PRODUCER = "broker-a", "broker-a:10911", "producer"
HALF = "RMQ_SYS_TRANS_HALF_TOPIC"
GIVEN_UP = "TRANS_CHECK_MAX_TIME_TOPIC"
PROPERTIES = "TRAN_MSG\x01true\x02PGROUP\x01P\x02UNIQ_KEY\x01k1"
CHECKED_MS = 61_000  # transactionCheckInterval, and the way


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        begin(world)
        yield world


def begin(world: World, **settings: Any) -> None:
    world.add_namesrv()
    world.add_broker(BROKER, BROKER, topics=[TopicConfig("orders", 4, 4)], **settings)
    world.run(100)


def send(world: World, properties: str = PROPERTIES, born_hours_ago: int = 0) -> Command:
    born_ms = world.brokers[BROKER].node.now_ms() - born_hours_ago * 3_600_000
    header = SendMessageRequestHeader("P", "orders", 2, born_ms, properties)
    return world.ask(ADDRESS, Command(RequestCode.SEND_MESSAGE_V2, header, b"body"))


def appended(world: World, topic: str) -> list[MessageAppended]:
    return [event for _, event in world.events(MessageAppended) if event.topic == topic]


def end(world: World, how: int, **wrong: Any) -> Command:
    half = appended(world, HALF)[-1]
    header = EndTransactionRequestHeader("P", half.queue_offset, half.commit_log_offset, how)._replace(**wrong)
    return world.ask(ADDRESS, Command(RequestCode.END_TRANSACTION, header))


def received(world: World) -> list[bytes | None]:
    world.run(10)
    header = PullMessageRequestHeader("G", "orders", 2, 0, 32, FLAG_SUBSCRIPTION, 0, 15_000, 0, "*")
    answer = world.ask(ADDRESS, Command(RequestCode.PULL_MESSAGE, header))
    return [message.body for message in decodes(ByteBuffer(answer.body or b""))]


def asked(world: World) -> list[Command]:
    """Let a producer of the group be there; what it is asked."""
    questions: list[Command] = []

    def answer(_: Connection, request: Command) -> None:
        questions.append(request)

    world.add_tester(PRODUCER)
    world.testers[PRODUCER].register_processor(RequestCode.CHECK_TRANSACTION_STATE, answer)
    beat = Command(RequestCode.HEART_BEAT, body=HeartbeatData(PRODUCER, [ProducerData("P")], []))
    world.ask(ADDRESS, beat, tester=PRODUCER)
    return questions


@pytest.mark.parametrize(("subject", "key", "code", "count"), [
    ("shipped", "k0", ResponseCode.SUCCESS, 1), ("repaired", "k0", ResponseCode.SYSTEM_ERROR, 0),
    ("repaired", None, ResponseCode.SUCCESS, 1),
])
def test_t7_the_end_of_another_half_message_that_lay_in_its_place_commits_it_as_shipped(
    world: World, subject: str, key: str | None, code: ResponseCode, count: int,
) -> None:
    """A crash has taken k0, and k1 is where it was. Who names no message is believed."""
    with subject_named(subject).running():
        send(world)
        assert end(world, TRANSACTION_COMMIT_TYPE, msg_id=key).code == code
        assert len(appended(world, "orders")) == count
        assert end(world, TRANSACTION_COMMIT_TYPE, msg_id="k1").code == ResponseCode.SUCCESS


def test_a_half_message_is_received_once_it_is_committed(world: World) -> None:
    answer = send(world)
    assert (answer.code, answer.header.queue_id) == (ResponseCode.SUCCESS, 2)
    assert received(world) == []
    assert end(world, TRANSACTION_COMMIT_TYPE).code == ResponseCode.SUCCESS
    assert received(world) == [b"body"]
    assert [event.topic for _, event in world.events(MessageAppended)] == [
        HALF, "orders", "RMQ_SYS_TRANS_OP_HALF_TOPIC"]


def test_a_half_message_that_is_rolled_back_is_not_received_nor_asked_for(world: World) -> None:
    questions = asked(world)
    send(world)
    assert end(world, TRANSACTION_ROLLBACK_TYPE).code == ResponseCode.SUCCESS
    world.run(CHECKED_MS)
    assert (received(world), questions) == ([], [])


def test_it_is_told_how_far_the_check_has_read_what_has_ended(world: World) -> None:
    send(world)
    end(world, TRANSACTION_COMMIT_TYPE)
    world.run(CHECKED_MS)
    read = [event for _, event in world.events(OpMessagesRead)]
    assert OpMessagesRead(BROKER, 1) in read
    assert {event.next_offset for event in read} <= {0, 1}


@pytest.mark.parametrize(("wrong", "remark"), [
    ({"producer_group": "Q"}, "The producer group wrong"),
    ({"tran_state_table_offset": 7}, "The transaction state table offset wrong"),
    ({"commit_log_offset": 1 << 40}, "Find prepared transaction message failed"),
])
def test_what_names_another_message_is_refused(world: World, wrong: dict[str, Any], remark: str) -> None:
    send(world)
    answer = end(world, TRANSACTION_COMMIT_TYPE, **wrong)
    assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, remark)
    assert received(world) == []


def test_a_broker_that_takes_no_half_messages() -> None:
    with World() as world:
        begin(world, reject_transaction_message=True)
        answer = send(world)
        assert (answer.code, answer.remark) == (
            ResponseCode.NO_PERMISSION, "the broker[broker-a] sending transaction message is forbidden")
        assert send(world, "UNIQ_KEY\x01k1").code == ResponseCode.SUCCESS


@pytest.mark.parametrize("restarted", [False, True])
def test_a_producer_is_asked_for_a_half_message_that_has_not_ended(restarted: bool, world: World) -> None:
    send(world)
    if restarted:
        world.restart(BROKER)
        world.run(1_000)
    questions = asked(world)
    world.run(CHECKED_MS)
    (question,) = questions
    header: CheckTransactionStateRequestHeader = question.header
    copy = appended(world, HALF)[-1]
    assert (header.tran_state_table_offset, header.commit_log_offset, header.msg_id) == (
        1, copy.commit_log_offset, "k1")
    message = decode(ByteBuffer(question.body))
    assert message is not None
    assert (message.topic, message.queue_id, message.body) == ("orders", 2, b"body")
    assert end(world, TRANSACTION_COMMIT_TYPE).code == ResponseCode.SUCCESS
    assert received(world) == [b"body"]
    world.run(2 * CHECKED_MS)
    assert len(questions) == 1


def test_a_half_message_that_is_too_old_is_given_up(world: World) -> None:
    questions = asked(world)
    send(world, born_hours_ago=73)
    world.run(CHECKED_MS)
    topic = world.brokers[BROKER].topic_config_manager.select_topic_config(GIVEN_UP)
    assert topic is not None
    assert (topic.write_queue_nums, len(appended(world, GIVEN_UP)), questions) == (1, 1, [])


def test_without_a_producer_nobody_is_asked(world: World) -> None:
    send(world)
    world.run(CHECKED_MS + CHECK_PERMIT_MS)
    assert len(appended(world, HALF)) == 2  # the copy is put all the same
