"""A broker that keeps messages, and the requests that a tester sends to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from impl.common.byte_buffer import ByteBuffer
from impl.common.headers import ConsumerSendMsgBackRequestHeader, PullMessageRequestHeader, SendMessageRequestHeader
from impl.common.message import MessageExt
from impl.common.message_batch import BatchedMessage, encode_messages
from impl.common.message_decoder import decodes
from impl.common.request_code import RequestCode
from impl.common.topic_config import TopicConfig
from impl.decisions.flags import FLAG_SUBSCRIPTION, PERM_WRITE
from impl.ports.remoting import Command
from stateful_tests.worlds.machines import STORE
from stateful_tests.worlds.world import World

BROKER, ADDRESS, GROUP = "broker-a", "broker-a:10911", "G"
RETRY, DEAD_LETTERS = "%RETRY%G", "%DLQ%G"
OLD = 120  # MQVersion: one before V3_4_9
TOPICS = (TopicConfig("orders", 4, 4), TopicConfig("secret", 4, 4, perm=PERM_WRITE))


def begin(world: World, store: Mapping[str, Any] | None = None, **settings: Any) -> None:
    """One name server and one broker; store -- changes of its store's configuration, settings -- of the broker's."""
    world.store_config = replace(STORE, **store or {})
    world.add_namesrv()
    world.add_broker(BROKER, BROKER, topics=TOPICS, **settings)
    world.run(100)


def send(world: World, topic: str = "orders", queue_id: int = 0, body: bytes = b"body", **header: Any) -> Command:
    """The answer to SEND_MESSAGE_V2."""
    request = Command(RequestCode.SEND_MESSAGE_V2, SendMessageRequestHeader("P", topic, queue_id, 1, **header), body)
    return world.ask(ADDRESS, request)


def send_batch(world: World, *bodies: bytes, code: int = RequestCode.SEND_BATCH_MESSAGE, **header: Any) -> Command:
    """The answer to a batch."""
    body = encode_messages([BatchedMessage(0, body, {"TAGS": "a"}) for body in bodies])
    fields = SendMessageRequestHeader("P", "orders", 0, 1, batch=True)._replace(**header)
    return world.ask(ADDRESS, Command(code, fields, body))


def pull(world: World, topic: str = "orders", *, sys_flag: int = FLAG_SUBSCRIPTION, **changes: Any) -> Command:
    """The answer to a pull of the first queue from its beginning, unless told otherwise."""
    header = PullMessageRequestHeader(GROUP, topic, 0, 0, 32, sys_flag, 0, 15_000, 0, "*")._replace(**changes)
    return world.ask(ADDRESS, Command(RequestCode.PULL_MESSAGE, header), timeout_ms=40_000)


def found(answer: Command) -> list[MessageExt]:
    """The messages of an answer."""
    return decodes(ByteBuffer(answer.body or b""))


def pulled(world: World, topic: str = "orders", **changes: Any) -> list[MessageExt]:
    """What a pull finds, once all is dispatched."""
    world.run(10)
    return found(pull(world, topic, **changes))


def send_back(world: World, message: MessageExt, version: int | None = None, **changes: Any) -> Command:
    """The answer to CONSUMER_SEND_MSG_BACK; version -- of the client."""
    header = ConsumerSendMsgBackRequestHeader(
        message.commit_log_offset, GROUP, 0, message.msg_id, message.topic)._replace(**changes)
    request = Command(RequestCode.CONSUMER_SEND_MSG_BACK, header)
    return world.ask(ADDRESS, request if version is None else request._replace(version=version))
