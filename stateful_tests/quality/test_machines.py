"""Programs are shrunk: each known one to no more lines than people would write."""

from __future__ import annotations

import pytest

from stateful_tests.machines.machine import Found, Trial, ViolatedError
from stateful_tests.machines.search import Effort, played, search, simplest

LINES: tuple[tuple[str, str, str, int], ...] = (
    ("shipped", "consumer_group", "one_owner_per_queue", 2),
    ("shipped", "running_group", "one_owner_while_nobody_joins", 1),
    ("shipped", "registration", "refines_consumer_group", 2),
    ("shipped", "subscription", "heartbeats_do_not_remove_others_topics", 2),
    ("shipped", "subscription", "pull_is_filtered_by_own_expression", 3),
    ("shipped", "route_info", "live_broker_stays_routed", 1),
    ("repaired+ns-prime-slave-perm-wiped", "route_info", "refines_route_info", 1),
    ("repaired+rb-mutate-while-iterating", "consumer_group", "refines_consumer_group", 1),
    ("repaired+seeded-first-list-for-ever", "consumer_group", "refines_consumer_group", 1),
    ("repaired+seeded-all-but-one-given-up", "consumer_group", "refines_consumer_group", 1),
    ("repaired+ns-unregister-by-id", "route_info", "live_broker_stays_routed", 1),
)
"""Subject, machine, property (D1, D4, B-7, B-1, B-3, N-1 and planted bugs), and how many lines its program has."""

QUICK = 4
"""So many of the last ones take seconds; the others are tried by `make quality`."""

SEEDS = 4
"""So many searches there are at most: chance may leave one where nothing shorter is near."""


@pytest.mark.parametrize(("subject", "concept", "name", "lines"), [
    pytest.param(*one, id=f"{one[0]} {one[2]}", marks=() if one in LINES[-QUICK:] else pytest.mark.quality)
    for one in LINES])
def test_a_program_is_as_short_as_known(subject: str, concept: str, name: str, lines: int) -> None:
    programs = (found.program for seed in range(SEEDS) if (found := _searched(subject, concept, name, seed)))
    program = next((one for one in programs if len(one) <= lines), None)
    assert program is not None
    assert name in played(concept, subject, program).trial.found


def _searched(subject: str, concept: str, name: str, seed: int) -> Found | None:
    """What a search of one seed finds, shrunk; None if it finds nothing."""
    trial = Trial(subject, (name,), to_the_end=False)
    try:
        search(concept, trial, Effort(seed, 40, 12), quiet=True)
    except ViolatedError:
        return simplest(trial.last[name])
    return None
