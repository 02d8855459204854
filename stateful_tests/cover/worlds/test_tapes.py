"""One tape per run: Hypothesis draws bytes, a whole world lives through them, in each workload."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, assume, given, seed, settings, strategies as st

from impl.hosts.simulation.tape import ReplayTape, trimmed
from invariants.finding import Finding
from stateful_tests.worlds.run import Plan, RunRecord, run
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.workloads import WORKLOADS

TAPE_BYTES = 3_000
"""As many choices as a storm of two minutes asks for at first; the rest of it is calm."""
TAPES = st.binary(min_size=TAPE_BYTES, max_size=TAPE_BYTES)
EVERY = 3
"""Of so many workloads one is lived through here by `make test`, and all are by `make quality`."""
FIXED = settings(
    max_examples=1, database=None, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)


def unexpected(plan: Plan, record: RunRecord) -> list[Finding]:
    return [one for one in record.seen if not subject_named(plan.subject).explains(one.key)]


def live(plan: Plan, tape: bytes) -> RunRecord:
    record = run(plan, ReplayTape(tape))
    assert record.unknown == ""
    for one in unexpected(plan, record):
        pytest.fail(f"{one.property} is violated at {one.time_ms:,} ms: {one.sentence}\n"
                    f"replay: run({plan}, ReplayTape({trimmed(record.choices)}))")
    return record


@pytest.mark.parametrize("workload", [
    pytest.param(name, marks=pytest.mark.quality if place % EVERY else ()) for place, name in enumerate(WORKLOADS)])
def test_no_tape_breaks_what_is_repaired(workload: str) -> None:
    plan = Plan("repaired", workload)
    records: list[RunRecord] = []

    @seed(1)
    @FIXED
    @given(TAPES)
    def one_tape_per_run(tape: bytes) -> None:
        assume(any(tape))  # of 0 alone a calm run is made
        records.append(live(plan, tape))

    one_tape_per_run()
    assert [any(record.choices) for record in records] == [True]


def test_one_tape_finds_a_planted_bug() -> None:
    plan = Plan("repaired+seeded-first-list-for-ever", "clustering")

    @seed(1)
    @settings(FIXED, phases=(Phase.generate,), max_examples=10)
    @given(TAPES)
    def one_tape_per_run(tape: bytes) -> None:
        live(plan, tape)

    with pytest.raises(pytest.fail.Exception, match=r"(?s)refines_consumer_group is violated.*replay: run") as error:
        one_tape_per_run()
    assert "@reproduce_failure(" in "".join(error.value.__notes__)
