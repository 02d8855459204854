"""CONSUMER_SEND_MSG_BACK: retry topic and dead-letter queue, the checks in their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from impl.common.message import MessageExt
from impl.common.request_code import ResponseCode
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.decisions.flags import PERM_READ
from impl.events import MessageAppended
from stateful_tests.cover.group.stored import BROKER, DEAD_LETTERS, OLD, RETRY, begin, pulled, send, send_back
from stateful_tests.worlds.world import World

SCHEDULED = "SCHEDULE_TOPIC_XXXX"


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        begin(world)
        yield world


def group(world: World) -> SubscriptionGroupConfig:
    config = world.brokers[BROKER].subscription_group_manager.find_subscription_group_config("G")
    assert config is not None
    return config


def first(world: World) -> MessageExt:
    send(world, properties="TAGS\x01a\x02KEYS\x01k")
    (message,) = pulled(world)
    return message


def scheduled(world: World, level: int) -> MessageExt:
    """The first message of a delay level."""
    return pulled(world, SCHEDULED, queue_id=level - 1)[0]


def test_a_message_comes_again_after_its_delay_with_all_that_is_known_of_it(world: World) -> None:
    message = first(world)
    since_ms = world.now_ms
    assert send_back(world, message, delay_level=1).code == ResponseCode.SUCCESS
    assert scheduled(world, 1).get_property("REAL_TOPIC") == RETRY
    world.run(1_200)
    (again,) = pulled(world, RETRY)
    assert (again.body, again.born_timestamp, again.born_host, again.reconsume_times) == (
        message.body, message.born_timestamp, message.born_host, 1)
    assert again.properties == {
        "TAGS": "a", "KEYS": "k", "CLUSTER": "DefaultCluster", "RETRY_TOPIC": "orders", "WAIT": "false",
        "ORIGIN_MESSAGE_ID": message.msg_id, "REAL_TOPIC": RETRY, "REAL_QID": "0",
        "DELAY": "1"}
    assert world.now_ms - since_ms >= 1_000


def test_the_broker_counts_the_delay_up_and_keeps_the_first_topic_and_id(world: World) -> None:
    message = first(world)
    send_back(world, message)
    again = scheduled(world, 3)
    send_back(world, again)
    third = scheduled(world, 4)
    assert (third.reconsume_times, third.get_property("RETRY_TOPIC"), third.get_property("ORIGIN_MESSAGE_ID")) == (
        2, "orders", message.msg_id)


@pytest.mark.parametrize(("changes", "limit", "dead"), [
    ({"delay_level": -1}, 16, True), ({}, 0, True), ({}, 1, False), ({"max_reconsume_times": 0}, 16, True),
    ({"max_reconsume_times": 1}, 0, False),
])
def test_what_is_not_tried_again_is_a_dead_letter_at_once(
    world: World, changes: dict[str, Any], limit: int, dead: bool,
) -> None:
    message = first(world)
    group(world).retry_max_times = limit
    assert send_back(world, message, **changes).code == ResponseCode.SUCCESS
    topics = [event.topic for _, event in world.events(MessageAppended)]
    assert topics == ["orders", DEAD_LETTERS if dead else SCHEDULED]
    config = world.brokers[BROKER].topic_config_manager.select_topic_config(DEAD_LETTERS)
    assert (config is not None) is dead
    if config is not None:
        assert (config.write_queue_nums, config.perm) == (1, 6)
        (letter,) = pulled(world, DEAD_LETTERS)
        assert (letter.reconsume_times, letter.get_property("DELAY")) == (1, "0")


def test_the_limit_of_an_old_client_is_not_looked_at(world: World) -> None:
    message = first(world)
    send_back(world, message, version=OLD, max_reconsume_times=0)
    assert [event.topic for _, event in world.events(MessageAppended)] == ["orders", SCHEDULED]


def test_a_group_without_retry_queues_is_told_success_and_loses_the_message(world: World) -> None:
    message = first(world)
    group(world).retry_queue_nums = 0
    assert send_back(world, message).code == ResponseCode.SUCCESS
    assert [event.topic for _, event in world.events(MessageAppended)] == ["orders"]
    assert world.brokers[BROKER].topic_config_manager.select_topic_config(RETRY) is None


def test_a_retry_topic_that_may_not_be_written_to_takes_none(world: World) -> None:
    message = first(world)
    send_back(world, message)
    config = world.brokers[BROKER].topic_config_manager.select_topic_config(RETRY)
    assert config is not None
    config.perm = PERM_READ
    answer = send_back(world, message)
    assert (answer.code, answer.remark) == (
        ResponseCode.NO_PERMISSION, f"the topic[{RETRY}] sending message is forbidden")


def test_a_record_that_is_not_there_cannot_be_sent_back(world: World) -> None:
    message = first(world)
    answer = send_back(world, message, offset=2**40)
    assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, f"look message by offset failed, {2**40}")
    assert world.brokers[BROKER].topic_config_manager.select_topic_config(RETRY) is not None


def test_a_message_that_has_no_room_for_more_properties_is_refused(world: World) -> None:
    send(world, body=b"x" * 16_200)
    (message,) = pulled(world)
    answer = send_back(world, message)
    assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, "MESSAGE_ILLEGAL")


def test_a_broker_that_may_not_be_written_to_takes_nothing_back() -> None:
    with World() as world:
        begin(world, broker_permission=4)
        send(world)
        answer = send_back(world, MessageExt(0, topic="orders"))
        assert (answer.code, answer.remark) == (
            ResponseCode.NO_PERMISSION, "the broker[broker-a] sending message is forbidden")


def test_a_group_that_the_broker_does_not_know_comes_before_all_else() -> None:
    with World() as world:
        begin(world, auto_create_subscription_group=False, broker_permission=4)
        answer = send_back(world, MessageExt(0, topic="orders"))
        assert answer.code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
