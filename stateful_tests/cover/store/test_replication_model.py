"""Replication does what its model does: random runs of master and slaves, and the traces that break its promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from impl.store.ha import ha_client, ha_connection, ha_service
from invariants.concepts import CONCEPTS
from model.explorer import explore
from model.replication import Replicas
from model.scopes import SCOPES
from stateful_tests.cover.store.followed import Followed

SLAVES = 2
BREAKING = {"lose_sent", "ask_late", "transfer_first", "transfer_shifted"}
"""Without these steps every promise about copies is kept."""
assert CONCEPTS  # importing them declares properties
HAZARDS = ("V11", "V29", "V32")
AHEAD = [{"action": action} for action in (
    "connect", "ask_empty", "append", "append", "report", "transfer", "lose_sent", "lose_sent")]
"""A slave has two records that its master has lost."""
PROPERTIES = Replicas.concept.properties
PROMISES = [PROPERTIES[name] for name in (
    "slave_log_is_a_prefix", "copies_keep_their_place", "acknowledged_message_is_on_the_slave")]


class Replication(RuleBasedStateMachine):
    """What a master and its slaves can live through."""

    @initialize()
    def start(self) -> None:
        """Nobody has anything."""
        self.followed = Followed(SLAVES)

    @rule()
    def put(self) -> None:
        """A producer puts a message."""
        self.followed.put()

    @rule()
    def flush(self) -> None:
        """The master forces its log."""
        self.followed.flush()

    @rule(x=st.integers(0, SLAVES - 1))
    def slave_round(self, x: int) -> None:
        """A slave is busy."""
        self.followed.slave_round(x)

    @rule()
    def master_round(self) -> None:
        """The master is busy."""
        self.followed.master_round()

    @rule()
    def reports(self) -> None:
        """The time of a heartbeat passes, and everybody is busy."""
        self.followed.pass_time(6)
        for x in range(SLAVES):
            self.followed.slave_round(x)
        self.followed.master_round()

    @rule(seconds=st.sampled_from([1, 6, 21]))
    def pass_time(self, seconds: int) -> None:
        """A report is due, a put is given up, or a connection ends."""
        self.followed.pass_time(seconds)

    @rule(data=st.data())
    def power_loss(self, data: st.DataObject) -> None:
        """The master loses what it has not forced, or a part of it, if it is still there."""
        value = self.followed.monitor.value
        self.followed.kill(data.draw(st.integers(0, value("end") - max(value("first"), value("flushed")))))

    @precondition(lambda self: self.followed.possible("expire") or self.followed.possible("expire_unsent"))
    @rule()
    def expire(self) -> None:
        """A file is too old."""
        self.followed.expire()

    @invariant()
    def refines(self) -> None:
        """Every step was one of the model; promises are kept until something happens that breaks them."""
        if not hasattr(self, "followed"):
            return
        assert self.followed.differences == []
        if BREAKING.isdisjoint(action for action, _ in self.followed.steps):
            assert broken(self.followed) == []


def broken(followed: Followed) -> list[str]:
    """The promises that are broken now."""
    monitor = followed.monitor
    return [one.name for one in PROMISES if not monitor.reading.holds(one, monitor.states.base)]


def search() -> None:
    """Run some programs, always the same ones."""
    run_state_machine_as_test(Replication, settings=settings(
        max_examples=100, stateful_step_count=40, derandomize=True, deadline=None, database=None,
        phases=(Phase.generate,), suppress_health_check=[*HealthCheck]))


def test_replication_refines_its_model() -> None:
    search()


def nothing(*_: object) -> None:
    """Instead of what is forgotten."""


def last_report(service: ha_service.HAService, offset: int) -> None:
    """Instead of the greatest one."""
    service.push2_slave_max_offset = offset


PLANTED: Sequence[tuple[Any, str, Callable[..., Any]]] = (
    (ha_connection, "is_report_accepted", lambda *_: True),
    (ha_connection, "first_transfer_offset", lambda request, *_: request),
    (ha_client, "is_frame_accepted", lambda *_: True),
    (ha_service, "is_transferred", lambda has, wants: has >= wants - 93),
    (ha_service, "is_slave_ok", lambda connections, *_: connections > 1),
    (ha_service.HAService, "notify_transfer_some", last_report),
    (ha_service.HAService, "remove_connection", nothing),
)


@pytest.mark.parametrize(("where", "name", "bug"), PLANTED, ids=[name for _, name, _ in PLANTED])
def test_a_planted_bug_is_found(
    where: Any, name: str, bug: Callable[..., Any], monkeypatch: pytest.MonkeyPatch,
) -> None:
    traces = [AHEAD, *(trace for hazard in HAZARDS for _, trace in traced(hazard))]
    monkeypatch.setattr(where, name, bug)
    with pytest.raises(AssertionError):
        everything(traces)


def played(steps: Sequence[Any]) -> Followed:
    """What a trace of the model tells, done; a put follows a connection after four seconds, a report after six."""
    followed = Followed(1)
    does: Mapping[str, Callable[[], None]] = {
        "append": followed.put, "lose_sent": lambda: followed.kill(1), "transfer": lambda: followed.slave_round(0),
        "report": followed.master_round, "acknowledge": followed.master_round,
        "heartbeat": lambda: rounds(followed, 1), "transfer_shifted": lambda: followed.slave_round(0),
        "disconnect": lambda: drop(followed)}
    for step in steps:
        action = step["action"]
        if action == "connect":
            followed.slave_round(0)
            followed.slave_round(0)  # the first one may have found that the former connection has ended
            followed.pass_time(4)
        elif action.startswith("ask"):
            followed.pass_time(2)
            followed.slave_round(0)
            followed.master_round()
        else:
            does[action]()
    return followed


def everything(traces: Sequence[Sequence[Any]]) -> None:
    """Play traces and go on for a while; then random programs."""
    for trace in traces:
        followed = played(trace)
        rounds(followed, 5)
        assert followed.differences == []
    search()


def test_a_slave_far_ahead_is_refused_again_and_again() -> None:
    followed = played(AHEAD)
    rounds(followed, 5)
    assert followed.differences == []
    assert [action for action, _ in followed.steps].count("refuse") > 1


def traced(hazard: str) -> Iterator[tuple[str, Sequence[Any]]]:
    """What a hazard breaks, and the steps of the shortest trace to that."""
    named = next(one for one in SCOPES if one.name == f"replication, {hazard}")
    for name, hazards in named.violated.items():
        if hazards == (hazard,) and PROPERTIES[name] in PROMISES:
            yield name, explore(named.scope, [PROPERTIES[name]]).violations[name]["steps"]


@pytest.mark.parametrize("hazard", HAZARDS)
def test_the_traces_of_the_model_run_on_the_store(hazard: str) -> None:
    for name, trace in traced(hazard):
        followed = played(trace)
        assert followed.differences == []
        assert name in broken(followed)


def test_a_slave_behind_the_first_file_gets_nothing() -> None:
    """V20: lagging_slave_catches_up is broken."""
    followed = Followed(1)
    followed.put()
    rounds(followed, 3)
    followed.pass_time(21)
    followed.master_round()
    for act in (followed.put, followed.put, followed.flush, followed.expire, followed.expire):
        act()
    rounds(followed, 30)
    value = followed.monitor.value
    assert followed.differences == []
    assert (value("first"), value("end")) == (2, 3)
    assert (value("asked", 0), value("copied", 0)) == (True, 1)


def drop(followed: Followed) -> None:
    """The master hears nothing for too long, and ends the connection."""
    followed.pass_time(21)
    followed.master_round()
    followed.slave_round(0)


def rounds(followed: Followed, number: int) -> None:
    """Everybody is busy for a while."""
    for _ in range(number):
        followed.slave_round(0)
        followed.pass_time(6)
        followed.slave_round(0)
        followed.master_round()
