"""Filters of pulls: by tag, by an expression over properties, by the bits of the bloom filter, and of retry topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from impl.broker.bloom_filter import BloomFilter
from impl.broker.calc_bit_map import calc_bit_map
from impl.broker.consumer_filter_manager import ConsumerFilterData, ConsumerFilterManager, FilterDataMapByTopic
from impl.broker.expression_message_filter import ExpressionForRetryMessageFilter, ExpressionMessageFilter
from impl.common.headers import PullMessageRequestHeader
from impl.common.heartbeat_data import CLUSTERING, CONSUME_PASSIVELY, ConsumerData, HeartbeatData
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.flags import FLAG_SUBSCRIPTION, FLAG_SUSPEND
from impl.decisions.java_errors import JavaRuntimeError, NullPointerError
from impl.decisions.pull_answer import PullCode
from impl.decisions.subscription import SQL92, SubscriptionData, build
from impl.ports.remoting import Command
from impl.store.dispatch_request import DispatchRequest
from impl.store.message_reads import CqExtUnit
from stateful_tests.cover.group.stored import ADDRESS, BROKER, begin, found, pull, send
from stateful_tests.worlds.world import World

BY_EXPRESSION = SubscriptionData("orders", "a = '1'", expression_type=SQL92)
RETRIED = SubscriptionData("%RETRY%G", "*")
BORN_MS = 1_000


class A1:
    """Stands for `a = '1'`; None where there is no such property, and an error for the value "bad"."""

    def evaluate(self, properties: Mapping[str, str] | None) -> object:
        value = (properties or {}).get("a")
        if value == "bad":
            raise JavaRuntimeError("cannot be compared")
        return None if value is None else value == "1"


def manager(group: str = "G", topic: str = "orders", *, bloom: bool = True) -> ConsumerFilterManager:
    """One group has a filter of one topic."""
    filters = ConsumerFilterManager(BloomFilter(20, 32), lambda: BORN_MS)
    by_topic = FilterDataMapByTopic(topic, lambda: BORN_MS)
    filters.filter_data_by_topic.put(topic, by_topic)
    bits = filters.bloom_filter.generate(f"{group}#{topic}") if bloom else None
    by_topic.group_filter_data.put(group, ConsumerFilterData(
        group, topic, "a = '1'", SQL92, BORN_MS, 0, bits, A1()))
    return filters


def own(filters: ConsumerFilterManager) -> ExpressionMessageFilter:
    return ExpressionMessageFilter(BY_EXPRESSION, filters.get("orders", "G"), filters)


def arrived(properties: Mapping[str, str] | None, topic: str = "orders") -> DispatchRequest:
    return DispatchRequest(topic, 0, 0, 100, 0, BORN_MS + 1, 0, None, None, 0, 0, properties)


@pytest.mark.parametrize(("value", "matches"), [("1", True), ("2", False), (None, False), ("bad", False)])
def test_a_message_matches_if_the_expression_is_true_and_nothing_else(value: str | None, matches: bool) -> None:
    one = own(manager())
    assert one.is_matched_by_consume_queue(0)
    assert one.is_matched_by_commit_log(None, {} if value is None else {"a": value}) is matches


def test_an_expression_that_is_not_compiled_matches_all() -> None:
    filters = manager()
    one = ExpressionMessageFilter(BY_EXPRESSION, None, filters)
    assert one.is_matched_by_consume_queue(0)
    assert one.is_matched_by_commit_log(None, {"a": "2"})


@pytest.mark.parametrize(("properties", "hit"), [({"a": "1"}, True), ({"a": "2"}, False), ({"a": "bad"}, False)])
def test_the_bits_of_a_message_say_which_groups_want_it(properties: dict[str, str], hit: bool) -> None:
    filters = manager()
    bits = calc_bit_map(filters, arrived(properties))
    assert own(filters).is_matched_by_consume_queue(0, CqExtUnit(0, BORN_MS + 1, bits)) is hit


def test_what_the_bits_cannot_say_matches() -> None:
    filters = manager()
    bits = bytes(len(filters.bloom_filter.empty_bits()))
    one = own(filters)
    assert not one.is_matched_by_consume_queue(0, CqExtUnit(0, BORN_MS + 1, bits))
    for unit in (CqExtUnit(0, BORN_MS, bits), CqExtUnit(0, BORN_MS + 1, None), CqExtUnit(0, BORN_MS + 1, bits[1:])):
        assert one.is_matched_by_consume_queue(0, unit)
    without = manager(bloom=False)
    assert own(without).is_matched_by_consume_queue(0, CqExtUnit(0, BORN_MS + 1, bits))
    assert calc_bit_map(without, arrived({"a": "1"})) == bits
    assert calc_bit_map(filters, arrived({"a": "1"}, "none")) is None


def test_a_tag_list_is_compared_by_code_and_a_record_is_not_looked_at() -> None:
    one = ExpressionMessageFilter(build("orders", "a || b", "TAG"), None, manager())
    assert [one.is_matched_by_consume_queue(code) for code in (ord("a"), ord("c"), 0, None)] == [
        True, False, False, True]
    assert one.is_matched_by_commit_log(None, {"TAGS": "c"})


def test_a_retry_is_filtered_as_in_its_first_topic_if_the_broker_does_so() -> None:
    filters = manager()
    plain = ExpressionMessageFilter(RETRIED, None, filters)
    retry = ExpressionForRetryMessageFilter(RETRIED, None, filters)
    for value, matches in (("1", True), ("2", False)):
        properties = {"RETRY_TOPIC": "orders", "a": value}
        assert plain.is_matched_by_commit_log(None, properties)
        assert retry.is_matched_by_commit_log(None, properties) is matches
    assert retry.is_matched_by_commit_log(None, {"RETRY_TOPIC": "other", "a": "2"})
    first = ExpressionForRetryMessageFilter(BY_EXPRESSION, filters.get("orders", "G"), filters)
    assert not first.is_matched_by_commit_log(None, {"a": "2"})


@pytest.mark.parametrize("properties", [None, {"a": "1"}])
def test_a_retry_that_names_no_first_topic_is_an_error(properties: dict[str, str] | None) -> None:
    retry = ExpressionForRetryMessageFilter(RETRIED, None, manager())
    with pytest.raises(NullPointerError):
        retry.is_matched_by_commit_log(None, properties)


# Whole brokers --------------------------------------------------------------------------------------------------------


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        begin(world, enable_property_filter=True)
        for value in ("1", "2", "x"):
            send(world, body=value.encode(), properties=f"a\x01{value}")
        world.run(10)
        yield world


def beat(world: World, expression: str, version: int) -> None:
    """A member says what the group subscribes."""
    said = SubscriptionData("orders", expression, sub_version=version, expression_type=SQL92)
    data = ConsumerData("G", CONSUME_PASSIVELY, CLUSTERING, "CONSUME_FROM_LAST_OFFSET", [said])
    world.ask(ADDRESS, Command(RequestCode.HEART_BEAT, body=HeartbeatData("c1", [], [data])))


@pytest.mark.parametrize(("expression", "bodies"), [
    ("a > 1", [b"2"]), ("a = '1' OR a = 'x'", [b"1", b"x"]), ("a IS NULL", []), ("a > (", [b"1", b"2", b"x"]),
])
def test_a_pull_that_brings_its_expression_gets_what_fulfils_it_or_all_if_it_is_none(
    world: World, expression: str, bodies: list[bytes],
) -> None:
    answer = pull(world, subscription=expression, expression_type=SQL92)
    assert [one.body for one in found(answer)] == bodies
    assert answer.code == (PullCode.SUCCESS if bodies else PullCode.PULL_RETRY_IMMEDIATELY)
    assert answer.header.next_begin_offset == 3


def test_a_pull_without_expression_has_that_of_the_group_if_it_compiles_and_is_not_older(world: World) -> None:
    beat(world, "a = '2'", 5)
    asked: dict[str, Any] = {"sys_flag": 0, "expression_type": SQL92}
    assert [one.body for one in found(pull(world, sub_version=5, **asked))] == [b"2"]
    beat(world, "a > (", 6)
    assert pull(world, sub_version=6, **asked).code == ResponseCode.FILTER_DATA_NOT_EXIST
    beat(world, "a = '1'", 7)
    data = world.brokers[BROKER].consumer_filter_manager.get("orders", "G")
    assert data is not None
    data.client_version = 6
    assert pull(world, sub_version=7, **asked).code == ResponseCode.FILTER_DATA_NOT_LATEST


def test_a_held_pull_waits_for_a_message_that_fulfils_its_expression(world: World) -> None:
    flags = FLAG_SUBSCRIPTION | FLAG_SUSPEND
    answers: list[Command] = []
    world.add_tester("other")

    async def ask() -> None:
        header = PullMessageRequestHeader("G", "orders", 0, 3, 32, flags, 0, 15_000, 0, "a = '7'", SQL92)
        answers.append(await world.testers["other"].invoke_sync(
            ADDRESS, Command(RequestCode.PULL_MESSAGE, header), 30_000))

    world.call("other", ask)
    world.run(100)
    send(world, properties="a\x016")
    world.run(100)
    assert answers == []
    send(world, body=b"seven", properties="a\x017")
    world.run(100)
    assert [one.body for one in found(answers[0])] == [b"seven"]
