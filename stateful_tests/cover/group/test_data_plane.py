"""SEND and PULL of simulated brokers: the checks in their order, the codes as on the wire, a put and a read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.byte_buffer import ByteBuffer
from impl.common.headers import PullMessageRequestHeader, SendMessageRequestHeader
from impl.common.inet_socket_address import socket_address
from impl.common.message import MessageExt
from impl.common.message_decoder import decodes
from impl.common.message_id import create_message_id
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfig
from impl.decisions.flags import FLAG_SUBSCRIPTION, FLAG_SUSPEND, PERM_WRITE
from impl.decisions.java_errors import JavaError, JavaRuntimeError, MappingFaultError
from impl.decisions.pull_answer import PullCode
from impl.decisions.start_offset import ConsumeFromWhere
from impl.events import MessageAppended, MessageDispatched, MessagesSettled, StoreLoaded, StoreRefused
from impl.ports.remoting import Command
from impl.store.clean_services import CleanCommitLogService, CleanConsumeQueueService
from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_store_config import FlushDiskType
from stateful_tests.worlds.machines import STORE
from stateful_tests.worlds.producers import Sending
from stateful_tests.worlds.world import World

BROKER, ADDRESS = "broker-a", "broker-a:10911"
SYNC = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH)


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        world.store_config = SYNC
        world.add_namesrv()
        world.add_broker(BROKER, BROKER, topics=[
            TopicConfig("orders", 4, 4), TopicConfig("secret", 4, 4, perm=PERM_WRITE)])
        world.run(100)
        yield world


def send(world: World, topic: str = "orders", queue_id: int = 0, body: bytes = b"body", **header: Any) -> Command:
    return world.ask(ADDRESS, Command(
        RequestCode.SEND_MESSAGE_V2, SendMessageRequestHeader("P", topic, queue_id, 1, **header), body))


def pull(world: World, topic: str = "orders", *, sys_flag: int = FLAG_SUBSCRIPTION, **changes: Any) -> Command:
    header = PullMessageRequestHeader("G", topic, 0, 0, 32, sys_flag, 0, 15_000, 0, "*")._replace(**changes)
    return world.ask(ADDRESS, Command(RequestCode.PULL_MESSAGE, header), timeout_ms=40_000)


def found(answer: Command) -> list[MessageExt]:
    return decodes(ByteBuffer(answer.body))


def test_a_message_is_put_into_the_log_dispatched_and_pulled(world: World) -> None:
    answers = [send(world, body=b"one", properties="TAGS\x01a\x02WAIT\x01true"), send(world, body=b"two")]
    store_host = socket_address(ADDRESS)
    assert [one.header.queue_offset for one in answers] == [0, 1]
    assert [one.header.msg_id for one in answers] == [
        create_message_id(store_host, event.commit_log_offset) for _, event in world.events(MessageAppended)]
    world.run(10)
    assert [event.queue_offset for _, event in world.events(MessageDispatched)] == [0, 1]
    answer = pull(world)
    assert (answer.code, answer.header[1:]) == (PullCode.SUCCESS, (2, 0, 2))
    assert [(one.body, one.queue_offset, one.store_host) for one in found(answer)] == [
        (b"one", 0, store_host), (b"two", 1, store_host)]
    assert found(answer)[0].properties == {"TAGS": "a", "CLUSTER": "DefaultCluster"}
    assert [one.body for one in found(pull(world, subscription="a || b"))] == [b"one"]


def test_a_held_pull_is_answered_when_a_message_comes_or_its_time_is_over(world: World) -> None:
    suspend = FLAG_SUBSCRIPTION | FLAG_SUSPEND
    since_ms = world.now_ms
    answer = pull(world, sys_flag=suspend, suspend_timeout_ms=1_000)
    assert answer.code == PullCode.PULL_NOT_FOUND
    assert 1_000 < world.now_ms - since_ms <= 5_100  # the service looks every 5 s
    since_ms = world.now_ms
    world.add_producer("producer1", Sending("orders", queues=1))
    answer = pull(world, sys_flag=suspend, suspend_timeout_ms=15_000)
    assert (answer.code, len(found(answer))) == (PullCode.SUCCESS, 1)
    assert world.now_ms - since_ms < 600
    assert pull(world, queue_offset=9).code == PullCode.PULL_OFFSET_MOVED


def test_a_delayed_message_is_found_when_it_is_due(world: World) -> None:
    send(world, properties="DELAY\x011")
    sent_ms = world.now_ms
    answer = pull(world, sys_flag=FLAG_SUBSCRIPTION | FLAG_SUSPEND)
    assert [one.body for one in found(answer)] == [b"body"]
    assert 1_000 <= world.now_ms - sent_ms <= 1_200


@pytest.mark.parametrize(("changes", "code"), [
    ({"topic": " "}, ResponseCode.SYSTEM_ERROR),
    ({"topic": "SCHEDULE_TOPIC_XXXX"}, ResponseCode.NO_PERMISSION),
    ({"topic": "new", "default_topic": "orders"}, ResponseCode.TOPIC_NOT_EXIST),
    ({"topic": "new"}, ResponseCode.SUCCESS),
    ({"queue_id": 4}, ResponseCode.SYSTEM_ERROR),
    ({"queue_id": -1}, ResponseCode.SUCCESS),
    ({"body": b"x" * SYNC.max_message_size}, ResponseCode.MESSAGE_ILLEGAL),
])
def test_the_checks_of_a_send_have_their_codes(world: World, changes: dict[str, Any], code: ResponseCode) -> None:
    assert send(world, **changes).code == code


@pytest.mark.parametrize(("changes", "code"), [
    ({"topic": "none"}, ResponseCode.TOPIC_NOT_EXIST),
    ({"topic": "secret"}, ResponseCode.NO_PERMISSION),
    ({"queue_id": 4}, ResponseCode.SYSTEM_ERROR),
    ({"subscription": "||"}, ResponseCode.SUBSCRIPTION_PARSE_FAILED),
    ({"sys_flag": 0}, ResponseCode.SUBSCRIPTION_NOT_EXIST),
])
def test_the_checks_of_a_pull_have_their_codes(world: World, changes: dict[str, Any], code: ResponseCode) -> None:
    assert pull(world, **changes).code == code


def test_a_pull_wants_the_subscription_of_its_group_and_not_an_older_one(world: World) -> None:
    member = PushConsumerConfig("G", {"orders": "*"}, consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
    world.add_consumer("c1", member)
    send(world)
    world.run(1_000)
    assert pull(world, sys_flag=0).code == PullCode.SUCCESS
    assert pull(world, sys_flag=0, sub_version=2**62).code == ResponseCode.SUBSCRIPTION_NOT_LATEST
    assert pull(world, topic="secret", sys_flag=0).code == ResponseCode.NO_PERMISSION
    assert [event.offsets for _, event in world.events(MessagesSettled)] == [(0,)]


def test_a_full_disk_refuses_and_a_broker_that_has_space_again_accepts(world: World) -> None:
    world.simulation.fill_disk(BROKER, 95)
    world.run(10_100)
    assert send(world).code == ResponseCode.SERVICE_NOT_AVAILABLE
    world.simulation.fill_disk(BROKER, 0)
    world.run(10_100)
    assert send(world).code == ResponseCode.SUCCESS


def test_what_is_stored_is_there_after_a_kill_and_an_empty_file_keeps_a_broker_from_starting(world: World) -> None:
    send(world)
    world.restart(BROKER)
    world.run(1_000)
    assert [one.body for one in found(pull(world))] == [b"body"]
    world.simulation.kill(BROKER)
    world.simulation.disks[BROKER].make(f"{SYNC.store_path_commit_log}/{1 << 16:020}")
    world.simulation.start(BROKER)
    world.run(1_000)
    assert len(world.events(StoreRefused)) == 1
    world.run(15_000)  # an operator has deleted it
    assert [one.body for one in found(pull(world))] == [b"body"]
    assert [event.max_offset > 0 for _, event in world.events(StoreLoaded)] == [False, True, True]


@pytest.mark.parametrize("error", [JavaRuntimeError("the disk"), MappingFaultError()])
def test_a_clean_up_of_the_log_that_fails_keeps_nobody_from_cleaning_the_queues_or_from_trying_again(
    world: World, error: JavaError, monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []

    def fails() -> None:
        tried.append("log")
        raise error

    monkeypatch.setattr(CleanCommitLogService, "run", lambda _: fails())
    monkeypatch.setattr(CleanConsumeQueueService, "run", lambda _: tried.append("queues"))
    world.run(80_000)
    assert tried[:4] == ["log", "queues"] * 2


def test_a_broker_whose_store_loads_with_an_error_ends(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: DefaultMessageStore) -> bool:
        raise MappingFaultError

    world.simulation.kill(BROKER)
    with monkeypatch.context() as patched:
        patched.setattr(DefaultMessageStore, "load", fails)
        world.simulation.start(BROKER)
        world.run(1_000)
    assert len(world.events(StoreRefused)) == 1
    world.run(30_000)  # an operator starts it again
    assert len(world.events(StoreLoaded)) == 2
    assert send(world).code == ResponseCode.SUCCESS
