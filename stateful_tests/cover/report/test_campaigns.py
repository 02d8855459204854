"""Coverage curves and the kill matrix on the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from invariants.report import campaigns
from invariants.report.page import write_report
from invariants.report.shapes import read
from invariants.verdict import BadInputError
from stateful_tests.cover.report import samples

ARM = {"workload": "clustering", "profile": "storm", "strategy": "uniform", "runs": 4, "new_states": 40}
GROWN = {"repaired": {"runs": 8, "states": 60, "curve": [[4, 40], [8, 60]], "arms": [
    {**ARM, "profile": "calm", "new_states": 8}, ARM]}}
SCOPE = {"scope": "group, 1 broker", "states": [12, 40, 0], "steps": [30, 600, 1], "moments": 2_000,
         "outside": {"three are named": 20, "another route": 5}}
NOBODY = {"property": None, "killed": 0, "of": 20, "time_ms": [None] * 3, "steps": [None] * 3, "limit_ms": 480_000,
          "limit_steps": 10_000}
SEEN = {**NOBODY, "property": "one_lock_holder", "killed": 12, "time_ms": [1_500, 60_000, None],
        "steps": [10, 2_000, None]}
MATRIX: dict[str, Any] = {"judges": ["refinement", "properties"], "rows": [
    {"subject": "repaired", "sentence": "All repairs.", "cells": {"refinement": NOBODY, "properties": NOBODY}},
    {"subject": "repaired+lock-for-anyone", "sentence": "Everybody gets the lock.",
     "cells": {"refinement": NOBODY, "properties": SEEN}},
]}


def test_a_curve_begins_at_nothing_and_the_best_arm_comes_first() -> None:
    ((subject, grown),) = campaigns.growths(GROWN)
    assert (subject, grown.drawn.points) == ("repaired", "0,100 50,33.33 100,0")
    assert (grown.drawn.runs, grown.drawn.states, grown.last) == (8, 60, 5)
    assert [(arm.profile, arm.rate) for arm in grown.best] == [("storm", 10), ("calm", 2)]


def test_shares_are_told_in_per_cent_with_what_was_outside(tmp_path: Path) -> None:
    body = {"repaired": {**GROWN["repaired"], "scopes": [SCOPE]}}
    assert campaigns.growths(GROWN)[0][1].scopes == ()
    said = " ".join(written(tmp_path / "out", **{campaigns.COVERAGE: body}).split())
    assert '12 of 40 <span class="cost">30.0 %</span>' in said
    assert '30 of 600 <span class="cost">5.0 %</span></td><td class="number">1</td>' in said
    assert "25 of 2,000 moments: three are named (20), another route (5)" in said
    assert "Shares of what can be enumerated" in said
    assert "Shares of what" not in written(tmp_path / "old", **{campaigns.COVERAGE: GROWN})


def test_a_cell_has_median_and_quartiles_and_shows_what_was_not_reached() -> None:
    control, bug = read(campaigns.Matrix, MATRIX).rows
    assert (control.seen, bug.seen) == (False, True)
    kill = bug.cells["properties"]
    assert (kill.property, kill.killed, kill.of) == ("one_lock_holder", 12, 20)
    assert (kill.seconds, kill.took) == ("60 s (1.5 … > 480)", "2,000 (10 … > 10,000)")


def test_the_last_column_says_what_a_bug_has_changed(tmp_path: Path) -> None:
    effect = {"calls": {"ProcessQueue.is_locked": 1200}, "reached": 3, "runs": 18, "compared": 17, "different": 2,
              "outcome": "holds"}
    idle = {**effect, "different": 0, "outcome": "no difference"}
    rows = [{**MATRIX["rows"][0], "effect": None}, *({**MATRIX["rows"][1], "effect": one} for one in (effect, idle))]
    told = [bug.effect for bug in read(campaigns.Matrix, {**MATRIX, "rows": rows}).rows]
    assert told[0] is None
    assert [(str(one), one.idle) for one in told if one] == [
        ("called in 3 of 18 runs, 2 of 17 differ: ProcessQueue.is_locked (1,200 calls)", False),
        ("no difference: called in 3 of 18 runs, 0 of 17 differ: ProcessQueue.is_locked (1,200 calls)", True),
    ]
    page = written(tmp_path / "out", **{campaigns.MATRIX: {**MATRIX, "rows": rows}})
    assert '<span class="standing unknown">no difference: called in 3 of 18 runs' in page


def written(folder: Path, **files: Any) -> str:
    folder.mkdir()
    (folder / "verdicts.jsonl").write_text(samples.row("a", "campaign", "repaired", kind="variant").to_json() + "\n")
    for name, content in files.items():
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return write_report(folder).read_text(encoding="utf-8")


def test_the_page_has_both(tmp_path: Path) -> None:
    page = written(tmp_path / "out", **{campaigns.COVERAGE: GROWN, campaigns.MATRIX: MATRIX})
    said = " ".join(page.split())
    assert "60 states, in the end 5.0 new ones a run" in said
    assert "Kill matrix" in said
    assert "60 s (1.5 … &gt; 480)" in said
    assert '<tr class="unseen"><th scope="row" title="All repairs.">repaired' in said
    assert '<th scope="row" title="Everybody gets the lock.">lock-for-anyone' in said


@pytest.mark.parametrize("broken", [
    '{"repaired": {"curve": [], "arms": [], "scopes": [{"states": 1}]}}',
    "{", "[]", '{"rows": [{}], "judges": ["a"]}', '{"repaired": {"curve": 3}}'])
def test_a_broken_file_is_one_line_and_takes_nothing_with_it(tmp_path: Path, broken: str) -> None:
    page = written(tmp_path / "out", **{campaigns.COVERAGE: broken, campaigns.MATRIX: broken})
    assert page.count("cannot be drawn") == 2
    assert "Every row" in page


def test_what_is_no_campaign_file_is_refused() -> None:
    with pytest.raises(BadInputError, match="judges: Field required"):
        read(campaigns.Matrix, {})
    with pytest.raises(BadInputError, match="a row has no cell for machines"):
        read(campaigns.Matrix, {**MATRIX, "judges": ["properties", "machines"]})
