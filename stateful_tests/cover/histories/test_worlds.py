"""What clients of simulated worlds observe, judged like any other history."""

from __future__ import annotations

from pathlib import Path

import pytest

from invariants.histories.checks import CHECKS
from invariants.histories.operations import ACKNOWLEDGED, COMMITTED, CONSUMED, REVOKED
from invariants.verdict import BadInputError
from spark_fuzz.histories.files import read
from spark_fuzz.histories.judge import judged as judged_file
from stateful_tests.histories.worlds import findings, observed, write
from stateful_tests.worlds.run import Plan


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


def test_a_broker_that_acknowledges_before_it_forces_loses_messages_with_its_power() -> None:
    assert {one.check for _, one in findings(Plan("shipped", "stored"), [4])} == {"lost"}


def test_a_world_in_which_nobody_sends_has_no_history() -> None:
    with pytest.raises(BadInputError, match="--workload smallest: nobody sends in it"):
        observed(Plan("repaired", "smallest", "calm"), 0)
