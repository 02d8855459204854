"""Rules see the bugs that are planted for them, in whole runs, and the control is silent in such runs."""

from __future__ import annotations

import pytest

from impl.hosts.simulation.tape import QuietTape
from impl.variants.catalogue import NO_REPAIR
from invariants.concepts import PROGRAMMED, PROPERTIES
from invariants.hazards import HAZARDS
from invariants.rules.declared import BY_NAME
from invariants.rules.rule import RULES
from invariants.rules.telling_apart import looked_for
from invariants.rules.watch import LATE
from invariants.verdict import Outcome
from stateful_tests.rules.planted import PLANTED
from stateful_tests.rules.programs import PROGRAMS
from stateful_tests.worlds.healing import is_promise
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, run
from stateful_tests.worlds.subjects import DECLARED, subject_named


@pytest.mark.parametrize(("name", "subject", "workload", "profile", "seed"), PLANTED, ids=str)
def test_runs_of_planted_bugs_are_seen(name: str, subject: str, workload: str, profile: str, seed: int) -> None:
    """What the control is known for does not show a bug: then the run goes on behind it."""
    plan, control, in_time = Plan(subject, workload, profile), subject_named("repaired"), (name, name, LATE)

    def is_seen(*until: str) -> bool:
        seen = run(plan, STRATEGIES["uniform"](seed), until=until).seen
        return any(one.property == name and not control.explains(one.key) for one in seen)

    assert is_seen(*(in_time if is_promise(in_time) else (name,))) or is_seen()


@pytest.mark.parametrize(("name", "subject", "workload", "profile", "seed"), [
    ("nothing_is_skipped", "repaired-L2", "listeners", "storm", 4),
    ("commits_of_a_holding_go_forward", "repaired-X23", "resets", "clocks", 28),
    ("only_the_settled_is_committed", "repaired-X23", "ordered_resets", "threads", 54),
    ("reset_takes_effect", "repaired-X23", "resets", "threads", 42),
    ("reset_takes_effect", "repaired-X18", "resets", "clocks", 16),
    ("lock_outlasts_the_batch", "repaired-X11", "ordered_listeners", "threads", 1),
    ("goodbye_is_final", "repaired-B-30", "shared", "threads", 1),
    ("broadcaster_goes_on_where_it_ended", "repaired-X23", "broadcasting", "clocks", 39),
    ("settled_is_not_begun_again", "repaired", "listeners", "storm", 1),
], ids=str)
def test_races_are_seen_where_threads_stand_still_again_and_again(
    name: str, subject: str, workload: str, profile: str, seed: int,
) -> None:
    record = run(Plan(subject, workload, profile, "focus"), STRATEGIES["focus"](seed))
    assert name in {one.property for one in record.seen}
    assert [one for one in record.seen if not subject_named(subject).explains(one.key)] == []


@pytest.mark.parametrize(("workload", "profile", "strategy"), [
    ("listeners", "storm", "uniform"), ("ordered_listeners", "threads", "focus"), ("resets", "clocks", "swarm"),
    ("promotion", "crashes", "uniform"), ("shared", "network", "priority"), ("containers", "storm", "focus"),
    ("broadcasting", "clocks", "focus"), ("operators", "calm", "uniform"), ("subscriptions", "threads", "focus"),
    ("groups", "crashes", "uniform"), ("stored", "disks", "uniform"), ("stored_sync", "disks", "uniform"),
])
def test_the_control_is_silent(workload: str, profile: str, strategy: str) -> None:
    record = run(Plan("repaired", workload, profile, strategy), STRATEGIES[strategy](0))
    assert [one for one in record.seen if not subject_named("repaired").explains(one.key)] == []
    assert record.unknown == ""


@pytest.mark.parametrize(("workload", "profile", "strategy", "seed"), [
    ("clustering", "clocks", "focus", 4),  # a producer's heartbeat is handled when it is gone, and a clock is set back
    ("shared", "clocks", "focus", 0), ("containers", "storm", "focus", 0), ("promotion", "calm", "uniform", 0),
])
def test_what_is_seen_of_rocketmq_as_shipped_has_a_hazard(
    workload: str, profile: str, strategy: str, seed: int,
) -> None:
    record = run(Plan("shipped", workload, profile, strategy), STRATEGIES[strategy](seed))
    assert record.seen
    assert [one for one in record.seen if not subject_named("shipped").explains(one.key)] == []


@pytest.mark.parametrize(("workload", "seed"), [
    ("stored", 3),  # the last records of a queue are deleted, and the broker is killed
    ("stored", 4),  # a disk is full when a broker stops
    ("stored_sync", 8),  # a member begins at an offset that is deleted
])
def test_disks_that_fill_up_break_nothing_of_the_control(workload: str, seed: int) -> None:
    record = run(Plan("repaired", workload, "disks"), STRATEGIES["uniform"](seed))
    assert [one for one in record.seen if not subject_named("repaired").explains(one.key)] == []


def test_who_asks_the_first_broker_because_chance_says_so_is_no_fault() -> None:
    """On a tape of zeros both ask the first broker only; the bug does so without chance."""
    name, bug = "every_broker_is_asked_for_members", "repaired+seeded-first-broker-is-asked"
    seen = {subject: {one.property for one in run(Plan(subject, "inspected", "calm"), QuietTape(())).seen}
            for subject in ("repaired", bug)}
    assert name in seen[bug]
    assert name not in seen["repaired"]


def test_every_rule_breaks_by_a_planted_bug_or_a_hazard() -> None:
    planted = {name for name, *_ in (*PLANTED, *((name, bug) for bug, name, _ in PROGRAMS))}
    assert {name for name, rule in BY_NAME.items() if not rule.expected.hazards} <= planted
    assert all(set(rule.expected.hazards) <= set(HAZARDS) for rule in RULES.values())


def test_no_property_is_mute_because_of_a_hazard_without_repair() -> None:
    elsewhere = {name for name, one in PROPERTIES.items()
                 if one.concept.home not in {each.name for each in PROGRAMMED}} - {*BY_NAME}
    unrepaired = {name: set(one.expected.hazards) & set(NO_REPAIR) for name, one in DECLARED.items()
                  if name not in elsewhere}
    assert {name: hazards - looked_for(name) for name, hazards in unrepaired.items()
            if hazards - looked_for(name)} == {}


def test_a_rule_is_expected_as_its_hazards_say() -> None:
    shipped, repaired = subject_named("shipped"), subject_named("repaired")
    for name, one in BY_NAME.items():
        assert (shipped.expected(name) is Outcome.VIOLATED) is bool(one.expected.hazards)
        assert (repaired.expected(name) is Outcome.VIOLATED) is bool(set(one.expected.hazards) & set(NO_REPAIR))
