"""Sends to simulated brokers: single messages, batches, retry topics, and what is refused with which words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from impl.broker.subscription_group_manager import SubscriptionGroupManager
from impl.common.headers import SendMessageRequestHeader
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfig
from impl.events import MessageAppended
from impl.ports.remoting import Command
from stateful_tests.cover.group.stored import ADDRESS, BROKER, DEAD_LETTERS, OLD, RETRY, begin, pulled, send, send_batch
from stateful_tests.worlds.world import World

SEE = "\nSee http://rocketmq.apache.org/docs/faq/ for further details."
ORDERS = ("TopicConfig [topicName=orders, readQueueNums=4, writeQueueNums=4, perm=RW-, topicFilterType=SINGLE_TAG, "
          "topicSysFlag=0, order=false]")


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        begin(world)
        yield world


def groups(world: World) -> SubscriptionGroupManager:
    return world.brokers[BROKER].subscription_group_manager


def appended(world: World) -> list[str]:
    return [event.topic for _, event in world.events(MessageAppended)]


@pytest.mark.parametrize("code", [RequestCode.SEND_BATCH_MESSAGE, RequestCode.SEND_MESSAGE])
def test_a_batch_is_a_record_for_each_message_and_one_answer(code: RequestCode, world: World) -> None:
    answer = send_batch(world, b"one", b"two", code=code)
    assert (answer.code, answer.remark) == (ResponseCode.SUCCESS, None)
    assert (answer.header.queue_id, answer.header.queue_offset) == (0, 0)
    messages = pulled(world)
    assert [(one.body, one.queue_offset, one.get_property("CLUSTER")) for one in messages] == [
        (b"one", 0, "DefaultCluster"), (b"two", 1, "DefaultCluster")]
    assert answer.header.msg_id == ",".join(str(one.msg_id) for one in messages)


def test_what_names_itself_no_batch_is_one_message_under_the_code_of_batches_too(world: World) -> None:
    assert send_batch(world, b"one", b"two", batch=False).code == ResponseCode.SUCCESS
    (message,) = pulled(world)
    assert message.body is not None
    assert b"one" in message.body


def test_a_batch_that_is_longer_than_a_message_may_be_is_illegal(world: World) -> None:
    answer = send_batch(world, b"x" * 16_384)
    assert (answer.code, (answer.remark or "")[:22]) == (ResponseCode.MESSAGE_ILLEGAL, "the message is illegal")
    assert pulled(world) == []


@pytest.mark.parametrize(("changes", "code", "remark"), [
    ({"topic": "a b"}, 1, "The specified topic contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"),
    ({"topic": "SCHEDULE_TOPIC_XXXX"}, 16, "Sending message to topic[SCHEDULE_TOPIC_XXXX] is forbidden."),
    ({"topic": "new", "default_topic": "orders"}, 17, f"topic[new] not exist, apply first please!{SEE}"),
    ({"queue_id": 4}, 1, f"request queueId[4] is illegal, {ORDERS} Producer: tester:"),
    ({"properties": "DELAY\x01abc"}, 1, 'java.lang.NumberFormatException: For input string: "abc"'),
])
def test_a_refusal_has_the_words_of_the_broker(world: World, changes: dict[str, Any], code: int, remark: str) -> None:
    answer = send(world, **changes)
    assert (answer.code, (answer.remark or "")[:len(remark)]) == (code, remark)
    assert appended(world) == []


def test_every_answer_to_a_send_names_the_region(world: World) -> None:
    for answer in (send(world), send(world, topic=" ")):
        assert (answer.header.msg_region, answer.header.trace_on) == ("DefaultRegion", True)
    assert send(world, topic=" ").header.msg_id is None


def test_a_topic_of_a_unit_is_made_with_its_flag(world: World) -> None:
    send(world, topic="new", unit_mode=True)
    send(world, topic=RETRY, default_topic="none", unit_mode=True)
    manager = world.brokers[BROKER].topic_config_manager
    made = [manager.select_topic_config(topic) for topic in ("new", RETRY)]
    assert [(one.write_queue_nums, one.topic_sys_flag) for one in made if one] == [(4, 1), (1, 2)]


def test_a_topic_of_several_tags_marks_its_messages(world: World) -> None:
    manager = world.brokers[BROKER].topic_config_manager
    manager.update_topic_config(TopicConfig("many", 1, 1, topic_filter_type="MULTI_TAG"))
    send(world, "many")
    assert [one.sys_flag for one in pulled(world, "many")] == [2]


def test_a_broker_that_may_not_be_written_to_takes_all_but_ordered_topics() -> None:
    with World() as world:
        begin(world, broker_permission=4)
        assert send(world).code == ResponseCode.SUCCESS
        config = world.brokers[BROKER].topic_config_manager.select_topic_config("orders")
        assert config is not None
        config.order = True
        answer = send(world)
        assert (answer.code, answer.remark) == (
            ResponseCode.NO_PERMISSION, "the broker[broker-a] sending message is forbidden")


def test_a_broker_takes_nothing_before_its_time() -> None:
    with World() as world:
        begin(world, start_accept_send_request_timestamp=2**42)
        answer = send(world)
        assert (answer.code, answer.remark) == (
            ResponseCode.SYSTEM_ERROR, "broker unable to service, until 2109-05-15 07:35:11,104")


@pytest.mark.parametrize(("times", "limit", "topic"), [
    (15, None, RETRY), (16, None, DEAD_LETTERS), (2, 3, RETRY), (3, 3, DEAD_LETTERS), (None, None, RETRY),
])
def test_what_was_tried_too_often_is_a_dead_letter(
    world: World, times: int | None, limit: int | None, topic: str,
) -> None:
    answer = send(world, RETRY, reconsume_times=times, max_reconsume_times=limit)
    assert (answer.code, answer.header.queue_id) == (ResponseCode.SUCCESS, 0)
    assert [one.reconsume_times for one in pulled(world, topic)] == [times or 0]


def test_the_limit_of_an_old_client_is_that_of_the_group(world: World) -> None:
    config = groups(world).find_subscription_group_config("G")
    assert config is not None
    config.retry_max_times = 1
    for version, topic in ((OLD, DEAD_LETTERS), (OLD + 1, RETRY)):
        header = SendMessageRequestHeader("P", RETRY, 0, 1, reconsume_times=1, max_reconsume_times=9)
        world.ask(ADDRESS, Command(RequestCode.SEND_MESSAGE_V2, header, b"body", version=version))
        assert len(pulled(world, topic)) == 1


def test_a_dead_letter_that_a_consumer_sends_itself_waits_for_its_delay_once_more(world: World) -> None:
    """#2724: the broker sets DELAY to 0 in a map that is then replaced."""
    send(world, RETRY, reconsume_times=16, properties="DELAY\x011")
    assert appended(world) == ["SCHEDULE_TOPIC_XXXX"]
    assert world.brokers[BROKER].topic_config_manager.select_topic_config(DEAD_LETTERS) is not None
    world.run(1_300)
    assert appended(world) == ["SCHEDULE_TOPIC_XXXX", DEAD_LETTERS]


def test_a_retry_topic_wants_a_group_that_the_broker_knows() -> None:
    with World() as world:
        begin(world, auto_create_subscription_group=False)
        answer = send(world, RETRY)
        assert (answer.code, answer.remark) == (
            ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, f"subscription group not exist, G {SEE}")
