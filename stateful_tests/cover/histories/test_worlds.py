"""What clients of simulated worlds observe, judged like any other history."""

from __future__ import annotations

from pathlib import Path

import pytest

from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.heartbeat_data import BROADCASTING, CLUSTERING
from invariants.histories.checks import CHECKS
from invariants.histories.operations import ACKNOWLEDGED, ASSIGNED, COMMITTED, CONSUMED, REVOKED
from invariants.rules.observed import OBSERVED
from invariants.runs import CAMPAIGN
from invariants.verdict import BadInputError, Outcome
from spark_fuzz.histories.files import read
from spark_fuzz.histories.judge import judged as judged_file
from spark_fuzz.runs import judged
from stateful_tests.histories.worlds import findings, observed, write
from stateful_tests.stories.scenes import join, stage
from stateful_tests.worlds.evidence import documents, replay_run, verdict_of
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, run
from stateful_tests.worlds.shrinking import Simplest
from stateful_tests.worlds.workloads import WORKLOADS
from stateful_tests.worlds.world import World


def test_what_clients_of_a_repaired_world_observe_keeps_the_promises(tmp_path: Path) -> None:
    file = tmp_path / "world.jsonl"
    count = write(file, Plan("repaired", "stored_sync"), 0)
    rows = {row.property: row for row in judged_file(file, None, None, None, [], lambda _: None)}
    assert rows["history_is_well_formed"].outcome == "holds"
    assert rows["history_is_well_formed"].cost["operations"] == count
    for name in ("lost", "phantom", "duplicated", "skipped", "regressed"):
        assert rows[CHECKS[name].property].outcome == "holds", name
    kinds = {row.operation.kind for row in read(file) if row.operation is not None}
    assert {ACKNOWLEDGED, CONSUMED, COMMITTED, REVOKED} <= kinds


def test_a_broker_that_acknowledges_before_it_forces_loses_messages_with_its_power_and_may() -> None:
    plan = Plan("repaired", "stored", "crashes")
    seed, lost = next(one for one in findings(plan, range(20)) if one[1].check == "lost")
    assert lost.operations[0].kind == ACKNOWLEDGED
    seen = run(plan, STRATEGIES[plan.strategy](seed)).seen
    assert CHECKS["lost"].property not in {one.property for one in seen}


PLANTED = Plan("repaired+seeded-broker-gives-ids", "stored_sync", "calm")
PHANTOM = ("delivered_was_sent", "delivered_was_sent", "phantom")


def test_what_is_found_in_a_history_of_a_run_is_replayed_and_made_simple() -> None:
    record = run(PLANTED, STRATEGIES[PLANTED.strategy](0), judged=False)
    found = next(one for one in record.seen if one.key == PHANTOM)
    row = verdict_of(PLANTED, CAMPAIGN, found.property, Outcome.VIOLATED, key=found.key, choices=record.choices)
    document, = documents(PLANTED, record.choices, [(row, found.key)])
    assert document is not None
    again = replay_run(document)
    assert (again.outcome, again.property) == (Outcome.VIOLATED, "delivered_was_sent")
    assert "digest as stored" in again.note
    assert len(Simplest(PLANTED, record.choices, found.key, max_runs=2).choices) <= len(record.choices)


def test_every_check_judges_a_workload() -> None:
    judging = {check for workload in WORKLOADS.values() for check in workload.observed}
    assert judging == OBSERVED.keys() == CHECKS.keys()


@pytest.mark.parametrize(("message_model", "topics"), [
    (CLUSTERING, {"orders", "%RETRY%G"}), (BROADCASTING, {"orders"}),
])
def test_members_note_of_each_topic_how_often_its_messages_are_sent_back(message_model: str, topics: set[str]) -> None:
    with World() as world:
        stage(world)
        join(world, "c1", PushConsumerConfig("G", {"orders": "*"}, message_model=message_model, max_reconsume_times=2))
        noted = [one.operation for one in world.notes.history()]
    assert {(str(one.queue).partition("/")[0], one.max_attempts) for one in noted if one.kind == ASSIGNED} == {
        (topic, 2) for topic in topics}


def test_where_nobody_notes_anything_no_check_judges() -> None:
    assert not {rule.name for rule in OBSERVED.values()} & {*judged("clustering")}
    assert {rule.name for rule in OBSERVED.values()} <= {
        name for workload, one in WORKLOADS.items() if one.observed for name in judged(workload)}


def test_a_world_in_which_nobody_sends_has_no_history() -> None:
    with pytest.raises(BadInputError, match="--workload smallest: nobody sends in it"):
        observed(Plan("repaired", "smallest", "calm"), 0)
