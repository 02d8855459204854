from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from impl.decisions.allocation import (
    AllocateMachineRoomNearby,
    AllocateMessageQueueAveragely,
    AllocateMessageQueueAveragelyByCircle,
    AllocateMessageQueueByConfig,
    AllocateMessageQueueByMachineRoom,
    AllocateMessageQueueConsistentHash,
    AllocateMessageQueueStrategy,
    averagely_owns,
    averagely_range,
    circle_owns,
    machine_room_owns,
    md5_hash,
    room_of_broker,
)
from impl.decisions.java_errors import IllegalArgumentError, NullPointerError
from impl.decisions.message_queue import MessageQueue

AVG, CIRCLE, HASH = (
    AllocateMessageQueueAveragely(), AllocateMessageQueueAveragelyByCircle(), AllocateMessageQueueConsistentHash(),
)
CONFIG, ROOM = AllocateMessageQueueByConfig(), AllocateMessageQueueByMachineRoom(frozenset({"r1", "r2"}))


def queues(broker: str, count: int) -> list[MessageQueue]:
    return [MessageQueue("T", broker, queue_id) for queue_id in range(count)]


def shares(strategy: AllocateMessageQueueStrategy, mq_all: list[MessageQueue], members: list[str]) -> list[list[str]]:
    answers = (strategy.allocate("G", member, mq_all, members) or [] for member in members)
    return [[f"{mq.broker_name}:{mq.queue_id}" for mq in answer] for answer in answers]


@dataclass(frozen=True)
class BeforeTheDash:
    def broker_deploy_in(self, message_queue: MessageQueue) -> str:
        return message_queue.broker_name.partition("-")[0]

    def consumer_deploy_in(self, client_id: str) -> str:
        return client_id.partition("-")[0]


NEARBY = AllocateMachineRoomNearby(AVG, BeforeTheDash())


@pytest.mark.parametrize("n", range(1, 20))
@pytest.mark.parametrize("m", range(1, 12))
def test_averagely_is_the_closed_form_for_every_member(n: int, m: int) -> None:
    for i in range(m):
        start, length = averagely_range(n, m, i)
        owned = [k for k in range(n) if averagely_owns(n, m, i, k)]
        first, count = i * (n // m) + min(i, n % m), n // m + (i < n % m)
        assert owned == list(range(first, first + count)) == list(range(start, start + length))
        assert [k for k in range(n) if circle_owns(n, m, i, k)] == list(range(i, n, m))
    owners = [[i for i in range(m) if machine_room_owns(n, m, i, k)] for k in range(n)]
    d = n // m
    assert owners == [[k // d if k < d * m else k - d * m] for k in range(n)]


def test_the_examples_of_the_specification() -> None:
    eight = queues("b", 8)
    assert shares(AVG, eight, ["c0", "c1", "c2"]) == [
        ["b:0", "b:1", "b:2"], ["b:3", "b:4", "b:5"], ["b:6", "b:7"],
    ]
    assert shares(CIRCLE, eight, ["c0", "c1", "c2"]) == [
        ["b:0", "b:3", "b:6"], ["b:1", "b:4", "b:7"], ["b:2", "b:5"],
    ]
    assert shares(HASH, eight, ["c0", "c1"]) == [
        ["b:3", "b:4", "b:6"], ["b:0", "b:1", "b:2", "b:5", "b:7"],
    ]
    rooms = [*queues("r1@a", 3), *queues("r2@b", 3), *queues("r3@c", 1), *queues("z", 1)]
    assert shares(ROOM, rooms, ["c0", "c1", "c2"]) == [
        ["r1@a:0", "r1@a:1"], ["r1@a:2", "r2@b:0"], ["r2@b:1", "r2@b:2"],
    ]
    near = [*queues("r1-a", 3), *queues("r2-b", 2), *queues("r3-c", 4)]
    assert shares(NEARBY, near, ["r1-x", "r1-y", "r2-z"]) == [
        ["r1-a:0", "r1-a:1", "r3-c:0", "r3-c:1"], ["r1-a:2", "r3-c:2"], ["r2-b:0", "r2-b:1", "r3-c:3"],
    ]
    assert (md5_hash("c0-0"), md5_hash(MessageQueue("T", "b", 0).text)) == (2316876094, 562732085)


@pytest.mark.parametrize("strategy", [AVG, CIRCLE, HASH, NEARBY, ROOM], ids=lambda strategy: strategy.name)
def test_arguments_are_checked_in_java_order(strategy: AllocateMessageQueueStrategy) -> None:
    one = queues("r1-b", 1)
    refused: list[tuple[Any, Any, Any, str]] = [
        (None, None, None, "currentCID is empty"), ("", one, ["c"], "currentCID is empty"),
        ("c", None, None, "mqAll is null or mqAll empty"), ("c", [], ["c"], "mqAll is null or mqAll empty"),
        ("c", one, None, "cidAll is null or cidAll empty"), ("c", one, [], "cidAll is null or cidAll empty"),
    ]
    for cid, mq_all, cid_all, message in refused:
        with pytest.raises(IllegalArgumentError, match=message):
            strategy.allocate("G", cid, mq_all, cid_all)
    assert strategy.allocate("G", "stranger", one, ["r1-c"]) == []


def test_a_blank_member_is_refused_by_the_machine_room_strategy_only() -> None:
    assert AVG.allocate("G", " ", queues("b", 1), [" "]) == queues("b", 1)
    with pytest.raises(IllegalArgumentError, match="currentCID is empty"):
        ROOM.allocate("G", " ", queues("b", 1), [" "])


def test_the_configured_list_is_answered_itself() -> None:
    configured = queues("b", 2)
    assert AllocateMessageQueueByConfig(configured).allocate("G", None, None, None) is configured
    assert CONFIG.allocate("G", "c", queues("b", 1), ["c"]) is None


def test_rooms_in_broker_names_are_split_as_java_splits() -> None:
    names = ["r1@b", "b", "a@b@c", "r1@", "r1@b@", "@b", "@", ""]
    assert [room_of_broker(name) for name in names] == ["r1", None, None, None, "r1", "", None, None]
    with pytest.raises(NullPointerError):
        AllocateMessageQueueByMachineRoom().allocate("G", "c", queues("r1@b", 1), ["c"])
    assert AllocateMessageQueueByMachineRoom().allocate("G", "c", queues("b", 1), ["c"]) == []


def test_constructors_refuse_what_java_refuses() -> None:
    with pytest.raises(IllegalArgumentError, match="illegal virtualNodeCnt :-1"):
        AllocateMessageQueueConsistentHash(-1)
    with pytest.raises(NullPointerError):
        AllocateMachineRoomNearby(None, BeforeTheDash())  # type: ignore[arg-type]
    with pytest.raises(NullPointerError):
        AllocateMachineRoomNearby(AVG, None)  # type: ignore[arg-type]


def test_no_virtual_node_means_no_owner_and_a_second_listing_means_more_nodes() -> None:
    assert shares(AllocateMessageQueueConsistentHash(0), queues("b", 4), ["c0"]) == [[]]
    once = shares(HASH, queues("b", 8), ["c0", "c1"])
    twice = shares(HASH, queues("b", 8), ["c0", "c0", "c1"])
    assert twice[0] == twice[1]
    assert sorted(twice[0] + twice[2]) == sorted(once[0] + once[1])


def test_a_queue_or_member_without_a_room_fails_the_whole_allocation() -> None:
    with pytest.raises(IllegalArgumentError, match=r"Machine room is null for mq MessageQueue \[topic=T"):
        NEARBY.allocate("G", "r1-x", queues("-b", 1), ["r1-x"])
    with pytest.raises(IllegalArgumentError, match="Machine room is null for consumer id -y"):
        NEARBY.allocate("G", "r1-x", queues("r1-b", 1), ["r1-x", "-y"])
    with pytest.raises(NullPointerError):
        AllocateMachineRoomNearby(CONFIG, BeforeTheDash()).allocate("G", "r1-x", queues("r1-b", 1), ["r1-x"])


def test_message_queues_are_ordered_by_utf16_units() -> None:
    plane, beyond = MessageQueue("\uffee", "b", 0), MessageQueue("\U0001f600", "b", 0)
    assert sorted([plane, beyond]) == [beyond, plane]
    assert MessageQueue("c10", "b", 0) < MessageQueue("c2", "b", 0)
    assert MessageQueue("T", "b", 2**31 - 1).compare_to(MessageQueue("T", "b", -1)) == -(2**31)
    assert MessageQueue("", "", 0).java_hash() == 29791
