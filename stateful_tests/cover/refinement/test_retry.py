"""The follower of delayed messages: it takes steps, is silent on the control, and sees bugs."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from impl.events import BrokerStarted, MessageAppended
from impl.store.schedule_message_service import DeliverDelayedMessageTimerTask, ScheduleMessageService
from invariants.refinement.retry import LATEST_HASH, NAME, _Level
from invariants.views import DelayLevel, Views
from invariants.views.values import DelayUnit, QueueRange
from model.retry import Level
from stateful_tests.cover.refinement.counting import counted, signatures
from stateful_tests.worlds.subjects import subject_named

seen = partial(signatures, NAME)
lived = partial(counted, Level.concept)
ALWAYS = {"put", "deliver_first", "look", "save", "start"}


@pytest.mark.parametrize(("workload", "profile", "seed"), [
    ("delayed", "storm", 0), ("delayed", "disks", 1), ("delayed", "clocks", 0), ("stored_retry", "crashes", 1),
])
def test_the_control_takes_steps_of_the_model_only(workload: str, profile: str, seed: int) -> None:
    record, steps = lived("repaired", workload, profile, seed)
    assert (seen(record), record.unknown) == ([], "")
    assert {*steps} >= ALWAYS


def test_a_world_without_delayed_messages_takes_no_step() -> None:
    record, steps = lived("repaired", "clustering", "calm", 0)
    assert (seen(record), {*steps}) == ([], set())


def test_nobody_else_sees_that_what_was_delivered_is_noted_too_low() -> None:
    record, _ = lived("repaired+seeded-delivery-is-noted-too-low", "delayed", "calm", 0)
    explains = subject_named("repaired").explains
    assert {one.property for one in record.seen if not explains(one.key)} == {NAME}


def test_units_that_a_loss_of_power_has_moved_are_put_down_to_their_hazard() -> None:
    record, _ = lived("shipped", "stored_retry", "disks", 0)
    assert seen(record) == [(NAME, "differs", "looked", "noted", "put down to V26", "put down to V33")]


def _one_too_high(service: ScheduleMessageService) -> str:
    """Instead of what writes the offsets: each is that of the message behind."""
    entries = ",".join(f"{level}:{offset + 1}" for level, offset in service.offset_table.entries())
    return f'{{"offsetTable":{{{entries}}}}}'


@pytest.mark.parametrize(("owner", "name", "bug", "signature"), [
    (ScheduleMessageService, "encode", _one_too_high, (NAME, "differs", "saved")),
    (DeliverDelayedMessageTimerTask, "_deliver", lambda *_: True, (NAME, "differs", "looked")),
])
def test_what_differs_is_seen(
    owner: type, name: str, bug: Any, signature: tuple[str, ...], monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owner, name, bug)
    assert signature in seen(lived("repaired", "delayed", "calm", 0, until=(NAME,))[0])


class Looked(Views):
    """Tables of a broker whose task of a level has done nothing yet."""

    def __init__(self) -> None:
        """There are no machines."""

    def delay_level(self, _broker: str, _level: int) -> DelayLevel:
        """The task is there."""
        return DelayLevel(0, 0)

    def saved_delay_offsets(self, _broker: str) -> dict[int, int]:
        """The file says what the process before knew."""
        return {3: 2}

    def stored_at(self, _broker: str, _topic: str, _queue_id: int) -> QueueRange:
        """What the queue of the level has."""
        return QueueRange(0, 2)


@pytest.mark.parametrize("up", [True, False])
def test_a_broker_that_has_not_started_yet_is_not_looked_at(*, up: bool) -> None:
    level = _Level("broker-a", 3, Looked())
    level.monitor.write({("up",): up, ("end",): 2, ("first",): 2, ("looked",): 2, ("noted",): 2, ("saved",): 2})
    assert bool(level.looks(None, [])) is up


class Started(Looked):
    """Tables of a broker that has started, with one unit in its level, or none any more."""

    def __init__(self, unit: DelayUnit | None) -> None:
        """Write them."""
        self.one = unit

    def delay_unit(self, _broker: str, _level: int, _number: int) -> DelayUnit | None:
        """The unit."""
        return self.one

    def stored_at(self, _broker: str, _topic: str, _queue_id: int) -> QueueRange:
        """What the queue of the level has."""
        return QueueRange(0, 1)

    def clock(self, _broker: str) -> Any:
        """Nobody needs it."""
        return None


@pytest.mark.parametrize(("unit", "differs"), [
    (None, False), (DelayUnit(500, LATEST_HASH), False), (DelayUnit(500, LATEST_HASH - 1), True),
])
def test_a_unit_that_is_no_longer_there_does_not_say_when_it_is_due(unit: DelayUnit | None, *, differs: bool) -> None:
    level = _Level("broker-a", 3, Started(unit))
    level.monitor.write({("up",): False, ("end",): 1, ("due", 0): LATEST_HASH})
    assert bool(level.starts(BrokerStarted("broker-a", "broker-a", 0), 0, failed=False)) is differs


class Moved(Started):
    """Tables of a broker whose level begins at 1, as its queue does; the task is so far, and so much is noted."""

    def __init__(self, looked: int, noted: int) -> None:
        """Write them."""
        super().__init__(DelayUnit(500, LATEST_HASH))
        self.has = DelayLevel(looked, noted)

    def delay_level(self, _broker: str, _level: int) -> DelayLevel:
        """How far it is."""
        return self.has

    def stored_at(self, _broker: str, _topic: str, _queue_id: int) -> QueueRange:
        """The first message was deleted."""
        return QueueRange(1, 2)


@pytest.mark.parametrize(("had", "saved", "failed", "differs"), [
    (1, 1, True, False), (1, 1, False, True), (1, 0, True, True), (-1, 1, True, True), (1, 2, False, False),
])
def test_a_stop_that_has_failed_may_leave_in_the_file_what_was_there(
    had: int, saved: int, *, failed: bool, differs: bool,
) -> None:
    level = _Level("broker-a", 3, Moved(max(saved, 1), saved))
    level.had = had
    level.monitor.write({("up",): False, ("end",): 2, ("first",): 2, ("looked",): 2, ("noted",): 2, ("saved",): 2})
    found = level.starts(BrokerStarted("broker-a", "broker-a", 0), saved, failed=failed)
    assert any("saved" in one.sentence for one in found) is differs


@pytest.mark.parametrize(("looked", "noted", "differs"), [
    (1, 0, False), (1, 1, False), (0, 0, True), (2, 0, True), (1, 2, True),
])
def test_an_offset_that_lies_in_no_queue_is_moved_into_it(looked: int, noted: int, *, differs: bool) -> None:
    level = _Level("broker-a", 3, Moved(looked, noted))
    level.monitor.write({("up",): False, ("end",): 2})
    assert bool(level.starts(BrokerStarted("broker-a", "broker-a", 0), 0, failed=False)) is differs


@pytest.mark.parametrize(("saved", "differs"), [(0, False), (1, False), (2, True)])
def test_an_offset_that_is_moved_into_its_queue_may_be_written_at_once(saved: int, *, differs: bool) -> None:
    level = _Level("broker-a", 3, Moved(max(saved, 1), max(saved, 1)))
    level.monitor.write({("up",): False, ("end",): 2})
    found = level.starts(BrokerStarted("broker-a", "broker-a", 0), saved, failed=False)
    assert any("saved" in one.sentence for one in found) is differs


class Passed(Moved):
    """A level of two messages; the log begins behind the first. first -- the least unit that its queue has."""

    def __init__(self, looked: int, noted: int, first: int) -> None:
        """Write them."""
        super().__init__(looked, noted)
        self.first = first

    def stored_at(self, _broker: str, _topic: str, _queue_id: int) -> QueueRange:
        """The queue may still have the first unit."""
        return QueueRange(self.first, 2)

    def saved_delay_offsets(self, _broker: str) -> dict[int, int]:
        """Nothing was saved."""
        return {}

    def delay_unit(self, _broker: str, _level: int, number: int) -> DelayUnit:
        """The message of the first is gone."""
        return DelayUnit(500 * number, LATEST_HASH)

    def log_begin(self, _broker: str) -> int:
        """Behind the first."""
        return 500


@pytest.mark.parametrize(("first", "noted", "differs"), [(0, 1, False), (0, 2, True), (1, 2, False), (1, 1, True)])
def test_a_look_that_passes_over_what_was_deleted_delivers_what_comes_behind_it(
    first: int, noted: int, *, differs: bool,
) -> None:
    level = _Level("broker-a", 3, Passed(2, noted, first))
    level.keys[1] = "k"
    level.monitor.write({("up",): True, ("end",): 2, ("now",): LATEST_HASH, ("due", 1): LATEST_HASH})
    appended = MessageAppended("broker-a", "orders", 0, 0, 600, 100, "k")
    assert bool(level.looks(appended, ["k"])) is differs
