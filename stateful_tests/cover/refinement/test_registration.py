"""The follower of the members of groups allows what a broker's threads can do, and no table but the one they leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import pytest

from impl.events import (
    ClientChannelClosed,
    ConsumerRegistered,
    ConsumerRemoved,
    GoodbyeTaken,
    GroupEntered,
    GroupRemoved,
)
from invariants.finding import Finding
from invariants.refinement.maps import takers
from invariants.refinement.registration import NAME, _Group

BROKER, CLIENT, CONNECTION = "broker-a", "c1", "c1:1"
ENTERED, GROUP_REMOVED = GroupEntered(BROKER, "G"), GroupRemoved(BROKER, "G", (CLIENT,))
HEARTBEAT = ConsumerRegistered(BROKER, "G", CLIENT, CONNECTION, attached=True, added=True, subscriptions=frozenset())
ENDED = ClientChannelClosed(BROKER, CONNECTION)
EXPIRED = ConsumerRemoved(BROKER, "G", CLIENT, CONNECTION, "expired", attached=True)
HEARTBEAT_BESIDE = HEARTBEAT._replace(attached=False)
GOODBYE_BESIDE = (
    ConsumerRemoved(BROKER, "G", CLIENT, CONNECTION, "unregistered", attached=False),
    GoodbyeTaken(BROKER, "G", CLIENT, CONNECTION, attached=False),
)
AFTER_B8 = ENTERED, HEARTBEAT, GROUP_REMOVED
"""A group has gone from the table, and a member with it."""
HISTORIES: dict[str, tuple[tuple[NamedTuple, ...], tuple[str, ...] | None]] = {
    "a heartbeat is put into a former object after its connection has ended": (
        (*AFTER_B8, ENDED, HEARTBEAT_BESIDE), None),
    "a heartbeat is put into a new object after its connection has ended": (
        (*AFTER_B8, ENDED, ENTERED, HEARTBEAT), (CONNECTION,)),
    "whom a late heartbeat has brought back expires": (
        (*AFTER_B8, ENDED, ENTERED, HEARTBEAT, EXPIRED), ()),
    "a heartbeat is put into a former object before its connection that has ended is removed from the new one": (
        (ENTERED, GROUP_REMOVED, ENTERED, HEARTBEAT, ENDED, HEARTBEAT_BESIDE), (CONNECTION,)),
    "a goodbye looks into a former object": (
        (*AFTER_B8, ENTERED, HEARTBEAT, *GOODBYE_BESIDE), (CONNECTION,)),
    "who said goodbye to a former object expires": (
        (*AFTER_B8, ENTERED, HEARTBEAT, *GOODBYE_BESIDE, HEARTBEAT, EXPIRED), ()),
}
"""What happened, and the connections in the group's object after it; None: the group has none."""


@pytest.mark.parametrize("history", HISTORIES)
def test_late_heartbeats_and_goodbyes_are_allowed(history: str) -> None:
    assert _divergences(*HISTORIES[history]) == []


@pytest.mark.parametrize("history", HISTORIES)
def test_another_table_after_them_is_noticed(history: str) -> None:
    happened, connections = HISTORIES[history]
    finding, = _divergences(happened, () if connections else (CONNECTION,))
    assert finding.signature[:2] == (NAME, "differs")


def test_a_goodbye_that_leaves_its_entry_where_it_looked_is_noticed() -> None:
    finding, = _divergences((ENTERED, HEARTBEAT, GOODBYE_BESIDE[1]._replace(attached=True)), (CONNECTION,))
    assert finding.signature[:2] == (NAME, "differs")


def _divergences(happened: Iterable[NamedTuple], connections: Iterable[str] | None) -> list[Finding]:
    """What is not allowed of a history and of the connections that the group then has."""
    group = _Group()
    taken: dict[type, Callable[..., list[Finding]]] = {**takers(group), ClientChannelClosed: group.closed}
    found = [one for event in happened for one in taken[type(event)](event)]
    return [one for one in (*found, *group.compare(connections)) if one.property == NAME]
