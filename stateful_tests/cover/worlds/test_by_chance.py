"""Hazards that only one workload brings about, and brings about by chance within few runs."""

from __future__ import annotations

from itertools import product

import pytest

from invariants.finding import put_down_to
from invariants.rules.watch import LATE
from stateful_tests.worlds.profiles import PROFILES, STRATEGIES
from stateful_tests.worlds.run import Plan, run
from stateful_tests.worlds.subjects import subject_named

RUNS = 21
"""So many runs are enough, under each fault profile in its turn."""


@pytest.mark.parametrize(("workload", "name", "hazard"), [
    ("renaming", "address_has_one_name", "N-29"),
    ("name_servers", "name_server_is_chosen_from_the_list", "R-2"),
])
def test_a_few_runs_as_shipped_meet_the_hazard(workload: str, name: str, hazard: str) -> None:
    profiles = sorted(PROFILES)
    runs = (run(Plan("shipped", workload, profiles[seed % len(profiles)], "focus"), STRATEGIES["focus"](seed))
            for seed in range(RUNS))
    assert subject_named("shipped").hazards(name) == (hazard,)
    assert any(one.property == name for record in runs for one in record.seen)


@pytest.mark.parametrize(("workload", "profile", "seed"), [
    *product(("renaming", "name_servers"), ("calm", "storm"), (4,)),
    ("renaming", "network", 6),  # a registration and a goodbye of a former process come after those of the next one
    ("renaming", "storm", 18),  # a client stands still between the answer and the beginning
])
def test_a_run_of_the_repaired_shows_nothing_there(workload: str, profile: str, seed: int) -> None:
    record = run(Plan("repaired", workload, profile, "focus"), STRATEGIES["focus"](seed))
    assert [one.key for one in record.seen if not subject_named("repaired").explains(one.key)] == []
    assert record.unknown == ""


@pytest.mark.parametrize(("subject", "workload", "profile", "seed", "key"), [
    ("shipped", "other_tags", "calm", 14, ("acknowledged_is_delivered", "lost", "L3")),
    ("repaired", "other_tags", "calm", 14, ("acknowledged_is_delivered", "lost", "L3")),
    pytest.param("shipped", "other_topics", "calm", 0, ("every_message_is_settled", LATE, "U4"),
                 marks=pytest.mark.quality),  # until the deadline of the promise
])
def test_members_that_subscribe_otherwise_lose_messages(
    subject: str, workload: str, profile: str, seed: int, key: tuple[str, str, str],
) -> None:
    name, what, hazard = key
    until = name, name, what, put_down_to(hazard)
    record = run(Plan(subject, workload, profile, "swarm"), STRATEGIES["swarm"](seed), until=until)
    assert until in {one.key for one in record.seen}
    assert hazard in subject_named(subject).hazards(name)
