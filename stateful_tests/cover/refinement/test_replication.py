"""Worlds with slaves are followed with the model of replication: step by step, and what differs from it is seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from invariants.refinement.monitor import Monitor, Recorder, Step, recorded_by
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, RunRecord, run
from stateful_tests.worlds.subjects import subject_named

NAME = "refines_replication"
OFTEN = {"append", "flush", "transfer", "report", "acknowledge"}
SOMETIMES = {"connect", "ask", "ask_empty", "heartbeat", "disconnect", "time_out", "expire"}


class Counted(Recorder):
    """How often each step of the model was taken."""

    def __init__(self) -> None:
        """None was."""
        self.steps: Counter[str] = Counter()

    def stepped(self, monitor: Monitor, steps: Sequence[Step]) -> None:
        """See Recorder."""
        if monitor.name == NAME:
            self.steps.update(action for action, _ in steps)


def lived(subject: str, workload: str, profile: str, seed: int) -> tuple[RunRecord, Counter[str]]:
    """A run, and the steps of the model in it."""
    counted = Counted()
    with recorded_by(counted):
        return run(Plan(subject, workload, profile), STRATEGIES["uniform"](seed)), counted.steps


def properties(record: RunRecord) -> set[str]:
    """What was found broken."""
    return {one.property for one in record.seen}


def test_the_control_is_silent_and_every_step_that_is_followed_is_taken() -> None:
    record, steps = lived("repaired", "replicated_sync", "disks", 0)
    assert NAME not in properties(record)
    assert {*steps} >= OFTEN | SOMETIMES
    assert all(steps[name] > 100 for name in OFTEN)


def test_slaves_that_take_the_places_of_their_masters_are_followed() -> None:
    record, steps = lived("repaired", "replicated", "storm", 6)
    assert NAME not in properties(record)
    assert steps["append"] > 100
    assert steps["transfer"] > 10


def test_a_bug_that_no_rule_notices_is_noticed() -> None:
    record, _ = lived("repaired+seeded-first-report-is-no-answer", "replicated_sync", "calm", 0)
    explains = subject_named("repaired").explains
    assert {one.property for one in record.seen if not explains(one.key)} == {NAME}


@pytest.mark.parametrize(("bug", "workload"), [
    ("seeded-no-slave-is-waited-for", "replicated_sync"), ("seeded-frame-comes-again", "replicated_sync"),
    ("seeded-slave-reports-too-soon", "replicated_sync"), ("seeded-absent-slaves-are-waited-for", "replicated_sync"),
    ("seeded-last-report-counts", "two_slaves"),
])
def test_other_bugs_of_replicas_are_noticed(bug: str, workload: str) -> None:
    assert NAME in properties(lived(f"repaired+{bug}", workload, "calm", 0)[0])
