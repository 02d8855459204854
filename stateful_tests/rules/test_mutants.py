from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from stateful_tests.rules import mutants
from stateful_tests.rules.mutants import EQUIVALENT, ROOT, Mutant, equivalents, share_noticed, told

DIFF = "--- mutation diff ---\n--- a/f.py\n+++ b/f.py\n@@ -1,2 +1,2 @@\n def f():\n-    if a < b:\n+    if a <= b:\n"
SURVIVES, NOTICED = Mutant("f.py", "if a < b:", "if a <= b:", noticed=False), Mutant("f.py", "x", "y", noticed=True)


def dumped(worker: str, test: str) -> str:
    job: dict[str, Any] = {"job_id": "1"}
    return json.dumps([job, {"worker_outcome": worker, "test_outcome": test, "diff": DIFF}])


def test_a_result_is_read_with_the_lines_that_were_changed() -> None:
    lines = [dumped("normal", "survived"), dumped("normal", "killed"), dumped("normal", "incompetent"),
             dumped("skipped", "survived"), json.dumps([{}, None])]
    assert [*mutants.read("\n".join(lines), "f.py")] == [
        SURVIVES, SURVIVES._replace(noticed=True), SURVIVES._replace(noticed=True)]


def test_the_figure_leaves_out_what_nobody_can_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "equivalents", set)
    assert told([NOTICED, SURVIVES]) == (
        "f.py\n  - if a < b:\n  + if a <= b:\n"
        "1 of 2 changed conditions are noticed: 50.0%; 0 more cannot be noticed")
    assert share_noticed([NOTICED, SURVIVES]) == 0.5
    monkeypatch.setattr(mutants, "equivalents", lambda: {SURVIVES[:3]})
    assert told([NOTICED, SURVIVES]) == "1 of 1 changed conditions are noticed: 100.0%; 1 more cannot be noticed"
    assert share_noticed([NOTICED, SURVIVES]) == 1


def test_nothing_that_was_tried_is_nothing_noticed() -> None:
    assert share_noticed([]) == 0


def test_what_nobody_can_notice_is_a_line_of_its_file_and_has_a_reason() -> None:
    listed = tomllib.loads(EQUIVALENT.read_text("utf-8"))["mutant"]
    assert len(equivalents()) == len(listed)
    for file, before, _ in equivalents():
        assert before in {line.strip() for line in (ROOT / file).read_text("utf-8").splitlines()}


def test_the_tests_of_a_rule_are_chosen_by_its_name_and_the_engine_has_all() -> None:
    assert mutants.only("invariants/rules/group_tables.py").startswith("-k '")
    assert "closed_producer_is_delisted" in mutants.only("invariants/rules/group_tables.py")
    assert "broker_takes_messages" not in mutants.only("invariants/rules/group_tables.py")
    assert {mutants.only(f"invariants/rules/{part}.py") for part in ("rule", "watch", "match", "offset_facts")} == {""}


def test_what_a_file_has_for_others_is_noticed_by_their_tests() -> None:
    assert "given_up_after_all_attempts" in mutants.only("invariants/rules/sending.py")


def test_a_part_that_some_rules_share_is_judged_by_their_tests_and_its_own() -> None:
    assert "poll_waits_as_asked or" in mutants.only("invariants/rules/weather.py")
    assert "or test_weather or" in mutants.only("invariants/rules/weather.py")
    assert "poll_waits_as_asked" not in mutants.only("invariants/rules/observed_causes.py")
    assert mutants.ordered("invariants/rules/weather.py")[0] == "test_weather.py"
    assert sorted(mutants.ordered("invariants/rules/weather.py")) == sorted(mutants.TESTS)
