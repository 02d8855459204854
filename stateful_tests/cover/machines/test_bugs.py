"""What machines find: nothing in what is repaired, each planted bug that is quick to find, and the known races."""

from __future__ import annotations

from contextlib import suppress

import pytest

from impl.variants.catalogue import BUGS, NO_REPAIR
from invariants.verdict import Outcome
from stateful_tests.machines.known import KNOWN
from stateful_tests.machines.machine import Found, Trial, ViolatedError
from stateful_tests.machines.program import parsed
from stateful_tests.machines.search import MACHINES, Effort, machine_named, played, search
from stateful_tests.worlds.healing import promised

REPAIRED = Effort(seed=0, examples=8, deeds=10)
SEEDS = 10
"""So many searches of SEARCHED programs there are at most until one finds it."""
SEARCHED, DEEDS = 25, 20

KILLED: tuple[tuple[str, str, str], ...] = (
    ("ns-unregister-by-id", "route_info", "live_broker_stays_routed"),
    ("ns-first-register-partial", "route_info", "full_registration_installs_all_topics"),
    ("ns-prime-slave-perm-wiped", "route_info", "refines_route_info"),
    ("bc-sub-overwrite-flipflop", "subscription", "pull_finds_its_subscription"),
    ("bc-unsubscribed-still-member", "subscription", "heartbeats_do_not_remove_others_topics"),
    ("rb-mutate-while-iterating", "consumer_group", "refines_consumer_group"),
    ("ol-unlock-other-topics", "order_lock", "refines_order_lock"),
    ("xl-allocation-functions-differ", "consumer_group", "ownership_converges"),
    ("xl-shared-client-closed", "registration", "list_is_exactly_the_living"),
    ("seeded-promoted-keeps-old-id", "route_info", "refines_route_info"),
    ("seeded-unchanged-is-no-sign-of-life", "route_info", "refines_route_info"),
    ("seeded-topics-outlive-their-broker", "route_info", "refines_route_info"),
    ("seeded-heartbeat-is-not-stamped", "registration", "list_is_exactly_the_living"),
    ("seeded-all-but-one", "running_group", "refines_consumer_group"),
    ("seeded-any-other-version", "subscription", "refines_subscription"),
    ("seeded-lock-for-anyone", "order_lock", "refines_order_lock"),
    ("seeded-first-list-for-ever", "consumer_group", "refines_consumer_group"),
    ("seeded-all-but-one-given-up", "consumer_group", "refines_consumer_group"),
)
"""Planted bug, machine, and the property that kills it."""

RACES: tuple[tuple[str, str, str], ...] = (
    ("D1", "consumer_group", "one_owner_per_queue"),
    ("D4", "running_group", "one_owner_while_nobody_joins"),
    ("B-7", "registration", "refines_consumer_group"),
    ("B-1", "subscription", "heartbeats_do_not_remove_others_topics"),
    ("B-3", "subscription", "pull_is_filtered_by_own_expression"),
    ("D8", "order_lock", "one_live_believer"),
    ("N-1", "route_info", "live_broker_stays_routed"),
    ("N-2", "route_info", "full_registration_installs_all_topics"),
)
"""Hazard of RocketMQ as shipped, machine, property."""


def found(concept: str, subject: str, name: str) -> Found:
    """The first program that breaks the property."""
    trial = Trial(subject, (name,), to_the_end=name in {rule.name for rule in promised()})
    for seed in range(SEEDS):
        with suppress(ViolatedError):
            search(concept, trial, Effort(seed, SEARCHED, DEEDS), shrink=False, quiet=True)
        if name in trial.last:
            break
    assert trial.unknown == []
    return trial.last[name]


@pytest.mark.parametrize("concept", MACHINES)
def test_nothing_breaks_what_is_repaired(concept: str) -> None:
    trial = Trial("repaired")
    search(concept, trial, REPAIRED)
    assert trial.unknown == []
    assert trial.programs >= REPAIRED.examples
    assert trial.segments > 1_000 * REPAIRED.examples
    assert {machine_named(concept).expected("repaired", name) for name in trial.found} <= {Outcome.VIOLATED}


@pytest.mark.parametrize(("bug", "concept", "name"), KILLED, ids=[bug for bug, *_ in KILLED])
def test_a_planted_bug_is_found(bug: str, concept: str, name: str) -> None:
    subject = f"repaired+{bug}"
    assert bug in BUGS
    assert machine_named(concept).expected(subject, name) is Outcome.HOLDS
    program = found(concept, subject, name).program
    assert name not in played(concept, "repaired", program).trial.found, "it is not the bug that breaks it"


@pytest.mark.parametrize(("hazard", "concept", "name"), RACES, ids=[hazard for hazard, *_ in RACES])
def test_a_known_race_is_found_in_what_is_shipped(hazard: str, concept: str, name: str) -> None:
    assert hazard in machine_named(concept).hazards("shipped", name)
    program = found(concept, "shipped", name).program
    if hazard not in NO_REPAIR:
        assert name not in played(concept, "repaired", program).trial.found, "it is not the hazard that breaks it"


@pytest.mark.parametrize(("hazard", "concept", "name", "program"), KNOWN, ids=[known.hazard for known in KNOWN])
def test_a_known_program_shows_its_hazard(hazard: str, concept: str, name: str, program: str) -> None:
    assert hazard in machine_named(concept).hazards("shipped", name)
    assert name in played(concept, "shipped", parsed(program)).trial.found
    if hazard not in NO_REPAIR:
        assert name not in played(concept, "repaired", parsed(program)).trial.found
