"""What a simulated connection copies of a message: whatever can change, wherever it hides."""

from __future__ import annotations

import pytest

from impl.common.heartbeat_data import ProducerData
from impl.decisions.message_queue import MessageQueue
from impl.decisions.subscription import SubscriptionData
from impl.hash_map import ConcurrentHashMap
from impl.hosts.simulation.wire import copied
from impl.ports.remoting import Command


@pytest.mark.parametrize(
    "value",
    [
        None, "x", 1, b"x", Command(34), (1, ("a", None)), frozenset({"a"}), SubscriptionData("t", "*"),
        MessageQueue("t", "b", 0),
    ],
)
def test_what_cannot_change_is_not_copied(value: object) -> None:
    assert copied(value) is value


def test_what_can_change_is_copied_wherever_it_hides() -> None:
    inner = ["x"]
    table: ConcurrentHashMap[str, list[str]] = ConcurrentHashMap()
    table.put("k", inner)
    for value in ([inner], (1, inner), {"k": inner}, Command(34, body=inner), table, {"a", "b"}, ProducerData("p")):
        twin = copied(value)
        assert twin == value
        assert twin is not value
    assert copied(table).get("k") is not inner
    assert copied(Command(34, body=inner)).body is not inner
