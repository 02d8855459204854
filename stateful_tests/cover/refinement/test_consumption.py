"""The follower of queues at concurrent consumers: it takes steps, is silent on the control, and sees bugs."""

from __future__ import annotations

from collections import Counter
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

from impl import events
from impl.decisions.message_queue import MessageQueue
from invariants.refinement.consumed_queue import ConsumedQueue
from invariants.refinement.consumers import NAME, PERSISTS
from invariants.refinement.process_queue import ConsumedQueues
from invariants.views import ConsumerTables, Machines
from stateful_tests.cover.refinement.counting import signatures
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, RunRecord, run

seen = partial(signatures, NAME)
ALWAYS = {"take", "drop", "pull", "settle", "go_on", "persist", "arrive"}


def lived(subject: str, workload: str, profile: str, strategy: str, seed: int) -> RunRecord:
    """One run."""
    return run(Plan(subject, workload, profile, strategy), STRATEGIES[strategy](seed))


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each step was taken, from now on."""
    counted = Counter[str]()
    step, as_if = ConsumedQueue.step, ConsumedQueue.as_if

    def stepped(queue: ConsumedQueue, event: Any, *steps: Any) -> Any:
        counted.update(name for name, _ in steps)
        return step(queue, event, *steps)

    def supposed(queue: ConsumedQueue, event: Any, one: Any, cells: Any) -> Any:
        counted[one[0]] += 1
        return as_if(queue, event, one, cells)

    monkeypatch.setattr(ConsumedQueue, "step", stepped)
    monkeypatch.setattr(ConsumedQueue, "as_if", supposed)
    return counted


@pytest.mark.parametrize(("workload", "profile", "strategy", "seed", "further"), [
    ("filtered", "storm", "uniform", 2, {"pass_over", "correct_offset", "crash"}),
    ("stored_sync", "storm", "uniform", 1, {"take_young", "take_forgotten"}),
    ("listeners", "threads", "swarm", 1, set[str]()),
    ("resets", "threads", "priority", 2, set[str]()),
])
def test_the_control_takes_steps_of_the_model_only(
    workload: str, profile: str, strategy: str, seed: int, further: set[str], taken: Counter[str],
) -> None:
    record = lived("repaired", workload, profile, strategy, seed)
    assert (seen(record), record.unknown) == ([], "")
    assert {*taken} >= ALWAYS | further


def test_a_world_without_messages_is_followed_too(taken: Counter[str]) -> None:
    assert seen(lived("repaired", "clustering", "storm", "uniform", 0)) == []
    assert {*taken} >= {"take", "take_young", "drop", "arrive"}
    assert not {*taken} & {"pull", "settle", "go_on"}


@pytest.mark.parametrize(("subject", "workload", "profile", "strategy", "seed", "signature"), [
    ("repaired-X21", "resets", "threads", "uniform", 19, (NAME, "differs", "memory", "put down to X21")),
    ("repaired-X23", "resets", "threads", "focus", 7, (NAME, "differs", "memory", "put down to X23")),
    ("repaired+seeded-read-is-not-remembered", "clustering", "calm", "uniform", 1, (NAME, "differs", "remembers")),
    ("repaired+fc-visible-before-cached", "listeners", "calm", "uniform", 1, (NAME, "differs", "cached")),
    ("repaired+seeded-last-message-is-not-committed", "listeners", "calm", "uniform", 3, (
        NAME, "remember_first", "cached[m, first[m]]")),
    ("repaired+seeded-found-is-pulled-again", "listeners", "calm", "uniform", 0, (NAME, "differs", "next")),
])
def test_a_step_that_the_model_does_not_have_is_seen(
    subject: str, workload: str, profile: str, strategy: str, seed: int, signature: tuple[str, ...],
) -> None:
    assert signature in seen(lived(subject, workload, profile, strategy, seed))


def test_nobody_else_sees_that_what_was_read_is_not_remembered() -> None:
    bug, control = (lived(subject, "clustering", "calm", "uniform", 1)
                    for subject in ("repaired+seeded-read-is-not-remembered", "repaired"))
    assert {one.property for one in bug.seen} - {one.property for one in control.seen} == {NAME}


MQ = MessageQueue("orders", "broker-a", 0)
TAKEN, UPDATED = events.QueueTaken("c1@1", "G", MQ, 5), events.OffsetUpdated("c1@1", "G", MQ, 5)
FORGETS, REMEMBERS = (cast("ConsumerTables", SimpleNamespace(
    client_id="c1@1", remembers=lambda _, has=has: has, cached=lambda _: ()))
                      for has in (None, 5))


def has_taken(*, timed: bool) -> ConsumedQueue:
    """A member has taken the queue; timed -- while its timer was at work."""
    queue = ConsumedQueue(MQ)
    queue.answered("c1", 5, forgets=False)
    assert queue.taken("c1", TAKEN, remembers=True, timed=timed) == []
    assert queue.at_member("c1", REMEMBERS) == []
    return queue


@pytest.mark.parametrize("timed", [True, False])
def test_the_timer_forgets_what_was_read_of_a_queue_that_was_taken_meanwhile(*, timed: bool) -> None:
    assert bool(has_taken(timed=timed).at_member("c1", FORGETS)) is not timed


@pytest.mark.parametrize("forgotten", [True, False])
def test_when_the_timer_is_over_it_forgets_nothing_more(*, forgotten: bool) -> None:
    queue = has_taken(timed=True)
    queue.timer_ends("c1", FORGETS if forgotten else REMEMBERS)
    assert bool(queue.at_member("c1", FORGETS)) is not forgotten


def has_taken_anew() -> ConsumedQueue:
    """A member has taken the queue, was brought two messages, has lost it, and has taken it again."""
    queue = has_taken(timed=False)
    assert queue.brings("c1", events.MessagesFound("c1@1", "G", MQ, (5, 6))) == []
    queue.dropped("c1", events.QueueDropped("c1@1", "G", MQ))
    queue.answered("c1", 5, forgets=False)
    queue.taken("c1", TAKEN, remembers=True, timed=False)
    return queue


def test_what_an_earlier_holding_had_and_a_pull_of_this_one_passes_over_is_not_cached() -> None:
    queue = has_taken_anew()
    assert queue.brings("c1", events.MessagesFound("c1@1", "G", MQ, (5, 7))) == []
    assert queue.settled("c1", events.MessagesSettled("c1@1", "G", MQ, (5, 7))) == []
    assert queue.updated("c1", events.OffsetUpdated("c1@1", "G", MQ, 8)) == []


def test_what_lies_before_the_next_pull_is_not_cached() -> None:
    queue = has_taken_anew()
    assert queue.pulls("c1", events.PullSuspended("c1@1", "G", MQ, 7)) == []
    assert [queue.value("cached", "c1", offset) for offset in (5, 6)] == [False, False]


@pytest.mark.parametrize("anew", [True, False])
def test_what_was_set_since_is_not_forgotten(*, anew: bool) -> None:
    queue = has_taken(timed=True)
    if anew:
        queue.dropped("c1", events.QueueDropped("c1@1", "G", MQ))
        queue.answered("c1", 5, forgets=False)
        queue.taken("c1", TAKEN, remembers=True, timed=False)
    else:
        queue.updated("c1", UPDATED)
    assert queue.at_member("c1", FORGETS)


@pytest.mark.parametrize(("offset", "differs"), [(5, False), (7, False), (6, True), (8, True)])
def test_listeners_may_tell_late_what_was_removed_and_nothing_else(offset: int, *, differs: bool) -> None:
    queue = has_taken(timed=False)
    queue.brings("c1", events.MessagesFound("c1@1", "G", MQ, (5, 6, 7)))
    for settled in (6, 5):
        assert queue.settled("c1", events.MessagesSettled("c1@1", "G", MQ, (settled,))) == []
        if settled == 6:  # that of a listener whose messages all stay, and that of the one with 6 is late
            assert queue.updated("c1", UPDATED) == []
    assert bool(queue.updated("c1", UPDATED._replace(offset=offset))) is differs


NO_MACHINES = cast("Machines", SimpleNamespace())
BEGAN, ENDED = (events.TimerJobBegan("c1@1", PERSISTS, 5_000), events.TimerJobEnded("c1@1", PERSISTS))
STOPPING, OTHERS = (events.ConsumerStopping("c1@1", group) for group in ("G", "H"))


@pytest.mark.parametrize(("said", "forgets"), [
    ((), False), ((BEGAN,), True), ((BEGAN, ENDED), False), ((STOPPING,), True), ((OTHERS,), False),
    ((BEGAN._replace(client_id="c1@2"),), False), ((BEGAN, ENDED._replace(client_id="c1@2")), True),
    ((BEGAN, STOPPING, ENDED), True), ((STOPPING, events.ProcessKilled(1, power_loss=False)), False),
    ((STOPPING, events.ConsumerShutDown("c1@1", "H")), True), ((STOPPING, events.ConsumerShutDown("c1@1", "G")), False),
], ids=str)
def test_a_consumer_that_shuts_down_forgets_as_its_timer_does(said: tuple[Any, ...], *, forgets: bool) -> None:
    follower = ConsumedQueues(NO_MACHINES, "G", "orders")
    follower.running["c1"] = FORGETS
    for event in said:
        assert follower.takes[event.__class__]("c1", event) == []
    assert follower.may_forget("c1") is forgets


@pytest.mark.parametrize("stopping", [True, False])
def test_what_was_answered_before_a_shutdown_may_be_forgotten(*, stopping: bool) -> None:
    follower = ConsumedQueues(NO_MACHINES, "G", "orders")
    follower.running["c1"] = FORGETS
    follower.queues[MQ] = queue = ConsumedQueue(MQ)
    queue.answered("c1", 5, forgets=False)
    if stopping:
        follower.takes[events.ConsumerStopping]("c1", STOPPING)
    assert ("c1" in queue.forgets) is stopping


@pytest.mark.parametrize(("settled", "allowed"), [((6, 5), True), ((5,), False), ((5, 6), False)])
def test_a_thread_that_was_held_up_remembers_the_first_message_when_another_one_has_settled_it(
    settled: tuple[int, ...], *, allowed: bool,
) -> None:
    queue = has_taken(timed=False)
    queue.monitor.write({("remembers", "c1"): False})
    assert queue.brings("c1", events.MessagesFound("c1@1", "G", MQ, (5, 6, 7))) == []
    for offset in settled:
        assert queue.settled("c1", events.MessagesSettled("c1@1", "G", MQ, (offset,))) == []
    assert (queue.updated("c1", UPDATED) == []) is allowed
