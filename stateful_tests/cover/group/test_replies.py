"""SEND_REPLY_MESSAGE: a reply is pushed to who has asked, and stored whatever became of that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from impl.client.send_message_api import _answers
from impl.common.headers import SendMessageRequestHeader, SendMessageResponseHeader
from impl.common.heartbeat_data import HeartbeatData, ProducerData
from impl.common.message_properties import property_entries
from impl.common.message_to_send import Message
from impl.common.request_code import RequestCode, ResponseCode
from impl.events import MessageAppended
from impl.ports.remoting import Command, Connection
from stateful_tests.cover.group.stored import ADDRESS, begin, pulled
from stateful_tests.worlds.world import World

REQUESTER, REPLIES = "requester", "DefaultCluster_REPLY_TOPIC"
TO_REQUESTER = f"REPLY_TO_CLIENT\x01{REQUESTER}\x02CORRELATION_ID\x01c1\x02WAIT\x01true"


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        begin(world)
        yield world


def reply(world: World, properties: str = TO_REQUESTER, **header: Any) -> Command:
    fields = SendMessageRequestHeader("P", REPLIES, 0, 7, properties, sys_flag=4, **header)
    return world.ask(ADDRESS, Command(RequestCode.SEND_REPLY_MESSAGE_V2, fields, b"answer"), timeout_ms=20_000)


def requester(world: World, code: int | None = ResponseCode.SUCCESS) -> list[Command]:
    """Let who has asked be connected; what is pushed to it, which it answers with this code; None: it is silent."""
    pushes: list[Command] = []

    def take(_: Connection, request: Command) -> Command | None:
        pushes.append(request)
        return None if code is None else Command(code)

    world.add_tester(REQUESTER)
    world.testers[REQUESTER].register_processor(RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT, take)
    world.ask(ADDRESS, Command(RequestCode.HEART_BEAT, body=HeartbeatData(REQUESTER, [ProducerData("P")], [])),
              tester=REQUESTER)
    return pushes


def test_a_reply_reaches_who_has_asked_and_is_stored_as_it_came(world: World) -> None:
    pushes = requester(world)
    answer = reply(world)
    assert (answer.code, answer.header.queue_id, answer.header.queue_offset) == (ResponseCode.SUCCESS, 0, 0)
    (push,) = pushes
    header = push.header
    assert (push.body, header.topic, header.born_timestamp, header.sys_flag) == (b"answer", REPLIES, 7, 4)
    assert (header.store_host, header.born_host[:8]) == ("/broker-a:10911", "/tester:")
    sent = property_entries(header.properties)
    assert int(sent.pop("PUSH_REPLY_TIME")) > 0
    (message,) = pulled(world, REPLIES)
    assert message.properties == property_entries(TO_REQUESTER) == sent
    assert (message.sys_flag, answer.header.msg_id) == (0, message.msg_id)


@pytest.mark.parametrize(("properties", "remark"), [
    ("CORRELATION_ID\x01c1", "reply message properties[REPLY_TO_CLIENT] is null"),
    ("REPLY_TO_CLIENT\x01gone", "push reply message fail, channel of <gone> not found."),
])
def test_a_reply_that_leads_to_nobody_is_an_error_and_stored(world: World, properties: str, remark: str) -> None:
    requester(world)
    answer = reply(world, properties)
    assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, remark)
    (message,) = pulled(world, REPLIES)
    assert (message.body, answer.header.msg_id) == (b"answer", message.msg_id)


@pytest.mark.parametrize(("code", "ms"), [(ResponseCode.SYSTEM_ERROR, 0), (None, 10_000)])
def test_a_client_that_does_not_take_it_has_not_got_it(world: World, code: int | None, ms: int) -> None:
    requester(world, code)
    since_ms = world.now_ms
    answer = reply(world)
    assert (answer.code, answer.remark) == (
        ResponseCode.SYSTEM_ERROR, f"push reply message to {REQUESTER}fail.")
    assert ms <= world.now_ms - since_ms <= ms + 200


def test_a_reply_is_checked_as_any_message(world: World) -> None:
    requester(world)
    answer = world.ask(ADDRESS, Command(
        RequestCode.SEND_REPLY_MESSAGE, SendMessageRequestHeader("P", REPLIES, 9, 7, TO_REQUESTER), b"answer"))
    assert (answer.code, (answer.remark or "")[:29]) == (ResponseCode.SYSTEM_ERROR, "request queueId[9] is illegal")


def test_a_broker_that_does_not_store_replies_answers_with_zeros() -> None:
    with World() as world:
        begin(world, store_reply_message_enable=False)
        requester(world)
        answer = reply(world)
        assert (answer.code, answer.header[:3]) == (ResponseCode.SUCCESS, ("0", 0, 0))
        assert world.events(MessageAppended) == []


def test_an_answer_with_zeros_names_no_place_of_a_log() -> None:
    answer = Command(ResponseCode.SUCCESS, SendMessageResponseHeader("0", 1, 0))
    told, = _answers(ADDRESS, Message("DefaultCluster_REPLY_TOPIC", b""), answer)
    assert (told.queue_id, told.queue_offset, told.commit_log_offset) == (1, 0, -1)
