"""`verify` puts every judge that applies to work, and says who was not asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from invariants import claim, evidence
from invariants.front_desk import catalogue
from invariants.verdict import Outcome
from spark_fuzz import at_once
from stateful_tests.cover.front_desk.commands import rows, run
from stateful_tests.stories import telling, verdicts as stories
from stateful_tests.worlds import glance


@pytest.mark.parametrize(("name", "judge"), [
    ("refines_subscription", "story"), ("goodbye_is_final", "story"), ("who_consumes_is_answered", "campaign"),
    ("refines_order_lock", "campaign"), ("listener_keeps_its_lock", "story"),
    ("control_is_silent", "campaign"),
    ("visited_states_are_reachable", "campaign"), ("planted_bug_is_noticed", "campaign"),
    ("change_breaks_nothing", "campaign"), ("repair_mends_its_hazards", "campaign"),
    ("variant_changes_runs", "campaign"), ("same_tape_same_run", "campaign"),
    ("heartbeats_keep_a_member", "story"), ("living_members_do_not_expire", "story"),
])
def test_verify_judges_a_property_of_runs_by_what_is_known_of_it(
    name: str, judge: str, tmp_path: Path,
) -> None:
    result = run("verify", name, "--out", tmp_path)
    (row,) = rows((tmp_path / "verdicts.jsonl").read_text("utf-8"))
    assert (row.property, row.judge, result.exit_code) == (name, judge, 0), result.output
    if row.outcome is Outcome.VIOLATED and row.evidence:
        assert run(*row.replay.split()[1:]).exit_code == 0
    assert (f"search further: rocketproof {catalogue.of_runs(name)}" in row.note) == (name not in at_once.PROPERTIES)


def test_everything_in_the_list_is_judged_by_verify() -> None:
    chosen = catalogue.chosen([])
    judged = {*chosen.protocol, *chosen.strategies, *chosen.own, *chosen.runs}
    judged |= {claim.CLAIMS[name].promises for name in chosen.claims}
    assert judged == {*catalogue.names()}
    unknown = [name for name in chosen.runs if not (
        telling.has_story(name) or name in at_once.PROPERTIES or glance.is_known(name))]
    assert unknown == []


def test_what_no_machine_judges_is_shown_by_a_story(tmp_path: Path) -> None:
    assert run("verify", "newer_subscription_is_taken", "--out", tmp_path).exit_code == 0
    found = rows((tmp_path / "verdicts.jsonl").read_text("utf-8"))
    assert ("story", "refines_subscription") in {(row.judge, row.property) for row in found}
    said = run("show", "newer_subscription_is_taken").stdout
    assert "machine   no machine: a step that its model allows" in said


def test_a_story_that_breaks_nothing_any_more_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(stories, "stories_of", lambda _: [("B-29", lambda: None)])
    (row,) = stories.verdicts(["refines_subscription"], tmp_path)
    assert (row.outcome, row.as_expected) == (Outcome.HOLDS, False)
    assert "does not break it" in row.note


@pytest.mark.parametrize("name", [
    "abandoned_lock_is_freed", "it_took_the_whole_lease", "allocation_does_not_overflow", "averagely_is_balanced",
    "allocation_answers",
])
def test_verify_puts_every_judge_that_applies_to_work(name: str, tmp_path: Path) -> None:
    result = run("verify", name, "--out", tmp_path)
    found = rows((tmp_path / "verdicts.jsonl").read_text(encoding="utf-8"))
    assert result.exit_code == 0, result.output
    assert {row.judge for row in found} == set(catalogue.entry(name).judges) - {"campaign", "check"}
    assert {row.property for row in found} <= {name, *(one.promises for one in catalogue.claims_of(name))}
    assert f"report: {tmp_path / 'report.html'}" in result.stdout
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!")
    for row in found:
        if row.evidence:
            assert evidence.read(tmp_path / row.evidence)["property"] == row.property
            assert row.replay == f"rocketproof replay {tmp_path / row.evidence}"
            assert row.replay in result.stdout or "mutation" in row.subject.details


def test_verify_plays_the_known_program_of_a_property(tmp_path: Path) -> None:
    result = run("verify", "one_owner_while_nobody_joins", "--out", tmp_path)
    (row,) = [one for one in rows((tmp_path / "verdicts.jsonl").read_text("utf-8")) if one.judge == "machine"]
    assert (row.subject.name, row.outcome, row.hazard) == ("shipped", Outcome.VIOLATED, ("D2", "D4"))
    again = run(*row.replay.split()[1:])
    assert again.exit_code == 0
    assert "as stored" in again.stdout, result.output


def test_verify_leaves_nothing_of_an_earlier_run_and_keeps_what_is_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "evidence").mkdir()
    (tmp_path / "evidence" / "old.json").write_text("{}", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    assert run("verify", "it_took_the_whole_lease", "--out", tmp_path).exit_code == 0
    assert not (tmp_path / "evidence" / "old.json").exists()
    assert (tmp_path / "notes.txt").exists()


def test_rows_alone_go_to_standard_output(tmp_path: Path) -> None:
    result = run("verify", "--property", "it_took_the_whole_lease", "--json", "-", "--out", tmp_path)
    assert result.exit_code == 0
    assert {row.judge for row in rows(result.stdout)} == {"explore"}
    assert "as expected" in result.stderr
