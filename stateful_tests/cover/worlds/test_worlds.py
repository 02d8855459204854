"""Worlds: a run is its tape, promises come true after a storm, and a failure can be kept, shrunk and replayed."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.topic_config import TopicConfig
from impl.decisions.java_errors import NullPointerError
from impl.events import SHUTDOWN_HOOK, BrokerShutDown, MessageAppended, MessageDispatched, ThreadDied
from impl.hosts.simulation.profile import CALM, FaultProfile
from impl.hosts.simulation.tape import RandomTape, ReplayTape
from impl.variants.catalogue import REPAIRS
from impl.variants.stack import active
from impl.variants.variant import Variant
from invariants.finding import put_down_to
from invariants.histories.checks import CHECKS
from invariants.histories.verdicts import Tally
from invariants.rules.bounds import Bounds
from invariants.rules.promises import every_name_server_learns_in_time, ownership_converges_in_time
from invariants.rules.rule import Promise
from invariants.rules.watch import LATE, Watch
from invariants.verdict import BadInputError, Outcome
from stateful_tests.worlds import evidence
from stateful_tests.worlds.healing import healing, is_promise, promised
from stateful_tests.worlds.machines import STORE
from stateful_tests.worlds.producers import SEND_EVERY_MS, Sending
from stateful_tests.worlds.profiles import (
    DEPTH,
    FOCUSED,
    PROFILES,
    STRATEGIES,
    FocusTape,
    PriorityTape,
    played,
)
from stateful_tests.worlds.run import MAX_SEGMENTS, MORE_SEGMENTS, Plan, RunRecord, lived, run
from stateful_tests.worlds.shrinking import Simplest
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.workloads import WORKLOADS
from stateful_tests.worlds.world import World

ROOT = Path(__file__).parents[3]
DIGEST = """
from impl.hosts.simulation.tape import RandomTape
from stateful_tests.worlds.run import Plan, run
record = run(Plan("repaired", "groups", "storm"), RandomTape(5))
print(record.digest, len(record.states), record.signatures())
"""
INCREMENT = Plan("shipped", "routes", "network")
"""Here about every fourth seed meets N-2: a name server takes an increment for the whole."""
MISSING = ("full_registration_installs_all_topics", "full_registration_installs_all_topics", LATE, put_down_to("N-2"))


@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_calm_world_keeps_every_promise_and_has_what_its_checks_judge(workload: str) -> None:
    tally = Tally()
    with lived(Plan("repaired", workload, "calm"), RandomTape(1)) as (world, record):
        tally.count([one.operation for one in world.notes.history()])
    assert [name for name in WORKLOADS[workload].observed if not tally.present.intersection(CHECKS[name].about)] == []
    assert [one for one in record.seen if not subject_named("repaired").explains(one.key)] == []
    assert record.unknown == ""
    assert set(record.kept_ms) == {rule.name for rule in promised(WORKLOADS[workload].promises)}
    assert set(record.kept_ms) > set(WORKLOADS[workload].promises)
    assert 1_000 < record.segments < (MAX_SEGMENTS + MORE_SEGMENTS * record.ms / 1_000) / 2
    assert bytes(record.choices)


def test_a_run_is_its_tape_in_every_process() -> None:
    plan = Plan("repaired", "groups", "storm")
    first = run(plan, RandomTape(5))
    again = run(plan, ReplayTape(first.choices))
    assert (again.digest, again.choices, again.states) == (first.digest, first.choices, first.states)
    assert run(plan, RandomTape(6)).digest != first.digest
    environment = {**os.environ, "PYTHONHASHSEED": "2"}
    elsewhere = subprocess.check_output(  # noqa: S603  # the interpreter that runs this test, and a program above
        [sys.executable, "-c", DIGEST], cwd=ROOT, env=environment, text=True, timeout=120,
    )
    assert elsewhere.strip() == f"{first.digest} {len(first.states)} {first.signatures()}"


def test_a_promise_that_is_not_kept_is_seen() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("impl.client.rebalance_push.start_offset", lambda *_: -1)  # no queue is ever taken
        record = run(Plan("repaired", "clustering", "calm"), RandomTape(0), judged=False)
    assert [one.property for one in record.seen] == ["ownership_converges"]
    assert "nobody" in record.seen[0].sentence


@pytest.mark.parametrize(("wrong_s", "told"), [
    (range(79), False), (range(81), True), (range(101, 104), False), (range(101, 106), True), (range(226, 231), True),
], ids=str)
def test_a_promise_must_be_true_at_its_deadline_and_to_the_end(
    wrong_s: range, told: bool, monkeypatch: pytest.MonkeyPatch,
) -> None:
    learns = every_name_server_learns_in_time
    with World() as world:
        monkeypatch.setattr(learns, "wrong", lambda self: (
            self.told("it is wrong", "nameserver1", "broker-a", 0) for s in [world.now_ms // 1_000] if s in wrong_s))
        watch = Watch(world.views, Bounds(), [learns, ownership_converges_in_time])
        assert (learns.within_ms(Bounds()), watch.last_promise_ms) == (80_000, 230_000)
        found = [one for findings in healing(world, watch) for one in findings]
        assert {one.signature for one in found} == ({(learns.name, LATE)} if told else set())
        assert all(is_promise((one.property, *one.signature)) for one in found)
        assert (learns.name in watch.kept_ms) is (world.now_ms // 1_000 not in wrong_s)


def failing() -> RunRecord:
    runs = (run(INCREMENT, RandomTape(seed), judged=False) for seed in range(40))
    return next(one for one in runs if MISSING in one.signatures())


def test_a_failure_is_shrunk_kept_and_replayed() -> None:
    found = failing()
    simplest = Simplest(INCREMENT, found.choices, MISSING, max_runs=25)
    assert sum(1 for choice in simplest.choices if choice) < sum(1 for choice in found.choices if choice) / 2
    verdict = evidence.verdict_of(INCREMENT, "campaign", MISSING[0], Outcome.VIOLATED, replay="rocketproof replay F")
    assert verdict.as_expected
    assert verdict.hazard == ("N-2", "N-3", "N-16")
    (kept,) = evidence.documents(INCREMENT, simplest.choices, [(verdict, MISSING)])
    assert kept is not None
    assert any("connection" in told["sentence"] or "told" in told["sentence"] for told in kept["told"])
    again = evidence.replay_run(kept)
    assert again.outcome is Outcome.VIOLATED
    assert "digest as stored" in again.note
    mended = evidence.replay_run({**kept, "choices": [], "digest": ""})
    assert (mended.outcome, mended.note) == (Outcome.HOLDS, "the run does not fail any more")


def test_a_tape_is_as_simple_after_several_searches_as_after_one() -> None:
    plan, late = Plan("repaired+seeded-first-list-for-ever", "smallest", "storm"), ("ownership_converges",) * 2
    found = run(plan, RandomTape(0), judged=False).choices
    whole = Simplest(plan, found, (*late, LATE), max_runs=400)
    assert whole.at is None
    part, searches = Simplest(plan, found, (*late, LATE), max_runs=7), 1
    while part.at is not None:
        part = Simplest(plan, part.choices, (*late, LATE), max_runs=7, at=part.at)
        searches += 1
    assert part.choices == whole.choices
    assert searches > 2


def test_a_tape_that_does_not_fail_is_not_shrunk() -> None:
    with pytest.raises(ValueError, match="give the choices of a run that did"):
        Simplest(Plan("repaired", "broadcasting", "calm"), [], MISSING)


@pytest.mark.parametrize(("plan", "said"), [
    ({"subject": "mended"}, "mended"), ({"workload": "w"}, "no workload 'w'; there are clustering"),
    ({"profile": "p"}, "no fault profile 'p'; there are calm"),
    ({"strategy": "s"}, "no strategy 's'; there are uniform"),
    ({"subject": "repaired+no-such-bug"}, "no-such-bug"), ({"subject": "repaired+no/such/file.py"}, "no/such/file.py"),
])
def test_a_plan_names_what_is_there(plan: dict[str, str], said: str) -> None:
    with pytest.raises(BadInputError) as refused:
        Plan(**plan)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_every_promise_is_a_declared_property_with_its_expectations() -> None:
    shipped, repaired = subject_named("shipped"), subject_named("repaired")
    of_models = {rule.name for rule in promised() if rule.judges}
    assert {shipped.expected(name) for name in of_models} == {Outcome.VIOLATED}
    assert repaired.expected("full_registration_installs_all_topics") is Outcome.HOLDS
    assert subject_named("repaired-N-2").expected("full_registration_installs_all_topics") is Outcome.VIOLATED
    assert {name for workload in WORKLOADS.values() for name in workload.promises} == of_models | {
        rule.name for rule in promised() if issubclass(rule, Promise) and rule.named}


@pytest.mark.parametrize("seed", range(5))
def test_the_priority_strategy_makes_few_rare_choices(seed: int) -> None:
    tape = PriorityTape(seed)
    chosen = [tape.pick(4, one_in=20) for _ in range(30_000)]
    assert 0 < sum(1 for choice in chosen if choice) <= DEPTH
    assert set(chosen) <= {0, 1, 2, 3}


def test_the_focus_strategy_makes_rare_choices_at_some_places_again_and_again() -> None:
    rare: dict[int, set[int]] = {}
    for seed in range(40):
        tape = FocusTape(seed)
        for _ in range(200):
            rare.setdefault(seed, set()).update(
                place for place in range(10) if tape.pick(9, f"line {place}", 1_000_000))
    everywhere = sum(map(len, rare.values()))
    assert 40 * 10 / FOCUSED / 1.5 < everywhere < 40 * 10 / FOCUSED * 1.5
    assert len({frozenset(places) for places in rare.values()}) > 20


def test_the_focus_strategy_is_uniform_at_places_without_a_name_and_where_nothing_is_rare() -> None:
    focus, uniform = FocusTape(3), RandomTape(3)
    for one_in in (1, 2, 20, 1_000):
        assert [focus.pick(9, "", one_in) for _ in range(100)] == [uniform.pick(9, "", one_in) for _ in range(100)]
        assert [focus.pick(9, "line", 1 + one_in % 2) for _ in range(100)] == [
            uniform.pick(9, "line", 1 + one_in % 2) for _ in range(100)]


def faults_of(profile: FaultProfile) -> set[str]:
    return {field.name for field in fields(profile) if getattr(profile, field.name)}


def test_strategies_differ_in_what_is_on() -> None:
    storm = PROFILES["storm"]
    assert set(STRATEGIES) == {"uniform", "swarm", "priority", "focus"}
    assert played(storm, "uniform", RandomTape(0)) == storm
    swarms = [faults_of(played(storm, "swarm", RandomTape(seed))) for seed in range(20)]
    assert all(on <= faults_of(storm) for on in swarms)
    assert len({frozenset(on) for on in swarms}) > 10
    assert played(storm, "swarm", ReplayTape([])) == CALM


def test_a_process_whose_shutdown_hook_dies_has_ended_all_the_same() -> None:
    async def dies() -> None:
        raise NullPointerError

    with World() as world:
        world.add_consumer("consumer1", PushConsumerConfig("G", {"orders": "*"}), idle=True)
        ended: list[str] = []
        world.shut_down("consumer1", dies, lambda node: ended.append(node.name))
        world.run(100)
        assert ended == ["consumer1"]
        assert [event.thread for _, event in world.events(ThreadDied)] == [SHUTDOWN_HOOK]


def test_a_process_shuts_down_once_however_often_it_is_asked() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_broker("broker-a", "broker-a", topics=[TopicConfig("orders", 1, 1)])
        world.run(100)
        ended: list[str] = []
        for _ in range(2):
            world.shut_down("broker-a", world.brokers["broker-a"].shutdown, lambda node: ended.append(node.name))
        world.run(100)
        assert ended == ["broker-a"]
        assert len(world.events(BrokerShutDown)) == 1


def test_a_full_file_of_the_index_is_forced_by_a_thread_of_its_own_and_whether_it_fails_nobody_minds() -> None:
    with World() as world:
        world.store_config = replace(STORE, max_hash_slot_num=4, max_index_num=4)
        world.add_namesrv()
        world.add_broker("broker-a", "broker-a", topics=[TopicConfig("orders", 1, 1)])
        world.run(2_000)
        world.simulation.kernel.profile = replace(CALM, force_fails=1)
        world.script.draw("a force of store/index", 1)
        world.add_producer("producer1", Sending("orders"))
        world.run(2_000 + 10 * SEND_EVERY_MS)
        put = [event.commit_log_offset for _, event in world.events(MessageAppended)]
        assert [event.commit_log_offset for _, event in world.events(MessageDispatched)] == put
        assert len(put) > 4
        assert {event.thread for _, event in world.events(ThreadDied)} == {"FlushIndexFileThread"}


@pytest.mark.parametrize("repairs", [(), (REPAIRS["dispatch_goes_on_after_an_error"],)])
def test_a_message_whose_key_has_no_page_is_dispatched_once(repairs: tuple[Variant, ...]) -> None:
    with active(repairs), World() as world:
        world.store_config = replace(STORE, max_hash_slot_num=1 << 20)
        world.add_namesrv()
        world.add_broker("broker-a", "broker-a", topics=[TopicConfig("orders", 1, 1)])
        world.run(2_000)
        world.add_producer("producer1", Sending("orders", queues=1))
        world.run(SEND_EVERY_MS + 100)
        world.simulation.fill_disk("broker-a", 100)
        world.run(SEND_EVERY_MS)
        world.simulation.kill("producer1")
        world.simulation.fill_disk("broker-a", 0)
        world.run(5_000)
        assert world.views.queue_units("broker-a")["orders", 0] == (0, 2)
        assert [event.queue_offset for _, event in world.events(MessageDispatched)] == [0, 1]


@pytest.mark.parametrize("workload", ["one_topic", "inspected", "administered"])
def test_a_world_begins_without_the_brokers_whose_first_start_fails(workload: str) -> None:
    with World() as world:
        world.simulation.kernel.profile = replace(CALM, force_fails=1)
        world.script.draw("a force of store/", 1)
        WORKLOADS[workload].build(world)
        assert world.views.brokers() == []
