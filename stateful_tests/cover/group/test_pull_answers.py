"""Pulls of simulated brokers: what is answered, whom a consumer is sent to, what is held and for how long."""

from __future__ import annotations

import json
from typing import Any

import pytest

from impl.common.headers import PullMessageRequestHeader
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.flags import FLAG_COMMIT_OFFSET, FLAG_SUBSCRIPTION, FLAG_SUSPEND
from impl.decisions.java_errors import JavaError, JavaRuntimeError, MappingFaultError
from impl.decisions.pull_answer import PullCode
from impl.events import MessageAppended, OffsetCommitted
from impl.ports.remoting import Command
from impl.store.message_store_config import BrokerRole
from stateful_tests.cover.group.stored import ADDRESS, BROKER, GROUP, begin, found, pull, pulled, send
from stateful_tests.worlds.producers import Sending
from stateful_tests.worlds.world import World

MOVED = "OFFSET_MOVED_EVENT"
HELD = FLAG_SUBSCRIPTION | FLAG_SUSPEND
SLAVE = {"broker_role": BrokerRole.SLAVE, "broker_id": 1}


def test_an_offset_that_is_not_there_is_corrected_and_a_message_says_so() -> None:
    with World() as world:
        begin(world)
        for _ in range(2):
            send(world)
        world.run(10)
        answer = pull(world, queue_offset=9)
        assert (answer.code, answer.remark, answer.header.next_begin_offset) == (
            PullCode.PULL_OFFSET_MOVED, "OFFSET_OVERFLOW_BADLY", 0)
        (event,) = pulled(world, MOVED)
        assert event.properties == {"TAGS": GROUP, "KEYS": GROUP, "DELAY": "0"}
        assert event.born_host == event.store_host
        assert json.loads(event.body or b"") == {
            "consumerGroup": GROUP, "messageQueue": {"brokerName": BROKER, "queueId": 0, "topic": "orders"},
            "offsetNew": 0, "offsetRequest": 9}


@pytest.mark.parametrize(("error", "code"), [
    (JavaRuntimeError("the disk"), PullCode.PULL_OFFSET_MOVED), (MappingFaultError(), ResponseCode.SYSTEM_ERROR)])
def test_a_message_about_it_that_cannot_be_put_changes_no_answer_unless_java_throws_an_error(
    error: JavaError, code: int, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: object) -> None:
        raise error

    with World() as world:
        begin(world)
        monkeypatch.setattr(world.brokers[BROKER].message_store, "async_put_message", fails)
        assert pull(world, queue_offset=9).code == code


def test_an_offset_in_an_empty_queue_is_moved_unless_it_is_0() -> None:
    with World() as world:
        begin(world)
        assert pull(world).code == PullCode.PULL_NOT_FOUND
        assert pull(world, queue_offset=1).code == PullCode.PULL_OFFSET_MOVED
        assert [event.topic for _, event in world.events(MessageAppended)] == [MOVED]


def test_a_slave_corrects_nobody_and_sends_its_consumers_to_the_broker_of_their_group() -> None:
    with World() as world:
        begin(world, SLAVE)
        group = world.brokers[BROKER].subscription_group_manager.find_subscription_group_config(GROUP)
        assert group is not None
        group.broker_id = 3
        answer = pull(world, queue_offset=9, sys_flag=HELD | FLAG_COMMIT_OFFSET, commit_offset=5)
        assert (answer.code, answer.remark) == (PullCode.PULL_RETRY_IMMEDIATELY, "NO_MESSAGE_IN_QUEUE")
        assert (answer.header.suggest_which_broker_id, answer.header.next_begin_offset) == (3, 9)
        assert (world.events(MessageAppended), world.events(OffsetCommitted)) == ([], [])


def test_a_slave_that_checks_offsets_moves_them_but_can_tell_nobody() -> None:
    with World() as world:
        begin(world, SLAVE | {"offset_check_in_slave": True})
        answer = pull(world, queue_offset=9)
        assert (answer.code, answer.header.next_begin_offset) == (PullCode.PULL_OFFSET_MOVED, 0)
        assert world.events(MessageAppended) == []


@pytest.mark.parametrize(("enabled", "memory_bytes", "suggested"), [
    (False, 0, 0), (False, 1 << 30, 0), (True, 0, 7), (True, 1 << 30, 3),
])
def test_where_to_read_next_is_said_by_the_group_if_slaves_may_be_read(
    enabled: bool, memory_bytes: int, suggested: int,
) -> None:
    with World() as world:
        begin(world, {"total_physical_memory_bytes": memory_bytes}, slave_read_enable=enabled)
        group = world.brokers[BROKER].subscription_group_manager.find_subscription_group_config(GROUP)
        assert group is not None
        group.broker_id, group.which_broker_when_consume_slowly = 3, 7
        send(world)
        world.run(10)
        assert pull(world).header.suggest_which_broker_id == suggested


def test_both_ways_of_transfer_give_the_same_answer() -> None:
    answers: list[Command] = []
    for by_heap in (True, False):
        with World() as world:
            begin(world, transfer_msg_by_heap=by_heap)
            send(world, body=b"one")
            send(world, body=b"two")
            world.run(10)
            answers.append(pull(world)._replace(opaque=0))
    assert answers[0] == answers[1]
    assert [one.body for one in found(answers[0])] == [b"one", b"two"]


@pytest.mark.parametrize("held", [False, True])
def test_the_offset_that_comes_with_a_pull_is_committed_also_if_that_is_held(held: bool) -> None:
    with World() as world:
        begin(world)
        flags = FLAG_SUBSCRIPTION | FLAG_COMMIT_OFFSET | (FLAG_SUSPEND if held else 0)
        answer = pull(world, sys_flag=flags, commit_offset=-7, suspend_timeout_ms=1_000)
        assert answer.code == PullCode.PULL_NOT_FOUND
        assert [event.offset for _, event in world.events(OffsetCommitted)] == [-7]


def test_a_pull_that_is_refused_commits_nothing() -> None:
    with World() as world:
        begin(world)
        answer = pull(world, "none", sys_flag=FLAG_SUBSCRIPTION | FLAG_COMMIT_OFFSET, commit_offset=5)
        assert answer.code == ResponseCode.TOPIC_NOT_EXIST
        assert world.events(OffsetCommitted) == []


def test_a_broker_without_long_polling_holds_a_pull_for_a_second_and_looks_every_second() -> None:
    with World() as world:
        begin(world, {"long_polling_enable": False})
        since_ms = world.now_ms
        assert pull(world, sys_flag=HELD).code == PullCode.PULL_NOT_FOUND
        assert 1_000 <= world.now_ms - since_ms <= 2_200
        world.add_producer("producer1", Sending("orders", queues=1))
        assert pull(world, sys_flag=HELD).code == PullCode.SUCCESS


def test_a_message_of_another_tag_wakes_nobody_before_the_next_look() -> None:
    with World() as world:
        begin(world)
        answers: list[tuple[int, Command]] = []
        world.add_tester("other")

        async def ask() -> None:
            header = PullMessageRequestHeader(GROUP, "orders", 0, 0, 32, HELD, 0, 15_000, 0, "b")
            answer = await world.testers["other"].invoke_sync(
                ADDRESS, Command(RequestCode.PULL_MESSAGE, header), 30_000)
            answers.append((world.now_ms, answer))

        world.call("other", ask)
        world.run(1_000)
        send(world, properties="TAGS\x01a")
        sent_ms = world.now_ms
        world.run(5_000)
        ((answered_ms, answer),) = answers
        assert (answer.code, answer.header.next_begin_offset) == (PullCode.PULL_RETRY_IMMEDIATELY, 1)
        assert answered_ms - sent_ms > 1_000


@pytest.mark.parametrize(("settings", "changes", "remark"), [
    ({"broker_permission": 2}, {}, "the broker[broker-a] pulling message is forbidden"),
    ({"auto_create_subscription_group": False}, {}, (
        "subscription group [G] does not exist, \nSee http://rocketmq.apache.org/docs/faq/ for further details.")),
    ({}, {"queue_id": 9}, (
        "queueId[9] is illegal, topic:[orders] topicConfig.readQueueNums:[4] consumer:[/tester:")),
    ({}, {"sys_flag": 0}, (
        "the consumer's group info not exist\nSee http://rocketmq.apache.org/docs/faq/ for further details.")),
    ({}, {"expression_type": "SQL92", "subscription": "a > 1"}, (
        "The broker does not support consumer to filter message by SQL92")),
])
def test_a_refused_pull_has_the_words_of_the_broker(
    settings: dict[str, Any], changes: dict[str, Any], remark: str,
) -> None:
    with World() as world:
        begin(world, **settings)
        answer = pull(world, **changes)
        assert (answer.header, (answer.remark or "")[:len(remark)]) == (None, remark)
