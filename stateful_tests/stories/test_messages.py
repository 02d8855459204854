"""Stories of messages on their way through a broker: dead letters, send-backs, pulls from a slave that lags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from impl.common.byte_buffer import ByteBuffer
from impl.common.headers import ConsumerSendMsgBackRequestHeader, PullMessageRequestHeader, SendMessageRequestHeader
from impl.common.message_decoder import decodes
from impl.common.message_id import decode_message_id
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfig
from impl.decisions.flags import FLAG_SUBSCRIPTION, FLAG_SUSPEND
from impl.decisions.pull_answer import PullCode
from impl.events import MessageAppended
from impl.ports.remoting import Command
from impl.store.message_store_config import BrokerRole
from stateful_tests.worlds.workloads import STORE
from stateful_tests.worlds.world import World

BROKER, ADDRESS = "broker-a", "broker-a:10911"
RETRY, DEAD_LETTERS = "%RETRY%G", "%DLQ%G"
LAST_TRY, MINUTE_MS = 16, 60_000


def begin(world: World, **store: Any) -> None:
    """A broker that keeps messages."""
    world.store_config = replace(STORE, **store)
    world.add_namesrv()
    world.add_broker(BROKER, BROKER, topics=[TopicConfig("orders", 2, 2)])
    world.run(2_000)


def group(world: World) -> SubscriptionGroupConfig:
    """What the broker allows the group."""
    config = world.brokers[BROKER].subscription_group_manager.find_subscription_group_config("G")
    assert config is not None
    return config


def send(world: World, topic: str = "orders", **header: Any) -> Command:
    """A message is sent; the answer."""
    fields = SendMessageRequestHeader("P", topic, 0, 1, **header)
    return world.ask(ADDRESS, Command(RequestCode.SEND_MESSAGE_V2, fields, b"body"))


def send_back(world: World, sent: Command) -> Command:
    """The group's listener has failed with a message; the answer to its send-back, to be tried again after 1 s."""
    header = ConsumerSendMsgBackRequestHeader(decode_message_id(sent.header.msg_id).offset, "G", 1)
    return world.ask(ADDRESS, Command(RequestCode.CONSUMER_SEND_MSG_BACK, header))


def pull(world: World, topic: str, queue_id: int = 0, offset: int = 0, hold: int = 0) -> Command:
    """The answer to a pull; hold -- FLAG_SUSPEND: it may be held for a second."""
    flags = FLAG_SUBSCRIPTION | hold
    header = PullMessageRequestHeader("G", topic, queue_id, offset, 32, flags, 0, 1_000, 0, "*")
    return world.ask(ADDRESS, Command(RequestCode.PULL_MESSAGE, header), timeout_ms=30_000)


def waiting(world: World) -> list[str]:
    """Keys of the messages that wait for a delay level."""
    return [str(event.key) for _, event in world.events(MessageAppended) if event.topic == "SCHEDULE_TOPIC_XXXX"]


def readable(world: World, topic: str) -> Iterator[int]:
    """How many messages each queue of a topic has that consumers may pull."""
    config = world.brokers[BROKER].topic_config_manager.select_topic_config(topic)
    for queue_id in range(0 if config is None else config.read_queue_nums):
        yield len(decodes(ByteBuffer(pull(world, topic, queue_id).body or b"")))


def test_m1_a_dead_letter_that_a_consumer_sends_itself_waits_for_its_delay_once_more() -> None:
    with World() as world:
        begin(world)
        answer = send(world, RETRY, reconsume_times=LAST_TRY, properties="DELAY\x015\x02UNIQ_KEY\x01k1")
        assert answer.code == ResponseCode.SUCCESS
        world.run(MINUTE_MS // 2)
        assert list(readable(world, DEAD_LETTERS)) == [0]
        assert waiting(world) == ["k1"]
        world.run(MINUTE_MS)
        assert list(readable(world, DEAD_LETTERS)) == [1]


def test_m2_a_group_without_retry_queues_loses_what_it_sends_back() -> None:
    with World() as world:
        begin(world)
        sent = send(world)
        group(world).retry_queue_nums = 0
        assert send_back(world, sent).code == ResponseCode.SUCCESS
        world.run(2_000)
        assert [event.topic for _, event in world.events(MessageAppended)] == ["orders"]


def test_m3_a_slave_that_ends_before_the_offset_is_asked_again_and_again() -> None:
    with World() as world:
        begin(world, broker_role=BrokerRole.SLAVE, broker_id=1)
        since_ms = world.now_ms
        for _ in range(20):
            answer = pull(world, "orders", offset=100, hold=FLAG_SUSPEND)
            assert answer.code == PullCode.PULL_RETRY_IMMEDIATELY
            assert answer.header.next_begin_offset == 100
        assert world.now_ms - since_ms < 1_000


def test_m4_a_group_with_more_retry_queues_loses_what_goes_into_the_new_ones() -> None:
    with World() as world:
        begin(world)
        send_back(world, send(world))
        group(world).retry_queue_nums = 2
        world.script.draw("SendMessageProcessor#asyncConsumerSendMsgBack", 1)
        send_back(world, send(world))
        world.run(3_000)
        elsewhere = [event for _, event in world.events(MessageAppended) if event.topic == RETRY and event.queue_id]
        assert len(elsewhere) > 0
        assert list(readable(world, RETRY)) == [1]
