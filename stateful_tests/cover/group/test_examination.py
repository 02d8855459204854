"""What a broker says to operators of topics, groups and their members, and a group that they set up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from impl.common.headers import (
    ConsumerGroupRequestHeader,
    ConsumerOffsetRequestHeader,
    ConsumerSendMsgBackRequestHeader,
    GetConsumeStatsRequestHeader,
    ProducerGroupRequestHeader,
    PullMessageRequestHeader,
    QueryMessageRequestHeader,
    QueueOffsetRequestHeader,
    TopicRequestHeader,
)
from impl.common.heartbeat_data import CLUSTERING, CONSUME_PASSIVELY, ConsumerData, HeartbeatData, ProducerData
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.decisions.flags import FLAG_COMMIT_OFFSET, FLAG_SUBSCRIPTION, FLAG_SUSPEND
from impl.decisions.message_queue import MessageQueue
from impl.decisions.subscription import SubscriptionData
from impl.events import QueuesDeleted
from impl.ports.remoting import Command
from stateful_tests.cover.group.stored import ADDRESS, BROKER, GROUP, begin, pulled, send
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.world import World

QUEUE = MessageQueue("orders", BROKER, 0)
PULL: Any = PullMessageRequestHeader(GROUP, "orders", 0, 0, 32, FLAG_COMMIT_OFFSET | FLAG_SUSPEND | FLAG_SUBSCRIPTION,
                                     0, 15_000, 0, "*")
QUERY: Any = QueryMessageRequestHeader("orders", "k", 3, 0, 1 << 62)
BACK: Any = ConsumerSendMsgBackRequestHeader(0, GROUP, 0)
CODES = {
    PullMessageRequestHeader: RequestCode.PULL_MESSAGE, QueryMessageRequestHeader: RequestCode.QUERY_MESSAGE,
    ConsumerSendMsgBackRequestHeader: RequestCode.CONSUMER_SEND_MSG_BACK,
    QueueOffsetRequestHeader: RequestCode.SEARCH_OFFSET_BY_TIMESTAMP,
}


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        begin(world)
        yield world


def asked(world: World, code: RequestCode, header: Any = None, body: Any = None) -> Command:
    return world.ask(ADDRESS, Command(code, header, body))


def beat(world: World, topic: str = "orders") -> None:
    subscribed = [SubscriptionData(topic, "*")]
    consumer = ConsumerData(GROUP, CONSUME_PASSIVELY, CLUSTERING, "CONSUME_FROM_LAST_OFFSET", subscribed)
    asked(world, RequestCode.HEART_BEAT, body=HeartbeatData("me", [ProducerData("P")], [consumer]))


def committed(world: World, offset: int) -> Command:
    """What was consumed, once so much is committed."""
    asked(world, RequestCode.UPDATE_CONSUMER_OFFSET, ConsumerOffsetRequestHeader(GROUP, "orders", 0, offset))
    return asked(world, RequestCode.GET_CONSUME_STATS, GetConsumeStatsRequestHeader(GROUP))


def test_a_topic_tells_the_ends_of_its_queues_and_the_time_of_the_last_message(world: World) -> None:
    send(world)
    (message,) = pulled(world)
    table = asked(world, RequestCode.GET_TOPIC_STATS_INFO, TopicRequestHeader("orders")).body.offset_table
    assert len(table) == 4
    assert table[QUEUE] == (0, 1, message.store_timestamp)
    assert table[MessageQueue("orders", BROKER, 1)] == (0, 0, 0)
    answer = asked(world, RequestCode.GET_TOPIC_STATS_INFO, TopicRequestHeader("nope"))
    assert (answer.code, answer.remark) == (ResponseCode.TOPIC_NOT_EXIST, "topic[nope] not exist")


def test_members_are_listed_with_what_they_subscribe(world: World) -> None:
    beat(world)
    consumers = asked(world, RequestCode.GET_CONSUMER_CONNECTION_LIST, ConsumerGroupRequestHeader(GROUP)).body
    producers = asked(world, RequestCode.GET_PRODUCER_CONNECTION_LIST, ProducerGroupRequestHeader("P")).body
    assert consumers.connection_set == producers.connection_set
    assert [one.client_id for one in consumers.connection_set] == ["me"]
    assert set(consumers.subscription_table) == {"orders"}
    assert consumers.message_model == CLUSTERING


def test_a_group_that_is_not_there_is_named(world: World) -> None:
    consumers = asked(world, RequestCode.GET_CONSUMER_CONNECTION_LIST, ConsumerGroupRequestHeader("X"))
    producers = asked(world, RequestCode.GET_PRODUCER_CONNECTION_LIST, ProducerGroupRequestHeader("X"))
    assert (consumers.code, consumers.remark) == (206, "the consumer group[X] not online")
    assert (producers.code, producers.remark) == (1, "the producer group[X] not exist")


def test_what_a_group_has_consumed_is_told_but_not_of_topics_that_it_does_not_subscribe(world: World) -> None:
    send(world)
    (message,) = pulled(world)
    table = committed(world, 1).body.offset_table
    assert table[QUEUE] == (1, 1, message.store_timestamp)
    assert table[MessageQueue("orders", BROKER, 3)] == (0, 0, 0)
    assert committed(world, 7).body.offset_table[QUEUE] == (1, 7, 0), "no message has that offset"
    beat(world, topic="others")
    assert committed(world, 1).body.offset_table == {}


def test_queues_are_told_of_that_can_be_written_and_consumed_that_can_be_read(world: World) -> None:
    config = world.brokers[BROKER].topic_config_manager.select_topic_config("orders")
    assert config is not None
    config.read_queue_nums, config.write_queue_nums = 2, 3
    assert len(asked(world, RequestCode.GET_TOPIC_STATS_INFO, TopicRequestHeader("orders")).body.offset_table) == 3
    assert len(committed(world, 1).body.offset_table) == 2
    blank = asked(world, RequestCode.GET_CONSUME_STATS, GetConsumeStatsRequestHeader(GROUP, " "))
    assert len(blank.body.offset_table) == 2, "as if no topic were named"


@pytest.mark.parametrize("header", [
    PULL._replace(queue_id=None), PULL._replace(queue_offset=None), PULL._replace(max_msg_nums=None),
    PULL._replace(sys_flag=None), PULL._replace(commit_offset=None), PULL._replace(suspend_timeout_ms=None),
    QUERY._replace(max_num=None), QUERY._replace(begin_timestamp=None), QUERY._replace(end_timestamp=None),
    BACK._replace(offset=None), BACK._replace(delay_level=None), QueueOffsetRequestHeader("orders", 0, None),
])
def test_a_number_that_is_missing_is_no_zero(world: World, header: Any) -> None:
    send(world)
    world.run(10)
    answer = asked(world, CODES[type(header)], header)
    assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, "java.lang.NullPointerException")


def test_nothing_less_than_no_message_can_be_asked_for(world: World) -> None:
    answer = asked(world, RequestCode.QUERY_MESSAGE, QUERY._replace(max_num=-1))
    assert "Illegal Capacity: -1" in str(answer.remark)


def test_a_group_is_set_up_and_null_changes_nothing(world: World) -> None:
    groups = world.brokers[BROKER].subscription_group_manager
    config = SubscriptionGroupConfig("set-up", retry_max_times=3)
    assert asked(world, RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=config).code == 0
    assert groups.subscription_group_table.get("set-up") == config
    version = groups.data_version.counter
    assert asked(world, RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP).code == 0
    assert groups.data_version.counter == version


@pytest.mark.parametrize("subject", ["shipped", "repaired"])
def test_the_queues_of_a_topic_that_is_deleted_go_with_it(subject: str) -> None:
    with subject_named(subject).running(), World() as world:
        begin(world)
        send(world)
        world.run(1_000)
        disk, folder = world.simulation.nodes[BROKER].disk, "store/consumequeue/orders/0"
        assert disk.list(folder)
        deleted = asked(world, RequestCode.DELETE_TOPIC_IN_BROKER, TopicRequestHeader("orders"))
        assert deleted.code == ResponseCode.SUCCESS
        end = asked(world, RequestCode.GET_MAX_OFFSET, QueueOffsetRequestHeader("orders", 0))
        assert end.header.offset == 0
        assert not disk.list(folder)
        again = send(world)
        assert again.header.queue_offset == 0, "the next message begins the queue"
        refused = asked(world, RequestCode.DELETE_TOPIC_IN_BROKER, TopicRequestHeader("no topic!"))
        assert refused.code == ResponseCode.SYSTEM_ERROR


def test_with_any_topic_that_is_deleted_go_the_queues_of_those_that_the_broker_does_not_know(world: World) -> None:
    send(world)
    assert pulled(world)
    config = world.brokers[BROKER].topic_config_manager.topic_config_table
    known = config.get("orders")
    assert known is not None
    for topics, gone in (([known], []), ([], [(0, BROKER, QueuesDeleted(BROKER, "orders", (0,)))])):
        config.remove("orders")
        for one in topics:
            config.put("orders", one)
        assert asked(world, RequestCode.DELETE_TOPIC_IN_BROKER, TopicRequestHeader("archive")).code == 0
        told = [one for one in world.simulation.kernel.records if isinstance(one[2], QueuesDeleted)]
        assert [(0, *one[1:]) for one in told] == gone
