"""Hazards on the real store: each is shown, and ours does the same; what goes wrong is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from invariants.verdict import BadInputError, Outcome
from stateful_tests.conformance.java.stores import demonstrated as parent
from stateful_tests.conformance.java.stores.demonstrated import demonstrated
from stateful_tests.cover.front_desk.commands import rows, run
from stateful_tests.crash.demonstrations import DEMONSTRATIONS
from stateful_tests.crash.promises import broken
from stateful_tests.crash.recovery import outcome


@pytest.mark.parametrize("hazard", DEMONSTRATIONS)
def test_the_directory_breaks_the_property_under_ours_and_what_is_undamaged_does_not(hazard: str) -> None:
    demonstration = DEMONSTRATIONS[hazard]
    made = demonstration.make()
    found = broken(outcome(made.image, made.life), made.known)
    assert (demonstration.property in found) is (demonstration.expected is Outcome.VIOLATED)
    if hazard != "V28":  # which needs no damage
        whole = made.life.recorder.image()
        assert demonstration.property not in broken(outcome(whole, made.life), made.known)


@pytest.mark.java
def test_every_hazard_is_shown_on_the_real_store(tmp_path: Path) -> None:
    result = run("demonstrate", "--out", tmp_path, "--json", tmp_path / "rows.jsonl")
    found = rows((tmp_path / "rows.jsonl").read_text(encoding="utf-8"))
    assert result.exit_code == 0, result.output
    assert [row.hazard for row in found] == [one.hazards() for one in DEMONSTRATIONS.values()]
    assert [row.outcome for row in found] == [one.expected for one in DEMONSTRATIONS.values()]
    assert all(row.note.endswith("impl/store makes the same of it") for row in found)
    assert all((tmp_path / hazard / "before" / "store" / "lock").exists() for hazard in DEMONSTRATIONS)
    assert "RocketMQ 4.9.3: load fails" in result.output


@pytest.mark.java
def test_a_worker_that_ends_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parent, "SHOW_LIMIT_S", 0.0)
    found = [*demonstrated(["V22", "V3"], tmp_path, print)]
    assert [row.outcome for row in found] == [Outcome.UNKNOWN, Outcome.UNKNOWN]
    assert [row.replay for row in found] == ["rocketproof demonstrate V22", "rocketproof demonstrate V3"]


def test_a_hazard_that_is_not_shown_so_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="V3"):
        next(demonstrated(["V33"], tmp_path, print))
