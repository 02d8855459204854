"""The map of registrations, event by event."""

from __future__ import annotations

from impl import events
from invariants.refinement.registration import _Group

LISTED = frozenset({("orders", "*", 1)})


def registered(connection: str, *, attached: bool = True) -> events.ConsumerRegistered:
    return events.ConsumerRegistered("broker-a", "G", "c1@1", connection, attached, True, LISTED)


def removed(connection: str) -> events.ConsumerRemoved:
    return events.ConsumerRemoved("broker-a", "G", "c1@1", connection, "closed", True)


def group(*connections: str) -> _Group:
    made = _Group()
    assert made.entered(events.GroupEntered("broker-a", "G")) == []
    for connection in connections:
        assert made.registered(registered(connection)) == []
    return made


def test_a_heartbeat_that_comes_between_the_end_of_its_connection_and_its_removal_changes_nothing() -> None:
    made = group("c1:1")
    assert made.closed(events.ClientChannelClosed("broker-a", "c1:1")) == []
    assert made.registered(registered("c1:1")) == []
    assert made.compare(["c1:1"]) == []
    assert made.removed(removed("c1:1")) == []
    assert made.compare([]) == []


def test_after_its_removal_it_is_another_member() -> None:
    made = group("c1:1")
    assert made.closed(events.ClientChannelClosed("broker-a", "c1:1")) == []
    assert made.removed(removed("c1:1")) == []
    assert made.registered(registered("c1:1")) == []
    assert made.members["c1:1"] == ("c1:1", 1)
    assert made.compare(["c1:1"]) == []


def test_who_vanishes_without_a_removal_is_told() -> None:
    made = group("c1:1", "c2:1")
    assert made.closed(events.ClientChannelClosed("broker-a", "c1:1")) == []
    assert made.registered(registered("c1:1")) == []
    assert made.compare(["c2:1"]) != []
