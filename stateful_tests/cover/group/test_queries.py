"""QUERY_MESSAGE, VIEW_MESSAGE_BY_ID, GET_EARLIEST_MSG_STORETIME and QUERY_CONSUME_QUEUE of simulated brokers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from impl.common.headers import (
    QueryConsumeQueueRequestHeader,
    QueryConsumeQueueResponseBody,
    QueryMessageRequestHeader,
    QueueOffsetRequestHeader,
    ViewMessageRequestHeader,
)
from impl.common.message_id import decode_message_id
from impl.common.request_code import RequestCode, ResponseCode
from impl.ports.remoting import Command
from stateful_tests.cover.group.stored import ADDRESS, BROKER, begin, found, pulled, send
from stateful_tests.worlds.world import World

LATE = 2**62


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        begin(world, {"default_query_max_num": 1})
        yield world


def query(world: World, key: str, max_num: int = 32, end: int = LATE, *, unique_key: bool = False) -> Command:
    header = QueryMessageRequestHeader("orders", key, max_num, 0, end, unique_key)
    return world.ask(ADDRESS, Command(RequestCode.QUERY_MESSAGE, header))


def units(world: World, **changes: Any) -> Command:
    header = QueryConsumeQueueRequestHeader("orders", 0, 0, 10)._replace(**changes)
    return world.ask(ADDRESS, Command(RequestCode.QUERY_CONSUME_QUEUE, header))


def test_messages_are_found_by_key_and_the_index_says_how_far_it_is(world: World) -> None:
    for body in (b"one", b"two"):
        send(world, body=body, properties="KEYS\x01k1 k2\x02UNIQ_KEY\x01u")
    messages = pulled(world)
    for key in ("k1", "k2", "u"):
        answer = query(world, key)
        assert (answer.code, [one.body for one in found(answer)]) == (ResponseCode.SUCCESS, [b"one", b"two"])
        assert answer.header == (messages[1].store_timestamp, messages[1].commit_log_offset)
    assert [one.body for one in found(query(world, "k1", 1))] == [b"two"]


def test_a_query_by_unique_key_finds_as_many_as_the_broker_is_set_to_give(world: World) -> None:
    for body in (b"one", b"two"):
        send(world, body=body, properties="UNIQ_KEY\x01u")
    world.run(10)
    assert [one.body for one in found(query(world, "u", unique_key=True))] == [b"two"]


def test_what_is_not_found_says_so_and_nothing_of_the_index(world: World) -> None:
    send(world, properties="KEYS\x01k1")
    (message,) = pulled(world)
    answer = query(world, "k2")
    assert (answer.code, answer.remark) == (
        ResponseCode.QUERY_NOT_FOUND, "can not find message, maybe time range not correct")
    assert answer.header == (0, 0)
    assert query(world, "k1", end=message.store_timestamp - 10_000).code == ResponseCode.QUERY_NOT_FOUND


def test_a_message_is_seen_by_its_id(world: World) -> None:
    send(world)
    msg_id = send(world, body=b"two").header.msg_id
    view = Command(RequestCode.VIEW_MESSAGE_BY_ID, ViewMessageRequestHeader(decode_message_id(msg_id).offset))
    answer = world.ask(ADDRESS, view)
    assert (answer.code, [one.body for one in found(answer)]) == (ResponseCode.SUCCESS, [b"two"])
    answer = world.ask(ADDRESS, view._replace(header=ViewMessageRequestHeader(2**40)))
    assert (answer.code, answer.remark) == (
        ResponseCode.SYSTEM_ERROR, f"can not find message by the offset, {2**40}")


def test_the_time_of_the_first_message_of_a_queue(world: World) -> None:
    asked = Command(RequestCode.GET_EARLIEST_MSG_STORETIME, QueueOffsetRequestHeader("orders", 0))
    assert world.ask(ADDRESS, asked).header.timestamp == -1
    send(world)
    send(world)
    assert world.ask(ADDRESS, asked).header.timestamp == pulled(world)[0].store_timestamp


def test_the_units_of_a_queue(world: World) -> None:
    assert units(world, queue_id=7).remark == "7@orders is not exist!"
    for _ in range(3):
        send(world, properties="TAGS\x01a")
    messages = pulled(world)
    body: QueryConsumeQueueResponseBody = units(world, first_index=1).body
    assert (body.min_queue_index, body.max_queue_index, body.filter_data) == (0, 3, None)
    assert body.queue_data == tuple((one.commit_log_offset, one.store_size, ord("a")) for one in messages[1:])
    assert len(units(world, max_count=1).body.queue_data) == 1
    assert units(world, consumer_group="G").body.filter_data == "G@orders is not online!"
    answer = units(world, first_index=400)
    assert (answer.code, answer.body, answer.remark) == (
        ResponseCode.SUCCESS, None, "Index 400 of 0@orders is not exist!")


def test_what_a_broker_with_messages_serves_besides_and_in_which_pools(world: World) -> None:
    pools: dict[str, set[int]] = {}
    for code, (_, pool) in world.brokers[BROKER].processors.items():
        pools.setdefault(pool, set()).add(code)
    assert {name: codes for name, codes in pools.items() if name in {"send", "pull", "reply", "query"}} == {
        "send": {10, 310, 320, 36}, "pull": {11}, "reply": {324, 325}, "query": {12, 33}}
    assert pools["end_transaction"] == {37}
    assert {32, 321} <= pools["admin"]
